// SPDX-License-Identifier: Apache-2.0
// See l2_locks.h; and what L2Cache does with it: ways that are kept, accesses that wait.
#include <algorithm>

#include <fmt/format.h>

#include "models/common/error.h"
#include "models/gpu/l2/l2_cache.h"
#include "sw/include/formats/address_map.h"

namespace stretto {
namespace {

// A hart's write follows its read in some microseconds, however full the memory's queues are.
constexpr uint64_t kStuckClocks = 1'000'000;

}  // namespace

void L2Locks::set(uint64_t line, unsigned sector, uint64_t clock, const Holder& by) {
  Lock& lock = lines_[line].sector[sector];
  if (lock.serial != 0) {
    ++counters_.renewed;
  } else {
    ++counters_.set;
    lock.since = clock;
  }
  lock.by = by;
  lock.serial = ++serial_;
  ends_.push_back({clock + limit_clocks_, line, sector, lock.serial});
  counters_.most_lines = std::max<uint64_t>(counters_.most_lines, lines_.size());
}

void L2Locks::end(Lines::iterator line, unsigned sector) {
  line->second.sector[sector].serial = 0;
  if (line->second.sector[1 - sector].serial != 0) return;
  const uint64_t freed = line->first;
  lines_.erase(line);
  on_free_(freed);
}

void L2Locks::accessed(uint64_t line, unsigned sectors, uint64_t clock) {
  for (unsigned sector = 0; sector < 2; ++sector) {
    const auto found = lines_.find(line);
    if (found == lines_.end()) return;
    const Lock& lock = found->second.sector[sector];
    if ((sectors >> sector & 1) == 0 || lock.serial == 0) continue;
    const uint64_t held = clock - lock.since;
    ++counters_.accessed;
    counters_.clocks += held;
    counters_.most_clocks = std::max(counters_.most_clocks, held);
    ++counters_.by_time[std::min<uint64_t>(held / kTimeStep, counters_.by_time.size() - 1)];
    end(found, sector);
  }
}

void L2Locks::expire_first() {
  const End first = ends_.front();
  ends_.pop_front();
  const auto found = lines_.find(first.line);
  if (found == lines_.end() || found->second.sector[first.sector].serial != first.serial) return;
  ++counters_.expired;
  end(found, first.sector);
}

void L2Locks::forget() {
  while (!lines_.empty()) {
    const auto line = lines_.begin();
    const unsigned sector = line->second.sector[0].serial != 0 ? 0 : 1;
    ++counters_.forgotten;
    end(line, sector);
  }
  ends_.clear();
}

void L2Locks::take(uint64_t line, uint16_t hart, uint64_t clock) {
  ++counters_.taken;
  exclusive_.push_back({line, hart, clock});
}

void L2Locks::give_back(uint64_t line, uint16_t hart) {
  const auto held = std::find_if(exclusive_.begin(), exclusive_.end(),
                                 [line](const Exclusive& lock) { return lock.line == line; });
  if (held == exclusive_.end() || held->hart != hart)
    throw CheckError(
        fmt::format("L2: hart {} ends the read-modify-write of line {:#x}, which {} has begun",
                    hart, line << L2Tags::kLineBits,
                    held == exclusive_.end() ? "nobody" : fmt::format("hart {}", held->hart)));
  exclusive_.erase(held);
  ++counters_.given_back;
}

void L2Locks::report(StatisticSink& sink) const {
  sink.add("l2.locks_set", counters_.set, "count",
           "Sectors that a store locked until a hart accesses them.");
  sink.add("l2.locks_accessed", counters_.accessed, "count", "Of these, those that a hart freed.");
  sink.add("l2.locks_expired", counters_.expired, "count",
           "Of these, those that no hart accessed within l2.lock_limit_cycles.");
  sink.add("l2.locks_forgotten", counters_.forgotten, "count",
           "Of these, those that an acquire of system scope ended.");
  sink.add("l2.locks_renewed", counters_.renewed, "count",
           "Locking stores to sectors that were locked.");
  sink.add("l2.locks_refused", counters_.refused, "count",
           "Locking stores that locked nothing: too many ways of their set were locked or pinned.");
  sink.add("l2.lock_time", counters_.clocks, "cycles",
           "From the store to the hart's access, all locks together.");
  sink.add("l2.lock_time_max", counters_.most_clocks, "cycles", "The longest of them.");
  for (size_t i = 0; i < counters_.by_time.size(); ++i)
    if (counters_.by_time[i] != 0)
      sink.add(fmt::format("l2.lock_times.{}", i * kTimeStep), counters_.by_time[i], "count",
               "Locks whose time was that many clocks or up to 127 more; the last: or any more.");
  sink.add("l2.locked_high_water", counters_.most_lines, "count",
           "Most lines locked at a time until a hart accesses them.");
}

void L2Locks::audit(AuditSink& sink, uint64_t clock) const {
  uint64_t overdue = 0;
  std::string culprit;  // The first.
  for (const auto& [line, entry] : lines_) {
    for (unsigned sector = 0; sector < 2; ++sector) {
      const Lock& lock = entry.sector[sector];
      if (lock.serial == 0) continue;
      const auto end = std::find_if(ends_.begin(), ends_.end(),
                                    [&](const End& one) { return one.serial == lock.serial; });
      if (end->clock <= clock) {
        ++overdue;
      } else if (culprit.empty()) {
        culprit = fmt::format(
            ": no hart has accessed sector {:#x}, locked by compute unit {}, work-group {}",
            line << L2Tags::kLineBits | uint64_t{sector} << L2Tags::kSectorBits, lock.by.unit,
            lock.by.wg_id);
      }
    }
  }
  sink.equal("L2 line locks set = ended" + culprit, counters_.set,
             counters_.accessed + counters_.expired + overdue + counters_.forgotten);
}

// L2Cache

// Of the ways of the set, those that must stay.
L2Cache::KeptWays L2Cache::kept_ways(uint32_t set_index) const {
  const L2Tags::Set& set = tags_.set(set_index);
  KeptWays kept;
  for (unsigned way = 0; way < tags_.ways(); ++way) {
    if ((set.state[way] & L2Tags::kKept) == 0) continue;
    ++kept.all;
    kept.locked += locks_.holds(tags_.line_of(set_index, way));
  }
  return kept;
}

// The line stays until free_if_unlocked(); false: it is not here, or too many of its set do.
bool L2Cache::keep(uint64_t line) {
  const uint32_t set_index = tags_.place_of(line).set;
  L2Tags::Set& set = tags_.set(set_index);
  const int way = L2Tags::find(set, L2Tags::tag_of(line));
  if (way < 0) return false;
  if ((set.state[way] & L2Tags::kKept) == 0 && kept_ways(set_index).all + 1 >= tags_.ways())
    return false;
  set.state[way] |= L2Tags::kKept;
  return true;
}

// A line that is neither locked nor pinned may go from now on.
void L2Cache::free_if_unlocked(uint64_t line) {
  const auto& exclusive = locks_.exclusive();
  const bool locked = locks_.holds(line) || std::any_of(exclusive.begin(), exclusive.end(),
                                                        [line](const L2Locks::Exclusive& lock) {
                                                          return lock.line == line;
                                                        });
  L2Tags::Set& set = tags_.set(tags_.place_of(line).set);
  const int way = L2Tags::find(set, L2Tags::tag_of(line));
  if (locked || way < 0) return;
  set.state[way] &= static_cast<uint8_t>(~L2Tags::kKept);
  if (any_pin_ && in_pinned_range(line) && may_pin(set)) set.state[way] |= L2Tags::kKept;
  if (set.state[way] != 0 || shared_.dirty(line) != 0) return;
  set.tag[way] = L2Tags::kNoTag;  // It has been forgotten while it was locked.
  shared_.drop(line);
  changed_.erase(line);
}

// What a request that has been performed does to locks. REQUIRES: locking_, cached, this GPU's.
void L2Cache::performed(const tlm::tlm_generic_payload& payload,
                        const StrettoExtension& extension) {
  const uint64_t clock = clock_.cycle_from(services_.queue->now());
  const uint64_t first = (payload.get_address() & STRETTO_OFFSET_MASK) >> L2Tags::kSectorBits;
  const uint64_t last =
      ((payload.get_address() & STRETTO_OFFSET_MASK) + payload.get_data_length() - 1) >>
      L2Tags::kSectorBits;
  locks_.expire(clock);
  if (extension.operation == Operation::locked_store && extension.locks_line) {
    const uint64_t line = first >> 1;
    const bool room =
        locks_.holds(line) || kept_ways(tags_.place_of(line).set).locked < spec_.lock_ways;
    if (room && keep(line)) {
      locks_.set(line, first & 1, clock, {extension.unit, extension.wg_id});
    } else {
      locks_.refuse();
    }
  } else if (extension.engine == Engine::hart) {
    if (extension.operation == Operation::locked_read) keep(first >> 1);
    for (uint64_t sector = first; sector <= last; ++sector)
      locks_.accessed(sector >> 1, 1u << (sector & 1), clock);
  }
}

bool L2Cache::blocked_by_lock(tlm::tlm_generic_payload& payload,
                              const StrettoExtension& extension) const {
  if (extension.operation == Operation::unlocking_write) return false;
  if (payload.get_address() >> STRETTO_NODE_SHIFT << STRETTO_NODE_SHIFT != node_) return false;
  const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
  const uint32_t row_bytes = extension.rows == 1 ? payload.get_data_length() : extension.row_bytes;
  for (uint32_t row = 0; row < extension.rows; ++row) {
    const uint64_t begin = offset + row * extension.pitch;
    for (const L2Locks::Exclusive& lock : locks_.exclusive()) {
      if (begin >> L2Tags::kLineBits > lock.line ||
          lock.line > (begin + row_bytes - 1) >> L2Tags::kLineBits)
        continue;
      const uint64_t held = clock_.cycle_from(services_.queue->now()) - lock.since;
      if (held >= kStuckClocks)
        throw CheckError(fmt::format(
            "gpu{}: L2 line {:#x} is locked by hart {} for {} clocks: the write of its "
            "read-modify-write has not come, and {} accesses wait",
            services_.gpu, lock.line << L2Tags::kLineBits, lock.hart, held, deferred_.size() + 1));
      return true;
    }
  }
  return false;
}

// A store at the banks. What a hart answers it has read, perhaps by a load that was sent before.
void L2Cache::note_announced(const tlm::tlm_generic_payload& payload,
                             const StrettoExtension& extension) {
  const uint64_t sector = (payload.get_address() & STRETTO_OFFSET_MASK) >> L2Tags::kSectorBits;
  if (extension.engine == Engine::hart) {
    announced_.erase(sector);
  } else if (extension.operation == Operation::locked_store) {
    announced_.insert(sector);
  }
}

// A load of a hart is at the banks: are its sectors here?
void L2Cache::count_hart_read(const tlm::tlm_generic_payload& payload,
                              const StrettoExtension& extension) {
  const bool shared = extension.allocation == AllocationClass::shared;
  if (!shared && extension.private_access == PrivateAccess::none) return;
  const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
  const uint64_t line = offset >> L2Tags::kLineBits;
  const L2Tags::Set& set = tags_.set(tags_.place_of(line).set);
  const int way = L2Tags::find(set, L2Tags::tag_of(line));
  const unsigned sector = offset >> L2Tags::kSectorBits & 1;
  L2Counters::HartReads& reads = shared ? counters_.hart_shared
                                 : extension.private_access == PrivateAccess::code
                                     ? counters_.hart_code
                                     : counters_.hart_data;
  const bool found = way >= 0 && (set.state[way] >> (L2Tags::kValidShift + sector) & 1) != 0;
  ++reads.all;
  reads.found += found;
  if (!shared || announced_.erase(offset >> L2Tags::kSectorBits) == 0) return;
  ++counters_.hart_announced.all;
  counters_.hart_announced.found += found;
}

// A write past the tags is performed when the memory has answered: until then its line is locked.
void L2Cache::unlock_bypassed(tlm::tlm_generic_payload& payload) {
  const StrettoExtension& extension = *extension_of(payload);
  if (extension.operation == Operation::unlocking_write && !in_l2(extension.allocation))
    unlock((payload.get_address() & STRETTO_OFFSET_MASK) >> L2Tags::kLineBits, extension.unit);
}

// Frees the line; requests that waited for it come back to their ports, in their order.
void L2Cache::unlock(uint64_t line, uint16_t hart) {
  locks_.give_back(line, hart);
  if (locking_) free_if_unlocked(line);
  std::vector<Deferred> waiting;
  waiting.swap(deferred_);
  const uint64_t clock = clock_.cycle_from(services_.queue->now());
  for (const Deferred& entry : waiting) enqueue(entry.unit, *entry.payload, clock);
}

}  // namespace stretto
