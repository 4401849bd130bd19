// SPDX-License-Identifier: Apache-2.0
// Host program of one GPU that runs a list of kernels, for kinds that measure a GPU. What kernels
// note stays in device memory, in the range KERNEL_LIST_WORDS of the plan.
#ifndef STRETTO_SW_APPS_KERNEL_LIST_H_
#define STRETTO_SW_APPS_KERNEL_LIST_H_

#include "sw/apps/memory_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

// Accounts of the jobs.
enum {
  L2_PROBE_ACCOUNT_STREAM = STRETTO_ACCOUNT_JOB,
  L2_PROBE_ACCOUNT_CHASE,
};
enum {
  LAUNCH_PROBE_ACCOUNT_MOVE = STRETTO_ACCOUNT_JOB,
  LAUNCH_PROBE_ACCOUNT_DIRTY,
};
enum {
  ROOFLINE_ACCOUNT_OPERATOR = STRETTO_ACCOUNT_JOB,
};

#define KERNEL_LIST_WORDS 1u                 // The first range that it allocates; zero at first.
#define KERNEL_LIST_MODULE_BYTES (8u << 20)  // Behind all ranges: where kernels are loaded.

typedef struct kernel_list_entry {
  const char* kernel;
  const void* arguments;
  uint32_t argument_bytes;
  uint32_t work_groups;
  uint32_t account;
  int device_scope;  // The next one reads what it wrote.
  int queued;        // The next one is launched at once, and starts when this one has ended.
} kernel_list_entry_t;

typedef struct kernel_list_parameters {
  stretto_client_options_t client;
  memory_plan_t memory;
  const kernel_list_entry_t* entries;
  uint32_t count;
  const void* elf;
  size_t elf_bytes;
} kernel_list_parameters_t;

// `error` has 256 bytes.
stretto_status_t kernel_list_run(const kernel_list_parameters_t* parameters,
                                 const stretto_host_ops_t* ops, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_KERNEL_LIST_H_
