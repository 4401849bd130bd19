// SPDX-License-Identifier: Apache-2.0
// The grid scheduler: kernel slots, block ranges, staggered order (T3-STAG-02).
#ifndef STRETTO_SW_FIRMWARE_HAL_GRID_SCHEDULER_H_
#define STRETTO_SW_FIRMWARE_HAL_GRID_SCHEDULER_H_

#include <stdbool.h>

#include "sw/firmware/hal/mmio.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRID_SLOTS 32

typedef struct grid_scheduler {
  uint64_t base;
} grid_scheduler_t;

// What one compute unit has.
typedef struct unit_limits {
  uint32_t cus;
  uint32_t registers_bytes;
  uint32_t lds_bytes;
  uint32_t wavefronts;
  uint32_t work_groups;
} unit_limits_t;

typedef struct grid_launch {
  uint32_t registers_bytes;  // Needs of one work-group.
  uint32_t lds_bytes;
  uint32_t wavefronts;
  uint32_t type;   // STRETTO_KERNEL_SIMT or _TENSOR.
  uint32_t grid;   // Work-groups of the whole grid.
  uint32_t first;  // Block range.
  uint32_t count;
  uint32_t start;  // Ids leave in the order first + (start + i) mod count.
} grid_launch_t;

// Tells the scheduler what the units have and enables its interrupt.
FW_MUST_CHECK fw_result_t grid_scheduler_init(grid_scheduler_t* scheduler,
                                              const unit_limits_t* limits);
// One bit a slot whose kernel has ended or was refused.
uint32_t grid_scheduler_done(const grid_scheduler_t* scheduler);
// Frees the slots.
void grid_scheduler_release(const grid_scheduler_t* scheduler, uint32_t slots);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_HAL_GRID_SCHEDULER_H_
