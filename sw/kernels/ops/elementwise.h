// SPDX-License-Identifier: Apache-2.0
// Operators element by element beside those of vector.h, FP16: what kernels there are, and their arguments as they lie
// in memory. C and C++.
//
// each_NAME: add, sub, mul, div; neg, relu, sigmoid, tanh, silu, sqrt (of x + factor), scale (x times factor); and from
// y, dy: relu_grad, sigmoid_grad, tanh_grad; from x, dy: silu_grad; update: a - factor b. The second operand may be
// repeated. Functions are worked out in FP32 and rounded once; update rounds its product, too.
// each_copy; each_fill: zeros, without operand; each_expand: factor times the second operand, repeated. Rows of what they
// read and write may lie apart.
// each_rope: rotary embedding of rows, one head each, in pairs of elements half a row apart, from cosines (in[1]) and
// sines (`factor`), repeated alike; each_rope_back is its gradient.
#ifndef STRETTO_SW_KERNELS_OPS_ELEMENTWISE_H_
#define STRETTO_SW_KERNELS_OPS_ELEMENTWISE_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define OPS_EACH_PIECE 2048u  // What a wavefront has.
#define OPS_EACH_WAVEFRONTS 4u
// Of a wavefront: two pieces, three of FP32, 2 KiB of scalar registers; where nothing is worked out in FP32, three pieces.
#define OPS_EACH_REGISTERS (OPS_EACH_WAVEFRONTS * 18432u)
#define OPS_EACH_FEW_REGISTERS (OPS_EACH_WAVEFRONTS * 8192u)
#define OPS_EACH_LDS 64u

// How the second operand is repeated: it has `period` rows, of which rows of the first take one after the other; or it
// is one row, a column, one element; or `period` rows of the first take the same row.
enum { OPS_EACH_ROWS, OPS_EACH_ROW, OPS_EACH_COLUMN, OPS_EACH_ONE, OPS_EACH_GROUP };

typedef struct ops_elementwise_arguments {
  uint64_t in[2];
  uint64_t out;
  uint64_t factor;  // Address of a word, FP32, or 0; rope: of sines.
  uint32_t rows;
  uint32_t row_bytes;
  uint32_t rows_each;  // Of a piece; a divisor of `period`.
  uint32_t chunks;     // Pieces of a row.
  uint32_t second;
  uint32_t period;
  uint32_t in_pitch;   // Bytes from a row of the first operand to the next,
  uint32_t out_pitch;  // of the result; 0: row_bytes.
} ops_elementwise_arguments_t;

#ifdef __cplusplus
static_assert(sizeof(ops_elementwise_arguments_t) == 64, "read by kernels");
#else
_Static_assert(sizeof(ops_elementwise_arguments_t) == 64, "read by kernels");
#endif

#endif  // STRETTO_SW_KERNELS_OPS_ELEMENTWISE_H_
