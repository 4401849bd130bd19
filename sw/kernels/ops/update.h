// SPDX-License-Identifier: Apache-2.0
// Weights with a master of FP32: the master is less the rate times the gradient, FP16, worked out in FP32; the weight is
// the master rounded to FP16. Arguments of the kernel `update_master` as they lie in memory, C and C++; and what a
// wavefront does, for it and for loop kernels.
#ifndef STRETTO_SW_KERNELS_OPS_UPDATE_H_
#define STRETTO_SW_KERNELS_OPS_UPDATE_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define OPS_UPDATE_PIECE 1024u  // Elements that a wavefront has.
#define OPS_UPDATE_WAVEFRONTS 4u
// Of a wavefront: two pieces of FP32, the rate, 2 KiB of scalar registers.
#define OPS_UPDATE_REGISTERS (OPS_UPDATE_WAVEFRONTS * 12288u)

typedef struct ops_update_arguments {
  uint64_t weight;
  uint64_t gradient;
  uint64_t master;
  uint64_t rate;  // Address of a word, FP32.
  uint64_t elements;
} ops_update_arguments_t;

#ifdef __cplusplus
static_assert(sizeof(ops_update_arguments_t) == 40, "read by kernels");
#else
_Static_assert(sizeof(ops_update_arguments_t) == 40, "read by kernels");
#endif

#ifdef __riscv

#include "sw/kernels/kernel.h"

// Elements from `first` on, a piece of them at most. Tiles 0 to 2 of the wavefront.
KERNEL_INLINE void update_master_piece(const ops_update_arguments_t* g, uint64_t first) {
  const uint32_t count =
      (uint32_t)(g->elements - first < OPS_UPDATE_PIECE ? g->elements - first : OPS_UPDATE_PIECE);
  const uint64_t half = tile_shape(1, 2 * count, 0), whole = tile_shape(1, 4 * count, 0);
  tile_load(TILE_R(0), g->gradient + 2 * first, half, STRETTO_FP16, 0);
  tile_load(TILE_R(1), g->master + 4 * first, whole, STRETTO_FP32, 0);
  tile_load(TILE_R(2), g->rate, tile_shape(1, 4, 0), STRETTO_FP32, 0);
  tile_simt(TILE_SIMT_FP32, TILE_R(0), TILE_R(0), TILE_R(0));
  tile_simt(TILE_SIMT_MUL, TILE_R(0), TILE_R(0), TILE_R(2));
#ifdef UPDATE_FROM_WEIGHT  // These three for the test that such a run is found out.
  tile_load(TILE_R(1), g->weight + 2 * first, half, STRETTO_FP16, 0);
  tile_simt(TILE_SIMT_FP32, TILE_R(1), TILE_R(1), TILE_R(1));
#endif
  tile_simt(TILE_SIMT_SUB, TILE_R(1), TILE_R(1), TILE_R(0));
#ifdef UPDATE_ROUNDS_MASTER
  tile_simt(TILE_SIMT_FP16, TILE_R(1), TILE_R(1), TILE_R(1));
  tile_simt(TILE_SIMT_FP32, TILE_R(1), TILE_R(1), TILE_R(1));
#endif
  tile_store(TILE_R(1), g->master + 4 * first, whole, STRETTO_FP32);
#ifndef UPDATE_KEEPS_WEIGHT
  tile_simt(TILE_SIMT_FP16, TILE_R(0), TILE_R(1), TILE_R(1));
  tile_store(TILE_R(0), g->weight + 2 * first, half, STRETTO_FP16);
#endif
}

#endif  // __riscv

#endif  // STRETTO_SW_KERNELS_OPS_UPDATE_H_
