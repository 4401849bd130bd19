// SPDX-License-Identifier: Apache-2.0
// Console of the CP: see uart.h. The transmitter is never busy.
#include "sw/firmware/hal/uart.h"

#include "sw/include/regs/cp_regs.h"  // Generated.

static void put(char c) { mmio_write64(STRETTO_UART_BASE + UART_TX_OFFSET, (uint8_t)c); }

void uart_text(const char* text) {
  for (; *text != '\0'; ++text) put(*text);
}

static void digits(uint64_t value, unsigned base) {
  char buffer[20];
  unsigned used = 0;
  do {
    buffer[used++] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  while (used != 0) put(buffer[--used]);
}

void uart_decimal(uint64_t value) { digits(value, 10); }

void uart_hex(uint64_t value) {
  uart_text("0x");
  digits(value, 16);
}
