// SPDX-License-Identifier: Apache-2.0
// Sleeps until a doorbell rings (the test rings 3 with 41 at 5 us, then 9 with 7), says so on the
// console.
#include "guest.h"

static void put(const char* text) {
  for (; *text != 0; ++text) REG64(STRETTO_UART_BASE + UART_TX_OFFSET) = (uint8_t)*text;
}

int guest_main(uint64_t hart) {
  if (hart != 0) return 0;
  REG64(STRETTO_INTC_BASE + INTC_ENABLE_OFFSET_AT(0)) = 1u << STRETTO_IRQ_DOORBELL;
  CSR_WRITE(mie, MIE_EXTERNAL);
  WFI();
  const uint64_t woken = CSR_READ(time);
  if (woken < 5000 || woken > 5010) return 1;
  if (REG64(STRETTO_DOORBELL_BASE + DOORBELL_PENDING_OFFSET) != 1u << 3) return 2;
  if (REG64(STRETTO_DOORBELL_BASE + DOORBELL_VALUE_OFFSET_AT(3)) != 41) return 3;
  REG64(STRETTO_DOORBELL_BASE + DOORBELL_PENDING_OFFSET) = 1u << 3;
  if ((CSR_READ(mip) & MIE_EXTERNAL) != 0) return 4;
  WFI();
  if (REG64(STRETTO_DOORBELL_BASE + DOORBELL_PENDING_OFFSET) != 1u << 9) return 5;
  if (REG64(STRETTO_DOORBELL_BASE + DOORBELL_VALUE_OFFSET_AT(9)) != 7) return 6;
  if ((REG64(STRETTO_UART_BASE + UART_STATUS_OFFSET) & UART_STATUS_TX_READY_MASK) == 0) return 7;
  put("two doorbells\nand a half line");
  return 0;
}
