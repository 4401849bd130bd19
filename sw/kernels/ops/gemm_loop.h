// SPDX-License-Identifier: Apache-2.0
// What products of tiles are made of, in kernels of the library and in loop kernels (sw/compiler): the K loop that a
// wavefront issues, and the order of tiles. Work-group-owned tiles l0 .. l3 hold A, l8 .. l11 B, a buffer each.
#ifndef STRETTO_SW_KERNELS_OPS_GEMM_LOOP_H_
#define STRETTO_SW_KERNELS_OPS_GEMM_LOOP_H_

#include "sw/kernels/kernel.h"
#include "sw/kernels/kernel_arguments.h"

#define ACCUMULATOR TILE_A(0)

typedef struct operands {
  uint64_t a, b;
  uint64_t a_shape, b_shape;
  uint64_t a_last, b_last;  // Shapes of the last step.
  uint64_t a_move, b_move;
  uint32_t loads_left;  // Steps whose loads are not yet issued.
} operands_t;

KERNEL_INLINE void load_step(operands_t* o, const int buffer, const int element) {
  if (--o->loads_left == 0) {
    o->a_shape = o->a_last;
    o->b_shape = o->b_last;
  }
  tile_load(TILE_L(buffer), o->a, o->a_shape, element, 0);
  tile_load(TILE_L(8 + buffer), o->b, o->b_shape, element, 0);
  o->a += o->a_move;
  o->b += o->b_move;
}

// The first loads of a K loop; returns how many steps it has. REQUIRES: at least one.
KERNEL_INLINE uint32_t k_loop_begin(operands_t* o, const int stages, const int element) {
  const uint32_t steps = o->loads_left;
  load_step(o, 0, element);
  if (o->loads_left != 0) load_step(o, 1, element);
  if (stages > 2 && o->loads_left != 0) load_step(o, 2, element);
  if (stages > 3 && o->loads_left != 0) load_step(o, 3, element);
  return steps;
}

// All of its products. A product is issued before the loads that wait for the end of the one before it, so that the pipe
// never waits for the issue of loads.
KERNEL_INLINE void k_loop_products(const int accumulator, operands_t* o, uint32_t left,
                                   const int stages, const int a_km, const int b_nk,
                                   const int element, const int product) {
  tile_mma(accumulator, TILE_L(0), TILE_L(8), a_km, b_nk, product);
#define STEP(buffer, before)                                                        \
  if (--left == 0) return;                                                          \
  tile_mma(accumulator, TILE_L(buffer), TILE_L(8 + (buffer)), a_km, b_nk, product); \
  if (o->loads_left != 0) load_step(o, before, element)
  for (;;) {
    STEP(1, 0);
    if (stages > 2) {
      STEP(2, 1);
    }
    if (stages > 3) {
      STEP(3, 2);
    }
    STEP(0, stages - 1);
  }
#undef STEP
}
KERNEL_INLINE void k_loop_into(const int accumulator, operands_t* o, const int stages,
                               const int a_km, const int b_nk, const int element,
                               const int product) {
  const uint32_t steps = k_loop_begin(o, stages, element);
  k_loop_products(accumulator, o, steps, stages, a_km, b_nk, element, product);
}
KERNEL_INLINE void k_loop(operands_t* o, const int stages, const int a_km, const int b_nk,
                          const int element, const int product) {
  k_loop_into(ACCUMULATOR, o, stages, a_km, b_nk, element, product);
}

KERNEL_INLINE uint64_t operand_shape(uint32_t lines, uint32_t k, uint32_t pitch, int k_outer,
                                     uint32_t bytes) {
  return k_outer ? tile_shape(k, lines * bytes, pitch) : tile_shape(lines, k * bytes, pitch);
}

// Steps first .. end - 1 of a product, `step` of its k each. `a`, `b`: the first row or column of the tile, which has so
// many of them.
KERNEL_INLINE operands_t operands_of(uint64_t a, uint64_t b, uint32_t lda, uint32_t ldb,
                                     uint32_t layout, uint32_t rows, uint32_t columns, uint32_t k,
                                     uint32_t step, uint32_t first, uint32_t end, uint32_t bytes) {
  const int a_km = (layout & GEMM_A_KM) != 0, b_kn = (layout & GEMM_B_NK) == 0;
  const uint32_t last_k = min_u32(step, k - (end - 1) * step);
  operands_t o = {.a = a,
                  .b = b,
                  .a_shape = operand_shape(rows, step, lda, a_km, bytes),
                  .b_shape = operand_shape(columns, step, ldb, b_kn, bytes),
                  .a_last = operand_shape(rows, last_k, lda, a_km, bytes),
                  .b_last = operand_shape(columns, last_k, ldb, b_kn, bytes),
                  .a_move = (uint64_t)step * (a_km ? lda : bytes),
                  .b_move = (uint64_t)step * (b_kn ? ldb : bytes),
                  .loads_left = end - first};
  o.a += first * o.a_move;
  o.b += first * o.b_move;
  return o;
}

// Where line `line` of an operand begins.
KERNEL_INLINE uint64_t line_offset(uint32_t line, uint32_t pitch, int k_outer, uint32_t bytes) {
  return (uint64_t)line * (k_outer ? bytes : pitch);
}

KERNEL_INLINE uint64_t matrix_of(uint64_t first, uint64_t outer_stride, uint64_t stride,
                                 uint32_t outer, uint32_t inner) {
  return first + outer * outer_stride + inner * stride;
}

typedef struct tile {
  uint32_t row, column;
} tile_t;

// Strips of so many tiles along the shorter way, a strip across before it goes on along (CUTLASS
// Identity8): what is resident shares its operands.
KERNEL_INLINE tile_t ordered(uint32_t id, uint32_t tiles_m, uint32_t tiles_n, uint32_t strip) {
  const int rows = tiles_m <= tiles_n;
  const uint32_t across = rows ? tiles_m : tiles_n, along = rows ? tiles_n : tiles_m;
  const uint32_t first = id / (strip * along) * strip;
  const uint32_t width = min_u32(strip, across - first);
  const uint32_t rest = id - first * along;
  const uint32_t x = first + rest % width, y = rest / width;
  const tile_t t = {rows ? x : y, rows ? y : x};
  return t;
}

#endif  // STRETTO_SW_KERNELS_OPS_GEMM_LOOP_H_
