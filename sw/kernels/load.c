// SPDX-License-Identifier: Apache-2.0
// Kernels that load one resource of the GPU and hardly any other, to see what communication beside
// them costs (the microbenchmarks of GPU-driven code execution, II-C): L2 reads with next to no
// DRAM traffic, and instruction issue with next to no memory traffic.
#include "sw/kernels/kernel.h"
#include "sw/kernels/kernel_arguments.h"

#define TILE_BYTES 4096u

// Wavefront 0 notes when the last wavefront is done.
KERNEL_INLINE _Noreturn void end(const stretto_load_arguments_t* g, uint64_t begin) {
  tile_wait(0);
  tile_barrier();
  if (tile_csr(TILE_CSR_WF_ID) == 0) {
    uint64_t* const clocks = (uint64_t*)(uintptr_t)g->clocks + 2 * tile_csr(TILE_CSR_WG_ID);
    clocks[0] = begin;
    clocks[1] = tile_csr(TILE_CSR_CYCLE);
  }
  tile_end();
  __builtin_unreachable();
}

// Every wavefront reads all of [base, base + bytes) `repeats` times, from a place of its own on;
// four loads are under way.
void load_l2(void) {
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  const stretto_load_arguments_t* g =
      (const stretto_load_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint32_t tiles = g->bytes / TILE_BYTES;
  const uint64_t shape = tile_shape(1, TILE_BYTES, 0);
  const uint32_t wavefronts = (uint32_t)tile_csr(TILE_CSR_WAVEFRONTS);
  uint32_t at =
      (uint32_t)(tile_csr(TILE_CSR_WG_ID) * wavefronts + tile_csr(TILE_CSR_WF_ID)) * 4 % tiles;
  for (uint32_t i = 0; i < g->repeats; ++i) {
    const uint64_t from = g->base + (uint64_t)at * TILE_BYTES;
    tile_load(TILE_R(0), from, shape, STRETTO_BYTE, 0);
    tile_load(TILE_R(1), from + TILE_BYTES, shape, STRETTO_BYTE, 0);
    tile_load(TILE_R(2), from + 2 * TILE_BYTES, shape, STRETTO_BYTE, 0);
    tile_load(TILE_R(3), from + 3 * TILE_BYTES, shape, STRETTO_BYTE, 0);
    at += 4;
    if (at >= tiles) at = 0;
  }
  end(g, begin);
}

// Rounds of sixteen dependent-free additions.
void load_issue(void) {
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  const stretto_load_arguments_t* g =
      (const stretto_load_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  uint64_t a = 1, b = 2, c = 3, d = 4;
  for (uint32_t i = 0; i < g->repeats; ++i) {
    __asm__ volatile(
        "addi %0, %0, 1\n addi %1, %1, 1\n addi %2, %2, 1\n addi %3, %3, 1\n"
        "addi %0, %0, 1\n addi %1, %1, 1\n addi %2, %2, 1\n addi %3, %3, 1\n"
        "addi %0, %0, 1\n addi %1, %1, 1\n addi %2, %2, 1\n addi %3, %3, 1\n"
        "addi %0, %0, 1\n addi %1, %1, 1\n addi %2, %2, 1\n addi %3, %3, 1\n"
        : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  }
  end(g, begin);
}

STRETTO_KERNEL(load_l2, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 8 * 4 * TILE_BYTES + 16384,
               .private_bytes = 256, .wavefronts = 8,
               .kernarg_bytes = sizeof(stretto_load_arguments_t));
STRETTO_KERNEL(load_issue, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 16384,
               .private_bytes = 256, .wavefronts = 8,
               .kernarg_bytes = sizeof(stretto_load_arguments_t));
