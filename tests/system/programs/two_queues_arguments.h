// SPDX-License-Identifier: Apache-2.0
// What two_queues.c tells its kernel.
#ifndef STRETTO_TESTS_SYSTEM_PROGRAMS_TWO_QUEUES_ARGUMENTS_H_
#define STRETTO_TESTS_SYSTEM_PROGRAMS_TWO_QUEUES_ARGUMENTS_H_

#include <stdint.h>

#define WAVEFRONTS 4

typedef struct count_arguments {
  uint64_t counts;   // A word a work-group.
  uint64_t rounds;   // Of a loop that does nothing.
  uint64_t meeting;  // Word in which wavefronts are counted that are on the GPU, 0 = none;
  uint64_t all;      // they go on when it says so many.
} count_arguments_t;

#endif  // STRETTO_TESTS_SYSTEM_PROGRAMS_TWO_QUEUES_ARGUMENTS_H_
