// SPDX-License-Identifier: Apache-2.0
// Interface of the grid scheduler, one per GPU, used by the GPU front end, the adapters and the reference model.
// T3-STAG-01/02, T3-AGC-01, KT-BSP-02/04, KT-SCHED-01..06, TL-SLICE-01; rules in rtl/grid_scheduler/README.md.
//
// Firmware fills a kernel slot (needs per work-group, grid size, first id and count of the block range, start of the
// staggered order, type, priority) and launches it, alone or as one of a spatial pipeline. The scheduler then places
// work-groups on compute units that have room, greedy round-robin over the units, keeping free registers, LDS, wavefront
// slots and work-group slots of each unit in its own flip-flops. Ids leave in the order first + (start + i) mod count:
// stagger rotates the order, never the ids.
//
// One step() is one GPU clock: inputs sampled by the edge, outputs registered. At most one dispatch and one done a cycle.
// kernel_start comes with the first dispatch of a slot, first_wg_done and kernel_done with the edge that takes the first
// and the last `done` of it; a preempted slot with nothing resident reports kernel_done by itself, even if it never began.
#ifndef STRETTO_MODELS_REFERENCE_GRID_SCHEDULER_IF_H_
#define STRETTO_MODELS_REFERENCE_GRID_SCHEDULER_IF_H_

#include <cstdint>

#include "models/reference/register_port.h"

namespace stretto {

inline constexpr unsigned kGridSlots = 8;  // Kernel slots.
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
  // A preempted work-group left its unit; same ports as done, not counted as finished. REQUIRES: drained_ready.
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
  uint8_t refused = 0;        // Slots whose launch was refused, one bit each.
  bool drained_ready = true;  // There is room for one more work-group that comes back.
  bool preempt_valid =
      false;  // The units may hand back work-groups of preempt_slot that have not begun.
  uint8_t preempt_slot = 0;
  bool irq = false;  // Level: a bit of the done register is set and enabled.
  bool idle = true;
  uint64_t reg_rdata = 0;

  bool operator==(const GridSchedulerOutputs&) const = default;
};

class GridScheduler {
 public:
  virtual ~GridScheduler() = default;
  virtual void reset() = 0;
  virtual GridSchedulerOutputs step(const GridSchedulerInputs& in) = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_REFERENCE_GRID_SCHEDULER_IF_H_
