// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/l2/l2_slices.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "models/gpu/l2/l2_lines.h"
#include "models/gpu/l2/l2_partitions.h"
#include "sw/include/formats/address_map.h"

namespace stretto {
namespace {

// Entries of the memory's queues, one each 64 B.
uint32_t atoms_of(const PooledPayload& payload) {
  const uint64_t first = payload.get_address() >> L2Tags::kSectorBits;
  const uint64_t last =
      (payload.get_address() + payload.get_data_length() - 1) >> L2Tags::kSectorBits;
  return static_cast<uint32_t>(last - first + 1);
}

}  // namespace

L2Slices::L2Slices(L2Cache& l2)
    : EventHandler(*l2.services_.queue), l2_(l2), spec_(l2.spec_), slices_(l2.spec_.banks) {}

uint32_t L2Slices::slice_of(uint64_t offset) const {
  return l2_.tags_.place_of((offset & STRETTO_OFFSET_MASK) >> L2Tags::kLineBits).bank;
}

// What is to happen in a clock that has not come. Its event is scheduled with its first entry.
L2Slices::Clock& L2Slices::at(uint64_t clock) {
  assert(clock >= present_);
  if (clock - present_ >= clocks_.size()) {
    present_ = l2_.clock_.cycle_at(l2_.services_.queue->now());
    while (clock - present_ >= clocks_.size()) grow();
  }
  Clock& entry = clocks_[clock & (clocks_.size() - 1)];
  if (entry.empty()) l2_.services_.queue->schedule(l2_.clock_.edge(clock), *this, clock);
  return entry;
}

void L2Slices::grow() {
  std::vector<Clock> wider(2 * clocks_.size());
  for (uint64_t clock = present_; clock < present_ + clocks_.size(); ++clock)
    std::swap(wider[clock & (wider.size() - 1)], clocks_[clock & (clocks_.size() - 1)]);
  clocks_ = std::move(wider);
}

// What waited for a lock is served long after it has arrived.
uint64_t L2Slices::not_past(uint64_t clock) const {
  const Time now = l2_.services_.queue->now();
  return l2_.clock_.edge(clock) >= now ? clock : l2_.clock_.cycle_from(now);
}

void L2Slices::add(const L2Cache::Lookup& lookup, uint32_t request, uint64_t clock, bool store,
                   bool far) {
  Access& access = accesses_.push(at(clock).accesses);
  access.lookup = lookup;
  access.request = request;
  access.piece = false;
  access.store = store;
  access.far = far;
  if (clock < ahead_) fetch_ahead(access);
}

void L2Slices::look_up(uint32_t request, bool store, uint64_t at_bank, uint64_t per_sector) {
  at_bank = not_past(at_bank);
  for (L2Cache::Lookup& lookup : l2_.lookups_) {
    uint64_t clock = at_bank + lookup.sector * per_sector;
    bool far = false;
    if (l2_.partitions_ != nullptr)
      clock = l2_.partitions_->route(lookup, request, store, clock, far);
    add(lookup, request, clock, store, far);
  }
  l2_.requests_[request].remaining += static_cast<uint32_t>(l2_.lookups_.size());
}

void L2Slices::look_up_one(const L2Cache::Lookup& lookup, uint32_t request, uint64_t clock) {
  add(lookup, request, clock, false, false);
}

void L2Slices::pass(PooledPayload& piece, uint64_t clock) {
  if (free_pieces_.empty()) {
    pieces_.push_back(nullptr);
    free_pieces_.push_back(static_cast<uint32_t>(pieces_.size() - 1));
  }
  const uint32_t index = free_pieces_.back();
  free_pieces_.pop_back();
  pieces_[index] = &piece;
  const uint64_t line = (piece.get_address() & STRETTO_OFFSET_MASK) >> L2Tags::kLineBits;
  const L2Tags::Place place = l2_.tags_.place_of(line);
  L2Cache::Lookup lookup{};
  lookup.line = line;
  lookup.set = place.set;
  lookup.bank = static_cast<uint16_t>(place.bank);
  accesses_.push(at(not_past(clock)).accesses) = {lookup, index, true};
}

void L2Slices::on_event(uint64_t clock) {
  present_ = clock;
  const Clock now = std::exchange(clocks_[clock & (clocks_.size() - 1)], Clock());
  for (ahead_ = std::max(ahead_, clock + 1); ahead_ <= clock + kAheadClocks; ++ahead_) {
    accesses_.for_each(clocks_[ahead_ & (clocks_.size() - 1)].accesses,
                       [this](const Access& access) { fetch_ahead(access); });
  }
  accesses_.prefetch(clocks_[ahead_ & (clocks_.size() - 1)].accesses);
  l2_.banks_.set_now(clock);
  frees_.empty(now.frees, [this](const Free& free) { take_back(free); });
  for (const uint32_t slice : touched_) retry(slices_[slice], clock);
  touched_.clear();
  accesses_.empty(now.accesses, [&](Access& access) { come(access, clock); });
}

// Brings into the host's cache what the access will read.
void L2Slices::fetch_ahead(const Access& access) const {
  l2_.prefetch_set(access.lookup.set, access.store);
  if (access.store && l2_.partitions_ != nullptr)
    l2_.tags_.prefetch(l2_.tags_.other_side({access.lookup.set, access.lookup.bank}).set);
}

void L2Slices::take_back(const Free& free) {
  Slice& slice = slices_[free.slice];
  slice.entries -= free.entries;
  slice.places -= free.places;
  if (slice.stop == Stop::none || (slice.stop == Stop::queue) != (free.places != 0)) return;
  slice.stop = Stop::none;
  touched_.push_back(free.slice);
}

// The access is at its slice.
void L2Slices::come(Access& access, uint64_t clock) {
  Slice& slice = slices_[access.lookup.bank];
  if (slice.stop == Stop::none) {
    slice.stop = serve(slice, access, clock);
    if (slice.stop == Stop::none) return;
    ++stops_[static_cast<unsigned>(slice.stop)];
    slice.stopped_at = clock;
  }
  ++waited_;
  slice.waits.push_back(access);
}

void L2Slices::retry(Slice& slice, uint64_t clock) {
  stopped_clocks_ += clock - slice.stopped_at;
  while (!slice.waits.empty()) {
    slice.stop = serve(slice, slice.waits.front(), clock);
    if (slice.stop != Stop::none) {
      ++stops_[static_cast<unsigned>(slice.stop)];
      slice.stopped_at = clock;
      fetch_ahead(slice.waits.front());
      return;
    }
    slice.waits.pop_front();
  }
}

// Serves what it can of the access; its mask says what is left.
L2Slices::Stop L2Slices::serve(Slice& slice, Access& access, uint64_t clock) {
  if (spec_.memory_queue_sectors != 0 && slice.places >= spec_.memory_queue_sectors)
    return Stop::queue;
  if (access.piece) {
    PooledPayload& piece = *pieces_[access.request];
    free_pieces_.push_back(access.request);
    l2_.outbox_.push_back({&piece, l2_.clock_.edge(clock),
                           l2_.tags_.channel_of(piece.get_address() & STRETTO_OFFSET_MASK)});
    send(slice);
    return Stop::none;
  }
  const auto payload = [&]() -> tlm::tlm_generic_payload& {
    return *l2_.requests_[access.request].payload;
  };
  const auto extension = [&]() -> const StrettoExtension& { return *extension_of(payload()); };
  while (access.lookup.mask != 0) {
    L2Cache::Lookup part = access.lookup;
    uint64_t looked = 0;
    if (access.store) {
      looked = L2Cache::has_bytes(extension(), payload())
                   ? l2_.write_shared_line(part, payload(), extension(), clock)
                   : l2_.write_line(part, extension(), clock);
      if (l2_.partitions_ != nullptr) l2_.partitions_->drop_copy(part.line, part.mask);
    } else {
      if (spec_.miss_entries != 0 || spec_.merges != 0) {
        Stop stop = missing(slice, part);
        if (stop != Stop::none && part.mask == 3) {  // One of the two sectors.
          part.mask = 1;
          stop = missing(slice, part);
        }
        if (stop != Stop::none) return stop;
      }
      const bool opens = l2_.requests_[access.request].shared && !part.copy;
      looked = l2_.read_line(part, access.request, extension, clock,
                             l2_.counters_.hits[l2_.requests_[access.request].account]);
      l2_.flush_fill();
      if (opens) l2_.open_shared_line(part);
    }
    L2Cache::Request& request = l2_.requests_[access.request];
    request.done = std::max(request.done, l2_.clock_.edge(looked + spec_.response_cycles) +
                                              (access.far ? l2_.partitions_->back_time() : 0));
    access.lookup.mask &= static_cast<uint8_t>(~part.mask);
    send(slice);
  }
  if (--l2_.requests_[access.request].remaining == 0) l2_.complete(access.request);
  return Stop::none;
}

void L2Slices::send(Slice& slice) {
  if (!l2_.outbox_.empty()) l2_.send_all();
  most_places_ = std::max(most_places_, slice.places);
}

// What the slice lacks to look this up, where entries or merges have a limit.
L2Slices::Stop L2Slices::missing(const Slice& slice, const L2Cache::Lookup& lookup) {
  const L2Tags::Set& set = l2_.tags_.set(lookup.set);
  const int way = L2Tags::find(set, lookup.tag());
  const unsigned state = way < 0 ? 0 : set.state[way];
  const unsigned pending = state >> L2Tags::kPendingShift & 3;
  if (lookup.copy) return Stop::none;  // Only the home waits for memory.
  const unsigned fetched = lookup.mask & ~(state >> L2Tags::kValidShift) & ~pending & 3;
  if (spec_.miss_entries != 0 && fetched != 0 &&
      slice.entries + static_cast<uint32_t>(std::popcount(fetched)) > spec_.miss_entries) {
    return Stop::entries;
  }
  for (unsigned sector = 0; sector < 2 && spec_.merges != 0; ++sector) {
    if ((lookup.mask & pending & 1u << sector) == 0) continue;
    const L2Cache::Fill& fill = l2_.fills_[set.fill[way]];
    uint32_t merged = (fill.first[sector] == L2Cache::kNone ? 0 : 1) +
                      (fill.second[sector] == L2Cache::kNone ? 0 : 1);
    for (uint32_t group = fill.others[sector]; group != L2Cache::kNone;
         group = l2_.waiters_[group].next)
      merged += l2_.waiters_[group].count;
    if (merged >= spec_.merges) return Stop::merges;
    most_merges_ = std::max(most_merges_, merged + 1);
  }
  return Stop::none;
}

void L2Slices::sent(const PooledPayload& payload) {
  Slice& slice = slices_[slice_of(payload.get_address())];
  if (static_cast<L2Cache::Kind>(payload.extension.cookie >> 56) == L2Cache::Kind::fill) {
    slice.entries += payload.get_data_length() >> L2Tags::kSectorBits;
    most_entries_ = std::max(most_entries_, slice.entries);
  }
  if (spec_.memory_queue_sectors == 0) return;
  slice.places += atoms_of(payload);
}

void L2Slices::answered(const PooledPayload& payload, Time at) {
  if (static_cast<L2Cache::Kind>(payload.extension.cookie >> 56) == L2Cache::Kind::fill)
    give_back(payload.get_address(), payload.get_data_length() >> L2Tags::kSectorBits, 0, at);
  // What the memory refuses has never been in its queue.
  const bool of_memory = payload.get_address() - l2_.node_ < STRETTO_GPU_MEMORY_LIMIT;
  if (payload.is_response_error() && of_memory && spec_.memory_queue_sectors != 0)
    give_back(payload.get_address(), 0, atoms_of(payload), at);
}

void L2Slices::on_place_free(uint64_t offset) {
  give_back(offset, 0, 1, l2_.services_.queue->now() + l2_.from_memory_time_);
}

void L2Slices::give_back(uint64_t offset, uint32_t entries, uint32_t places, Time when) {
  if (when != back_at_) {
    back_at_ = when;
    back_clock_ = l2_.clock_.cycle_at(when) + 1;
  }
  frees_.push(at(back_clock_).frees) = {slice_of(offset), static_cast<uint16_t>(entries),
                                        static_cast<uint16_t>(places)};
}

void L2Slices::report(StatisticSink& sink) const {
  const auto stops = [this](Stop why) { return stops_[static_cast<unsigned>(why)]; };
  sink.add("l2.stops_entries", stops(Stop::entries), "count",
           "Times that a slice stopped because no entry for a miss was free.");
  sink.add("l2.stops_merges", stops(Stop::merges), "count",
           "Times that a slice stopped because too many waited for the same sector.");
  sink.add("l2.stops_queue", stops(Stop::queue), "count",
           "Times that a slice stopped because its queue to memory was full.");
  sink.add("l2.stopped", stopped_clocks_, "cycles",
           "Clocks in which a slice stood, of all slices.");
  sink.add("l2.waited", waited_, "count", "Lines and pieces that waited for their slice.");
  sink.add("l2.entries_high_water", most_entries_, "count",
           "Most sectors that a slice waited for.");
  sink.add("l2.merges_high_water", most_merges_, "count", "Most requests merged for a sector.");
  sink.add("l2.queue_high_water", most_places_, "count",
           "Most sectors of a slice in its queue to memory after an access.");
}

void L2Slices::audit(AuditSink& sink) const {
  uint64_t entries = 0, places = 0;
  for (const Slice& slice : slices_) {
    entries += slice.entries;
    places += slice.places;
  }
  sink.equal("L2 entries for misses all free", entries, 0);
  sink.equal("L2 places to memory all free", places, 0);
  const auto limit = [](uint32_t of, uint32_t beyond = 0) {
    return of == 0 ? ~uint64_t{0} : uint64_t{of} + beyond;
  };
  sink.at_most("L2 slices wait for no more sectors than entries", most_entries_,
               limit(spec_.miss_entries));
  sink.at_most("L2 slices merge no more than allowed", most_merges_, limit(spec_.merges));
  sink.at_most("L2 slices send nothing to a full queue", most_places_,
               limit(spec_.memory_queue_sectors, 3));
  sink.at_most("L2 slices stand no longer than time has passed", stopped_clocks_,
               slices_.size() * l2_.clock_.cycle_from(l2_.services_.queue->now()));
}

void L2Slices::waiting_on(std::vector<std::string>& lines) const {
  uint64_t accesses = 0;
  std::array<uint64_t, 4> stopped{};
  for (const Slice& slice : slices_) {
    accesses += slice.waits.size();
    ++stopped[static_cast<unsigned>(slice.stop)];
  }
  if (accesses == 0) return;
  lines.push_back("L2: " + std::to_string(accesses) +
                  " accesses wait behind slices that stand for an entry (" +
                  std::to_string(stopped[1]) + "), a merge (" + std::to_string(stopped[2]) +
                  "), a place in the queue to memory (" + std::to_string(stopped[3]) + ")");
}

}  // namespace stretto
