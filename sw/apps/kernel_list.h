// SPDX-License-Identifier: Apache-2.0
// Host program of a GPU that runs a list of kernels and copies, for kinds that measure a GPU. What
// kernels note stays in device memory, in the range KERNEL_LIST_WORDS of the plan. Several ranks go
// through their lists in step.
#ifndef STRETTO_SW_APPS_KERNEL_LIST_H_
#define STRETTO_SW_APPS_KERNEL_LIST_H_

#include "sw/apps/memory_plan.h"
#include "sw/apps/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

// Accounts of the jobs.
enum {
  L2_PROBE_ACCOUNT_STREAM = STRETTO_ACCOUNT_JOB,
  L2_PROBE_ACCOUNT_CHASE,
  L2_PROBE_ACCOUNT_ATOMICS,
};
enum {
  LAUNCH_PROBE_ACCOUNT_MOVE = STRETTO_ACCOUNT_JOB,
  LAUNCH_PROBE_ACCOUNT_DIRTY,
};
enum {
  ROOFLINE_ACCOUNT_OPERATOR = STRETTO_ACCOUNT_JOB,
  ROOFLINE_ACCOUNT_WARM_UP,
};
enum {
  STREAM_PROBE_ACCOUNT_WARM_UP = STRETTO_ACCOUNT_JOB,
  STREAM_PROBE_ACCOUNT_STREAM,
};

#define KERNEL_LIST_WORDS 1u                 // The first range that it allocates; zero at first.
#define KERNEL_LIST_MODULE_BYTES (8u << 20)  // Behind all ranges: where kernels are loaded.

typedef struct kernel_list_copy {
  uint64_t to, from, bytes;
} kernel_list_copy_t;

typedef struct kernel_list_entry {
  const char* kernel;  // Null: the DMA engine copies; `arguments` is a kernel_list_copy_t.
  const void* arguments;
  uint32_t argument_bytes;
  uint32_t work_groups;
  uint32_t account;
  int device_scope;  // The next one reads what it wrote.
  int queued;        // The next one is launched at once, and starts when this one has ended.
  int cold;          // The L2 forgets what it has read before.
} kernel_list_entry_t;

typedef struct kernel_list_parameters {
  stretto_client_options_t client;
  memory_plan_t memory;
  const kernel_list_entry_t* entries;
  uint32_t count;
  const void* elf;
  size_t elf_bytes;
  host_job_t job;
  uint32_t rank;
  uint32_t ranks;      // 0: this one alone.
  uint64_t peer_base;  // Of another GPU, `peer_bytes` from there: kernels may store to it.
  uint64_t peer_bytes;
} kernel_list_parameters_t;

typedef struct kernel_list_span {
  uint64_t begin_ns, end_ns;  // On the host; 0 = has not come.
} kernel_list_span_t;

// `spans`: of each entry that is not queued, with those that are queued before it; may be null.
// `error` has 256 bytes.
stretto_status_t kernel_list_run(const kernel_list_parameters_t* parameters,
                                 const stretto_host_ops_t* ops, kernel_list_span_t* spans,
                                 char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_KERNEL_LIST_H_
