// SPDX-License-Identifier: Apache-2.0
// A kernel with 2 MiB of text behind it: no jump of its own reaches the stubs.
#include "sw/kernels/kernel.h"

void far_kernel(void) {
  tile_end();
  __builtin_unreachable();
}
STRETTO_KERNEL(far_kernel, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096, .wavefronts = 1);

__asm__(".section .text.far, \"ax\"\n .zero 0x200000\n .text");
