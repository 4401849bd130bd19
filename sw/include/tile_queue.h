// SPDX-License-Identifier: Apache-2.0
// Queues between work-groups through the L2 (Kitsune, 4.1): a ring of `depth` entries, each a payload
// and two words, `full` and `free`. For kernels; header only.
//
//   producer, payload i                      consumer, payload i
//     at = tile_queue_wr_acquire(&end)         at = tile_queue_rd_acquire(&end)
//     all wavefronts store to `at`             all wavefronts load from `at`
//     tile_queue_wr_release(&end)              tile_queue_rd_release(&end)
//
// Entry e = i % depth of round r = i / depth: a producer waits until free[e] >= readers * r and adds 1
// to full[e]; a consumer waits until full[e] >= writers * (r + 1) and adds 1 to free[e]. So every entry has one
// writer, and sequence numbers never run back. All wavefronts of a work-group call; only wavefront 0
// waits and adds, the others meet it at a barrier. A release waits for the wavefront's own loads and
// stores, then the reduction is performed at the L2 while the work-group goes on.
// A stage of several work-groups, of which each takes some of the payloads, names them by number
// (tile_queue_wait_*, tile_queue_add_*): one wavefront calls for all, and what it says must be so by
// then. Or `writers` wavefronts write a payload: each adds 1 to `full` behind its own stores, and
// nobody waits for the others. All readers of an entry add 1, whichever work-group of theirs read it.
// REQUIRES: memory of class cached, pinned if it shall stay in the L2 (L2_PERSIST in formats/queue.h);
// words zero at first; all ends on one GPU at the same time (one launch that fits, or a pipeline).
#ifndef STRETTO_SW_INCLUDE_TILE_QUEUE_H_
#define STRETTO_SW_INCLUDE_TILE_QUEUE_H_

#include <stdint.h>

#define TILE_QUEUE_LINE_BYTES 128u                           // Words have a line of their own.
#define TILE_QUEUE_WORDS_BYTES (2u * TILE_QUEUE_LINE_BYTES)  // Of an entry: full, then free.

// Rules of which a kernel breaks one, so that tests see the run end with its name (tests/sabotage.sh).
#define TILE_QUEUE_ACQUIRES 1u       // Who acquires waits.
#define TILE_QUEUE_BARRIER 2u        // A release comes behind a barrier,
#define TILE_QUEUE_STORES 3u         // and behind loads and stores.
#define TILE_QUEUE_RELEASES_ONCE 4u  // A payload is released once,
#define TILE_QUEUE_ROUND 5u          // acquired in its own round,
#define TILE_QUEUE_READERS 6u        // and overwritten when all readers have released it.
#ifndef TILE_QUEUE_BREAKS
#define TILE_QUEUE_BREAKS 0u
#endif

typedef struct tile_queue {
  uint64_t payloads;  // Entry e at payloads + e * payload_bytes,
  uint64_t words;     // its words at words + e * TILE_QUEUE_WORDS_BYTES.
  uint64_t payload_bytes;
  uint32_t depth;
  uint32_t readers;
  uint32_t writers;  // That add 1 to `full` for a payload.
  uint32_t reserved;
} tile_queue_t;

#ifdef __riscv
#include "sw/include/tile.h"

static inline __attribute__((always_inline)) uint64_t tile_queue_words_of(const tile_queue_t* queue,
                                                                          uint64_t payload) {
  return queue->words + payload % queue->depth * TILE_QUEUE_WORDS_BYTES;
}
static inline __attribute__((always_inline)) void tile_queue_wait_free(const tile_queue_t* queue,
                                                                       uint64_t payload) {
  tile_wait_until(tile_queue_words_of(queue, payload) + TILE_QUEUE_LINE_BYTES,
                  TILE_GEU | TILE_WAIT_DEVICE, payload / queue->depth * queue->readers);
}
static inline __attribute__((always_inline)) void tile_queue_wait_full(const tile_queue_t* queue,
                                                                       uint64_t payload) {
  tile_wait_until(tile_queue_words_of(queue, payload), TILE_GEU | TILE_WAIT_DEVICE,
                  (payload / queue->depth + 1) * queue->writers);
}
// Whether it would wait for nothing. One wavefront asks; it has acquired the payload if so.
static inline __attribute__((always_inline)) int tile_queue_is_full(const tile_queue_t* queue,
                                                                    uint64_t payload) {
  const uint64_t word = tile_queue_words_of(queue, payload);
  return *(const volatile uint64_t*)(uintptr_t)word >=
         (payload / queue->depth + 1) * queue->writers;
}
static inline __attribute__((always_inline)) void tile_queue_add_full(const tile_queue_t* queue,
                                                                      uint64_t payload) {
  tile_red(tile_queue_words_of(queue, payload), 1ull);
}
static inline __attribute__((always_inline)) void tile_queue_add_free(const tile_queue_t* queue,
                                                                      uint64_t payload) {
  tile_red(tile_queue_words_of(queue, payload) + TILE_QUEUE_LINE_BYTES, 1ull);
}

// One end of a queue in a work-group that takes all payloads.
typedef struct tile_queue_end {
  tile_queue_t queue;
  uint64_t round;
  uint32_t entry;
} tile_queue_end_t;

static inline __attribute__((always_inline)) tile_queue_end_t tile_queue_end(tile_queue_t queue) {
  return (tile_queue_end_t){.queue = queue};
}

static inline __attribute__((always_inline)) uint64_t tile_queue_word(const tile_queue_end_t* end) {
  return end->queue.words + end->entry * (uint64_t)TILE_QUEUE_WORDS_BYTES;
}

static inline __attribute__((always_inline)) uint64_t tile_queue_acquire(
    const tile_queue_end_t* end, uint64_t word, uint64_t wanted) {
  if (TILE_QUEUE_BREAKS == TILE_QUEUE_ACQUIRES) wanted = 0;
  if (tile_csr(TILE_CSR_WF_ID) == 0) tile_wait_until(word, TILE_GEU | TILE_WAIT_DEVICE, wanted);
  tile_barrier();
  return end->queue.payloads + end->entry * end->queue.payload_bytes;
}

static inline __attribute__((always_inline)) void tile_queue_release(tile_queue_end_t* end,
                                                                     uint64_t word) {
  if (TILE_QUEUE_BREAKS != TILE_QUEUE_STORES) tile_wait(0);
  if (TILE_QUEUE_BREAKS != TILE_QUEUE_BARRIER) tile_barrier();
  if (tile_csr(TILE_CSR_WF_ID) == 0) tile_red(word, 1ull);
  if (TILE_QUEUE_BREAKS == TILE_QUEUE_RELEASES_ONCE && tile_csr(TILE_CSR_WF_ID) == 0)
    tile_red(word, 1ull);
  if (++end->entry != end->queue.depth) return;
  end->entry = 0;
  ++end->round;
}

// Until the entry is free; returns the address of its payload.
static inline __attribute__((always_inline)) uint64_t tile_queue_wr_acquire(
    const tile_queue_end_t* end) {
  return tile_queue_acquire(
      end, tile_queue_word(end) + TILE_QUEUE_LINE_BYTES,
      end->round * (end->queue.readers - (TILE_QUEUE_BREAKS == TILE_QUEUE_READERS)));
}
static inline __attribute__((always_inline)) void tile_queue_wr_release(tile_queue_end_t* end) {
  tile_queue_release(end, tile_queue_word(end));
}
// Until the entry is full; likewise.
static inline __attribute__((always_inline)) uint64_t tile_queue_rd_acquire(
    const tile_queue_end_t* end) {
  return tile_queue_acquire(
      end, tile_queue_word(end),
      (end->round + (TILE_QUEUE_BREAKS != TILE_QUEUE_ROUND)) * end->queue.writers);
}
static inline __attribute__((always_inline)) void tile_queue_rd_release(tile_queue_end_t* end) {
  tile_queue_release(end, tile_queue_word(end) + TILE_QUEUE_LINE_BYTES);
}
#endif  // __riscv

#endif  // STRETTO_SW_INCLUDE_TILE_QUEUE_H_
