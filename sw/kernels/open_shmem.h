// SPDX-License-Identifier: Apache-2.0
// Arguments and results of programs over OpenSHMEM as users write them (open_shmem.c), for those who
// launch them and check what is left.
#ifndef STRETTO_SW_KERNELS_OPEN_SHMEM_H_
#define STRETTO_SW_KERNELS_OPEN_SHMEM_H_

#include "sw/include/formats/shmem_queue.h"

#define OPEN_SHMEM_WAVEFRONTS 2u
#define OPEN_SHMEM_PART_BYTES 20480u  // Of the heap, of a work-group.
#define OPEN_SHMEM_BINS 16u           // Of a PE.
#define OPEN_SHMEM_SIDE 13u           // Of a block of words.
#define OPEN_SHMEM_BYTES 137u         // That a collective moves to a PE.
#define OPEN_SHMEM_VALUES 12u

typedef struct open_shmem_arguments {
  stretto_shmem_handle_t shmem;
  uint64_t parts;    // In the heap, OPEN_SHMEM_PART_BYTES a work-group; zero at first.
  uint64_t results;  // An open_shmem_result_t a work-group.
  uint64_t rounds;
} open_shmem_arguments_t;

typedef struct open_shmem_result {
  uint64_t ended;  // 1.
  uint64_t failed;
  uint64_t value[OPEN_SHMEM_VALUES];
} open_shmem_result_t;

// Words of a part, by program. tokens: word 0. histogram: bins that others add to, then the own.
enum { OPEN_SHMEM_OWN_BINS = OPEN_SHMEM_BINS };
// ticket_lock, of work-group 0 of PE 0.
enum { OPEN_SHMEM_NEXT = 0, OPEN_SHMEM_SERVING = 8, OPEN_SHMEM_COUNTER = 16 };
// halo: rows above and below, columns left and right; their signals; edges of columns; the block.
enum {
  OPEN_SHMEM_HALO = 0,
  OPEN_SHMEM_SIGNALS = 4 * OPEN_SHMEM_SIDE,
  OPEN_SHMEM_EDGES = OPEN_SHMEM_SIGNALS + 4,
  OPEN_SHMEM_BLOCK = OPEN_SHMEM_EDGES + 2 * OPEN_SHMEM_SIDE,
};
// all_to_all, collectives: what is sent, OPEN_SHMEM_BYTES a PE from here on; what comes by puts, by
// the broadcast, fcollect, alltoall; words for waits; operands and results of reductions.
enum {
  OPEN_SHMEM_SENT = 0,
  OPEN_SHMEM_PUT = 600,
  OPEN_SHMEM_BROADCAST = 1200,
  OPEN_SHMEM_COLLECTED = 1224,
  OPEN_SHMEM_EXCHANGED = 1800,
  OPEN_SHMEM_TOLD = 600,
  OPEN_SHMEM_OPERAND = 640,
  OPEN_SHMEM_REDUCED = 644,
};

static inline uint64_t open_shmem_mix(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15ull;
  return x ^ (x >> 29);
}
// Key `i` of a work-group's histogram; word `i` of its block or of what it sends.
static inline uint64_t open_shmem_value(uint64_t pe, uint64_t work_group, uint64_t i) {
  return open_shmem_mix((pe + 1) << 40 | (work_group + 1) << 24 | i);
}

#endif  // STRETTO_SW_KERNELS_OPEN_SHMEM_H_
