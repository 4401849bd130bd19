// SPDX-License-Identifier: Apache-2.0
// See save_area.h.
#include "models/gpu/base/save_area.h"

#include <cassert>

namespace stretto {

std::optional<uint64_t> SaveArea::take(uint8_t slot, uint64_t bytes) {
  const Memory& memory = of_slot_[slot];
  const auto up = [](uint64_t at) { return (at + kBlockBytes - 1) / kBlockBytes * kBlockBytes; };
  uint64_t at = up(memory.base);
  for (auto next = taken_.lower_bound(at); next != taken_.end() && next->first < at + bytes; ++next)
    at = up(next->second);
  if (at + bytes > memory.base + memory.bytes) {
    ++refused_;
    return std::nullopt;
  }
  taken_.emplace(at, at + bytes);
  return at;
}

void SaveArea::give_back(uint64_t address) {
  [[maybe_unused]] const size_t count = taken_.erase(address);
  assert(count == 1);
}

}  // namespace stretto
