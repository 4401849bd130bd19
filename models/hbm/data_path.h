// SPDX-License-Identifier: Apache-2.0
// Moves the real bytes of an atom between payload and memory at its column command; holds the
// near-bank ALU.
#ifndef STRETTO_MODELS_HBM_DATA_PATH_H_
#define STRETTO_MODELS_HBM_DATA_PATH_H_

#include <cstdint>

#include "models/common/memory_image.h"
#include "models/common/prefetch.h"
#include "models/hbm/request.h"

namespace stretto {

class DataPath {
 public:
  // The faults name update atoms by their number, from 1; 0 = none (HbmSpec::fault_*).
  DataPath(MemoryImage& image, uint64_t drop_update, uint64_t double_update)
      : image_(image), drop_update_(drop_update), double_update_(double_update) {}

  // `bytes` bytes at `address`, which lie in one atom; `at` is their offset in the request.
  void access(HbmRequest& request, uint64_t address, uint32_t at, uint32_t bytes);
  // Brings into the host's cache what access() will read or write, if it is known where that lies.
  void prefetch(uint64_t address) const {
    if (const uint8_t* const at = image_.peek(address); at != nullptr) prefetch_line(at);
  }
  uint64_t updates_applied() const { return updates_applied_; }

 private:
  void write(const HbmRequest& request, uint64_t address, uint32_t at, uint32_t bytes);
  void update(const HbmRequest& request, uint8_t* to, uint32_t at, uint32_t bytes);

  MemoryImage& image_;
  const uint64_t drop_update_;
  const uint64_t double_update_;
  uint64_t updates_issued_ = 0;
  uint64_t updates_applied_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HBM_DATA_PATH_H_
