// SPDX-License-Identifier: Apache-2.0
// GPU front end: dispatch contexts, L2 control, fault report, limits of a compute unit.
#ifndef STRETTO_SW_FIRMWARE_HAL_GPU_H_
#define STRETTO_SW_FIRMWARE_HAL_GPU_H_

#include <stdbool.h>

#include "sw/firmware/hal/grid_scheduler.h"
#include "sw/firmware/hal/mmio.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gpu {
  uint64_t base;
} gpu_t;

typedef struct gpu_context {
  uint64_t entry;
  uint64_t kernarg;
  uint32_t kernarg_bytes;
  uint64_t code_base;
  uint32_t code_bytes;
  uint32_t registers_bytes;
  uint32_t lds_bytes;
  uint32_t private_bytes;
  uint32_t wavefronts;
  uint32_t grid;            // Work-groups of the grid,
  uint32_t grid_y, grid_z;  // its rows and planes, 0 = 1.
  uint32_t account;         // Account.
  uint32_t type;            // STRETTO_KERNEL_*.
  uint32_t split;           // Work-groups of an output tile, 1..255; 0 = 1.
  bool update;
  bool communication;
} gpu_context_t;

typedef struct gpu_l2_size {
  uint32_t bytes;
  uint32_t ways;
  uint32_t persist_ways;  // That pinned ranges may have at most.
} gpu_l2_size_t;

typedef struct gpu_fault {
  uint32_t kind;
  uint32_t slot;
  uint32_t cu;
  uint32_t wavefront;
  uint64_t address;
  uint64_t pc;
  uint64_t work_group;
} gpu_fault_t;

FW_MUST_CHECK fw_result_t gpu_init(gpu_t* gpu);
FW_MUST_CHECK fw_result_t gpu_limits(const gpu_t* gpu, unit_limits_t* limits);
// Program before the slot is launched. STRETTO_ERROR_ARGUMENT: a field out of range.
FW_MUST_CHECK fw_result_t gpu_set_context(const gpu_t* gpu, uint32_t slot,
                                          const gpu_context_t* context);
// Where work-groups of the slot's kernel are saved when a preemption drains it; 0 bytes: nowhere, and
// what has begun runs to its end.
void gpu_set_save_area(const gpu_t* gpu, uint32_t slot, uint64_t base, uint64_t bytes);
// The next launch of the slot goes on with the kernel: its first `replayed` work-groups were placed
// before.
void gpu_set_resume(const gpu_t* gpu, uint32_t slot, uint32_t replayed);
// Events of ids 0 .. ids - 1 count for gate id / per_gate (T3-AGC-02); ids 0: no events are
// expected. STRETTO_ERROR_ARGUMENT: more gates than there are, or a field out of range.
FW_MUST_CHECK fw_result_t gpu_set_event_map(const gpu_t* gpu, uint32_t per_gate, uint32_t ids);
// Release at system scope: starts writing back all that is dirty in the L2. One at a time; its end
// raises STRETTO_IRQ_L2, which gpu_l2_take_done acknowledges (false: nothing has ended).
void gpu_l2_write_back(const gpu_t* gpu);
bool gpu_l2_take_done(const gpu_t* gpu);
// Acquire at system scope: the L2 forgets, at once, all that is clean.
void gpu_l2_invalidate(const gpu_t* gpu);
// What pinned ranges have of the L2: `ways` of each set. Range `index` is [base, base + bytes), 0
// bytes: none.
gpu_l2_size_t gpu_l2_size(const gpu_t* gpu);
void gpu_l2_set_persist_ways(const gpu_t* gpu, uint32_t ways);
void gpu_l2_pin(const gpu_t* gpu, uint32_t index, uint64_t base, uint64_t bytes);
uint64_t gpu_l2_pin_base(const gpu_t* gpu, uint32_t index);
uint64_t gpu_l2_pin_bytes(const gpu_t* gpu, uint32_t index);
// Reads and acknowledges the fault report. Returns whether there was one.
bool gpu_take_fault(const gpu_t* gpu, gpu_fault_t* fault);
const char* gpu_fault_name(uint32_t kind);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_HAL_GPU_H_
