// SPDX-License-Identifier: Apache-2.0
// See timed_collective.h.
#include "sw/apps/collective/timed_collective.h"

#include "sw/apps/over_nccl.h"

typedef struct member {
  uint32_t rank;
  uint8_t* gpu;  // Address 0 of its memory.
  ncclComm_t comm;
  cudaStream_t stream;
  const timed_collective_turn_t* turns;
} member_t;

typedef struct program {
  const timed_collective_parameters_t* p;
  ranks_t threads;  // Which meet as ranks do.
  member_t members[STRETTO_MAX_GPUS];
} program_t;

static ncclResult_t send_receive(const program_t* g, const member_t* m, const void* source,
                                 void* target, uint64_t count) {
  const timed_collective_parameters_t* p = g->p;
  const int next = (int)((m->rank + 1) % p->ranks),
            before = (int)((m->rank + p->ranks - 1) % p->ranks);
  ncclGroupStart();
  const ncclResult_t sent = ncclSend(source, count, p->type, next, m->comm, m->stream);
  const ncclResult_t received = ncclRecv(target, count, p->type, before, m->comm, m->stream);
  const ncclResult_t ended = ncclGroupEnd();
  return sent != ncclSuccess ? sent : received != ncclSuccess ? received : ended;
}

static ncclResult_t call(const program_t* g, const member_t* m, uint32_t number, uint32_t index) {
  const timed_collective_parameters_t* p = g->p;
  const timed_collective_turn_t* turn = &m->turns[number];
  const void* source = m->gpu + turn->source + index * turn->stride;
  void* target = m->gpu + turn->target + index * turn->stride;
  const uint64_t n = turn->count;
  switch (p->op) {
    case STRETTO_ALL_REDUCE:
      return ncclAllReduce(source, target, n, p->type, p->reduction, m->comm, m->stream);
    case STRETTO_REDUCE_SCATTER:
      return ncclReduceScatter(source, target, n, p->type, p->reduction, m->comm, m->stream);
    case STRETTO_ALL_GATHER: return ncclAllGather(source, target, n, p->type, m->comm, m->stream);
    case STRETTO_ALL_TO_ALL: return ncclAlltoAll(source, target, n, p->type, m->comm, m->stream);
    case STRETTO_BROADCAST:
      return ncclBroadcast(source, target, n, p->type, p->root, m->comm, m->stream);
    case STRETTO_REDUCE:
      return ncclReduce(source, target, n, p->type, p->reduction, p->root, m->comm, m->stream);
    default: return send_receive(g, m, source, target, n);
  }
}

static stretto_status_t wait_for_all(const program_t* g, char* error) {
  for (uint32_t i = 0; i < g->p->of_thread; ++i)
    TRY_CALL(cudaStreamSynchronize(g->members[i].stream));
  return STRETTO_OK;
}

// Calls first .. first + count - 1 of a turn. The first that fails fails its group.
static stretto_status_t calls(const program_t* g, uint32_t number, uint32_t first, uint32_t count,
                              char* error) {
  for (uint32_t index = first; index < first + count; ++index) {
    ncclGroupStart();
    for (uint32_t i = 0; i < g->p->of_thread; ++i) call(g, &g->members[i], number, index);
    TRY_COMM(ncclGroupEnd());
    if (g->p->blocking) TRY(wait_for_all(g, error));
  }
  return STRETTO_OK;
}

static stretto_status_t run_turn(program_t* g, uint32_t number, timed_collective_result_t* result,
                                 char* error) {
  const timed_collective_parameters_t* p = g->p;
  const stretto_host_ops_t* ops = g->threads.ops;
  const timed_collective_turn_t* turn = &g->members[0].turns[number];
  TRY(calls(g, number, 0, turn->warm_up, error));
  TRY(wait_for_all(g, error));
  ranks_barrier(&g->threads);
  const uint64_t sent = p->link_bytes(p->context);
  result->begin_ns = ops->now_ns(ops->context);
  TRY(calls(g, number, turn->warm_up, turn->iterations, error));
  TRY(wait_for_all(g, error));
  result->end_ns = ops->now_ns(ops->context);
  ranks_barrier(&g->threads);
  result->wire_bytes = p->link_bytes(p->context) - sent;
  result->done = 1;
  return STRETTO_OK;
}

// A communicator of all ranks, and a stream for each of this thread's.
static stretto_status_t join(program_t* g, ncclUniqueId* id, char* error) {
  const timed_collective_parameters_t* p = g->p;
  if (p->thread == 0) TRY_COMM(ncclGetUniqueId(id));
  ranks_barrier(&g->threads);
  ncclGroupStart();
  for (uint32_t i = 0; i < p->of_thread; ++i) {
    member_t* m = &g->members[i];
    TRY_CALL(cudaSetDevice((int)m->rank));
    ncclCommInitRank(&m->comm, (int)p->ranks, *id, (int)m->rank);
  }
  TRY_COMM(ncclGroupEnd());
  for (uint32_t i = 0; i < p->of_thread; ++i) {
    TRY_CALL(cudaSetDevice((int)g->members[i].rank));
    TRY_CALL(cudaStreamCreate(&g->members[i].stream));
  }
  return STRETTO_OK;
}

stretto_status_t timed_collective_thread(const timed_collective_parameters_t* p,
                                         const stretto_host_ops_t* ops, ncclUniqueId* id,
                                         timed_collective_result_t* results, char* error) {
  const uint32_t threads = p->ranks / p->of_thread;
  program_t g = {
      .p = p,
      .threads = {
          .ops = ops, .job = p->job, .rank = p->thread, .ranks = threads, .host_ranks = threads}};
  for (uint32_t i = 0; i < p->of_thread; ++i) {
    member_t* m = &g.members[i];
    void* memory = NULL;
    m->rank = p->thread * p->of_thread + i;
    m->turns = p->turns[i];
    TRY(app_memory(&p->job, m->rank, p->memory_bytes, p->memory, &memory, error));
    m->gpu = (uint8_t*)memory - p->memory;
  }
  TRY(join(&g, id, error));
  for (uint32_t i = 0; i < p->turn_count; ++i) TRY(run_turn(&g, i, &results[i], error));
  for (uint32_t i = 0; i < p->of_thread; ++i) TRY_COMM(ncclCommDestroy(g.members[i].comm));
  return STRETTO_OK;
}
