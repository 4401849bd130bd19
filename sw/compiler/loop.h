// SPDX-License-Identifier: Apache-2.0
// What generated loop kernels are made of (GD-LOOP-01..03): operators whose tiles the work-groups
// share, the words with which operators wait for each other, and the all-reduce of gradients that a
// few work-groups run beside them.
//
// Every work-group that computes runs all operators in the same order, tiles first, first +
// compute, ... of each, and then adds 1 to the operator's word: an operator may start where the
// words of its producers have come to compute x (iteration + 1). No barrier of the CPU, none of the
// grid but at the end of an iteration.
//
// By rows (GD-LOOP-04) results are counted in blocks of LOOP_BLOCK_ROWS rows, too,
// each tile when it is in memory, and a tile waits for the blocks that it reads: units that are
// through with an operator begin the next one while others still have tiles of the first. As all
// work-groups take operators in one order, whoever is waited for waits for nobody behind.
#ifndef STRETTO_SW_COMPILER_LOOP_H_
#define STRETTO_SW_COMPILER_LOOP_H_

#include "sw/compiler/loop_arguments.h"
#include "sw/kernels/ops/gemm_loop.h"
#include "sw/kernels/send.h"

#define LOOP_NONE UINT64_MAX
#define LOOP_GRADIENTS ((uint64_t)1 << 56)  // Space of a place: gradients instead of the arena.
#define ELEMENT_BYTES 2u
// What a wavefront takes of a row operator at a time, unless a row is longer.
#define LOOP_ROW_BYTES 2048u

// The result of an operator, in blocks of rows that lie one behind the other.
typedef struct loop_made {
  uint64_t place;
  uint32_t rows, row_bytes;
  uint32_t first;  // Word of its first block, or LOOP_UNCOUNTED.
} loop_made_t;
#define LOOP_UNCOUNTED UINT32_MAX

typedef struct loop {
  const loop_arguments_t* a;
  const loop_made_t* made;  // By operators in their order.
  // By rows, of each input the maker that was seen at its end, plus 1; 0 = none.
  uint32_t complete[4];
  struct {  // Likewise a tile that is stored and not yet counted; rows = 0: none.
    uint32_t op, row, rows;
    uint32_t bytes;  // Of each row.
  } tile;
  uint32_t wavefront;
  uint32_t first;     // First tile of an operator, before rotation.
  uint32_t rotation;  // Tiles of operators before: another work-group begins.
  uint32_t iteration;
} loop_t;

// A matrix in memory, one of a batch in two dimensions.
typedef struct loop_matrix {
  uint64_t place;
  uint64_t outer;  // Bytes from one to the next.
  uint64_t inner;
  uint32_t pitch;
  uint32_t maker;  // By rows: the operator for whose blocks tiles wait, or LOOP_NOBODY.
} loop_matrix_t;
#define LOOP_NOBODY UINT32_MAX

typedef struct loop_matmul {
  loop_matrix_t a, b, c;
  uint64_t bias;  // Row that is added, or LOOP_NONE.
  uint32_t m, n, k;
  uint32_t layout;  // GEMM_A_KM, GEMM_B_NK.
  uint32_t gelu;    // Of the sum.
  uint32_t self;    // Number of the operator.
  uint32_t batch;   // Matrices,
  uint32_t inner;   // in the inner dimension.
  uint32_t choice;  // Behind the arguments.
} loop_matmul_t;

typedef enum loop_row_kind {
  LOOP_ADD,
  LOOP_SUB,
  LOOP_MUL,
  LOOP_GELU,
  LOOP_GELU_GRAD,        // x, dy
  LOOP_BIAS,             // x, row
  LOOP_SOFTMAX,          // x, row of scales
  LOOP_SOFTMAX_GRAD,     // p, dp, row of scales
  LOOP_LAYER_NORM,       // x, gamma, beta, epsilon (FP32)
  LOOP_LAYER_NORM_GRAD,  // x, gamma, dy, epsilon
  LOOP_UPDATE,           // weight, gradient, row of rates
} loop_row_kind_t;

// Operators on rows of FP16. A tile is eight times (a wavefront each) `rows_each` rows.
typedef struct loop_rows {
  loop_row_kind_t kind;
  uint64_t in[4];
  uint32_t maker[4];  // Of each, as of a matrix.
  uint64_t out;
  uint32_t self;  // Number of the operator.
  uint32_t rows, columns;
  uint32_t last_columns;  // Of the last row: elements that were cut into rows need not fill it.
  uint32_t rows_each;
  uint32_t tiles;
} loop_rows_t;

typedef struct loop_bucket {
  uint64_t offset;  // In the gradients, a multiple of LOOP_UNIT.
  uint64_t bytes;
  uint32_t first_op, ops;  // In the list of operators that it waits for.
} loop_bucket_t;

KERNEL_INLINE uint64_t loop_address(const loop_t* l, uint64_t place) {
  const uint64_t offset = place & (LOOP_GRADIENTS - 1);
  return (place & LOOP_GRADIENTS ? l->a->gradients : l->a->arena) + offset;
}

// Words

KERNEL_INLINE uint64_t loop_word(const loop_t* l, uint32_t word) {
  return l->a->words + 8ull * word;
}

// Until all work-groups are through with the operator.
KERNEL_INLINE void loop_wait(const loop_t* l, uint32_t op) {
  const uint64_t target = (uint64_t)l->a->compute * (l->iteration + 1);
  if (l->wavefront == 0) tile_wait_until(loop_word(l, op), TILE_GEU, target);
}

// Until the bucket is reduced over all ranks.
KERNEL_INLINE void loop_wait_bucket(const loop_t* l, uint32_t bucket) {
  const uint64_t target = (uint64_t)l->a->comm_groups * (l->iteration + 1);
  if (l->wavefront == 0 && target != 0)
    tile_wait_until(loop_word(l, LOOP_MAX_OPS + bucket), TILE_GEU, target);
}

KERNEL_INLINE void loop_stamp(const loop_t* l, uint32_t word) {
  *(volatile uint64_t*)(uintptr_t)(l->a->stamps + 8ull * word) = tile_csr(TILE_CSR_CYCLE);
}

// Blocks

KERNEL_INLINE uint64_t loop_block_word(const loop_t* l, const loop_made_t* made, uint32_t block) {
  return loop_word(l, LOOP_MAX_OPS + LOOP_MAX_BUCKETS + made->first + block);
}
KERNEL_INLINE uint32_t loop_block_bytes(const loop_made_t* made, uint32_t block) {
  return min_u32(LOOP_BLOCK_ROWS, made->rows - block * LOOP_BLOCK_ROWS) * made->row_bytes;
}

// Until what the operator makes is in memory from place `begin` to `end`; for the calling wavefront. It remembers when
// the operator was seen at its end, by the input for which it asks: a word is read once then.
static __attribute__((noinline, unused)) void loop_wait_made(loop_t* l, uint32_t input, uint32_t op,
                                                             uint64_t begin, uint64_t end) {
  if (l->complete[input] == op + 1) return;
  const uint64_t all = (uint64_t)l->a->compute * (l->iteration + 1);
  const loop_made_t* made = &l->made[op];
  const uint32_t each = LOOP_BLOCK_ROWS * made->row_bytes;
  const uint32_t first = (uint32_t)(begin - made->place) / each;
  const uint32_t last = (uint32_t)(end - 1 - made->place) / each;
  const int is_whole = first == 0 && (last + 1) * LOOP_BLOCK_ROWS >= made->rows;
  if (is_whole || *(volatile uint64_t*)(uintptr_t)loop_word(l, op) >= all) {
    tile_wait_until(loop_word(l, op), TILE_GEU, all);
    l->complete[input] = op + 1;
    return;
  }
  for (uint32_t block = first; block <= last; ++block) {
    tile_wait_until(loop_block_word(l, made, block), TILE_GEU,
                    (uint64_t)loop_block_bytes(made, block) * (l->iteration + 1));
  }
}

// Counts the tile of a product that was stored last, if it is not counted yet. All wavefronts' stores have been waited
// for.
static __attribute__((noinline, unused)) void loop_count(loop_t* l) {
  const loop_made_t* made = &l->made[l->tile.op];
  uint32_t row = l->tile.row;
  while (l->tile.rows != 0) {
    const uint32_t block = row / LOOP_BLOCK_ROWS;
    const uint32_t here = min_u32(l->tile.rows, (block + 1) * LOOP_BLOCK_ROWS - row);
    __atomic_fetch_add((uint64_t*)(uintptr_t)loop_block_word(l, made, block),
                       (uint64_t)here * l->tile.bytes, __ATOMIC_RELEASE);
    row += here;
    l->tile.rows -= here;
  }
}

// All wavefronts' stores of the operator are in memory; then it is told.
KERNEL_INLINE void loop_done(loop_t* l, uint32_t op) {
  tile_wait(0);
  tile_barrier();
  if (l->wavefront == 1) loop_count(l);
  l->tile.rows = 0;
  if (l->wavefront != 0) return;
  __atomic_fetch_add((uint64_t*)(uintptr_t)loop_word(l, op), 1, __ATOMIC_RELEASE);
  if (l->first == 0) loop_stamp(l, LOOP_STAMP_OPS + op);
}

// Likewise what a row operator has made from offset `begin` to `end`.
static __attribute__((noinline, unused)) void loop_count_bytes(const loop_t* l, uint32_t op,
                                                               uint32_t begin, uint32_t end) {
  const loop_made_t* made = &l->made[op];
  const uint32_t each = LOOP_BLOCK_ROWS * made->row_bytes;
  while (begin < end) {
    const uint32_t block = begin / each;
    const uint32_t here = min_u32(end, (block + 1) * each) - begin;
    __atomic_fetch_add((uint64_t*)(uintptr_t)loop_block_word(l, made, block), (uint64_t)here,
                       __ATOMIC_RELEASE);
    begin += here;
  }
}

// Products

typedef struct loop_product {
  const loop_matmul_t* op;
  const loop_choice_t* by;
  uint32_t tiles_m, tiles_n, tiles;
} loop_product_t;

KERNEL_INLINE loop_product_t loop_product(const loop_t* l, const loop_matmul_t* op) {
  const loop_choice_t* by = (const loop_choice_t*)(l->a + 1) + op->choice;
  loop_product_t p = {.op = op,
                      .by = by,
                      .tiles_m = (op->m + by->tile_m - 1) / by->tile_m,
                      .tiles_n = (op->n + by->tile_n - 1) / by->tile_n};
  p.tiles = op->batch * p.tiles_m * p.tiles_n;
  return p;
}

#define LOOP_K_LOOP(stages)                                                                       \
  static __attribute__((noinline, unused)) void loop_k_##stages(operands_t* o, uint32_t layout) { \
    switch (layout) {                                                                             \
      case 0: k_loop(o, stages, 0, 0, STRETTO_FP16, STRETTO_FP16); return;                        \
      case GEMM_A_KM: k_loop(o, stages, 1, 0, STRETTO_FP16, STRETTO_FP16); return;                \
      case GEMM_B_NK: k_loop(o, stages, 0, 1, STRETTO_FP16, STRETTO_FP16); return;                \
      default: k_loop(o, stages, 1, 1, STRETTO_FP16, STRETTO_FP16); return;                       \
    }                                                                                             \
  }
LOOP_K_LOOP(2)
LOOP_K_LOOP(3)
LOOP_K_LOOP(4)

// Rows of the accumulator, the tile's first at `c`, by way of tile t.
KERNEL_INLINE void loop_store(const loop_matmul_t* op, const int t, uint64_t c, uint64_t bias,
                              uint32_t first, uint32_t rows, uint32_t columns) {
  const uint32_t bytes = columns * ELEMENT_BYTES;
  tile_epilogue(t, ACCUMULATOR, (uint64_t)first | (uint64_t)rows << 16 | (uint64_t)columns << 48,
                STRETTO_FP16);
  if (bias != 0) {
    tile_load(TILE_R(2), bias, tile_shape(rows, bytes, 0), STRETTO_FP16, 0);
    tile_simt(TILE_SIMT_ADD, t, t, TILE_R(2));
  }
  if (op->gelu) tile_simt(TILE_SIMT_GELU, t, t, t);
  tile_store(t, c + (uint64_t)first * op->c.pitch, tile_shape(rows, bytes, op->c.pitch),
             STRETTO_FP16);
}

// By rows, until an operand of so many lines of so many elements is in memory.
KERNEL_INLINE void loop_wait_operand(loop_t* l, uint32_t input, const loop_matrix_t* matrix,
                                     uint64_t at, uint32_t lines, uint32_t elements) {
  if (matrix->maker == LOOP_NOBODY) return;
  const uint64_t begin = matrix->place + at;
  loop_wait_made(l, input, matrix->maker, begin,
                 begin + (uint64_t)(lines - 1) * matrix->pitch + elements * ELEMENT_BYTES);
}

static __attribute__((noinline, unused)) void loop_matmul(loop_t* l, const loop_product_t* p,
                                                          uint32_t id) {
  const loop_matmul_t* const op = p->op;
  const uint32_t tile_m = p->by->tile_m, tile_n = p->by->tile_n, step = p->by->step;
  const uint32_t each = p->tiles_m * p->tiles_n;
  const uint32_t outer = id / each / op->inner, inner = id / each % op->inner;
  const tile_t tile = ordered(id % each, p->tiles_m, p->tiles_n, p->by->strip);
  const uint32_t row = tile.row * tile_m, column = tile.column * tile_n;
  const uint32_t rows = min_u32(tile_m, op->m - row), columns = min_u32(tile_n, op->n - column);
  if (l->wavefront == 0) {
    const int a_km = (op->layout & GEMM_A_KM) != 0, b_kn = (op->layout & GEMM_B_NK) == 0;
    const uint64_t a_at = matrix_of(0, op->a.outer, op->a.inner, outer, inner) +
                          line_offset(row, op->a.pitch, a_km, ELEMENT_BYTES);
    const uint64_t b_at = matrix_of(0, op->b.outer, op->b.inner, outer, inner) +
                          line_offset(column, op->b.pitch, b_kn, ELEMENT_BYTES);
    if (l->a->by_rows) {
      loop_wait_operand(l, 0, &op->a, a_at, a_km ? op->k : rows, a_km ? rows : op->k);
      loop_wait_operand(l, 1, &op->b, b_at, b_kn ? op->k : columns, b_kn ? columns : op->k);
    }
    operands_t o =
        operands_of(loop_address(l, op->a.place) + a_at, loop_address(l, op->b.place) + b_at,
                    op->a.pitch, op->b.pitch, op->layout, rows, columns, op->k, step, 0,
                    (op->k + step - 1) / step, ELEMENT_BYTES);
    tile_zero(ACCUMULATOR, (uint64_t)tile_m | (uint64_t)tile_n << 16);
    if (p->by->stages == 2) loop_k_2(&o, op->layout);
    if (p->by->stages == 3) loop_k_3(&o, op->layout);
    if (p->by->stages == 4) loop_k_4(&o, op->layout);
  }
  // By rows: stores of the tile before have had the time of this one's products.
  if (l->tile.rows != 0) tile_wait(0);
  tile_barrier();
  if (l->wavefront == 1) loop_count(l);
  const uint32_t rows_each = tile_m / GEMM_WAVEFRONTS;
  const uint32_t mine = l->wavefront * rows_each;
  if (mine < rows) {
    const uint64_t c =
        matrix_of(loop_address(l, op->c.place), op->c.outer, op->c.inner, outer, inner) +
        (uint64_t)row * op->c.pitch + column * ELEMENT_BYTES;
    const uint64_t bias =
        op->bias == LOOP_NONE ? 0 : loop_address(l, op->bias) + column * ELEMENT_BYTES;
    const uint32_t piece = LOOP_ROW_BYTES / (tile_n * ELEMENT_BYTES);
    const uint32_t end = min_u32(mine + rows_each, rows);
    for (uint32_t at = mine; at < end; at += 2 * piece) {
      loop_store(op, TILE_R(0), c, bias, at, min_u32(piece, end - at), columns);
      if (at + piece < end)
        loop_store(op, TILE_R(1), c, bias, at + piece, min_u32(piece, end - at - piece), columns);
    }
  }
  tile_barrier();  // The accumulator is free.
  l->tile.rows = 0;
  if (l->a->by_rows == 0 || l->made[op->self].first == LOOP_UNCOUNTED) return;
  const uint32_t at = (uint32_t)matrix_of(0, op->c.outer, op->c.inner, outer, inner);
  l->tile.op = op->self;
  l->tile.row = at / l->made[op->self].row_bytes + row;
  l->tile.rows = rows;
  l->tile.bytes = columns * ELEMENT_BYTES;
}

// Rows

typedef struct loop_row_place {
  uint64_t offset;
  uint64_t shape;      // Of rows in memory.
  uint64_t broadcast;  // Of one row for all of them.
} loop_row_place_t;

KERNEL_INLINE void loop_row_load(const loop_t* l, const loop_rows_t* op, const int t, uint32_t in,
                                 const loop_row_place_t* p) {
  tile_load(t, loop_address(l, op->in[in]) + p->offset, p->shape, STRETTO_FP16, 0);
}
KERNEL_INLINE void loop_row_broadcast(const loop_t* l, const loop_rows_t* op, const int t,
                                      uint32_t in, const loop_row_place_t* p) {
  tile_load(t, loop_address(l, op->in[in]), p->broadcast, STRETTO_FP16, 0);
}

// t <- FP32 of `in`, repeated if it is a row.
#define LOOP_ROW_FP32(t, load, in) \
  load(l, op, TILE_R(t), in, p);   \
  tile_simt(TILE_SIMT_FP32, TILE_R(t), TILE_R(t), TILE_R(t))
// t <- means of the rows of `from`, a column; `from` is spoiled.
#define LOOP_ROW_MEAN(t, from)                                             \
  tile_simt(TILE_SIMT_ROW_MEAN, TILE_R(from), TILE_R(from), TILE_R(from)); \
  tile_simt(TILE_SIMT_FIRST, TILE_R(t), TILE_R(from), TILE_R(from))

// r1 <- (x - mean) / deviation, r5 <- 1 / deviation, a column, all FP32: squares of FP16 overflow from 256 on.
KERNEL_INLINE void loop_normalise(const loop_t* l, const loop_rows_t* op,
                                  const loop_row_place_t* p) {
  LOOP_ROW_FP32(1, loop_row_load, 0);
  tile_load(TILE_R(6), loop_address(l, op->in[3]), tile_shape(1, 4, 0), STRETTO_FP32, 0);
  tile_simt(TILE_SIMT_COPY, TILE_R(2), TILE_R(1), TILE_R(1));
  LOOP_ROW_MEAN(4, 2);
  tile_simt(TILE_SIMT_SUB, TILE_R(1), TILE_R(1), TILE_R(4));
  tile_simt(TILE_SIMT_MUL, TILE_R(2), TILE_R(1), TILE_R(1));
  LOOP_ROW_MEAN(5, 2);
  tile_simt(TILE_SIMT_ADD, TILE_R(5), TILE_R(5), TILE_R(6));
  tile_simt(TILE_SIMT_RSQRT, TILE_R(5), TILE_R(5), TILE_R(5));
  tile_simt(TILE_SIMT_MUL, TILE_R(1), TILE_R(1), TILE_R(5));
}

// Leaves the result in r0.
KERNEL_INLINE void loop_row_compute(const loop_t* l, const loop_rows_t* op,
                                    const loop_row_place_t* p) {
  switch (op->kind) {
    case LOOP_ADD:
    case LOOP_SUB:
    case LOOP_MUL:
    case LOOP_GELU_GRAD:
      loop_row_load(l, op, TILE_R(0), 0, p);
      loop_row_load(l, op, TILE_R(1), 1, p);
      if (op->kind == LOOP_ADD) tile_simt(TILE_SIMT_ADD, TILE_R(0), TILE_R(0), TILE_R(1));
      if (op->kind == LOOP_SUB) tile_simt(TILE_SIMT_SUB, TILE_R(0), TILE_R(0), TILE_R(1));
      if (op->kind == LOOP_MUL) tile_simt(TILE_SIMT_MUL, TILE_R(0), TILE_R(0), TILE_R(1));
      if (op->kind == LOOP_GELU_GRAD)
        tile_simt(TILE_SIMT_GELU_GRAD, TILE_R(0), TILE_R(0), TILE_R(1));
      break;
    case LOOP_GELU:
      loop_row_load(l, op, TILE_R(0), 0, p);
      tile_simt(TILE_SIMT_GELU, TILE_R(0), TILE_R(0), TILE_R(0));
      break;
    case LOOP_BIAS:
      loop_row_load(l, op, TILE_R(0), 0, p);
      loop_row_broadcast(l, op, TILE_R(1), 1, p);
      tile_simt(TILE_SIMT_ADD, TILE_R(0), TILE_R(0), TILE_R(1));
      break;
    case LOOP_SOFTMAX:
      loop_row_load(l, op, TILE_R(0), 0, p);
      loop_row_broadcast(l, op, TILE_R(1), 1, p);
      tile_simt(TILE_SIMT_MUL, TILE_R(0), TILE_R(0), TILE_R(1));
      tile_simt(TILE_SIMT_ROW_MAX, TILE_R(1), TILE_R(0), TILE_R(0));
      tile_simt(TILE_SIMT_SUB, TILE_R(0), TILE_R(0), TILE_R(1));
      tile_simt(TILE_SIMT_EXP, TILE_R(0), TILE_R(0), TILE_R(0));
      tile_simt(TILE_SIMT_ROW_SUM, TILE_R(1), TILE_R(0), TILE_R(0));
      tile_simt(TILE_SIMT_RECIP, TILE_R(1), TILE_R(1), TILE_R(1));
      tile_simt(TILE_SIMT_MUL, TILE_R(0), TILE_R(0), TILE_R(1));
      break;
    case LOOP_SOFTMAX_GRAD:
      loop_row_load(l, op, TILE_R(0), 0, p);
      loop_row_load(l, op, TILE_R(1), 1, p);
      loop_row_broadcast(l, op, TILE_R(3), 2, p);
      tile_simt(TILE_SIMT_MUL, TILE_R(2), TILE_R(0), TILE_R(1));
      tile_simt(TILE_SIMT_ROW_SUM, TILE_R(2), TILE_R(2), TILE_R(2));
      tile_simt(TILE_SIMT_SUB, TILE_R(1), TILE_R(1), TILE_R(2));
      tile_simt(TILE_SIMT_MUL, TILE_R(0), TILE_R(0), TILE_R(1));
      tile_simt(TILE_SIMT_MUL, TILE_R(0), TILE_R(0), TILE_R(3));
      break;
    case LOOP_LAYER_NORM:
      loop_normalise(l, op, p);
      LOOP_ROW_FP32(2, loop_row_broadcast, 1);
      tile_simt(TILE_SIMT_MUL, TILE_R(1), TILE_R(1), TILE_R(2));
      LOOP_ROW_FP32(2, loop_row_broadcast, 2);
      tile_simt(TILE_SIMT_ADD, TILE_R(1), TILE_R(1), TILE_R(2));
      tile_simt(TILE_SIMT_FP16, TILE_R(0), TILE_R(1), TILE_R(1));
      break;
    case LOOP_LAYER_NORM_GRAD:
      // With h = x normalised and g = gamma dy: (g - mean(g) - h mean(g h)) / deviation.
      loop_normalise(l, op, p);
      LOOP_ROW_FP32(2, loop_row_load, 2);
      LOOP_ROW_FP32(0, loop_row_broadcast, 1);
      tile_simt(TILE_SIMT_MUL, TILE_R(2), TILE_R(2), TILE_R(0));
      tile_simt(TILE_SIMT_MUL, TILE_R(0), TILE_R(2), TILE_R(1));
      LOOP_ROW_MEAN(6, 0);
      tile_simt(TILE_SIMT_MUL, TILE_R(1), TILE_R(1), TILE_R(6));
      tile_simt(TILE_SIMT_COPY, TILE_R(0), TILE_R(2), TILE_R(2));
      LOOP_ROW_MEAN(4, 0);
      tile_simt(TILE_SIMT_SUB, TILE_R(2), TILE_R(2), TILE_R(4));
      tile_simt(TILE_SIMT_SUB, TILE_R(2), TILE_R(2), TILE_R(1));
      tile_simt(TILE_SIMT_MUL, TILE_R(2), TILE_R(2), TILE_R(5));
      tile_simt(TILE_SIMT_FP16, TILE_R(0), TILE_R(2), TILE_R(2));
      break;
    case LOOP_UPDATE:
      loop_row_load(l, op, TILE_R(0), 0, p);
      loop_row_load(l, op, TILE_R(1), 1, p);
      loop_row_broadcast(l, op, TILE_R(2), 2, p);
      tile_simt(TILE_SIMT_MUL, TILE_R(1), TILE_R(1), TILE_R(2));
      tile_simt(TILE_SIMT_SUB, TILE_R(0), TILE_R(0), TILE_R(1));
      break;
  }
}

static __attribute__((noinline, unused)) void loop_rows(const loop_t* l, const loop_rows_t* op,
                                                        uint32_t tile) {
  const uint32_t row = (tile * GEMM_WAVEFRONTS + l->wavefront) * op->rows_each;
  if (row >= op->rows) return;
  const uint32_t count = min_u32(op->rows_each, op->rows - row);
  const uint32_t pitch = op->columns * ELEMENT_BYTES;
  const uint32_t bytes =
      (row + count == op->rows && count == 1 ? op->last_columns : op->columns) * ELEMENT_BYTES;
  const loop_row_place_t p = {.offset = (uint64_t)row * pitch,
                              .shape = tile_shape(count, bytes, pitch),
                              .broadcast = tile_shape(count, bytes, 0)};
  loop_row_compute(l, op, &p);
  tile_store(TILE_R(0), loop_address(l, op->out) + p.offset, p.shape, STRETTO_FP16);
}

// By rows a work-group takes tiles that lie one behind the other: it waits for few blocks, and counts few.
static __attribute__((noinline, unused)) void loop_row_tiles(loop_t* l, const loop_rows_t* op) {
  const uint32_t part = (l->first + l->rotation) % l->a->compute;
  const uint32_t first = op->tiles * part / l->a->compute;
  const uint32_t end = op->tiles * (part + 1) / l->a->compute;
  if (first == end) return;
  const uint32_t each = GEMM_WAVEFRONTS * op->rows_each, pitch = op->columns * ELEMENT_BYTES;
  const uint32_t from = first * each * pitch;
  const uint32_t to = end * each >= op->rows
                          ? (op->rows - 1) * pitch + op->last_columns * ELEMENT_BYTES
                          : end * each * pitch;
  for (uint32_t i = 0; l->wavefront == 0 && i < 4; ++i) {
    if (op->maker[i] != LOOP_NOBODY)
      loop_wait_made(l, i, op->maker[i], op->in[i] + from, op->in[i] + to);
  }
  tile_barrier();
  for (uint32_t tile = first; tile < end; ++tile) loop_rows(l, op, tile);
  if (l->made[op->self].first == LOOP_UNCOUNTED) return;
  tile_wait(0);
  tile_barrier();
  if (l->wavefront == 1) loop_count_bytes(l, op->self, from, to);
}

// Gradients over all ranks (GD-U13): a ring, chunk by chunk, transfers by send requests, sums here.
// Work-group `group` owns a share of every chunk and has a connection, buffer ids and flags of its
// own: wavefront 0 sends and waits, all of them add.

typedef struct loop_ring {
  const loop_t* l;
  const loop_bucket_t* bucket;
  uint32_t group;
  uint64_t sent;      // Requests so far.
  uint64_t received;  // Of the left neighbour.
  send_port_t port;
} loop_ring_t;

typedef struct loop_share {
  uint64_t offset;  // In the gradients.
  uint64_t bytes;
} loop_share_t;

// Chunk `chunk` modulo ranks of the bucket, this work-group's share, in whole units.
static __attribute__((noinline, unused)) loop_share_t loop_share(const loop_ring_t* ring,
                                                                 uint32_t chunk) {
  const loop_arguments_t* a = ring->l->a;
  while (chunk >= a->ranks) chunk -= a->ranks;
  const uint64_t units = ring->bucket->bytes >> LOOP_UNIT_SHIFT;
  const uint64_t first = units * chunk / a->ranks, count = units * (chunk + 1) / a->ranks - first;
  const uint64_t begin = first + count * ring->group / a->comm_groups;
  const uint64_t end = first + count * (ring->group + 1) / a->comm_groups;
  const loop_share_t share = {ring->bucket->offset + (begin << LOOP_UNIT_SHIFT),
                              (end - begin) << LOOP_UNIT_SHIFT};
  return share;
}

static __attribute__((noinline, unused)) void loop_ring_send(loop_ring_t* ring, uint32_t chunk,
                                                             uint32_t destination, uint64_t wish) {
  const loop_share_t share = loop_share(ring, chunk);
  if (share.bytes == 0) return;
  send_request(&ring->port, stretto_send_request(STRETTO_SR_WRITE, LOOP_SOURCE_ID + ring->group,
                                                 destination + ring->group, ring->group,
                                                 (uint32_t)(share.offset >> LOOP_UNIT_SHIFT),
                                                 (uint32_t)(share.bytes >> LOOP_UNIT_SHIFT),
                                                 STRETTO_SR_RC | wish));
  ++ring->sent;
}

// Waits until the left neighbour has sent the chunk to `destination`.
static __attribute__((noinline, unused)) void loop_ring_receive(loop_ring_t* ring, uint32_t chunk,
                                                                uint32_t destination) {
  if (loop_share(ring, chunk).bytes == 0) return;
  ++ring->received;
  tile_wait_until(ring->l->a->rc + 8ull * (destination + ring->group), TILE_GEU, ring->received);
}

// Adds what came to the own gradients, in memory when it returns. Wavefronts take units in turn,
// loads run ahead of the sums: one wavefront alone waits for memory longer than the link takes for
// a share.
static __attribute__((noinline, unused)) void loop_ring_add(const loop_ring_t* ring,
                                                            uint32_t chunk) {
  const loop_share_t share = loop_share(ring, chunk);
  const uint64_t own = ring->l->a->gradients + share.offset;
  const uint64_t came = ring->l->a->receive + share.offset;
  const uint64_t shape = tile_shape(1, LOOP_ROW_BYTES, 0);
#define LOOP_RING_STEP(t0, t1, at)                   \
  tile_load(t0, own + (at), shape, STRETTO_FP16, 1); \
  tile_load(t1, came + (at), shape, STRETTO_FP16, 1)
#define LOOP_RING_SUM(t0, t1, at)       \
  tile_simt(TILE_SIMT_ADD, t0, t0, t1); \
  tile_store(t0, own + (at), shape, STRETTO_FP16)
  // A unit is four tiles of LOOP_ROW_BYTES.
  for (uint64_t at = ring->l->wavefront * LOOP_UNIT; at < share.bytes;
       at += GEMM_WAVEFRONTS * LOOP_UNIT) {
    LOOP_RING_STEP(TILE_R(0), TILE_R(1), at);
    LOOP_RING_STEP(TILE_R(2), TILE_R(3), at + LOOP_ROW_BYTES);
    LOOP_RING_STEP(TILE_R(4), TILE_R(5), at + 2 * LOOP_ROW_BYTES);
    LOOP_RING_STEP(TILE_R(6), TILE_R(7), at + 3 * LOOP_ROW_BYTES);
    LOOP_RING_SUM(TILE_R(0), TILE_R(1), at);
    LOOP_RING_SUM(TILE_R(2), TILE_R(3), at + LOOP_ROW_BYTES);
    LOOP_RING_SUM(TILE_R(4), TILE_R(5), at + 2 * LOOP_ROW_BYTES);
    LOOP_RING_SUM(TILE_R(6), TILE_R(7), at + 3 * LOOP_ROW_BYTES);
  }
#undef LOOP_RING_STEP
#undef LOOP_RING_SUM
  tile_wait(0);
}

_Static_assert(LOOP_UNIT == 4 * LOOP_ROW_BYTES, "loop_ring_add takes whole units");

// One bucket: N - 1 steps in which sums travel, N - 1 in which results do. Before it ends, the own
// sends have been read, so that gradients may be overwritten.
static __attribute__((noinline, unused)) void loop_all_reduce(loop_ring_t* ring,
                                                              const loop_bucket_t* bucket) {
  const loop_arguments_t* a = ring->l->a;
  const uint32_t n = a->ranks, r = a->rank;
  ring->bucket = bucket;
  for (uint32_t j = 0; j + 1 < n; ++j) {
    if (ring->l->wavefront == 0) {
      loop_ring_send(ring, r + n - j, LOOP_PEER_RECEIVE_ID, 0);
      loop_ring_receive(ring, r + 2 * n - 1 - j, LOOP_PEER_RECEIVE_ID);
    }
    tile_barrier();
    loop_ring_add(ring, r + 2 * n - 1 - j);
    tile_barrier();  // Sums are in memory before they are sent.
  }
  if (ring->l->wavefront != 0) return;
  for (uint32_t j = 0; j + 1 < n; ++j) {
    loop_ring_send(ring, r + 1 + n - j, LOOP_PEER_GRADIENT_ID, j + 2 == n ? STRETTO_SR_SC : 0);
    loop_ring_receive(ring, r + n - j, LOOP_PEER_GRADIENT_ID);
  }
  if (loop_share(ring, r + 1 + n - (n - 2)).bytes != 0)
    tile_wait_until(a->sc + 8ull * (LOOP_SOURCE_ID + ring->group), TILE_GEU, ring->sent);
}

// The program of a communication work-group.
KERNEL_INLINE _Noreturn void loop_communicate(loop_t* l, const loop_bucket_t* buckets,
                                              uint32_t count, const uint32_t* ops) {
  loop_ring_t ring;  // Not initialised as a whole: GCC would call memset.
  ring.l = l;
  ring.group = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  ring.sent = ring.received = 0;
  ring.port = (send_port_t){.ring = &l->a->ring};
  const int stamps = ring.group == 0 && l->wavefront == 0;
  for (l->iteration = 0; l->iteration < l->a->iterations; ++l->iteration) {
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t j = 0; j < buckets[i].ops; ++j) loop_wait(l, ops[buckets[i].first_op + j]);
      if (stamps) loop_stamp(l, LOOP_STAMP_BUCKETS + 2 * i);
      loop_all_reduce(&ring, &buckets[i]);
      if (l->wavefront != 0) continue;
      tile_wait(0);
      if (stamps) loop_stamp(l, LOOP_STAMP_BUCKETS + 2 * i + 1);
      __atomic_fetch_add((uint64_t*)(uintptr_t)loop_word(l, LOOP_MAX_OPS + i), 1, __ATOMIC_RELEASE);
    }
  }
  tile_end();
  __builtin_unreachable();
}

// A kernel

KERNEL_INLINE loop_t loop_begin(const loop_made_t* made) {
  const loop_arguments_t* a = (const loop_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint32_t group = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  const loop_t l = {.a = a,
                    .made = made,
                    .wavefront = (uint32_t)tile_csr(TILE_CSR_WF_ID),
                    .first = group - a->comm_groups};
  return l;
}

// End of an iteration: all work-groups are through with the last operator.
KERNEL_INLINE void loop_turn(loop_t* l, uint32_t last_op) {
  loop_wait(l, last_op);
  tile_barrier();
  if (l->first == 0 && l->wavefront == 0) loop_stamp(l, l->iteration);
  for (uint32_t i = 0; i < 4; ++i) l->complete[i] = 0;
}

// The tiles of one operator; different operators begin at different work-groups.
#define LOOP_TILES(l, call, op)                                                              \
  for (uint32_t tile_ = ((l)->first + (l)->rotation) % (l)->a->compute; tile_ < (op)->tiles; \
       tile_ += (l)->a->compute)                                                             \
    call(l, op, tile_);                                                                      \
  (l)->rotation += (op)->tiles

// Of a row operator. By rows the next operator begins at the same work-group: it has the first rows.
#define LOOP_ROWS(l, op)            \
  do {                              \
    if ((l)->a->by_rows) {          \
      loop_row_tiles(l, op);        \
    } else {                        \
      LOOP_TILES(l, loop_rows, op); \
    }                               \
  } while (0)

// Buffers of another product have other sizes, and their share is free first.
#define LOOP_PRODUCT(l, op)                              \
  do {                                                   \
    const loop_product_t product_ = loop_product(l, op); \
    if ((l)->wavefront == 0) tile_release();             \
    tile_barrier();                                      \
    LOOP_TILES(l, loop_matmul, &product_);               \
  } while (0)

// The plan that the places are of.
#define LOOP_PLAN(sha256) const char loop_plan[] __attribute__((used)) = LOOP_PLAN_MARK sha256

// Registers: the largest accumulator and, for each wavefront, three tiles of FP32 (of LOOP_ROW_BYTES of FP16), columns
// beside them and scalar registers. One work-group a unit, with buffers of LOOP_LDS_BYTES.
#define LOOP_REGISTERS (LOOP_ACCUMULATOR_BYTES + 8 * 16 * 1024)
#define LOOP_KERNEL(products)                                                            \
  STRETTO_KERNEL(loop, .type = STRETTO_KERNEL_TENSOR, .registers_bytes = LOOP_REGISTERS, \
                 .lds_bytes = LOOP_LDS_BYTES, .private_bytes = 1024,                     \
                 .wavefronts = GEMM_WAVEFRONTS,                                          \
                 .kernarg_bytes = sizeof(loop_arguments_t) + (products) * sizeof(loop_choice_t))

#endif  // STRETTO_SW_COMPILER_LOOP_H_
