// SPDX-License-Identifier: Apache-2.0
#include "models/dma/request_ring_port.h"

#include <algorithm>
#include <cstring>

#include "models/common/payload_builder.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/send_request.h"
#include "sw/include/regs/request_ring_bank.h"
#include "sw/include/regs/request_ring_regs.h"

namespace stretto {
namespace {

constexpr uint64_t kArrive = BlockHost<RequestRing, RequestRingClock>::kHostTags;  // Event tag.
constexpr uint32_t kEventAccepted = 0x58;                                          // Digest kinds.
constexpr uint32_t kEventRefused = 0x59;
constexpr uint32_t kEventWord = 0x5a;

}  // namespace

RequestRingPort::RequestRingPort(sc_core::sc_module_name name, uint32_t clock_mhz,
                                 PartitionServices& services, std::unique_ptr<RequestRing> ring,
                                 DmaEngine& engine)
    : sc_module(name),
      EventHandler(*services.queue),
      csr("csr"),
      stores("stores"),
      memory("memory"),
      egress("egress"),
      services_(services),
      registers_(kRequestRingRegisters),
      ring_(std::move(ring), ClockDomain(clock_mhz), *services.queue, *this, *this),
      engine_(engine) {
  csr.register_b_transport(this, &RequestRingPort::access_register);
  stores.register_nb_transport_fw(this, &RequestRingPort::on_store);
  memory.register_nb_transport_bw(this, &RequestRingPort::on_response);
  egress.register_nb_transport_bw(this, &RequestRingPort::on_response);
  engine.set_direct_client(*this);
}

// The ring's clock

RequestRingClock RequestRingPort::give(RequestRingInputs& in) {
  const RequestRingOutputs& before = ring_.outputs();
  in.write_ready = words_busy_ < kWrites;
  RequestRingClock action{before.issue_valid, before.write_valid && in.write_ready, before,
                          nullptr};
  if (action.written) ++words_busy_;
  if (!stores_.empty()) {
    action.store = stores_.front();
    stores_.pop_front();
    in.sr_valid = true;
    std::memcpy(&in.sr_data, action.store->get_data_ptr(), 8);
  }
  if (!done_.empty()) {
    in.done_valid = true;
    in.done_tag = done_.front().tag;
    in.done_failed = done_.front().failed;
    done_.pop_front();
  }
  return action;
}

void RequestRingPort::on_event(uint64_t tag) {
  if (tag != kArrive) {
    ring_.on_event(tag);
    return;
  }
  stores_.push_back(arriving_.front());
  arriving_.pop_front();
  counters_.store_high_water = std::max<uint64_t>(counters_.store_high_water, stores_.size());
  ring_.arm();
}

void RequestRingPort::take(const RequestRingOutputs& out, const RequestRingClock& action) {
  const Time now = services_.queue->now();
  if (action.started) {
    ++counters_.started;
    counters_.bytes += action.before.issue_bytes;
    engine_.start_direct({action.before.issue_tag, action.before.issue_source,
                          action.before.issue_destination, action.before.issue_bytes,
                          issue_account_});
  }
  if (action.written) write_word(action.before);
  if (action.store != nullptr) {
    if (!out.drop) {
      uint64_t request;
      std::memcpy(&request, action.store->get_data_ptr(), 8);
      asked_.push_back({request, extension_of(*action.store)->account});
    }
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    action.store->set_response_status(tlm::TLM_OK_RESPONSE);
    stores->nb_transport_bw(*action.store, phase, delay);
  }
  if (out.refuse || out.accept) issue_account_ = account_of(out.judged);
  counters_.popped += out.pop;
  counters_.dropped += out.drop;
  counters_.refused += out.refuse;
  counters_.accepted += out.accept;
  if (services_.digest != nullptr && (out.refuse || out.accept)) {
    services_.digest->event(now, out.accept ? kEventAccepted : kEventRefused, out.judged,
                            out.issue_tag);
  }
  if (out.irq != irq_) {
    irq_ = out.irq;
    if (interrupts_ != nullptr) interrupts_->set(STRETTO_IRQ_REQUEST_RING, irq_);
  }
}

// Requests leave the ring in the order in which they entered it (R1); what `clear` took away is left
// out.
uint8_t RequestRingPort::account_of(uint64_t request) {
  while (!asked_.empty()) {
    const Asked asked = asked_.front();
    asked_.pop_front();
    if (asked.request == request) return asked.account;
  }
  return STRETTO_ACCOUNT_OTHER;
}

// Stores of kernels

tlm::tlm_sync_enum RequestRingPort::on_store(tlm::tlm_generic_payload& payload,
                                             tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;  // END_RESP: nothing is held for it.
  const StrettoExtension* const extension = payload.get_extension<StrettoExtension>();
  const bool inside = in_send_window(payload.get_address());
  const bool good =
      inside && payload.get_address() % 8 == 0 && payload.is_write() &&
      payload.get_data_length() == 8 && payload.get_byte_enable_ptr() == nullptr &&
      extension != nullptr &&
      (extension->operation == Operation::write || extension->operation == Operation::locked_store);
  if (!good) {
    ++counters_.refused_stores;
    payload.set_response_status(inside ? tlm::TLM_COMMAND_ERROR_RESPONSE
                                       : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  ++counters_.stores;
  arriving_.push_back(&payload);
  // Stores of different compute units may be annotated with falling times; they enter in the order
  // of the calls.
  last_arrival_ = std::max(last_arrival_, services_.queue->now() + time_of(delay));
  services_.queue->schedule(last_arrival_, *this, kArrive);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

// The ring's words

void RequestRingPort::write_word(const RequestRingOutputs& out) {
  unsigned index = 0;
  while (words_[index].busy) ++index;
  Word& word = words_[index];
  word.busy = true;
  word.value = out.write_data;
  const RingWrite kind = static_cast<RingWrite>(out.write_kind);
  ++(kind == RingWrite::replica ? counters_.replicas
     : kind == RingWrite::sent  ? counters_.sent_flags
                                : counters_.received_flags);
  if (services_.digest != nullptr) {
    services_.digest->event(services_.queue->now(), kEventWord, out.write_address, out.write_data);
  }
  PooledPayload& payload =
      communication_payload(pool_, Engine::dma, services_.gpu, Operation::write,
                            STRETTO_ACCOUNT_SYNC, out.write_address, &word.value, 8);
  payload.extension.cookie = index;
  const bool local = out.write_address >> STRETTO_NODE_SHIFT == services_.gpu + 1u;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  if (local) {
    memory->nb_transport_fw(payload, phase, delay);
  } else {
    egress->nb_transport_fw(payload, phase, delay);
  }
}

tlm::tlm_sync_enum RequestRingPort::on_response(tlm::tlm_generic_payload& payload,
                                                tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (payload.is_response_error()) ++counters_.words_failed;
  words_[static_cast<PooledPayload&>(payload).extension.cookie].busy = false;
  --words_busy_;
  phase = tlm::END_RESP;
  payload.release();
  return tlm::TLM_COMPLETED;
}

void RequestRingPort::transfer_done(uint16_t tag, bool failed) {
  ++counters_.completed;
  counters_.failed += failed;
  done_.push_back({tag, failed});
  ring_.arm();
}

// Registers

void RequestRingPort::access_register(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (registers_.decode(payload, payload.get_address()).info == nullptr) return;
  ring_.access(payload, delay);
}

// Account

void RequestRingPort::report(StatisticSink& sink) const {
  sink.add("stores", counters_.stores, "count", "Send requests that kernels stored.");
  sink.add("refused_stores", counters_.refused_stores, "count",
           "Accesses to the send window that are not 8-byte stores.");
  sink.add("dropped", counters_.dropped, "count",
           "Requests lost because the ring was full or disabled.");
  sink.add("refused", counters_.refused, "count", "Malformed requests.");
  sink.add("transfers", counters_.accepted, "count", "Requests that became a transfer.");
  sink.add("failed", counters_.failed, "count", "Transfers that failed.");
  sink.add("bytes", counters_.bytes, "bytes", "Of the transfers that the DMA engine was given.");
  sink.add("replicas", counters_.replicas, "count", "Writes of the head replica.");
  sink.add("sent_flags", counters_.sent_flags, "count", "Send flags written.");
  sink.add("received_flags", counters_.received_flags, "count", "Receive flags sent to peers.");
  sink.add("store_high_water", counters_.store_high_water, "count",
           "Most stores that waited for a clock of the ring.");
  sink.add("steps", ring_.steps(), "cycles", "Clocks of the ring that were simulated.");
}

void RequestRingPort::audit(AuditSink& sink) const {
  sink.equal("send requests stored = dropped + refused + accepted", counters_.stores,
             counters_.dropped + counters_.refused + counters_.accepted);
  sink.equal("send requests that left the ring = refused + accepted", counters_.popped,
             counters_.refused + counters_.accepted);
  sink.equal("transfers of send requests started = completed", counters_.started,
             counters_.completed);
  sink.equal("flags that failed = 0", counters_.words_failed, 0);
  sink.equal("words of the ring being written = 0", words_busy_, 0);
}

std::vector<std::string> RequestRingPort::waiting_on() const {
  std::vector<std::string> lines;
  const uint64_t inside =
      counters_.stores - counters_.dropped - counters_.refused - counters_.accepted;
  if (inside != 0) {
    std::string line = std::to_string(inside) + " send requests wait";
    if (const auto state = ring_.snapshot(); state.has_value())
      line += ", " + std::to_string(state->level) + " of them in the ring";
    lines.push_back(std::move(line));
  }
  if (counters_.started != counters_.completed) {
    lines.push_back(std::to_string(counters_.started - counters_.completed) +
                    " transfers of send requests under way");
  }
  return lines;
}

}  // namespace stretto
