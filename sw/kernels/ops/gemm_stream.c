// SPDX-License-Identifier: Apache-2.0
// Stream-K kernels of the GEMM family (Osama et al., "Stream-K", PPoPP 2023), see gemm.h. A work-group multiplies its
// share of K steps tile by tile, in ascending order. Who has a tile's first step finishes the tile. A share that begins
// behind it leaves its sums in memory, a tile for each share, and every wavefront raises a flag behind its rows. The
// finisher adds them in the order of K: sums are equal bit for bit, whoever comes first.
//
// No deadlock: a tile is finished by the work-group that has its first step, and the shares behind it belong to lower
// ids. So a work-group waits for lower ids alone, which the scheduler has started before, and which leave what they
// wait for behind them before they wait themselves. How many are resident does not matter.
//
// Flags are words that are added to at device scope, 1 by the wavefront that leaves sums, -1 by the one that has waited:
// behind a launch they are zero again.
#include "sw/kernels/ops/gemm_tile.h"

// Of the K steps of all shared tiles.
KERNEL_INLINE uint64_t begin_of_share(const ops_gemm_arguments_t* g, uint32_t steps,
                                      uint32_t number) {
  return (uint64_t)g->stream_tiles * steps * number / g->streams;
}

KERNEL_INLINE uint64_t flag_of(const ops_gemm_arguments_t* g, uint32_t number, uint32_t wavefront) {
  return g->flags + (uint64_t)number * OPS_GEMM_FLAG_BYTES + wavefront * 8;
}

// Partial sums of other shares, of the wavefront's rows.
typedef struct others {
  uint64_t first;
  uint64_t stride;  // From one share to the next.
  uint32_t count;
  uint32_t pitch;
} others_t;

KERNEL_INLINE void load_sums(const output_t* o, const others_t* others, uint32_t number,
                             uint32_t at, const int tile) {
  const uint32_t rows = min_u32(o->piece_rows, o->rows - at);
  tile_load(tile, others->first + number * others->stride + (uint64_t)at * others->pitch,
            tile_shape(rows, o->columns * 4, others->pitch), STRETTO_FP32, 0);
}

KERNEL_INLINE void take_rows(const output_t* o, uint32_t at, const int tile) {
  const uint32_t rows = min_u32(o->piece_rows, o->rows - at);
  tile_epilogue(tile, ACCUMULATOR,
                (o->first + at) | (uint64_t)rows << 16 | (uint64_t)o->columns << 48, STRETTO_FP32);
}

// The FP32 sums in `tile` as elements of C. `other` is in between.
KERNEL_INLINE void store_sum(const output_t* o, uint32_t at, const int tile, const int other,
                             const int element) {
  const uint32_t bytes = o->columns * (element == STRETTO_FP32 ? 4 : 2);
  const uint32_t rows = min_u32(o->piece_rows, o->rows - at);
  if (element == STRETTO_FP16) tile_simt(TILE_SIMT_FP16, tile, tile, tile);
  if (element == STRETTO_BF16) tile_simt(TILE_SIMT_BF16, tile, tile, tile);
  if (o->bias != 0) {
    tile_load(other, o->bias, tile_shape(rows, bytes, 0), element, 0);
    tile_simt(TILE_SIMT_ADD, tile, tile, other);
  }
  if (o->addend != 0)
    tile_load(other, o->addend + (uint64_t)at * o->pitch, tile_shape(rows, bytes, o->pitch),
              element, 0);
  finish_piece(o, at, rows, tile, other, element);
}

// The accumulator, then the other shares in the order of K. Two pieces at a time, so that loads of one fly while the
// other is added.
KERNEL_INLINE void store_sums(const output_t* o, const others_t* others, const int element) {
  for (uint32_t at = 0; at < o->rows; at += 2 * o->piece_rows) {
    const uint32_t second = at + o->piece_rows;
    const int has_second = second < o->rows;
    load_sums(o, others, 0, at, TILE_R(1));
    if (has_second) load_sums(o, others, 0, second, TILE_R(3));
    take_rows(o, at, TILE_R(0));
    if (has_second) take_rows(o, second, TILE_R(2));
    for (uint32_t i = 1; i <= others->count; ++i) {
      tile_simt(TILE_SIMT_ADD, TILE_R(0), TILE_R(0), TILE_R(1));
      if (i < others->count) load_sums(o, others, i, at, TILE_R(1));
      if (!has_second) continue;
      tile_simt(TILE_SIMT_ADD, TILE_R(2), TILE_R(2), TILE_R(3));
      if (i < others->count) load_sums(o, others, i, second, TILE_R(3));
    }
    store_sum(o, at, TILE_R(0), TILE_R(1), element);
    if (has_second) store_sum(o, second, TILE_R(2), TILE_R(3), element);
  }
}

// Steps first .. end - 1 of a tile have been multiplied by share `number`.
KERNEL_INLINE void store_part(const ops_gemm_arguments_t* g, const config_t* config,
                              const place_t* place, uint32_t steps, uint64_t tile_end,
                              uint32_t first, uint32_t number, int is_streamed, const int element) {
  const uint32_t wavefront = (uint32_t)tile_csr(TILE_CSR_WF_ID);
  const uint32_t rows_each = config->m / (uint32_t)tile_csr(TILE_CSR_WAVEFRONTS);
  const uint32_t mine = wavefront * rows_each;
  if (mine >= place->rows) return;
  const uint32_t rows = min_u32(rows_each, place->rows - mine);
  const uint64_t slot = (uint64_t)config->m * config->n * 4;
  const uint64_t sums = g->partials + (uint64_t)mine * config->n * 4;
  if (first != 0) {
    const output_t part = {.address = sums + number * slot,
                           .pitch = config->n * 4,
                           .columns = place->columns,
                           .first = mine,
                           .rows = rows,
                           .piece_rows = config->piece / (config->n * 4),
                           .activation = OPS_GEMM_NO_ACTIVATION};
    store_rows(&part, STRETTO_FP32);
    tile_red(flag_of(g, number, wavefront), 1ull);
    return;
  }
  others_t others = {.first = sums + (number + 1) * slot, .stride = slot, .pitch = config->n * 4};
  for (uint32_t i = number + 1; is_streamed && begin_of_share(g, steps, i) < tile_end; ++i) {
#ifndef OPS_STREAM_NO_WAIT  // For the test that such a run is found out.
    tile_wait_until(flag_of(g, i, wavefront), TILE_GEU | TILE_WAIT_DEVICE, 1ull);
#endif
    tile_red(flag_of(g, i, wavefront), ~0ull);
    ++others.count;
  }
  const output_t o = result_of(
      g, place, mine, rows, element == STRETTO_FP32 ? 4 : 2,
      config->piece / (config->n * (others.count != 0 || element == STRETTO_FP32 ? 4 : 2)));
  if (others.count != 0)
    store_sums(&o, &others, element);
  else
    store_rows(&o, element);
}

KERNEL_INLINE _Noreturn void stream(const config_t* config, k_loop_t run, const int element) {
  const ops_gemm_arguments_t* const g = arguments();
  const uint32_t bytes = element == STRETTO_FP32 ? 4 : 2;
  const uint32_t id = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  const uint32_t wavefront = (uint32_t)tile_csr(TILE_CSR_WF_ID);
  const uint32_t tiles = g->tiles_m * g->tiles_n;
  const uint32_t steps = (g->k + config->step - 1) / config->step;
  const int is_streamed = id < g->streams;
  const uint32_t number = g->streams - 1 - id;
  const uint64_t whole = (uint64_t)(g->stream_tiles + id - g->streams) * steps;
  const uint64_t end = is_streamed ? begin_of_share(g, steps, number + 1) : whole + steps;
  uint64_t at = is_streamed ? begin_of_share(g, steps, number) : whole;
  for (;;) {
    const uint32_t index = (uint32_t)(at / steps), first = (uint32_t)(at % steps);
    const uint64_t tile_end = (uint64_t)(index + 1) * steps;
    const uint64_t next = end < tile_end ? end : tile_end;
    const place_t place = place_of(g, config, index / tiles, index % tiles);
    if (wavefront == 0) {
      operands_t o = OPERANDS_AT(g, config, place, first, first + (uint32_t)(next - at), bytes);
      tile_zero(ACCUMULATOR, (uint64_t)config->m | (uint64_t)config->n << 16);
      run(&o, g->layout);
      if (g->activation == OPS_GEMM_RELU)
        tile_zero(ZEROS,
                  (uint64_t)(config->piece / (config->n * bytes)) | (uint64_t)config->n << 16);
    }
    tile_barrier();
    store_part(g, config, &place, steps, tile_end, first, number, is_streamed, element);
    at = next;
    if (at == end) break;
    tile_barrier();  // All have taken their rows of the accumulator.
  }
  tile_end();
  __builtin_unreachable();
}

GEMM_ELEMENTS(stream)
#define TILE(...) GEMM_TILE(_stream, sizeof(ops_gemm_arguments_t), __VA_ARGS__)
OPS_GEMM_TILES(TILE)
