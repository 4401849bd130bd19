// SPDX-License-Identifier: Apache-2.0
// Sleeps until 12,345 ns and reads the clock at once. At 1500 MHz the first edge at or after it is
// 18,518 (12,345.33 ns).
#include "guest.h"

static volatile uint64_t trap_cause;
static volatile uint64_t trap_time;

__attribute__((interrupt, aligned(4))) static void on_trap(void) {
  trap_cause = CSR_READ(mcause);
  trap_time = CSR_READ(time);
  REG64(STRETTO_CLINT_BASE + CLINT_MTIMECMP_OFFSET) = ~0ull;
}

int guest_main(uint64_t hart) {
  if (hart != 0) return 0;
  REG64(STRETTO_CLINT_BASE + CLINT_MTIMECMP_OFFSET) = 12345;
  CSR_WRITE(mie, MIE_TIMER);
  WFI();
  if (CSR_READ(cycle) != 18518) return 1;
  if (REG64(STRETTO_CLINT_BASE + CLINT_MTIME_OFFSET) < 12345) return 2;
  if ((CSR_READ(mip) & MIE_TIMER) == 0) return 3;
  // A running hart is interrupted, not more than a few instructions late.
  REG64(STRETTO_CLINT_BASE + CLINT_MTIMECMP_OFFSET) = 20000;
  if ((CSR_READ(mip) & MIE_TIMER) != 0) return 4;
  CSR_WRITE(mtvec, (uint64_t)&on_trap);
  CSR_SET(mstatus, MSTATUS_MIE);
  while (trap_cause == 0) {
  }
  if (trap_cause != (1ull << 63 | 7)) return 5;
  if (trap_time < 20000 || trap_time > 20100) return 6;
  return 0;
}
