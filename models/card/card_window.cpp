// SPDX-License-Identifier: Apache-2.0
#include "models/card/card_window.h"

#include <cstring>

#include "models/card/collective_engine.h"
#include "models/common/payload_builder.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/card.h"
#include "sw/include/regs/card_bank.h"
#include "sw/include/regs/card_regs.h"
#include "sw/include/regs/request_ring_regs.h"

namespace stretto {
namespace {

// Offsets in the aperture.
constexpr uint64_t kCard = STRETTO_CARD_REGISTERS - STRETTO_DOORBELL_APERTURE;
constexpr uint64_t kSend = STRETTO_SEND_APERTURE - STRETTO_DOORBELL_APERTURE;
constexpr uint64_t kReport = 0, kRefuse = 1;  // Event tags.
constexpr uint32_t kEventReport = 0x60;       // Digest kind.

}  // namespace

CardWindow::CardWindow(sc_core::sc_module_name name, PartitionServices& services)
    : sc_module(name),
      EventHandler(*services.queue),
      aperture("aperture"),
      ring("ring"),
      stores("stores"),
      report_out("report_out"),
      nothing("nothing", 3),
      services_(services),
      registers_(kCardRegisters),
      words_(services) {
  aperture.register_b_transport(this, &CardWindow::write);
  stores.register_nb_transport_bw(this, &CardWindow::on_store_taken);
  report_out.register_nb_transport_bw(this, &CardWindow::on_report_taken);
  for (int i = 0; i < 3; ++i)
    nothing[static_cast<size_t>(i)].register_nb_transport_fw(this, &CardWindow::refuse, i);
}

void CardWindow::set_engine(CollectiveEngine& engine) {
  engine_ = &engine;
  registers_.on_write(CARD_PEERS_OFFSET,
                      [this](const RegisterBank::Write& write) { engine_->set_peers(write.held); });
}

// Writes from outside

void CardWindow::write(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const uint64_t at = payload.get_address();
  if (at < kCard) {
    ++register_writes_;
    ring->b_transport(payload, delay);
    return;
  }
  const bool without_engine = engine_ == nullptr && at == kCard + CARD_PEERS_OFFSET;
  if (at - kCard < kSend - kCard && !without_engine) {
    ++register_writes_;
    registers_.access(payload, at - kCard, delay);
    return;
  }
  if (without_engine || at % 8 != 0 || payload.get_data_length() != 8 ||
      at - kSend >= STRETTO_SEND_APERTURE_BYTES) {
    ++refused_;
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  uint64_t value;
  std::memcpy(&value, payload.get_data_ptr(), 8);
  const StrettoExtension* const extension = extension_of(payload);
  words_.send(stores, STRETTO_DOORBELL_APERTURE + at, value,
              extension == nullptr ? uint8_t{STRETTO_ACCOUNT_OTHER} : extension->account);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

tlm::tlm_sync_enum CardWindow::on_store_taken(tlm::tlm_generic_payload& payload,
                                              tlm::tlm_phase& phase, sc_core::sc_time&) {
  return words_.on_taken(payload, phase);
}

// Reports

// The ring is in the middle of a clock: look at it in an event of one's own.
void CardWindow::set(unsigned, bool level) {
  if (level) services_.queue->schedule(services_.queue->now(), *this, kReport);
}

void CardWindow::on_event(uint64_t tag) {
  if (tag == kRefuse) {
    const auto [from, payload] = refusals_.front();
    refusals_.pop_front();
    payload->set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    nothing[static_cast<size_t>(from)]->nb_transport_bw(*payload, phase, delay);
    return;
  }
  if (registers_[CARD_REPORT_OFFSET] == 0) return;
  if (reporting_ != 0) {
    again_ = true;
    return;
  }
  send_report();
}

uint64_t CardWindow::read_ring(uint32_t offset) {
  uint64_t value = 0;
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_READ_COMMAND);
  payload.set_address(offset);
  payload.set_data_ptr(reinterpret_cast<uint8_t*>(&value));
  payload.set_data_length(8);
  payload.set_streaming_width(8);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  ring->b_transport(payload, delay);
  return value;
}

void CardWindow::send_report() {
  report_ = {read_ring(REQUEST_RING_ERROR_REQUEST_OFFSET),
             read_ring(REQUEST_RING_ERROR_FIRST_OFFSET) | STRETTO_CARD_REPORT_VALID};
  reporting_ = 2;
  ++reports_;
  const uint64_t to = registers_[CARD_REPORT_OFFSET];
  if (services_.digest != nullptr)
    services_.digest->event(services_.queue->now(), kEventReport, report_[0], report_[1]);
  // The reason last: whoever waits for it finds the request.
  for (unsigned i = 0; i < 2; ++i) {
    PooledPayload& payload =
        communication_payload(pool_, Engine::link, services_.gpu, Operation::write,
                              STRETTO_ACCOUNT_SYNC, to + 8 * (1 - i), &report_[i], 8);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    report_out->nb_transport_fw(payload, phase, delay);
  }
}

tlm::tlm_sync_enum CardWindow::on_report_taken(tlm::tlm_generic_payload& payload,
                                               tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  phase = tlm::END_RESP;
  payload.release();
  if (--reporting_ == 0 && again_) {
    again_ = false;
    services_.queue->schedule(services_.queue->now(), *this, kReport);
  }
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum CardWindow::refuse(int from, tlm::tlm_generic_payload& payload,
                                      tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  ++refused_;
  refusals_.emplace_back(from, &payload);
  services_.queue->schedule(services_.queue->now(), *this, kRefuse);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

// Account

void CardWindow::report(StatisticSink& sink) const {
  sink.add("register_writes", register_writes_, "count",
           "Writes to registers of the card and its ring.");
  sink.add("stores", words_.sent(), "count", "Writes to the send window.");
  sink.add("reports", reports_, "count", "Errors reported.");
  sink.add("refused", refused_, "count", "Accesses to what is neither register nor send window.");
}

void CardWindow::audit(AuditSink& sink) const {
  sink.equal("stores to the card = taken", words_.sent(), words_.taken());
  sink.equal("accesses to nothing at the card = 0", refused_, 0);
  sink.equal("reports under way = 0", reporting_, 0);
}

}  // namespace stretto
