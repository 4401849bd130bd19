// SPDX-License-Identifier: Apache-2.0
// Linear stages, see stages.h. Items are blocks of 128 columns of tiles. Wavefront 0 multiplies: it waits for a tile,
// loads and multiplies an item into one accumulator and meets the others, who convert and store the item before from
// the other one. So the tensor pipe waits for nobody as long as tiles come and there is room, for which wavefront 1
// waits, and for rows that are added. Each that stores says so behind its own stores.
#include "sw/kernels/ops/gemm_loop.h"
#include "sw/kernels/stages/stage.h"

#define NO_INLINE static __attribute__((noinline))
#ifdef STAGE_PAST_L2  // For the test that such a run is found out.
#define PAST_L2 1
#else
#define PAST_L2 0
#endif
#define WEIGHTS 4  // LDS tiles from here on, STAGE_RESIDENT_STEPS a block if there are two.

// With weights in LDS. REQUIRES: at least one step.
KERNEL_INLINE void resident_item(operands_t* o, const int accumulator, const int block,
                                 const int b_nk) {
  const int w = WEIGHTS + (int)STAGE_RESIDENT_STEPS * block;
  uint32_t left = o->loads_left;
#define LOAD(buffer)                                            \
  if (--o->loads_left == 0) o->a_shape = o->a_last;             \
  tile_load(TILE_L(buffer), o->a, o->a_shape, STRETTO_FP16, 0); \
  o->a += o->a_move
  LOAD(0);
  if (o->loads_left != 0) {
    LOAD(1);
  }
#define STEP(s, buffer)                                                                  \
  tile_mma(TILE_A(accumulator), TILE_L(buffer), TILE_L(w + (s)), 0, b_nk, STRETTO_FP16); \
  if (--left == 0) return;                                                               \
  if (o->loads_left != 0) {                                                              \
    LOAD(buffer);                                                                        \
  }
  STEP(0, 0)
  STEP(1, 1)
  STEP(2, 0)
  STEP(3, 1)
  if (block == 0) {
    STEP(4, 0)
    STEP(5, 1)
    STEP(6, 0)
    STEP(7, 1)
  }
#undef STEP
#undef LOAD
}

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

KERNEL_INLINE void load_weights(const stage_arguments_t* g, part_t p, const int b_nk) {
  const uint32_t steps = (g->k + STAGE_STEP - 1) / STAGE_STEP;
#define LOAD(block, s)                                                                          \
  if ((s) < steps && (block)*STAGE_BLOCK < p.columns) {                                         \
    const uint32_t k = min_u32(STAGE_STEP, g->k - (s)*STAGE_STEP);                              \
    const uint32_t n = block_columns(p, block);                                                 \
    tile_load(TILE_L(WEIGHTS + STAGE_RESIDENT_STEPS * (block) + (s)),                           \
              g->weights + line_offset(p.first + (block)*STAGE_BLOCK, g->ldb, !b_nk, 2) +       \
                  line_offset((s)*STAGE_STEP, g->ldb, b_nk, 2),                                 \
              b_nk ? tile_shape(n, k * 2, g->ldb) : tile_shape(k, n * 2, g->ldb), STRETTO_FP16, \
              PAST_L2);                                                                         \
  }
#define LOAD_4(block, s) \
  LOAD(block, s) LOAD(block, (s) + 1) LOAD(block, (s) + 2) LOAD(block, (s) + 3)
  LOAD_4(0, 0)
  LOAD_4(0, 4)
  LOAD_4(1, 0)
#undef LOAD_4
#undef LOAD
}

typedef struct item {
  uint32_t tile, block;
} item_t;

// A's tile comes in packed rows of the edge's pitch.
KERNEL_INLINE operands_t item_operands(const stage_arguments_t* g, part_t p, item_t at) {
  const uint32_t steps = (g->k + STAGE_STEP - 1) / STAGE_STEP;
  return operands_of(edge_place(g, &g->in[0], at.tile),
                     g->weights + line_offset(p.first + at.block * STAGE_BLOCK, g->ldb,
                                              (g->layout & GEMM_B_NK) == 0, 2),
                     g->in[0].pitch, g->ldb, g->layout, tile_rows_of(g, at.tile),
                     block_columns(p, at.block), g->k, STAGE_STEP, 0, steps, 2);
}

#define ITEM(resident, accumulator, block, b_nk)                                       \
  NO_INLINE void item_##resident##_##accumulator##_##block##_##b_nk(operands_t* o,     \
                                                                    uint64_t size) {   \
    tile_zero(TILE_A(accumulator), size);                                              \
    if (resident)                                                                      \
      resident_item(o, accumulator, block, b_nk);                                      \
    else                                                                               \
      k_loop_into(TILE_A(accumulator), o, STAGE_STREAM_BUFFERS, 0, b_nk, STRETTO_FP16, \
                  STRETTO_FP16);                                                       \
  }
#define ITEMS(b_nk)   \
  ITEM(0, 0, 0, b_nk) \
  ITEM(0, 1, 0, b_nk) \
  ITEM(1, 0, 0, b_nk) \
  ITEM(1, 0, 1, b_nk) \
  ITEM(1, 1, 0, b_nk) \
  ITEM(1, 1, 1, b_nk)
ITEMS(0)
ITEMS(1)

KERNEL_INLINE void multiply(const stage_arguments_t* g, part_t p, item_t at, const int accumulator,
                            const int resident) {
  operands_t o = item_operands(g, p, at);
  // A product of few rows or columns takes the pipe for no more than 16 of them at a time.
  const uint32_t columns = block_columns(p, at.block);
  const uint64_t size =
      (uint64_t)((g->tile_rows + 15) / 16 * 16) | (uint64_t)((columns + 15) / 16 * 16) << 16;
  const int b_nk = (g->layout & GEMM_B_NK) != 0;
#define CALL(block)                                                           \
  do {                                                                        \
    if (accumulator == 0)                                                     \
      b_nk ? item_1_0_##block##_1(&o, size) : item_1_0_##block##_0(&o, size); \
    else                                                                      \
      b_nk ? item_1_1_##block##_1(&o, size) : item_1_1_##block##_0(&o, size); \
  } while (0)
  if (!resident) {
    if (accumulator == 0)
      b_nk ? item_0_0_0_1(&o, size) : item_0_0_0_0(&o, size);
    else
      b_nk ? item_0_1_0_1(&o, size) : item_0_1_0_0(&o, size);
  } else if (at.block == 0) {
    CALL(0);
  } else {
    CALL(1);
  }
#undef CALL
}

typedef struct walk {
  const stage_arguments_t* g;
  part_t part;
  uint32_t tiles, blocks, step;
  item_t at;
} walk_t;

// Returns whether there is an item; the first one is there without.
KERNEL_INLINE int walk_next(walk_t* w) {
  if (++w->at.block == w->blocks) {
    w->at.block = 0;
    w->at.tile += w->step;
  }
  return w->at.tile < w->tiles;
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
  if (g->has_addend) edge_wait(g, &g->in[1], tile, 1, waited);
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

KERNEL_INLINE _Noreturn void linear(const int resident) {
  const stage_arguments_t* const g = arguments();
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  const uint32_t wavefront = (uint32_t)tile_csr(TILE_CSR_WF_ID);
  walk_t w = {.g = g,
              .part = part_of(g),
              .tiles = tiles_of(g),
              .step = (uint32_t)tile_csr(TILE_CSR_GRID) / g->parts,
              .at = {.tile = (uint32_t)tile_csr(TILE_CSR_WG_ID) / g->parts}};
  w.blocks = STAGE_BLOCKS(w.part.columns);
  uint64_t waited = 0, met = 0;
  if (wavefront == 0) {
    pace_t pace = {0, 0};
    if (resident && w.at.tile < w.tiles)
      (g->layout & GEMM_B_NK) ? load_weights(g, w.part, 1) : load_weights(g, w.part, 0);
    if (w.at.tile < w.tiles) {
#define MULTIPLY(accumulator)                                          \
  if (w.at.block == 0) edge_wait(g, &g->in[0], w.at.tile, 1, &waited); \
  multiply(g, w.part, w.at, accumulator, resident);                    \
  if (w.at.block + 1 == w.blocks) {                                    \
    tile_wait(0);                                                      \
    edge_add(g, &g->in[0], w.at.tile, 0);                              \
    pace_tile(&pace);                                                  \
  }                                                                    \
  meet(&met);                                                          \
  if (!walk_next(&w)) break
      for (;;) {
        MULTIPLY(0);
        MULTIPLY(1);
      }
#undef MULTIPLY
    }
    meet(&met);
    stage_note(g, STAGE_MET_MULTIPLYING, met);
    stage_note(g, STAGE_SHORTEST, pace.shortest);
    stage_end(g, 1, begin, waited, 0);
  }
  if (g->activation >= STAGE_SIGMOID) put_numbers(2);
  uint32_t held[2] = {0, 0};
  if (w.at.tile < w.tiles) {
#define STORE(accumulator)                                                           \
  if (wavefront == 1 && w.at.block == 0) wait_to_store(g, w.at.tile, &waited);       \
  meet(&met);                                                                        \
  store_item(g, w.part, w.at, wavefront, w.blocks, accumulator, &held[accumulator]); \
  if (w.at.block + 1 == w.blocks) {                                                  \
    edge_add(g, &g->out, w.at.tile, 1);                                              \
    if (g->has_addend) edge_add(g, &g->in[1], w.at.tile, 0);                         \
  }                                                                                  \
  if (!walk_next(&w)) break
    for (;;) {
      STORE(0);
      STORE(1);
    }
#undef STORE
  }
  tile_wait(0);
  tile_barrier();
  if (wavefront == 1) stage_note(g, STAGE_MET_STORING, met);
  stage_end(g, wavefront == 1 ? 2 : 0, begin, 0, waited);
}

#define KERNEL(name, resident, lds)                                           \
  void stage_linear_##name(void) { linear(resident); }                        \
  STRETTO_KERNEL(stage_linear_##name, .type = STRETTO_KERNEL_TENSOR,          \
                 .registers_bytes = STAGE_LINEAR_REGISTERS, .lds_bytes = lds, \
                 .private_bytes = 1024, .wavefronts = STAGE_STORING + 1,      \
                 .tile_m = STAGE_TILE_ROWS, .tile_n = STAGE_BLOCK,            \
                 .kernarg_bytes = sizeof(stage_arguments_t))
KERNEL(resident, 1, STAGE_RESIDENT_LDS);
KERNEL(stream, 0, STAGE_STREAM_LDS);
