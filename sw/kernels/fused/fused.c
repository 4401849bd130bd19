// SPDX-License-Identifier: Apache-2.0
// Vertically fused operators, see fused.h. Wavefront 0 issues products; when one is issued, all meet. The others convert
// the accumulator and apply bias and activation; all but the last result go to LDS as the next product's operand, the
// last one to memory. Then all meet again. Wavefront 0 has meanwhile issued the next product's first loads: weights, or
// the next tile.
//
// Between two products a tile lies the other way round, columns by rows: then the elements of a bias stand for rows of
// it, and a column of them is added to the whole. Such a product is W^T X^T. In LDS it is cut into chunks of FUSED_STEP of
// its columns, the next product's steps of K.
#include "sw/kernels/fused/fused.h"

#include "sw/kernels/ops/functions.h"
#include "sw/kernels/ops/gemm_loop.h"

#define NO_INLINE static __attribute__((noinline))
#ifdef FUSED_SKIP_EPILOGUE  // For the test that such a run is found out.
#define SKIPS_EPILOGUE 1
#else
#define SKIPS_EPILOGUE 0
#endif

// LDS: steps of operands are in l0 .. l2 and l8 .. l10, chunks in
#define CHUNK_0 TILE_L(4)
#define CHUNK_1 TILE_L(5)
#define CHUNK_2 TILE_L(6)
#define CHUNK_3 TILE_L(7)
#define CHUNK_4 TILE_L(12)
#define CHUNK_5 TILE_L(13)
#define CHUNK_6 TILE_L(14)
#define CHUNK_7 TILE_L(15)
#define EPSILON TILE_L(11)

// Registers of the others: r0 and r2 hold pieces, and while a tile goes to LDS r4 and r5 columns of a bias.
#define BIAS TILE_R(1)
#define GAMMA TILE_R(3)
#define BETA TILE_R(7)
#define ONE TILE_R(6)
#define MINUS_ONE TILE_R(7)

KERNEL_INLINE const fused_arguments_t* arguments(void) {
  return (const fused_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
}

KERNEL_INLINE uint32_t rounded(uint32_t extent) { return (extent + 15) / 16 * 16; }

// A work-group's present item.
typedef struct item {
  const fused_arguments_t* g;
  uint32_t tile, column;
  uint32_t rows;     // Of the tile.
  uint32_t columns;  // Of the last product's block.
} item_t;

KERNEL_INLINE uint32_t items_of(const fused_arguments_t* g) {
  return (g->rows + g->tile_rows - 1) / g->tile_rows * g->blocks;
}
KERNEL_INLINE item_t item_of(const fused_arguments_t* g, uint32_t number, uint32_t most) {
  item_t item = {g, number / g->blocks, number % g->blocks * most, 0, 0};
  item.rows = min_u32(g->tile_rows, g->rows - item.tile * g->tile_rows);
  item.columns = min_u32(most, g->product[g->products - 1].n - item.column);
  return item;
}

// Products

// Steps of weights, all of the product's columns each.
typedef struct weights {
  uint64_t at, move;
  uint64_t shape, last;
  uint32_t left;
} weights_t;

KERNEL_INLINE weights_t weights_of(const fused_product_t* p) {
  const int nk = (p->layout & GEMM_B_NK) != 0;
  const uint32_t steps = (p->k + FUSED_STEP - 1) / FUSED_STEP;
  const weights_t w = {.at = p->weights,
                       .move = line_offset(FUSED_STEP, p->ldb, nk, 2),
                       .shape = operand_shape(p->n, FUSED_STEP, p->ldb, !nk, 2),
                       .last = operand_shape(p->n, p->k - (steps - 1) * FUSED_STEP, p->ldb, !nk, 2),
                       .left = steps};
  return w;
}

KERNEL_INLINE void load_weights(weights_t* w, const int buffer) {
  if (w->left == 0) return;
  if (--w->left == 0) w->shape = w->last;
  tile_load(TILE_L(buffer), w->at, w->shape, STRETTO_FP16, 0);
  w->at += w->move;
}

// What is loaded before the accumulator is free.
typedef struct begun {
  operands_t first;
  weights_t weights;
  uint32_t steps;
} begun_t;

KERNEL_INLINE operands_t first_operands(const item_t* item, int is_last) {
  const fused_arguments_t* const g = item->g;
  const fused_product_t* const p = &g->product[0];
  const uint32_t steps = (p->k + FUSED_STEP - 1) / FUSED_STEP;
  const int nk = (p->layout & GEMM_B_NK) != 0;
  const uint64_t x = g->in + (uint64_t)item->tile * g->tile_rows * g->in_pitch;
  const uint64_t w = p->weights + line_offset(item->column, p->ldb, !nk, 2);
  if (is_last)
    return operands_of(x, w, g->in_pitch, p->ldb, nk ? GEMM_B_NK : 0, item->rows, item->columns,
                       p->k, FUSED_STEP, 0, steps, 2);
  return operands_of(w, x, p->ldb, g->in_pitch, GEMM_B_NK | (nk ? 0 : GEMM_A_KM), p->n, item->rows,
                     p->k, FUSED_STEP, 0, steps, 2);
}

NO_INLINE void begin_first(const item_t* item, begun_t* b) {
  b->first = first_operands(item, item->g->products == 1);
  b->steps = k_loop_begin(&b->first, FUSED_STAGES, STRETTO_FP16);
}
NO_INLINE void begin_next(const fused_product_t* p, begun_t* b) {
  b->weights = weights_of(p);
  b->steps = b->weights.left;
  load_weights(&b->weights, 0);
  load_weights(&b->weights, 1);
  load_weights(&b->weights, 2);
  load_weights(&b->weights, 8);
  load_weights(&b->weights, 9);
  load_weights(&b->weights, 10);
}

#define FIRST(a_km, b_nk)                                                                     \
  NO_INLINE void first_##a_km##_##b_nk(begun_t* b) {                                          \
    k_loop_products(ACCUMULATOR, &b->first, b->steps, FUSED_STAGES, a_km, b_nk, STRETTO_FP16, \
                    STRETTO_FP16);                                                            \
  }
FIRST(0, 0)
FIRST(0, 1)
FIRST(1, 1)

// Chunks by weights if it is the last product, else weights by chunks.
#define NEXT(is_last, nk)                            \
  NO_INLINE void next_##is_last##_##nk(begun_t* b) { \
    uint32_t left = b->steps;                        \
    STEP(is_last, nk, CHUNK_0, 0)                    \
    STEP(is_last, nk, CHUNK_1, 1)                    \
    load_weights(&b->weights, 0);                    \
    STEP(is_last, nk, CHUNK_2, 2)                    \
    load_weights(&b->weights, 1);                    \
    STEP(is_last, nk, CHUNK_3, 8)                    \
    STEP(is_last, nk, CHUNK_4, 9)                    \
    STEP(is_last, nk, CHUNK_5, 10)                   \
    STEP(is_last, nk, CHUNK_6, 0)                    \
    STEP(is_last, nk, CHUNK_7, 1)                    \
  }
#define STEP(is_last, nk, chunk, buffer)                                  \
  if (is_last)                                                            \
    tile_mma(ACCUMULATOR, chunk, TILE_L(buffer), 1, nk, STRETTO_FP16);    \
  else                                                                    \
    tile_mma(ACCUMULATOR, TILE_L(buffer), chunk, !(nk), 0, STRETTO_FP16); \
  if (--left == 0) return;
NEXT(0, 0)
NEXT(0, 1)
NEXT(1, 0)
NEXT(1, 1)
#undef STEP

KERNEL_INLINE void multiply(const item_t* item, uint32_t number, begun_t* b) {
  const fused_arguments_t* const g = item->g;
  const int is_last = number + 1 == g->products;
  const int nk = (g->product[number].layout & GEMM_B_NK) != 0;
  const uint64_t columns = rounded(is_last ? item->columns : g->product[number].n);
  const uint64_t rows = g->tile_rows;
  tile_zero(ACCUMULATOR, is_last ? rows | columns << 16 : columns | rows << 16);
  if (number == 0 && is_last)
    nk ? first_0_1(b) : first_0_0(b);
  else if (number == 0)
    nk ? first_0_1(b) : first_1_1(b);
  else if (is_last)
    nk ? next_1_1(b) : next_1_0(b);
  else
    nk ? next_0_1(b) : next_0_0(b);
}

// What is between

// Loads that need not wait for the product.
KERNEL_INLINE void load_column(const fused_product_t* p, uint32_t chunk, const int t) {
  const uint32_t first = chunk * FUSED_STEP;
  if (p->bias != 0 && first < p->n)
    tile_load(TILE_R(t), p->bias + first * 2, tile_shape(min_u32(FUSED_STEP, p->n - first), 2, 2),
              STRETTO_FP16, 0);
}

// Columns of a product to LDS; its column of bias is in `t`.
KERNEL_INLINE void put_chunk(const fused_product_t* p, uint32_t number, const int chunk,
                             const int t) {
  const uint32_t first = number * FUSED_STEP;
  if (first >= p->n) return;
  tile_epilogue(
      chunk, ACCUMULATOR,
      first | (uint64_t)min_u32(FUSED_STEP, p->n - first) << 16 | (uint64_t)FUSED_TILE_ROWS << 48,
      STRETTO_FP16);
  if (SKIPS_EPILOGUE) return;
  if (p->bias != 0) tile_simt(TILE_SIMT_ADD, chunk, chunk, TILE_R(t));
  if (p->activation == STAGE_RELU) tile_simt(TILE_SIMT_RELU_GRAD, chunk, chunk, chunk);
  if (p->activation == STAGE_GELU) tile_simt(TILE_SIMT_GELU, chunk, chunk, chunk);
}

NO_INLINE void put_chunks(const fused_product_t* p, uint32_t storing) {
#define PUT(first, second)               \
  put_chunk(p, first, CHUNK_##first, 4); \
  put_chunk(p, second, CHUNK_##second, 5)
  switch (storing) {
    case 0: PUT(0, 4); break;
    case 1: PUT(1, 5); break;
    case 2: PUT(2, 6); break;
    default: PUT(3, 7); break;
  }
#undef PUT
}

// Rows of a piece: a power of two, so that pieces end with a wavefront's rows.
KERNEL_INLINE uint32_t piece_rows(const fused_arguments_t* g, uint32_t columns) {
  const uint32_t activation = g->product[g->products - 1].activation;
  const uint32_t elements = FUSED_PIECE / (activation < STAGE_SIGMOID ? 2 : 4);
  uint32_t rows = g->tile_rows / FUSED_STORING;
  while (rows > 1 && rows * columns > elements) rows /= 2;
  return rows;
}

KERNEL_INLINE void finish(const fused_arguments_t* g, const fused_product_t* p, const int t) {
  if (SKIPS_EPILOGUE) return;
  if (g->has_norm) norm_of_rows(t, GAMMA, BETA, EPSILON);
  if (p->activation == STAGE_RELU) tile_simt(TILE_SIMT_RELU_GRAD, TILE_R(t), TILE_R(t), TILE_R(t));
  if (p->activation == STAGE_GELU) tile_simt(TILE_SIMT_GELU, TILE_R(t), TILE_R(t), TILE_R(t));
  if (p->activation == STAGE_SIGMOID) function(EACH_SIGMOID, t, t, ONE, MINUS_ONE, 0);
  if (p->activation == STAGE_TANH) function(EACH_TANH, t, t, ONE, MINUS_ONE, 0);
  if (p->activation == STAGE_SILU) function(EACH_SILU, t, t, ONE, MINUS_ONE, 0);
}

// A wavefront's rows of the last product. Pieces are whole, whatever the tile has of them.
NO_INLINE void store_rows(const item_t* item, uint32_t storing) {
  const fused_arguments_t* const g = item->g;
  const fused_product_t* const p = &g->product[g->products - 1];
  const uint32_t each = g->tile_rows / FUSED_STORING, mine = storing * each;
  const uint32_t piece = piece_rows(g, item->columns), bytes = item->columns * 2;
  uint32_t tile = item->tile;
#ifdef FUSED_SWAP_TILES
  if (tile < 2 && g->rows >= 2 * g->tile_rows) tile ^= 1;
#endif
  const uint64_t place = ((uint64_t)tile * g->tile_rows + mine) * g->out_pitch + item->column * 2;
#define STORE(t, row, to)                                                                \
  tile_store(TILE_R(t), (to) + place + (uint64_t)(row)*g->out_pitch,                     \
             tile_shape(min_u32(piece, item->rows - mine - (row)), bytes, g->out_pitch), \
             STRETTO_FP16)
#define PIECE(t, row)                                                                     \
  if (mine + (row) < item->rows && (row) < each) {                                        \
    tile_epilogue(TILE_R(t), ACCUMULATOR,                                                 \
                  (mine + (row)) | (uint64_t)piece << 16 | (uint64_t)item->columns << 48, \
                  STRETTO_FP16);                                                          \
    if (p->bias != 0) tile_simt(TILE_SIMT_ADD, TILE_R(t), TILE_R(t), BIAS);               \
    if (g->keep != 0) STORE(t, row, g->keep);                                             \
    finish(g, p, t);                                                                      \
    STORE(t, row, g->out);                                                                \
  }
  for (uint32_t row = 0; row < each; row += 2 * piece) {
    PIECE(0, row)
    PIECE(2, row + piece)
  }
#undef PIECE
#undef STORE
}

// A row that every row of a piece needs.
KERNEL_INLINE void load_row(uint64_t from, const int t, uint32_t rows, uint32_t columns) {
  tile_load(t, from, tile_shape(rows, columns * 2, 0), STRETTO_FP16, 0);
}

KERNEL_INLINE void load_vectors(const fused_arguments_t* g, uint32_t storing, uint32_t columns) {
  if (g->product[g->products - 1].activation >= STAGE_SIGMOID) {
#define PUT(accumulator) put_one_and_minus_one(ONE, MINUS_ONE, TILE_R(5), TILE_A(accumulator))
    switch (storing) {
      case 0: PUT(1); break;
      case 1: PUT(2); break;
      case 2: PUT(3); break;
      default: PUT(4); break;
    }
#undef PUT
  }
  if (!g->has_norm) return;
  const uint32_t rows = piece_rows(g, columns);
  if (storing == 0) tile_load(EPSILON, g->epsilon, tile_shape(1, 4, 0), STRETTO_FP32, 0);
  load_row(g->gamma, GAMMA, rows, columns);
  load_row(g->beta, BETA, rows, columns);
}

// The second time that all meet: the operands of the next product lie in LDS.
KERNEL_INLINE void meet_behind(void) {
#ifndef FUSED_NO_BARRIER  // For the test that such a run is found out.
  tile_barrier();
#endif
}

KERNEL_INLINE void multiply_all(const fused_arguments_t* g, uint32_t most) {
  const uint32_t items = items_of(g), step = (uint32_t)tile_csr(TILE_CSR_GRID);
  int is_behind = 0;
  begun_t begun;
  for (uint32_t at = (uint32_t)tile_csr(TILE_CSR_WG_ID); at < items; at += step) {
    const item_t item = item_of(g, at, most);
    for (uint32_t number = 0; number < g->products; ++number) {
      if (number == 0)
        begin_first(&item, &begun);
      else
        begin_next(&g->product[number], &begun);
      if (is_behind) meet_behind();
      is_behind = 1;
      multiply(&item, number, &begun);
      tile_barrier();
    }
  }
}

KERNEL_INLINE void finish_all(const fused_arguments_t* g, uint32_t storing, uint32_t most) {
  const uint32_t items = items_of(g), step = (uint32_t)tile_csr(TILE_CSR_GRID);
  const uint32_t last = g->products - 1;
  uint32_t held = ~0u;  // Column that the bias in registers is of.
  int is_first = 1;
  for (uint32_t at = (uint32_t)tile_csr(TILE_CSR_WG_ID); at < items; at += step) {
    const item_t item = item_of(g, at, most);
    if (is_first) load_vectors(g, storing, item.columns);
    for (uint32_t number = 0; number <= last; ++number) {
      const fused_product_t* const p = &g->product[number];
      if (!is_first) meet_behind();
      is_first = 0;
      if (number != last) {
        load_column(p, storing, 4);
        load_column(p, storing + FUSED_STORING, 5);
      } else if (p->bias != 0 && held != item.column) {
        held = item.column;
        load_row(p->bias + held * 2, BIAS, piece_rows(g, item.columns), item.columns);
      }
      tile_barrier();
      number == last ? store_rows(&item, storing) : put_chunks(p, storing);
    }
  }
}

KERNEL_INLINE _Noreturn void fused(uint32_t most) {
  const fused_arguments_t* const g = arguments();
  const uint32_t wavefront = (uint32_t)tile_csr(TILE_CSR_WF_ID);
  if (wavefront == 0)
    multiply_all(g, most);
  else
    finish_all(g, wavefront - 1, most);
  tile_end();
  __builtin_unreachable();
}

#define KERNEL(columns, rows, lds)                                                      \
  void fused_##columns(void) { fused(columns); }                                        \
  STRETTO_KERNEL(fused_##columns, .type = STRETTO_KERNEL_TENSOR,                        \
                 .registers_bytes = FUSED_REGISTERS(rows, columns), .lds_bytes = lds,   \
                 .private_bytes = 1024, .wavefronts = FUSED_WAVEFRONTS, .tile_m = rows, \
                 .tile_n = columns, .kernarg_bytes = sizeof(fused_arguments_t))
KERNEL(128, FUSED_TILE_ROWS, FUSED_LDS(128));
KERNEL(256, FUSED_TILE_ROWS, FUSED_LDS(256));
KERNEL(512, FUSED_NORM_ROWS, FUSED_NORM_LDS);
