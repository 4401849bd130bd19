// SPDX-License-Identifier: Apache-2.0
// See ranks.h.
#include "sw/apps/ranks.h"

#include <stdio.h>

uint32_t job_gpu(const host_job_t* job, uint32_t rank) {
  return job->gpus == NULL ? rank : job->gpus[rank];
}

uint64_t job_host_memory(const host_job_t* job) {
  return ((uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT) + STRETTO_HOST_JOB_OFFSET(job->number);
}

uint64_t ranks_word(const ranks_t* r, uint32_t rank) {
  return ((uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT) +
         STRETTO_HOST_WORD_OFFSET((uint64_t)job_gpu(&r->job, rank),
                                  STRETTO_HOST_JOB_WORDS * r->job.number);
}

stretto_status_t ranks_meet(ranks_t* r, int ready) {
  ++r->met;
  r->ops->store(r->ops->context, ranks_word(r, r->rank), ready ? r->met : RANKS_FAILED);
  if (r->host_ranks == 1) return STRETTO_OK;
  stretto_status_t status = STRETTO_OK;
  for (uint32_t rank = 0; rank < r->ranks; ++rank) {
    if (rank == r->rank) continue;
    if (r->ops->wait(r->ops->context, ranks_word(r, rank), STRETTO_WAIT_AT_LEAST, r->met) ==
        RANKS_FAILED)
      status = STRETTO_ERROR_STATE;
  }
  return status;
}

void ranks_barrier(ranks_t* r) {
  const uint64_t number = ++r->met;
  r->ops->store(r->ops->context, ranks_word(r, r->rank) + 8, number);
  for (uint32_t rank = 0; rank < r->ranks; ++rank)
    r->ops->wait(r->ops->context, ranks_word(r, rank) + 8, STRETTO_WAIT_AT_LEAST, number);
}

uint64_t ranks_at(const ranks_t* r, uint64_t address, uint32_t rank) {
  return address - stretto_gpu_address(job_gpu(&r->job, r->rank), 0) +
         stretto_gpu_address(job_gpu(&r->job, rank), 0);
}

stretto_status_t ranks_client(ranks_t* r, stretto_status_t planned,
                              const stretto_client_options_t* options, stretto_client_t** client,
                              char* error) {
  *client = planned == STRETTO_OK ? stretto_client_create(options, r->ops) : NULL;
  if (*client != NULL) return STRETTO_OK;
  if (planned == STRETTO_OK) planned = STRETTO_ERROR_ARGUMENT;
  ranks_meet(r, 0);
  snprintf(error, 256, "rank %u: set-up: %s", r->rank, stretto_status_text(planned));
  return planned;
}

stretto_status_t ranks_end(const ranks_t* r, stretto_status_t status, stretto_client_t* client,
                           char* error) {
  const char* why = client->api->last_error(client);
  if (status != STRETTO_OK)
    snprintf(error, 256, "rank %u: %s", r->rank,
             why[0] != '\0' ? why : "another rank failed in its set-up");
  stretto_client_destroy(client);
  return status;
}
