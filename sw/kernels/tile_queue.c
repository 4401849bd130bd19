// SPDX-License-Identifier: Apache-2.0
// Producers and consumers over queues in the L2: see tile_queue.h. Tiles: r0, r1 what is stored, or
// the least and the greatest difference; r2 ones; r3, r4 what must come; r5, r6 what has come.
#include "sw/kernels/tile_queue.h"

#include "sw/kernels/kernel.h"

#define PIECE(k, at) tile_load(TILE_R(k), at, shape, STRETTO_FP32, 0)
#define SIMT(operation, t, t1, t2) tile_simt(operation, TILE_R(t), TILE_R(t1), TILE_R(t2))

// A queue without its atomics: what they cost is what the others take longer (KT-R15, KT-R16).
KERNEL_INLINE uint64_t free_acquire(const tile_queue_end_t* end) {
  tile_barrier();
  return end->queue.payloads + end->entry * end->queue.payload_bytes;
}
KERNEL_INLINE void free_release(tile_queue_end_t* end) {
  tile_wait(0);
  tile_barrier();
  if (++end->entry == end->queue.depth) end->entry = 0;
}

KERNEL_INLINE void produce(const stretto_tile_queue_arguments_t* g, tile_queue_end_t* end,
                           uint64_t mine, uint64_t share, uint64_t patterns, const int is_free) {
  const uint64_t piece = g->piece_bytes, shape = tile_shape(1, g->piece_bytes, 0);
  PIECE(0, patterns);
  PIECE(1, patterns + TILE_QUEUE_PIECE_BYTES);
  for (uint32_t left = g->payloads; left > 0; --left) {
    const uint64_t at = (is_free ? free_acquire(end) : tile_queue_wr_acquire(end)) + mine;
    for (uint64_t done = 0; done < share; done += 2 * piece) {
      tile_store(TILE_R(0), at + done, shape, STRETTO_FP32);
      if (done + piece < share) tile_store(TILE_R(1), at + done + piece, shape, STRETTO_FP32);
    }
    is_free ? free_release(end) : tile_queue_wr_release(end);
    SIMT(TILE_SIMT_ADD, 0, 0, 2);
    SIMT(TILE_SIMT_ADD, 1, 1, 2);
  }
}

#define COMPARE(came, expected)                \
  do {                                         \
    SIMT(TILE_SIMT_SUB, came, came, expected); \
    SIMT(TILE_SIMT_MIN, 0, 0, came);           \
    SIMT(TILE_SIMT_MAX, 1, 1, came);           \
  } while (0)

KERNEL_INLINE void consume(const stretto_tile_queue_arguments_t* g, tile_queue_end_t* end,
                           uint64_t mine, uint64_t share, uint64_t patterns, const int is_free) {
  const uint64_t piece = g->piece_bytes, shape = tile_shape(1, g->piece_bytes, 0);
  PIECE(0, g->constants);
  PIECE(1, g->constants);
  PIECE(3, patterns);
  PIECE(4, patterns + TILE_QUEUE_PIECE_BYTES);
  for (uint32_t left = g->payloads; left > 0; --left) {
    const uint64_t at = (is_free ? free_acquire(end) : tile_queue_rd_acquire(end)) + mine;
    for (uint64_t done = 0; done < share; done += 2 * piece) {
      PIECE(5, at + done);
      if (done + piece < share) PIECE(6, at + done + piece);
      COMPARE(5, 3);
      if (done + piece < share) COMPARE(6, 4);
    }
    is_free ? free_release(end) : tile_queue_rd_release(end);
    SIMT(TILE_SIMT_ADD, 3, 3, 2);
    SIMT(TILE_SIMT_ADD, 4, 4, 2);
  }
  const uint64_t to = patterns - g->patterns + g->differences;
  tile_store(TILE_R(0), to, shape, STRETTO_FP32);
  tile_store(TILE_R(1), to + TILE_QUEUE_PIECE_BYTES, shape, STRETTO_FP32);
}

KERNEL_INLINE _Noreturn void pairs(const int is_free) {
  const stretto_tile_queue_arguments_t* g =
      (const stretto_tile_queue_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint64_t group = tile_csr(TILE_CSR_WG_ID), wavefront = tile_csr(TILE_CSR_WF_ID);
  const uint64_t pair = group / 2, all = tile_csr(TILE_CSR_GRID);
  uint64_t* const clocks = (uint64_t*)(uintptr_t)g->clocks;
  tile_queue_t queue = g->queue;
  queue.payloads += pair * queue.depth * queue.payload_bytes;
  queue.words += pair * queue.depth * TILE_QUEUE_WORDS_BYTES;
  tile_queue_end_t end = tile_queue_end(queue);
  const uint64_t share = queue.payload_bytes / TILE_QUEUE_WAVEFRONTS, mine = wavefront * share;
  const uint64_t patterns =
      g->patterns + (pair * TILE_QUEUE_WAVEFRONTS + wavefront) * 2 * TILE_QUEUE_PIECE_BYTES;
  const uint64_t shape = tile_shape(1, g->piece_bytes, 0);
  PIECE(2, g->constants + TILE_QUEUE_PIECE_BYTES);
  tile_wait(0);
  if (wavefront == 0) {
    tile_red(clocks, 1ull);
    tile_wait_until(clocks, TILE_GEU | TILE_WAIT_DEVICE, all);
  }
  tile_barrier();
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  if (group % 2 == 0)
    produce(g, &end, mine, share, patterns, is_free);
  else
    consume(g, &end, mine, share, patterns, is_free);
  tile_wait(0);
  tile_barrier();
  if (wavefront == 0) {
    clocks[1 + 2 * group] = begin;
    clocks[2 + 2 * group] = tile_csr(TILE_CSR_CYCLE);
  }
  tile_end();
  __builtin_unreachable();
}

#define KERNEL(name, is_free)                                                                   \
  void name(void) { pairs(is_free); }                                                           \
  STRETTO_KERNEL(name, .type = STRETTO_KERNEL_SIMT,                                             \
                 .registers_bytes =                                                             \
                     TILE_QUEUE_WAVEFRONTS * TILE_QUEUE_TILES * TILE_QUEUE_PIECE_BYTES + 16384, \
                 .private_bytes = 256, .wavefronts = TILE_QUEUE_WAVEFRONTS,                     \
                 .kernarg_bytes = sizeof(stretto_tile_queue_arguments_t))
KERNEL(tile_queue_pairs, 0);
KERNEL(tile_queue_pairs_free, 1);
