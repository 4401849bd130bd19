// SPDX-License-Identifier: Apache-2.0
// See hbm.h. Sockets and the memory clock domain; registers are in hbm_registers.cpp, statistics in
// hbm_report.cpp.
#include "models/hbm/hbm.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "models/common/error.h"
#include "models/common/payload_pool.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/regs/hbm_bank.h"
#include "sw/include/regs/hbm_regs.h"
#include "sw/include/regs/mca_bank.h"
#include "sw/include/regs/mca_regs.h"
#include "sw/include/regs/tracker_bank.h"

namespace stretto {
namespace {

constexpr uint32_t kDigestTrigger = 0x48424D01;
constexpr uint32_t kDigestDrain = 0x48424D02;
constexpr uint32_t kDigestCommands = 0x48424D03;
constexpr uint32_t kDigestEvent = 0x48424D04;
constexpr uint64_t kDigestEvery = 4096;  // Requests between two digests of the channels' commands.

DramCommand command_of(Operation operation) {
  return operation == Operation::read     ? DramCommand::read
         : operation == Operation::update ? DramCommand::update
                                          : DramCommand::write;
}

// Commands go to the checker and to a trace.
class ObserverPair final : public CommandObserver {
 public:
  ObserverPair(CommandObserver& first, CommandObserver& second) : first_(first), second_(second) {}
  void on_command(unsigned channel, uint64_t cycle, DramCommand command, unsigned bank,
                  uint32_t row) override {
    second_.on_command(channel, cycle, command, bank, row);
    first_.on_command(channel, cycle, command, bank, row);
  }
  void on_idle_refreshes(unsigned channel, uint64_t cycle, uint64_t interval, uint64_t count,
                         DramCommand command, unsigned bank) override {
    second_.on_idle_refreshes(channel, cycle, interval, count, command, bank);
    first_.on_idle_refreshes(channel, cycle, interval, count, command, bank);
  }

 private:
  CommandObserver& first_;
  CommandObserver& second_;
};

}  // namespace

Hbm::Hbm(sc_core::sc_module_name name, const HbmSpec& spec, unsigned peers,
         PartitionServices& services, MemoryImage& image, Parts parts)
    : sc_core::sc_module(name),
      EventHandler(*services.queue),
      channel("channel", spec.channels),
      peer("peer", peers),
      mca_regs("mca_regs"),
      tracker_regs("tracker_regs"),
      services_(services),
      clock_(spec.clock_mhz),
      timing_(timing_set(spec.timing, spec.fault_timing_rule)),
      timing_table_(timing_),
      core_(spec, image, std::move(parts.tracker), *this),
      mca_registers_(kMcaRegisters),
      tracker_registers_(kTrackerRegisters),
      registers_(kSpillRegisters) {
  assert(parts.mca.size() == spec.channels && spec.channels <= 32);
  CommandObserver* observer = parts.observer;
  if (spec.check) {
    checker_ = std::make_unique<HbmChecker>(spec.timing, spec.channels, spec.refresh);
    if (observer == nullptr) {
      observer = checker_.get();
    } else {
      pair_ = std::make_unique<ObserverPair>(*checker_, *observer);
      observer = pair_.get();
    }
  }
  for (unsigned i = 0; i < spec.channels; ++i) {
    channels_.push_back(std::make_unique<HbmChannel>(i, core_, timing_, timing_table_,
                                                     std::move(parts.mca[i]), observer));
    channel[i].register_nb_transport_fw(this, &Hbm::on_channel, static_cast<int>(i));
    // The depth of the DRAM queue is wired to the MCA: its register starts with it.
    const uint32_t depth = spec.dram_queue_depth();
    if (depth == MCA_DRAM_QUEUE_DEPTH_RESET) continue;
    channels_[i]->step_registers(0, {true, false, MCA_DRAM_QUEUE_DEPTH_OFFSET, depth});
  }
  for (unsigned i = 0; i < peers; ++i) {
    peer[i].register_nb_transport_fw(this, &Hbm::on_peer, static_cast<int>(spec.channels + i));
  }
  admissions_.assign(peers, nullptr);
  describe_registers();
  mca_regs.register_b_transport(this, &Hbm::on_mca_register);
  tracker_regs.register_b_transport(this, &Hbm::on_tracker_register);
  next_.assign(spec.channels, kNoCycle);
  for (unsigned i = 0; i < spec.channels; ++i) next_[i] = channels_[i]->next(0);
  if (!spec.sleep) arm(1);
}

Hbm::~Hbm() = default;

tlm::tlm_sync_enum Hbm::on_channel(int index, tlm::tlm_generic_payload& payload,
                                   tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  return begin_request(static_cast<uint16_t>(index), payload, phase, delay);
}

tlm::tlm_sync_enum Hbm::on_peer(int index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay) {
  return begin_request(static_cast<uint16_t>(index), payload, phase, delay);
}

tlm::tlm_sync_enum Hbm::begin_request(uint16_t source, tlm::tlm_generic_payload& payload,
                                      tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
  assert(phase == tlm::BEGIN_REQ);
  phase = tlm::END_REQ;
  const Time arrival = services_.queue->now() + time_of(delay);
  const StrettoExtension* extension = extension_of(payload);
  if (source < channels_.size() && extension != nullptr)
    channels_[source]->prefetch_arrival(extension->stream);
  const tlm::tlm_response_status status = check(payload, extension, source);
  const uint32_t index = core_.requests.acquire();
  HbmRequest& request = core_.requests[index];
  request.payload = &payload;
  request.source = source;
  request.arrival = arrival;
  request.done_cycle = 0;
  if (status != tlm::TLM_OK_RESPONSE) {
    payload.set_response_status(status);
    request.stream = Stream::compute;
    refused_.push_back(index);
    arm(clock_.cycle_at(arrival) + 1);
    return tlm::TLM_UPDATED;
  }
  const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
  if (source >= channels_.size() && coherence_ != nullptr)
    coherence_->passes(*extension, offset, payload.get_data_length());
  request.data = payload.get_data_ptr();
  request.enabled = payload.get_byte_enable_ptr() != nullptr;
  request.bytes_left = payload.get_data_length();
  request.tracked_address = payload.get_address();
  request.wg_id = extension->wg_id;
  request.wf_id = extension->wf_id;
  request.tracked = extension->tracked;
  request.tags_only = extension->tags_only;
  request.multiply = extension->multiply;
  request.parts = extension->parts;
  request.operation = extension->operation;
  request.stream = extension->stream;
  request.element = extension->element;
  request.account = extension->account;
  stage(index, arrival, offset, request.bytes_left);
  return tlm::TLM_UPDATED;
}

tlm::tlm_response_status Hbm::check(const tlm::tlm_generic_payload& payload,
                                    const StrettoExtension* extension, uint16_t source) const {
  if (extension == nullptr) return tlm::TLM_GENERIC_ERROR_RESPONSE;
  const uint64_t address = payload.get_address() & STRETTO_OFFSET_MASK;
  const uint64_t bytes = payload.get_data_length();
  if (bytes == 0 || extension->rows > 1) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (address + bytes > STRETTO_GPU_MEMORY_LIMIT) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (source < core_.spec.channels) {
    const uint64_t block = ~(core_.mapping.block_bytes() - 1);
    if (((address ^ (address + bytes - 1)) & block) != 0) return tlm::TLM_BURST_ERROR_RESPONSE;
    if (core_.mapping.channel_of(address) != source) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  switch (extension->operation) {
    case Operation::read:
    case Operation::write:
    case Operation::fill: break;
    case Operation::update: {
      const unsigned element = element_bytes(extension->element);
      if (core_.spec.updates == Updates::none || !is_number(extension->element))
        return tlm::TLM_COMMAND_ERROR_RESPONSE;
      if (address % element != 0 || bytes % element != 0) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
      if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
      break;
    }
    default: return tlm::TLM_COMMAND_ERROR_RESPONSE;
  }
  if (extension->tracked) {
    if (!core_.tracker_port.present() || extension->operation == Operation::read ||
        extension->wg_id > 0xFFFF || extension->wf_id > 7 ||
        (address | bytes) % tracked_unit(extension->element) != 0) {
      return tlm::TLM_GENERIC_ERROR_RESPONSE;
    }
  }
  return tlm::TLM_OK_RESPONSE;
}

// Cuts the request at interleave blocks and gives each part to its channel.
void Hbm::stage(uint32_t index, Time arrival, uint64_t address, uint64_t bytes) {
  HbmRequest& request = core_.requests[index];
  const bool reports = request.source >= channels_.size() && request.source != kSpillSource &&
                       request.operation != Operation::read &&
                       admissions_[request.source - channels_.size()] != nullptr;
  request.outside = 0;
  const uint64_t order = uint64_t{request.source} << 48 | (sequence_++ & 0xFFFF'FFFF'FFFF);
  const uint64_t cycle = clock_.cycle_at(arrival) + 1;
  uint32_t at = 0;
  const uint64_t block = core_.mapping.block_bytes();
  const Stream stream = request.stream;
  while (bytes > 0) {
    const uint64_t part = std::min(bytes, block - (address & (block - 1)));
    const unsigned to = core_.mapping.channel_of(address);
    HbmSegment& segment = channels_[to]->arrive(stream, arrival, order, cycle);
    segment.address = address;
    segment.request = index;
    segment.at = at;
    segment.bytes = static_cast<uint16_t>(part);
    segment.command = command_of(request.operation);
    segment.tracked = request.tracked;
    segment.reports = reports;
    request.outside = static_cast<uint16_t>(request.outside + (reports ? 1 : 0));
    if (cycle < next_[to]) next_[to] = cycle;
    address += part;
    at += static_cast<uint32_t>(part);
    bytes -= part;
  }
  requests_high_water_ = std::max<uint64_t>(requests_high_water_, core_.requests.live());
  arm(cycle);
}

void Hbm::arm(uint64_t cycle) {
  if (running_ || cycle >= armed_) return;
  armed_ = cycle;
  services_.queue->schedule(std::max(clock_.edge(cycle), services_.queue->now()), *this, cycle);
}

void Hbm::on_event(uint64_t tag) {
  if (tag != armed_) return;  // An earlier cycle was asked for after this event was scheduled.
  armed_ = kNoCycle;
  if (warmed_ != services_.windows) {
    warmed_ = services_.windows;
    warm_caches();
  }
  running_ = true;
  run_cycle(tag);
  running_ = false;
  if (const uint64_t next = core_.spec.sleep ? next_cycle(tag) : tag + 1; next != kNoCycle)
    arm(next);
}

// Other GPUs ran on this core since the last window: what this one needs is asked for in bulk,
// level by level of the pointers, so that hundreds of misses overlap which would come one after the
// other.
void Hbm::warm_caches() {
  std::vector<HbmChannel*>& busy = warming_;
  busy.clear();
  for (const auto& of : channels_) {
    if (!of->quiet()) busy.push_back(of.get());
  }
  for (const HbmChannel* of : busy) of->warm_state();
  for (const HbmChannel* of : busy) of->warm_atoms();
  for (HbmChannel* of : busy) of->warm_requests();
  for (HbmChannel* of : busy) of->warm_payloads();
}

void Hbm::run_cycle(uint64_t cycle) {
  if (tracker_next_ <= cycle || (!core_.spec.sleep && core_.tracker_port.present()))
    core_.tracker_port.step(cycle);
  const uint8_t pulses = pulses_.empty() ? 0 : take_pulses(cycle);
  if ((pulses & kKernelEnd) != 0) drained_ = 0;
  const bool all = pulses != 0 || !core_.spec.sleep;
  uint64_t due = 0;  // Channels, as bits.
  for (size_t i = 0; i < next_.size(); ++i) due |= uint64_t{next_[i] <= cycle || all} << i;
  while (due != 0) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(due));
    due &= due - 1;
    if (due != 0) channels_[std::countr_zero(due)]->prefetch();
    HbmChannel& of = *channels_[i];
    of.tick(cycle, pulses);
    next_[i] = of.next(cycle);
  }
  after_ticks(cycle);
  if (services_.trace != nullptr) trace_traffic(clock_.edge(cycle));
  if (core_.tracker_port.present()) tracker_next_ = core_.tracker_port.next(cycle);
}

uint8_t Hbm::take_pulses(uint64_t cycle) {
  uint8_t pulses = 0;
  size_t taken = 0;
  for (; taken < pulses_.size() && pulses_[taken].cycle <= cycle; ++taken)
    pulses |= pulses_[taken].pulses;
  pulses_.erase(pulses_.begin(), pulses_.begin() + static_cast<ptrdiff_t>(taken));
  return pulses;
}

// Admissions, responses and drains of this edge.
void Hbm::after_ticks(uint64_t cycle) {
  for (const uint32_t index : core_.admitted) {
    const HbmRequest& request = core_.requests[index];
    admissions_[request.source - channels_.size()]->on_admitted(
        extension_of(*request.payload)->cookie);
  }
  core_.admitted.clear();
  for (size_t i = 0; i < core_.completed.size(); ++i) complete(core_.completed[i]);
  core_.completed.clear();
  if (core_.drain_pulses != 0) {
    drained_ |= core_.drain_pulses;
    core_.drain_pulses = 0;
    const uint32_t everyone = static_cast<uint32_t>((uint64_t{1} << channels_.size()) - 1);
    if (drained_ == everyone) {
      drained_ = 0;
      if (services_.digest != nullptr)
        services_.digest->event(clock_.edge(cycle), kDigestDrain, 0, 0);
      registers_[DRAIN_STATUS_OFFSET] |= DRAIN_STATUS_DONE_MASK;
      update_drain_line();
    }
  }
  if (refused_.empty()) return;
  const std::vector<uint32_t> refused = std::move(refused_);  // An initiator may send the next now.
  refused_.clear();
  for (const uint32_t index : refused) {
    const HbmRequest& request = core_.requests[index];
    if (clock_.cycle_at(request.arrival) >= cycle) {
      refused_.push_back(index);
      continue;
    }
    tlm::tlm_generic_payload& payload = *request.payload;
    const uint16_t source = request.source;
    core_.requests.release(index);
    respond(source, payload, clock_.edge(cycle));
  }
}

void Hbm::complete(uint32_t index) {
  HbmRequest& request = core_.requests[index];
  if (request.source == kSpillSource) {
    complete_spill(request);
    core_.requests.release(index);
    return;
  }
  const Time at = clock_.edge(request.done_cycle);
  Latency& latency = latency_[static_cast<unsigned>(request.stream)];
  const Time took = at - request.arrival;
  latency.sum_fs += took;
  latency.max_fs = std::max(latency.max_fs, took);
  if (++latency.requests % kDigestEvery == 0 && services_.digest != nullptr) {
    uint64_t hash = 0;
    for (const auto& of : channels_) hash = hash * 0x9E3779B97F4A7C15u + of->command_hash();
    services_.digest->event(at, kDigestCommands, latency.requests, hash);
  }
  tlm::tlm_generic_payload& payload = *request.payload;
  const uint16_t source = request.source;
  core_.requests.release(index);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  respond(source, payload, at);
}

void Hbm::respond(uint16_t source, tlm::tlm_generic_payload& payload, Time at) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = delay_of(at - services_.queue->now());
  MemorySocket& socket =
      source < channels_.size() ? channel[source] : peer[source - channels_.size()];
  [[maybe_unused]] const tlm::tlm_sync_enum answer = socket->nb_transport_bw(payload, phase, delay);
  assert(answer == tlm::TLM_COMPLETED);
}

uint64_t Hbm::next_cycle(uint64_t cycle) const {
  uint64_t next = tracker_next_;
  for (const uint64_t of_channel : next_) next = std::min(next, of_channel);
  if (!pulses_.empty()) next = std::min(next, pulses_.front().cycle);
  for (const uint32_t index : refused_) {
    next = std::min(next, clock_.cycle_at(core_.requests[index].arrival) + 1);
  }
  return next == kNoCycle ? kNoCycle : std::max(next, cycle + 1);
}

void Hbm::pulse(Time at, uint8_t pulses) {
  assert(at >= services_.queue->now());
  const uint64_t cycle = clock_.cycle_at(at) + 1;
  auto place = pulses_.end();
  while (place != pulses_.begin() && (place - 1)->cycle > cycle) --place;
  pulses_.insert(place, {cycle, pulses});
  arm(cycle);
}

void Hbm::on_tracker_trigger(uint64_t cycle, bool event, uint16_t wg_id, uint8_t wf_id,
                             uint64_t address) {
  const Time at = clock_.edge(cycle);
  if (services_.digest != nullptr)
    services_.digest->event(at, event ? kDigestEvent : kDigestTrigger, uint64_t{wg_id} << 8 | wf_id,
                            address);
  TriggerSink* const sink = event ? events_ : triggers_;
  if (sink != nullptr) sink->on_trigger(at, wg_id, wf_id, address);
}

// The Tracker's table in memory: 8-byte writes, 64-byte reads of which 8 bytes count (one atom
// each).
void Hbm::on_spill(uint64_t cycle, bool write, uint32_t index, uint64_t data) {
  if (uint64_t{index} * 8 + 8 > registers_[SPILL_BYTES_OFFSET]) {
    throw CheckError(
        "tracker: entry " + std::to_string(index) + " (work-group " + std::to_string(index / 8) +
        ", wavefront " + std::to_string(index % 8) + ") lies beyond the spill table of " +
        std::to_string(registers_[SPILL_BYTES_OFFSET]) + " bytes that firmware reserved");
  }
  if (free_spill_buffers_.empty()) {
    spill_buffers_.push_back(std::make_unique<std::array<uint8_t, kAtomBytes>>());
    free_spill_buffers_.push_back(spill_buffers_.back()->data());
  }
  const uint32_t id = core_.requests.acquire();
  HbmRequest& request = core_.requests[id];
  request = HbmRequest{};
  uint64_t address = (registers_[SPILL_BASE_OFFSET] & STRETTO_OFFSET_MASK) + uint64_t{index} * 8;
  request.bytes_left = 8;
  if (!write) {
    address &= ~uint64_t{kAtomBytes - 1};
    request.bytes_left = kAtomBytes;
  }
  request.data = free_spill_buffers_.back();
  free_spill_buffers_.pop_back();
  request.arrival = clock_.edge(cycle);
  request.operation = write ? Operation::write : Operation::read;
  request.stream = Stream::communication;
  request.account = STRETTO_ACCOUNT_SPILL;
  request.source = kSpillSource;
  request.spill_index = index;
  for (unsigned i = 0; i < 8; ++i) request.data[i] = static_cast<uint8_t>(data >> (8 * i));
  stage(id, request.arrival, address, request.bytes_left);
}

void Hbm::complete_spill(HbmRequest& request) {
  const bool write = request.operation == Operation::write;
  uint64_t entry = 0;
  for (unsigned i = 0; i < 8 && !write; ++i)
    entry |= uint64_t{request.data[request.spill_index % 8 * 8 + i]} << (8 * i);
  free_spill_buffers_.push_back(request.data);
  core_.tracker_port.respond(request.done_cycle, write, request.spill_index, entry);
}

void Hbm::update_drain_line() {
  if (interrupts_ == nullptr) return;
  interrupts_->set(STRETTO_IRQ_MCA_DRAIN,
                   (registers_[DRAIN_STATUS_OFFSET] & DRAIN_STATUS_DONE_MASK) != 0);
}

}  // namespace stretto
