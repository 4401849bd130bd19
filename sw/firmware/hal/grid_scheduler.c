// SPDX-License-Identifier: Apache-2.0
// The grid scheduler: see grid_scheduler.h.
#include "sw/firmware/hal/grid_scheduler.h"

#include <stddef.h>

#include "sw/include/formats/code_object.h"
#include "sw/include/regs/grid_scheduler_regs.h"  // Generated.

STRETTO_STATIC_ASSERT(GRID_SLOTS == GRID_SCHEDULER_SLOT_NEEDS_COUNT,
                      "as many as the scheduler has");
STRETTO_STATIC_ASSERT(STRETTO_KERNEL_SIMT == GRID_SCHEDULER_SLOT_NEEDS_TYPE_SIMT &&
                          STRETTO_KERNEL_TENSOR == GRID_SCHEDULER_SLOT_NEEDS_TYPE_TENSOR,
                      "descriptors carry register values");

// What a unit has, rounded down and cut to what the field can say: never more than there is.
static uint64_t capacity_kib(uint32_t bytes) {
  const uint32_t limit = GRID_SCHEDULER_CAPACITY_REGISTERS_KIB_MASK;
  return bytes / 1024 < limit ? bytes / 1024 : limit;
}

fw_result_t grid_scheduler_init(grid_scheduler_t* scheduler, const unit_limits_t* limits) {
  if (scheduler == NULL || limits == NULL || limits->cus == 0) return STRETTO_ERROR_ARGUMENT;
  scheduler->base = STRETTO_GRID_SCHEDULER_BASE;
  mmio_write64(scheduler->base + GRID_SCHEDULER_CUS_OFFSET,
               STRETTO_FIELD(GRID_SCHEDULER_CUS_COUNT, limits->cus));
  mmio_write64(
      scheduler->base + GRID_SCHEDULER_CAPACITY_OFFSET,
      STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_REGISTERS_KIB, capacity_kib(limits->registers_bytes)) |
          STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_LDS_KIB, capacity_kib(limits->lds_bytes)) |
          STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_WAVEFRONTS, limits->wavefronts) |
          STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_WORK_GROUPS, limits->work_groups));
  mmio_write64(scheduler->base + GRID_SCHEDULER_IRQ_ENABLE_OFFSET,
               GRID_SCHEDULER_IRQ_ENABLE_SLOTS_MASK);
  return STRETTO_OK;
}

uint32_t grid_scheduler_done(const grid_scheduler_t* scheduler) {
  return (uint32_t)STRETTO_FIELD_GET(mmio_read64(scheduler->base + GRID_SCHEDULER_DONE_OFFSET),
                                     GRID_SCHEDULER_DONE_SLOTS);
}

void grid_scheduler_release(const grid_scheduler_t* scheduler, uint32_t slots) {
  mmio_write64(scheduler->base + GRID_SCHEDULER_DONE_OFFSET,
               STRETTO_FIELD(GRID_SCHEDULER_DONE_SLOTS, slots));
}
