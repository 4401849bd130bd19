// SPDX-License-Identifier: Apache-2.0
// MemoryRegions: what of a server's memory operations may touch, by key. A key names a region and
// its generation: one that was given for an earlier use of the region is wrong.
#ifndef STRETTO_MODELS_NIC_MEMORY_REGIONS_H_
#define STRETTO_MODELS_NIC_MEMORY_REGIONS_H_

#include <array>
#include <cassert>
#include <cstdint>
#include <functional>
#include <optional>

#include "sw/include/regs/nic_regs.h"

namespace stretto {

class MemoryRegions {
 public:
  struct Region {
    uint64_t base = 0;
    uint64_t bytes = 0;
    uint8_t access = 0;  // STRETTO_NIC_LOCAL_WRITE, ...
    uint8_t generation = 0;
    bool valid = false;
    bool ending = false;  // Not valid any more, and somebody still uses it.
    uint32_t users = 0;
  };
  using OnFree = std::function<void(uint32_t region, uint8_t generation, uint64_t address)>;

  // Called when nothing uses a region any more that is not valid any more.
  void on_free(OnFree call) { on_free_ = std::move(call); }

  void configure(uint32_t index, uint64_t base, uint64_t bytes, uint8_t access, uint8_t generation,
                 bool valid) {
    Region& region = regions_[index];
    if (valid) {
      region.base = base;
      region.bytes = bytes;
      region.access = access;
      region.generation = generation;
      region.valid = true;
      region.ending = false;
    } else if (region.valid) {
      region.valid = false;
      region.ending = true;
      free_if_unused(index);
    }
  }

  // The region whose key this is, if all of [address, address + bytes) lies in it and it allows
  // `access`.
  std::optional<uint32_t> find(uint32_t key, uint64_t address, uint64_t bytes,
                               uint8_t access) const {
    const uint32_t index = key & 0xFFFFFF;
    if (index >= regions_.size()) return std::nullopt;
    const Region& region = regions_[index];
    const bool inside = address >= region.base && bytes <= region.bytes &&
                        address - region.base <= region.bytes - bytes;
    if (!region.valid || region.generation != key >> 24 || !inside ||
        (region.access & access) != access)
      return std::nullopt;
    return index;
  }

  // Brackets an access over PCIe.
  void use(uint32_t index) { ++regions_[index].users; }
  void leave(uint32_t index) {
    assert(regions_[index].users > 0);
    --regions_[index].users;
    free_if_unused(index);
  }
  uint64_t users() const {
    uint64_t sum = 0;
    for (const Region& region : regions_) sum += region.users;
    return sum;
  }

 private:
  void free_if_unused(uint32_t index) {
    Region& region = regions_[index];
    if (!region.ending || region.users != 0) return;
    region.ending = false;
    if (on_free_) on_free_(index, region.generation, region.base);
  }

  std::array<Region, NIC_REGION_CONFIG_COUNT> regions_{};
  OnFree on_free_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_NIC_MEMORY_REGIONS_H_
