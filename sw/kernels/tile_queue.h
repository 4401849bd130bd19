// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernel that measures queues, for tile_queue.c and for those who launch it.
#ifndef STRETTO_SW_KERNELS_TILE_QUEUE_H_
#define STRETTO_SW_KERNELS_TILE_QUEUE_H_

#include <stdint.h>

#include "sw/include/tile_queue.h"

#define TILE_QUEUE_WAVEFRONTS 8u      // Of a work-group,
#define TILE_QUEUE_PIECE_BYTES 2048u  // and what each stores or loads at a time, at most.
#define TILE_QUEUE_TILES 8u           // A wavefront's.

// tile_queue_pairs: work-groups 2 q and 2 q + 1 are the producer and the consumer of queue q. The
// producer's wavefront w stores its share of payload i as pieces of FP32 that alternate between
// pattern 0 + i and pattern 1 + i. The consumer subtracts what they must be, and leaves the least and
// the greatest of all differences. All begin when all have come. tile_queue_pairs_free: likewise, but
// without atomics, so what is read is nothing.
typedef struct stretto_tile_queue_arguments {
  tile_queue_t queue;    // Number 0. The others follow it, payloads and words each without gaps.
  uint64_t patterns;     // Of queue q, wavefront w: two pieces at number 2 (8 q + w).
  uint64_t constants;    // A piece of zeros, a piece of ones.
  uint64_t differences;  // Least and greatest of queue q, wavefront w: pieces like the patterns.
  uint64_t clocks;       // Zero: how many work-groups have come; then of each its begin and end.
  uint32_t payloads;     // Of each queue.
  uint32_t piece_bytes;
} stretto_tile_queue_arguments_t;

#endif  // STRETTO_SW_KERNELS_TILE_QUEUE_H_
