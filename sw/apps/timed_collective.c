// SPDX-License-Identifier: Apache-2.0
// See timed_collective.h.
#include "sw/apps/timed_collective.h"

#include "sw/apps/over_nccl.h"

typedef struct program {
  const timed_collective_parameters_t* p;
  ranks_t ranks;
  uint8_t* gpu;  // Address 0 of its memory.
  ncclComm_t comm;
  cudaStream_t stream;
} program_t;

static ncclResult_t send_receive(const program_t* g, const void* source, void* target,
                                 uint64_t count) {
  const timed_collective_parameters_t* p = g->p;
  const int next = (int)((p->rank + 1) % p->ranks),
            before = (int)((p->rank + p->ranks - 1) % p->ranks);
  ncclGroupStart();
  const ncclResult_t sent = ncclSend(source, count, p->type, next, g->comm, g->stream);
  const ncclResult_t received = ncclRecv(target, count, p->type, before, g->comm, g->stream);
  const ncclResult_t ended = ncclGroupEnd();
  return sent != ncclSuccess ? sent : received != ncclSuccess ? received : ended;
}

static ncclResult_t call(const program_t* g, const timed_collective_turn_t* turn, uint32_t index) {
  const timed_collective_parameters_t* p = g->p;
  const void* source = g->gpu + turn->source + index * turn->stride;
  void* target = g->gpu + turn->target + index * turn->stride;
  const uint64_t n = turn->count;
  switch (p->op) {
    case STRETTO_ALL_REDUCE:
      return ncclAllReduce(source, target, n, p->type, p->reduction, g->comm, g->stream);
    case STRETTO_REDUCE_SCATTER:
      return ncclReduceScatter(source, target, n, p->type, p->reduction, g->comm, g->stream);
    case STRETTO_ALL_GATHER: return ncclAllGather(source, target, n, p->type, g->comm, g->stream);
    case STRETTO_ALL_TO_ALL: return ncclAlltoAll(source, target, n, p->type, g->comm, g->stream);
    case STRETTO_BROADCAST:
      return ncclBroadcast(source, target, n, p->type, p->root, g->comm, g->stream);
    case STRETTO_REDUCE:
      return ncclReduce(source, target, n, p->type, p->reduction, p->root, g->comm, g->stream);
    default: return send_receive(g, source, target, n);
  }
}

static stretto_status_t run_turn(program_t* g, const timed_collective_turn_t* turn,
                                 timed_collective_result_t* result, char* error) {
  const timed_collective_parameters_t* p = g->p;
  const stretto_host_ops_t* ops = g->ranks.ops;
  for (uint32_t i = 0; i < turn->warm_up; ++i) TRY_COMM(call(g, turn, i));
  TRY_CALL(cudaStreamSynchronize(g->stream));
  ranks_barrier(&g->ranks);
  const uint64_t sent = p->link_bytes(p->context);
  result->begin_ns = ops->now_ns(ops->context);
  for (uint32_t i = 0; i < turn->iterations; ++i) TRY_COMM(call(g, turn, turn->warm_up + i));
  TRY_CALL(cudaStreamSynchronize(g->stream));
  result->end_ns = ops->now_ns(ops->context);
  ranks_barrier(&g->ranks);
  result->wire_bytes = p->link_bytes(p->context) - sent;
  result->done = 1;
  return STRETTO_OK;
}

stretto_status_t timed_collective_rank(const timed_collective_parameters_t* p,
                                       const stretto_host_ops_t* ops, ncclUniqueId* id,
                                       timed_collective_result_t* results, char* error) {
  program_t g = {
      .p = p,
      .ranks = {
          .ops = ops, .job = p->job, .rank = p->rank, .ranks = p->ranks, .host_ranks = p->ranks}};
  void* memory = NULL;
  TRY(app_memory(&p->job, p->rank, p->memory_bytes, p->memory, &memory, error));
  g.gpu = (uint8_t*)memory - p->memory;
  TRY(app_communicator(&g.ranks, id, &g.comm, error));
  TRY_CALL(cudaStreamCreate(&g.stream));
  for (uint32_t i = 0; i < p->turn_count; ++i) TRY(run_turn(&g, &p->turns[i], &results[i], error));
  return stretto_runtime_outcome(ncclCommDestroy(g.comm), error);
}
