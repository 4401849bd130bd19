// SPDX-License-Identifier: Apache-2.0
// Moves the real bytes of an atom between payload and memory at its column command; holds the
// near-bank ALU.
#ifndef STRETTO_MODELS_HBM_DATA_PATH_H_
#define STRETTO_MODELS_HBM_DATA_PATH_H_

#include <array>
#include <cstdint>

#include "models/common/memory_image.h"
#include "models/common/prefetch.h"
#include "models/hbm/request.h"

namespace stretto {

class DataPath {
 public:
  // The faults name update atoms by their number, from 1; 0 = none (HbmSpec::fault_*).
  DataPath(MemoryImage& image, uint64_t drop_update, uint64_t double_update)
      : image_(image), drop_update_(drop_update), double_update_(double_update) {
    tags_.fill(~uint64_t{0});
  }

  // `bytes` bytes at `address`, which lie in one atom; `at` is their offset in the request.
  void access(HbmRequest& request, uint64_t address, uint32_t at, uint32_t bytes);
  // Brings into the host's cache what access() will read or write, if it is known where that lies.
  void prefetch(uint64_t address, bool for_write) const {
    const uint64_t tag = tag_of(address, for_write);
    if (tags_[tag % kLines] == tag)
      prefetch_line(pages_[tag % kLines] + (address & (MemoryImage::kPageBytes - 1)));
  }
  uint64_t updates_applied() const { return updates_applied_; }

 private:
  // Pages never move (memory_image.h), so pointers to them are kept: the image has one last page
  // for all channels.
  static constexpr unsigned kLines = 1024;
  static uint64_t tag_of(uint64_t address, bool for_write) {
    return address >> MemoryImage::kPageBits << 1 | (for_write ? 1 : 0);
  }
  uint8_t* bytes_at(uint64_t address, bool for_write) {
    const uint64_t tag = tag_of(address, for_write);
    const unsigned line = tag % kLines;
    if (tags_[line] != tag) {
      tags_[line] = tag;
      pages_[line] =
          image_.span(address & ~(MemoryImage::kPageBytes - 1), MemoryImage::kPageBytes, for_write);
    }
    return pages_[line] + (address & (MemoryImage::kPageBytes - 1));
  }
  void write(const HbmRequest& request, uint8_t* to, uint32_t at, uint32_t bytes);
  void update(const HbmRequest& request, uint8_t* to, uint32_t at, uint32_t bytes);

  MemoryImage& image_;
  const uint64_t drop_update_;
  const uint64_t double_update_;
  std::array<uint64_t, kLines> tags_;
  std::array<uint8_t*, kLines> pages_{};
  uint64_t updates_issued_ = 0;
  uint64_t updates_applied_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HBM_DATA_PATH_H_
