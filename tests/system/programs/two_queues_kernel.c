// SPDX-License-Identifier: Apache-2.0
// Every wavefront computes for a while, then adds 1 to the word of its work-group. With `meeting` it
// first waits until all wavefronts of all kernels that have it are on the GPU.
#include "sw/kernels/kernel.h"
#include "tests/system/programs/two_queues_arguments.h"

void count(void) {
  const count_arguments_t* g = (const count_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint64_t wg = tile_csr(TILE_CSR_WG_ID);
  if (g->meeting != 0) {
    uint64_t seen = 0;
    __asm__ volatile("amoadd.d zero, %0, (%1)" : : "r"(1ul), "r"(g->meeting) : "memory");
    do {
      __asm__ volatile("amoadd.d %0, zero, (%1)" : "=r"(seen) : "r"(g->meeting) : "memory");
    } while (seen < g->all);
  }
  for (uint64_t i = 0; i < g->rounds; ++i) __asm__ volatile("");
  __asm__ volatile("amoadd.d zero, %0, (%1)" : : "r"(1ul), "r"(g->counts + 8 * wg) : "memory");
  tile_end();
  __builtin_unreachable();
}

#define KERNEL(name, registers)                                                     \
  STRETTO_KERNEL(name, .type = STRETTO_KERNEL_SIMT, .registers_bytes = (registers), \
                 .private_bytes = 256, .wavefronts = WAVEFRONTS,                    \
                 .kernarg_bytes = sizeof(count_arguments_t))
KERNEL(count, 131072);
void count_more(void) { count(); }
KERNEL(count_more, 133120);
void count_most(void) { count(); }
KERNEL(count_most, 163840);
