// SPDX-License-Identifier: Apache-2.0
// See grid_control.h.
#include "sw/firmware/hal/grid_control.h"

#include <stddef.h>

#include "sw/include/formats/code_object.h"
#include "sw/include/regs/grid_scheduler_regs.h"  // Generated.

static uint64_t kib(uint32_t bytes) { return ((uint64_t)bytes + 1023) / 1024; }

static fw_result_t check_job(const grid_job_t* job) {
  const grid_launch_t* launch = &job->launch;
  if (job->slot >= GRID_SLOTS || launch->count == 0) return STRETTO_ERROR_ARGUMENT;
  if ((uint64_t)launch->first + launch->count > launch->grid) return STRETTO_ERROR_ARGUMENT;
  if (launch->start >= launch->count || job->skip >= launch->count) return STRETTO_ERROR_ARGUMENT;
  if (launch->wavefronts == 0 || launch->type > STRETTO_KERNEL_TENSOR || job->priority > 3)
    return STRETTO_ERROR_ARGUMENT;
  if (job->batch > GRID_SCHEDULER_SLOT_GATE_BATCH_MASK) return STRETTO_ERROR_ARGUMENT;
  return STRETTO_OK;
}

// Skip and gates are 0 in a free slot and need no write then.
static void program(const grid_scheduler_t* scheduler, const grid_job_t* job) {
  const grid_launch_t* launch = &job->launch;
  const uint32_t slot = job->slot;
  mmio_write64(
      scheduler->base + GRID_SCHEDULER_SLOT_NEEDS_OFFSET_AT(slot),
      STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_REGISTERS_KIB, kib(launch->registers_bytes)) |
          STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_LDS_KIB, kib(launch->lds_bytes)) |
          STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_WAVEFRONTS, launch->wavefronts) |
          STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_TYPE, launch->type) |
          STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_PRIORITY, job->priority));
  mmio_write64(scheduler->base + GRID_SCHEDULER_SLOT_RANGE_OFFSET_AT(slot),
               STRETTO_FIELD(GRID_SCHEDULER_SLOT_RANGE_FIRST, launch->first) |
                   STRETTO_FIELD(GRID_SCHEDULER_SLOT_RANGE_COUNT, launch->count));
  mmio_write64(scheduler->base + GRID_SCHEDULER_SLOT_ORDER_OFFSET_AT(slot),
               STRETTO_FIELD(GRID_SCHEDULER_SLOT_ORDER_GRID, launch->grid) |
                   STRETTO_FIELD(GRID_SCHEDULER_SLOT_ORDER_START, launch->start));
  if (job->skip != 0) {
    mmio_write64(scheduler->base + GRID_SCHEDULER_SLOT_SKIP_OFFSET_AT(slot),
                 STRETTO_FIELD(GRID_SCHEDULER_SLOT_SKIP_SKIP, job->skip));
  }
  if (job->batch != 0) {
    const uint64_t position = ((uint64_t)launch->start + job->skip) % launch->count + job->gated;
    mmio_write64(scheduler->base + GRID_SCHEDULER_SLOT_GATE_OFFSET_AT(slot),
                 STRETTO_FIELD(GRID_SCHEDULER_SLOT_GATE_BATCH, job->batch) |
                     STRETTO_FIELD(GRID_SCHEDULER_SLOT_GATE_GATE, position / job->batch) |
                     STRETTO_FIELD(GRID_SCHEDULER_SLOT_GATE_PHASE, position % job->batch));
  }
}

fw_result_t grid_control_launch(const grid_scheduler_t* scheduler, const grid_job_t* job) {
  if (scheduler == NULL || job == NULL) return STRETTO_ERROR_ARGUMENT;
  const fw_result_t valid = check_job(job);
  if (valid != STRETTO_OK) return valid;
  program(scheduler, job);
  mmio_write64(scheduler->base + GRID_SCHEDULER_SLOT_CONTROL_OFFSET_AT(job->slot),
               GRID_SCHEDULER_SLOT_CONTROL_LAUNCH_MASK);
  return STRETTO_OK;
}

fw_result_t grid_control_launch_pipeline(const grid_scheduler_t* scheduler, const grid_job_t* jobs,
                                         uint32_t members) {
  if (scheduler == NULL || jobs == NULL || members == 0) return STRETTO_ERROR_ARGUMENT;
  uint32_t mask = 0;
  for (uint32_t i = 0; i < members; ++i) {
    const fw_result_t valid = check_job(&jobs[i]);
    if (valid != STRETTO_OK) return valid;
    if ((mask & 1u << jobs[i].slot) != 0 || jobs[i].batch != 0) return STRETTO_ERROR_ARGUMENT;
    mask |= 1u << jobs[i].slot;
  }
  for (uint32_t i = 0; i < members; ++i) program(scheduler, &jobs[i]);
  mmio_write64(scheduler->base + GRID_SCHEDULER_PIPELINE_OFFSET,
               STRETTO_FIELD(GRID_SCHEDULER_PIPELINE_SLOTS, mask));
  return STRETTO_OK;
}

bool grid_control_pipeline_waits(const grid_scheduler_t* scheduler) {
  return STRETTO_FIELD_GET(mmio_read64(scheduler->base + GRID_SCHEDULER_PIPELINE_OFFSET),
                           GRID_SCHEDULER_PIPELINE_SLOTS) != 0;
}

void grid_control_set_policy(const grid_scheduler_t* scheduler, bool in_order, bool two_arbiters,
                             bool strict_priority) {
  mmio_write64(scheduler->base + GRID_SCHEDULER_POLICY_OFFSET,
               STRETTO_FIELD(GRID_SCHEDULER_POLICY_ORDER, in_order) |
                   STRETTO_FIELD(GRID_SCHEDULER_POLICY_ARBITERS, two_arbiters) |
                   STRETTO_FIELD(GRID_SCHEDULER_POLICY_PRIORITY, strict_priority));
}

fw_result_t grid_control_preempt(const grid_scheduler_t* scheduler, uint32_t slot, bool drain) {
  if (scheduler == NULL || slot >= GRID_SLOTS) return STRETTO_ERROR_ARGUMENT;
  mmio_write64(scheduler->base + GRID_SCHEDULER_SLOT_CONTROL_OFFSET_AT(slot),
               STRETTO_FIELD(GRID_SCHEDULER_SLOT_CONTROL_PREEMPT, 1) |
                   STRETTO_FIELD(GRID_SCHEDULER_SLOT_CONTROL_DRAIN, drain));
  return STRETTO_OK;
}

fw_result_t grid_control_report(const grid_scheduler_t* scheduler, uint32_t slot,
                                grid_report_t* report) {
  if (scheduler == NULL || report == NULL || slot >= GRID_SLOTS) return STRETTO_ERROR_ARGUMENT;
  const uint64_t state = mmio_read64(scheduler->base + GRID_SCHEDULER_SLOT_STATE_OFFSET_AT(slot));
  report->state = (uint32_t)STRETTO_FIELD_GET(state, GRID_SCHEDULER_SLOT_STATE_STATE);
  report->reason = (uint32_t)STRETTO_FIELD_GET(state, GRID_SCHEDULER_SLOT_STATE_REASON);
  report->resident = (uint32_t)STRETTO_FIELD_GET(state, GRID_SCHEDULER_SLOT_STATE_RESIDENT);
  report->undispatched = (uint32_t)STRETTO_FIELD_GET(state, GRID_SCHEDULER_SLOT_STATE_UNDISPATCHED);
  report->preempted = STRETTO_FIELD_GET(state, GRID_SCHEDULER_SLOT_STATE_PREEMPTED) != 0;
  return STRETTO_OK;
}

bool grid_control_take_returned(const grid_scheduler_t* scheduler, uint32_t* slot, uint32_t* id) {
  const uint64_t oldest = mmio_read64(scheduler->base + GRID_SCHEDULER_RETURNED_OFFSET);
  if (STRETTO_FIELD_GET(oldest, GRID_SCHEDULER_RETURNED_VALID) == 0) return false;
  *slot = (uint32_t)STRETTO_FIELD_GET(oldest, GRID_SCHEDULER_RETURNED_SLOT);
  *id = (uint32_t)STRETTO_FIELD_GET(oldest, GRID_SCHEDULER_RETURNED_ID);
  mmio_write64(scheduler->base + GRID_SCHEDULER_RETURNED_TAKE_OFFSET, 0);
  return true;
}

void grid_control_open_gate(const grid_scheduler_t* scheduler, uint32_t gate) {
  mmio_write64(scheduler->base + GRID_SCHEDULER_GATE_SET_OFFSET,
               STRETTO_FIELD(GRID_SCHEDULER_GATE_SET_GATE, gate));
}

void grid_control_close_gates(const grid_scheduler_t* scheduler) {
  mmio_write64(scheduler->base + GRID_SCHEDULER_GATE_CLEAR_OFFSET, 0);
}

fw_result_t grid_control_unit_use(const grid_scheduler_t* scheduler, uint32_t unit,
                                  unit_limits_t* used) {
  if (scheduler == NULL || used == NULL || unit >= GRID_SCHEDULER_UNIT_USE_COUNT)
    return STRETTO_ERROR_ARGUMENT;
  const uint64_t use = mmio_read64(scheduler->base + GRID_SCHEDULER_UNIT_USE_OFFSET_AT(unit));
  used->cus = 0;
  used->registers_bytes =
      (uint32_t)STRETTO_FIELD_GET(use, GRID_SCHEDULER_UNIT_USE_REGISTERS_KIB) * 1024;
  used->lds_bytes = (uint32_t)STRETTO_FIELD_GET(use, GRID_SCHEDULER_UNIT_USE_LDS_KIB) * 1024;
  used->wavefronts = (uint32_t)STRETTO_FIELD_GET(use, GRID_SCHEDULER_UNIT_USE_WAVEFRONTS);
  used->work_groups = (uint32_t)STRETTO_FIELD_GET(use, GRID_SCHEDULER_UNIT_USE_WORK_GROUPS);
  return STRETTO_OK;
}
