// SPDX-License-Identifier: Apache-2.0
// Launches, and what else the grid scheduler can do with kernels: block ranges, staggered order,
// priorities, spatial pipelines (KT-SCHED-01), preemption and resumption (TL-ARCH-04), gates
// (T3-AGC-01), policy, use of the units.
#ifndef STRETTO_SW_FIRMWARE_HAL_GRID_CONTROL_H_
#define STRETTO_SW_FIRMWARE_HAL_GRID_CONTROL_H_

#include "sw/firmware/hal/grid_scheduler.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grid_job {
  uint8_t slot;
  uint8_t priority;  // 0..3, higher is served first.
  uint32_t batch;    // Work-groups of one gate; 0: not gated.
  uint32_t gated;    // Position of the first id among the gates: 0 but for a part of a kernel.
  uint32_t skip;     // Work-groups at the begin of the order that an earlier launch placed.
  grid_launch_t launch;
} grid_job_t;

// What a slot says about itself. Of a preempted one, the first count - undispatched ids of its
// order were placed: a launch with that as skip goes on behind them.
typedef struct grid_report {
  uint32_t state;   // GRID_SCHEDULER_SLOT_STATE_STATE_*,
  uint32_t reason;  // _REASON_*.
  uint32_t resident;
  uint32_t undispatched;
  bool preempted;
} grid_report_t;

// REQUIRES: the slot is free and the dispatch context of the GPU is programmed.
// STRETTO_ERROR_ARGUMENT: range or start out of the grid, skip out of the range, priority or batch
// too large. A launch that the scheduler refuses shows up in grid_scheduler_done.
FW_MUST_CHECK fw_result_t grid_control_launch(const grid_scheduler_t* scheduler,
                                              const grid_job_t* job);
// Launches the members together: all are placed or none. Errors as above, and
// STRETTO_ERROR_ARGUMENT for a slot given twice or a gated member. If it can never be placed, or
// another pipeline waits, all are refused.
FW_MUST_CHECK fw_result_t grid_control_launch_pipeline(const grid_scheduler_t* scheduler,
                                                       const grid_job_t* jobs, uint32_t members);
// Whether a pipeline is not all placed yet; another one would be refused (P2).
bool grid_control_pipeline_waits(const grid_scheduler_t* scheduler);
// The stock scheduler is in_order with one arbiter; Kitsune's in_order with two.
void grid_control_set_policy(const grid_scheduler_t* scheduler, bool in_order, bool two_arbiters,
                             bool strict_priority);
// Nothing more of the slot is placed; it is done when its work-groups have left. `drain`: those
// that have not begun come back (grid_control_take_returned).
FW_MUST_CHECK fw_result_t grid_control_preempt(const grid_scheduler_t* scheduler, uint32_t slot,
                                               bool drain);
FW_MUST_CHECK fw_result_t grid_control_report(const grid_scheduler_t* scheduler, uint32_t slot,
                                              grid_report_t* report);
// The oldest work-group that came back undone; false if there is none.
bool grid_control_take_returned(const grid_scheduler_t* scheduler, uint32_t* slot, uint32_t* id);
void grid_control_open_gate(const grid_scheduler_t* scheduler, uint32_t gate);
void grid_control_close_gates(const grid_scheduler_t* scheduler);
// What of a unit is taken; `cus` of the result is 0.
FW_MUST_CHECK fw_result_t grid_control_unit_use(const grid_scheduler_t* scheduler, uint32_t unit,
                                                unit_limits_t* used);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_HAL_GRID_CONTROL_H_
