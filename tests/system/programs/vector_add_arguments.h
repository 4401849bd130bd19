// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernels of vector_add_kernel.c.
#ifndef STRETTO_TESTS_SYSTEM_PROGRAMS_VECTOR_ADD_ARGUMENTS_H_
#define STRETTO_TESTS_SYSTEM_PROGRAMS_VECTOR_ADD_ARGUMENTS_H_

#include <stdint.h>

#define VECTOR_ADD_WAVEFRONTS 4u
#define VECTOR_ADD_PIECE 512u  // Elements of a wavefront.

typedef struct vector_add_arguments {
  uint64_t a, b, sum;  // FP32, `count` each.
  uint64_t count;
} vector_add_arguments_t;

typedef struct scale_arguments {
  uint64_t data;  // Words of 64 bits.
  uint64_t count;
  uint64_t factor;
  uint64_t rounds;  // Of nothing, before the first one.
} scale_arguments_t;

#endif  // STRETTO_TESTS_SYSTEM_PROGRAMS_VECTOR_ADD_ARGUMENTS_H_
