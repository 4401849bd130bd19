// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernels in subjects.c and loops.c. C and C++.
#ifndef STRETTO_TESTS_UNIT_SW_TRANSFORM_SUBJECTS_H_
#define STRETTO_TESTS_UNIT_SW_TRANSFORM_SUBJECTS_H_

#include <stdint.h>

#define SUBJECT_WAVEFRONTS 4

typedef struct subject_arguments {
  uint64_t out;    // Eight words a work-group ...
  uint64_t ran;    // ... and one, to which each of its wavefronts adds 1 << 16 * wavefront.
  uint64_t marks;  // A word a wavefront of a work-group.
  uint64_t flag;   // Of the kernels that are refused.
  uint64_t count;
} subject_arguments_t;

#endif  // STRETTO_TESTS_UNIT_SW_TRANSFORM_SUBJECTS_H_
