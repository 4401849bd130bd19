// SPDX-License-Identifier: Apache-2.0
// A kernel whose result tells how often each of its work-groups ran: see count.h.
#include "sw/kernels/count.h"

#include "sw/kernels/kernel.h"

void count(void) {
  const stretto_count_arguments_t* const g =
      (const stretto_count_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  for (uint64_t left = g->rounds; left != 0; --left) __asm__ volatile("");
  tile_barrier();
  if (tile_csr(TILE_CSR_WF_ID) == 0) {
    uint64_t* const word = (uint64_t*)(uintptr_t)g->words + tile_csr(TILE_CSR_WG_ID);
    __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
  }
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(count, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 16384, .private_bytes = 256,
               .wavefronts = COUNT_WAVEFRONTS, .kernarg_bytes = sizeof(stretto_count_arguments_t));
