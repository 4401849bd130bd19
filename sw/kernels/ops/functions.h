// SPDX-License-Identifier: Apache-2.0
// Functions element by element, for kernels of the library and for stages of pipelines: worked out in FP32, rounded once.
#ifndef STRETTO_SW_KERNELS_OPS_FUNCTIONS_H_
#define STRETTO_SW_KERNELS_OPS_FUNCTIONS_H_

#include "sw/kernels/ops/walk.h"

typedef enum each_kind {
  EACH_NEG,
  EACH_RELU,
  EACH_SIGMOID,
  EACH_TANH,
  EACH_SILU,
  EACH_SQRT,
  EACH_SCALE,
  EACH_COPY,
  EACH_FILL,    // No operand,
  EACH_EXPAND,  // the second one alone.
  EACH_ADD,     // From here on two operands.
  EACH_SUB,
  EACH_MUL,
  EACH_DIV,
  EACH_RELU_GRAD,
  EACH_SIGMOID_GRAD,
  EACH_TANH_GRAD,
  EACH_SILU_GRAD,
  EACH_UPDATE
} each_kind_t;

// t <- 1 / (1 + e^-t). `one`, `minus_one`: tiles of that number.
KERNEL_INLINE void sigmoid(const int t, const int one, const int minus_one) {
  tile_simt(TILE_SIMT_MUL, TILE_R(t), TILE_R(t), minus_one);
  tile_simt(TILE_SIMT_EXP, TILE_R(t), TILE_R(t), TILE_R(t));
  tile_simt(TILE_SIMT_ADD, TILE_R(t), TILE_R(t), one);
  tile_simt(TILE_SIMT_RECIP, TILE_R(t), TILE_R(t), TILE_R(t));
}

// t <- the function of t and, if it has two operands, of t + 1. 4 and 5 are in between, and of SILU_GRAD `third`, which
// may be t. `one`, `minus_one`, `factor`: names of tiles that hold these numbers, FP32.
KERNEL_INLINE void function(const each_kind_t kind, const int t, const int third, const int one,
                            const int minus_one, const int factor) {
#define SIMT_(operation, t, a, b) tile_simt(TILE_SIMT_##operation, TILE_R(t), TILE_R(a), TILE_R(b))
#define SIGN(t) tile_simt(TILE_SIMT_MUL, TILE_R(t), TILE_R(t), minus_one)
#define ADD_ONE(t) tile_simt(TILE_SIMT_ADD, TILE_R(t), TILE_R(t), one)
  widen(4, t, STRETTO_FP16);
  switch (kind) {
    case EACH_NEG: SIGN(4); break;
    case EACH_SIGMOID: sigmoid(4, one, minus_one); break;
    case EACH_TANH:  // 2 / (1 + e^-2x) - 1
      SIMT_(ADD, 4, 4, 4);
      sigmoid(4, one, minus_one);
      SIMT_(ADD, 4, 4, 4);
      tile_simt(TILE_SIMT_ADD, TILE_R(4), TILE_R(4), minus_one);
      break;
    case EACH_SILU:
      SIMT_(COPY, 5, 4, 4);
      sigmoid(4, one, minus_one);
      SIMT_(MUL, 4, 4, 5);
      break;
    case EACH_SQRT:
      tile_simt(TILE_SIMT_ADD, TILE_R(4), TILE_R(4), factor);
      SIMT_(RSQRT, 4, 4, 4);
      SIMT_(RECIP, 4, 4, 4);
      break;
    case EACH_SCALE: tile_simt(TILE_SIMT_MUL, TILE_R(4), TILE_R(4), factor); break;
    case EACH_DIV:
      widen(5, t + 1, STRETTO_FP16);
      SIMT_(RECIP, 5, 5, 5);
      SIMT_(MUL, 4, 4, 5);
      break;
    case EACH_SIGMOID_GRAD:  // y (1 - y) dy
      SIMT_(COPY, 5, 4, 4);
      SIGN(5);
      ADD_ONE(5);
      SIMT_(MUL, 4, 4, 5);
      widen(5, t + 1, STRETTO_FP16);
      SIMT_(MUL, 4, 4, 5);
      break;
    case EACH_TANH_GRAD:  // (1 - y^2) dy
      SIMT_(MUL, 4, 4, 4);
      SIGN(4);
      ADD_ONE(4);
      widen(5, t + 1, STRETTO_FP16);
      SIMT_(MUL, 4, 4, 5);
      break;
    case EACH_SILU_GRAD:  // s (1 + x (1 - s)) dy
      SIMT_(COPY, third, 4, 4);
      sigmoid(4, one, minus_one);
      SIMT_(COPY, 5, 4, 4);
      SIGN(5);
      ADD_ONE(5);
      SIMT_(MUL, 5, 5, third);
      ADD_ONE(5);
      SIMT_(MUL, 4, 4, 5);
      widen(5, t + 1, STRETTO_FP16);
      SIMT_(MUL, 4, 4, 5);
      break;
    default: break;
  }
  narrow(t, 4, STRETTO_FP16);
#undef SIMT_
#undef SIGN
#undef ADD_ONE
}

// one <- 1, minus_one <- -1, of an accumulator that nothing is added to; `between` is in between.
KERNEL_INLINE void put_one_and_minus_one(const int one, const int minus_one, const int between,
                                         const int accumulator) {
  tile_zero(accumulator, 1 | (uint64_t)1 << 16);
  tile_epilogue(between, accumulator, (uint64_t)1 << 16 | (uint64_t)1 << 48, STRETTO_FP32);
  tile_simt(TILE_SIMT_EXP, one, between, between);
  tile_simt(TILE_SIMT_SUB, minus_one, between, one);
}

// t <- layer norm of its rows, which are whole, as rows.c has it. `gamma`, `beta`: tiles of as many rows; `epsilon`: of one
// element, FP32. 4 and 5 are in between, in FP32, and 6, a column.
KERNEL_INLINE void norm_of_rows(const int t, const int gamma, const int beta, const int epsilon) {
#define SIMT_(operation, t, a, b) tile_simt(TILE_SIMT_##operation, TILE_R(t), TILE_R(a), TILE_R(b))
  widen(4, t, STRETTO_FP16);
  SIMT_(ROW_MEAN, 5, 4, 4);
  SIMT_(FIRST, 6, 5, 5);
  SIMT_(SUB, 4, 4, 6);
  SIMT_(MUL, 5, 4, 4);
  row_column(TILE_SIMT_ROW_MEAN, 6, 5);
  tile_simt(TILE_SIMT_ADD, TILE_R(6), TILE_R(6), epsilon);
  SIMT_(RSQRT, 6, 6, 6);
  SIMT_(MUL, 4, 4, 6);
  narrow(t, 4, STRETTO_FP16);
  tile_simt(TILE_SIMT_MUL, TILE_R(t), TILE_R(t), gamma);
  tile_simt(TILE_SIMT_ADD, TILE_R(t), TILE_R(t), beta);
#undef SIMT_
}

#endif  // STRETTO_SW_KERNELS_OPS_FUNCTIONS_H_
