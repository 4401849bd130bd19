// SPDX-License-Identifier: Apache-2.0
// Host program of one rank: see gathered_gemm.h.
#include "sw/apps/overlap/gathered_gemm.h"

#include "sw/apps/overlap/arrays.h"
#include "sw/apps/ranks.h"
#include "sw/include/formats/machine_types.h"
#include "sw/kernels/kernel_arguments.h"

#define ELEMENT_BYTES 2u
// Tiles of A: what the Tracker counts (16 x 256 elements are a quarter of what its counter holds)
// and the DMA engine sends at once. One wavefront each, so one event.
#define INPUT_TILE_M 16u
#define INPUT_TILE_K 256u

static const char* const kModeNames[GATHERED_GEMM_MODES] = {"sequential", "t3-agc"};

typedef struct program {
  const gathered_gemm_parameters_t* p;
  gathered_gemm_plan_t plan;
  ranks_t ranks;
  stretto_client_t* client;
  const stretto_api_t* api;
  stretto_stream_t* stream;
  stretto_kernel_t gemm;
} program_t;

const char* gathered_gemm_mode_name(gathered_gemm_mode_t mode) {
  return (unsigned)mode < GATHERED_GEMM_MODES ? kModeNames[mode] : NULL;
}

stretto_status_t gathered_gemm_plan(const gathered_gemm_parameters_t* p,
                                    gathered_gemm_plan_t* plan) {
  *plan = (gathered_gemm_plan_t){0};
  if ((unsigned)p->mode >= GATHERED_GEMM_MODES || p->ranks == 0 || p->rank >= p->ranks)
    return STRETTO_ERROR_ARGUMENT;
  if (p->m == 0 || p->n == 0 || p->k == 0 || gemm_kernel_of_tile(p->tile_m) == NULL)
    return STRETTO_ERROR_ARGUMENT;
  if (p->m > 1u << 20 || p->n > 1u << 20 || p->k > 1u << 20) return STRETTO_ERROR_ARGUMENT;
  plan->lda = padded_row(p->k, ELEMENT_BYTES);
  plan->ldb = padded_row(p->b_k_contiguous ? p->k : p->n, ELEMENT_BYTES);
  plan->ldc = p->n * ELEMENT_BYTES;
  plan->tiles_m = divide_up(p->m, p->tile_m);
  plan->tiles_n = divide_up(p->n, GEMM_TILE_N);
  plan->input_tiles_k = divide_up(p->k, INPUT_TILE_K);
  plan->tiles_per_gate = p->tile_m / INPUT_TILE_M * plan->input_tiles_k;
  if ((uint64_t)plan->tiles_m * plan->tiles_n > 65536) return STRETTO_ERROR_ARGUMENT;
  const uint64_t input_tiles = (uint64_t)divide_up(p->m, INPUT_TILE_M) * plan->input_tiles_k;
  if (input_tiles > 65536 || plan->tiles_m % p->ranks != 0) return STRETTO_ERROR_ARGUMENT;
  plan->input_tiles = (uint32_t)input_tiles;
  plan->a_bytes = (uint64_t)p->m * plan->lda;
  plan->b_bytes = (uint64_t)(p->b_k_contiguous ? p->n : p->k) * plan->ldb;
  plan->c_bytes = ((uint64_t)p->m * plan->ldc + 7) & ~7ull;
  plan->spill_bytes = input_tiles * SPILL_BYTES_OF_TILE;
  const uint32_t cached = STRETTO_ALLOCATION_CACHED;
  memory_plan_t* memory = &plan->memory;
  *memory = memory_plan(&p->client, ARRAY_ALIGNMENT);
  plan->c = memory_plan_add(memory, "C", plan->c_bytes, cached);
  plan->a = memory_plan_add(memory, "A", plan->a_bytes, cached);
  plan->b = memory_plan_add_input(memory, "B", plan->b_bytes, cached);
  plan->spill =
      memory_plan_add(memory, "spill table", plan->spill_bytes, STRETTO_ALLOCATION_UNCACHED);
  return memory->end <= p->client.memory_end ? STRETTO_OK : STRETTO_ERROR_TABLE_FULL;
}

stretto_status_t gathered_gemm_check_elf(const gathered_gemm_parameters_t* p, char* error,
                                         size_t error_bytes) {
  return stretto_kernel_check(p->gemm_elf, p->gemm_elf_bytes, gemm_kernel_of_tile(p->tile_m), NULL,
                              error, error_bytes);
}

// First tile of A of a chunk; chunk = ranks gives the number of tiles.
static uint32_t first_input_tile(const program_t* g, uint32_t chunk) {
  if (chunk == g->p->ranks) return g->plan.input_tiles;
  return chunk * (g->plan.tiles_m / g->p->ranks) * g->plan.tiles_per_gate;
}

static uint32_t first_row_block(const program_t* g, uint32_t chunk) {
  return chunk * (g->plan.tiles_m / g->p->ranks);
}

// Set-up

static stretto_status_t load_kernel(program_t* g) {
  stretto_module_t* module = NULL;
  TRY(g->api->module_load(g->client, g->p->gemm_elf, g->p->gemm_elf_bytes, &module));
  return g->api->module_kernel(g->client, module, gemm_kernel_of_tile(g->p->tile_m), &g->gemm);
}

// Arriving tiles are counted; complete ones go to their DMA region or raise an event.
static stretto_status_t map_arrivals(program_t* g, uint32_t first, uint32_t end, uint32_t flags) {
  const stretto_tile_map_t map = {.first_tile = first,
                                  .tile_count = end - first,
                                  .updates = 1,
                                  .flags = STRETTO_MAP_TRACKED | flags,
                                  .allocation = STRETTO_ALLOCATION_CACHED};
  return first == end ? STRETTO_OK : g->api->local_map_tiles(g->client, g->stream, &map);
}

static stretto_status_t map_input(program_t* g) {
  const gathered_gemm_parameters_t* p = g->p;
  const gathered_gemm_plan_t* plan = &g->plan;
  const stretto_output_config_t input = {.base = plan->a,
                                         .m = p->m,
                                         .n = p->k,
                                         .pitch = plan->lda,
                                         .tile_m = INPUT_TILE_M,
                                         .tile_n = INPUT_TILE_K,
                                         .wavefronts = 1,
                                         .updates = 1,
                                         .element = STRETTO_FP16,
                                         .account = GATHERED_GEMM_ACCOUNT_AG,
                                         .tracker_ways = (uint8_t)p->tracker_ways};
  TRY(g->api->spill_table(g->client, g->stream, plan->spill, plan->spill_bytes));
  TRY(g->api->configure_output(g->client, g->stream, &input));
  if (p->mode == GATHERED_GEMM_SEQUENTIAL) {
    TRY(map_arrivals(g, 0, first_input_tile(g, p->rank), 0));
    return map_arrivals(g, first_input_tile(g, p->rank + 1), plan->input_tiles, 0);
  }
  TRY(map_arrivals(g, 0, plan->input_tiles, STRETTO_MAP_EVENT));
  const stretto_gates_t gates = {.tiles_per_gate = plan->tiles_per_gate,
                                 .open_first = first_row_block(g, p->rank),
                                 .open_count = plan->tiles_m / p->ranks};
  return g->api->configure_gates(g->client, g->stream, &gates);
}

static stretto_status_t set_up(program_t* g) {
  const gathered_gemm_plan_t* plan = &g->plan;
  TRY(g->api->stream_create(g->client, &g->stream));
  TRY(memory_plan_allocate(&plan->memory, g->client, g->stream));
  TRY(load_kernel(g));
  TRY(arbiter_configure(&g->p->arbiter, g->api, g->client, g->stream));
  // Zero before the Tracker starts.
  TRY(g->api->fill(g->client, g->stream, plan->spill, plan->spill_bytes, 0,
                   GATHERED_GEMM_ACCOUNT_INIT));
  TRY(g->api->stream_synchronize(g->client, g->stream));
  TRY(map_input(g));
  return g->api->stream_synchronize(g->client, g->stream);
}

// Work

static stretto_status_t send_chunk(program_t* g) {
  const gathered_gemm_parameters_t* p = g->p;
  for (uint32_t distance = 1; distance < p->ranks; ++distance) {
    const uint32_t peer = (p->rank + p->ranks - distance) % p->ranks;
    const uint32_t first = first_input_tile(g, p->rank);
    const stretto_tile_map_t map = {.first_tile = first,
                                    .tile_count = first_input_tile(g, p->rank + 1) - first,
                                    .peer_base = ranks_at(&g->ranks, g->plan.a, peer),
                                    .updates = 1,
                                    .flags = STRETTO_MAP_READY};
    TRY(g->api->dma_map_tiles(g->client, g->stream, &map));
  }
  return STRETTO_OK;
}

static stretto_status_t launch_gemm(program_t* g) {
  const gathered_gemm_parameters_t* p = g->p;
  const gathered_gemm_plan_t* plan = &g->plan;
  const stretto_gemm_arguments_t arguments = {.a = plan->a,
                                              .b = plan->b,
                                              .lda = plan->lda,
                                              .ldb = plan->ldb,
                                              .m = p->m,
                                              .n = p->n,
                                              .k = p->k,
                                              .layout = p->b_k_contiguous ? GEMM_B_NK : 0,
                                              .ldc = plan->ldc,
                                              .tiles_n = plan->tiles_n,
                                              .c = plan->c};
  const int gated = p->mode == GATHERED_GEMM_AGC;
  const stretto_launch_t launch = {.kernel = &g->gemm,
                                   .arguments = &arguments,
                                   .argument_bytes = sizeof arguments,
                                   .work_groups = plan->tiles_m * plan->tiles_n,
                                   .stagger = first_row_block(g, p->rank) * plan->tiles_n,
                                   .batch = gated ? plan->tiles_n : 0,
                                   .account = GATHERED_GEMM_ACCOUNT_GEMM,
                                   .after_all_earlier = !gated};
  return g->api->launch(g->client, g->stream, &launch);
}

static stretto_status_t run(program_t* g) {
  const stretto_status_t ready = set_up(g);
  const stretto_status_t others = ranks_meet(&g->ranks, ready == STRETTO_OK);
  TRY(ready);
  TRY(others);
  TRY(send_chunk(g));
  if (g->p->mode == GATHERED_GEMM_SEQUENTIAL) TRY(g->api->collective_wait(g->client, g->stream));
  TRY(launch_gemm(g));
  if (g->p->mode == GATHERED_GEMM_AGC) TRY(g->api->collective_wait(g->client, g->stream));
  return g->api->stream_synchronize(g->client, g->stream);
}

stretto_status_t gathered_gemm_run(const gathered_gemm_parameters_t* p,
                                   const stretto_host_ops_t* ops, char* error) {
  program_t g = {
      .p = p,
      .ranks = {
          .ops = ops, .job = p->job, .rank = p->rank, .ranks = p->ranks, .host_ranks = p->ranks}};
  TRY(ranks_client(&g.ranks, gathered_gemm_plan(p, &g.plan), &p->client, &g.client, error));
  g.api = g.client->api;
  return ranks_end(&g.ranks, run(&g), g.client, error);
}
