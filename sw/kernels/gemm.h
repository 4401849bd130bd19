// SPDX-License-Identifier: Apache-2.0
// The K loop of tiled products on the tensor pipe: of gemm.c and what multiplies like it.
// Work-group-owned tiles l0/l1 hold A, l2/l3 B, two buffers, so that the loads of a step fly while
// the step before is multiplied; the scoreboard orders loads behind the multiplication that still
// reads their buffer. GEMM_E4M3: operands of FP8; a step has 64 bytes of K either way.
#ifndef STRETTO_SW_KERNELS_GEMM_H_
#define STRETTO_SW_KERNELS_GEMM_H_

#include "sw/kernels/kernel.h"
#include "sw/kernels/kernel_arguments.h"

#ifdef GEMM_E4M3
#define GEMM_ELEMENT STRETTO_E4M3
#define ELEMENT_BYTES 1u
#else
#define GEMM_ELEMENT STRETTO_FP16
#define ELEMENT_BYTES 2u
#endif
#define K_STEP (64u / ELEMENT_BYTES)

#define A_EVEN TILE_L(0)
#define A_ODD TILE_L(1)
#define B_EVEN TILE_L(2)
#define B_ODD TILE_L(3)
#define ACCUMULATOR TILE_A(0)

// The operands of the next step to load: addresses move by a constant, the last step has a shape of
// its own.
typedef struct operands {
  uint64_t a, b;
  uint64_t a_shape, b_shape;
  uint64_t a_last, b_last;
  uint64_t a_move, b_move;
  uint32_t loads_left;  // Steps whose loads are not yet issued.
} operands_t;

KERNEL_INLINE void load_step(operands_t* o, const int tile_a, const int tile_b) {
  if (--o->loads_left == 0) {
    o->a_shape = o->a_last;
    o->b_shape = o->b_last;
  }
  tile_load(tile_a, o->a, o->a_shape, GEMM_ELEMENT, 0);
  tile_load(tile_b, o->b, o->b_shape, GEMM_ELEMENT, 0);
  o->a += o->a_move;
  o->b += o->b_move;
}

// REQUIRES: at least one step. A multiplication is issued before the loads that follow it, so that
// the pipe never waits for the issue of loads.
KERNEL_INLINE void k_loop(operands_t* o, const int a_km, const int b_nk) {
  load_step(o, A_EVEN, B_EVEN);
  const int one_step = o->loads_left == 0;
  if (!one_step) load_step(o, A_ODD, B_ODD);
  tile_mma(ACCUMULATOR, A_EVEN, B_EVEN, a_km, b_nk, GEMM_ELEMENT);
  if (one_step) return;
  for (;;) {
    tile_mma(ACCUMULATOR, A_ODD, B_ODD, a_km, b_nk, GEMM_ELEMENT);
    if (o->loads_left == 0) return;
    load_step(o, A_EVEN, B_EVEN);
    tile_mma(ACCUMULATOR, A_EVEN, B_EVEN, a_km, b_nk, GEMM_ELEMENT);
    if (o->loads_left == 0) return;
    load_step(o, A_ODD, B_ODD);
  }
}

// An operand tile covers `lines` rows or columns of C from `line`, and K_STEP of K. `k_outer`: its
// memory rows run along K (K x M, K x N), else along M or N with K contiguous.
KERNEL_INLINE uint64_t operand_shape(uint32_t lines, uint32_t k, uint32_t pitch, int k_outer) {
  return k_outer ? tile_shape(k, lines * ELEMENT_BYTES, pitch)
                 : tile_shape(lines, k * ELEMENT_BYTES, pitch);
}

KERNEL_INLINE uint64_t operand_offset(uint32_t line, uint32_t pitch, int k_outer) {
  return (uint64_t)line * (k_outer ? ELEMENT_BYTES : pitch);
}

// The product of one tile into ACCUMULATOR, from element (row, column) of C on, over K from
// first_k, a multiple of K_STEP, to end_k. REQUIRES: first_k < end_k.
KERNEL_INLINE void multiply_part(const stretto_gemm_arguments_t* arguments, uint32_t row,
                                 uint32_t column, uint32_t rows, uint32_t columns, uint32_t first_k,
                                 uint32_t end_k) {
  const uint32_t k = end_k - first_k;
  const uint32_t lda = arguments->lda;
  const uint32_t ldb = arguments->ldb;
  const uint32_t layout = arguments->layout;
  const int a_km = (layout & GEMM_A_KM) != 0;
  const int b_kn = (layout & GEMM_B_NK) == 0;
  const uint32_t steps = (k + K_STEP - 1) / K_STEP;
  const uint32_t last_k = k - (steps - 1) * K_STEP;
  operands_t o = {
      .a = arguments->a + operand_offset(row, lda, a_km),
      .b = arguments->b + operand_offset(column, ldb, b_kn),
      .a_shape = operand_shape(rows, K_STEP, lda, a_km),
      .b_shape = operand_shape(columns, K_STEP, ldb, b_kn),
      .a_last = operand_shape(rows, last_k, lda, a_km),
      .b_last = operand_shape(columns, last_k, ldb, b_kn),
      .a_move = a_km ? (uint64_t)K_STEP * lda : K_STEP * ELEMENT_BYTES,
      .b_move = b_kn ? (uint64_t)K_STEP * ldb : K_STEP * ELEMENT_BYTES,
      .loads_left = steps,
  };
  o.a += first_k / K_STEP * o.a_move;
  o.b += first_k / K_STEP * o.b_move;
#ifdef GEMM_SKIP_STEP
  if (o.loads_left > 1) {
    --o.loads_left;
    o.a += o.a_move;
    o.b += o.b_move;
  }
#endif
  if (a_km) {
    if (b_kn)
      k_loop(&o, 1, 0);
    else
      k_loop(&o, 1, 1);
  } else {
    if (b_kn)
      k_loop(&o, 0, 0);
    else
      k_loop(&o, 0, 1);
  }
}

// Over all of K. REQUIRES: k > 0.
KERNEL_INLINE void multiply(const stretto_gemm_arguments_t* arguments, uint32_t row,
                            uint32_t column, uint32_t rows, uint32_t columns) {
  multiply_part(arguments, row, column, rows, columns, 0, arguments->k);
}

#endif  // STRETTO_SW_KERNELS_GEMM_H_
