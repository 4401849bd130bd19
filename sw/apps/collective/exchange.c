// SPDX-License-Identifier: Apache-2.0
// Exchanges of blocks that a kernel asks for: see exchange.h.
#include "sw/apps/collective/exchange.h"

#include "sw/driver/card.h"
#include "sw/include/formats/card.h"
#include "sw/include/formats/machine_types.h"
#include "sw/include/formats/send_request.h"
#include "sw/kernels/kernel_arguments.h"

// The first ids; those of the other peers follow.
#define SOURCE_ID 1u
#define DESTINATION_ID (SOURCE_ID + EXCHANGE_MAX_PEERS)
#define CONNECTION 0u
#define RING_BATCH 8u

// Words in a GPU's memory.
#define SC 0u
#define RC STRETTO_SEND_FLAG_BYTES
#define TICKET (2u * STRETTO_SEND_FLAG_BYTES)
#define REPLICA (TICKET + 64u)
#define WORD_BYTES (TICKET + 128u)

typedef struct exchange_rank {
  const exchange_parameters_t* p;
  const stretto_host_ops_t* ops;
  exchange_plan_t plan;
  ranks_t ranks;
  stretto_client_t* client;
  const stretto_api_t* api;
  stretto_stream_t* stream;
  stretto_kernel_t kernel;
  stretto_card_t card;
  uint64_t window;
} exchange_rank_t;

const char* exchange_engine_name(exchange_engine_t engine) {
  static const char* const names[EXCHANGE_ENGINES] = {"g-drv-d", "g-drv-h", "g-drv-h-collective"};
  return engine < EXCHANGE_ENGINES ? names[engine] : NULL;
}

static uint32_t peers_of(const exchange_parameters_t* p) { return p->ranks - 1; }

uint32_t exchange_peer(const exchange_parameters_t* p, uint32_t rank, uint32_t peer) {
  return (rank + 1 + peer) % p->ranks;
}

uint64_t exchange_offset(const exchange_parameters_t* p, uint32_t size) {
  uint64_t offset = 0;
  for (uint32_t i = 0; i < size; ++i) offset += (EXCHANGE_WARM_UP + p->calls) * p->bytes[i];
  return offset;
}

uint64_t exchange_stamps(const exchange_parameters_t* p, const exchange_plan_t* plan, uint32_t size,
                         uint32_t work_group) {
  return plan->stamps + 16 * ((uint64_t)size * p->work_groups + work_group);
}

stretto_status_t exchange_plan(const exchange_parameters_t* p, exchange_plan_t* plan) {
  const uint32_t uncached = STRETTO_ALLOCATION_UNCACHED;
  memory_plan_t* memory = &plan->memory;
  *memory = memory_plan(&p->client, 4096);
  plan->place_bytes = exchange_offset(p, p->sizes);
  plan->source = memory_plan_add_input(
      memory, "source", (p->same_block ? 1 : peers_of(p)) * plan->place_bytes, uncached);
  plan->destination =
      memory_plan_add(memory, "destination", peers_of(p) * plan->place_bytes, uncached);
  plan->words = memory_plan_add(memory, "words", WORD_BYTES, uncached);
  plan->stamps = memory_plan_add(memory, "stamps", 16ull * p->sizes * p->work_groups, uncached);
  return memory->end + EXCHANGE_MODULE_BYTES <= p->client.memory_end ? STRETTO_OK
                                                                     : STRETTO_ERROR_TABLE_FULL;
}

// Set-up

static int has_card(const exchange_parameters_t* p) { return p->engine != EXCHANGE_G_DRV_D; }

static stretto_ring_export_t place(const exchange_rank_t* g, uint64_t array, uint32_t index,
                                   uint32_t flags) {
  return (stretto_ring_export_t){.base = array + index * g->plan.place_bytes,
                                 .bytes = g->plan.place_bytes,
                                 .unit_shift = EXCHANGE_UNIT_SHIFT,
                                 .flags = flags};
}

static stretto_status_t connect_peer(exchange_rank_t* g, uint32_t peer) {
  const exchange_parameters_t* p = g->p;
  const uint32_t rank = exchange_peer(p, p->rank, peer), gpu = job_gpu(&p->job, rank);
  const uint64_t flags = ranks_at(&g->ranks, g->plan.words + RC, rank);
  const stretto_ring_export_t source =
      place(g, g->plan.source, p->same_block ? 0 : peer, STRETTO_RING_READABLE);
  const stretto_ring_export_t destination =
      place(g, ranks_at(&g->ranks, g->plan.destination, rank), peer, STRETTO_RING_WRITABLE);
  if (has_card(p)) {
    TRY(stretto_card_connect(&g->card, CONNECTION + peer, gpu, flags, 0));
    TRY(stretto_card_register(&g->card, SOURCE_ID + peer, &source));
    return stretto_card_register(&g->card, DESTINATION_ID + peer, &destination);
  }
  TRY(g->api->ring_connect(g->client, g->stream, CONNECTION + peer, gpu, flags, 0));
  TRY(g->api->ring_register(g->client, g->stream, SOURCE_ID + peer, source.base, source.bytes,
                            source.unit_shift, source.flags));
  return g->api->ring_import(g->client, g->stream, DESTINATION_ID + peer, &destination);
}

static uint64_t report_of(const exchange_parameters_t* p) {
  return job_host_memory(&p->job) + (uint64_t)p->rank * STRETTO_CARD_REPORT_BYTES;
}

static stretto_status_t start_engine(exchange_rank_t* g) {
  const exchange_parameters_t* p = g->p;
  const uint64_t replica = g->plan.words + REPLICA, sc = g->plan.words + SC;
  if (!has_card(p)) {
    g->window = stretto_gpu_address(p->client.gpu, STRETTO_SEND_APERTURE);
    return g->api->ring_start(g->client, g->stream, replica, sc, RING_BATCH);
  }
  TRY(stretto_card_init(&g->card, g->ops, p->client.gpu, report_of(p)));
  g->window = stretto_card_window(&g->card);
  TRY(g->api->remote_map(g->client, g->stream, g->window, STRETTO_SEND_APERTURE_BYTES, g->window,
                         0));
  TRY(g->api->stream_synchronize(g->client, g->stream));
  TRY(stretto_card_start(&g->card, replica, sc, RING_BATCH));
  return p->engine == EXCHANGE_G_DRV_H_COLLECTIVE ? stretto_card_collective(&g->card, peers_of(p))
                                                  : STRETTO_OK;
}

static stretto_status_t set_up(exchange_rank_t* g) {
  stretto_module_t* module = NULL;
  TRY(g->api->stream_create(g->client, &g->stream));
  TRY(memory_plan_allocate(&g->plan.memory, g->client, g->stream));
  TRY(g->api->fill(g->client, g->stream, g->plan.words, WORD_BYTES, 0, EXCHANGE_ACCOUNT_INIT));
  TRY(g->api->module_load(g->client, g->p->send_elf, g->p->send_elf_bytes, &module));
  TRY(g->api->module_kernel(g->client, module, "exchange", &g->kernel));
  TRY(start_engine(g));
  for (uint32_t peer = 0; peer < peers_of(g->p); ++peer) TRY(connect_peer(g, peer));
  return g->api->stream_synchronize(g->client, g->stream);
}

// Calls

static stretto_status_t run_size(exchange_rank_t* g, uint32_t size) {
  const exchange_parameters_t* p = g->p;
  const int collective = p->engine == EXCHANGE_G_DRV_H_COLLECTIVE;
  const uint32_t units = (uint32_t)(p->bytes[size] >> EXCHANGE_UNIT_SHIFT);
  const uint32_t calls = EXCHANGE_WARM_UP + p->calls;
  const stretto_exchange_arguments_t arguments = {
      .ring = {.window = g->window,
               .ticket = g->plan.words + TICKET,
               .replica = g->plan.words + REPLICA,
               .depth = STRETTO_SEND_RING_DEPTH},
      .request = stretto_send_request(collective ? STRETTO_SR_COLLECTIVE : STRETTO_SR_WRITE,
                                      SOURCE_ID, DESTINATION_ID, CONNECTION,
                                      (uint32_t)(exchange_offset(p, size) >> EXCHANGE_UNIT_SHIFT),
                                      units, STRETTO_SR_RC),
      .flags = g->plan.words + RC + 8 * DESTINATION_ID,
      .flag_base = (uint64_t)size * calls,
      .stamps = exchange_stamps(p, &g->plan, size, 0),
      .peers = peers_of(p),
      .step = units,
      .calls = calls,
      .warm_up = EXCHANGE_WARM_UP,
      .ahead = p->ahead,
      .form = collective           ? STRETTO_EXCHANGE_COLLECTIVE
              : p->tickets_at_once ? STRETTO_EXCHANGE_TICKETS_AT_ONCE
                                   : STRETTO_EXCHANGE_REQUESTS};
  const stretto_launch_t launch = {.kernel = &g->kernel,
                                   .arguments = &arguments,
                                   .argument_bytes = sizeof arguments,
                                   .work_groups = p->work_groups,
                                   .account = EXCHANGE_ACCOUNT_SEND,
                                   .communication = 1,
                                   .after_all_earlier = 1};
  TRY(g->api->launch(g->client, g->stream, &launch));
  return g->api->stream_synchronize(g->client, g->stream);
}

static stretto_status_t run(exchange_rank_t* g, uint32_t* done) {
  const stretto_status_t status = set_up(g);
  // Nobody sends before all flags are zero.
  const stretto_status_t met = ranks_meet(&g->ranks, status == STRETTO_OK);
  if (status != STRETTO_OK) return status;
  TRY(met);
  for (uint32_t size = 0; size < g->p->sizes; ++size) {
    TRY(run_size(g, size));
    TRY(ranks_meet(&g->ranks, 1));
    *done = size + 1;
  }
  return STRETTO_OK;
}

stretto_status_t exchange_rank(const exchange_parameters_t* p, const stretto_host_ops_t* ops,
                               uint32_t* done, char* error) {
  exchange_rank_t g = {
      .p = p,
      .ops = ops,
      .ranks = {
          .ops = ops, .job = p->job, .rank = p->rank, .ranks = p->ranks, .host_ranks = p->ranks}};
  TRY(ranks_client(&g.ranks, exchange_plan(p, &g.plan), &p->client, &g.client, error));
  g.api = g.client->api;
  const stretto_status_t status = run(&g, done);
  if (g.card.ops != NULL) stretto_card_stop_waiting(&g.card);
  return ranks_end(&g.ranks, status, g.client, error);
}

stretto_status_t exchange_card_watch(const exchange_parameters_t* p, const stretto_host_ops_t* ops,
                                     char* error) {
  stretto_card_t card;
  TRY(stretto_card_init(&card, ops, p->client.gpu, report_of(p)));
  return stretto_card_wait_error(&card, error, 256) != NULL ? STRETTO_ERROR_DEVICE : STRETTO_OK;
}
