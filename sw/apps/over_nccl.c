// SPDX-License-Identifier: Apache-2.0
// See over_nccl.h.
#include "sw/apps/over_nccl.h"

#include <stdio.h>

static stretto_status_t check_place(const host_job_t* job, uint32_t rank, uint64_t expected,
                                    void* const* memory, char* error) {
  if ((uint64_t)(uintptr_t)*memory == stretto_gpu_address(job_gpu(job, rank), expected))
    return STRETTO_OK;
  snprintf(error, 256, "rank %u: the driver placed the buffers elsewhere", rank);
  return STRETTO_ERROR_STATE;
}

stretto_status_t app_memory(const host_job_t* job, uint32_t rank, uint64_t bytes, uint64_t expected,
                            void** memory, char* error) {
  TRY(stretto_runtime_cuda_outcome(cudaSetDevice((int)rank), "cudaSetDevice", error));
  TRY(stretto_runtime_cuda_outcome(cudaMalloc(memory, bytes), "cudaMalloc", error));
  return check_place(job, rank, expected, memory, error);
}

stretto_status_t app_cached_memory(const host_job_t* job, uint32_t rank, uint64_t bytes,
                                   uint64_t expected, void** memory, char* error) {
  TRY(stretto_runtime_cuda_outcome(cudaSetDevice((int)rank), "cudaSetDevice", error));
  TRY(stretto_runtime_cuda_outcome(stretto_runtime_malloc_cached(memory, bytes),
                                   "stretto_runtime_malloc_cached", error));
  return check_place(job, rank, expected, memory, error);
}

stretto_status_t app_communicator(ranks_t* ranks, ncclUniqueId* id, ncclComm_t* comm, char* error) {
  if (ranks->rank == 0) TRY_COMM(ncclGetUniqueId(id));
  ranks_barrier(ranks);
  return stretto_runtime_outcome(ncclCommInitRank(comm, (int)ranks->ranks, *id, (int)ranks->rank),
                                 error);
}

stretto_status_t app_driver(const stretto_client_t* client, uint32_t rank, stretto_status_t status,
                            char* error) {
  if (status != STRETTO_OK)
    snprintf(error, 256, "rank %u: %s", rank, client->api->last_error(client));
  return status;
}
