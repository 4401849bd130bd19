// SPDX-License-Identifier: Apache-2.0
// Litmus tests of the memory model of shmem.h: shmem_litmus_kernel.c plays them, shmem_litmus.c counts.
#ifndef STRETTO_TESTS_SYSTEM_PROGRAMS_SHMEM_LITMUS_H_
#define STRETTO_TESTS_SYSTEM_PROGRAMS_SHMEM_LITMUS_H_

#include <stdint.h>

#include "sw/include/formats/shmem_queue.h"

#define LITMUS_PES 4u
#define LITMUS_LONG 16384u  // Words of a run at most. The last one is looked at.

// Words of a test.
#define LITMUS_X 0u
#define LITMUS_Y LITMUS_LONG
#define LITMUS_SOURCE (2 * LITMUS_LONG)
#define LITMUS_FLAGS (3 * LITMUS_LONG)  // A line each.
#define LITMUS_WORDS (LITMUS_FLAGS + 4 * 16)

// name, whether its outcome is forbidden (1) or allowed (0)
#define LITMUS_TESTS(X) \
  X(mp_quiet, 1)        \
  X(mp_fence, 1)        \
  X(mp_signal, 1)       \
  X(mp_add_signal, 1)   \
  X(third_tells, 1)     \
  X(third_gets, 1)      \
  X(stored_then_got, 1) \
  X(put_source, 1)      \
  X(get_nbi, 1)         \
  X(lost_add, 1)        \
  X(read_read, 1)       \
  X(write_write, 1)     \
  X(store_buffering, 1) \
  X(barrier, 1)         \
  X(other_context, 0)   \
  X(third_no_quiet, 0)  \
  X(stores_no_quiet, 0) \
  X(put_nbi_source, 0)

#define LITMUS_ENUM(name, forbidden) LITMUS_##name,
typedef enum litmus_test { LITMUS_TESTS(LITMUS_ENUM) LITMUS_COUNT } litmus_test_t;

typedef struct litmus_arguments {
  stretto_shmem_handle_t shmem;
  uint64_t* words;  // LITMUS_WORDS of each test, zero.
  uint64_t* seen;   // By test: how often its outcome was seen at this PE.
  uint64_t rounds, seed;
} litmus_arguments_t;

#endif  // STRETTO_TESTS_SYSTEM_PROGRAMS_SHMEM_LITMUS_H_
