// SPDX-License-Identifier: Apache-2.0
// Host program of one rank: a kernel that loads one resource and an all-gather beside it
// (GPU-driven code execution, II-C). First both, to warm up, and the kernel in two lengths. Then for
// each line three turns: the all-gather alone, the kernel alone for a share of that time, both. All
// ranks begin a turn together.
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
  INTERFERENCE_GATHER,
  INTERFERENCE_KERNEL,
  INTERFERENCE_BOTH,
  INTERFERENCE_TURNS,
} interference_turn_t;

#define INTERFERENCE_MAX_LINES 32u
// Clocks of the begin and the end of each work-group.
#define INTERFERENCE_CLOCKS_BYTES(work_groups) (16ull * (work_groups))
#define INTERFERENCE_FIRST_KERNELS 3u  // Before those of lines.
// The number of the kernel of a turn.
#define INTERFERENCE_KERNEL_OF(line, turn) \
  (INTERFERENCE_FIRST_KERNELS + 2 * (line) + ((turn) == INTERFERENCE_BOTH))

typedef struct interference_line {
  uint64_t block_bytes;  // Of a rank.
  uint32_t percent;      // Length of the kernel alone, of the all-gather's alone.
} interference_line_t;

typedef struct interference_result interference_result_t;

typedef struct interference_parameters {
  uint32_t rank;
  uint32_t ranks;
  host_job_t job;
  uint64_t source;       // Offset in each GPU: the rank's block; the gathered array lies behind it.
  uint64_t block_bytes;  // Of a rank, the most of all lines.
  const interference_line_t* line;
  uint32_t lines;
  const char* kernel;  // Of load.elf.
  uint32_t work_groups;
  uint32_t rounds;      // Of a short run of the kernel, to find out what a round takes.
  uint32_t load_bytes;  // What the kernel reads.
  const void* load_elf;
  size_t load_elf_bytes;
  const interference_result_t* first;  // Of rank 0: all take the lengths that it finds.
} interference_parameters_t;

struct interference_result {
  uint64_t loaded;  // Offset of what the kernel reads; behind it the clocks of each kernel.
  uint32_t rounds[INTERFERENCE_MAX_LINES];
  // It begins when it is asked for: the kernel's launch is no loss of the all-gather.
  uint64_t gather_begin_ns[INTERFERENCE_MAX_LINES][INTERFERENCE_TURNS];
  uint64_t gather_end_ns[INTERFERENCE_MAX_LINES][INTERFERENCE_TURNS];
};

// The rank's thread, with a runtime of its own; `id` is that of all ranks. `error` has 256 bytes.
stretto_status_t interference_rank(const interference_parameters_t* parameters,
                                   const stretto_host_ops_t* ops, ncclUniqueId* id,
                                   interference_result_t* result, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_INTERFERENCE_H_
