// SPDX-License-Identifier: Apache-2.0
// Fills: see fill_service.h.
#include "sw/firmware/fill_service.h"

#include <stddef.h>

#include "sw/firmware/memory_range.h"
#include "sw/include/formats/machine_types.h"

fw_result_t fill_service_start(shared_t* shared, const stretto_fill_t* fill, job_t job) {
  if (shared == NULL || fill == NULL) return STRETTO_ERROR_ARGUMENT;
  if (!in_gpu_memory(fill->address, fill->bytes, shared->gpu_id)) return STRETTO_ERROR_UNMAPPED;
  if (shared->fills_started - shared->fills_ended == DMA_QUEUE_DESCRIPTORS)
    return STRETTO_ERROR_TABLE_FULL;
  fill_job_t* entry = &shared->fills[shared->fills_started % DMA_QUEUE_DESCRIPTORS];
  entry->job = job;
  const fw_result_t result = dma_fill(&shared->dma, fill->address, fill->bytes, fill->pattern,
                                      STRETTO_TRAFFIC_INIT, &entry->id);
  if (result != STRETTO_OK) return result;
  ++shared->started[job.queue];
  // From here on hart 1 may complete it.
  fence_release();
  shared->fills_started = shared->fills_started + 1;
  return STRETTO_OK;
}
