// SPDX-License-Identifier: Apache-2.0
// Kernels that measure the L2: throughput of equal bytes in pieces of any size, the latency of one
// load at a time, and the rate of atomics. See l2_probe.h.
#include "sw/kernels/l2_probe.h"

#include "sw/kernels/kernel.h"

// One access with tile `k`, with at most `tiles` under way.
#define ACCESS(tiles, k)                                      \
  do {                                                        \
    x = x * 6364136223846793005u + 1442695040888963407u;      \
    const uint64_t at = base + (((x >> 24) & mask) << shift); \
    tile_wait((tiles)-1);                                     \
    if (x >> 63 < stores)                                     \
      tile_store(TILE_R(k), at, shape, STRETTO_BYTE);         \
    else                                                      \
      tile_load(TILE_R(k), at, shape, STRETTO_BYTE, 0);       \
  } while (0)

void l2_stream(void) {
  const stretto_l2_stream_arguments_t* g =
      (const stretto_l2_stream_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint64_t wavefronts = tile_csr(TILE_CSR_WAVEFRONTS);
  const uint64_t me = tile_csr(TILE_CSR_WG_ID) * wavefronts + tile_csr(TILE_CSR_WF_ID);
  const uint64_t all = tile_csr(TILE_CSR_GRID) * wavefronts;
  const uint64_t base = g->base, shift = g->piece_shift, stores = g->stores;
  const uint64_t mask = (g->bytes >> shift) - 1;
  const uint64_t shape = tile_shape(1, 1u << shift, 0);
  const uint32_t tiles = g->tiles;
  uint64_t* const words = (uint64_t*)(uintptr_t)g->words;
  // Every tile that a store may name holds a piece; every piece is read by somebody.
  tile_load(TILE_R(0), base + ((me & mask) << shift), shape, STRETTO_BYTE, 0);
  if (tiles > 1) tile_load(TILE_R(1), base + ((me & mask) << shift), shape, STRETTO_BYTE, 0);
  if (tiles > 2) {
    tile_load(TILE_R(2), base + ((me & mask) << shift), shape, STRETTO_BYTE, 0);
    tile_load(TILE_R(3), base + ((me & mask) << shift), shape, STRETTO_BYTE, 0);
  }
  if (tiles > 4) {
    tile_load(TILE_R(4), base + ((me & mask) << shift), shape, STRETTO_BYTE, 0);
    tile_load(TILE_R(5), base + ((me & mask) << shift), shape, STRETTO_BYTE, 0);
    tile_load(TILE_R(6), base + ((me & mask) << shift), shape, STRETTO_BYTE, 0);
    tile_load(TILE_R(7), base + ((me & mask) << shift), shape, STRETTO_BYTE, 0);
  }
  for (uint64_t i = me + all; i <= mask; i += all)
    tile_load(TILE_R(0), base + (i << shift), shape, STRETTO_BYTE, 0);
  tile_wait(0);
  tile_barrier();
  if (me % wavefronts == 0) {
    __atomic_fetch_add(words, wavefronts, __ATOMIC_RELAXED);
    tile_wait_until(words, TILE_GEU | TILE_WAIT_DEVICE, all);
  }
  tile_barrier();
  uint64_t x = (me + 1) * 0x9E3779B97F4A7C15u;
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  for (uint32_t left = g->pieces; left > 0; left -= tiles) {
    if (tiles == 1) {
      ACCESS(1, 0);
    } else if (tiles == 2) {
      ACCESS(2, 0);
      ACCESS(2, 1);
    } else if (tiles == 4) {
      ACCESS(4, 0);
      ACCESS(4, 1);
      ACCESS(4, 2);
      ACCESS(4, 3);
    } else {
      ACCESS(8, 0);
      ACCESS(8, 1);
      ACCESS(8, 2);
      ACCESS(8, 3);
      ACCESS(8, 4);
      ACCESS(8, 5);
      ACCESS(8, 6);
      ACCESS(8, 7);
    }
  }
  tile_wait(0);
  const uint64_t end = tile_csr(TILE_CSR_CYCLE);
  words[1 + 2 * me] = begin;
  words[2 + 2 * me] = end;
  tile_end();
  __builtin_unreachable();
}

static inline __attribute__((always_inline)) uint64_t chase(uint64_t at, uint32_t loads) {
  for (uint32_t left = loads; left > 0; left -= L2_PROBE_CHASE_BATCH) {
    __asm__ volatile(
        "ld %0, 0(%0)\n ld %0, 0(%0)\n ld %0, 0(%0)\n ld %0, 0(%0)\n"
        "ld %0, 0(%0)\n ld %0, 0(%0)\n ld %0, 0(%0)\n ld %0, 0(%0)\n"
        : "+r"(at)
        :
        : "memory");
  }
  return at;
}

void l2_chase(void) {
  const stretto_l2_chase_arguments_t* g =
      (const stretto_l2_chase_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  uint64_t* const words = (uint64_t*)(uintptr_t)g->words;
  uint64_t at = chase(g->base, g->warm);
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  at = chase(at, g->loads);
  const uint64_t end = tile_csr(TILE_CSR_CYCLE);
  words[0] = begin;
  words[1] = end;
  words[2] = at;
  tile_end();
  __builtin_unreachable();
}

void l2_atomics(void) {
  const stretto_l2_atomics_arguments_t* g =
      (const stretto_l2_atomics_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  uint64_t* const words = (uint64_t*)(uintptr_t)g->words;
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  for (uint32_t left = g->count; left > 0; --left) tile_red(g->target, 1ull);
  tile_wait(0);
  const uint64_t end = tile_csr(TILE_CSR_CYCLE);
  words[0] = begin;
  words[1] = end;
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(l2_stream, .type = STRETTO_KERNEL_SIMT,
               .registers_bytes = L2_PROBE_WAVEFRONTS * L2_PROBE_TILE_BYTES + 16384,
               .private_bytes = 256, .wavefronts = L2_PROBE_WAVEFRONTS,
               .kernarg_bytes = sizeof(stretto_l2_stream_arguments_t));
STRETTO_KERNEL(l2_chase, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 16384,
               .private_bytes = 256, .wavefronts = 1,
               .kernarg_bytes = sizeof(stretto_l2_chase_arguments_t));
STRETTO_KERNEL(l2_atomics, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 16384,
               .private_bytes = 256, .wavefronts = 1,
               .kernarg_bytes = sizeof(stretto_l2_atomics_arguments_t));
