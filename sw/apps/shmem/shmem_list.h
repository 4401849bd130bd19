// SPDX-License-Identifier: Apache-2.0
// Host program of a server whose kernels communicate by shmem.h: opens symmetric memory, launches a
// list of kernels in step with all other servers, and closes. It moves no data itself; what kernels
// note stays in device memory.
#ifndef STRETTO_SW_APPS_SHMEM_SHMEM_LIST_H_
#define STRETTO_SW_APPS_SHMEM_SHMEM_LIST_H_

#include "sw/apps/memory_plan.h"
#include "sw/net/symmetric.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SHMEM_LIST_MODULE_BYTES (8u << 20)  // Behind all ranges: where kernels are loaded.
#define SHMEM_LIST_ARGUMENT_BYTES 512u      // Of a kernel, at most.
#define SHMEM_LIST_QUIET_NS 20000u  // Behind a barrier, until the links carry nothing of it.

typedef struct shmem_launch {
  const char* kernel;
  const void* arguments;  // They begin with a stretto_shmem_handle_t, which is put there.
  uint32_t argument_bytes;
  uint32_t work_groups;  // 0: this server launches nothing.
} shmem_launch_t;

// Of a launch, by the host's clock: all servers are there, and its end is known.
typedef struct shmem_span {
  uint64_t begin_ns, end_ns;
} shmem_span_t;

typedef struct shmem_list_parameters {
  stretto_client_options_t client;
  memory_plan_t memory;
  stretto_symmetric_options_t symmetric;  // But for ops, client and stream; in ranges of the plan.
  const void* elf;
  size_t elf_bytes;
  const shmem_launch_t* launches;  // As many at all servers.
  uint32_t count;
  shmem_span_t* spans;  // `count`, written; null: nobody asks.
} shmem_list_parameters_t;

// `error` has 256 bytes.
stretto_status_t shmem_list_run(const shmem_list_parameters_t* parameters,
                                const stretto_host_ops_t* ops, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_SHMEM_SHMEM_LIST_H_
