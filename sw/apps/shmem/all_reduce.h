// SPDX-License-Identifier: Apache-2.0
// Host program of a server that takes part in an all-reduce: the ring of Baidu's baidu-allreduce
// (CN-AR-01). In each hop it sends a block and receives one, and adds what came: arrays in GPU memory
// by a kernel that it launches, arrays in host memory itself.
#ifndef STRETTO_SW_APPS_SHMEM_ALL_REDUCE_H_
#define STRETTO_SW_APPS_SHMEM_ALL_REDUCE_H_

#include "sw/apps/shmem/host_compute.h"
#include "sw/apps/shmem/server_program.h"
#include "sw/apps/shmem/shmem_list.h"
#include "sw/kernels/all_reduce.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct all_reduce_parameters {
  server_parameters_t server;  // Its heap has data and scratch; kernel all_reduce_add.
  all_reduce_arguments_t
      arguments;  // Of the whole array; `scratch` has a block for each hop that adds.
  const host_compute_t* compute;  // Arrays in host memory: what adding costs; null: in GPU memory.
} all_reduce_parameters_t;

typedef struct all_reduce_result {
  shmem_span_t span;
  uint64_t sent_bytes, received_bytes;
} all_reduce_result_t;

// As server_program_run() does.
stretto_status_t all_reduce_run(const all_reduce_parameters_t* parameters,
                                const stretto_host_ops_t* ops, all_reduce_result_t* result,
                                char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_SHMEM_ALL_REDUCE_H_
