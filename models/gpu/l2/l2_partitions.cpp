// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/l2/l2_partitions.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "models/gpu/l2/l2_slices.h"
#include "sw/include/formats/address_map.h"

namespace stretto {

L2Partitions::L2Partitions(L2Cache& l2, unsigned cus)
    : EventHandler(*l2.services_.queue),
      l2_(l2),
      cus_(cus),
      first_units_((cus + 1) / 2),
      to_cycles_(l2.spec_.partition_link_cycles / 2),
      back_cycles_(l2.spec_.partition_link_cycles - to_cycles_),
      back_time_(l2.clock_.edge(back_cycles_)),
      lane_bytes_(l2.spec_.partition_link_bytes_per_cycle),
      lanes_(2 * l2.spec_.banks) {
  assert(l2.tags_.channels() > 1);
}

uint32_t L2Partitions::bank_of(uint64_t offset) const {
  return l2_.tags_.place_of(offset >> L2Tags::kLineBits).bank;
}

bool L2Partitions::is_far(uint32_t request, uint32_t bank) const {
  const L2Cache::Request& of = l2_.requests_[request];
  return !of.crossed && of.port != kPort &&
         l2_.tags_.partition_of(bank) != partition_of_port(of.port);
}

uint64_t L2Partitions::carry(uint32_t bank, bool to_home, uint64_t clock, uint64_t bytes) {
  bytes_[to_home ? 1 : 0] += bytes;
  const uint64_t now = l2_.clock_.cycle_from(l2_.services_.queue->now());
  clock = std::max(clock, now);
  if (lane_bytes_ != 0 && bytes != 0) {
    lanes_.set_now(now);
    uint64_t end = clock;
    for (uint64_t left = (bytes + lane_bytes_ - 1) / lane_bytes_; left > 0;) {
      const uint32_t part = static_cast<uint32_t>(std::min<uint64_t>(left, 32));
      end = lanes_.take(2 * bank + (to_home ? 1 : 0), end, part);
      left -= part;
    }
    clock = end;
  }
  return clock + (to_home ? to_cycles_ : back_cycles_);
}

void L2Partitions::schedule(uint64_t clock, Crossing crossing) {
  if (free_crossings_.empty()) {
    crossings_.emplace_back();
    free_crossings_.push_back(static_cast<uint32_t>(crossings_.size() - 1));
  }
  const uint32_t index = free_crossings_.back();
  free_crossings_.pop_back();
  crossings_[index] = crossing;
  l2_.services_.queue->schedule(l2_.clock_.edge(clock), *this, index);
}

bool L2Partitions::takes(uint32_t index, tlm::tlm_generic_payload& payload, uint64_t arrival) {
  const StrettoExtension& extension = *extension_of(payload);
  const uint64_t offset = payload.get_address() - l2_.node_;
  if (extension.operation == Operation::read || extension.operation == Operation::fence ||
      extension.rows != 1 || offset >= STRETTO_GPU_MEMORY_LIMIT)
    return false;
  const uint64_t bytes = payload.get_data_length();
  if (offset >> L2Tags::kLineBits != (offset + bytes - 1) >> L2Tags::kLineBits) return false;
  const unsigned unit = index / 2;
  const uint32_t bank = bank_of(offset);
  if (l2_.tags_.partition_of(bank) == partition_of_port(unit)) return false;
  ++crossed_;
  const auto pass = [&](unsigned port, uint32_t rate) {
    const uint64_t sectors =
        (offset + bytes - 1) / L2Tags::kSectorBytes - offset / L2Tags::kSectorBytes + 1;
    const uint64_t clocks = in_l2(extension.allocation)
                                ? sectors * std::max(1u, L2Tags::kSectorBytes / rate)
                                : (bytes + rate - 1) / rate;
    return l2_.pass(l2_.ports_[port], arrival, clocks);
  };
  const bool store = L2Cache::is_store(extension);
  uint64_t clock = 0;
  if (extension.operation == Operation::atomic)
    pass(2 * unit + 1, l2_.spec_.cu_store_bytes_per_cycle);
  clock = store ? pass(index, l2_.spec_.cu_store_bytes_per_cycle)
                : pass(index, l2_.spec_.cu_load_bytes_per_cycle);
  // The value that an atomic or a locked read returns counts, but finds the lane free.
  if (!store) bytes_[0] += bytes;
  const bool brings = store || extension.operation == Operation::atomic;
  schedule(carry(bank, true, clock, brings ? bytes : 0), {&payload, static_cast<int>(unit)});
  return true;
}

L2Cache::Port& L2Partitions::past_ports(unsigned index) {
  past_ports_[index].free = 0;
  return past_ports_[index];
}

void L2Partitions::on_event(uint64_t tag) {
  const Crossing crossing = crossings_[tag];
  free_crossings_.push_back(static_cast<uint32_t>(tag));
  const Time now = l2_.services_.queue->now();
  const uint64_t clock = l2_.clock_.cycle_from(now);
  l2_.banks_.set_now(clock);
  if (crossing.unit >= 0)
    return l2_.serve(crossing.unit, *crossing.payload, clock - l2_.spec_.request_cycles, true);
  PooledPayload& asked = static_cast<PooledPayload&>(*crossing.payload);
  const uint64_t what = asked.extension.cookie;
  const uint64_t line = (asked.get_address() & STRETTO_OFFSET_MASK) >> L2Tags::kLineBits;
  const unsigned sectors = asked.get_data_length() >> L2Tags::kSectorBits;
  asked.release();
  came_ += sectors;
  // So that whoever waits has it response_cycles later, to the femtosecond.
  const Time at = l2_.clock_.edge(clock + l2_.spec_.response_cycles) - l2_.response_time_;
  if (static_cast<L2Cache::Kind>(what >> 56) == L2Cache::Kind::copy_past) {
    for (unsigned i = 0; i < sectors; ++i) l2_.arrived(static_cast<uint32_t>(what), at);
  } else {
    const uint16_t index = static_cast<uint16_t>(what);
    L2Cache::Fill& fill = l2_.fills_[index];
    const unsigned mask = what >> 32 & 3;
    const unsigned keep = mask & ~fill.dropped & valid_at_home(line);
    fill.dropped &= static_cast<uint8_t>(~mask);
    kept_ += static_cast<unsigned>(std::popcount(keep));
    l2_.sectors_arrived(index, static_cast<uint8_t>(mask), at, static_cast<uint8_t>(keep));
  }
  l2_.send_all();
}

uint64_t L2Partitions::route(L2Cache::Lookup& lookup, uint32_t request, bool store, uint64_t clock,
                             bool& far) {
  const bool beyond = is_far(request, lookup.bank);
  far = beyond && store;
  if (!beyond) return clock;
  if (store) return carry(lookup.bank, true, clock, lookup.last - lookup.first + 1u);
  const L2Tags::Place place = l2_.tags_.other_side({lookup.set, lookup.bank});
  lookup.set = place.set;
  lookup.bank = static_cast<uint16_t>(place.bank);
  lookup.copy = true;
  return clock;
}

uint64_t L2Partitions::piece_at_home(uint32_t request, uint64_t offset, bool store, uint32_t bytes,
                                     uint64_t clock) {
  const uint32_t bank = bank_of(offset);
  return is_far(request, bank) ? carry(bank, true, clock, store ? bytes : 0) : clock;
}

Time L2Partitions::piece_is_back(uint32_t request, uint64_t offset, bool store, uint32_t bytes,
                                 Time at) {
  const uint32_t bank = bank_of(offset);
  if (!is_far(request, bank)) return at;
  const uint64_t clock = carry(bank, false, l2_.clock_.cycle_from(at), store ? 0 : bytes);
  return l2_.clock_.edge(clock);
}

void L2Partitions::fetch(const L2Cache::Lookup& lookup, unsigned mask, uint16_t fill,
                         uint32_t request, const StrettoExtension& extension, uint64_t cycle) {
  const unsigned sectors = static_cast<unsigned>(std::popcount(mask));
  const uint64_t offset =
      lookup.line << L2Tags::kLineBits | (mask == 2 ? uint64_t{L2Tags::kSectorBytes} : 0);
  PooledPayload& asks = l2_.make_payload(tlm::TLM_READ_COMMAND, offset, nullptr,
                                         sectors * L2Tags::kSectorBytes, extension);
  asks.extension.tracked = false;
  asks.extension.tags_only = true;
  if (fill == L2Cache::kNoFill) {
    asks.extension.cookie = L2Cache::cookie(L2Cache::Kind::copy_past, request);
    l2_.requests_[request].remaining += sectors;
    l2_.counters_.unallocated += sectors;
  } else {
    asks.extension.cookie = L2Cache::cookie(L2Cache::Kind::copy, uint64_t{mask} << 32 | fill);
  }
  asked_ += sectors;
  l2_.counters_.tag_bytes += sectors * L2Tags::kSectorBytes;
  L2Cache::Lookup home = lookup;
  const L2Tags::Place place = l2_.tags_.other_side({lookup.set, lookup.bank});
  home.set = place.set;
  home.bank = static_cast<uint16_t>(place.bank);
  home.mask = static_cast<uint8_t>(mask);
  home.copy = false;
  const uint64_t clock = carry(home.bank, true, cycle, 0);
  l2_.slices_->look_up_one(home, l2_.take_request(kPort, asks), clock);
}

void L2Partitions::served(PooledPayload& asked, Time done) {
  const uint64_t ready = l2_.clock_.cycle_from(done) - l2_.spec_.response_cycles;
  const uint32_t bank = bank_of(asked.get_address() & STRETTO_OFFSET_MASK);
  schedule(carry(bank, false, ready, asked.get_data_length()), {&asked, -1});
}

unsigned L2Partitions::valid_at_home(uint64_t line) const {
  const L2Tags::Set& set = l2_.tags_.set(l2_.tags_.place_of(line).set);
  const int way = L2Tags::find(set, L2Tags::tag_of(line));
  return way < 0 ? 0 : set.state[way] >> L2Tags::kValidShift & 3;
}

void L2Partitions::drop_copy(uint64_t line, unsigned sectors) {
  L2Tags::Set& set = l2_.tags_.set(l2_.tags_.other_side(l2_.tags_.place_of(line)).set);
  const int way = L2Tags::find(set, L2Tags::tag_of(line));
  if (way >= 0) drop(set, static_cast<unsigned>(way), sectors);
}

void L2Partitions::drop(L2Tags::Set& set, unsigned way, unsigned sectors) {
  uint8_t& state = set.state[way];
  assert((state & L2Tags::kCopy) != 0);
  if (l2_.spec_.fault_keep_copies) return;
  const unsigned valid = state >> L2Tags::kValidShift & sectors;
  const unsigned pending = state >> L2Tags::kPendingShift & sectors;
  dropped_ += static_cast<unsigned>(std::popcount(valid | pending));
  if (pending != 0) l2_.fills_[set.fill[way]].dropped |= static_cast<uint8_t>(pending);
  state &= static_cast<uint8_t>(~(valid << L2Tags::kValidShift));
  if (state == L2Tags::kCopy) {
    set.tag[way] = L2Tags::kNoTag;
    state = 0;
  }
}

void L2Partitions::report(StatisticSink& sink) const {
  sink.add("l2.far_reads", asked_, "count",
           "Sectors that a partition has read from the other, which had or fetched them.");
  sink.add("l2.far_kept", kept_, "count", "Those that stayed as a copy.");
  sink.add("l2.far_drops", dropped_, "count",
           "Sectors of copies that were written at home, or whose line left there.");
  sink.add("l2.far_requests", crossed_, "count",
           "Atomics, locks and stores inside a line that were performed in the other partition.");
  sink.add("l2.link_to_home", bytes_[1], "bytes", "Bytes written over the partitions' link.");
  sink.add("l2.link_back", bytes_[0], "bytes", "Bytes read over the partitions' link.");
}

void L2Partitions::audit(AuditSink& sink) const {
  sink.equal("L2 sectors asked of the other partition = sectors that came", asked_, came_);
  sink.equal("L2 requests between partitions all there", crossings_.size(), free_crossings_.size());
  uint64_t alone = 0;
  for (uint32_t index = 0; index < l2_.tags_.set_count(); ++index) {
    const L2Tags::Set& set = l2_.tags_.set(index);
    for (unsigned way = 0; way < l2_.tags_.ways(); ++way) {
      if (set.tag[way] == L2Tags::kNoTag || (set.state[way] & L2Tags::kCopy) == 0) continue;
      const unsigned valid = set.state[way] >> L2Tags::kValidShift & 3;
      alone += (valid & ~valid_at_home(l2_.tags_.line_of(index, way))) != 0 ||
               (set.state[way] & (L2Tags::kDirty | L2Tags::kKept)) != 0;
    }
  }
  sink.equal("L2 copies that their home does not have", alone, 0);
}

}  // namespace stretto
