// SPDX-License-Identifier: Apache-2.0
// Random programs over shmem.h as lists of operations: shmem_random.c writes them, shmem_random_kernel.c does what
// they say.
#ifndef STRETTO_TESTS_SYSTEM_PROGRAMS_SHMEM_RANDOM_H_
#define STRETTO_TESTS_SYSTEM_PROGRAMS_SHMEM_RANDOM_H_

#include <stdint.h>

#include "sw/include/formats/shmem_queue.h"

#define RANDOM_GROUPS 2u    // Work-groups of a PE,
#define RANDOM_CONTEXTS 2u  // with so many contexts each.
#define RANDOM_HOT 48u      // Words of each PE that all reach often,
#define RANDOM_WORDS 2072u  // at the end of those that long transfers reach.
#define RANDOM_OPERATIONS 128u
#define RANDOM_LOG 128u
#define RANDOM_PES 4u
// Behind the words: of each context of each PE, for each work-group that it may tell.
#define RANDOM_SIGNALS (RANDOM_PES * RANDOM_GROUPS * RANDOM_CONTEXTS * RANDOM_GROUPS)

typedef enum random_kind {
  RANDOM_END,
  RANDOM_DELAY,  // `value` rounds of nothing.
  RANDOM_STORE,  // Own word `at` <- value.
  RANDOM_LOAD,   // Notes own word `at`.
  RANDOM_PUT,    // `count` words from own `from` to `at` of `pe`.
  RANDOM_PUT_NBI,
  RANDOM_P,  // Word `at` of `pe` <- value.
  RANDOM_GET,
  RANDOM_GET_NBI,
  RANDOM_G,           // Notes word `at` of `pe`.
  RANDOM_ADD,         // Of `value`.
  RANDOM_FETCH_ADD,   // Notes what was there.
  RANDOM_SWAP,        // Likewise.
  RANDOM_COMPARE,     // Likewise; `other` is the condition.
  RANDOM_PUT_SIGNAL,  // Then word `other` of `pe` <- value.
  RANDOM_PUT_SIGNAL_NBI,
  RANDOM_ADD_SIGNAL,  // Then 1 is added to it.
  RANDOM_WAIT,        // Until own word `other` is at least `value`.
  RANDOM_FENCE,
  RANDOM_QUIET,
  RANDOM_BARRIER,  // Of this context of all PEs.
  RANDOM_KINDS,
} random_kind_t;

typedef struct random_operation {
  uint64_t kind;
  uint32_t context, pe;
  uint64_t at, from, count, value, other;  // Words from the begin of all.
} random_operation_t;

typedef struct random_arguments {
  stretto_shmem_handle_t shmem;
  uint64_t* words;                       // RANDOM_WORDS + RANDOM_SIGNALS of the heap.
  const random_operation_t* operations;  // RANDOM_OPERATIONS of each work-group,
  uint64_t* log;                         // and RANDOM_LOG words.
} random_arguments_t;

#endif  // STRETTO_TESTS_SYSTEM_PROGRAMS_SHMEM_RANDOM_H_
