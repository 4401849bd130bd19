// SPDX-License-Identifier: Apache-2.0
// Both harts add to words of GPU memory: with AMO, with LR/SC, and under a spin lock with plain
// cached accesses between acquire and release.
#include "guest.h"

enum { kRounds = 50 };

static volatile uint64_t done;

int guest_main(uint64_t hart) {
  volatile uint64_t* const sum = (volatile uint64_t*)MEMORY(0x3000);
  volatile uint64_t* const loops = (volatile uint64_t*)MEMORY(0x3008);
  volatile uint32_t* const lock = (volatile uint32_t*)MEMORY(0x3040);
  volatile uint64_t* const guarded = (volatile uint64_t*)MEMORY(0x3080);
  if (hart > 1) return 0;
  for (int i = 0; i < kRounds; ++i) {
    __atomic_fetch_add(sum, 2, __ATOMIC_RELAXED);
    uint64_t old, failed;
    do {
      __asm__ volatile(
          "lr.d %0, (%2)\n"
          "addi %0, %0, 3\n"
          "sc.d %1, %0, (%2)\n"
          : "=&r"(old), "=&r"(failed)
          : "r"(loops)
          : "memory");
    } while (failed != 0);
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0) {
    }
    *guarded = *guarded + 1;
    RELEASE();
    ACQUIRE();
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
    RELEASE();
  }
  __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
  if (hart == 1) return 0;
  while (done != 2) {
  }
  ACQUIRE();
  if (*sum != 2 * 2 * kRounds) return 1;
  if (*loops != 3 * 2 * kRounds) return 2;
  if (*guarded != 2 * kRounds) return 3;
  // An AMO sees the hart's own store that is still in its L1, and leaves its result to the next
  // load.
  *sum = 1000;
  if (__atomic_fetch_add(sum, 1, __ATOMIC_RELAXED) != 1000) return 4;
  if (*sum != 1001) return 5;
  // A store-conditional without reservation, and one after another hart's store, fail.
  uint64_t failed;
  __asm__ volatile("sc.d %0, zero, (%1)" : "=r"(failed) : "r"(sum) : "memory");
  if (failed != 1) return 6;
  return 0;
}
