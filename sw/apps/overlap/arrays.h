// SPDX-License-Identifier: Apache-2.0
// Arrays of the programs in this folder: operands whose rows are padded, tables with an entry a
// tile.
#ifndef STRETTO_SW_APPS_OVERLAP_ARRAYS_H_
#define STRETTO_SW_APPS_OVERLAP_ARRAYS_H_

#include <stdint.h>

#define ARRAY_ALIGNMENT 4096u
#define ROW_ALIGNMENT 128u
#define SPILL_BYTES_OF_TILE 64u

static inline uint32_t divide_up(uint32_t a, uint32_t b) {
  return (uint32_t)(((uint64_t)a + b - 1) / b);
}

// Bytes from a row of an operand to the next.
static inline uint32_t padded_row(uint32_t elements, uint32_t element_bytes) {
  return divide_up(elements * element_bytes, ROW_ALIGNMENT) * ROW_ALIGNMENT;
}

#endif  // STRETTO_SW_APPS_OVERLAP_ARRAYS_H_
