// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernels of shmem_five_kernel.c.
#ifndef STRETTO_TESTS_SYSTEM_PROGRAMS_SHMEM_FIVE_ARGUMENTS_H_
#define STRETTO_TESTS_SYSTEM_PROGRAMS_SHMEM_FIVE_ARGUMENTS_H_

#include <stdint.h>

#include "sw/include/formats/shmem_queue.h"

typedef struct shmem_five_arguments {
  stretto_shmem_handle_t shmem;
  uint64_t *words, *more, *signals;  // Of the symmetric heap.
  uint64_t n, rounds;
} shmem_five_arguments_t;

#endif  // STRETTO_TESTS_SYSTEM_PROGRAMS_SHMEM_FIVE_ARGUMENTS_H_
