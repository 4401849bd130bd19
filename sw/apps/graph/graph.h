// SPDX-License-Identifier: Apache-2.0
// Host program of one rank that runs an operator graph (sw/compiler) many times.
//
//   mode       operators                                  gradients
//   loop       one launch of the loop kernel              its own work-groups, by send requests to the ring
//   loop-s     likewise                                   likewise, to a CPU thread (send_engine.h)
//   launched   kernels of the library, in a stream        ncclAllReduce on another stream, as soon as a bucket is full
//   launched-after  likewise                              likewise, when back-propagation has ended
//   launched-gdma   likewise                              as launched, but moved by the DMA engine, through the ring
//   kitsune    likewise, but groups as spatial pipelines  as launched
//   vertical   likewise, but groups as one kernel each    as launched
//
// A bucket is used by an operator when it is reduced.
#ifndef STRETTO_SW_APPS_GRAPH_GRAPH_H_
#define STRETTO_SW_APPS_GRAPH_GRAPH_H_

#include "sw/apps/graph/graph_operators.h"
#include "sw/apps/graph/graph_stages.h"
#include "sw/apps/memory_plan.h"
#include "sw/apps/ranks.h"
#include "sw/apps/send_engine.h"
#include "sw/include/nccl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum graph_mode {
  GRAPH_LOOP,
  GRAPH_LOOP_S,
  GRAPH_LAUNCHED,
  GRAPH_LAUNCHED_AFTER,
  GRAPH_KITSUNE,
  GRAPH_VERTICAL,
  GRAPH_LAUNCHED_GDMA,
  GRAPH_MODES
} graph_mode_t;

// Accounts (machine_types.h). A loop kernel is on the account of operators with all that it does.
enum {
  GRAPH_ACCOUNT_INIT = STRETTO_ACCOUNT_JOB,  // Zeroing.
  GRAPH_ACCOUNT_COMPUTE,                     // Operators.
  GRAPH_ACCOUNT_COMM,                        // Reduction of gradients.
};

// Gradients that are reduced together.
typedef struct graph_bucket {
  uint64_t offset;
  uint64_t bytes;
  uint32_t last_op;    // That makes one of them.
  uint32_t first_use;  // The first operator that waits for them.
} graph_bucket_t;

typedef struct graph_parameters {
  graph_mode_t mode;
  uint32_t rank;
  uint32_t ranks;
  uint32_t iterations;
  int baseline;          // launched: the first iteration reduces as launched-after does.
  uint32_t compute;      // Work-groups that compute.
  uint32_t comm_groups;  // ... that reduce gradients; 0 with one rank.
  uint32_t by_rows;      // See loop_arguments_t.
  uint32_t ops;
  uint32_t buckets;
  uint64_t arena_bytes;
  uint64_t gradient_bytes;
  uint32_t clock_mhz;
  send_mover_t mover;  // loop-s.
  host_job_t job;
  stretto_client_options_t client;
  const void* elf;  // Not launched: the loop kernel's.
  size_t elf_bytes;
  // launched: tensors, gradients, partial sums, flags lie at the begin of the runtime's memory; `client` is that of the
  // operators alone.
  uint64_t launched_arena;
  uint64_t partial_bytes;
  uint64_t flag_bytes;  // Behind them, see graph_memory_t.
  const graph_operator_t* operators;
  ops_machine_t machine;
  const graph_bucket_t* bucket;  // In the order of reduction.
  uint64_t stream_wait_poll_ns;
  const void* library[GRAPH_LIBRARIES];  // ELFs; null: not launched.
  size_t library_bytes[GRAPH_LIBRARIES];
  // kitsune: in the order of their operators.
  const graph_group_t* group;
  uint32_t groups;
  graph_queues_t queues;
  // vertical: likewise.
  const graph_fused_t* fused;
  uint32_t fused_count;
  const void* stages_elf;
  size_t stages_elf_bytes;
  const void* stamp_elf;  // send.elf.
  size_t stamp_elf_bytes;
} graph_parameters_t;

#define GRAPH_MODULE_BYTES (8u << 20)  // Behind the arrays: where kernels are loaded.

// Where everything lies, as addresses of the rank; 0 = not used.
typedef struct graph_plan {
  uint64_t arena;
  uint64_t gradients;
  uint64_t receive;
  uint64_t words;
  uint64_t words_bytes;
  memory_plan_t memory;
} graph_plan_t;

// launched: ends of operators and iterations are for who watches kernels.
typedef struct graph_result {
  uint64_t begin_ns;                        // Launch, by the host's clock.
  uint64_t end_ns[LOOP_MAX_ITERATIONS];     // End of each iteration.
  uint64_t alone_ns[LOOP_MAX_OPS];          // launched: of the first one, ends of operators.
  uint64_t op_ns[LOOP_MAX_OPS];             // Of the last one: end of each operator,
  uint64_t bucket_ns[LOOP_MAX_BUCKETS][2];  // begin and end of each bucket's reduction.
  uint64_t stage_words;  // kitsune: address of the words and clocks of all stages.
} graph_result_t;

// What the threads of a run share.
typedef struct graph_shared {
  send_engine_setup_t engine[STRETTO_MAX_GPUS];
  stretto_ring_export_t exported[STRETTO_MAX_GPUS][2];  // Gradients, receive array.
} graph_shared_t;

const char* graph_mode_name(graph_mode_t mode);
stretto_status_t graph_plan(const graph_parameters_t* parameters, graph_plan_t* plan);

ranks_t graph_ranks(const graph_parameters_t* parameters, const stretto_host_ops_t* ops);

// Threads: one a rank and, for loop-s, one a rank more. `error` has 256 bytes.
stretto_status_t graph_rank(const graph_parameters_t* parameters, graph_shared_t* shared,
                            const stretto_host_ops_t* ops, graph_result_t* result, char* error);
stretto_status_t graph_engine(const graph_parameters_t* parameters, graph_shared_t* shared,
                              const stretto_host_ops_t* ops, send_engine_counts_t* counts,
                              char* error);
// The rank's thread if launched, with a runtime of its own; `id` is that of all ranks.
stretto_status_t graph_launched_rank(const graph_parameters_t* parameters,
                                     const stretto_host_ops_t* ops, ncclUniqueId* id,
                                     graph_result_t* result, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_GRAPH_GRAPH_H_
