// SPDX-License-Identifier: Apache-2.0
// Cycle-exact reference model of the grid scheduler (rtl/grid_scheduler); rules are those of its
// README.md.
//
// Two stages: `pick` chooses a slot and a unit from the candidate bits, `place` compares the unit's
// use with its capacity and dispatches or clears the candidate bit. A unit is a candidate of a slot
// until it was found full, and again after a work-group left it. A pipeline uses the same stages
// for a trial that fills a log, and then places from the log.
#ifndef STRETTO_MODELS_REFERENCE_GRID_SCHEDULER_MODEL_H_
#define STRETTO_MODELS_REFERENCE_GRID_SCHEDULER_MODEL_H_

#include <array>

#include "models/reference/grid_scheduler_if.h"
#include "sw/include/regs/grid_scheduler_file.h"

namespace stretto {

class GridSchedulerModel final : public GridScheduler {
 public:
  void reset() override { *this = GridSchedulerModel(); }
  GridSchedulerOutputs step(const GridSchedulerInputs& in) override;
  std::optional<GridSchedulerSnapshot> snapshot() const override {
    GridSchedulerSnapshot state;
    for (unsigned s = 0; s < kGridSlots; ++s) {
      if ((closed_ >> s & 1) == 0 || slots_[s].state != SlotState::running ||
          slots_[s].gate.batch == 0)
        continue;
      state.closed |= 1u << s;
      state.gate[s] = slots_[s].gate.gate;
      state.undispatched[s] = slots_[s].undispatched;
    }
    return state;
  }

 private:
  static constexpr unsigned kWords = (kGridMaxCus + 31) / 32;
  using Units = std::array<uint32_t, kWords>;  // One bit a unit.

  using Registers = GridSchedulerRegisters;

  enum class SlotState : uint8_t { free, running, done, refused };
  using SlotStates = std::array<SlotState, kGridSlots>;  // Those before the edge.
  enum class Reason : uint8_t { none, needs, range, gates, busy, too_many, never_fits };
  struct Slot {
    Registers::SlotNeeds needs;
    Registers::SlotRange range;
    Registers::SlotOrder order;
    Registers::SlotSkip skip;
    Registers::SlotGate gate;  // Gate and phase are those of the next work-group.
    SlotState state = SlotState::free;
    Reason reason = Reason::none;
    bool started = false;     // Its first work-group was dispatched.
    bool first_done = false;  // Its first work-group ended.
    uint32_t position = 0;    // Next id is first + position.
    uint32_t undispatched = 0;
    uint16_t resident = 0;
    uint32_t older = 0;  // Slots launched before it.
    Units candidates{};  // One bit a unit that may have room.
  };
  enum class PipeState : uint8_t { idle, check, empty, wait, now, place };
  struct Pipeline {
    PipeState state = PipeState::idle;
    uint32_t slots = 0;  // Its slots,
    uint32_t todo = 0;   // and those that this pass has not entered.
    uint8_t slot = 0;
    uint32_t left = 0;  // Work-groups of `slot` left in this pass.
    bool retry = false;
    uint8_t priority = 0;
    uint32_t total = 0;
    uint32_t log_index = 0;
    bool two_arbiters = false;  // At its launch: all its trials walk the units alike.
    uint8_t cu = 0;             // Pointers of the trial.
    uint8_t tensor = 0;

    bool in_trial() const { return state == PipeState::empty || state == PipeState::now; }
  };
  struct Pick {
    bool valid = false;
    bool trial = false;
    uint8_t slot = 0;
    uint8_t cu = 0;
  };
  struct Returned {
    uint8_t slot;
    uint32_t id;
  };

  bool fits(const Registers::UnitUse& used, const Registers::SlotNeeds& needs) const {
    const Registers::Capacity& capacity = registers_.capacity;
    return used.registers_kib + needs.registers_kib <= capacity.registers_kib &&
           used.lds_kib + needs.lds_kib <= capacity.lds_kib &&
           used.wavefronts + needs.wavefronts <= capacity.wavefronts &&
           used.work_groups < capacity.work_groups;
  }
  bool launch_order() const { return registers_.policy.order; }
  bool two_arbiters() const { return registers_.policy.arbiters; }
  bool is_strict() const { return registers_.policy.priority; }
  // Slots with a work-group that may go, whether or not it fits.
  uint32_t work() const { return running_ & left_ & ~(preempt_ | pipe_.slots | closed_); }
  uint32_t served() const;   // Slots of which one is picked next.
  bool outranked() const;    // The pipeline waits for a slot of higher priority (S3).
  uint32_t stopped() const;  // Slots that end by themselves.
  unsigned cus_in_use() const {
    const unsigned count = registers_.cus.count;
    return count == 0 || count > kGridMaxCus ? kGridMaxCus : count;
  }
  Units units_in_use() const;
  void pick();
  void place(const Pick& picked, uint32_t stop, PipeState pipe_state);
  void leave(const GridSchedulerInputs& in, unsigned placed_slot, uint32_t stop, uint32_t stopped);
  void end(unsigned slot);
  void begin_pass(PipeState state);
  void step_pipeline(const Pipeline& before, const GridSchedulerInputs& in, const Pick& before_pick,
                     uint32_t preempt_before);
  void launch(unsigned index);
  void refuse(uint32_t slots, Reason reason);
  void open_gate(uint32_t gate);
  void write(uint16_t address, uint64_t data, const SlotStates& states, bool stopping);
  void write_slot(Registers::Place place, uint64_t data, SlotState state);
  void write_pipeline(uint32_t slots, const SlotStates& states, bool stopping);
  void free_slots(uint32_t slots);
  uint64_t read(uint16_t address) const;
  Registers::SlotState slot_state(unsigned index) const;

  Registers registers_;
  std::array<Registers::UnitUse, kGridMaxCus> used_{};
  std::array<Slot, kGridSlots> slots_{};
  uint32_t running_ = 0;  // One bit a slot: its state is running;
  uint32_t left_ = 0;     // it has work-groups that are not placed;
  uint32_t preempt_ = 0;  // it was told to stop;
  uint32_t closed_ = 0;   // it found its gate closed, until the next event;
  uint32_t done_ = 0;     // it ended or was refused;
  uint32_t ended_ = 0;    // of these, those of this clock.
  uint32_t served_ = 0;   // served() and outranked() of the state before the edge.
  bool outranked_ = false;
  Pick pick_;
  uint8_t turn_cu_ = 0;      // Unit from which the next search starts,
  uint8_t turn_tensor_ = 0;  // and that of the second arbiter.
  uint8_t turn_slot_ = 0;    // Slot with the highest precedence among equals.
  bool turn_class_ = false;  // Class that goes first, with two arbiters.
  std::array<uint32_t, kGridGates / 32> gates_{};

  Pipeline pipe_;
  Units trial_candidates_{};
  Units touched_{};  // Units whose use is in trial_used_.
  std::array<Registers::UnitUse, kGridMaxCus> trial_used_{};
  std::array<uint8_t, kGridPipelineEntries> log_{};

  std::array<Returned, kGridReturnedEntries> returned_{};
  uint32_t returned_in_ = 0;
  uint32_t returned_out_ = 0;
  uint32_t returned_before_ = 0;  // returned_in_ before the edge.
  bool returned_lost_ = false;

  bool read_pending_ = false;
  uint16_t read_address_ = 0;
  Registers::Hardware counters_;  // dispatched, finished and drained.
  GridSchedulerOutputs out_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_REFERENCE_GRID_SCHEDULER_MODEL_H_
