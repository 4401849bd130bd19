// SPDX-License-Identifier: Apache-2.0
// Ring all-reduce over servers; see all_reduce.h.
//
// Why nothing is overwritten that is still needed: a half of the scratch memory is put to when its
// last contents have been added (`read`). The sum of a block comes to a server when that one's own
// part of it is in the sum, so it has been read.
#include "sw/kernels/all_reduce.h"

#include "sw/include/shmem.h"
#include "sw/kernels/kernel.h"

#define HEAP(address) ((void*)(uintptr_t)(address))
#define WORD(ring, field) ((uint64_t*)HEAP((ring)->words + offsetof(all_reduce_words_t, field)))

KERNEL_INLINE uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// The loads of a tile at `at`, and what is done with them.
KERNEL_INLINE void load(uint64_t data, uint64_t scratch, uint64_t at, uint64_t bytes, const int t) {
  if (at >= bytes) return;
  const uint64_t shape = tile_shape(1, (uint32_t)least(ALL_REDUCE_TILE_BYTES, bytes - at), 0);
  tile_load(TILE_R(t), data + at, shape, STRETTO_FP32, 0);
  tile_load(TILE_R(t + 1), scratch + at, shape, STRETTO_FP32, 0);
}
KERNEL_INLINE void add(uint64_t data, uint64_t at, uint64_t bytes, const int t) {
  if (at >= bytes) return;
  const uint64_t shape = tile_shape(1, (uint32_t)least(ALL_REDUCE_TILE_BYTES, bytes - at), 0);
  tile_simt(TILE_SIMT_ADD, TILE_R(t), TILE_R(t + 1), TILE_R(t));
  tile_store(TILE_R(t), data + at, shape, STRETTO_FP32);
}

// data += scratch, by all wavefronts; what they have stored can be read behind it.
KERNEL_INLINE void add_range(uint64_t data, uint64_t scratch, uint64_t bytes) {
  const uint64_t step = ALL_REDUCE_TILE_BYTES * tile_csr(TILE_CSR_WAVEFRONTS);
  for (uint64_t at = ALL_REDUCE_TILE_BYTES * tile_csr(TILE_CSR_WF_ID); at < bytes; at += 4 * step) {
    load(data, scratch, at, bytes, 0);
    load(data, scratch, at + step, bytes, 2);
    load(data, scratch, at + 2 * step, bytes, 4);
    load(data, scratch, at + 3 * step, bytes, 6);
    add(data, at, bytes, 0);
    add(data, at + step, bytes, 2);
    add(data, at + 2 * step, bytes, 4);
    add(data, at + 3 * step, bytes, 6);
  }
  tile_fence(TILE_SCOPE_DEVICE);
}

typedef struct ring {
  const all_reduce_arguments_t* g;
  shmem_ctx_t* ctx;
  uint64_t begin;     // Of this ring's share in a block.
  uint64_t words;     // Of this ring.
  uint64_t expected;  // Pieces so far that have been waited for,
  uint64_t sent;      // and that were put.
  uint32_t before, next;
} ring_t;

// Bytes of the piece at `at` of this ring's share of a block; 0: there is none.
KERNEL_INLINE uint64_t piece_of(const ring_t* r, uint32_t block, uint64_t at) {
  const all_reduce_arguments_t* g = r->g;
  const uint64_t inside = all_reduce_part_bytes(g->bytes, g->block_bytes, block);
  const uint64_t end = least(inside, r->begin + g->share_bytes);
  return r->begin + at < end ? least(end - (r->begin + at), g->piece_bytes) : 0;
}

#ifndef ALL_REDUCE_EARLY  // Pieces that are not waited for: deliberately wrong.
#define ALL_REDUCE_EARLY 0
#endif

// Where a sum of a block is put to at the next server, and added from there.
KERNEL_INLINE uint64_t scratch_of(const ring_t* r, uint32_t hop, uint64_t at) {
  return r->g->scratch + hop % 2 * r->g->block_bytes + r->begin + at;
}

// In hop `hop`: the piece at `at` of a block, to the next server.
KERNEL_INLINE void put_piece(ring_t* r, uint32_t hop, uint32_t block, uint64_t at, uint64_t bytes) {
  const uint64_t own = r->g->data + block * r->g->block_bytes + r->begin + at;
  const uint64_t to = hop < r->ctx->pes - 1 ? scratch_of(r, hop, at) : own;
  shmem_ctx_putmem_signal_nbi_wg(r->ctx, HEAP(to), HEAP(own), bytes, WORD(r, arrived), ++r->sent,
                                 SHMEM_SIGNAL_SET, r->next);
}

// Block `block` has come in the hop before: adds it, or has it, and passes it on in hop `hop`.
KERNEL_INLINE void pass_on(ring_t* r, uint32_t hop, uint32_t block) {
  const uint32_t pes = r->ctx->pes, last = 2 * pes - 2;
  uint64_t bytes;
  if (hop >= 2 && hop < pes - 1) shmem_uint64_wait_until_wg(WORD(r, read), SHMEM_CMP_GE, hop - 1);
  for (uint64_t at = 0; (bytes = piece_of(r, block, at)) != 0; at += r->g->piece_bytes) {
    (void)shmem_signal_wait_until_wg(WORD(r, arrived), SHMEM_CMP_GE,
                                     ++r->expected - ALL_REDUCE_EARLY);
    if (hop < pes)
      add_range(r->g->data + block * r->g->block_bytes + r->begin + at, scratch_of(r, hop - 1, at),
                bytes);
    if (hop < last) put_piece(r, hop, block, at, bytes);
  }
  // The server before waits for that.
  if (hop + 1 < pes - 1) {
    tile_barrier();
    shmem_ctx_uint64_p_wg(r->ctx, WORD(r, read), hop, r->before);
  }
}

KERNEL_INLINE void note(uint64_t at, uint64_t value) {
  if (shmem_acts_()) shmem_store_(at, value);
}

KERNEL_INLINE const all_reduce_arguments_t* arguments(void) {
  return (const all_reduce_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
}

void all_reduce_ring(void) {
  const all_reduce_arguments_t* g = arguments();
  const uint64_t me = tile_csr(TILE_CSR_WG_ID);
  const uint64_t notes = g->notes + me * sizeof(all_reduce_note_t);
  shmem_ctx_t ctx;
  note(notes + offsetof(all_reduce_note_t, begin), tile_csr(TILE_CSR_CYCLE));
  shmem_wg_ctx_create(&ctx, &g->shmem, (uint32_t)me);
  const uint32_t pe = ctx.pe, pes = ctx.pes;
  ring_t ring = {.g = g,
                 .ctx = &ctx,
                 .begin = me * g->share_bytes,
                 .words = g->words + me * sizeof(all_reduce_words_t),
                 .before = pe == 0 ? pes - 1 : pe - 1,
                 .next = pe + 1 == pes ? 0 : pe + 1};
  uint64_t bytes;
  for (uint64_t at = 0; (bytes = piece_of(&ring, pe, at)) != 0; at += g->piece_bytes)
    put_piece(&ring, 0, pe, at, bytes);
  for (uint32_t hop = 1, block = pe; hop < 2 * pes - 1; ++hop) {
    block = block == 0 ? pes - 1 : block - 1;
    pass_on(&ring, hop, block);
    if (hop + 1 == pes)
      note(notes + offsetof(all_reduce_note_t, reduced), tile_csr(TILE_CSR_CYCLE));
  }
  shmem_wg_ctx_destroy(&ctx);
  note(notes + offsetof(all_reduce_note_t, failed), ctx.failed);
  note(notes + offsetof(all_reduce_note_t, ended), tile_csr(TILE_CSR_CYCLE));
  tile_end();
  __builtin_unreachable();
}

void all_reduce_add(void) {
  const all_reduce_arguments_t* g = arguments();
  const uint64_t me = tile_csr(TILE_CSR_WG_ID), at = me * g->share_bytes;
  add_range(g->data + at, g->scratch + at, all_reduce_part_bytes(g->bytes, g->share_bytes, me));
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(all_reduce_ring, .type = STRETTO_KERNEL_SIMT,
               .registers_bytes = ALL_REDUCE_REGISTERS_BYTES, .private_bytes = 1024,
               .wavefronts = ALL_REDUCE_WAVEFRONTS,
               .kernarg_bytes = sizeof(all_reduce_arguments_t));
STRETTO_KERNEL(all_reduce_add, .type = STRETTO_KERNEL_SIMT,
               .registers_bytes = ALL_REDUCE_REGISTERS_BYTES, .private_bytes = 1024,
               .wavefronts = ALL_REDUCE_WAVEFRONTS,
               .kernarg_bytes = sizeof(all_reduce_arguments_t));
