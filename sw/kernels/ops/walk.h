// SPDX-License-Identifier: Apache-2.0
// What the vector kernels share: numbers of wavefronts, and walks over pieces whose loads run ahead of the work.
#ifndef STRETTO_SW_KERNELS_OPS_WALK_H_
#define STRETTO_SW_KERNELS_OPS_WALK_H_

#include "sw/kernels/kernel.h"

// Number of this wavefront among all, and how many there are.
KERNEL_INLINE uint32_t wavefront(void) {
  return (uint32_t)(tile_csr(TILE_CSR_WG_ID) * tile_csr(TILE_CSR_WAVEFRONTS) +
                    tile_csr(TILE_CSR_WF_ID));
}
KERNEL_INLINE uint32_t wavefronts(void) {
  return (uint32_t)(tile_csr(TILE_CSR_GRID) * tile_csr(TILE_CSR_WAVEFRONTS));
}

// Steps of a walk over pieces whose loads run ahead of the work, as many as there are tiles to load into. LOAD(s) and
// WORK(s) have `return` where there is nothing left.
#define WALK_8(LOAD, WORK) \
  LOAD(0);                 \
  LOAD(1);                 \
  LOAD(2);                 \
  LOAD(3);                 \
  LOAD(4);                 \
  LOAD(5);                 \
  LOAD(6);                 \
  for (;;) {               \
    LOAD(7);               \
    WORK(0);               \
    LOAD(0);               \
    WORK(1);               \
    LOAD(1);               \
    WORK(2);               \
    LOAD(2);               \
    WORK(3);               \
    LOAD(3);               \
    WORK(4);               \
    LOAD(4);               \
    WORK(5);               \
    LOAD(5);               \
    WORK(6);               \
    LOAD(6);               \
    WORK(7);               \
  }
#define WALK_4(LOAD, WORK) \
  LOAD(0);                 \
  LOAD(1);                 \
  LOAD(2);                 \
  for (;;) {               \
    LOAD(3);               \
    WORK(0);               \
    LOAD(0);               \
    WORK(1);               \
    LOAD(1);               \
    WORK(2);               \
    LOAD(2);               \
    WORK(3);               \
  }
#define WALK_3(LOAD, WORK) \
  LOAD(0);                 \
  LOAD(1);                 \
  for (;;) {               \
    LOAD(2);               \
    WORK(0);               \
    LOAD(0);               \
    WORK(1);               \
    LOAD(1);               \
    WORK(2);               \
  }
#define WALK_2(LOAD, WORK) \
  LOAD(0);                 \
  for (;;) {               \
    LOAD(1);               \
    WORK(0);               \
    LOAD(0);               \
    WORK(1);               \
  }

// t <- FP32 of `from`, and back to the element.
KERNEL_INLINE void widen(const int t, const int from, const int element) {
  if (element != STRETTO_FP32) tile_simt(TILE_SIMT_FP32, TILE_R(t), TILE_R(from), TILE_R(from));
  if (element == STRETTO_FP32 && t != from)
    tile_simt(TILE_SIMT_COPY, TILE_R(t), TILE_R(from), TILE_R(from));
}
KERNEL_INLINE void narrow(const int t, const int from, const int element) {
  if (element == STRETTO_FP16) tile_simt(TILE_SIMT_FP16, TILE_R(t), TILE_R(from), TILE_R(from));
  if (element == STRETTO_BF16) tile_simt(TILE_SIMT_BF16, TILE_R(t), TILE_R(from), TILE_R(from));
  if (element == STRETTO_FP32 && t != from)
    tile_simt(TILE_SIMT_COPY, TILE_R(t), TILE_R(from), TILE_R(from));
}
// Sums or maxima of the rows of `from`, a column; `from` may be spoiled.
KERNEL_INLINE void row_column(const int operation, const int t, const int from) {
  tile_simt(operation, TILE_R(from), TILE_R(from), TILE_R(from));
  tile_simt(TILE_SIMT_FIRST, TILE_R(t), TILE_R(from), TILE_R(from));
}

#endif  // STRETTO_SW_KERNELS_OPS_WALK_H_
