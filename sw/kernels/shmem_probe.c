// SPDX-License-Identifier: Apache-2.0
// Kernel that measures what work-groups wait for operations on the memory of other servers. See
// shmem_probe.h.
#include "sw/kernels/shmem_probe.h"

#include "sw/include/shmem.h"
#include "sw/kernels/kernel.h"

// A blocking operation in its two halves, with what it takes.
KERNEL_INLINE void measure(shmem_ctx_t* ctx, const shmem_probe_arguments_t* g, uint64_t source,
                           uint64_t destination, uint64_t stamp) {
  const uint64_t state =
      stretto_shmem_state(g->operation, STRETTO_SHMEM_BLOCKING, g->pe, ctx->work_group);
  const uint64_t entry = ctx->written;
  const uint64_t call = tile_csr(TILE_CSR_CYCLE);
  tile_fence(TILE_SCOPE_SYSTEM);
  shmem_enqueue_(ctx, state, destination, source, g->bytes, 0, 0, 0);
  const uint64_t written = tile_csr(TILE_CSR_CYCLE);
  const uint64_t taken_ns = shmem_end_(ctx, state);
  const uint64_t ended = tile_csr(TILE_CSR_CYCLE);
  shmem_store_(stamp + offsetof(shmem_probe_stamp_t, entry), entry);
  shmem_store_(stamp + offsetof(shmem_probe_stamp_t, call), call);
  shmem_store_(stamp + offsetof(shmem_probe_stamp_t, written), written);
  shmem_store_(stamp + offsetof(shmem_probe_stamp_t, ended), ended);
  shmem_store_(stamp + offsetof(shmem_probe_stamp_t, taken_ns), taken_ns);
  shmem_store_(stamp + offsetof(shmem_probe_stamp_t, failed), ctx->failed);
}

KERNEL_INLINE void probe(const shmem_probe_arguments_t* g) {
  const uint64_t me = tile_csr(TILE_CSR_WG_ID);
  const uint64_t source = g->source + me * g->stride, destination = g->destination + me * g->stride;
  uint64_t stamp = g->stamps + me * SHMEM_PROBE_STAMP_BYTES(g->rounds);
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &g->shmem, (uint32_t)me);
  for (uint32_t i = 0; i < g->rounds; ++i) {
    measure(&ctx, g, source, destination, stamp);
    stamp += sizeof(shmem_probe_stamp_t);
  }
  if (g->messages != 0) {
    const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
    for (uint32_t i = 0; i < g->messages; ++i)
      (void)shmem_do_(&ctx, g->operation, 0, destination, source, g->bytes, 0, 0, 0, g->pe);
    shmem_quiet_(&ctx);
    shmem_store_(stamp, begin);
    shmem_store_(stamp + 8, tile_csr(TILE_CSR_CYCLE));
  }
  shmem_wg_ctx_destroy(&ctx);
}

void shmem_probe(void) {
  probe((const shmem_probe_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG));
  tile_end();
  __builtin_unreachable();
}

// Four loads on their way at a time: each waits for what was loaded into its tile before.
KERNEL_INLINE uint64_t stream(const shmem_stream_arguments_t* g, uint64_t number) {
  const uint64_t base = g->arrays + number * g->array_bytes;
  const uint64_t shape = tile_shape(1, SHMEM_STREAM_PIECE_BYTES, 0);
  uint64_t bytes = 0, at = 0;
  do {
    for (uint64_t end = at + SHMEM_STREAM_STEP_BYTES; at != end;) {
      tile_load(TILE_R(0), base + at, shape, STRETTO_BYTE, 0);
      tile_load(TILE_R(1), base + at + SHMEM_STREAM_PIECE_BYTES, shape, STRETTO_BYTE, 0);
      tile_load(TILE_R(2), base + at + 2 * SHMEM_STREAM_PIECE_BYTES, shape, STRETTO_BYTE, 0);
      tile_load(TILE_R(3), base + at + 3 * SHMEM_STREAM_PIECE_BYTES, shape, STRETTO_BYTE, 0);
      at += 4 * SHMEM_STREAM_PIECE_BYTES;
    }
    bytes += SHMEM_STREAM_STEP_BYTES;
    if (at == g->array_bytes) at = 0;
  } while (shmem_load_(g->ended) != g->probes);
  return bytes;
}

void shmem_stream(void) {
  const shmem_stream_arguments_t* g =
      (const shmem_stream_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint64_t me = tile_csr(TILE_CSR_WG_ID);
  if (me < g->probes) {
    probe(&g->probe);
    tile_red(g->ended, 1ull);
  } else {
    shmem_store_(g->notes + 8 * (me - g->probes), stream(g, me - g->probes));
  }
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(shmem_stream, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 6144,
               .private_bytes = 1024, .wavefronts = 1,
               .kernarg_bytes = sizeof(shmem_stream_arguments_t));
STRETTO_KERNEL(shmem_probe, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096,
               .private_bytes = 1024, .wavefronts = 1,
               .kernarg_bytes = sizeof(shmem_probe_arguments_t));
