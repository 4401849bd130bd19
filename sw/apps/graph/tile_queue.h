// SPDX-License-Identifier: Apache-2.0
// Host program of one GPU that sets a share of the L2 aside, pins queues into it and launches the
// kernel that measures them (sw/kernels/tile_queue.h), once a line. Results stay in device memory.
#ifndef STRETTO_SW_APPS_GRAPH_TILE_QUEUE_H_
#define STRETTO_SW_APPS_GRAPH_TILE_QUEUE_H_

#include "sw/apps/memory_plan.h"
#include "sw/kernels/tile_queue.h"

#ifdef __cplusplus
extern "C" {
#endif

// Account of the job.
enum { TILE_QUEUE_ACCOUNT = STRETTO_ACCOUNT_JOB };

// Ranges of the plan: words, zero at first; differences, all bits set at first.
#define TILE_QUEUE_WORDS 1u
#define TILE_QUEUE_DIFFERENCES 2u
#define TILE_QUEUE_MODULE_BYTES (8u << 20)  // Behind all ranges: where kernels are loaded.

typedef struct tile_queue_line {
  stretto_tile_queue_arguments_t arguments;
  uint32_t pairs;
  int is_free;              // By tile_queue_pairs_free.
  uint64_t payloads_bytes;  // Of all its queues: what is pinned, and the words.
  uint64_t words_bytes;
} tile_queue_line_t;

typedef struct tile_queue_parameters {
  stretto_client_options_t client;
  memory_plan_t memory;
  const tile_queue_line_t* lines;
  uint32_t count;
  uint64_t limit;  // Of the L2, for what is pinned.
  const void* elf;
  size_t elf_bytes;
} tile_queue_parameters_t;

// `error` has 256 bytes.
stretto_status_t tile_queue_run(const tile_queue_parameters_t* parameters,
                                const stretto_host_ops_t* ops, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_GRAPH_TILE_QUEUE_H_
