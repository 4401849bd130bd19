// SPDX-License-Identifier: Apache-2.0
// See all_reduce.h. All receives are posted first, so that no block comes before its room.
#include "sw/apps/shmem/all_reduce.h"

#include <stdio.h>

#include "sw/apps/ranks.h"

typedef struct run {
  const all_reduce_parameters_t* p;
  server_program_t server;
  all_reduce_result_t* result;
} run_t;

_Static_assert(2 * (STRETTO_CLUSTER_SERVERS - 1) <= 1 << STRETTO_CLUSTER_RING_LOG2,
               "all receives have room");

typedef struct block {
  uint64_t at;
  uint32_t bytes;
} block_t;

static block_t block_of(const run_t* run, uint32_t number) {
  const all_reduce_arguments_t* g = &run->p->arguments;
  return (block_t){g->data + number * g->block_bytes,
                   (uint32_t)all_reduce_part_bytes(g->bytes, g->block_bytes, number)};
}

static uint64_t scratch_of(const run_t* run, uint32_t hop) {
  return run->p->arguments.scratch + hop * run->p->arguments.block_bytes;
}

static stretto_status_t receive_all(run_t* run) {
  const stretto_cluster_options_t* o = &run->p->server.cluster;
  const uint32_t before = (o->server + o->servers - 1) % o->servers;
  for (uint32_t hop = 0; hop < 2 * (o->servers - 1); ++hop) {
    const block_t block = block_of(run, all_reduce_block(before, hop, o->servers));
    if (block.bytes == 0) continue;
    TRY(of_cluster(stretto_cluster_receive(&run->server.cluster, before,
                                           hop < o->servers - 1 ? scratch_of(run, hop) : block.at,
                                           block.bytes)));
  }
  return STRETTO_OK;
}

// Sends the block of this hop; returns when that of the server before has come, too.
static stretto_status_t exchange(run_t* run, uint32_t hop) {
  const stretto_cluster_options_t* o = &run->p->server.cluster;
  const block_t own = block_of(run, all_reduce_block(o->server, hop, o->servers));
  const uint32_t came = block_of(run, all_reduce_block(o->server, hop + 1, o->servers)).bytes;
  if (own.bytes != 0)
    TRY(of_cluster(stretto_cluster_send(&run->server.cluster, (o->server + 1) % o->servers, own.at,
                                        own.bytes)));
  for (uint32_t open = (own.bytes != 0) + (came != 0); open != 0; --open) {
    stretto_nic_completion_t completion;
    stretto_cluster_wait(&run->server.cluster, &completion);
    if (completion.status != STRETTO_NIC_OK) {
      snprintf(run->server.cluster.error, sizeof run->server.cluster.error, "hop %u: %s", hop,
               stretto_nic_status_text(completion.status));
      return STRETTO_ERROR_STATE;
    }
    *(completion.opcode == STRETTO_NIC_RECEIVE ? &run->result->received_bytes
                                               : &run->result->sent_bytes) += completion.bytes;
  }
  return STRETTO_OK;
}

static stretto_status_t add(run_t* run, uint32_t hop) {
  const stretto_cluster_options_t* o = &run->p->server.cluster;
  const block_t block = block_of(run, all_reduce_block(o->server, hop + 1, o->servers));
  if (block.bytes == 0) return STRETTO_OK;
  if (run->p->compute != NULL) {
    host_compute_add(run->p->compute, run->server.ops, block.at, scratch_of(run, hop), block.bytes,
                     o->heap_bytes);
    return STRETTO_OK;
  }
  all_reduce_arguments_t arguments = run->p->arguments;
  arguments.data = block.at;
  arguments.scratch = scratch_of(run, hop);
  arguments.bytes = block.bytes;
  TRY(server_program_launch(&run->server, &arguments, sizeof arguments));
  return run->server.client->api->stream_synchronize(run->server.client, run->server.stream);
}

static stretto_status_t run_all(void* of_run) {
  run_t* run = of_run;
  const stretto_host_ops_t* ops = run->server.ops;
  const uint32_t adds = run->p->server.cluster.servers - 1;
  TRY(of_cluster(stretto_cluster_barrier(&run->server.cluster)));
  TRY(receive_all(run));
  ops->charge_cpu_ns(ops->context, SHMEM_LIST_QUIET_NS);
  run->result->span.begin_ns = ops->now_ns(ops->context);
  for (uint32_t hop = 0; hop < 2 * adds; ++hop) {
    TRY(exchange(run, hop));
    if (hop < adds) TRY(add(run, hop));
  }
  run->result->span.end_ns = ops->now_ns(ops->context);
  return of_cluster(stretto_cluster_barrier(&run->server.cluster));
}

stretto_status_t all_reduce_run(const all_reduce_parameters_t* p, const stretto_host_ops_t* ops,
                                all_reduce_result_t* result, char* error) {
  run_t run = {.p = p, .result = result};
  *result = (all_reduce_result_t){0};
  return server_program_run(&run.server, &p->server, ops, run_all, &run, error);
}
