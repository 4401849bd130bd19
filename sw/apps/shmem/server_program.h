// SPDX-License-Identifier: Apache-2.0
// What host programs of servers share that launch a kernel and talk to the other servers themselves.
#ifndef STRETTO_SW_APPS_SHMEM_SERVER_PROGRAM_H_
#define STRETTO_SW_APPS_SHMEM_SERVER_PROGRAM_H_

#include "sw/apps/memory_plan.h"
#include "sw/net/cluster.h"

#ifdef __cplusplus
extern "C" {
#endif

// What of a server's program does not change while it runs.
typedef struct server_parameters {
  stretto_client_options_t client;
  memory_plan_t memory;
  stretto_cluster_options_t cluster;  // But for `ops`.
  const void* elf;
  size_t elf_bytes;
  const char* kernel;    // Its name in the ELF; null: nothing runs at the GPU.
  uint32_t work_groups;  // Of a launch.
} server_parameters_t;

typedef struct server_program {
  const server_parameters_t* p;
  const stretto_host_ops_t* ops;
  stretto_client_t* client;
  stretto_stream_t* stream;
  stretto_kernel_t kernel;
  stretto_cluster_t cluster;
} server_program_t;

// Loads the kernel, joins the other servers and calls `body`. `error` has 256 bytes.
// STRETTO_ERROR_STATE: an operation has failed, or a server does not answer.
stretto_status_t server_program_run(server_program_t* server, const server_parameters_t* parameters,
                                    const stretto_host_ops_t* ops,
                                    stretto_status_t (*body)(void* of_body), void* of_body,
                                    char* error);

// Behind all launches before it.
stretto_status_t server_program_launch(server_program_t* server, const void* arguments,
                                       size_t argument_bytes);

static inline stretto_status_t of_cluster(stretto_nic_result_t result) {
  return result == STRETTO_NIC_RESULT_OK ? STRETTO_OK : STRETTO_ERROR_STATE;
}

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_SHMEM_SERVER_PROGRAM_H_
