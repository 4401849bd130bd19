// SPDX-License-Identifier: Apache-2.0
// Runs through 64 lines of code twice: 4 KiB without a branch.
#include "guest.h"

__attribute__((noinline)) static void straight(void) {
  __asm__ volatile(
      ".option push\n.option norvc\n.balign 64\n"
      ".rept 1023\n  nop\n.endr\n"
      ".option pop"
      :
      :
      : "memory");
}

int guest_main(uint64_t hart) {
  if (hart != 0) return 0;
  for (int i = 0; i < 2; ++i) straight();
  return 0;
}
