// SPDX-License-Identifier: Apache-2.0
// Hart 1 runs into an illegal instruction without a trap handler.
#include "guest.h"

__attribute__((noinline)) void stumble(void) { __asm__ volatile(".word 0"); }

int guest_main(uint64_t hart) {
  if (hart == 1) stumble();
  for (;;) {
    WFI();
  }
}
