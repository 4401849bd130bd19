// SPDX-License-Identifier: Apache-2.0
// Replacement and bookkeeping of the non-coherent L1.
#include "models/common/l1_cache.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace stretto {

L1Cache::L1Cache(uint32_t bytes, uint32_t ways) : ways_(ways) {
  const uint32_t slots = bytes >> kLineShift;
  const uint32_t sets = slots / ways;
  assert(slots % ways == 0 && std::has_single_bit(sets));
  set_mask_ = sets - 1;
  tags_.assign(slots, kNoLine);
  stamps_.assign(slots, 0);
  dirty_.assign(slots, 0);
  bytes_.assign(bytes, 0);
  for (uint32_t set = 0; set < sets; ++set) recent_.push_back(set * ways);
}

uint32_t L1Cache::find(uint64_t line) const {
  const uint32_t first = static_cast<uint32_t>(line & set_mask_) * ways_;
  for (uint32_t slot = first; slot < first + ways_; ++slot) {
    if (tags_[slot] == line) return slot;
  }
  return kMiss;
}

uint32_t L1Cache::lookup_slow(uint64_t line, uint64_t set) {
  const uint32_t slot = find(line);
  if (slot != kMiss) {
    recent_[set] = slot;
    stamps_[slot] = ++clock_;
  }
  return slot;
}

uint32_t L1Cache::victim(uint64_t line) const {
  const uint32_t first = static_cast<uint32_t>(line & set_mask_) * ways_;
  uint32_t oldest = first;
  for (uint32_t slot = first; slot < first + ways_; ++slot) {
    if (!valid(slot)) return slot;
    if (stamps_[slot] < stamps_[oldest]) oldest = slot;
  }
  return oldest;
}

void L1Cache::install(uint32_t slot, uint64_t line) {
  assert(dirty_[slot] == 0 && slot / ways_ == (line & set_mask_));
  tags_[slot] = line;
  recent_[line & set_mask_] = slot;
  stamps_[slot] = ++clock_;
}

void L1Cache::drop(uint32_t slot) {
  assert(dirty_[slot] == 0);
  tags_[slot] = kNoLine;
}

void L1Cache::drop_all() {
  assert(dirty_lines_ == 0);
  std::fill(tags_.begin(), tags_.end(), kNoLine);
}

}  // namespace stretto
