// SPDX-License-Identifier: Apache-2.0
// A service loop (ComP-Net 4.2.1): hart 0 polls the status of the next entry of each of eight queues
// in turn, with an acquire before each poll; what is announced it works on for 300 ns at 2 GHz and
// marks as done, with a release. Status: 0 nothing, 1 announced, 2 done, 3 the end.
#include "guest.h"

enum { kQueues = 8, kEntries = 64, kEntryBytes = 64, kWork = 150 };

int guest_main(uint64_t hart) {
  uint64_t read[kQueues];
  (void)hart;
  for (unsigned i = 0; i < kQueues; ++i) read[i] = 0;
  for (;;) {
    for (unsigned i = 0; i < kQueues; ++i) {
      volatile uint64_t* const status =
          (volatile uint64_t*)MEMORY(0x100000 + (i * kEntries + read[i] % kEntries) * kEntryBytes);
      ACQUIRE();
      const uint64_t found = *status;
      if (found == 3) return 0;
      if (found != 1) continue;
      for (unsigned work = 0; work < kWork; ++work) __asm__ volatile("");  // Four cycles each.
      *status = 2;
      RELEASE();
      ++read[i];
    }
  }
}
