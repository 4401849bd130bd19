// SPDX-License-Identifier: Apache-2.0
// Private memory behind the L1. `own` begins with 7. Hart 1 reads it before and after hart 0 has
// changed and released it; fences that name devices hand it over whatever cp.fenced says.
#include "guest.h"

static struct {  // A line each.
  volatile uint64_t own[8];
  volatile uint64_t of[2][8];
} own_lines __attribute__((section(".private"), aligned(64))) = {.own = {7}};
#define own own_lines.own[0]
#define own_of own_lines.of
static volatile uint64_t step;  // In SRAM.
static volatile uint64_t seen[3];

#define HAND_OVER() __asm__ volatile("fence iorw, iorw" : : : "memory")

static void wait_for(uint64_t value) {
  while (step < value) {
  }
}

int guest_main(uint64_t hart) {
  own_of[hart][0] = 100 + hart;
  if (hart == 1) {
    seen[0] = own;
    step = 1;
    wait_for(2);
    seen[1] = own;  // Its own copy.
    HAND_OVER();
    seen[2] = own;
    step = 3;
    return 0;
  }
  wait_for(1);
  own = 8;
  HAND_OVER();
  step = 2;
  wait_for(3);
  if (seen[0] != 7) return 1;
  if (seen[1] != 7) return 2;
  if (seen[2] != 8) return 3;
  for (int i = 0; i < 10; ++i) {
    ACQUIRE();
    if (own_of[0][0] != 100 + (uint64_t)i) return 4;
    own_of[0][0] = 101 + (uint64_t)i;
    RELEASE();
  }
  return 0;
}
