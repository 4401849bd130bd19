// SPDX-License-Identifier: Apache-2.0
// SaveArea: where in the GPU's memory the states of suspended work-groups lie. The driver allocates
// the memory, firmware names it by kernel slot (gpu.yaml, save_base); slots may have the same.
//
// Invariants
//  1 Blocks that are taken do not overlap, whatever slot they are of.
//  2 A block begins at a multiple of kBlockBytes.
#ifndef STRETTO_MODELS_GPU_BASE_SAVE_AREA_H_
#define STRETTO_MODELS_GPU_BASE_SAVE_AREA_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "models/reference/grid_scheduler_if.h"

namespace stretto {

// What an executor knows of a suspended work-group beside the bytes in memory: what the scoreboard
// holds of tiles that have no bytes (stamps), the rest of a sampled body.
class SuspendedState {
 public:
  virtual ~SuspendedState() = default;
};

struct SavedGroup {
  uint64_t address = 0;  // 48 bits.
  uint64_t bytes = 0;    // 0: it has not begun.
  std::unique_ptr<SuspendedState> state;
};

class SaveArea {
 public:
  static constexpr uint64_t kBlockBytes = 128;  // A line of the L2.

  // The memory of a kernel slot from now on; 0 bytes: it has none.
  void set(uint8_t slot, uint64_t base, uint64_t bytes) { of_slot_[slot] = {base, bytes}; }
  bool has(uint8_t slot) const { return of_slot_[slot].bytes != 0; }
  // The lowest room; none: the memory is full.
  std::optional<uint64_t> take(uint8_t slot, uint64_t bytes);
  // REQUIRES: it was taken.
  void give_back(uint64_t address);
  uint64_t refused() const { return refused_; }  // Blocks that there was no room for.

 private:
  struct Memory {
    uint64_t base = 0, bytes = 0;
  };
  std::array<Memory, kGridSlots> of_slot_{};
  std::map<uint64_t, uint64_t> taken_;  // Begin and end, of all slots.
  uint64_t refused_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_BASE_SAVE_AREA_H_
