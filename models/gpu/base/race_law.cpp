// SPDX-License-Identifier: Apache-2.0
// See race_law.h.
#include "models/gpu/base/race_law.h"

#include <algorithm>
#include <cstdio>

#include "models/common/error.h"
#include "models/common/payload_pool.h"
#include "sw/include/formats/address_map.h"

namespace stretto {

void RaceLaw::watch(const std::vector<Range>& ranges) {
  for (const Watched& range : ranges_) {
    if (!range.is_pinned) continue;
    std::vector<Moved>& past = past_[range.first];
    past.resize(std::max(past.size(), range.lines.size()));
    for (size_t i = 0; i < range.lines.size(); ++i) {
      past[i].written += range.lines[i].written;
      past[i].read += range.lines[i].read;
    }
  }
  ranges_.clear();
  const auto add = [this](const Range& range, bool is_pinned) {
    const uint64_t first = range.base >> kLineBits;
    const uint64_t end = (range.base + range.bytes + (1u << kLineBits) - 1) >> kLineBits;
    ranges_.push_back({first, end, std::vector<Line>(end - first), is_pinned});
  };
  for (const Range& range : ranges) add(range, true);
  for (const Range& range : always_) add(range, false);
  has_queues_ = !always_.empty();
  groups_.clear();
  words_.clear();
  threads_.clear();
}

void RaceLaw::watch_always(const std::vector<Range>& ranges) {
  always_ = ranges;
  watch({});
}

void RaceLaw::raise(VectorClock& clock, uint32_t thread, Cycle to) {
  if (clock.size() <= thread) clock.resize(thread + 1);
  clock[thread] = std::max(clock[thread], to);
}

void RaceLaw::join(VectorClock& clock, const VectorClock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

RaceLaw::Group& RaceLaw::group_of(const Wavefront& by) {
  const auto [found, is_new] = groups_.try_emplace(key(by.unit, by.group));
  if (is_new) {
    found->second.first_thread = static_cast<uint32_t>(threads_.size());
    for (unsigned id = 0; id < kWavefronts; ++id)
      threads_.push_back({{by.unit, by.group, static_cast<uint8_t>(id), by.slot, by.wg_id}, false});
  }
  return found->second;
}

bool RaceLaw::touches(tlm::tlm_generic_payload& payload) const {
  const StrettoExtension& extension = *extension_of(payload);
  if (extension.operation == Operation::fence ||
      payload.get_address() >> STRETTO_NODE_SHIFT != uint64_t{gpu_} + 1)
    return false;
  const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
  const uint64_t bytes = extension.rows == 1
                             ? payload.get_data_length()
                             : (extension.rows - 1) * extension.pitch + extension.row_bytes;
  const uint64_t first = offset >> kLineBits, last = (offset + bytes - 1) >> kLineBits;
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Watched& range) {
    return first < range.end && last >= range.first;
  });
}

template <class F>
void RaceLaw::for_each_line(tlm::tlm_generic_payload& payload, const F& f) {
  const StrettoExtension& extension = *extension_of(payload);
  const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
  const uint32_t bytes = extension.rows == 1 ? payload.get_data_length() : extension.row_bytes;
  for (uint32_t row = 0; row < extension.rows; ++row) {
    const uint64_t begin = offset + row * extension.pitch, end = begin + bytes - 1;
    const uint64_t from = begin >> kLineBits, to = end >> kLineBits;
    for (Watched& range : ranges_) {
      for (uint64_t line = std::max(from, range.first); line <= to && line < range.end; ++line) {
        Line& entry = range.lines[line - range.first];
        if (entry.epoch != epoch_) {
          entry.accesses.clear();
          entry.epoch = epoch_;
        }
        f(range, line, entry, static_cast<uint8_t>(line == from ? begin & 127 : 0),
          static_cast<uint8_t>(line == to ? end & 127 : 127));
      }
    }
  }
}

void RaceLaw::sent(const Wavefront& by, tlm::tlm_generic_payload& payload, Cycle at) {
  if (!touches(payload)) return;
  const Operation operation = extension_of(payload)->operation;
  if (operation == Operation::atomic || operation == Operation::locked_store) {
    has_queues_ = has_queues_ || operation == Operation::atomic;
    if (operation == Operation::atomic && atomics_)
      atomics_(payload.get_address() & STRETTO_OFFSET_MASK, at);
    Group& group = group_of(by);
    VectorClock& word = words_[payload.get_address() & STRETTO_OFFSET_MASK];
    join(word, group.clock);
    join(word, group.own_clocks[by.id]);
    raise(word, group.first_thread + by.id, at);
    return;
  }
  if (words_.contains(payload.get_address() & STRETTO_OFFSET_MASK)) return;
  const bool store = operation != Operation::read;
  const Group* const group = has_queues_ ? &group_of(by) : nullptr;
  accesses_ += has_queues_;
  for_each_line(
      payload, [&](const Watched& range, uint64_t number, Line& line, uint8_t first, uint8_t last) {
        (store ? line.written : line.read) += last - first + 1u;
        if (range.is_pinned) (store ? all_.written : all_.read) += last - first + 1u;
        if (group != nullptr)
          add(number, line, *group, by.id,
              {kUnderWay, group->first_thread + by.id, first, last, store});
      });
}

RaceLaw::Traffic RaceLaw::traffic(uint64_t base, uint64_t bytes) const {
  Traffic sum;
  const uint64_t first = base >> kLineBits, end = ((base + bytes - 1) >> kLineBits) + 1;
  for (const Watched& range : ranges_) {
    for (uint64_t line = std::max(first, range.first); line < std::min(end, range.end); ++line) {
      sum.written += range.lines[line - range.first].written;
      sum.read += range.lines[line - range.first].read;
    }
  }
  for (const auto& [from, lines] : past_) {
    for (uint64_t line = std::max(first, from); line < std::min(end, from + lines.size()); ++line) {
      sum.written += lines[line - from].written;
      sum.read += lines[line - from].read;
    }
  }
  return sum;
}

void RaceLaw::report(StatisticSink& sink) const {
  const bool has_pinned = all_.written + all_.read != 0;
  if (has_pinned) {
    sink.add("l2.pinned_written", all_.written, "bytes", "Bytes that wavefronts stored there.");
    sink.add("l2.pinned_read", all_.read, "bytes", "Bytes that wavefronts loaded from there.");
  }
  if (has_pinned || accesses_ != 0)
    sink.add("l2.race_checks", accesses_, "count",
             "Accesses that were held against earlier ones by the race law.");
}

// Accesses that happen before a store, and loads before a later one of their wavefront, say nothing
// more about the bytes that both have.
void RaceLaw::add(uint64_t number, Line& line, const Group& group, unsigned id,
                  const Access& access) {
  for (const Access& earlier : line.accesses) {
    if (earlier.thread == access.thread || earlier.last < access.first ||
        earlier.first > access.last || !(earlier.store || access.store) ||
        threads_[earlier.thread].has_ended)
      continue;
    if (earlier.done >
        std::max(at(group.clock, earlier.thread), at(group.own_clocks[id], earlier.thread)))
      breach(number, earlier, access);
  }
  const auto is_void = [&](const Access& earlier) {
    return earlier.first >= access.first && earlier.last <= access.last &&
           (access.store || (earlier.thread == access.thread && !earlier.store)) &&
           earlier.done != kUnderWay;
  };
  line.accesses.erase(std::remove_if(line.accesses.begin(), line.accesses.end(), is_void),
                      line.accesses.end());
  line.accesses.push_back(access);
}

void RaceLaw::answered(const Wavefront& by, tlm::tlm_generic_payload& payload, Cycle at) {
  if (!has_queues_ || !touches(payload)) return;
  const Operation operation = extension_of(payload)->operation;
  const auto word = words_.find(payload.get_address() & STRETTO_OFFSET_MASK);
  if (word != words_.end()) {
    if (operation == Operation::read || operation == Operation::atomic)
      join(group_of(by).own_clocks[by.id], word->second);
    return;
  }
  if (operation == Operation::atomic || operation == Operation::locked_store) return;
  const auto group = groups_.find(key(by.unit, by.group));
  if (group == groups_.end()) return;  // Sent before there were queues.
  const uint32_t thread = group->second.first_thread + by.id;
  const bool store = operation != Operation::read;
  for_each_line(payload, [&](const Watched&, uint64_t, Line& line, uint8_t first, uint8_t last) {
    for (Access& access : line.accesses) {
      if (access.thread != thread || access.store != store || access.done != kUnderWay ||
          access.first != first || access.last != last)
        continue;
      access.done = at;
      break;
    }
  });
}

void RaceLaw::barrier(uint16_t unit, uint8_t group, const std::array<Cycle, kWavefronts>& since) {
  const auto found = groups_.find(key(unit, group));
  if (found == groups_.end()) return;
  Group& of = found->second;
  for (unsigned id = 0; id < kWavefronts; ++id) {
    if (since[id] == 0) continue;
    raise(of.clock, of.first_thread + id, since[id]);
    join(of.clock, of.own_clocks[id]);
    of.own_clocks[id].clear();
  }
}

void RaceLaw::ended(uint16_t unit, uint8_t group) {
  const auto found = groups_.find(key(unit, group));
  if (found == groups_.end()) return;
  for (unsigned id = 0; id < kWavefronts; ++id)
    threads_[found->second.first_thread + id].has_ended = true;
  groups_.erase(found);
  if (!groups_.empty()) return;
  has_queues_ = !always_.empty();
  ++epoch_;
  words_.clear();
  threads_.clear();
}

std::string RaceLaw::name_of(const Access& access) const {
  const Wavefront& wavefront = threads_[access.thread].wavefront;
  return "compute unit " + std::to_string(wavefront.unit) + " (kernel slot " +
         std::to_string(wavefront.slot) + ", work-group " + std::to_string(wavefront.wg_id) +
         ", wavefront " + std::to_string(wavefront.id) + ")";
}

void RaceLaw::breach(uint64_t number, const Access& earlier, const Access& later) const {
  const uint64_t offset = (number << kLineBits) + later.first;
  char address[24];
  std::snprintf(
      address, sizeof address, "0x%llx",
      static_cast<unsigned long long>(((uint64_t{gpu_} + 1) << STRETTO_NODE_SHIFT) + offset));
  const std::string place = place_at(offset);
  const bool is_queue = std::any_of(ranges_.begin(), ranges_.end(), [&](const Watched& range) {
    return range.is_pinned && number >= range.first && number < range.end;
  });
  const char* const what = earlier.store ? "the store" : "the load";
  const std::string state = earlier.done == kUnderWay
                                ? "was performed"
                                : "was ordered before it (a release or an acquire is missing)";
  throw CheckError(
      "race: gpu" + std::to_string(gpu_) + (is_queue ? ": queue data at " : ": data at ") +
      address + (place.empty() ? "" : ", " + place + ",") + (later.store ? " written" : " read") +
      " by " + name_of(later) + " before " + what + " of " + name_of(earlier) + " " + state);
}

}  // namespace stretto
