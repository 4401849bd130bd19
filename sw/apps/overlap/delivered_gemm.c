// SPDX-License-Identifier: Apache-2.0
// Host program of one rank: see delivered_gemm.h.
#include "sw/apps/overlap/delivered_gemm.h"

#include "sw/apps/overlap/arrays.h"
#include "sw/include/formats/machine_types.h"
#include "sw/include/tile_order.h"
#include "sw/kernels/kernel_arguments.h"

#define ELEMENT_BYTES 2u
#define WAVEFRONTS 8u
#define FLAG_VALUE 1u

static const char* const kModeNames[DELIVERED_GEMM_MODES] = {"sequential", "t3"};
static const char all_gather_kernel[] = "ring_all_gather";

typedef struct program {
  const delivered_gemm_parameters_t* p;
  delivered_gemm_plan_t plan;
  ranks_t ranks;
  stretto_client_t* client;
  const stretto_api_t* api;
  stretto_stream_t* stream;
  stretto_stream_t* copies[DELIVERED_GEMM_MAX_RANKS];  // By peer.
  stretto_kernel_t gemm;
  stretto_kernel_t all_gather;
} program_t;

const char* delivered_gemm_mode_name(delivered_gemm_mode_t mode) {
  return (unsigned)mode < DELIVERED_GEMM_MODES ? kModeNames[mode] : NULL;
}

static int gathers(const delivered_gemm_parameters_t* p) {
  return p->collective == DELIVERED_GEMM_ALL_GATHER;
}

static int passes_on(const delivered_gemm_parameters_t* p) {
  return p->collective == DELIVERED_GEMM_NEXT;
}

static int is_fused(const delivered_gemm_parameters_t* p) { return p->mode == DELIVERED_GEMM_T3; }

// To each of several peers by a stream.
static int copies(const delivered_gemm_parameters_t* p) {
  return !is_fused(p) && p->collective == DELIVERED_GEMM_ALL_TO_ALL;
}

// Parts of the output with a destination each.
static uint32_t chunks(const delivered_gemm_parameters_t* p) { return passes_on(p) ? 1 : p->ranks; }

stretto_status_t delivered_gemm_plan(const delivered_gemm_parameters_t* p,
                                     delivered_gemm_plan_t* plan) {
  *plan = (delivered_gemm_plan_t){0};
  if ((unsigned)p->mode >= DELIVERED_GEMM_MODES || p->ranks == 0 || p->rank >= p->ranks ||
      p->ranks > DELIVERED_GEMM_MAX_RANKS)
    return STRETTO_ERROR_ARGUMENT;
  if (p->m == 0 || p->n == 0 || p->k == 0 || gemm_kernel_of_tile(p->tile_m) == NULL)
    return STRETTO_ERROR_ARGUMENT;
  if (p->m > 1u << 20 || p->n > 1u << 20 || p->k > 1u << 20) return STRETTO_ERROR_ARGUMENT;
  if (p->collective_groups == 0 || p->collective_groups > 65536) return STRETTO_ERROR_ARGUMENT;
  plan->lda = padded_row(p->k, ELEMENT_BYTES);
  plan->ldb = padded_row(p->b_k_contiguous ? p->k : p->n, ELEMENT_BYTES);
  plan->ldc = p->n * ELEMENT_BYTES;
  plan->tiles_m = divide_up(p->m, p->tile_m);
  plan->tiles_n = divide_up(p->n, GEMM_TILE_N);
  if ((uint64_t)plan->tiles_m * plan->tiles_n > 65536 || plan->tiles_m % chunks(p) != 0)
    return STRETTO_ERROR_ARGUMENT;
  // What comes from others has the shape of what goes to them.
  if (p->collective == DELIVERED_GEMM_ALL_TO_ALL && p->m % p->tile_m != 0)
    return STRETTO_ERROR_ARGUMENT;
  plan->tiles = plan->tiles_m * plan->tiles_n;
  plan->a_bytes = (uint64_t)p->m * plan->lda;
  plan->b_bytes = (uint64_t)(p->b_k_contiguous ? p->n : p->k) * plan->ldb;
  plan->c_bytes = ((uint64_t)p->m * plan->ldc + 7) & ~7ull;
  plan->flag_bytes = (uint64_t)p->ranks * p->collective_groups * 8;
  plan->word_bytes = (uint64_t)(1 + p->ranks) * 8;
  plan->spill_bytes = (uint64_t)plan->tiles * SPILL_BYTES_OF_TILE;
  const uint32_t cached = STRETTO_ALLOCATION_CACHED, uncached = STRETTO_ALLOCATION_UNCACHED;
  memory_plan_t* memory = &plan->memory;
  *memory = memory_plan(&p->client, ARRAY_ALIGNMENT);
  plan->c = memory_plan_add(memory, "C", plan->c_bytes, is_fused(p) ? uncached : cached);
  plan->a = memory_plan_add_input(memory, "A", plan->a_bytes, cached);
  plan->b = memory_plan_add_input(memory, "B", plan->b_bytes, cached);
  if (is_fused(p)) {
    plan->spill = memory_plan_add(memory, "spill table", plan->spill_bytes, uncached);
  } else if (gathers(p)) {
    plan->flags = memory_plan_add(memory, "flags", plan->flag_bytes, uncached);
  } else {
    plan->received = memory_plan_add(memory, "received", plan->c_bytes, uncached);
    plan->words = memory_plan_add(memory, "words", plan->word_bytes, uncached);
  }
  return memory->end <= p->client.memory_end ? STRETTO_OK : STRETTO_ERROR_TABLE_FULL;
}

stretto_status_t delivered_gemm_check_gemm_elf(const delivered_gemm_parameters_t* p, char* error,
                                               size_t error_bytes) {
  return stretto_kernel_check(p->gemm_elf, p->gemm_elf_bytes, gemm_kernel_of_tile(p->tile_m), NULL,
                              error, error_bytes);
}

stretto_status_t delivered_gemm_check_ring_elf(const delivered_gemm_parameters_t* p, char* error,
                                               size_t error_bytes) {
  if (is_fused(p) || !gathers(p)) return STRETTO_OK;
  return stretto_kernel_check(p->ring_elf, p->ring_elf_bytes, all_gather_kernel, NULL, error,
                              error_bytes);
}

// Of a chunk; all have as many tiles.
static uint32_t chunk_tiles(const program_t* g) { return g->plan.tiles / chunks(g->p); }
static uint32_t first_tile(const program_t* g, uint32_t chunk) { return chunk * chunk_tiles(g); }
static uint64_t chunk_offset(const program_t* g, uint32_t chunk) {
  return (uint64_t)chunk * (g->plan.tiles_m / g->p->ranks) * g->p->tile_m * g->plan.ldc;
}
static uint32_t left_of(const program_t* g) { return (g->p->rank + g->p->ranks - 1) % g->p->ranks; }
static uint32_t right_of(const program_t* g) { return (g->p->rank + 1) % g->p->ranks; }

// Set-up

static stretto_status_t load_kernels(program_t* g) {
  const delivered_gemm_parameters_t* p = g->p;
  stretto_module_t* module = NULL;
  TRY(g->api->module_load(g->client, p->gemm_elf, p->gemm_elf_bytes, &module));
  TRY(g->api->module_kernel(g->client, module, gemm_kernel_of_tile(p->tile_m), &g->gemm));
  if (is_fused(p) || !gathers(p)) return STRETTO_OK;
  TRY(g->api->module_load(g->client, p->ring_elf, p->ring_elf_bytes, &module));
  return g->api->module_kernel(g->client, module, all_gather_kernel, &g->all_gather);
}

// A chunk's map. All that comes or is made here is counted, one store an element.
static stretto_status_t map_chunk(program_t* g, uint32_t chunk) {
  const delivered_gemm_parameters_t* p = g->p;
  const delivered_gemm_plan_t* plan = &g->plan;
  stretto_tile_map_t map = {.first_tile = first_tile(g, chunk),
                            .tile_count = chunk_tiles(g),
                            .updates = 1,
                            .block_tiles = p->block_tiles,
                            .flags = STRETTO_MAP_TRACKED,
                            .allocation = STRETTO_ALLOCATION_UNCACHED};
  if (gathers(p)) {
    // The left neighbour has made its own chunk itself.
    if (chunk == left_of(g) || p->ranks == 1)
      return g->api->local_map_tiles(g->client, g->stream, &map);
    map.peer_base = ranks_at(&g->ranks, plan->c, left_of(g));
    return g->api->dma_map_tiles(g->client, g->stream, &map);
  }
  if (passes_on(p) && p->ranks > 1) {
    map.peer_base = ranks_at(&g->ranks, plan->c, right_of(g));
    map.flags |= STRETTO_MAP_ARRIVAL;
    return g->api->remote_map_tiles(g->client, g->stream, &map);
  }
  if (chunk == p->rank) return g->api->local_map_tiles(g->client, g->stream, &map);
  // To place `rank` of the peer; what the peer makes for this rank comes in its stead.
  map.peer_base =
      ranks_at(&g->ranks, plan->c, chunk) + chunk_offset(g, p->rank) - chunk_offset(g, chunk);
  map.id_shift = (uint16_t)(first_tile(g, p->rank) - first_tile(g, chunk));
  map.flags |= STRETTO_MAP_ARRIVAL;
  return g->api->remote_map_tiles(g->client, g->stream, &map);
}

static stretto_status_t map_output(program_t* g) {
  const delivered_gemm_parameters_t* p = g->p;
  const delivered_gemm_plan_t* plan = &g->plan;
  const stretto_output_config_t output = {.base = plan->c,
                                          .m = p->m,
                                          .n = p->n,
                                          .pitch = plan->ldc,
                                          .tile_m = (uint16_t)p->tile_m,
                                          .tile_n = GEMM_TILE_N,
                                          .wavefronts = WAVEFRONTS,
                                          .updates = 1,
                                          .element = STRETTO_FP16,
                                          .account = DELIVERED_GEMM_ACCOUNT_MOVE,
                                          .tracker_ways = (uint8_t)p->tracker_ways,
                                          .tile_order = TILE_ORDER_ROWS};
  TRY(g->api->spill_table(g->client, g->stream, plan->spill, plan->spill_bytes));
  TRY(g->api->configure_output(g->client, g->stream, &output));
  for (uint32_t chunk = 0; chunk < chunks(p); ++chunk) TRY(map_chunk(g, chunk));
  return STRETTO_OK;
}

// What ring_all_gather stores to the left neighbour.
static stretto_status_t map_neighbour(program_t* g) {
  const delivered_gemm_plan_t* plan = &g->plan;
  if (g->p->ranks == 1) return STRETTO_OK;
  const uint64_t c = ranks_at(&g->ranks, plan->c, left_of(g));
  const uint64_t flags = ranks_at(&g->ranks, plan->flags, left_of(g));
  TRY(g->api->remote_map(g->client, g->stream, c, plan->c_bytes, c, 0));
  return g->api->remote_map(g->client, g->stream, flags, plan->flag_bytes, flags, 0);
}

static stretto_status_t set_up(program_t* g) {
  const delivered_gemm_parameters_t* p = g->p;
  const delivered_gemm_plan_t* plan = &g->plan;
  const uint32_t init = DELIVERED_GEMM_ACCOUNT_INIT;
  TRY(g->api->stream_create(g->client, &g->stream));
  for (uint32_t peer = 0; copies(p) && peer < p->ranks; ++peer) {
    if (peer != p->rank) TRY(g->api->stream_create(g->client, &g->copies[peer]));
  }
  TRY(memory_plan_allocate(&plan->memory, g->client, g->stream));
  TRY(load_kernels(g));
  TRY(arbiter_configure(&p->arbiter, g->api, g->client, g->stream));
  if (is_fused(p)) {
    // Zero before the Tracker starts.
    TRY(g->api->fill(g->client, g->stream, plan->spill, plan->spill_bytes, 0, init));
    TRY(g->api->stream_synchronize(g->client, g->stream));
    TRY(map_output(g));
  } else if (gathers(p)) {
    TRY(map_neighbour(g));
    TRY(g->api->fill(g->client, g->stream, plan->flags, plan->flag_bytes, 0, init));
  } else {
    // Not 0: nothing has been sent.
    TRY(g->api->fill(g->client, g->stream, plan->words, plan->word_bytes, 1, init));
  }
  return g->api->stream_synchronize(g->client, g->stream);
}

// Work

// The work-groups of `count` chunks from `chunk` on.
static stretto_status_t launch_gemm(program_t* g, uint32_t chunk, uint32_t count) {
  const delivered_gemm_parameters_t* p = g->p;
  const delivered_gemm_plan_t* plan = &g->plan;
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
  const stretto_launch_t launch = {.kernel = &g->gemm,
                                   .arguments = &arguments,
                                   .argument_bytes = sizeof arguments,
                                   .work_groups = plan->tiles,
                                   .first = first_tile(g, chunk),
                                   .count = count * chunk_tiles(g),
                                   .account = DELIVERED_GEMM_ACCOUNT_GEMM,
                                   .update = is_fused(p)};
  return g->api->launch(g->client, g->stream, &launch);
}

static stretto_status_t launch_all_gather(program_t* g) {
  const delivered_gemm_parameters_t* p = g->p;
  const delivered_gemm_plan_t* plan = &g->plan;
  const stretto_ring_arguments_t arguments = {
      .output = plan->c,
      .peer = ranks_at(&g->ranks, plan->c, left_of(g)),
      .flags = plan->flags,
      .peer_flags = ranks_at(&g->ranks, plan->flags, left_of(g)),
      .flag_value = FLAG_VALUE,
      .m = p->m,
      .n = p->n,
      .pitch = plan->ldc,
      .along = plan->tiles_n,
      .tiles = plan->tiles,
      .tile_m = (uint16_t)p->tile_m,
      .tile_n = GEMM_TILE_N,
      .rank = p->rank,
      .ranks = p->ranks,
      .order = TILE_ORDER_ROWS};
  const stretto_launch_t launch = {.kernel = &g->all_gather,
                                   .arguments = &arguments,
                                   .argument_bytes = sizeof arguments,
                                   .work_groups = p->collective_groups,
                                   .account = DELIVERED_GEMM_ACCOUNT_MOVE,
                                   .communication = 1,
                                   .after_all_earlier = 1};
  return g->api->launch(g->client, g->stream, &launch);
}

// A stream a peer, so that all links are used at once; each begins when the GEMM has ended.
static stretto_status_t copy_chunks(program_t* g) {
  const delivered_gemm_parameters_t* p = g->p;
  const delivered_gemm_plan_t* plan = &g->plan;
  const uint64_t bytes = (uint64_t)p->m / p->ranks * plan->ldc;
  for (uint32_t distance = 1; distance < p->ranks; ++distance) {
    const uint32_t peer = (p->rank + distance) % p->ranks;
    stretto_stream_t* const stream = g->copies[peer];
    TRY(g->api->stream_wait(g->client, stream, plan->words, 0));
    TRY(g->api->copy(g->client, stream,
                     ranks_at(&g->ranks, plan->received, peer) + chunk_offset(g, p->rank),
                     plan->c + chunk_offset(g, peer), bytes, DELIVERED_GEMM_ACCOUNT_MOVE));
    TRY(g->api->signal(g->client, stream,
                       ranks_at(&g->ranks, plan->words, peer) + 8 * (1 + (uint64_t)p->rank), 0));
  }
  TRY(g->api->signal(g->client, g->stream, plan->words, 0));
  for (uint32_t source = 0; source < p->ranks; ++source) {
    if (source == p->rank) continue;
    TRY(g->api->stream_wait(g->client, g->stream, plan->words + 8 * (1 + (uint64_t)source), 0));
  }
  return STRETTO_OK;
}

static stretto_status_t copy_to_next(program_t* g) {
  const delivered_gemm_parameters_t* p = g->p;
  const delivered_gemm_plan_t* plan = &g->plan;
  const uint64_t word = 8 * (1 + (uint64_t)p->rank);
  TRY(g->api->copy(g->client, g->stream, ranks_at(&g->ranks, plan->received, right_of(g)), plan->c,
                   plan->c_bytes, DELIVERED_GEMM_ACCOUNT_MOVE));
  TRY(g->api->signal(g->client, g->stream, ranks_at(&g->ranks, plan->words, right_of(g)) + word,
                     0));
  return g->api->stream_wait(g->client, g->stream, plan->words + 8 * (1 + (uint64_t)left_of(g)), 0);
}

static stretto_status_t submit(program_t* g) {
  const delivered_gemm_parameters_t* p = g->p;
  if (passes_on(p)) {
    TRY(launch_gemm(g, 0, 1));
    if (is_fused(p)) return g->api->collective_wait(g->client, g->stream);
    return p->ranks == 1 ? STRETTO_OK : copy_to_next(g);
  }
  if (gathers(p)) {
    TRY(launch_gemm(g, p->rank, 1));
    return is_fused(p) ? g->api->collective_wait(g->client, g->stream) : launch_all_gather(g);
  }
  if (!is_fused(p)) {
    TRY(launch_gemm(g, 0, p->ranks));
    return copy_chunks(g);
  }
  for (uint32_t position = 1; position <= p->ranks; ++position)
    TRY(launch_gemm(g, (p->rank + position) % p->ranks, 1));
  return g->api->collective_wait(g->client, g->stream);
}

static stretto_status_t run(program_t* g) {
  const stretto_status_t ready = set_up(g);
  const stretto_status_t others = ranks_meet(&g->ranks, ready == STRETTO_OK);
  TRY(ready);
  TRY(others);
  TRY(submit(g));
  for (uint32_t peer = 0; peer < g->p->ranks; ++peer) {
    if (g->copies[peer] != NULL) TRY(g->api->stream_synchronize(g->client, g->copies[peer]));
  }
  return g->api->stream_synchronize(g->client, g->stream);
}

stretto_status_t delivered_gemm_run(const delivered_gemm_parameters_t* p,
                                    const stretto_host_ops_t* ops, char* error) {
  program_t g = {
      .p = p,
      .ranks = {
          .ops = ops, .job = p->job, .rank = p->rank, .ranks = p->ranks, .host_ranks = p->ranks}};
  TRY(ranks_client(&g.ranks, delivered_gemm_plan(p, &g.plan), &p->client, &g.client, error));
  g.api = g.client->api;
  return ranks_end(&g.ranks, run(&g), g.client, error);
}
