// SPDX-License-Identifier: Apache-2.0
// What a store buffer may do, and what not. Word 0x5000 begins with 0x1122334455667788.
#include "guest.h"

#define WORD(offset) REG64(MEMORY(offset))
#define HOST(offset) REG64(((uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT) + (offset))

int guest_main(uint64_t hart) {
  if (hart != 0) return 0;
  for (uint64_t i = 0; i < 8; ++i) WORD(0x4000 + 8 * i) = i + 1;
  if (WORD(0x4018) != 4) return 1;  // Nothing has been sent so far.
  RELEASE();
  HOST(0x100) = 1;
  HOST(0x100) = 2;
  REG64(STRETTO_DMA_BASE) = 3;
  REG8(MEMORY(0x5000)) = 0xAA;
  if (WORD(0x5000) != 0x11223344556677AA) return 2;
  for (uint64_t i = 0; i < 10; ++i) WORD(0x6000 + 64 * i) = 60 + i;
  for (uint64_t i = 0; i < 10; ++i)
    if (WORD(0x6000 + 64 * i) != 60 + i) return 3;
  ACQUIRE();
  for (uint64_t i = 0; i < 10; ++i)
    if (WORD(0x6000 + 64 * i) != 60 + i) return 4;
  WORD(0x7000) = 41;
  if (__atomic_fetch_add((uint64_t*)MEMORY(0x7000), 1, __ATOMIC_RELAXED) != 41) return 5;
  if (WORD(0x7000) != 42) return 6;
  WORD(0x7000) = 43;
  __asm__ volatile("fence rw, rw" : : : "memory");
  WORD(0x7040) = 1;
  RELEASE();
  WORD(0x7080) = 2;
  __asm__ volatile("fence rw, rw" : : : "memory");  // The run ends with the next store.
  return 0;
}
