// SPDX-License-Identifier: Apache-2.0
// Rows by index: what kernels there are, and their arguments as they lie in memory. C and C++.
//
// gather_P: out[i] = table[indices[i]], in pieces of at most P bytes of a row, whatever the element.
// gather_columns: out[row][i] = table[row][indices[i]], elements of row_bytes, in pieces of few rows: what lies
// beside each other in a row is in one sector, so rows must stay in the L2 until all of their columns have been taken.
// bag_ELEMENT_C: sums of rows of a table, in pieces of at most C columns, in FP32 and in the order of the list:
// out[row] = base[row] + sum of table[indices[j]], j of the segment. A long list is cut into segments that leave FP32
// parts; bag_parts_ELEMENT_C adds the parts of a row in their order in a second launch. Embedding-bag: a list a bag,
// no base. Scatter-add: a list a row of the result, the rows of the source that have its index, in ascending order,
// sorted by the host; so no two wavefronts write a row, and every sum has one order. Slices: matrices one behind the
// other that have the same lists, as behind an axis that is not the first; a piece is of as many of them as fit.
#ifndef STRETTO_SW_KERNELS_OPS_INDEX_H_
#define STRETTO_SW_KERNELS_OPS_INDEX_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define OPS_INDEX_WAVEFRONTS 4u
#define OPS_GATHER_PIECE 256u
#define OPS_GATHER_LONG_PIECE 2048u
#define OPS_GATHER_COLUMNS_PIECE 1024u
#define OPS_GATHER_COLUMNS_ROWS 32u
#define OPS_BAG_COLUMNS 256u
#define OPS_BAG_LONG_COLUMNS 1024u
// Of a wavefront: eight pieces; four rows of the table's element, FP32 of one, the sum, what is stored, a quarter of an
// accumulator; 2 KiB of scalar registers.
#define OPS_GATHER_REGISTERS(piece) (OPS_INDEX_WAVEFRONTS * (8u * (piece) + 2048u))
#define OPS_BAG_REGISTERS(columns, bytes) \
  (OPS_INDEX_WAVEFRONTS * ((4u * (bytes) + 13u) * (columns) + 2048u))
#define OPS_BAG_SEGMENT 64u  // Indices at most, for a list that is cut.

typedef struct ops_index_segment {
  uint32_t first, count;  // Of `indices`; without them, of rows of the table.
  uint32_t row;           // Of `out`, or of `parts`.
  uint32_t is_part;       // FP32, without base.
} ops_index_segment_t;

typedef struct ops_index_arguments {
  uint64_t table;
  uint64_t base;  // 0: none.
  uint64_t out;
  uint64_t parts;
  uint64_t
      indices;  // 32 bits each, an even number of them, at a multiple of 8 B; bag: 0 = first, first + 1, ...
  uint64_t segments;
  uint32_t count;      // Of results of gather, of segments.
  uint32_t row_bytes;  // gather.
  uint32_t columns;    // bag; gather_columns: rows of the table.
  uint32_t pitch;      // gather_columns, bag: bytes from a row or slice of the table to the next.
  uint32_t slices;     // bag: at least 1,
  uint32_t out_pitch;  // and bytes from one of `out` and `base` to the next,
  uint32_t parts_pitch;
  uint32_t reserved;
} ops_index_arguments_t;

static inline uint32_t ops_gather_rows(uint32_t row_bytes) {
  const uint32_t most = OPS_GATHER_COLUMNS_PIECE / row_bytes;
  return most < OPS_GATHER_COLUMNS_ROWS ? most : OPS_GATHER_COLUMNS_ROWS;
}
// Of bags: slices in a piece of so many columns.
static inline uint32_t ops_bag_slices(const ops_index_arguments_t* g, uint32_t columns) {
  const uint32_t most = columns / g->columns;
  return most < 2 ? 1 : most < g->slices ? most : g->slices;
}

#ifdef __cplusplus
static_assert(sizeof(ops_index_arguments_t) == 80, "read by kernels");
static_assert(sizeof(ops_index_segment_t) == 16, "read by kernels");
#else
_Static_assert(sizeof(ops_index_arguments_t) == 80, "read by kernels");
_Static_assert(sizeof(ops_index_segment_t) == 16, "read by kernels");
#endif

#endif  // STRETTO_SW_KERNELS_OPS_INDEX_H_
