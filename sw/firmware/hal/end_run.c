// SPDX-License-Identifier: Apache-2.0
#include "sw/firmware/hal/end_run.h"

#include "sw/firmware/hal/mmio.h"

extern volatile uint64_t tohost;  // boot/crt0.S.

void end_run(uint64_t value) {
  tohost = value;
  for (;;) wait_for_interrupt();  // The run ends with the store.
}
