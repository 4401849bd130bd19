// SPDX-License-Identifier: Apache-2.0
// In place of a GEMM: every wavefront polls a word of the output that nobody writes.
#include "sw/kernels/kernel.h"
#include "sw/kernels/kernel_arguments.h"

void gemm_128x128(void) {
  const stretto_gemm_arguments_t* g =
      (const stretto_gemm_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  uint64_t seen = 0;
  do {
    __asm__ volatile("amoadd.d %0, zero, (%1)" : "=r"(seen) : "r"(g->c) : "memory");
  } while (seen != 1);
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(gemm_128x128, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 65536,
               .private_bytes = 256, .wavefronts = 8,
               .kernarg_bytes = sizeof(stretto_gemm_arguments_t));
