// SPDX-License-Identifier: Apache-2.0
// Time slices: contexts that share a GPU have it in turn, whatever their priority (TL-BASE-01). At the end
// of a slice the kernels of the context are suspended, with what is on the units; they go on in their next
// one. Runs on hart 0, whenever a doorbell, a completion or the alarm has woken it.
#ifndef STRETTO_SW_FIRMWARE_SERVICES_SLICE_SERVICE_H_
#define STRETTO_SW_FIRMWARE_SERVICES_SLICE_SERVICE_H_

#include "sw/firmware/services/shared.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slice_context {
  uint32_t queues;  // One bit each.
  uint64_t save_base, save_bytes;
} slice_context_t;

typedef struct slices {
  slice_context_t context[STRETTO_CONTEXTS];
  uint32_t contexts;  // 0: nothing is sliced.
  uint32_t current;   // Whose slice it is,
  uint64_t end;       // until then;
  bool leaves;        // it is being suspended.
  uint64_t slice_ns;
} slices_t;

// Nothing is sliced. The rest of `slices` may hold anything.
static inline void slice_service_init(slices_t* slices) { slices->contexts = 0; }
static inline bool slice_service_is_on(const slices_t* slices) { return slices->contexts != 0; }
// STRETTO_ERROR_ARGUMENT: queues that are not there or of another context, slice_ns below 1000, more
// contexts than STRETTO_CONTEXTS; STRETTO_ERROR_UNMAPPED: a save area outside this GPU's memory or not
// aligned; STRETTO_ERROR_STATE: its queues are stopped by somebody else; STRETTO_ERROR_TABLE_FULL: a
// context is being suspended.
FW_MUST_CHECK fw_result_t slice_service_configure(slices_t* slices, shared_t* shared,
                                                  const stretto_time_slice_t* config);
// `rung`: queues with packets that were not taken. Returns when to look again without news, or CLINT_NEVER.
uint64_t slice_service_run(slices_t* slices, shared_t* shared, uint32_t rung);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_SERVICES_SLICE_SERVICE_H_
