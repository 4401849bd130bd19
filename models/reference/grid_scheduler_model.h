// SPDX-License-Identifier: Apache-2.0
// Cycle-exact reference model of the grid scheduler (rtl/grid_scheduler); rules G1..G9 are those of
// its README.md.
//
// Two stages: `pick` chooses a slot and a unit from the candidate bits, `place` compares the unit's
// use with its capacity and dispatches or clears the candidate bit. A unit is a candidate of a slot
// until it was found full, and again after a work-group left it.
#ifndef STRETTO_MODELS_REFERENCE_GRID_SCHEDULER_MODEL_H_
#define STRETTO_MODELS_REFERENCE_GRID_SCHEDULER_MODEL_H_

#include <array>

#include "models/reference/grid_scheduler_if.h"

namespace stretto {

class GridSchedulerModel final : public GridScheduler {
 public:
  void reset() override { *this = GridSchedulerModel(); }
  GridSchedulerOutputs step(const GridSchedulerInputs& in) override;

 private:
  static constexpr unsigned kWords = (kGridMaxCus + 31) / 32;

  struct Resources {
    uint32_t registers_kib = 0;
    uint32_t lds_kib = 0;
    uint32_t wavefronts = 0;
    uint32_t work_groups = 0;
  };
  enum class SlotState : uint8_t { free, running, done, refused };
  struct Slot {
    Resources needs;  // work_groups is 1.
    bool tensor = false;
    uint8_t priority = 0;
    uint32_t first = 0;
    uint32_t count = 0;
    uint32_t grid = 0;
    uint32_t start = 0;
    SlotState state = SlotState::free;
    bool started = false;     // Its first work-group was dispatched.
    bool first_done = false;  // Its first work-group ended.
    uint32_t position = 0;    // Next id is first + position.
    uint32_t undispatched = 0;
    uint32_t unfinished = 0;
    uint16_t resident = 0;
    std::array<uint32_t, kWords> candidates{};  // One bit a unit that may have room.
  };

  bool wants(const Slot& slot) const;
  bool any_wants() const;
  unsigned cus_in_use() const { return cus_ == 0 || cus_ > kGridMaxCus ? kGridMaxCus : cus_; }
  void pick();
  void write(uint16_t address, uint64_t data);
  void write_slot(unsigned index, uint16_t offset, uint64_t data);
  uint64_t read(uint16_t address) const;

  uint8_t cus_ = 80;
  Resources capacity_{256, 96, 64, 32};
  std::array<Resources, kGridMaxCus> used_{};
  std::array<Slot, kGridSlots> slots_{};
  uint8_t done_ = 0;
  uint8_t irq_enable_ = 0;
  bool pick_valid_ = false;
  uint8_t pick_slot_ = 0;
  uint8_t pick_cu_ = 0;
  uint8_t turn_cu_ = 0;    // Unit from which the next search starts.
  uint8_t turn_slot_ = 0;  // Slot with the highest precedence among equals.
  bool read_pending_ = false;
  uint16_t read_address_ = 0;
  uint64_t dispatched_ = 0;
  uint64_t finished_ = 0;
  uint64_t drained_ = 0;
  GridSchedulerOutputs out_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_REFERENCE_GRID_SCHEDULER_MODEL_H_
