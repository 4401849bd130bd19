// SPDX-License-Identifier: Apache-2.0
// Host program of one rank: a kernel that loads one resource and an all-gather beside it
// (GPU-driven code execution, II-C), in four turns: both to warm up, the kernel alone, the
// all-gather alone, both. All ranks begin a turn together.
#ifndef STRETTO_SW_APPS_INTERFERENCE_H_
#define STRETTO_SW_APPS_INTERFERENCE_H_

#include "sw/apps/ranks.h"
#include "sw/include/nccl.h"

#ifdef __cplusplus
extern "C" {
#endif

// Accounts of the job.
enum {
  INTERFERENCE_ACCOUNT_INIT = STRETTO_ACCOUNT_JOB,
  INTERFERENCE_ACCOUNT_LOAD,
  INTERFERENCE_ACCOUNT_GATHER,
};

typedef enum interference_turn {
  INTERFERENCE_WARM_UP,
  INTERFERENCE_KERNEL,
  INTERFERENCE_GATHER,
  INTERFERENCE_BOTH,
  INTERFERENCE_TURNS,
} interference_turn_t;

typedef struct interference_parameters {
  uint32_t rank;
  uint32_t ranks;
  host_job_t job;
  uint64_t source;       // Offset in each GPU: the rank's block; the gathered array lies behind it.
  uint64_t block_bytes;  // Of a rank.
  const char* kernel;    // Of load.elf.
  uint32_t work_groups;
  uint32_t rounds;
  uint32_t load_bytes;  // What the kernel reads.
  const void* load_elf;
  size_t load_elf_bytes;
} interference_parameters_t;

typedef struct interference_result {
  uint64_t loaded;  // Offset of what the kernel reads.
  uint64_t begin_ns[INTERFERENCE_TURNS];
  uint64_t gather_end_ns[INTERFERENCE_TURNS];
  uint64_t kernel_end_ns[INTERFERENCE_TURNS];  // By interference_watch().
} interference_result_t;

// The rank's thread, with a runtime of its own; `id` is that of all ranks. `error` has 256 bytes.
stretto_status_t interference_rank(const interference_parameters_t* parameters,
                                   const stretto_host_ops_t* ops, ncclUniqueId* id,
                                   interference_result_t* result, char* error);
// The end of the kernel, whichever ends first: a thread of its own looks for it.
void interference_watch(const interference_parameters_t* parameters, const stretto_host_ops_t* ops,
                        interference_result_t* result);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_INTERFERENCE_H_
