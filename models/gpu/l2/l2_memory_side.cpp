// SPDX-License-Identifier: Apache-2.0
// The memory side of L2Cache: fills, pieces of uncached accesses, write-backs, responses.
#include <algorithm>
#include <bit>
#include <cassert>
#include <string>

#include "models/gpu/base/race_law.h"
#include "models/gpu/l2/l2_partitions.h"
#include "models/gpu/l2/l2_slices.h"
#include "sw/include/formats/address_map.h"

namespace stretto {

PooledPayload& L2Cache::make_payload(tlm::tlm_command command, uint64_t offset, unsigned char* data,
                                     unsigned bytes, const StrettoExtension& from) {
  PooledPayload& payload = pool_.acquire();
  payload.set_command(command);
  payload.set_address(node_ | offset);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.extension = from;
  payload.extension.operation =
      command == tlm::TLM_READ_COMMAND ? Operation::read : Operation::write;
  payload.extension.rows = 1;
  payload.extension.row_bytes = bytes;
  return payload;
}

void L2Cache::add_fill(uint64_t line, uint8_t mask, uint16_t fill,
                       const StrettoExtension& extension, uint64_t cycle) {
  const uint64_t block = line >> 1;
  if (building_.block != block) {
    flush_fill();
    building_.block = block;
    building_.cycle = cycle;
    building_.extension = &extension;
  }
  building_.mask |= static_cast<uint8_t>(mask << (2 * (line & 1)));
  const unsigned shift = 16 * (line & 1);
  building_.fills = (building_.fills & ~(0xFFFFu << shift)) | uint32_t{fill} << shift;
  building_.cycle = std::max(building_.cycle, cycle);
}

// Sends what add_fill collected: one payload for each run of sectors.
void L2Cache::flush_fill() {
  unsigned mask = building_.mask;
  if (mask == 0) return;
  const uint64_t fills = building_.fills;
  const Time at = clock_.edge(building_.cycle);
  while (mask != 0) {
    const unsigned first = static_cast<unsigned>(std::countr_zero(mask));
    const unsigned count = static_cast<unsigned>(std::countr_one(mask >> first));
    const unsigned run = ((1u << count) - 1) << first;
    const uint64_t address = building_.block << 8 | uint64_t{first} << L2Tags::kSectorBits;
    PooledPayload& payload = make_payload(tlm::TLM_READ_COMMAND, address, nullptr,
                                          count << L2Tags::kSectorBits, *building_.extension);
    payload.extension.engine = Engine::l2;
    payload.extension.tracked = false;
    payload.extension.tags_only = true;
    payload.extension.cookie = cookie(Kind::fill, uint64_t{run} << 32 | fills);
    counters_.fills_sent += count;
    outbox_.push_back({&payload, at, tags_.channel_of(address)});
    mask &= ~run;
  }
  building_.block = ~uint64_t{0};
  building_.mask = 0;
  building_.fills = kNone;
}

void L2Cache::send_write_back(uint64_t line, uint8_t dirty, uint8_t account, Kind kind, Time at) {
  const unsigned first = dirty == 2 ? 1 : 0;
  const unsigned count = dirty == 3 ? 2 : 1;
  const uint64_t address = line << L2Tags::kLineBits | uint64_t{first} << L2Tags::kSectorBits;
  StrettoExtension extension;
  extension.engine = Engine::l2;
  extension.gpu = services_.gpu;
  extension.account = account;
  extension.tags_only = true;
  PooledPayload& payload = make_payload(tlm::TLM_WRITE_COMMAND, address, nullptr,
                                        count << L2Tags::kSectorBits, extension);
  const uint32_t to = tags_.channel_of(address);
  payload.extension.cookie = cookie(kind, to | (shared_.empty() ? 0 : carry(payload, line, dirty)));
  counters_.write_backs[account] += count;
  if (!once_pinned_.empty() && !in_pinned_range(line) && was_pinned(line))
    counters_.unpinned_write_backs += count;
  if (kind == Kind::write_back) ++write_backs_in_flight_;
  outbox_.push_back({&payload, at, to});
}

Time L2Cache::serve_bypass(uint32_t request, Port& port, tlm::tlm_generic_payload& payload,
                           const StrettoExtension& extension, uint64_t arrival) {
  const bool reads = extension.operation == Operation::read;
  const uint32_t rate = reads ? spec_.cu_load_bytes_per_cycle : spec_.cu_store_bytes_per_cycle;
  const uint64_t bytes = uint64_t{extension.rows} * extension.row_bytes;
  counters_.bypass_bytes += bytes;
  for (uint32_t row = 0; row < extension.rows; ++row)
    passes(extension, (payload.get_address() & STRETTO_OFFSET_MASK) + row * extension.pitch,
           extension.row_bytes);
  send_pieces(request, payload, extension, pass(port, arrival, (bytes + rate - 1) / rate), rate);
  return 0;
}

// One payload for each contiguous piece inside a 256 B block; data stays in the requester's buffer.
void L2Cache::send_pieces(uint32_t request, tlm::tlm_generic_payload& payload,
                          const StrettoExtension& extension, uint64_t cycle,
                          uint32_t bytes_per_cycle) {
  const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
  unsigned char* data = extension.tags_only ? nullptr : payload.get_data_ptr();
  const tlm::tlm_command command =
      extension.operation == Operation::read ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND;
  // A line is one slice's.
  const uint32_t limit = slices_ != nullptr ? 1u << L2Tags::kLineBits : kMaxPayloadBytes;
  uint64_t moved = 0;
  for (uint32_t row = 0; row < extension.rows; ++row) {
    uint64_t at = offset + row * extension.pitch;
    for (uint32_t left = extension.row_bytes; left > 0;) {
      const uint32_t part = std::min(left, limit - static_cast<uint32_t>(at & (limit - 1)));
      PooledPayload& piece = make_payload(command, at, data, part, extension);
      if (extension.operation == Operation::update) piece.extension.operation = Operation::update;
      piece.extension.cookie = cookie(Kind::child, request);
      ++requests_[request].remaining;
      uint64_t clock = cycle + moved / bytes_per_cycle;
      if (partitions_ != nullptr)
        clock =
            partitions_->piece_at_home(request, at, command == tlm::TLM_WRITE_COMMAND, part, clock);
      if (slices_ != nullptr) {
        slices_->pass(piece, clock);
      } else {
        outbox_.push_back({&piece, clock_.edge(clock), tags_.channel_of(at)});
      }
      if (data != nullptr) data += part;
      moved += part;
      at += part;
      left -= part;
    }
  }
}

Time L2Cache::serve_remote(uint32_t request, Port& port, tlm::tlm_generic_payload& payload,
                           const StrettoExtension& extension, uint64_t arrival) {
  const uint64_t bytes = uint64_t{extension.rows} * extension.row_bytes;
  const uint32_t rate = spec_.cu_store_bytes_per_cycle;
  pass(port, arrival, (bytes + rate - 1) / rate);
  PooledPayload& out = pool_.acquire();
  out.set_command(payload.get_command());
  out.set_address(payload.get_address());
  out.set_data_ptr(payload.get_data_ptr());
  out.set_data_length(payload.get_data_length());
  out.set_streaming_width(payload.get_data_length());
  out.extension = extension;
  if (out.extension.operation == Operation::locked_store)
    out.extension.operation = Operation::write;
  out.extension.cookie = cookie(Kind::child, request);
  const bool own = payload.get_address() >> STRETTO_NODE_SHIFT << STRETTO_NODE_SHIFT == node_;
  if (!own && extension.operation == Operation::atomic) {
    ++counters_.remote_atomics;
  } else if (!own) {
    counters_.remote_bytes += bytes;
  }
  ++requests_[request].remaining;
  outbox_.push_back({&out, clock_.edge(port.free + spec_.request_cycles), own ? kDevice : kNone});
  return 0;
}

// REQUIRES: the cache is consistent; a target may answer inside the call.
void L2Cache::send_all() {
  while (!outbox_.empty()) {
    std::vector<Outgoing> batch = std::move(sending_);
    batch.clear();
    batch.swap(outbox_);
    const Time now = services_.queue->now();
    for (const Outgoing& out : batch) {
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      const bool memory = out.channel < channel.size();
      if (memory && slices_ != nullptr) slices_->sent(*out.payload);
      // What waited for a lock, and an atomic's write, leave when they are served.
      const Time at = std::max(out.at, now);
      sc_core::sc_time delay = delay_of(at + (memory ? to_memory_time_ : 0) - now);
      const tlm::tlm_sync_enum answer =
          out.channel == kNone ? remote->nb_transport_fw(*out.payload, phase, delay)
          : out.channel == kDevice
              ? device->nb_transport_fw(*out.payload, phase, delay)
              : channel[out.channel]->nb_transport_fw(*out.payload, phase, delay);
      if (answer == tlm::TLM_COMPLETED ||
          (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) {
        response(*out.payload, now + time_of(delay) + (memory ? from_memory_time_ : 0));
      }
    }
    sending_ = std::move(batch);
  }
}

tlm::tlm_sync_enum L2Cache::backward(int from, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  const bool memory = static_cast<size_t>(from) < channel.size();
  response(static_cast<PooledPayload&>(payload),
           services_.queue->now() + time_of(delay) + (memory ? from_memory_time_ : 0));
  send_all();
  return tlm::TLM_COMPLETED;
}

void L2Cache::response(PooledPayload& payload, Time at) {
  const uint64_t what = payload.extension.cookie;
  const uint64_t value = what & ((uint64_t{1} << 56) - 1);
  const bool failed = payload.is_response_error();
  const tlm::tlm_response_status status = payload.get_response_status();
  const unsigned bytes = payload.get_data_length(), sectors = bytes >> L2Tags::kSectorBits;
  const bool stores = payload.is_write();
  const bool of_memory = payload.get_address() - node_ < STRETTO_GPU_MEMORY_LIMIT;
  const uint64_t line = (payload.get_address() & STRETTO_OFFSET_MASK) >> L2Tags::kLineBits;
  if (slices_ != nullptr) slices_->answered(payload, at);
  payload.release();
  switch (static_cast<Kind>(what >> 56)) {
    case Kind::fill: {
      __builtin_prefetch(tags_.set(tags_.place_of(line).set).state, 1);
      const unsigned run = value >> 32 & 15;
      counters_.fills_received += sectors;
      if ((run & 3) != 0) sectors_arrived(static_cast<uint16_t>(value), run & 3, at);
      if (run >> 2 != 0)
        sectors_arrived(static_cast<uint16_t>(value >> 16), static_cast<uint8_t>(run >> 2), at);
      break;
    }
    case Kind::past: counters_.fills_received += sectors; [[fallthrough]];
    case Kind::child: {
      const uint32_t request = static_cast<uint32_t>(value);
      if (failed) requests_[request].payload->set_response_status(status);
      if (partitions_ != nullptr && of_memory)
        at = partitions_->piece_is_back(request, line << L2Tags::kLineBits, stores, bytes, at);
      arrived(request, at);
      break;
    }
    case Kind::write_back:
      --write_backs_in_flight_;
      if (value >> 32 != 0) landed(static_cast<uint32_t>(value >> 32) - 1, at);
      if (boundary_active_) check_boundary();
      break;
    case Kind::boundary:
      --boundary_lines_;
      if (value >> 32 != 0) landed(static_cast<uint32_t>(value >> 32) - 1, at);
      if (!send_boundary_line(static_cast<uint32_t>(value))) check_boundary();
      break;
    case Kind::copy:
    case Kind::copy_past: break;  // Never sent to memory.
  }
}

void L2Cache::sectors_arrived(uint16_t fill_index, uint8_t mask, Time at, uint8_t keep) {
  Fill& fill = fills_[fill_index];
  L2Tags::Set& set = tags_.set(fill.set);
  const uint8_t state = set.state[fill.way];
  set.state[fill.way] = static_cast<uint8_t>((state & ~(mask << L2Tags::kPendingShift)) |
                                             (mask & keep) << L2Tags::kValidShift);
  fill.pending &= static_cast<uint8_t>(~mask);
  if (!shared_.empty()) shared_.fetched(tags_.line_of(fill.set, fill.way), mask);
  uint32_t first[2] = {kNone, kNone};
  uint32_t second[2] = {kNone, kNone};
  uint32_t others[2] = {kNone, kNone};
  for (unsigned sector = 0; sector < 2; ++sector) {
    if ((mask >> sector & 1) == 0) continue;
    std::swap(first[sector], fill.first[sector]);
    std::swap(second[sector], fill.second[sector]);
    std::swap(others[sector], fill.others[sector]);
  }
  if (fill.pending == 0) free_fills_.push_back(fill_index);
  for (unsigned sector = 0; sector < 2; ++sector) {
    for (uint32_t group = others[sector]; group != kNone;) {
      const Waiters waiters = waiters_[group];  // An answer may bring the next request.
      free_waiters_.push_back(group);
      group = waiters.next;
      for (uint32_t i = waiters.count; i-- > 0;) arrived(waiters.request[i], at);
    }
    if (second[sector] != kNone) arrived(second[sector], at);
    if (first[sector] != kNone) arrived(first[sector], at);
  }
}

// One sector or payload of a request has come.
void L2Cache::arrived(uint32_t index, Time at) {
  Request& request = requests_[index];
  request.done = std::max(request.done, at + response_time_);
  if (--request.remaining == 0) complete(index);
}

void L2Cache::complete(uint32_t index) {
  const Request request = requests_[index];
  free_requests_.push_back(index);
  --outstanding_;
  if (request.port == L2Partitions::kPort)
    return partitions_->served(static_cast<PooledPayload&>(*request.payload), request.done);
  ++counters_.responses;
  tlm::tlm_generic_payload& payload = *request.payload;
  const StrettoExtension& extension = *extension_of(payload);
  if (request.copies) copy_bytes(payload, extension, false);
  if (extension.allocation == AllocationClass::shared) complete_shared(payload, extension);
  if (locking_ && in_l2(extension.allocation) &&
      payload.get_address() - node_ < STRETTO_GPU_MEMORY_LIMIT)
    performed(payload, extension);
  if (extension.operation == Operation::fence && extension.acquire) forget_shared();
  if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  const Time now = services_.queue->now();
  const Time back = request.crossed ? partitions_->back_time() : 0;
  sc_core::sc_time delay = delay_of(std::max(request.done + back, now) - now);
  if (request.port < cu.size()) {
    cu[request.port]->nb_transport_bw(payload, phase, delay);
  } else if (is_of_link(request.port)) {
    link->nb_transport_bw(payload, phase, delay);
  } else {
    cp->nb_transport_bw(payload, phase, delay);
  }
  unlock_bypassed(payload);
  payload.release();
}

bool L2Cache::send_boundary_line(uint32_t to) {
  if (boundary_[to].empty()) return false;
  const BoundaryLine entry = boundary_[to].front();
  boundary_[to].pop_front();
  const uint64_t cycle = clock_.cycle_from(services_.queue->now()) + spec_.request_cycles;
  send_write_back(entry.line, entry.dirty, entry.account, Kind::boundary, clock_.edge(cycle));
  return true;
}

void L2Cache::check_boundary() {
  if (!boundary_active_ || boundary_lines_ != 0 || write_backs_in_flight_ != 0) return;
  boundary_active_ = false;
  ++boundaries_completed_;
  if (on_written_back_) on_written_back_();
}

void L2Cache::pin(unsigned index, uint64_t base, uint64_t bytes) {
  pins_[index] = {base & STRETTO_OFFSET_MASK, bytes};
  if (bytes != 0) {
    const auto same =
        std::find_if(once_pinned_.begin(), once_pinned_.end(),
                     [&](const auto& range) { return range.base == pins_[index].base; });
    if (same == once_pinned_.end()) {
      once_pinned_.push_back(pins_[index]);
    } else {
      same->bytes = std::max(same->bytes, bytes);
    }
  }
  any_pin_ = std::any_of(pins_.begin(), pins_.end(),
                         [](const PinRange& range) { return range.bytes != 0; });
  pin_again();
  if (race_law_ == nullptr) return;
  std::vector<RaceLaw::Range> ranges;
  for (const PinRange& range : pins_)
    if (range.bytes != 0) ranges.push_back({range.base, range.bytes});
  race_law_->watch(ranges);
}

void L2Cache::set_persist_ways(unsigned ways) {
  persist_ways_ = std::min(ways, spec_.persist_ways());
  pin_again();
}

// Which lines that are here are pinned: of each set the first of the pinned ranges.
void L2Cache::pin_again() {
  for (uint32_t i = 0; i < tags_.set_count(); ++i) {
    L2Tags::Set& set = tags_.set(i);
    for (unsigned way = 0; way < tags_.ways(); ++way) {
      uint8_t& state = set.state[way];
      if ((state & L2Tags::kKept) != 0 && !locks_.holds(tags_.line_of(i, way)))
        state &= static_cast<uint8_t>(~L2Tags::kKept);
    }
    if (!any_pin_) continue;
    for (unsigned way = 0; way < tags_.ways() && may_pin(set); ++way) {
      if (set.tag[way] != L2Tags::kNoTag && (set.state[way] & L2Tags::kCopy) == 0 &&
          in_pinned_range(tags_.line_of(i, way)))
        set.state[way] |= L2Tags::kKept;
    }
  }
}

bool L2Cache::may_pin(const L2Tags::Set& set) const {
  const auto kept = std::count_if(std::begin(set.state), std::end(set.state),
                                  [](uint8_t state) { return (state & L2Tags::kKept) != 0; });
  return static_cast<unsigned>(kept) < persist_ways_;
}

bool L2Cache::in_pinned_range(uint64_t line) const {
  const uint64_t address = line << L2Tags::kLineBits;
  return std::any_of(pins_.begin(), pins_.end(), [&](const PinRange& range) {
    return range.bytes != 0 && address >= range.base && address < range.base + range.bytes;
  });
}

bool L2Cache::was_pinned(uint64_t line) const {
  const uint64_t address = line << L2Tags::kLineBits;
  return std::any_of(once_pinned_.begin(), once_pinned_.end(), [&](const PinRange& range) {
    return address >= range.base && address < range.base + range.bytes;
  });
}

uint64_t L2Cache::dirty_sectors() const {
  uint64_t sectors = 0;
  for (uint32_t i = 0; i < tags_.set_count(); ++i) {
    const L2Tags::Set& set = tags_.set(i);
    for (unsigned way = 0; way < tags_.ways(); ++way) {
      const unsigned dirty = set.state[way] & L2Tags::kDirty;
      if (dirty != 0 && !was_pinned(tags_.line_of(i, way)))
        sectors += static_cast<unsigned>(std::popcount(dirty));
    }
  }
  return sectors;
}

uint64_t L2Cache::total(const std::array<uint64_t, STRETTO_ACCOUNTS>& accounts) const {
  uint64_t sum = 0;
  for (const uint64_t count : accounts) sum += count;
  return sum;
}

void L2Cache::report(StatisticSink& sink) const {
  for (unsigned i = 0; i < STRETTO_ACCOUNTS; ++i) {
    const std::string& name = sink.account(i);
    if (counters_.hits[i] + counters_.misses[i] + counters_.merges[i] != 0) {
      sink.add("l2.hits." + name, counters_.hits[i], "count", "Sectors that were in the cache.");
      sink.add("l2.merges." + name, counters_.merges[i], "count",
               "Sectors that joined a pending fill.");
      sink.add("l2.misses." + name, counters_.misses[i], "count", "Sectors fetched from memory.");
    }
    if (counters_.written[i] != 0) {
      sink.add("l2.written." + name, counters_.written[i], "count",
               "Sectors written into the cache.");
    }
    if (counters_.write_backs[i] != 0) {
      sink.add("l2.write_backs." + name, counters_.write_backs[i], "count",
               "Dirty sectors written to memory.");
    }
  }
  sink.add("l2.evictions", counters_.evictions, "count", "Valid lines replaced.");
  sink.add("l2.unallocated", counters_.unallocated, "count",
           "Sectors that found every way pending or pinned, or left to pinned lines.");
  if (counters_.pinned + counters_.unpinned != 0) {
    sink.add("l2.pinned", counters_.pinned, "count", "Lines that came in and were pinned.");
    sink.add("l2.unpinned", counters_.unpinned, "count",
             "Lines of pinned ranges that came in beyond the share of their set.");
    sink.add("l2.pinned_evictions", counters_.pinned_evictions, "count",
             "Dirty sectors of pinned ranges that were written back to make room.");
    sink.add("l2.unpinned_write_backs", counters_.unpinned_write_backs, "count",
             "Dirty sectors that were written back of ranges that had been pinned.");
  }
  sink.add("l2.bypass_bytes", counters_.bypass_bytes, "bytes",
           "Uncached and streaming accesses of compute units.");
  sink.add("l2.remote_bytes", counters_.remote_bytes, "bytes",
           "Stores and updates sent to other nodes.");
  sink.add("l2.atomics", counters_.atomics, "count", "Atomics performed here or at memory.");
  if (counters_.link_atomics != 0)
    sink.add("l2.link_atomics", counters_.link_atomics, "count", "Of these, of peers.");
  if (counters_.remote_atomics != 0)
    sink.add("l2.remote_atomics", counters_.remote_atomics, "count",
             "Atomics sent to peers and the host.");
  if (counters_.fences != 0) {
    sink.add("l2.fences", counters_.fences, "count",
             "Fences of system scope: write-backs of shared lines, and forgetting them.");
  }
  sink.add("l2.lock_waits", counters_.lock_waits, "count",
           "Accesses that waited for a locked line.");
  if (locking_) locks_.report(sink);
  const auto hart_reads = [&sink](const std::string& name, const L2Counters::HartReads& reads,
                                  const char* sentence) {
    if (reads.all == 0) return;
    sink.add("l2." + name, reads.all, "count", sentence);
    sink.add("l2." + name + "_found", reads.found, "count",
             "Of these, those whose sector was in the cache.");
  };
  hart_reads("hart_reads", counters_.hart_shared, "Loads of harts from shared ranges.");
  hart_reads("hart_announced_reads", counters_.hart_announced,
             "Of these, the first of a sector behind a locked store of a work-group to it.");
  hart_reads("hart_data_reads", counters_.hart_data,
             "Lines of their private data that harts loaded.");
  hart_reads("hart_code_reads", counters_.hart_code, "Lines of code that harts loaded.");
  sink.add("l2.boundaries", counters_.boundaries, "count",
           "Write-backs of all that was dirty (releases at system scope).");
  sink.add("l2.invalidations", counters_.invalidations, "count",
           "Times that all that was clean was forgotten (acquires at system scope).");
  sink.add("l2.passed_by", counters_.passed_by, "count",
           "Lines in accesses that passed the L2 by; the coherence law looked at each.");
  sink.add("l2.requests", counters_.requests, "count", "Requests of compute units and harts.");
  uint64_t busy = 0;
  for (uint32_t bank = 0; bank < banks_.banks(); ++bank) busy += banks_.busy(bank);
  sink.add("l2.bank_busy", busy, "cycles", "Clocks in which a bank moved bytes, of all banks.");
  if (slices_ != nullptr) slices_->report(sink);
  if (partitions_ != nullptr) partitions_->report(sink);
}

void L2Cache::audit(AuditSink& sink) const {
  sink.equal("L2 requests = responses", counters_.requests, counters_.responses);
  sink.equal("L2 sectors fetched = sectors arrived", counters_.fills_sent,
             counters_.fills_received);
  sink.equal("L2 misses = sectors fetched", total(counters_.misses), counters_.fills_sent);
  uint64_t busy = 0, busiest = 0;
  for (uint32_t bank = 0; bank < banks_.banks(); ++bank) {
    busy += banks_.busy(bank);
    busiest = std::max(busiest, banks_.busy(bank));
  }
  sink.at_most("no L2 bank is busy longer than time has passed", busiest,
               clock_.cycle_from(services_.queue->now()));
  sink.equal("L2 bytes served by banks = bytes asked for",
             busy / sector_cycles_ * L2Tags::kSectorBytes, counters_.tag_bytes);
  sink.at_most("L2 write-backs <= sectors written", total(counters_.write_backs),
               total(counters_.written));
  sink.equal("L2 locked reads = unlocking writes", locks_.counters().taken,
             locks_.counters().given_back);
  if (locking_) locks_.audit(sink, clock_.cycle_from(services_.queue->now()));
  if (slices_ != nullptr) slices_->audit(sink);
  if (partitions_ != nullptr) partitions_->audit(sink);
}

std::vector<std::string> L2Cache::waiting_on() const {
  std::vector<std::string> lines;
  if (outstanding_ != 0) {
    lines.push_back(
        "L2: " + std::to_string(outstanding_) + " requests wait for memory or the fabric (" +
        std::to_string(counters_.fills_sent - counters_.fills_received) + " sectors to come)");
  }
  if (slices_ != nullptr) slices_->waiting_on(lines);
  if (!deferred_.empty()) {
    lines.push_back("L2: " + std::to_string(deferred_.size()) +
                    " requests wait for a line that hart " +
                    std::to_string(locks_.exclusive().front().hart) + " has locked");
  }
  if (boundary_active_) {
    lines.push_back("L2: write-back waits for " +
                    std::to_string(boundary_lines_ + write_backs_in_flight_) + " answers");
  }
  return lines;
}

}  // namespace stretto
