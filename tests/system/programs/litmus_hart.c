// SPDX-License-Identifier: Apache-2.0
// Bare-metal program of the command processor for litmus tests: launches a kernel of one work-group
// and plays its own operations beside it (litmus_hart.h).
#include "tests/system/programs/litmus_hart.h"

#include "sw/firmware/hal/end_run.h"
#include "sw/firmware/hal/gpu.h"
#include "sw/firmware/hal/grid_control.h"
#include "sw/firmware/hal/intc.h"
#include "sw/firmware/hal/range_table.h"
#include "sw/include/formats/code_object.h"

volatile uint32_t boot_done;  // Read by crt0; hart 1 stays asleep.

void trap(uint64_t cause, uint64_t pc, uint64_t value, uint64_t hart) {
  (void)pc, (void)value, (void)hart;
  end_run(((100 + cause) << 1) | 1);
}

static void check(fw_result_t result) {
  if (result != STRETTO_OK) end_run(((uint64_t)-result << 1) | 1);
}

static uint64_t add(uint64_t address, uint64_t value) {
  return __atomic_fetch_add((uint64_t*)(uintptr_t)address, value, __ATOMIC_RELAXED);
}

static void launch(const litmus_hart_plan_t* plan, uint64_t node) {
  gpu_t gpu;
  unit_limits_t limits;
  grid_scheduler_t scheduler;
  range_table_t ranges;
  check(gpu_init(&gpu));
  check(gpu_limits(&gpu, &limits));
  check(grid_scheduler_init(&scheduler, &limits));
  check(range_table_init(&ranges));
  range_t range = {.base = node + LITMUS_HART_SHARED,
                   .row_bytes = LITMUS_HART_BYTES,
                   .rows = 1,
                   .kind = RANGE_LOCAL,
                   .allocation = STRETTO_ALLOCATION_SHARED};
  check(range_table_add(&ranges, &range));
  range.base = node + LITMUS_HART_UNCACHED;
  range.allocation = STRETTO_ALLOCATION_UNCACHED;
  check(range_table_add(&ranges, &range));
  const stretto_kernel_descriptor_t* d =
      (const stretto_kernel_descriptor_t*)(uintptr_t)plan->kernel;
  const gpu_context_t context = {.entry = d->entry,
                                 .kernarg = plan->kernarg,
                                 .kernarg_bytes = d->kernarg_bytes,
                                 .code_base = d->code_base,
                                 .code_bytes = d->code_bytes,
                                 .registers_bytes = d->registers_bytes,
                                 .lds_bytes = d->lds_bytes,
                                 .private_bytes = d->private_bytes,
                                 .wavefronts = d->wavefronts,
                                 .grid = 1};
  check(gpu_set_context(&gpu, 0, &context));
  const grid_job_t job = {.launch = {.registers_bytes = d->registers_bytes,
                                     .lds_bytes = d->lds_bytes,
                                     .wavefronts = d->wavefronts,
                                     .type = d->type,
                                     .grid = 1,
                                     .count = 1}};
  check(grid_control_launch(&scheduler, &job));
}

void firmware_main(uint64_t hart) {
  while (hart != 0) wait_for_interrupt();
  const uint64_t node = (uint64_t)intc_node() << STRETTO_NODE_SHIFT;
  const litmus_hart_plan_t* plan = (const litmus_hart_plan_t*)(uintptr_t)(node + LITMUS_HART_PLAN);
  launch(plan, node);
  for (const scopes_operation_t* op = plan->does; op->what != SCOPES_END; ++op) {
    switch (op->what) {
      case SCOPES_LOAD: {
        const uint64_t value = mmio_read64(op->address);
        if (op->value != 0) mmio_write64(op->value, value);
        break;
      }
      case SCOPES_STORE: mmio_write64(op->address, op->value); break;
      case SCOPES_FENCE:
        if (op->detail == SCOPES_ACQUIRE) fence_acquire();
        if (op->detail == SCOPES_RELEASE) fence_release();
        break;
      case SCOPES_ADD: add(op->address, op->value); break;
      case SCOPES_WAIT:
        while (add(op->address, 0) < op->value) {
        }
        break;
    }
  }
  fence_release();
  end_run(1);
}
