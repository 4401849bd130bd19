// SPDX-License-Identifier: Apache-2.0
// Kernels that measure launches: a tiny one, and one that leaves bytes dirty in the L2. See
// launch_probe.h.
#include "sw/kernels/launch_probe.h"

#include "sw/kernels/kernel.h"

// Wavefront 0 notes when the last wavefront is done.
KERNEL_INLINE __attribute__((noreturn)) void end(const stretto_launch_probe_arguments_t* g,
                                                 uint64_t begin) {
  tile_wait(0);
  tile_barrier();
  if (tile_csr(TILE_CSR_WF_ID) == 0) {
    uint64_t* const words = (uint64_t*)(uintptr_t)g->words + 2 * tile_csr(TILE_CSR_WG_ID);
    words[0] = begin;
    words[1] = tile_csr(TILE_CSR_CYCLE);
  }
  tile_end();
  __builtin_unreachable();
}

KERNEL_INLINE const stretto_launch_probe_arguments_t* arguments(void) {
  return (const stretto_launch_probe_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
}

KERNEL_INLINE uint64_t wavefront(void) {
  return tile_csr(TILE_CSR_WG_ID) * LAUNCH_PROBE_WAVEFRONTS + tile_csr(TILE_CSR_WF_ID);
}

void launch_move(void) {
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  const stretto_launch_probe_arguments_t* const g = arguments();
  const uint64_t at = wavefront() * LAUNCH_PROBE_PIECE_BYTES;
  const uint64_t shape = tile_shape(1, LAUNCH_PROBE_PIECE_BYTES, 0);
  tile_load(TILE_R(0), g->from + at, shape, STRETTO_BYTE, 0);
  tile_store(TILE_R(0), g->to + at, shape, STRETTO_BYTE);
  end(g, begin);
}

void launch_dirty(void) {
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  const stretto_launch_probe_arguments_t* const g = arguments();
  const uint64_t shape = tile_shape(1, LAUNCH_PROBE_DIRTY_BYTES, 0);
  const uint64_t step = tile_csr(TILE_CSR_GRID) * LAUNCH_PROBE_WAVEFRONTS;
  const uint64_t pieces = g->bytes / LAUNCH_PROBE_DIRTY_BYTES;
  for (uint64_t i = wavefront(); i < pieces; i += step) {
    const uint64_t at = i * LAUNCH_PROBE_DIRTY_BYTES;
    tile_load(TILE_R(0), g->from, shape, STRETTO_BYTE, 0);
    tile_store(TILE_R(0), g->to + at, shape, STRETTO_BYTE);
  }
  end(g, begin);
}

STRETTO_KERNEL(launch_move, .type = STRETTO_KERNEL_SIMT,
               .registers_bytes = LAUNCH_PROBE_WAVEFRONTS * LAUNCH_PROBE_PIECE_BYTES + 16384,
               .private_bytes = 256, .wavefronts = LAUNCH_PROBE_WAVEFRONTS,
               .kernarg_bytes = sizeof(stretto_launch_probe_arguments_t));
STRETTO_KERNEL(launch_dirty, .type = STRETTO_KERNEL_SIMT,
               .registers_bytes = LAUNCH_PROBE_WAVEFRONTS * LAUNCH_PROBE_DIRTY_BYTES + 16384,
               .private_bytes = 256, .wavefronts = LAUNCH_PROBE_WAVEFRONTS,
               .kernarg_bytes = sizeof(stretto_launch_probe_arguments_t));
