// SPDX-License-Identifier: Apache-2.0
// Arguments and notes of the kernels of an all-reduce over several servers (ComP-Net 5.4), for
// all_reduce.c, for host programs that launch them, and for those who check what is left.
//
// N servers, p = own. The array has a block for each server. In hop h = 0, 1, .. 2N - 3 server p
// sends block p - h to p + 1: the sum so far while h < N - 1, then the sum of all. So block b is
// added up in the order b, b + 1, .. b + N - 1 (modulo N), FP32, and ends at server b - 1.
#ifndef STRETTO_SW_KERNELS_ALL_REDUCE_H_
#define STRETTO_SW_KERNELS_ALL_REDUCE_H_

#include "sw/include/formats/shmem_queue.h"

#define ALL_REDUCE_WAVEFRONTS 4u
#define ALL_REDUCE_TILE_BYTES 4096u
#define ALL_REDUCE_TILES 8u  // Of a wavefront.
#define ALL_REDUCE_REGISTERS_BYTES \
  (ALL_REDUCE_WAVEFRONTS * ALL_REDUCE_TILES * ALL_REDUCE_TILE_BYTES)
#define ALL_REDUCE_ALIGNMENT 64u  // Of blocks and shares, bytes.

// Words of a ring, which the neighbours write.
typedef struct all_reduce_words {
  uint64_t arrived;  // Pieces that the server before has put.
  uint64_t read;     // Hops whose pieces the next server has added.
  uint64_t reserved[6];
} all_reduce_words_t;

// Of a work-group: cycles, and the status of the first operation that failed.
typedef struct all_reduce_note {
  uint64_t begin;
  uint64_t reduced;  // Its share of block p + 1 is the sum of all.
  uint64_t ended;
  uint64_t failed;
} all_reduce_note_t;

// all_reduce_ring: work-group i is ring i (CN-AR-02), with a share of each block, in pieces of
// `piece_bytes`. A sum goes to a half of `scratch` at the next server, by turns, when that half has
// been read there.
// all_reduce_add: adds `bytes` of `scratch` to `data`; a share a work-group.
typedef struct all_reduce_arguments {
  stretto_shmem_handle_t shmem;
  uint64_t data;     // FP32, in the heap.
  uint64_t scratch;  // Two blocks, likewise.
  uint64_t words;    // An all_reduce_words_t a ring, likewise; zero at first.
  uint64_t notes;    // An all_reduce_note_t a work-group.
  uint64_t bytes;
  uint64_t block_bytes;
  uint64_t share_bytes;
  uint64_t piece_bytes;
} all_reduce_arguments_t;

// `bytes` in `parts`, all but the last ones of that size.
static inline uint64_t all_reduce_part(uint64_t bytes, uint32_t parts) {
  const uint64_t part = (bytes + parts - 1) / parts;
  return (part + ALL_REDUCE_ALIGNMENT - 1) / ALL_REDUCE_ALIGNMENT * ALL_REDUCE_ALIGNMENT;
}
// Bytes of part `part`, of that size each, of `bytes`.
static inline uint64_t all_reduce_part_bytes(uint64_t bytes, uint64_t part_bytes, uint64_t part) {
  const uint64_t begin = part * part_bytes, left = begin < bytes ? bytes - begin : 0;
  return left < part_bytes ? left : part_bytes;
}
// The block that server `server` sends in a hop.
static inline uint32_t all_reduce_block(uint32_t server, uint32_t hop, uint32_t servers) {
  return (server + 2 * servers - hop) % servers;
}

#endif  // STRETTO_SW_KERNELS_ALL_REDUCE_H_
