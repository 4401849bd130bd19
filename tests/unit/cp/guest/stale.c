// SPDX-License-Identifier: Apache-2.0
// Reads a word at 0x1000, which the test changes from 1 to 2 at 5 us, before and after an acquire.
#include "guest.h"

int guest_main(uint64_t hart) {
  if (hart != 0) return 0;
  volatile uint64_t* const word = (volatile uint64_t*)MEMORY(0x1000);
  if (*word != 1) return 1;
  wait_until_ns(10000);
  if (*word != 1) return 2;  // The cached line.
  RELEASE();
  if (*word != 1) return 3;  // A release drops nothing.
  ACQUIRE();
  if (*word != 2) return 4;
  return 0;
}
