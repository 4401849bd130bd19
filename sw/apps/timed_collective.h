// SPDX-License-Identifier: Apache-2.0
// Host program of one rank: a collective over a list of turns, each some calls to warm up and some
// that are timed together, as nccl-tests does it. All ranks begin and end a turn together.
#ifndef STRETTO_SW_APPS_TIMED_COLLECTIVE_H_
#define STRETTO_SW_APPS_TIMED_COLLECTIVE_H_

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
  uint64_t wire_bytes;        // Over all links, of rank 0.
} timed_collective_result_t;

typedef struct timed_collective_parameters {
  stretto_collective_op_t op;
  ncclDataType_t type;
  ncclRedOp_t reduction;
  int root;
  uint32_t rank;
  uint32_t ranks;
  host_job_t job;
  uint64_t memory;  // Offset of what holds all buffers, the program's only allocation.
  uint64_t memory_bytes;
  const timed_collective_turn_t* turns;
  uint32_t turn_count;
  // For tools: bytes that have left over links so far.
  uint64_t (*link_bytes)(void* context);
  void* context;
} timed_collective_parameters_t;

// The rank's thread, with a runtime of its own; `id` is that of all ranks, `results` of each turn.
// `error` has 256 bytes.
stretto_status_t timed_collective_rank(const timed_collective_parameters_t* parameters,
                                       const stretto_host_ops_t* ops, ncclUniqueId* id,
                                       timed_collective_result_t* results, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_TIMED_COLLECTIVE_H_
