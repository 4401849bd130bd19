// SPDX-License-Identifier: Apache-2.0
// Interface of the grid scheduler, one per GPU, used by the GPU front end, the adapters and the
// reference model. T3-STAG-01/02, T3-AGC-01, KT-BSP-02/04, KT-SCHED-01..06, TL-SLICE-01; rules in
// rtl/grid_scheduler/README.md.
//
// Firmware fills a kernel slot (needs per work-group, grid size, first id and count of the block
// range, start of the staggered order, type, priority) and launches it, alone or as one of a
// spatial pipeline. The scheduler then places work-groups on compute units that have room, greedy
// round-robin over the units, keeping free registers, LDS, wavefront slots and work-group slots of
// each unit in its own flip-flops. Ids leave in the order first + (start + i) mod count: stagger
// rotates the order, never the ids.
//
// One step() is one GPU clock: inputs sampled by the edge, outputs registered. At most one dispatch
// and one done a cycle. kernel_start comes with the first dispatch of a slot, first_wg_done and
// kernel_done with the edge that takes the first and the last `done` of it; a preempted slot with
// nothing resident reports kernel_done by itself, even if it never began.
#ifndef STRETTO_MODELS_REFERENCE_GRID_SCHEDULER_IF_H_
#define STRETTO_MODELS_REFERENCE_GRID_SCHEDULER_IF_H_

#include <array>
#include <cstdint>
#include <string>

#include "models/reference/block.h"

namespace stretto {

inline constexpr unsigned kGridSlots = 32;  // Kernel slots.
inline constexpr unsigned kGridMaxCus =
    160;  // Compute units the RTL is built for; a register gives the number in use.
inline constexpr unsigned kGridGates = 1024;
inline constexpr unsigned kGridPipelineEntries = 512;  // Work-groups of a pipeline.
inline constexpr unsigned kGridReturnedEntries =
    256;  // Drained work-groups that firmware has not taken.

struct GridSchedulerInputs {
  uint64_t cycle = 0;
  bool done_valid = false;  // A work-group ended and its resources are free again.
  uint8_t done_cu = 0;
  uint8_t done_slot = 0;
  // A preempted work-group left its unit; same ports as done, not counted as finished. REQUIRES:
  // drained_ready.
  bool drained_valid = false;
  uint32_t drained_wg_id = 0;
  bool event_valid = false;  // Opens a gate (T3-AGC-01): what work-groups wait for has arrived.
  uint16_t event_gate = 0;
  RegisterPort reg;

  bool operator==(const GridSchedulerInputs&) const = default;
};

struct GridSchedulerOutputs {
  bool dispatch_valid = false;
  uint8_t dispatch_cu = 0;
  uint8_t dispatch_slot = 0;
  uint32_t dispatch_wg_id = 0;
  bool kernel_start = false;
  bool first_wg_done = false;
  bool kernel_done = false;
  uint8_t start_slot = 0;     // Slot of kernel_start.
  uint8_t done_slot = 0;      // Slot of first_wg_done/kernel_done.
  uint32_t refused = 0;       // Slots whose launch was refused, one bit each.
  bool drained_ready = true;  // There is room for one more work-group that comes back.
  bool preempt_valid =
      false;  // The units may hand back work-groups of preempt_slot that have not begun.
  uint8_t preempt_slot = 0;
  bool irq = false;  // Level: a bit of the done register is set and enabled.
  bool idle = true;
  uint64_t reg_rdata = 0;

  bool operator==(const GridSchedulerOutputs&) const = default;
};

struct GridSchedulerSnapshot {
  uint32_t closed = 0;                      // Running slots that wait for a gate, one bit each:
  std::array<uint16_t, kGridSlots> gate{};  // the gate,
  std::array<uint32_t, kGridSlots> undispatched{};  // work-groups not placed.

  bool operator==(const GridSchedulerSnapshot&) const = default;
};

template <class Add>
void list_pins(const GridSchedulerSnapshot& state, Add add) {
  add("closed", state.closed);
  for (unsigned slot = 0; slot < kGridSlots; ++slot) {
    add("gate[" + std::to_string(slot) + "]", state.gate[slot]);
    add("undispatched[" + std::to_string(slot) + "]", state.undispatched[slot]);
  }
}

// For reports: add(name, value) for each pin in use.
template <class Add>
void list_pins(const GridSchedulerInputs& in, Add add) {
  add("done_valid", in.done_valid);
  add("drained_valid", in.drained_valid);
  add("done_cu", in.done_cu);
  add("done_slot", in.done_slot);
  add("drained_wg_id", in.drained_wg_id);
  add("event_valid", in.event_valid);
  add("event_gate", in.event_gate);
  list_pins(in.reg, add);
}

template <class Add>
void list_pins(const GridSchedulerOutputs& out, Add add) {
  add("dispatch_valid", out.dispatch_valid);
  add("dispatch_cu", out.dispatch_cu);
  add("dispatch_slot", out.dispatch_slot);
  add("dispatch_wg_id", out.dispatch_wg_id);
  add("kernel_start", out.kernel_start);
  add("first_wg_done", out.first_wg_done);
  add("kernel_done", out.kernel_done);
  add("start_slot", out.start_slot);
  add("done_slot", out.done_slot);
  add("refused", out.refused);
  add("drained_ready", out.drained_ready);
  add("preempt_valid", out.preempt_valid);
  add("preempt_slot", out.preempt_slot);
  add("irq", out.irq);
  add("idle", out.idle);
  add("reg_rdata", out.reg_rdata);
}

class GridScheduler
    : public Block<GridSchedulerInputs, GridSchedulerOutputs, GridSchedulerSnapshot> {};

}  // namespace stretto

#endif  // STRETTO_MODELS_REFERENCE_GRID_SCHEDULER_IF_H_
