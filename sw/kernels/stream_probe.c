// SPDX-License-Identifier: Apache-2.0
// Kernels that stream through arrays of FP32 numbers: read, write, copy, scale, add, triad. See
// stream_probe.h. Tiles: r0 .. r2 what is read, r3 what is written.
#include "sw/kernels/stream_probe.h"

#include "sw/kernels/kernel.h"

KERNEL_INLINE __attribute__((noreturn)) void stream(void) {
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  const stretto_stream_probe_arguments_t* const g =
      (const stretto_stream_probe_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint64_t group = tile_csr(TILE_CSR_WG_ID), wavefront = tile_csr(TILE_CSR_WF_ID);
  const uint64_t piece = g->piece_bytes, shape = tile_shape(1, g->piece_bytes, 0);
  const uint64_t at = (group * tile_csr(TILE_CSR_WAVEFRONTS) + wavefront) * piece;
  const uint32_t operation = g->operation;
  if (operation == STREAM_PROBE_WRITE) {
    if (wavefront == 0) tile_zero(TILE_A(0), 1 | (piece / 4) << 16);
    tile_barrier();
    tile_epilogue(TILE_R(3), TILE_A(0), 1ull << 16 | (piece / 4) << 48, STRETTO_FP32);
  } else {
    tile_load(TILE_R(0), g->from[0] + at, shape, STRETTO_FP32, 0);
  }
  if (operation == STREAM_PROBE_ADD || operation == STREAM_PROBE_TRIAD)
    tile_load(TILE_R(1), g->from[1] + at, shape, STRETTO_FP32, 0);
  if (operation == STREAM_PROBE_TRIAD) {
    tile_load(TILE_R(2), g->from[2] + at, shape, STRETTO_FP32, 0);
    tile_simt(TILE_SIMT_MUL, TILE_R(2), TILE_R(1), TILE_R(2));
    tile_simt(TILE_SIMT_ADD, TILE_R(3), TILE_R(0), TILE_R(2));
  } else if (operation == STREAM_PROBE_ADD) {
    tile_simt(TILE_SIMT_ADD, TILE_R(3), TILE_R(0), TILE_R(1));
  } else if (operation == STREAM_PROBE_COPY) {
    tile_store(TILE_R(0), g->to + at, shape, STRETTO_FP32);
  } else if (operation != STREAM_PROBE_WRITE) {
    tile_simt(TILE_SIMT_ADD, TILE_R(3), TILE_R(0), TILE_R(0));
  }
  if (operation != STREAM_PROBE_READ && operation != STREAM_PROBE_COPY)
    tile_store(TILE_R(3), g->to + at, shape, STRETTO_FP32);
  uint64_t* const words = (uint64_t*)(uintptr_t)g->words;
  if (group == 0 && wavefront == 0) words[0] = begin;
  const uint64_t left = tile_csr(TILE_CSR_GRID) - group;
  if (left <= g->tail) {
    tile_wait(0);
    tile_barrier();
    if (wavefront == 0) words[left] = tile_csr(TILE_CSR_CYCLE);
  }
  tile_end();
  __builtin_unreachable();
}

#define STREAM_PROBE(all, in_group)                                                            \
  void stream_probe_##all(void) { stream(); }                                                  \
  STRETTO_KERNEL(stream_probe_##all, .type = STRETTO_KERNEL_SIMT,                              \
                 .registers_bytes = STREAM_PROBE_REGISTERS_BYTES * in_group / all / 512 * 512, \
                 .private_bytes = 256, .wavefronts = in_group,                                 \
                 .kernarg_bytes = sizeof(stretto_stream_probe_arguments_t))

STREAM_PROBE(2, 1);
STREAM_PROBE(4, 2);
STREAM_PROBE(8, 4);
STREAM_PROBE(16, 8);
STREAM_PROBE(24, 8);
STREAM_PROBE(32, 8);
STREAM_PROBE(64, 8);
