// SPDX-License-Identifier: Apache-2.0
// Stores to GPU memory that the test's memory does not have.
#include "guest.h"

int guest_main(uint64_t hart) {
  if (hart != 0) return 0;
  REG64(MEMORY(0x10000000)) = 1;
  RELEASE();
  wait_until_ns(50000);
  return 0;
}
