// SPDX-License-Identifier: Apache-2.0
// What host programs over nccl.h share. Their functions return the status of the first call that
// failed and leave one line in `error` (256 bytes).
#ifndef STRETTO_SW_APPS_OVER_NCCL_H_
#define STRETTO_SW_APPS_OVER_NCCL_H_

#include "sw/apps/ranks.h"
#include "sw/collectives/runtime.h"

#define TRY_CALL(call) TRY(stretto_runtime_cuda_outcome(call, #call, error))
#define TRY_COMM(call) TRY(stretto_runtime_outcome(call, error))

// cudaSetDevice(rank) and `bytes` of device memory, which must lie at offset `expected` of its GPU.
stretto_status_t app_memory(const host_job_t* job, uint32_t rank, uint64_t bytes, uint64_t expected,
                            void** memory, char* error);
// Likewise, but cached whatever the engine: nothing that a collective moves.
stretto_status_t app_cached_memory(const host_job_t* job, uint32_t rank, uint64_t bytes,
                                   uint64_t expected, void** memory, char* error);
// A communicator of all ranks: rank 0 fills in `id`, which they share.
stretto_status_t app_communicator(ranks_t* ranks, ncclUniqueId* id, ncclComm_t* comm, char* error);
// Status of a call of the driver's table.
stretto_status_t app_driver(const stretto_client_t* client, uint32_t rank, stretto_status_t status,
                            char* error);

#endif  // STRETTO_SW_APPS_OVER_NCCL_H_
