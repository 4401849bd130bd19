// SPDX-License-Identifier: Apache-2.0
// Linear stages, see stages.h. Items are blocks of 128 columns of tiles, two at a time if a work-group has more than one:
// steps of the input are loaded once for both. Wavefront 0 multiplies and loads ahead, into the next tile if that has come.
// It meets the others, who convert and store one accumulator while it goes on with the other one. So the tensor pipe
// waits for nobody as long as tiles come and there is room, for which wavefront 1 waits, and for rows that are added.
// Each that stores says so behind its own stores.
#include "sw/kernels/ops/gemm_loop.h"
#include "sw/kernels/stages/stage.h"

#define NO_INLINE static __attribute__((noinline))
#ifdef STAGE_PAST_L2  // For the test that such a run is found out.
#define PAST_L2 1
#else
#define PAST_L2 0
#endif

// LDS tiles: steps of the input from 0 on. Weights that stay from 4 on, STAGE_RESIDENT_STEPS a block if there are two.
// Others from 8 on, a tile for each step of a block.
#define RESIDENT_WEIGHTS 4u
#define STREAMED_WEIGHTS 8u

// What a work-group has of the columns.
typedef struct part {
  uint32_t first, columns;
} part_t;

KERNEL_INLINE part_t part_of(const stage_arguments_t* g) {
  const uint32_t each = STAGE_PART_BLOCKS(g->n, g->parts) * STAGE_BLOCK;
  const uint32_t first = (uint32_t)tile_csr(TILE_CSR_WG_ID) % g->parts * each;
  return (part_t){first, min_u32(each, g->n - first)};
}
KERNEL_INLINE uint32_t block_columns(part_t p, uint32_t block) {
  return min_u32(STAGE_BLOCK, p.columns - block * STAGE_BLOCK);
}

// A step of an item. The item has blocks block .. block + at_once - 1 as far as there are so many.
typedef struct item {
  uint32_t tile, block, step;
} item_t;

typedef struct walk {
  const stage_arguments_t* g;
  part_t part;
  uint32_t tiles, stride;
  uint32_t blocks, at_once;  // Of the part; of an item.
  uint32_t steps;            // Of K.
  uint32_t buffers;          // Of the input and of weights that do not stay.
  int stays;                 // Weights stay.
  item_t at;
} walk_t;

KERNEL_INLINE walk_t walk_of(const stage_arguments_t* g, int stays) {
  walk_t w = {.g = g,
              .part = part_of(g),
              .tiles = tiles_of(g),
              .stride = (uint32_t)tile_csr(TILE_CSR_GRID) / g->parts,
              .steps = (g->k + STAGE_STEP - 1) / STAGE_STEP,
              .stays = stays,
              .at = {.tile = (uint32_t)tile_csr(TILE_CSR_WG_ID) / g->parts}};
  w.blocks = STAGE_BLOCKS(w.part.columns);
  w.at_once = min_u32(w.blocks, 2);
  w.buffers = stays ? STAGE_RESIDENT_BUFFERS(w.steps * w.blocks) : STAGE_STREAM_BUFFERS(w.at_once);
  return w;
}

KERNEL_INLINE void next_item(const walk_t* w, item_t* at) {
  at->block += w->at_once;
  if (at->block < w->blocks) return;
  at->block = 0;
  at->tile += w->stride;
}
KERNEL_INLINE void next_step(const walk_t* w, item_t* at) {
  if (++at->step < w->steps) return;
  at->step = 0;
  next_item(w, at);
}
KERNEL_INLINE int begins_tile(item_t at) { return at.block == 0 && at.step == 0; }

// A step of a block's weights.
NO_INLINE void load_weights(const walk_t* w, uint32_t block, uint32_t step, uint32_t to) {
  const stage_arguments_t* const g = w->g;
  const int b_nk = (g->layout & GEMM_B_NK) != 0;
  const uint32_t k = min_u32(STAGE_STEP, g->k - step * STAGE_STEP);
  const uint32_t n = block_columns(w->part, block);
  const uint64_t from = g->weights +
                        line_offset(w->part.first + block * STAGE_BLOCK, g->ldb, !b_nk, 2) +
                        line_offset(step * STAGE_STEP, g->ldb, b_nk, 2);
  const uint64_t shape = b_nk ? tile_shape(n, k * 2, g->ldb) : tile_shape(k, n * 2, g->ldb);
#define LOAD(t) \
  case t: tile_load(TILE_L(t), from, shape, STRETTO_FP16, PAST_L2); break
  switch (to) {
    LOAD(4);
    LOAD(5);
    LOAD(6);
    LOAD(7);
    LOAD(8);
    LOAD(9);
    LOAD(10);
    LOAD(11);
  }
#undef LOAD
}

// Where weights of a step are, of which the input is in `buffer`.
KERNEL_INLINE uint32_t weights_at(const walk_t* w, uint32_t block, uint32_t step, uint32_t buffer) {
  if (w->stays) return RESIDENT_WEIGHTS + STAGE_RESIDENT_STEPS * block + step;
  return STREAMED_WEIGHTS + (block & (w->at_once - 1)) * w->buffers + buffer;
}

NO_INLINE void load_input(const walk_t* w, item_t at, uint32_t buffer) {
  const stage_arguments_t* const g = w->g;
  const uint32_t k = min_u32(STAGE_STEP, g->k - at.step * STAGE_STEP);
  const uint64_t from = edge_place(g, &g->in[0], at.tile) + (uint64_t)at.step * STAGE_STEP * 2;
  const uint64_t shape = tile_shape(tile_rows_of(g, at.tile), k * 2, g->in[0].pitch);
#define LOAD(t) \
  case t: tile_load(TILE_L(t), from, shape, STRETTO_FP16, 0); break
  switch (buffer) {
    LOAD(0);
    LOAD(1);
    LOAD(2);
    LOAD(3);
  }
#undef LOAD
  for (uint32_t i = 0; i < w->at_once && at.block + i < w->blocks && !w->stays; ++i)
    load_weights(w, at.block + i, at.step, weights_at(w, at.block + i, at.step, buffer));
}

// Accumulator += LDS tile a x LDS tile b. It is issued when both are there, and the accumulator's product before is over.
NO_INLINE void multiply(uint32_t accumulator, uint32_t a, uint32_t b, int b_nk) {
#define PRODUCT(c, a, b)                                           \
  if (b_nk)                                                        \
    tile_mma(TILE_A(c), TILE_L(a), TILE_L(b), 0, 1, STRETTO_FP16); \
  else                                                             \
    tile_mma(TILE_A(c), TILE_L(a), TILE_L(b), 0, 0, STRETTO_FP16)
#define OF_A(a, b)      \
  case a:               \
    if (accumulator) {  \
      PRODUCT(1, a, b); \
    } else {            \
      PRODUCT(0, a, b); \
    }                   \
    break
#define OF_B(b)   \
  case b:         \
    switch (a) {  \
      OF_A(0, b); \
      OF_A(1, b); \
      OF_A(2, b); \
      OF_A(3, b); \
    }             \
    break
  switch (b) {
    OF_B(4);
    OF_B(5);
    OF_B(6);
    OF_B(7);
    OF_B(8);
    OF_B(9);
    OF_B(10);
    OF_B(11);
  }
#undef OF_B
#undef OF_A
#undef PRODUCT
}

// A product of few rows or columns takes the pipe for no more than 16 of them at a time.
KERNEL_INLINE void clear(const walk_t* w, uint32_t accumulator, uint32_t block) {
  const uint32_t columns = block_columns(w->part, block);
  const uint64_t size =
      (uint64_t)((w->g->tile_rows + 15) / 16 * 16) | (uint64_t)((columns + 15) / 16 * 16) << 16;
  if (accumulator)
    tile_zero(TILE_A(1), size);
  else
    tile_zero(TILE_A(0), size);
}

// Loads, which run ahead of the products.
typedef struct feed {
  item_t next;
  uint32_t buffer;  // That it goes to.
  uint32_t ahead;   // Steps whose products are still to be issued.
} feed_t;

KERNEL_INLINE void feed_step(const walk_t* w, feed_t* f) {
  load_input(w, f->next, f->buffer);
  if (++f->buffer == w->buffers) f->buffer = 0;
  ++f->ahead;
  next_step(w, &f->next);
}
// If nothing has been loaded: waits for the tile.
KERNEL_INLINE void feed_first(const walk_t* w, feed_t* f, uint64_t* waited) {
  if (f->ahead != 0) return;
  if (begins_tile(f->next)) edge_wait(w->g, &w->g->in[0], f->next.tile, 1, waited);
  do feed_step(w, f);
  while (f->ahead < 2 && f->next.step != 0);
}
// Into buffers of steps whose products are over, but for `used` of them. So no load keeps the tensor pipe waiting.
KERNEL_INLINE void feed_ahead(const walk_t* w, feed_t* f, uint32_t used, uint64_t* waited) {
  while (f->ahead + used < w->buffers && f->next.tile < w->tiles &&
         (!begins_tile(f->next) || edge_is_full(w->g, &w->g->in[0], f->next.tile, waited)))
    feed_step(w, f);
}

// From tile to tile, where products of the one before may still be under way.
typedef struct pace {
  uint64_t last, shortest;
} pace_t;

KERNEL_INLINE void pace_tile(pace_t* pace) {
  const uint64_t now = tile_csr(TILE_CSR_CYCLE), took = now - pace->last;
  if (pace->last != 0 && (pace->shortest == 0 || took < pace->shortest)) pace->shortest = took;
  pace->last = now;
}

// Wavefront 0. Of a single block, tiles take turns with the accumulators: the others have stored one when all meet for
// the second time. Of two, each has one: they have stored the first one when all meet behind an item, and the second
// one when all meet behind the next item's first products. To store one takes longer than a product: with weights that stay,
// those of two steps follow each other for a block, so that the other block's two are under way meanwhile.
KERNEL_INLINE void multiply_tiles(walk_t* w, uint64_t* waited, uint64_t* met, uint64_t* shortest) {
  const stage_arguments_t* const g = w->g;
  const int b_nk = (g->layout & GEMM_B_NK) != 0;
  const uint32_t most = w->at_once == 2 && w->stays ? 2 : 1;
  pace_t pace = {0, 0};
  feed_t f = {.next = w->at};
  uint32_t buffer = 0, accumulator = 0;
  while (w->at.tile < w->tiles) {
    const item_t at = w->at;
    const uint32_t count = min_u32(most, w->steps - at.step);
    const int is_last = at.step + count == w->steps, has_second = at.block + 1 < w->blocks;
    const uint32_t other = buffer + 1 == w->buffers ? 0 : buffer + 1;  // Of the second step.
    feed_first(w, &f, waited);
    if (at.step == 0) clear(w, accumulator, at.block);
    multiply(accumulator, buffer, weights_at(w, at.block, at.step, buffer), b_nk);
    if (count == 2) {
      if (f.ahead < 2) feed_step(w, &f);
      multiply(accumulator, other, weights_at(w, at.block, at.step + 1, other), b_nk);
    }
    f.ahead -= count;
    feed_ahead(w, &f, count, waited);
    if (w->at_once == 2) {
      if (at.step == 0) {
        meet(met);
        if (has_second) clear(w, 1, at.block + 1);
      }
      if (is_last) meet(met);
      if (has_second) multiply(1, buffer, weights_at(w, at.block + 1, at.step, buffer), b_nk);
      if (has_second && count == 2)
        multiply(1, other, weights_at(w, at.block + 1, at.step + 1, other), b_nk);
      if (count == 2) feed_ahead(w, &f, 1, waited);
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (++buffer == w->buffers) buffer = 0;
      next_step(w, &w->at);
    }
    if (is_last && w->at.block == 0) {  // What has been multiplied has been loaded.
      edge_add(g, &g->in[0], at.tile, 0);
      pace_tile(&pace);
    }
    if (!is_last) continue;
    meet(met);
    if (w->at_once == 1) accumulator ^= 1;
  }
  *shortest = pace.shortest;
}

// The bias of block 0 and 1 of two, or of the only one, stays in tiles 2 and 3; `held`: how many rows it has there.
KERNEL_INLINE void load_bias(const stage_arguments_t* g, const int t, uint32_t first,
                             uint32_t bytes, uint32_t rows, uint32_t blocks, uint32_t* held) {
  if (*held == rows && blocks <= 2) return;
  tile_load(TILE_R(2 + t), g->bias + first * 2, tile_shape(rows, bytes, 0), STRETTO_FP16, 0);
  *held = rows;
}

KERNEL_INLINE void activate(uint32_t activation, const int t) {
  if (activation == STAGE_SIGMOID) function(EACH_SIGMOID, t, t, ONE, MINUS_ONE, 0);
  if (activation == STAGE_TANH) function(EACH_TANH, t, t, ONE, MINUS_ONE, 0);
  if (activation == STAGE_SILU) function(EACH_SILU, t, t, ONE, MINUS_ONE, 0);
}

// REQUIRES: `accumulator` is the block's number where there are two.
KERNEL_INLINE void store_item(const stage_arguments_t* g, part_t p, item_t at, uint32_t wavefront,
                              uint32_t blocks, const int accumulator, uint32_t* held) {
  const uint32_t all = tile_rows_of(g, at.tile);
  const uint32_t each = (g->tile_rows + STAGE_STORING - 1) / STAGE_STORING;
  const uint32_t mine = (wavefront - 1) * each, first = p.first + at.block * STAGE_BLOCK;
  if (mine >= all) return;
  const uint32_t rows = min_u32(each, all - mine), columns = block_columns(p, at.block);
  // In FP32 a piece takes twice the room.
  const uint32_t piece = STAGE_PIECE / (STAGE_BLOCK * (g->activation < STAGE_SIGMOID ? 2 : 4));
  const uint32_t bytes = columns * 2;
  const uint64_t to = edge_place(g, &g->out, at.tile) + (uint64_t)mine * g->out.pitch + first * 2;
  const uint64_t row_of_all = (uint64_t)at.tile * g->tile_rows + mine;
  const uint64_t copy = g->copy + row_of_all * g->copy_pitch + first * 2;
  const uint64_t keep = g->keep[0].base + row_of_all * g->keep[0].pitch + first * 2;
  const uint64_t addend =
      edge_place(g, &g->in[1], at.tile) + (uint64_t)mine * g->in[1].pitch + first * 2;
// Functions in FP32 need the tile before.
#define ADDEND(t, row, count)                                         \
  tile_load(TILE_R(4 + (t)), addend + (uint64_t)(row)*g->in[1].pitch, \
            tile_shape(count, bytes, g->in[1].pitch), STRETTO_FP16, 0)
#define PIECE(t, row)                                                                              \
  if ((row) < rows) {                                                                              \
    const uint32_t count = min_u32(piece, rows - (row));                                           \
    if (g->has_addend && g->activation < STAGE_SIGMOID) ADDEND(t, row, count);                     \
    tile_epilogue(TILE_R(t), TILE_A(accumulator),                                                  \
                  (mine + (row)) | (uint64_t)count << 16 | (uint64_t)columns << 48, STRETTO_FP16); \
    if (g->has_bias) {                                                                             \
      load_bias(g, accumulator, first, bytes, count, blocks, held);                                \
      tile_simt(TILE_SIMT_ADD, TILE_R(t), TILE_R(t), TILE_R(2 + (accumulator)));                   \
    }                                                                                              \
    if (g->keep[0].pitch != 0)                                                                     \
      tile_store(TILE_R(t), keep + (uint64_t)(row)*g->keep[0].pitch,                               \
                 tile_shape(count, bytes, g->keep[0].pitch), STRETTO_FP16);                        \
    if (g->activation == STAGE_RELU)                                                               \
      tile_simt(TILE_SIMT_RELU_GRAD, TILE_R(t), TILE_R(t), TILE_R(t));                             \
    if (g->activation == STAGE_GELU) tile_simt(TILE_SIMT_GELU, TILE_R(t), TILE_R(t), TILE_R(t));   \
    if (g->activation >= STAGE_SIGMOID) activate(g->activation, t);                                \
    if (g->has_addend && g->activation >= STAGE_SIGMOID) ADDEND(t, row, count);                    \
    if (g->has_addend) tile_simt(TILE_SIMT_ADD, TILE_R(t), TILE_R(t), TILE_R(4 + (t)));            \
    tile_store(TILE_R(t), to + (uint64_t)(row)*g->out.pitch,                                       \
               tile_shape(count, bytes, g->out.pitch), STRETTO_FP16);                              \
    if (g->copy_pitch != 0)                                                                        \
      tile_store(TILE_R(t), copy + (uint64_t)(row)*g->copy_pitch,                                  \
                 tile_shape(count, bytes, g->copy_pitch), STRETTO_FP16);                           \
  }
  for (uint32_t row = 0; row < rows; row += 2 * piece) {
    PIECE(0, row)
    PIECE(1, row + piece)
  }
#undef PIECE
#undef ADDEND
}

KERNEL_INLINE void wait_to_store(const stage_arguments_t* g, uint32_t tile, uint64_t* waited) {
  edge_wait(g, &g->out, tile, 0, waited);
#ifndef STAGE_EARLY_ADDEND  // For the test that such a run is found out.
  if (g->has_addend) edge_wait(g, &g->in[1], tile, 1, waited);
#endif
}

// The others.
KERNEL_INLINE void store_tiles(walk_t* w, uint32_t wavefront, uint64_t* met, uint64_t* waited) {
  const stage_arguments_t* const g = w->g;
  const uint32_t first = w->at.tile;
  uint32_t held[2] = {0, 0};
#define STORE(accumulator)                                                             \
  do {                                                                                 \
    store_item(g, w->part, at, wavefront, w->blocks, accumulator, &held[accumulator]); \
    if (at.block + 1 == w->blocks) {                                                   \
      edge_add(g, &g->out, at.tile, 1);                                                \
      if (g->has_addend) edge_add(g, &g->in[1], at.tile, 0);                           \
      if (wavefront == 1) note_first(g, at.tile, first);                               \
    }                                                                                  \
  } while (0)
  for (uint32_t items = 0; w->at.tile < w->tiles; ++items) {
    item_t at = w->at;
    next_item(w, &w->at);
    if (at.block == 0 && w->at_once == 1 && wavefront == 1) wait_to_store(g, at.tile, waited);
    meet(met);
    if (w->at_once == 1) {
      if (items % 2 == 0)
        STORE(0);
      else
        STORE(1);
      continue;
    }
    if (at.block == 0 && wavefront == 1) wait_to_store(g, at.tile, waited);
    meet(met);
    STORE(0);
    meet(met);
    ++at.block;
    if (at.block < w->blocks) STORE(1);
  }
#undef STORE
}

KERNEL_INLINE _Noreturn void linear(const int stays) {
  const stage_arguments_t* const g = arguments();
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  const uint32_t wavefront = (uint32_t)tile_csr(TILE_CSR_WF_ID);
  walk_t w = walk_of(g, stays);
  uint64_t waited = 0, met = 0;
  if (wavefront == 0) {
    uint64_t shortest = 0;
    if (stays && w.at.tile < w.tiles)
      for (uint32_t block = 0; block < w.blocks; ++block)
        for (uint32_t step = 0; step < w.steps; ++step)
          load_weights(&w, block, step, weights_at(&w, block, step, 0));
    multiply_tiles(&w, &waited, &met, &shortest);
    meet(&met);
    stage_note(g, STAGE_MET_MULTIPLYING, met);
    stage_note(g, STAGE_SHORTEST, shortest);
    stage_end(g, 1, begin, waited, 0);
  }
  if (g->activation >= STAGE_SIGMOID) PUT_NUMBERS(2);
  store_tiles(&w, wavefront, &met, &waited);
  tile_wait(0);
  tile_barrier();
  if (wavefront == 1) stage_note(g, STAGE_MET_STORING, met);
  stage_end(g, wavefront == 1 ? 2 : 0, begin, 0, waited);
}

#define KERNEL(name, stays, lds)                                              \
  void stage_linear_##name(void) { linear(stays); }                           \
  STRETTO_KERNEL(stage_linear_##name, .type = STRETTO_KERNEL_TENSOR,          \
                 .registers_bytes = STAGE_LINEAR_REGISTERS, .lds_bytes = lds, \
                 .private_bytes = 1024, .wavefronts = STAGE_STORING + 1,      \
                 .tile_m = STAGE_TILE_ROWS, .tile_n = STAGE_BLOCK,            \
                 .kernarg_bytes = sizeof(stage_arguments_t))
KERNEL(resident, 1, STAGE_RESIDENT_LDS);
KERNEL(stream, 0, STAGE_STREAM_LDS);
