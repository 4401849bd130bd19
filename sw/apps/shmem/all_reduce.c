// SPDX-License-Identifier: Apache-2.0
// See all_reduce.h. All receives are posted first, so that no block comes before its room.
#include "sw/apps/shmem/all_reduce.h"

#include <stdio.h>

#include "sw/apps/ranks.h"

typedef struct run {
  const all_reduce_parameters_t* p;
  const stretto_host_ops_t* ops;
  stretto_client_t* client;
  stretto_stream_t* stream;
  stretto_kernel_t kernel;
  stretto_cluster_t cluster;
  all_reduce_result_t* result;
} run_t;

_Static_assert(2 * (STRETTO_CLUSTER_SERVERS - 1) <= 1 << STRETTO_CLUSTER_RING_LOG2,
               "all receives have room");

static stretto_status_t of_cluster(stretto_nic_result_t result) {
  return result == STRETTO_NIC_RESULT_OK ? STRETTO_OK : STRETTO_ERROR_STATE;
}

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
  const stretto_cluster_options_t* o = &run->p->cluster;
  const uint32_t before = (o->server + o->servers - 1) % o->servers;
  for (uint32_t hop = 0; hop < 2 * (o->servers - 1); ++hop) {
    const block_t block = block_of(run, all_reduce_block(before, hop, o->servers));
    if (block.bytes == 0) continue;
    TRY(of_cluster(stretto_cluster_receive(&run->cluster, before,
                                           hop < o->servers - 1 ? scratch_of(run, hop) : block.at,
                                           block.bytes)));
  }
  return STRETTO_OK;
}

// Sends the block of this hop; returns when that of the server before has come, too.
static stretto_status_t exchange(run_t* run, uint32_t hop) {
  const stretto_cluster_options_t* o = &run->p->cluster;
  const block_t own = block_of(run, all_reduce_block(o->server, hop, o->servers));
  const uint32_t came = block_of(run, all_reduce_block(o->server, hop + 1, o->servers)).bytes;
  if (own.bytes != 0)
    TRY(of_cluster(
        stretto_cluster_send(&run->cluster, (o->server + 1) % o->servers, own.at, own.bytes)));
  for (uint32_t open = (own.bytes != 0) + (came != 0); open != 0; --open) {
    stretto_nic_completion_t completion;
    stretto_cluster_wait(&run->cluster, &completion);
    if (completion.status != STRETTO_NIC_OK) {
      snprintf(run->cluster.error, sizeof run->cluster.error, "hop %u: %s", hop,
               stretto_nic_status_text(completion.status));
      return STRETTO_ERROR_STATE;
    }
    *(completion.opcode == STRETTO_NIC_RECEIVE ? &run->result->received_bytes
                                               : &run->result->sent_bytes) += completion.bytes;
  }
  return STRETTO_OK;
}

static stretto_status_t add(run_t* run, uint32_t hop) {
  const stretto_cluster_options_t* o = &run->p->cluster;
  const block_t block = block_of(run, all_reduce_block(o->server, hop + 1, o->servers));
  if (block.bytes == 0) return STRETTO_OK;
  if (run->p->compute != NULL) {
    host_compute_add(run->p->compute, run->ops, block.at, scratch_of(run, hop), block.bytes,
                     o->heap_bytes);
    return STRETTO_OK;
  }
  const stretto_api_t* api = run->client->api;
  all_reduce_arguments_t arguments = run->p->arguments;
  arguments.data = block.at;
  arguments.scratch = scratch_of(run, hop);
  arguments.bytes = block.bytes;
  const stretto_launch_t launch = {.kernel = &run->kernel,
                                   .arguments = &arguments,
                                   .argument_bytes = sizeof arguments,
                                   .work_groups = run->p->work_groups,
                                   .account = STRETTO_ACCOUNT_OTHER,
                                   .after_all_earlier = 1};
  TRY(api->launch(run->client, run->stream, &launch));
  return api->stream_synchronize(run->client, run->stream);
}

static stretto_status_t open_gpu(run_t* run) {
  const all_reduce_parameters_t* p = run->p;
  const stretto_api_t* api = run->client->api;
  stretto_module_t* module;
  TRY(api->stream_create(run->client, &run->stream));
  TRY(memory_plan_allocate(&p->memory, run->client, run->stream));
  TRY(api->module_load(run->client, p->elf, p->elf_bytes, &module));
  TRY(api->module_kernel(run->client, module, "all_reduce_add", &run->kernel));
  return api->stream_synchronize(run->client, run->stream);
}

static stretto_status_t run_all(run_t* run) {
  const all_reduce_parameters_t* p = run->p;
  if (p->compute == NULL) TRY(open_gpu(run));
  stretto_cluster_options_t options = p->cluster;
  options.ops = run->ops;
  TRY(of_cluster(stretto_cluster_join(&run->cluster, &options)));
  TRY(of_cluster(stretto_cluster_barrier(&run->cluster)));
  TRY(receive_all(run));
  run->ops->charge_cpu_ns(run->ops->context, SHMEM_LIST_QUIET_NS);
  run->result->span.begin_ns = run->ops->now_ns(run->ops->context);
  for (uint32_t hop = 0; hop < 2 * (p->cluster.servers - 1); ++hop) {
    TRY(exchange(run, hop));
    if (hop < p->cluster.servers - 1) TRY(add(run, hop));
  }
  run->result->span.end_ns = run->ops->now_ns(run->ops->context);
  return of_cluster(stretto_cluster_barrier(&run->cluster));
}

stretto_status_t all_reduce_run(const all_reduce_parameters_t* p, const stretto_host_ops_t* ops,
                                all_reduce_result_t* result, char* error) {
  run_t run = {.p = p, .ops = ops, .result = result};
  *result = (all_reduce_result_t){0};
  run.client = stretto_client_create(&p->client, ops);
  if (run.client == NULL) {
    snprintf(error, 256, "server %u: no driver client", p->cluster.server);
    return STRETTO_ERROR_STATE;
  }
  const stretto_status_t status = run_all(&run);
  if (status != STRETTO_OK)
    snprintf(
        error, 256, "server %u: %s", p->cluster.server,
        run.cluster.error[0] != '\0' ? run.cluster.error : run.client->api->last_error(run.client));
  stretto_client_destroy(run.client);
  return status;
}
