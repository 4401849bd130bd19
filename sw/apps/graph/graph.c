// SPDX-License-Identifier: Apache-2.0
// Operator graphs: see graph.h.
#include "sw/apps/graph/graph.h"

#include <stdio.h>
#include <stdlib.h>

#include "sw/apps/ranks.h"
#include "sw/include/formats/machine_types.h"

#define RING_BATCH 8u

// Words in a GPU, uncached.
#define SC_AT 0u
#define RC_AT STRETTO_SEND_FLAG_BYTES
#define TICKET_AT (2u * STRETTO_SEND_FLAG_BYTES)
#define REPLICA_AT (TICKET_AT + 64u)
#define STAMPS_AT (TICKET_AT + 128u)
#define DONE_AT (STAMPS_AT + LOOP_STAMP_BYTES)
#define ALL_WORD_BYTES (DONE_AT + LOOP_WORD_BYTES)

// Words of host memory.
#define WORD_STOP 64u
#define RINGS_AT 0x40000u
#define SIGNALS_AT 0x60000u
#define STAMPS_AT_HOST 0x100000u
#define STAMPS_OF_RANK 0x10000u

typedef struct program {
  const graph_parameters_t* p;
  graph_shared_t* shared;
  const stretto_host_ops_t* ops;
  ranks_t ranks;
  stretto_client_t* client;
  const stretto_api_t* api;
  stretto_stream_t* stream;
  stretto_kernel_t loop;
  graph_plan_t plan;
} program_t;

const char* graph_mode_name(graph_mode_t mode) {
  static const char* const names[GRAPH_MODES] = {
      "loop", "loop-s", "launched", "launched-after", "kitsune", "vertical", "launched-gdma"};
  return mode < GRAPH_MODES ? names[mode] : NULL;
}

stretto_status_t graph_plan(const graph_parameters_t* p, graph_plan_t* plan) {
  const uint32_t uncached = STRETTO_ALLOCATION_UNCACHED;
  *plan = (graph_plan_t){.words_bytes = ALL_WORD_BYTES, .memory = memory_plan(&p->client, 65536)};
  memory_plan_t* memory = &plan->memory;
  if (p->arena_bytes != 0)
    plan->arena = memory_plan_add(memory, "arena", p->arena_bytes, STRETTO_ALLOCATION_CACHED);
  if (p->gradient_bytes != 0) {
    plan->gradients = memory_plan_add(memory, "gradients", p->gradient_bytes, uncached);
    plan->receive = memory_plan_add(memory, "received", p->gradient_bytes, uncached);
  }
  if (p->partial_bytes != 0)
    memory_plan_add(memory, "partial sums", p->partial_bytes, STRETTO_ALLOCATION_CACHED);
  plan->words = memory_plan_add(memory, "words", ALL_WORD_BYTES, uncached);
  return memory->end + GRAPH_MODULE_BYTES <= p->client.memory_end ? STRETTO_OK
                                                                  : STRETTO_ERROR_TABLE_FULL;
}

ranks_t graph_ranks(const graph_parameters_t* p, const stretto_host_ops_t* ops) {
  return (ranks_t){
      .ops = ops, .job = p->job, .rank = p->rank, .ranks = p->ranks, .host_ranks = p->ranks};
}

static uint64_t host_word(const graph_parameters_t* p, uint32_t index) {
  return job_host_memory(&p->job) + 8ull * index;
}

static uint64_t host_ring(const graph_parameters_t* p) {
  return host_word(p, 0) + RINGS_AT + (uint64_t)p->rank * SEND_ENGINE_RING_BYTES;
}

static uint64_t host_stamps(const graph_parameters_t* p) {
  return host_word(p, 0) + STAMPS_AT_HOST + (uint64_t)p->rank * STAMPS_OF_RANK;
}

// Each communication work-group has buffer ids and a connection of its own, all to the right
// neighbour.
static stretto_status_t set_up_ring(program_t* g) {
  const graph_parameters_t* p = g->p;
  const stretto_api_t* api = g->api;
  const uint32_t right = (p->rank + 1) % p->ranks, read = STRETTO_RING_READABLE,
                 write = STRETTO_RING_WRITABLE;
  TRY(api->ring_start(g->client, g->stream, g->plan.words + REPLICA_AT, g->plan.words + SC_AT,
                      RING_BATCH));
  for (uint32_t i = 0; i < p->comm_groups; ++i) {
    TRY(api->ring_register(g->client, g->stream, LOOP_SOURCE_ID + i, g->plan.gradients,
                           p->gradient_bytes, LOOP_UNIT_SHIFT, read));
    TRY(api->ring_register(g->client, g->stream, LOOP_GRADIENT_ID + i, g->plan.gradients,
                           p->gradient_bytes, LOOP_UNIT_SHIFT, write));
    TRY(api->ring_register(g->client, g->stream, LOOP_RECEIVE_ID + i, g->plan.receive,
                           p->gradient_bytes, LOOP_UNIT_SHIFT, write));
  }
  TRY(api->ring_export(g->client, LOOP_GRADIENT_ID, &g->shared->exported[p->rank][0]));
  TRY(api->ring_export(g->client, LOOP_RECEIVE_ID, &g->shared->exported[p->rank][1]));
  TRY(ranks_meet(&g->ranks, 1));
  for (uint32_t i = 0; i < p->comm_groups; ++i) {
    TRY(api->ring_connect(g->client, g->stream, i, job_gpu(&p->job, right),
                          ranks_at(&g->ranks, g->plan.words + RC_AT, right), 0));
    TRY(api->ring_import(g->client, g->stream, LOOP_PEER_GRADIENT_ID + i,
                         &g->shared->exported[right][0]));
    TRY(api->ring_import(g->client, g->stream, LOOP_PEER_RECEIVE_ID + i,
                         &g->shared->exported[right][1]));
  }
  return STRETTO_OK;
}

static stretto_status_t set_up_engine(program_t* g) {
  const graph_parameters_t* p = g->p;
  const uint32_t right = (p->rank + 1) % p->ranks;
  send_engine_setup_t* setup = &g->shared->engine[p->rank];
  setup->mover = p->mover;
  setup->account = GRAPH_ACCOUNT_COMM;
  setup->ring = host_ring(p);
  setup->signals = host_word(p, 0) + SIGNALS_AT + (uint64_t)p->rank * SEND_ENGINE_SIGNAL_BYTES;
  setup->stop = host_word(p, WORD_STOP + p->rank);
  setup->replica = g->plan.words + REPLICA_AT;
  setup->sc = g->plan.words + SC_AT;
  for (uint32_t i = 0; i < p->comm_groups; ++i) {
    setup->rc[i] = ranks_at(&g->ranks, g->plan.words + RC_AT, right);
    setup->buffer[LOOP_SOURCE_ID + i] =
        (send_engine_buffer_t){g->plan.gradients, p->gradient_bytes, LOOP_UNIT_SHIFT};
    setup->buffer[LOOP_PEER_GRADIENT_ID + i] = (send_engine_buffer_t){
        ranks_at(&g->ranks, g->plan.gradients, right), p->gradient_bytes, LOOP_UNIT_SHIFT};
    setup->buffer[LOOP_PEER_RECEIVE_ID + i] = (send_engine_buffer_t){
        ranks_at(&g->ranks, g->plan.receive, right), p->gradient_bytes, LOOP_UNIT_SHIFT};
  }
  return g->api->remote_map(g->client, g->stream, setup->ring, SEND_ENGINE_RING_BYTES, setup->ring,
                            0);
}

static stretto_status_t set_up(program_t* g) {
  const graph_parameters_t* p = g->p;
  stretto_module_t* module = NULL;
  TRY(g->api->stream_create(g->client, &g->stream));
  TRY(graph_plan(p, &g->plan));
  TRY(memory_plan_allocate(&g->plan.memory, g->client, g->stream));
  TRY(g->api->fill(g->client, g->stream, g->plan.words, ALL_WORD_BYTES, 0, GRAPH_ACCOUNT_INIT));
  TRY(g->api->module_load(g->client, p->elf, p->elf_bytes, &module));
  TRY(g->api->module_kernel(g->client, module, "loop", &g->loop));
  if (p->comm_groups != 0) TRY(p->mode == GRAPH_LOOP ? set_up_ring(g) : set_up_engine(g));
  return g->api->stream_synchronize(g->client, g->stream);
}

static stretto_status_t launch(program_t* g) {
  const graph_parameters_t* p = g->p;
  const loop_arguments_t arguments = {
      .arena = g->plan.arena,
      .gradients = g->plan.gradients,
      .receive = g->plan.receive,
      .words = g->plan.words + DONE_AT,
      .stamps = g->plan.words + STAMPS_AT,
      .ring = {.window = p->mode == GRAPH_LOOP
                             ? stretto_gpu_address(p->client.gpu, STRETTO_SEND_APERTURE)
                             : host_ring(p),
               .ticket = g->plan.words + TICKET_AT,
               .replica = g->plan.words + REPLICA_AT,
               .depth = STRETTO_SEND_RING_DEPTH},
      .sc = g->plan.words + SC_AT,
      .rc = g->plan.words + RC_AT,
      .iterations = p->iterations,
      .compute = p->compute,
      .comm_groups = p->comm_groups,
      .ranks = p->ranks,
      .rank = p->rank,
      .by_rows = p->by_rows};
  // Behind them the choice of each product.
  loop_arguments_t* const all = malloc(sizeof arguments + p->ops * sizeof(loop_choice_t));
  if (all == NULL) return STRETTO_ERROR_TABLE_FULL;
  *all = arguments;
  const uint32_t choices = graph_loop_choices(p->operators, p->ops, (loop_choice_t*)(all + 1));
  const uint32_t bytes = (uint32_t)(sizeof arguments + choices * sizeof(loop_choice_t));
  const stretto_launch_t what = {.kernel = &g->loop,
                                 .arguments = all,
                                 .argument_bytes = bytes,
                                 .work_groups = p->comm_groups + p->compute,
                                 .account = GRAPH_ACCOUNT_COMPUTE,
                                 .after_all_earlier = 1};
  const stretto_status_t status = g->api->launch(g->client, g->stream, &what);
  free(all);
  return status;
}

static uint64_t stamp_ns(const program_t* g, uint32_t word) {
  return send_engine_load(g->ops, host_stamps(g->p) + 8ull * word) * 1000 / g->p->clock_mhz;
}

// What kernels noted, by way of host memory.
static stretto_status_t read_stamps(program_t* g, graph_result_t* result) {
  const graph_parameters_t* p = g->p;
  TRY(g->api->copy(g->client, g->stream, host_stamps(p), g->plan.words + STAMPS_AT,
                   LOOP_STAMP_BYTES, STRETTO_ACCOUNT_OTHER));
  TRY(g->api->stream_synchronize(g->client, g->stream));
  for (uint32_t i = 0; i < p->iterations; ++i) result->end_ns[i] = stamp_ns(g, i);
  for (uint32_t i = 0; i < p->ops; ++i) result->op_ns[i] = stamp_ns(g, LOOP_STAMP_OPS + i);
  for (uint32_t i = 0; p->comm_groups != 0 && i < p->buckets; ++i) {
    for (uint32_t end = 0; end < 2; ++end)
      result->bucket_ns[i][end] = stamp_ns(g, LOOP_STAMP_BUCKETS + 2 * i + end);
  }
  return STRETTO_OK;
}

static stretto_status_t run(program_t* g, graph_result_t* result) {
  TRY(set_up(g));
  TRY(ranks_meet(&g->ranks, 1));
  result->begin_ns = g->ops->now_ns(g->ops->context);
  TRY(launch(g));
  TRY(g->api->stream_synchronize(g->client, g->stream));
  return read_stamps(g, result);
}

stretto_status_t graph_rank(const graph_parameters_t* parameters, graph_shared_t* shared,
                            const stretto_host_ops_t* ops, graph_result_t* result, char* error) {
  program_t g = {
      .p = parameters, .shared = shared, .ops = ops, .ranks = graph_ranks(parameters, ops)};
  *result = (graph_result_t){0};
  stretto_status_t status = STRETTO_ERROR_ARGUMENT;
  g.client = stretto_client_create(&parameters->client, ops);
  if (g.client != NULL) {
    g.api = g.client->api;
    status = run(&g, result);
  }
  if (status != STRETTO_OK) {
    const char* why = g.client != NULL ? g.api->last_error(g.client) : "";
    snprintf(error, 256, "rank %u: %s", parameters->rank,
             why[0] != '\0' ? why : stretto_status_text(status));
    ops->store(ops->context, ranks_word(&g.ranks, parameters->rank), RANKS_FAILED);
  }
  ops->store(ops->context, host_word(parameters, WORD_STOP + parameters->rank), 1);
  stretto_client_destroy(g.client);
  return status;
}

stretto_status_t graph_engine(const graph_parameters_t* parameters, graph_shared_t* shared,
                              const stretto_host_ops_t* ops, send_engine_counts_t* counts,
                              char* error) {
  // The rank tells what is registered before it lets kernels send.
  const ranks_t ranks = graph_ranks(parameters, ops);
  ops->wait(ops->context, ranks_word(&ranks, ranks.rank), STRETTO_WAIT_AT_LEAST, 1);
  stretto_client_t* client = stretto_client_create(&parameters->client, ops);
  if (client == NULL) return STRETTO_ERROR_ARGUMENT;
  const stretto_status_t status =
      send_engine_run(&shared->engine[parameters->rank], client, counts, error);
  if (status != STRETTO_OK) ops->store(ops->context, ranks_word(&ranks, ranks.rank), RANKS_FAILED);
  stretto_client_destroy(client);
  return status;
}
