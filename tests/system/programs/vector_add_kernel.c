// SPDX-License-Identifier: Apache-2.0
// vector_add: sum = a + b of FP32 vectors, by tiles, a row of 512 elements a wavefront. scale: words times
// a factor, by scalar instructions, a column of the grid each. no_arguments: ends.
#include "sw/kernels/kernel.h"
#include "tests/system/programs/vector_add_arguments.h"

void vector_add(void) {
  const vector_add_arguments_t* g =
      (const vector_add_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint64_t piece =
      tile_csr(TILE_CSR_WG_ID) * VECTOR_ADD_WAVEFRONTS + tile_csr(TILE_CSR_WF_ID);
  const uint64_t first = piece * VECTOR_ADD_PIECE;
  if (first < g->count) {
    const uint64_t left = g->count - first;
    const uint32_t elements = left < VECTOR_ADD_PIECE ? (uint32_t)left : VECTOR_ADD_PIECE;
    const uint64_t shape = tile_shape(1, 4 * elements, 0);
    tile_load(TILE_R(0), g->a + 4 * first, shape, STRETTO_FP32, 0);
    tile_load(TILE_R(1), g->b + 4 * first, shape, STRETTO_FP32, 0);
    tile_simt(TILE_SIMT_ADD, TILE_R(2), TILE_R(0), TILE_R(1));
    tile_store(TILE_R(2), g->sum + 4 * first, shape, STRETTO_FP32);
  }
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(vector_add, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 32768,
               .private_bytes = 256, .wavefronts = VECTOR_ADD_WAVEFRONTS,
               .kernarg_bytes = sizeof(vector_add_arguments_t));

void scale(void) {
  const scale_arguments_t* g = (const scale_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  for (uint64_t i = 0; i < g->rounds; ++i) __asm__ volatile("");
  const uint64_t step = tile_csr(TILE_CSR_GRID);
  volatile uint64_t* data = (volatile uint64_t*)(uintptr_t)g->data;
  for (uint64_t i = tile_csr(TILE_CSR_WG_ID); i < g->count; i += step) data[i] *= g->factor;
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(scale, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096, .private_bytes = 256,
               .wavefronts = 1, .kernarg_bytes = sizeof(scale_arguments_t));

void no_arguments(void) {
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(no_arguments, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096,
               .private_bytes = 256, .wavefronts = 1, .kernarg_bytes = 0);
