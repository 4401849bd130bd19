// SPDX-License-Identifier: Apache-2.0
// The baseline beside loop kernels, see graph.h: kernels of the library for every operator, in one stream, and
// ncclAllReduce of gradients in another, bound by semaphores.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/apps/graph/graph.h"
#include "sw/apps/over_nccl.h"
#include "sw/kernels/kernel_arguments.h"

#define STAMPS_AT_HOST 0x400000u  // In the job's host memory.
#define STAMPS_OF_RANK 0x80000u

typedef struct launched {
  const graph_parameters_t* p;
  const stretto_host_ops_t* ops;
  ranks_t ranks;
  // Operators.
  stretto_client_t* client;
  stretto_stream_t* stream;
  stretto_module_t* library[GRAPH_LIBRARIES];
  stretto_module_t* stages;  // stages.elf.
  graph_stage_memory_t stage_memory;
  graph_pins_t pins;
  // Gradients.
  ncclComm_t comm;
  cudaStream_t comm_stream;
  stretto_client_t* comm_client;
  stretto_stream_t* comm_driver_stream;
  stretto_kernel_t stamp;
  graph_memory_t memory;
  uint64_t words;
} launched_t;

#define TRY_OPS(call) TRY(app_driver(g->client, g->p->rank, call, error))
#define TRY_GRADIENTS(call) TRY(app_driver(g->comm_client, g->p->rank, call, error))

// Words: stamps, two a bucket and iteration, of begin and end; then semaphores likewise.
static uint64_t stamp_words(const graph_parameters_t* p) {
  return 2ull * p->iterations * p->buckets;
}

static uint64_t bucket_stamp(const launched_t* g, uint32_t iteration, uint32_t bucket, int end) {
  return g->words + 8 * (2 * ((uint64_t)iteration * g->p->buckets + bucket) + (uint64_t)end);
}

static uint64_t semaphore(const launched_t* g, uint32_t iteration, uint32_t bucket, int end) {
  return bucket_stamp(g, iteration, bucket, end) + 8 * stamp_words(g->p);
}

// Stamps are 0, semaphores 1: not yet.
static stretto_status_t set_up_words(launched_t* g, char* error) {
  const uint64_t stamps = stamp_words(g->p), all = 2 * stamps;
  if (all == 0) return STRETTO_OK;
  TRY_OPS(g->client->api->allocate(g->client, g->stream, all < 8 ? 64 : 8 * all, 4096,
                                   STRETTO_ALLOCATION_UNCACHED, &g->words));
  uint64_t* const words = calloc(all, 8);
  if (words == NULL) return STRETTO_ERROR_TABLE_FULL;
  for (uint64_t i = stamps; i < all; ++i) words[i] = 1;
  const stretto_status_t status =
      g->client->api->copy_to_device(g->client, g->words, words, 8 * all);
  free(words);
  return app_driver(g->client, g->p->rank, status, error);
}

static stretto_status_t set_up_communicator(launched_t* g, ncclUniqueId* id, char* error) {
  stretto_module_t* module = NULL;
  TRY(app_communicator(&g->ranks, id, &g->comm, error));
  TRY_CALL(cudaStreamCreate(&g->comm_stream));
  g->comm_driver_stream = stretto_runtime_stream(g->comm_stream, &g->comm_client);
  const stretto_api_t* api = g->comm_client->api;
  TRY_GRADIENTS(api->module_load(g->comm_client, g->p->stamp_elf, g->p->stamp_elf_bytes, &module));
  TRY_GRADIENTS(api->module_kernel(g->comm_client, module, "stamp", &g->stamp));
  return STRETTO_OK;
}

// What the next pipeline has in the L2; what those before had beyond makes room for its tiles.
static stretto_status_t pin(launched_t* g, const graph_group_t* group, char* error) {
  const graph_parameters_t* p = g->p;
  const stretto_api_t* api = g->client->api;
  if (p->client.l2_persist_bytes == 0) return STRETTO_OK;
  const graph_pins_t pins = graph_pins(group, &p->client, &g->stage_memory);
  if (memcmp(&pins, &g->pins, sizeof pins) == 0) return STRETTO_OK;
  if (g->pins.count != 0) TRY_OPS(api->reset_persisting_l2_cache(g->client, g->stream));
  for (uint32_t i = 0; i < pins.count; ++i) {
    const uint64_t begin = pins.range[i].begin;
    TRY_OPS(api->access_policy_window(g->client, g->stream, begin, pins.range[i].end - begin, 1));
  }
  g->pins = pins;
  return STRETTO_OK;
}

// The scheduler pairs SIMT and TENSOR stages on units (KT-SCHED-04): with one arbiter two SIMT stages may meet on a unit
// that a TENSOR stage then does not fit. Queues in pinned lines of the L2, as many as may be set aside, from the begin of
// a way on; words count from 0 on.
static stretto_status_t set_up_queues(launched_t* g, char* error) {
  const graph_parameters_t* p = g->p;
  const stretto_api_t* api = g->client->api;
  const stretto_scheduler_policy_t policy = {.in_order = 1, .two_arbiters = 1};
  TRY_OPS(api->scheduler_policy(g->client, g->stream, &policy));
  const uint64_t all = p->queues.payload_bytes + p->queues.word_bytes;
  const uint64_t way = p->client.l2_way_bytes;
  TRY_OPS(api->allocate(g->client, g->stream, all, way > 4096 ? way : 4096,
                        STRETTO_ALLOCATION_CACHED, &g->stage_memory.words));
  g->stage_memory.payloads = g->stage_memory.words + p->queues.word_bytes;
  TRY_OPS(api->module_load(g->client, p->stages_elf, p->stages_elf_bytes, &g->stages));
  TRY_OPS(api->fill(g->client, g->stream, g->stage_memory.words, p->queues.word_bytes, 0,
                    GRAPH_ACCOUNT_INIT));
  if (p->client.l2_persist_bytes == 0) return STRETTO_OK;
  TRY_OPS(api->set_persisting_l2_cache_size(g->client, g->stream, p->client.l2_persist_bytes));
  // The runtime's client has allocated it.
  TRY_OPS(api->import_memory(g->client, g->memory.arena, p->arena_bytes + p->gradient_bytes));
  return pin(g, &p->group[0], error);
}

// One block behind the other. With the DMA engine cudaMalloc's memory is not cached: gradients, which it moves. What
// operators alone have is.
static stretto_status_t set_up_memory(launched_t* g, char* error) {
  const graph_parameters_t* p = g->p;
  const uint64_t behind = p->partial_bytes + p->flag_bytes, before = p->launched_arena;
  const uint64_t gradients_at = before + p->arena_bytes;
  void* block = NULL;
  if (p->mode != GRAPH_LAUNCHED_GDMA) {
    TRY(app_memory(&p->job, p->rank, p->arena_bytes + p->gradient_bytes + behind, before, &block,
                   error));
  } else {
    TRY(app_cached_memory(&p->job, p->rank, p->arena_bytes, before, &block, error));
    void* next = NULL;
    if (p->gradient_bytes != 0)
      TRY(app_memory(&p->job, p->rank, p->gradient_bytes, gradients_at, &next, error));
    if (behind != 0)
      TRY(app_cached_memory(&p->job, p->rank, behind, gradients_at + p->gradient_bytes, &next,
                            error));
  }
  const uint64_t arena = (uint64_t)(uintptr_t)block, gradients = arena + p->arena_bytes;
  const uint64_t partials = gradients + p->gradient_bytes;
  g->memory = (graph_memory_t){arena, gradients, partials, partials + p->partial_bytes};
  g->stage_memory.arena = arena;
  return STRETTO_OK;
}

static stretto_status_t set_up(launched_t* g, ncclUniqueId* id, char* error) {
  const graph_parameters_t* p = g->p;
  const stretto_api_t* api = g->client->api;
  TRY(set_up_memory(g, error));
  TRY_OPS(api->stream_create(g->client, &g->stream));
  TRY(set_up_words(g, error));
  if (p->flag_bytes != 0)
    TRY_OPS(api->fill(g->client, g->stream, g->memory.flags, p->flag_bytes, 0, GRAPH_ACCOUNT_INIT));
  for (uint32_t i = 0; i < GRAPH_LIBRARIES; ++i)
    if (p->library[i] != NULL)
      TRY_OPS(api->module_load(g->client, p->library[i], p->library_bytes[i], &g->library[i]));
  if (p->groups != 0) TRY(set_up_queues(g, error));
  TRY_OPS(api->stream_synchronize(g->client, g->stream));
  return p->ranks > 1 ? set_up_communicator(g, id, error) : STRETTO_OK;
}

// At device scope if the next operator reads what it wrote, and nobody else yet.
static stretto_status_t launch_op(launched_t* g, const graph_operator_t* op, int device_scope,
                                  char* error) {
  const graph_parameters_t* p = g->p;
  const stretto_api_t* api = g->client->api;
  graph_launch_t launches[GRAPH_MAX_LAUNCHES];
  const uint32_t count = graph_launches(&p->machine, op, &g->memory, launches);
  for (uint32_t i = 0; i < count; ++i) {
    const graph_launch_t* one = &launches[i];
    stretto_kernel_t kernel;
    TRY_OPS(api->module_kernel(g->client, g->library[one->library], one->kernel, &kernel));
    const stretto_launch_t launch = {.kernel = &kernel,
                                     .arguments = &one->arguments,
                                     .argument_bytes = one->argument_bytes,
                                     .work_groups = one->work_groups,
                                     .account = GRAPH_ACCOUNT_COMPUTE,
                                     .device_scope = device_scope || i + 1 < count,
                                     .after_all_earlier = 1};
    TRY_OPS(api->launch(g->client, g->stream, &launch));
  }
  return STRETTO_OK;
}

static stretto_status_t stamp(launched_t* g, uint64_t address, char* error) {
  const stretto_stamp_arguments_t arguments = {.address = address};
  const stretto_launch_t launch = {.kernel = &g->stamp,
                                   .arguments = &arguments,
                                   .argument_bytes = sizeof arguments,
                                   .work_groups = 1,
                                   .communication = 1,
                                   .after_all_earlier = 1};
  TRY_GRADIENTS(g->comm_client->api->launch(g->comm_client, g->comm_driver_stream, &launch));
  return STRETTO_OK;
}

static stretto_status_t reduce(launched_t* g, uint32_t iteration, uint32_t i, char* error) {
  const graph_bucket_t* bucket = &g->p->bucket[i];
  const stretto_api_t* api = g->comm_client->api;
  const uint64_t full = semaphore(g, iteration, i, 0), reduced = semaphore(g, iteration, i, 1);
  void* const gradients = (void*)(uintptr_t)(g->memory.gradients + bucket->offset);
  TRY_OPS(g->client->api->signal(g->client, g->stream, full, 0));
  TRY_GRADIENTS(
      api->stream_wait(g->comm_client, g->comm_driver_stream, full, g->p->stream_wait_poll_ns));
  TRY(stamp(g, bucket_stamp(g, iteration, i, 0), error));
  TRY_COMM(ncclAllReduce(gradients, gradients, bucket->bytes / 2, ncclHalf, ncclSum, g->comm,
                         g->comm_stream));
  TRY(stamp(g, bucket_stamp(g, iteration, i, 1), error));
  TRY_GRADIENTS(api->signal(g->comm_client, g->comm_driver_stream, reduced, 0));
  return STRETTO_OK;
}

static stretto_status_t run_iteration(launched_t* g, uint32_t iteration, char* error) {
  const graph_parameters_t* p = g->p;
  const uint32_t buckets = p->ranks > 1 ? p->buckets : 0;
  const int after = p->mode == GRAPH_LAUNCHED_AFTER || (p->baseline && iteration == 0);
  uint32_t last = 0;  // After it no gradient is made any more.
  for (uint32_t i = 0; i < buckets; ++i)
    if (p->bucket[i].last_op > last) last = p->bucket[i].last_op;
  uint32_t group = 0, chain = 0;
  for (uint32_t op = 0, next; op < p->ops; op = next) {
    const graph_group_t* pipeline =
        group < p->groups && p->group[group].first_op == op ? &p->group[group++] : NULL;
    const graph_fused_t* fused =
        chain < p->fused_count && p->fused[chain].first_op == op ? &p->fused[chain++] : NULL;
    next = op + (pipeline != NULL ? pipeline->ops : fused != NULL ? fused->ops : 1);
    for (uint32_t i = 0; i < buckets; ++i)
      if (op <= p->bucket[i].first_use && p->bucket[i].first_use < next)
        TRY_OPS(g->client->api->stream_wait(g->client, g->stream, semaphore(g, iteration, i, 1),
                                            p->stream_wait_poll_ns));
    const uint32_t end = next - 1;  // What is complete then.
    int gradients = 0;
    for (uint32_t i = 0; i < buckets; ++i) {
      const uint32_t at = after ? last : p->bucket[i].last_op;
      gradients |= op <= at && at <= end;
    }
    if (pipeline != NULL) {
      TRY(pin(g, pipeline, error));
      TRY_OPS(graph_stages_launch(g->client, g->stream, g->stages, pipeline, &g->stage_memory,
                                  iteration, GRAPH_ACCOUNT_COMPUTE, !gradients));
    } else {
      TRY(launch_op(g, fused != NULL ? &fused->op : &p->operators[op], !gradients, error));
    }
    for (uint32_t i = 0; i < buckets; ++i) {
      const uint32_t at = after ? last : p->bucket[i].last_op;
      if (op <= at && at <= end) TRY(reduce(g, iteration, i, error));
    }
  }
  return STRETTO_OK;
}

// What stamps noted, by way of host memory.
static stretto_status_t read_stamps(launched_t* g, graph_result_t* result, char* error) {
  const graph_parameters_t* p = g->p;
  if (p->ranks == 1 || p->buckets == 0) return STRETTO_OK;
  const uint64_t host = job_host_memory(&p->job) + STAMPS_AT_HOST + p->rank * STAMPS_OF_RANK;
  TRY_OPS(g->client->api->copy(g->client, g->stream, host, g->words, 8 * stamp_words(p),
                               STRETTO_ACCOUNT_OTHER));
  TRY_OPS(g->client->api->stream_synchronize(g->client, g->stream));
  for (uint32_t i = 0; i < p->buckets; ++i) {
    for (int end = 0; end < 2; ++end) {
      const uint64_t stamp = bucket_stamp(g, p->iterations - 1, i, end) - g->words;
      result->bucket_ns[i][end] = send_engine_load(g->ops, host + stamp) * 1000 / p->clock_mhz;
    }
  }
  return STRETTO_OK;
}

static stretto_status_t run(launched_t* g, ncclUniqueId* id, graph_result_t* result, char* error) {
  TRY(set_up(g, id, error));
  result->stage_words = g->stage_memory.words;
  ranks_barrier(&g->ranks);
  result->begin_ns = g->ops->now_ns(g->ops->context);
  for (uint32_t i = 0; i < g->p->iterations; ++i) TRY(run_iteration(g, i, error));
  TRY_OPS(g->client->api->stream_synchronize(g->client, g->stream));
  if (g->p->ranks > 1) TRY_CALL(cudaStreamSynchronize(g->comm_stream));
  TRY(read_stamps(g, result, error));
  return g->p->ranks > 1 ? stretto_runtime_outcome(ncclCommDestroy(g->comm), error) : STRETTO_OK;
}

stretto_status_t graph_launched_rank(const graph_parameters_t* p, const stretto_host_ops_t* ops,
                                     ncclUniqueId* id, graph_result_t* result, char* error) {
  launched_t g = {.p = p, .ops = ops, .ranks = graph_ranks(p, ops)};
  *result = (graph_result_t){0};
  g.client = stretto_client_create(&p->client, ops);
  if (g.client == NULL) {
    snprintf(error, 256, "rank %u: no driver client", p->rank);
    return STRETTO_ERROR_ARGUMENT;
  }
  const stretto_status_t status = run(&g, id, result, error);
  stretto_client_destroy(g.client);
  return status;
}
