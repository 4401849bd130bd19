// SPDX-License-Identifier: Apache-2.0
// Host program of one rank: see ring_gemm_rs.h.
#include "sw/apps/overlap/ring_gemm_rs.h"

#include "sw/apps/overlap/arrays.h"
#include "sw/apps/ranks.h"
#include "sw/include/formats/machine_types.h"
#include "sw/include/formats/tracker_count.h"
#include "sw/kernels/kernel_arguments.h"

#define TILE_N 128u
#define K_STEP 32u  // Of gemm_split: what a part of K is a multiple of.
#define WAVEFRONTS 8u
#define RING_UPDATES 2u  // Per element: one local, one incoming (T3-TRK-07).
#define FLAG_VALUE 1u

static const char* const kModeNames[RING_GEMM_MODES] = {"sequential", "t3", "t3-mca", "direct",
                                                        "gemm",       "rs", "rs-nmc", "ag"};

typedef struct program {
  const ring_gemm_parameters_t* p;
  ranks_t ranks;
  ring_gemm_plan_t plan;
  stretto_client_t* client;
  const stretto_api_t* api;
  stretto_stream_t* stream;
  stretto_kernel_t gemm;
  stretto_kernel_t reduce_scatter;
  stretto_kernel_t all_gather;
  stretto_kernel_t follow_on;
  uint32_t peer;  // The rank that this one sends to.
} program_t;

static int has_gemm(ring_gemm_mode_t mode) { return mode <= RING_GEMM_GEMM; }
static int is_fused(ring_gemm_mode_t mode) {
  return mode == RING_GEMM_T3 || mode == RING_GEMM_T3_MCA || mode == RING_GEMM_DIRECT;
}
static int has_rs_kernel(ring_gemm_mode_t mode) {
  return mode == RING_GEMM_SEQUENTIAL || mode == RING_GEMM_RS || mode == RING_GEMM_RS_NMC;
}
static int has_ag(ring_gemm_mode_t mode) {
  return mode == RING_GEMM_SEQUENTIAL || is_fused(mode) || mode == RING_GEMM_AG;
}
static int has_receive(ring_gemm_mode_t mode) {
  return mode == RING_GEMM_SEQUENTIAL || mode == RING_GEMM_RS;
}
static int c_is_uncached(ring_gemm_mode_t mode) {
  return is_fused(mode) || mode == RING_GEMM_RS_NMC;
}

const char* ring_gemm_mode_name(ring_gemm_mode_t mode) {
  return (unsigned)mode < RING_GEMM_MODES ? kModeNames[mode] : NULL;
}

static uint32_t split_of(const ring_gemm_parameters_t* p) {
  return p->split_k > 1 ? p->split_k : 1;
}

static uint32_t element_bytes(const ring_gemm_parameters_t* p) { return p->e4m3 ? 1 : 2; }

stretto_status_t ring_gemm_plan(const ring_gemm_parameters_t* p, ring_gemm_plan_t* plan) {
  *plan = (ring_gemm_plan_t){0};
  if ((unsigned)p->mode >= RING_GEMM_MODES || p->ranks == 0 || p->rank >= p->ranks)
    return STRETTO_ERROR_ARGUMENT;
  if (p->m == 0 || p->n == 0 || p->k == 0 || gemm_kernel_of_tile(p->tile_m) == NULL)
    return STRETTO_ERROR_ARGUMENT;
  if (p->m > 1u << 24 || p->n > 1u << 24 || p->k > 1u << 24) return STRETTO_ERROR_ARGUMENT;
  if (split_of(p) > 1 && (p->e4m3 || !is_fused(p->mode) || p->mode == RING_GEMM_DIRECT ||
                          split_of(p) > divide_up(p->k, K_STEP)))
    return STRETTO_ERROR_ARGUMENT;
  if (p->mode == RING_GEMM_DIRECT && p->ranks > ring_gemm_most_updates(p->tile_m))
    return STRETTO_ERROR_ARGUMENT;
  if (p->follow_on && !is_fused(p->mode) && p->mode != RING_GEMM_SEQUENTIAL)
    return STRETTO_ERROR_ARGUMENT;
  if (p->collective_groups == 0 || p->collective_groups > 65536) return STRETTO_ERROR_ARGUMENT;
  plan->lda = padded_row(p->a_k_contiguous ? p->k : p->m, element_bytes(p));
  plan->ldb = padded_row(p->b_k_contiguous ? p->k : p->n, element_bytes(p));
  plan->ldc = p->n * element_bytes(p);
  plan->tiles_m = divide_up(p->m, p->tile_m);
  plan->tiles_n = divide_up(p->n, TILE_N);
  if ((uint64_t)plan->tiles_m * plan->tiles_n * split_of(p) > 65536) return STRETTO_ERROR_ARGUMENT;
  plan->tiles = plan->tiles_m * plan->tiles_n;
  plan->order_code = p->tile_order == RING_GEMM_STRIPS
                         ? tile_order_strips(p->m, p->n, plan->tiles_m, plan->tiles_n)
                         : TILE_ORDER_ROWS;
  plan->order = tile_order(plan->order_code, plan->tiles_m, plan->tiles_n);
  plan->c_bytes = ((uint64_t)p->m * plan->ldc + 7) & ~7ull;
  plan->flag_bytes = (uint64_t)p->ranks * p->collective_groups * 8;
  plan->spill_bytes = (uint64_t)plan->tiles * SPILL_BYTES_OF_TILE;

  memory_plan_t* memory = &plan->memory;
  *memory = memory_plan(&p->client, ARRAY_ALIGNMENT);
  plan->c = memory_plan_add(
      memory, "C", plan->c_bytes,
      c_is_uncached(p->mode) ? STRETTO_ALLOCATION_UNCACHED : STRETTO_ALLOCATION_CACHED);
  if (has_gemm(p->mode)) {
    plan->a_bytes = (uint64_t)(p->a_k_contiguous ? p->m : p->k) * plan->lda;
    plan->b_bytes = (uint64_t)(p->b_k_contiguous ? p->n : p->k) * plan->ldb;
    plan->a = memory_plan_add_input(memory, "A", plan->a_bytes, STRETTO_ALLOCATION_CACHED);
    plan->b = memory_plan_add_input(memory, "B", plan->b_bytes, STRETTO_ALLOCATION_CACHED);
  }
  if (p->follow_on) {
    const uint32_t cached = STRETTO_ALLOCATION_CACHED;
    plan->mask = memory_plan_add_input(memory, "mask", plan->c_bytes, cached);
    plan->residual = memory_plan_add_input(memory, "residual", plan->c_bytes, cached);
  }
  const uint32_t uncached = STRETTO_ALLOCATION_UNCACHED;
  if (has_receive(p->mode))
    plan->receive =
        memory_plan_add(memory, "received", plan->c_bytes, STRETTO_ALLOCATION_STREAMING);
  if (has_rs_kernel(p->mode))
    plan->rs_flags = memory_plan_add(memory, "rs flags", plan->flag_bytes, uncached);
  if (has_ag(p->mode))
    plan->ag_flags = memory_plan_add(memory, "ag flags", plan->flag_bytes, uncached);
  if (is_fused(p->mode))
    plan->spill = memory_plan_add(memory, "spill table", plan->spill_bytes, uncached);
  return memory->end <= p->client.memory_end ? STRETTO_OK : STRETTO_ERROR_TABLE_FULL;
}

uint32_t ring_gemm_most_updates(uint32_t tile_m) {
  return STRETTO_TRACKER_MAX_HALF_WORDS / (tile_m / WAVEFRONTS * TILE_N);
}

uint32_t ring_gemm_chunk_first(const ring_gemm_plan_t* plan, uint32_t ranks, uint32_t chunk) {
  return (uint32_t)((uint64_t)chunk * plan->tiles / ranks);
}

// The place of `address` on another rank: all ranks have the same plan.
static uint64_t at_rank(uint64_t address, const program_t* g, uint32_t rank) {
  return ranks_at(&g->ranks, address, rank);
}

// Set-up

// What kernels write into the neighbour: its receive array or output, and its flags.
static stretto_status_t map_neighbour(program_t* g) {
  const ring_gemm_plan_t* plan = &g->plan;
  const uint64_t arrays[4] = {plan->receive, plan->rs_flags, plan->ag_flags,
                              has_ag(g->p->mode) || g->p->mode == RING_GEMM_RS_NMC ? plan->c : 0};
  const uint64_t bytes[4] = {plan->c_bytes, plan->flag_bytes, plan->flag_bytes, plan->c_bytes};
  if (g->p->ranks == 1) return STRETTO_OK;
  for (unsigned i = 0; i < 4; ++i) {
    if (arrays[i] == 0) continue;
    const uint64_t address = at_rank(arrays[i], g, g->peer);
    const uint32_t flags = g->p->mode == RING_GEMM_RS_NMC && i == 3 ? STRETTO_MAP_UPDATE : 0;
    TRY(g->api->remote_map(g->client, g->stream, address, bytes[i], address, flags));
  }
  return STRETTO_OK;
}

static stretto_status_t clear(program_t* g, uint64_t address, uint64_t bytes) {
  return address == 0
             ? STRETTO_OK
             : g->api->fill(g->client, g->stream, address, bytes, 0, RING_GEMM_ACCOUNT_INIT);
}

// Updates of an element of a tracked chunk: the own one, and what arrives.
static uint32_t updates_of(const ring_gemm_parameters_t* p) {
  if (p->ranks == 1) return 1;
  return p->mode == RING_GEMM_DIRECT ? p->ranks : RING_UPDATES;
}

// Of fewer than three ranks one alone sends.
static int adds_in_switch(const ring_gemm_parameters_t* p) {
  return p->mode == RING_GEMM_DIRECT && p->in_switch && p->ranks > 2;
}

// Maps of the fused collective, the chunks in the order in which they are computed.
static stretto_status_t map_chunks(program_t* g) {
  const ring_gemm_parameters_t* p = g->p;
  const ring_gemm_plan_t* plan = &g->plan;
  const stretto_output_config_t output = {.base = plan->c,
                                          .m = p->m,
                                          .n = p->n,
                                          .pitch = plan->ldc,
                                          .tile_m = (uint16_t)p->tile_m,
                                          .tile_n = TILE_N,
                                          .wavefronts = WAVEFRONTS,
                                          .updates = (uint8_t)updates_of(p),
                                          .element = p->e4m3 ? STRETTO_E4M3 : STRETTO_FP16,
                                          .account = RING_GEMM_ACCOUNT_RS,
                                          .tracker_ways = (uint8_t)p->tracker_ways,
                                          .tile_order = (uint8_t)plan->order_code,
                                          .work_groups = plan->tiles * split_of(p)};
  TRY(g->api->spill_table(g->client, g->stream, plan->spill, plan->spill_bytes));
  TRY(g->api->configure_output(g->client, g->stream, &output));
  for (uint32_t position = 1; position <= p->ranks; ++position) {
    const uint32_t chunk = (p->rank + position) % p->ranks;
    const int direct = p->mode == RING_GEMM_DIRECT;
    stretto_tile_map_t map = {.first_tile = ring_gemm_chunk_first(plan, p->ranks, chunk),
                              .peer_base = at_rank(plan->c, g, direct ? chunk : g->peer),
                              .block_tiles = p->block_tiles,
                              .updates = output.updates,
                              .flags = STRETTO_MAP_UPDATE | STRETTO_MAP_TRACKED,
                              .allocation = STRETTO_ALLOCATION_UNCACHED};
    map.tile_count = ring_gemm_chunk_first(plan, p->ranks, chunk + 1) - map.first_tile;
    if (map.tile_count == 0) continue;
    if (position == p->ranks) {
      if (adds_in_switch(p)) map.flags |= STRETTO_MAP_SWITCH;
      TRY(g->api->local_map_tiles(g->client, g->stream, &map));
    } else if (direct || position == 1) {
      TRY(g->api->remote_map_tiles(g->client, g->stream, &map));
    } else {
      TRY(g->api->dma_map_tiles(g->client, g->stream, &map));
    }
  }
  return STRETTO_OK;
}

static const char* reduce_scatter_kernel(const ring_gemm_parameters_t* p) {
  return p->mode == RING_GEMM_RS_NMC ? "ring_reduce_scatter_nmc" : "ring_reduce_scatter";
}

static const char all_gather_kernel[] = "ring_all_gather";
static const char follow_on_kernel[] = "ring_follow_on";

static int has_ring_kernel(ring_gemm_mode_t mode) { return has_rs_kernel(mode) || has_ag(mode); }

stretto_status_t ring_gemm_check_gemm_elf(const ring_gemm_parameters_t* p, char* error,
                                          size_t error_bytes) {
  if (!has_gemm(p->mode)) return STRETTO_OK;
  return stretto_kernel_check(p->gemm_elf, p->gemm_elf_bytes, gemm_kernel_of_tile(p->tile_m), NULL,
                              error, error_bytes);
}

stretto_status_t ring_gemm_check_ring_elf(const ring_gemm_parameters_t* p, char* error,
                                          size_t error_bytes) {
  if (!has_ring_kernel(p->mode)) return STRETTO_OK;
  TRY(stretto_kernel_check(p->ring_elf, p->ring_elf_bytes, reduce_scatter_kernel(p), NULL, error,
                           error_bytes));
  if (p->follow_on)
    TRY(stretto_kernel_check(p->ring_elf, p->ring_elf_bytes, follow_on_kernel, NULL, error,
                             error_bytes));
  return stretto_kernel_check(p->ring_elf, p->ring_elf_bytes, all_gather_kernel, NULL, error,
                              error_bytes);
}

static stretto_status_t load_kernels(program_t* g) {
  const ring_gemm_mode_t mode = g->p->mode;
  stretto_module_t* module = NULL;
  if (has_gemm(mode)) {
    TRY(g->api->module_load(g->client, g->p->gemm_elf, g->p->gemm_elf_bytes, &module));
    TRY(g->api->module_kernel(g->client, module, gemm_kernel_of_tile(g->p->tile_m), &g->gemm));
  }
  if (!has_ring_kernel(mode)) return STRETTO_OK;
  TRY(g->api->module_load(g->client, g->p->ring_elf, g->p->ring_elf_bytes, &module));
  TRY(g->api->module_kernel(g->client, module, reduce_scatter_kernel(g->p), &g->reduce_scatter));
  if (g->p->follow_on)
    TRY(g->api->module_kernel(g->client, module, follow_on_kernel, &g->follow_on));
  return g->api->module_kernel(g->client, module, all_gather_kernel, &g->all_gather);
}

static stretto_status_t set_up(program_t* g) {
  TRY(g->api->stream_create(g->client, &g->stream));
  TRY(memory_plan_allocate(&g->plan.memory, g->client, g->stream));
  TRY(load_kernels(g));
  TRY(map_neighbour(g));
  TRY(clear(g, g->plan.rs_flags, g->plan.flag_bytes));
  TRY(clear(g, g->plan.ag_flags, g->plan.flag_bytes));
  TRY(arbiter_configure(&g->p->arbiter, g->api, g->client, g->stream));
  if (is_fused(g->p->mode)) {
    // Output memory must be zero before updates; so must the Tracker's overflow table before the
    // Tracker starts.
    TRY(clear(g, g->plan.spill, g->plan.spill_bytes));
    TRY(clear(g, g->plan.c, g->plan.c_bytes));
    TRY(g->api->stream_synchronize(g->client, g->stream));
    TRY(map_chunks(g));
  }
  return g->api->stream_synchronize(g->client, g->stream);
}

// Work

static stretto_status_t launch_gemm(program_t* g) {
  const ring_gemm_parameters_t* p = g->p;
  const ring_gemm_plan_t* plan = &g->plan;
  const uint32_t split = split_of(p);
  const uint32_t first_chunk = (p->rank + 1) % p->ranks;
  const uint32_t first = ring_gemm_chunk_first(plan, p->ranks, first_chunk);
  // The chunk that is stored to the neighbour is not split: it counts one incoming update there, as
  // from the DMA.
  const stretto_gemm_split_arguments_t arguments = {
      .gemm = {.a = plan->a,
               .b = plan->b,
               .lda = plan->lda,
               .ldb = plan->ldb,
               .m = p->m,
               .n = p->n,
               .k = p->k,
               .layout = (p->a_k_contiguous ? 0 : GEMM_A_KM) | (p->b_k_contiguous ? GEMM_B_NK : 0) |
                         plan->order_code << GEMM_ORDER_SHIFT,
               .ldc = plan->ldc,
               .tiles_n = plan->tiles_n,
               .c = plan->c},
      .split = split,
      .whole_first = first,
      .whole_count =
          p->ranks == 1 ? 0 : ring_gemm_chunk_first(plan, p->ranks, first_chunk + 1) - first};
  const int fused = is_fused(p->mode);
  stretto_launch_t launch = {.kernel = &g->gemm,
                             .arguments = &arguments,
                             .argument_bytes = split > 1 ? sizeof arguments : sizeof arguments.gemm,
                             .work_groups = plan->tiles * split,
                             .stagger = fused ? first % plan->tiles * split : 0,
                             .account = RING_GEMM_ACCOUNT_GEMM,
                             .update = fused};
  if (p->mode != RING_GEMM_DIRECT) return g->api->launch(g->client, g->stream, &launch);
  launch.stagger = 0;
  for (uint32_t position = 1; position <= p->ranks; ++position) {
    const uint32_t chunk = (adds_in_switch(p) ? position : p->rank + position) % p->ranks;
    launch.first = ring_gemm_chunk_first(plan, p->ranks, chunk);
    launch.count = ring_gemm_chunk_first(plan, p->ranks, chunk + 1) - launch.first;
    if (launch.count != 0) TRY(g->api->launch(g->client, g->stream, &launch));
  }
  return STRETTO_OK;
}

// `peer` is the array of the kernel's arguments.
static stretto_status_t launch_ring(program_t* g, const stretto_kernel_t* kernel, uint64_t flags,
                                    uint64_t receive, uint64_t peer, uint32_t account, int update) {
  const ring_gemm_parameters_t* p = g->p;
  const ring_gemm_plan_t* plan = &g->plan;
  const stretto_ring_arguments_t arguments = {.output = plan->c,
                                              .receive = receive,
                                              .peer = peer,
                                              .flags = flags,
                                              .peer_flags = at_rank(flags, g, g->peer),
                                              .flag_value = FLAG_VALUE,
                                              .m = p->m,
                                              .n = p->n,
                                              .pitch = plan->ldc,
                                              .along = plan->order.along,
                                              .tiles = plan->tiles,
                                              .tile_m = (uint16_t)p->tile_m,
                                              .tile_n = TILE_N,
                                              .rank = p->rank,
                                              .ranks = p->ranks,
                                              .order = plan->order_code};
  const stretto_launch_t launch = {.kernel = kernel,
                                   .arguments = &arguments,
                                   .argument_bytes = sizeof arguments,
                                   .work_groups = p->collective_groups,
                                   .account = account,
                                   .update = update,
                                   .communication = 1,
                                   .after_all_earlier = 1};
  return g->api->launch(g->client, g->stream, &launch);
}

// The memory applies an operand to the own chunk, which is complete (T3-FOLLOW-01).
static stretto_status_t apply(program_t* g, uint64_t operand, uint32_t flags) {
  const ring_gemm_parameters_t* p = g->p;
  stretto_tile_map_t map = {
      .first_tile = ring_gemm_chunk_first(&g->plan, p->ranks, p->rank),
      .updates = updates_of(p),
      .operand = operand,
      .flags = STRETTO_MAP_OPERAND | STRETTO_MAP_READY | STRETTO_MAP_UPDATE | flags};
  map.tile_count = ring_gemm_chunk_first(&g->plan, p->ranks, p->rank + 1) - map.first_tile;
  if (map.tile_count == 0) return STRETTO_OK;
  TRY(g->api->dma_map_tiles(g->client, g->stream, &map));
  return g->api->collective_wait(g->client, g->stream);
}

static stretto_status_t submit(program_t* g) {
  const ring_gemm_mode_t mode = g->p->mode;
  const uint64_t output = at_rank(g->plan.c, g, g->peer);
  if (has_gemm(mode)) TRY(launch_gemm(g));
  if (is_fused(mode)) {
    TRY(g->api->collective_wait(g->client, g->stream));
    if (g->p->follow_on) {
      TRY(apply(g, g->plan.mask, STRETTO_MAP_MULTIPLY));
      TRY(apply(g, g->plan.residual, 0));
    }
    // The all-gather reads and writes all of C: chunks are plain memory again.
    TRY(g->api->reset_maps(g->client, g->stream, 0));
  }
  if (has_rs_kernel(mode)) {
    const uint64_t receive = g->plan.receive;
    TRY(launch_ring(g, &g->reduce_scatter, g->plan.rs_flags, receive,
                    receive != 0 ? at_rank(receive, g, g->peer) : output, RING_GEMM_ACCOUNT_RS,
                    mode == RING_GEMM_RS_NMC));
  }
  if (has_ag(mode))
    TRY(launch_ring(g, &g->all_gather, g->plan.ag_flags, 0, output, RING_GEMM_ACCOUNT_AG, 0));
  if (g->p->follow_on && mode == RING_GEMM_SEQUENTIAL)
    return launch_ring(g, &g->follow_on, g->plan.ag_flags, g->plan.mask, g->plan.residual,
                       RING_GEMM_ACCOUNT_RS, 0);
  return STRETTO_OK;
}

static stretto_status_t run(program_t* g) {
  const stretto_status_t ready = set_up(g);
  const stretto_status_t others = ranks_meet(&g->ranks, ready == STRETTO_OK);
  TRY(ready);
  TRY(others);
  TRY(submit(g));
  return g->api->stream_synchronize(g->client, g->stream);
}

stretto_status_t ring_gemm_run(const ring_gemm_parameters_t* parameters,
                               const stretto_host_ops_t* ops, char* error) {
  program_t g = {.p = parameters,
                 .ranks = {.ops = ops,
                           .job = parameters->job,
                           .rank = parameters->rank,
                           .ranks = parameters->ranks,
                           .host_ranks = parameters->host_ranks},
                 .peer = (parameters->rank + parameters->ranks - 1) % parameters->ranks};
  TRY(ranks_client(&g.ranks, ring_gemm_plan(parameters, &g.plan), &parameters->client, &g.client,
                   error));
  g.api = g.client->api;
  return ranks_end(&g.ranks, run(&g), g.client, error);
}
