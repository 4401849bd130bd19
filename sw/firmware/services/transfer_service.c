// SPDX-License-Identifier: Apache-2.0
// Fills and copies: see transfer_service.h.
#include "sw/firmware/services/transfer_service.h"

#include <stddef.h>

#include "sw/firmware/services/memory_range.h"
#include "sw/include/formats/machine_types.h"

// The entry that the next descriptor will have, or null if there is no room now.
static transfer_job_t* next_entry(shared_t* shared, job_t job) {
  if (shared->transfers_started - shared->transfers_ended == DMA_QUEUE_DESCRIPTORS) return NULL;
  transfer_job_t* entry = &shared->transfers[shared->transfers_started % DMA_QUEUE_DESCRIPTORS];
  entry->job = job;
  return entry;
}

static fw_result_t publish(shared_t* shared, job_t job, fw_result_t result) {
  if (result != STRETTO_OK) return result;
  ++shared->started[job.queue];
  // From here on hart 1 may complete it.
  fence_release();
  shared->transfers_started = shared->transfers_started + 1;
  return STRETTO_OK;
}

fw_result_t transfer_service_fill(shared_t* shared, const stretto_fill_t* fill, job_t job) {
  if (shared == NULL || fill == NULL) return STRETTO_ERROR_ARGUMENT;
  if (!in_gpu_memory(fill->address, fill->bytes, shared->gpu_id)) return STRETTO_ERROR_UNMAPPED;
  transfer_job_t* entry = next_entry(shared, job);
  if (entry == NULL) return STRETTO_ERROR_TABLE_FULL;
  return publish(
      shared, job,
      dma_fill(&shared->dma, fill->address, fill->bytes, fill->pattern, fill->account, &entry->id));
}

fw_result_t transfer_service_copy(shared_t* shared, const stretto_copy_t* copy, job_t job) {
  if (shared == NULL || copy == NULL || copy->bytes == 0) return STRETTO_ERROR_ARGUMENT;
  const bool to_host = in_host_memory(copy->destination, copy->bytes);
  if (!in_gpu_memory(copy->source, copy->bytes, shared->gpu_id)) return STRETTO_ERROR_UNMAPPED;
  if (!to_host && !in_gpu_memory(copy->destination, copy->bytes, shared->gpu_id) &&
      !in_peer_memory(copy->destination, copy->bytes, shared->gpu_id)) {
    return STRETTO_ERROR_UNMAPPED;
  }
  transfer_job_t* entry = next_entry(shared, job);
  if (entry == NULL) return STRETTO_ERROR_TABLE_FULL;
  return publish(shared, job,
                 dma_copy(&shared->dma, copy->destination, copy->source, copy->bytes, copy->account,
                          &entry->id));
}
