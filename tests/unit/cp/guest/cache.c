// SPDX-License-Identifier: Apache-2.0
// Walks over memory so that hits and misses can be counted by hand: 9 lines of one set of 64 sets,
// twice, with stores.
#include "guest.h"

int guest_main(uint64_t hart) {
  if (hart != 0) return 0;
  for (uint64_t round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < 9; ++i) {
      volatile uint64_t* const word = (volatile uint64_t*)MEMORY(0x10000 + i * 64 * 64);
      if (*word != round * (i + 1)) return 1 + (int)i;
      *word += i + 1;
    }
  }
  return 0;
}
