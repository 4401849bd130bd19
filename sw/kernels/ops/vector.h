// SPDX-License-Identifier: Apache-2.0
// Vector operators of the kernel library: what kernels there are, and their arguments as they lie in memory. C and C++.
//
// map_NAME_ELEMENT: arrays of equal length, element by element: copy a; add a + b; mul a b; triad a + b c; gelu a;
// relu a; gelu_grad, relu_grad: b times the function's slope at a.
// gemv_ELEMENT_P: matrix times vector, rows of at most P bytes; P is a piece, what a wavefront takes at a time.
// concat_ELEMENT: rows of two matrices behind each other.
// map and concat: a wavefront has the piece of its number. gemv: it takes pieces in turn, its first the one of its number;
// loads of several are under way.
#ifndef STRETTO_SW_KERNELS_OPS_VECTOR_H_
#define STRETTO_SW_KERNELS_OPS_VECTOR_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define OPS_VECTOR_PIECE 2048u
#define OPS_VECTOR_LONG_PIECE 8192u  // A row of a tile has no more bytes (tile.h).
#define OPS_VECTOR_WAVEFRONTS(piece) ((piece) == OPS_VECTOR_PIECE ? 4u : 2u)
// Tiles that a wavefront uses, and 2 KiB of scalar registers.
#define OPS_VECTOR_REGISTERS(piece, tiles) \
  (OPS_VECTOR_WAVEFRONTS(piece) * ((tiles) * (piece) + 2048u))
#define OPS_VECTOR_GEMV_TILES 4u

typedef struct ops_vector_arguments {
  uint64_t in[3];  // gemv: matrix, vector; concat: both matrices.
  uint64_t out;
  uint64_t bytes;        // map: of each array.
  uint32_t rows;         // Else.
  uint32_t row_bytes;    // Of in[0].
  uint32_t rows_each;    // Of a piece.
  uint32_t other_bytes;  // concat: of a row of in[1].
} ops_vector_arguments_t;

#ifdef __cplusplus
static_assert(sizeof(ops_vector_arguments_t) == 56, "read by kernels");
#else
_Static_assert(sizeof(ops_vector_arguments_t) == 56, "read by kernels");
#endif

#endif  // STRETTO_SW_KERNELS_OPS_VECTOR_H_
