// SPDX-License-Identifier: Apache-2.0
// The test raises lines 3 (at 5 us, lowered at 30 us) and 2 (at 20 us). Line 3 is enabled on both
// harts, 2 on hart 1 only. Claimed lines do not interrupt; completing a line that is still high
// makes it pending again.
#include "guest.h"

#define ENABLE(hart) REG64(STRETTO_INTC_BASE + INTC_ENABLE_OFFSET_AT(hart))
#define CLAIM(hart) REG64(STRETTO_INTC_BASE + INTC_CLAIM_OFFSET_AT(hart))

static volatile uint64_t claimed_by_1;

int guest_main(uint64_t hart) {
  if (hart > 1) return 0;
  CSR_WRITE(mie, MIE_EXTERNAL);
  if (hart == 1) {
    ENABLE(1) = 1u << STRETTO_IRQ_GRID_SCHEDULER;
    WFI();
    claimed_by_1 = CLAIM(1);
    return 0;
  }
  ENABLE(0) = 1u << STRETTO_IRQ_DMA;
  WFI();
  const uint64_t woken = CSR_READ(time);
  if (woken < 5000 || woken > 5050) return 1;
  if (CLAIM(0) != STRETTO_IRQ_DMA) return 2;
  if (CLAIM(0) != 0) return 3;
  if ((CSR_READ(mip) & MIE_EXTERNAL) != 0) return 4;
  CLAIM(0) = STRETTO_IRQ_DMA;
  if ((CSR_READ(mip) & MIE_EXTERNAL) == 0) return 5;
  if (REG64(STRETTO_INTC_BASE + INTC_PENDING_OFFSET) != 1u << STRETTO_IRQ_DMA) return 6;
  while (claimed_by_1 == 0) {
  }
  if (claimed_by_1 != STRETTO_IRQ_GRID_SCHEDULER) return 7;
  if (CSR_READ(time) < 20000) return 8;
  wait_until_ns(31000);
  if ((CSR_READ(mip) & MIE_EXTERNAL) != 0) return 9;
  // Software interrupts: hart 0 to itself.
  REG32(STRETTO_CLINT_BASE + CLINT_MSIP_OFFSET) = 1;
  if ((CSR_READ(mip) & MIE_SOFTWARE) == 0) return 10;
  REG32(STRETTO_CLINT_BASE + CLINT_MSIP_OFFSET) = 0;
  if ((CSR_READ(mip) & MIE_SOFTWARE) != 0) return 11;
  return 0;
}
