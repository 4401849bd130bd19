// SPDX-License-Identifier: Apache-2.0
// Host program of one GPU that runs kernels which measure its L2 (sw/kernels/l2_probe.h), one after
// the other. Their results stay in device memory, in the range L2_PROBE_WORDS of the plan.
#ifndef STRETTO_SW_APPS_L2_PROBE_H_
#define STRETTO_SW_APPS_L2_PROBE_H_

#include "sw/apps/memory_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

// Accounts of the job.
enum {
  L2_PROBE_ACCOUNT_STREAM = STRETTO_ACCOUNT_JOB,
  L2_PROBE_ACCOUNT_CHASE,
};

#define L2_PROBE_WORDS 1u                 // The first range that it allocates; zero at first.
#define L2_PROBE_MODULE_BYTES (8u << 20)  // Behind all ranges: where kernels are loaded.

typedef struct l2_probe_launch {
  const char* kernel;
  const void* arguments;
  uint32_t argument_bytes;
  uint32_t work_groups;
  uint32_t account;
} l2_probe_launch_t;

typedef struct l2_probe_parameters {
  stretto_client_options_t client;
  memory_plan_t memory;
  const l2_probe_launch_t* launches;
  uint32_t count;
  const void* elf;
  size_t elf_bytes;
} l2_probe_parameters_t;

// `error` has 256 bytes.
stretto_status_t l2_probe_run(const l2_probe_parameters_t* parameters,
                              const stretto_host_ops_t* ops, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_L2_PROBE_H_
