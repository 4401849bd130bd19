// SPDX-License-Identifier: Apache-2.0
// A program of a test ends with status 1 where something is not as it must be.
#ifndef STRETTO_TESTS_SYSTEM_PROGRAMS_MUST_H_
#define STRETTO_TESTS_SYSTEM_PROGRAMS_MUST_H_

#include <stdio.h>
#include <stdlib.h>

#define MUST(condition)                                        \
  do {                                                         \
    if (!(condition)) {                                        \
      printf("line %d: %s is not so\n", __LINE__, #condition); \
      exit(1);                                                 \
    }                                                          \
  } while (0)

#endif  // STRETTO_TESTS_SYSTEM_PROGRAMS_MUST_H_
