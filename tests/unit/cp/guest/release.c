// SPDX-License-Identifier: Apache-2.0
// Stores byte 3 of a line at the start and releases it at 10 us; the test changes byte 4 of the
// same line at 5 us. At 20 us a store that nothing releases is dropped from the L1 by an acquire,
// which must write it back.
#include "guest.h"

int guest_main(uint64_t hart) {
  if (hart != 0) return 0;
  volatile uint8_t* const line = (volatile uint8_t*)MEMORY(0x2000);
  line[3] = 0x33;
  if (line[3] != 0x33) return 1;
  wait_until_ns(10000);
  RELEASE();
  wait_until_ns(20000);
  line[7] = 0x77;
  ACQUIRE();
  if (line[3] != 0x33 || line[4] != 0x44 || line[7] != 0x77) return 2;
  return 0;
}
