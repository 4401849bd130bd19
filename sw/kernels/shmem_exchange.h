// SPDX-License-Identifier: Apache-2.0
// Arguments and results of the kernels that use every call of shmem.h, for shmem_exchange.c and for
// those who launch them and check what is left.
#ifndef STRETTO_SW_KERNELS_SHMEM_EXCHANGE_H_
#define STRETTO_SW_KERNELS_SHMEM_EXCHANGE_H_

#include "sw/include/formats/shmem_queue.h"

// Symmetric: parts of the heap, offsets from `data`, of each work-group.
typedef struct shmem_exchange_part {
  uint64_t signal;   // Set by the PE before,
  uint64_t sum;      // then added to by it.
  uint64_t word;     // Put by it.
  uint64_t byte;     // Of cpnet.h, likewise.
  uint64_t counter;  // Added to by all PEs: at PE 0, by PE 0 at PE 1.
  uint64_t last;     // Swapped by all, likewise.
  uint64_t set;      // Set by the PE before.
  uint64_t flag;     // Of shmem_litmus.
} shmem_exchange_part_t;
#define SHMEM_EXCHANGE_PART_BYTES 128u

// What a work-group has seen.
typedef struct shmem_exchange_result {
  uint64_t signal;
  uint64_t counter;  // Before it was added to.
  uint64_t last;     // Before it was swapped.
  uint64_t word;     // Got of the next PE behind a barrier.
  uint64_t sum;      // At the next PE, behind a quiet.
  uint64_t seen;     // shmem_litmus: the last word of the data, at the third.
  uint64_t failed;
  uint64_t ended;  // 1.
} shmem_exchange_result_t;

// Work-group w of PE p, p + 1 the next one: with all of the group's wavefronts.
//   shmem_exchange  puts `bytes` of `source` to `put` there with a signal, gets as many to `got`, adds,
//                   swaps, sets, puts words and a byte, all to its own part but counter and last
//   shmem_litmus    PE 0 puts `source` to `put` at PE 1, quiet, then the flag at PE 2, which puts it to
//                   PE 1, which reads the end of the data
//   shmem_outside   PE 0 gets `bytes` from behind the heap of PE 1
typedef struct shmem_exchange_arguments {
  stretto_shmem_handle_t shmem;
  uint64_t parts;   // Of SHMEM_EXCHANGE_PART_BYTES each.
  uint64_t source;  // Each work-group has `stride` of it, here and below.
  uint64_t put;
  uint64_t got;
  uint64_t results;
  uint64_t stride;
  uint64_t bytes;
  uint64_t rounds;  // shmem_exchange: puts without waiting, more than the queue has entries, too.
} shmem_exchange_arguments_t;

#define SHMEM_EXCHANGE_WAVEFRONTS 2u
// What is put, added and swapped.
static inline uint64_t shmem_exchange_value(uint64_t pe, uint64_t work_group) {
  return (pe + 1) << 32 | (work_group + 1);
}

#endif  // STRETTO_SW_KERNELS_SHMEM_EXCHANGE_H_
