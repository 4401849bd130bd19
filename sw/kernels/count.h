// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernel that counts how often each work-group ran.
#ifndef STRETTO_SW_KERNELS_COUNT_H_
#define STRETTO_SW_KERNELS_COUNT_H_

#include <stdint.h>

#define COUNT_WAVEFRONTS 4u

// Work-group i adds 1 to word i of `words`, behind `rounds` of a loop in each wavefront.
typedef struct stretto_count_arguments {
  uint64_t words;
  uint64_t rounds;
} stretto_count_arguments_t;

#endif  // STRETTO_SW_KERNELS_COUNT_H_
