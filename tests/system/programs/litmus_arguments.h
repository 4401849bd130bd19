// SPDX-License-Identifier: Apache-2.0
// Arguments of litmus_kernel.c, as the test writes them.
#ifndef STRETTO_TESTS_SYSTEM_PROGRAMS_LITMUS_ARGUMENTS_H_
#define STRETTO_TESTS_SYSTEM_PROGRAMS_LITMUS_ARGUMENTS_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

// What a work-group does, in this order.
#define LITMUS_TOUCH 1u       // Reads data, so that the L2 has it.
#define LITMUS_FLAG_FIRST 2u  // Writes the flag long before it goes on.
#define LITMUS_STORE 4u       // Writes data.
#define LITMUS_FLAG 8u        // Writes the flag.
#define LITMUS_WAIT 16u       // Waits until the flag is at least flag_value.
#define LITMUS_READ 32u       // Copies data to out.
#define LITMUS_READ_PAST 64u  // The same, past the L2.

typedef struct litmus_arguments {
  uint64_t data;  // Each a word.
  uint64_t flag;
  uint64_t out;
  uint64_t value;
  uint64_t flag_value;
  uint32_t does[2];  // By work-group.
} litmus_arguments_t;

#endif  // STRETTO_TESTS_SYSTEM_PROGRAMS_LITMUS_ARGUMENTS_H_
