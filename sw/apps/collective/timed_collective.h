// SPDX-License-Identifier: Apache-2.0
// Host program of one thread of nccl-tests: a collective over a list of turns, each some calls to warm
// up and some that are timed together. A thread has one rank or several that follow each other; it
// asks for a call of all of them in a group. All threads begin and end a turn together.
#ifndef STRETTO_SW_APPS_COLLECTIVE_TIMED_COLLECTIVE_H_
#define STRETTO_SW_APPS_COLLECTIVE_TIMED_COLLECTIVE_H_

#include "sw/apps/ranks.h"
#include "sw/include/formats/collective.h"
#include "sw/include/nccl.h"

#ifdef __cplusplus
extern "C" {
#endif

// Beside the operations of collective.h: to the next rank, from the one before.
#define TIMED_SEND_RECEIVE STRETTO_COLLECTIVES

typedef struct timed_collective_turn {
  uint64_t count;           // As in the call.
  uint64_t source, target;  // Offsets in the rank's GPU, of the first call;
  uint64_t stride;          // from a call to the next: 0 = all use the same buffers.
  uint32_t warm_up, iterations;
} timed_collective_turn_t;

typedef struct timed_collective_result {
  int done;
  uint64_t begin_ns, end_ns;  // Of the timed calls.
  uint64_t wire_bytes;        // Over all links, of thread 0.
} timed_collective_result_t;

typedef struct timed_collective_parameters {
  stretto_collective_op_t op;
  ncclDataType_t type;
  ncclRedOp_t reduction;
  int root;
  uint32_t ranks;
  uint32_t thread;     // Has ranks thread x of_thread and so on;
  uint32_t of_thread;  // so many of all.
  int blocking;        // Waits for each call.
  host_job_t job;
  uint64_t memory;  // Offset of what holds all buffers, the program's only allocation.
  uint64_t memory_bytes;
  const timed_collective_turn_t* const* turns;  // By rank of the thread.
  uint32_t turn_count;
  // For tools: bytes that have left over links so far.
  uint64_t (*link_bytes)(void* context);
  void* context;
} timed_collective_parameters_t;

// A thread, with a runtime of its own; `id` is that of all ranks, `results` of each turn. `error` has
// 256 bytes.
stretto_status_t timed_collective_thread(const timed_collective_parameters_t* parameters,
                                         const stretto_host_ops_t* ops, ncclUniqueId* id,
                                         timed_collective_result_t* results, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_COLLECTIVE_TIMED_COLLECTIVE_H_
