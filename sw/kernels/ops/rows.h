// SPDX-License-Identifier: Apache-2.0
// Rows that a team of wavefronts shares, and gradients of row operators: what kernels there are, and their arguments as
// they lie in memory. C and C++.
//
// NAME_ELEMENT_wW: a team of W wavefronts holds a row in its registers and reads it once; sums and maxima of its
// wavefronts meet in LDS. Teams of 4 and 8 are work-groups, of teams of 1 there are 4 in one.
// NAME_ELEMENT_long: rows of any length, by teams of 8. A row is read twice: for its sums, and for its results.
//
// softmax, layer_norm, softmax_grad (from y and dy), layer_norm_grad (from x and dy): w1, w4, w8, long. The last one has
// sums over rows for gamma and beta if `parts` is not 0: each team leaves its part of them in FP32, sum_parts (reduce.h) adds the parts. All arithmetic but the products with gamma and beta is FP32.
#ifndef STRETTO_SW_KERNELS_OPS_ROWS_H_
#define STRETTO_SW_KERNELS_OPS_ROWS_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define OPS_ROWS_PIECE 2048u        // What a tile holds of a row.
#define OPS_ROWS_SOFTMAX_PIECES 4u  // That a wavefront holds of a row.
#define OPS_ROWS_LAYER_NORM_PIECES 3u
#define OPS_ROWS_SOFTMAX_GRAD_PIECES 2u
#define OPS_ROWS_LAYER_NORM_GRAD_PIECES 1u
#define OPS_ROWS_MAX_TEAM 8u
// Of a wavefront: tiles and 2 KiB of scalar registers.
#define OPS_ROWS_REGISTERS 16384u
#define OPS_ROWS_LAYER_NORM_GRAD_REGISTERS 26624u
#define OPS_ROWS_LDS 64u  // Of a work-group.

// FP32 words at `constants`; the factor is not read there.
enum {
  OPS_ROWS_ONE_BY_COLUMNS,
  OPS_ROWS_EPSILON,
  OPS_ROWS_LOWEST,
  OPS_ROWS_ZERO,
  OPS_ROWS_FACTOR,
  OPS_ROWS_WORDS
};

typedef struct ops_rows_arguments {
  // x; layer_norm: gamma, beta. Gradients: y or x, dy; layer_norm_grad: gamma. softmax, softmax_grad: the third is the
  // address of a word by which x or the result is multiplied, FP32, or 0.
  uint64_t in[3];
  uint64_t out;    // layer_norm_grad: 0: sums alone.
  uint64_t parts;  // layer_norm_grad: of each team, sums for gamma, then for beta, FP32; 0: none.
  uint64_t constants;  // OPS_ROWS_WORDS words: 1 / columns, epsilon, the lowest finite number, 0.
  uint32_t rows;
  uint32_t row_bytes;
  uint32_t share;      // Bytes of a row that a wavefront has; the last of a team has the rest.
  uint32_t rows_each;  // Of a piece; more than 1 only where a piece holds them.
} ops_rows_arguments_t;

#ifdef __cplusplus
static_assert(sizeof(ops_rows_arguments_t) == 64, "read by kernels");
#else
_Static_assert(sizeof(ops_rows_arguments_t) == 64, "read by kernels");
#endif

#endif  // STRETTO_SW_KERNELS_OPS_ROWS_H_
