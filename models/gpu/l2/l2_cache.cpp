// SPDX-License-Identifier: Apache-2.0
// See l2_cache.h. This file: requests in, the tag path, responses. l2_memory_side.cpp: payloads to
// the memory.
#include "models/gpu/l2/l2_cache.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "models/common/atomic_op.h"
#include "models/gpu/l2/l2_lines.h"
#include "models/gpu/l2/l2_partitions.h"
#include "models/gpu/l2/l2_slices.h"
#include "sw/include/formats/address_map.h"

namespace stretto {

L2Cache::L2Cache(sc_core::sc_module_name name, const L2Spec& spec, const HbmAddressMapping& mapping,
                 unsigned cus, ClockDomain clock, PartitionServices& services, MemoryImage& memory)
    : sc_core::sc_module(name),
      EventHandler(*services.queue),
      cu("cu", cus),
      cp("cp"),
      link("link"),
      channel("channel", mapping.channels()),
      remote("remote"),
      device("device"),
      spec_(spec),
      clock_(clock),
      services_(services),
      memory_(memory),
      tags_(spec, mapping),
      node_((uint64_t{services.gpu} + 1) << STRETTO_NODE_SHIFT),
      response_time_(clock.edge(spec.response_cycles)),
      to_memory_time_(clock.edge(spec.memory_cycles / 2)),
      from_memory_time_(clock.edge(spec.memory_cycles - spec.memory_cycles / 2)),
      sector_cycles_(std::max(1u, L2Tags::kSectorBytes / spec.bank_bytes_per_cycle)),
      banks_(spec.banks),
      ports_(2 * (cus + 2)),
      locking_(spec.lock_ways != 0),
      locks_(spec.lock_limit_cycles, [this](uint64_t line) { free_if_unlocked(line); }),
      shared_(memory),
      boundary_(mapping.channels()),
      writers_(size_t{tags_.set_count()} * L2Tags::kMaxWays),
      written_(writers_.size()) {
  for (unsigned i = 0; i < cus; ++i)
    cu[i].register_nb_transport_fw(this, &L2Cache::forward, static_cast<int>(i));
  cp.register_nb_transport_fw(this, &L2Cache::forward, static_cast<int>(cus));
  link.register_nb_transport_fw(this, &L2Cache::forward, static_cast<int>(cus) + 1);
  for (unsigned i = 0; i < mapping.channels(); ++i) {
    channel[i].register_nb_transport_bw(this, &L2Cache::backward, static_cast<int>(i));
  }
  remote.register_nb_transport_bw(this, &L2Cache::backward, static_cast<int>(mapping.channels()));
  device.register_nb_transport_bw(this, &L2Cache::backward,
                                  static_cast<int>(mapping.channels()) + 1);
  if (spec.limited() || spec.partitions > 1) slices_ = std::make_unique<L2Slices>(*this);
  if (spec.partitions > 1) partitions_ = std::make_unique<L2Partitions>(*this, cus);
}

L2Cache::~L2Cache() = default;

QueueSink* L2Cache::queue_sink() const {
  return spec_.memory_queue_sectors == 0 ? nullptr : slices_.get();
}

uint32_t L2Cache::take_request(int port, tlm::tlm_generic_payload& payload) {
  if (free_requests_.empty()) {
    requests_.push_back({});
    free_requests_.push_back(static_cast<uint32_t>(requests_.size() - 1));
  }
  const uint32_t index = free_requests_.back();
  free_requests_.pop_back();
  const StrettoExtension& extension = *extension_of(payload);
  requests_[index] = {.payload = &payload,
                      .done = 0,
                      .remaining = 1,
                      .port = static_cast<uint16_t>(port),
                      .copies = false,
                      .crossed = false,
                      .shared = extension.allocation == AllocationClass::shared,
                      .account = extension.account};
  ++outstanding_;
  return index;
}

tlm::tlm_sync_enum L2Cache::forward(int port, tlm::tlm_generic_payload& payload,
                                    tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  assert(phase == tlm::BEGIN_REQ);
  StrettoExtension* extension = extension_of(payload);
  if (extension == nullptr || payload.get_byte_enable_ptr() != nullptr ||
      extension->operation == Operation::fill) {
    payload.set_response_status(extension == nullptr ? tlm::TLM_GENERIC_ERROR_RESPONSE
                                                     : tlm::TLM_COMMAND_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  if (is_of_link(port)) {
    const tlm::tlm_response_status status = check_link(payload, *extension);
    if (status != tlm::TLM_OK_RESPONSE) {
      payload.set_response_status(status);
      return tlm::TLM_COMPLETED;
    }
    ++counters_.link_atomics;
  }
  ++counters_.requests;
  payload.acquire();
  enqueue(port, payload, clock_.cycle_from(services_.queue->now() + time_of(delay)));
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

// Of a peer: a word of this GPU's memory, and no other operation.
tlm::tlm_response_status L2Cache::check_link(tlm::tlm_generic_payload& payload,
                                             const StrettoExtension& extension) const {
  if (extension.operation != Operation::atomic) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  const uint64_t offset = payload.get_address() - node_, bytes = payload.get_data_length();
  if (offset >= STRETTO_GPU_MEMORY_LIMIT || offset % bytes != 0 ||
      memory_.stamp_at(offset) != nullptr)
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

bool L2Cache::is_store(const StrettoExtension& extension) {
  switch (extension.operation) {
    case Operation::read:
    case Operation::atomic:
    case Operation::locked_read: return false;
    default: return true;
  }
}

void L2Cache::enqueue(int unit, tlm::tlm_generic_payload& payload, uint64_t arrival) {
  const uint32_t index = static_cast<uint32_t>(2 * unit) + is_store(*extension_of(payload));
  std::deque<Arrival>& waits = ports_[index].waits;
  auto place = waits.end();
  while (place != waits.begin() && std::prev(place)->clock > arrival) --place;
  waits.insert(place, {&payload, arrival});
  set_due(index);
  schedule_due();
}

// When the first request of the port will be at the banks; by then whatever arrives before it is
// known.
void L2Cache::set_due(uint32_t index) {
  Port& port = ports_[index];
  const uint64_t due = port.waits.empty()
                           ? kNotDue
                           : std::max(port.waits.front().clock, port.free) + spec_.request_cycles;
  if (due == port.due) return;
  port.due = due;
  if (due != kNotDue) due_.push({due, index});
}

void L2Cache::schedule_due() {
  if (due_.empty() || due_.top().first >= scheduled_) return;
  scheduled_ = due_.top().first;
  services_.queue->schedule(clock_.edge(scheduled_), *this);
}

void L2Cache::on_event(uint64_t) {
  const uint64_t clock = clock_.cycle_from(services_.queue->now());
  if (clock == scheduled_) scheduled_ = kNotDue;
  banks_.set_now(clock);
  while (!due_.empty() && due_.top().first <= clock) {
    const auto [due, index] = due_.top();
    due_.pop();
    Port& port = ports_[index];
    if (port.due != due) continue;
    set_due(index);
    if (port.due != due) continue;  // An atomic has used the port meanwhile.
    const Arrival arrival = port.waits.front();
    port.waits.pop_front();
    port.due = kNotDue;
    if (partitions_ == nullptr || !partitions_->takes(index, *arrival.payload, arrival.clock))
      serve(static_cast<int>(index / 2), *arrival.payload, arrival.clock);
    set_due(index);
  }
  schedule_due();
}

uint64_t L2Cache::pass(Port& port, uint64_t arrival, uint64_t clocks) const {
  const uint64_t begin = std::max(arrival, port.free);
  port.free = begin + clocks;
  return begin + spec_.request_cycles;
}

void L2Cache::serve(int unit, tlm::tlm_generic_payload& payload, uint64_t arrival, bool crossed) {
  StrettoExtension& extension = *extension_of(payload);
  if (extension.operation == Operation::fence)
    return serve_fence(unit, payload, extension, arrival);
  if (!locks_.exclusive().empty() && blocked_by_lock(payload, extension)) {
    ++counters_.lock_waits;
    deferred_.push_back({unit, &payload});
    return;
  }
  Port& loads = crossed ? partitions_->past_ports(0) : ports_[2 * unit];
  Port& stores = crossed ? partitions_->past_ports(1) : ports_[2 * unit + 1];
  const uint64_t address = payload.get_address();
  if (extension.rows == 1) extension.row_bytes = payload.get_data_length();
  const bool shared = extension.allocation == AllocationClass::shared;
  const bool at_memory = extension.operation == Operation::atomic &&
                         extension.scope == Scope::system && (shared || is_of_link(unit));
  if (at_memory && !line_is_in_memory(unit, payload)) return;
  const bool cached = in_l2(extension.allocation) && !at_memory;
  const uint32_t request = take_request(unit, payload);
  requests_[request].crossed = crossed;
  Time done = 0;
  if (address - node_ >= STRETTO_GPU_MEMORY_LIMIT) {  // Another node, or a device of this one.
    done = serve_remote(request, stores, payload, extension, arrival);
  } else {
    switch (extension.operation) {
      case Operation::read:
        if (cached && extension.engine == Engine::hart) count_hart_read(payload, extension);
        done = cached ? serve_read(request, loads, payload, extension, arrival)
                      : serve_bypass(request, loads, payload, extension, arrival);
        break;
      case Operation::write:
      case Operation::locked_store:
        if (shared) note_announced(payload, extension);
        done = cached ? serve_write(request, stores, payload, extension, arrival)
                      : serve_bypass(request, stores, payload, extension, arrival);
        break;
      case Operation::update:
        done = serve_bypass(request, stores, payload, extension, arrival);
        break;
      case Operation::atomic: {
        ++counters_.atomics;
        StrettoExtension access = extension;
        access.tags_only = true;
        access.operation = Operation::read;
        if (!shared || at_memory) apply_atomic(payload, extension);
        const uint64_t begin = std::max(arrival, loads.free);  // It may have waited behind loads.
        if (cached) {
          done = serve_read(request, loads, payload, access, begin);
          access.operation = Operation::write;
          serve_write(request, stores, payload, access, begin);
        } else {
          serve_bypass(request, loads, payload, access, begin);
          access.operation = Operation::write;
          done = serve_bypass(request, stores, payload, access, begin);
        }
        break;
      }
      case Operation::locked_read:
      case Operation::unlocking_write: {
        const bool reads = extension.operation == Operation::locked_read;
        const uint64_t line = (address & STRETTO_OFFSET_MASK) >> L2Tags::kLineBits;
        StrettoExtension access = extension;
        access.operation = reads ? Operation::read : Operation::write;
        if (reads) locks_.take(line, extension.unit, clock_.cycle_from(services_.queue->now()));
        if (!cached) {  // Unlocked when answered.
          done = serve_bypass(request, reads ? loads : stores, payload, access, arrival);
        } else if (reads) {
          done = serve_read(request, loads, payload, access, arrival);
        } else {
          done = serve_write(request, stores, payload, access, arrival);
          unlock(line, extension.unit);
        }
        break;
      }
      case Operation::fill:
      case Operation::fence: break;
    }
  }
  requests_[request].done = std::max(requests_[request].done, done);
  send_all();  // May answer at once, and so finish sectors of this request.
  if (--requests_[request].remaining == 0) complete(request);
}

uint32_t L2Cache::gather(uint64_t offset, const StrettoExtension& extension) {
  lookups_.clear();
  uint32_t sectors = 0;
  for (uint32_t row = 0; row < extension.rows; ++row) {
    const uint64_t begin = offset + row * extension.pitch;
    const uint64_t first = begin >> L2Tags::kSectorBits;
    const uint64_t last = (begin + extension.row_bytes - 1) >> L2Tags::kSectorBits;
    for (uint64_t line = first >> 1; line <= last >> 1; ++line) {
      const uint8_t mask =
          static_cast<uint8_t>((2 * line >= first ? 1 : 0) | (2 * line + 1 <= last ? 2 : 0));
      const L2Tags::Place place = tags_.place_of(line);
      if (slices_ == nullptr) tags_.prefetch(place.set);
      const bool starts = 2 * line <= first, ends = 2 * line + 1 >= last;
      lookups_.push_back(
          {line, place.set, sectors, static_cast<uint16_t>(place.bank), mask,
           static_cast<uint8_t>(starts ? begin & 127 : 0),
           static_cast<uint8_t>(ends ? (begin + extension.row_bytes - 1) & 127 : 127)});
      sectors += mask == 3 ? 2 : 1;
    }
  }
  return sectors;
}

Time L2Cache::serve_read(uint32_t request, Port& port, tlm::tlm_generic_payload& payload,
                         const StrettoExtension& extension, uint64_t arrival) {
  const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
  const uint32_t sectors = gather(offset, extension);
  const uint64_t per_sector = std::max(1u, L2Tags::kSectorBytes / spec_.cu_load_bytes_per_cycle);
  const uint64_t at_bank = pass(port, arrival, sectors * per_sector);
  counters_.tag_bytes += sectors * L2Tags::kSectorBytes;
  uint64_t ready = at_bank, hits = 0;
  if (slices_ != nullptr) {
    slices_->look_up(request, false, at_bank, per_sector);
  } else {
    for (const Lookup& lookup : lookups_) {
      const uint64_t at = at_bank + lookup.sector * per_sector;
      ready = std::max(
          ready,
          read_line(
              lookup, request, [&]() -> const StrettoExtension& { return extension; }, at, hits));
    }
    flush_fill();
    counters_.hits[extension.account] += hits;
  }
  // What memory has not yet written when it lets a reader know must not be read now, but where the
  // fill is in its order.
  if (!extension.tags_only && payload.get_data_ptr() != nullptr) {
    if (extension.allocation == AllocationClass::shared && slices_ == nullptr) {
      for (const Lookup& lookup : lookups_) open_shared_line(lookup);
    }
    requests_[request].copies = requests_[request].remaining > 1;
    if (!requests_[request].copies) copy_bytes(payload, extension, false);
  }
  return clock_.edge(ready + spec_.response_cycles);
}

// Sectors for which no way or no fill record is free: they are fetched past the tags.
void L2Cache::fetch_past(const Lookup& lookup, unsigned mask, uint32_t request,
                         const StrettoExtension& extension, uint64_t cycle) {
  if (lookup.copy) return partitions_->fetch(lookup, mask, kNoFill, request, extension, cycle);
  for (unsigned sector = 0; sector < 2; ++sector) {
    if ((mask >> sector & 1) == 0) continue;
    ++counters_.misses[extension.account];
    ++counters_.unallocated;
    ++counters_.fetched_past;
    const uint64_t address = lookup.line << L2Tags::kLineBits | uint64_t{sector}
                                                                    << L2Tags::kSectorBits;
    PooledPayload& fetch =
        make_payload(tlm::TLM_READ_COMMAND, address, nullptr, L2Tags::kSectorBytes, extension);
    fetch.extension.tags_only = true;
    fetch.extension.cookie = cookie(Kind::past, request);
    ++requests_[request].remaining;
    ++counters_.fills_sent;
    outbox_.push_back({&fetch, clock_.edge(cycle), tags_.channel_of(address)});
  }
}

void L2Cache::add_waiter(uint32_t& list, uint32_t request) {
  if (list == kNone || waiters_[list].count == std::size(waiters_[list].request)) {
    if (free_waiters_.empty()) {
      waiters_.emplace_back();
      free_waiters_.push_back(static_cast<uint32_t>(waiters_.size() - 1));
    }
    const uint32_t group = free_waiters_.back();
    free_waiters_.pop_back();
    waiters_[group].count = 0;
    waiters_[group].next = list;
    list = group;
  }
  Waiters& waiters = waiters_[list];
  waiters.request[waiters.count++] = request;
}

// A lookup with at least one sector that is not simply there.
void L2Cache::read_slow(const Lookup& lookup, L2Tags::Set& set, int way, uint32_t request,
                        const StrettoExtension& extension, uint64_t cycle) {
  const unsigned account = extension.account;
  if (!changed_.empty() && !lookup.copy) check_changed(lookup, extension);
  const bool no_fill = free_fills_.empty() && fills_.size() >= kNoFill;
  if (way < 0 && !no_fill) way = allocate(lookup, cycle);
  if (way < 0) {
    fetch_past(lookup, lookup.mask, request, extension, cycle);
    return;
  }
  const unsigned state = set.state[way];
  const unsigned pending = state >> L2Tags::kPendingShift & 3;
  const unsigned missing = lookup.mask & ~(state >> L2Tags::kValidShift) & ~pending & 3;
  uint16_t fill = set.fill[way];
  if (missing != 0 && pending == 0 && no_fill) {
    fetch_past(lookup, missing, request, extension, cycle);
    const unsigned there = lookup.mask & ~missing & 3;
    counters_.hits[account] += there != 0 ? 1 : 0;
    return;
  }
  if (missing != 0) {
    if (pending == 0) {
      if (free_fills_.empty()) {
        fills_.push_back({});
        free_fills_.push_back(static_cast<uint16_t>(fills_.size() - 1));
      }
      fill = free_fills_.back();
      free_fills_.pop_back();
      fills_[fill] = {.set = lookup.set,
                      .first = {kNone, kNone},
                      .second = {kNone, kNone},
                      .others = {kNone, kNone},
                      .way = static_cast<uint8_t>(way),
                      .pending = 0,
                      .dropped = 0};
      set.fill[way] = fill;
    }
    fills_[fill].pending |= static_cast<uint8_t>(missing);
    set.state[way] = static_cast<uint8_t>(state | missing << L2Tags::kPendingShift);
    if (lookup.copy) {
      partitions_->fetch(lookup, missing, fill, request, extension, cycle);
    } else {
      add_fill(lookup.line, static_cast<uint8_t>(missing), fill, extension, cycle);
    }
  }
  for (unsigned sector = 0; sector < 2; ++sector) {
    const unsigned bit = 1u << sector;
    if ((lookup.mask & bit) == 0) continue;
    if (((missing | pending) & bit) == 0) {
      ++counters_.hits[account];
      continue;
    }
    // What a copy lacks is counted at its home.
    if ((missing & bit) == 0) {
      ++counters_.merges[account];
    } else if (!lookup.copy) {
      ++counters_.misses[account];
    }
    ++requests_[request].remaining;
    Fill& waited = fills_[fill];
    if (waited.first[sector] == kNone) {
      waited.first[sector] = request;
    } else if (waited.second[sector] == kNone) {
      waited.second[sector] = request;
    } else {
      add_waiter(waited.others[sector], request);
    }
  }
}

// Whether pinned lines that come later find a way, however many fills are under way in the set.
bool L2Cache::leaves_share(const L2Tags::Set& set, const Lookup& lookup) const {
  if (!lookup.copy && in_pinned_range(lookup.line)) return true;
  const auto pending = std::count_if(std::begin(set.state), std::end(set.state), [](uint8_t state) {
    return (state & L2Tags::kPending) != 0 && (state & L2Tags::kKept) == 0;
  });
  return static_cast<unsigned>(pending) < tags_.ways() - persist_ways_;
}

int L2Cache::allocate(const Lookup& lookup, uint64_t cycle) {
  const uint32_t set_index = lookup.set;
  L2Tags::Set& set = tags_.set(set_index);
  if (locks_.any()) locks_.expire(clock_.cycle_from(services_.queue->now()));
  if (any_pin_ && !leaves_share(set, lookup)) return -1;
  const int way = tags_.victim(set);
  if (way < 0) return way;
  if (set.tag[way] != L2Tags::kNoTag && (set.state[way] & L2Tags::kCopy) == 0) {
    if (partitions_ != nullptr) {
      partitions_->drop_copy(tags_.line_of(set_index, static_cast<unsigned>(way)), 3);
    }
    if (!changed_.empty()) changed_.erase(tags_.line_of(set_index, static_cast<unsigned>(way)));
    ++counters_.evictions;
    uint8_t dirty = set.state[way] >> L2Tags::kDirtyShift & 3;
    if (!shared_.empty())
      dirty |= take_from_boundary(tags_.line_of(set_index, static_cast<unsigned>(way)));
    if (dirty != 0) {
      if (any_pin_ && in_pinned_range(tags_.line_of(set_index, static_cast<unsigned>(way))))
        counters_.pinned_evictions += dirty == 3 ? 2 : 1;
      send_write_back(tags_.line_of(set_index, static_cast<unsigned>(way)), dirty,
                      L2Tags::account(set, static_cast<unsigned>(way)), Kind::write_back,
                      clock_.edge(cycle));
    }
    if (!shared_.empty()) shared_.drop(tags_.line_of(set_index, static_cast<unsigned>(way)));
  }
  set.tag[way] = lookup.tag();
  set.state[way] = lookup.copy ? L2Tags::kCopy : 0;
  if (any_pin_ && !lookup.copy && in_pinned_range(lookup.line)) {
    const bool pins = may_pin(set);
    ++(pins ? counters_.pinned : counters_.unpinned);
    if (pins) set.state[way] = L2Tags::kKept;
  }
  tags_.touch(set, static_cast<unsigned>(way));
  return way;
}

Time L2Cache::serve_write(uint32_t request, Port& port, tlm::tlm_generic_payload& payload,
                          const StrettoExtension& extension, uint64_t arrival) {
  const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
  const uint32_t sectors = gather(offset, extension);
  const uint64_t per_sector = std::max(1u, L2Tags::kSectorBytes / spec_.cu_store_bytes_per_cycle);
  const uint64_t at_bank = pass(port, arrival, sectors * per_sector);
  counters_.tag_bytes += sectors * L2Tags::kSectorBytes;
  uint64_t ready = at_bank;
  const bool shared = has_bytes(extension, payload);
  if (slices_ != nullptr) {
    slices_->look_up(request, true, at_bank, per_sector);
  } else {
    for (const Lookup& lookup : lookups_) {
      const uint64_t at = at_bank + lookup.sector * per_sector;
      ready = std::max(ready, shared ? write_shared_line(lookup, payload, extension, at)
                                     : write_line(lookup, extension, at));
    }
  }
  if (!shared && !extension.tags_only && payload.get_data_ptr() != nullptr)
    copy_bytes(payload, extension, true);
  return clock_.edge(ready + spec_.response_cycles);
}

void L2Cache::copy_bytes(tlm::tlm_generic_payload& payload, const StrettoExtension& extension,
                         bool to_memory) {
  const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
  uint8_t* data = payload.get_data_ptr();
  for (uint32_t row = 0; row < extension.rows; ++row, data += extension.row_bytes) {
    const uint64_t at = offset + row * extension.pitch;
    if (to_memory) {
      memory_.write(at, data, extension.row_bytes);
    } else if (extension.allocation == AllocationClass::shared) {
      shared_.read(at, data, extension.row_bytes);
    } else {
      memory_.read(at, data, extension.row_bytes);
    }
  }
}

void L2Cache::apply_atomic(tlm::tlm_generic_payload& payload, const StrettoExtension& extension) {
  const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
  const unsigned bytes = payload.get_data_length();
  assert(bytes == 4 || bytes == 8);
  uint64_t old_value = 0, operand = 0;
  memory_.read(offset, reinterpret_cast<uint8_t*>(&old_value), bytes);
  std::copy_n(payload.get_data_ptr(), bytes, reinterpret_cast<uint8_t*>(&operand));
  const uint64_t result =
      apply_atomic_op(extension.atomic_op, bytes, old_value, operand, extension.compare);
  memory_.write(offset, reinterpret_cast<const uint8_t*>(&result), bytes);
  std::copy_n(reinterpret_cast<const uint8_t*>(&old_value), bytes, payload.get_data_ptr());
}

}  // namespace stretto
