// SPDX-License-Identifier: Apache-2.0
// Sums over rows, over columns and over what is between: what kernels there are, and their arguments as they lie in memory. C and C++.
//
// sum_rows_ELEMENT: one row, the sum of all. A work-group sums some rows in FP32 and leaves a part; sum_parts_ELEMENT
// adds the parts in their order. sum_columns_ELEMENT_P: of each row, or of pieces of P bytes of it, the sum of its
// elements; a second launch of sum_columns_fp32_P adds the sums of a row's pieces. sum_groups_ELEMENT: each row is the
// sum of `part_count` rows that follow each other. All sums are FP32, and which element is added when follows from the
// launch alone.
#ifndef STRETTO_SW_KERNELS_OPS_REDUCE_H_
#define STRETTO_SW_KERNELS_OPS_REDUCE_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define OPS_SUM_PIECE 2048u
#define OPS_SUM_LONG_PIECE 8192u
#define OPS_SUM_ROWS_WAVEFRONTS 4u
#define OPS_SUM_COLUMNS_WAVEFRONTS(piece) ((piece) == OPS_SUM_PIECE ? 4u : 2u)
// Of a wavefront of sum_rows: four pieces, one in FP32, their sum, an accumulator and what it becomes, ones, and 2 KiB
// of scalar registers.
#define OPS_SUM_ROWS_REGISTERS (OPS_SUM_ROWS_WAVEFRONTS * 26624u)
#define OPS_SUM_ROWS_LDS (OPS_SUM_ROWS_WAVEFRONTS * 2u * OPS_SUM_PIECE)
// Four pieces, one in FP32.
#define OPS_SUM_COLUMNS_REGISTERS(piece) \
  (OPS_SUM_COLUMNS_WAVEFRONTS(piece) * (6u * (piece) + 2048u))
// Four pieces, one and the sum in FP32, a factor.
#define OPS_SUM_GROUPS_WAVEFRONTS 4u
#define OPS_SUM_GROUPS_REGISTERS (OPS_SUM_GROUPS_WAVEFRONTS * (8u * OPS_SUM_PIECE + 256u + 2048u))
#define OPS_SUM_PARTS_EACH 256u    // Parts of a tile,
#define OPS_SUM_PARTS_COLUMNS 16u  // and columns of a work-group of sum_parts.
#define OPS_SUM_PARTS_REGISTERS 40960u

typedef struct ops_sum_arguments {
  uint64_t in;
  uint64_t out;
  uint64_t parts;   // sum_rows: FP32, a row of `columns` each.
  uint64_t factor;  // Address of a word by which sums are multiplied, FP32, or 0; not sum_rows.
  uint32_t rows;    // sum_groups: of the result.
  uint32_t row_bytes;
  uint32_t rows_each;  // Of a piece.
  uint32_t chunks;     // sum_rows: pieces beside each other; others: pieces of a row.
  uint32_t part_count;
  uint32_t columns;      // sum_parts.
  uint32_t out_element;  // sum_columns, sum_parts: STRETTO_FP16, STRETTO_BF16 or STRETTO_FP32.
  uint32_t pitch;        // sum_parts: columns of a part, if they are more; or 0.
} ops_sum_arguments_t;

#ifdef __cplusplus
static_assert(sizeof(ops_sum_arguments_t) == 64, "read by kernels");
#else
_Static_assert(sizeof(ops_sum_arguments_t) == 64, "read by kernels");
#endif

#endif  // STRETTO_SW_KERNELS_OPS_REDUCE_H_
