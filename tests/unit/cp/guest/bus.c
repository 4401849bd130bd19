// SPDX-License-Identifier: Apache-2.0
// Writes and reads the registers of a test device in a fixed order, then asks for what is not
// there.
#include "guest.h"

static volatile uint64_t traps;
static volatile uint64_t last_cause;
static volatile uint64_t last_value;

// Skips the faulting instruction (all of them are four bytes long here).
__attribute__((interrupt, aligned(4))) static void on_trap(void) {
  ++traps;
  last_cause = CSR_READ(mcause);
  last_value = CSR_READ(mtval);
  CSR_WRITE(mepc, CSR_READ(mepc) + 4);
}

static uint64_t load(uint64_t address) {
  uint64_t value;
  __asm__ volatile(".option push\n.option norvc\nld %0, 0(%1)\n.option pop"
                   : "=r"(value)
                   : "r"(address)
                   : "memory");
  return value;
}
static void store(uint64_t address, uint64_t value) {
  __asm__ volatile(".option push\n.option norvc\nsd %0, 0(%1)\n.option pop"
                   :
                   : "r"(value), "r"(address)
                   : "memory");
}

static int expect_trap(uint64_t count, uint64_t cause, uint64_t value) {
  return traps == count && last_cause == cause && last_value == value;
}

int guest_main(uint64_t hart) {
  if (hart != 0) return 0;
  CSR_WRITE(mtvec, (uint64_t)&on_trap);
  REG64(STRETTO_DMA_BASE + 0x10) = 1;
  REG32(STRETTO_DMA_BASE + 0x8) = 2;
  if (REG64(STRETTO_DMA_BASE + 0x10) != 0x1010) return 1;  // The device answers 0x1000 + offset.
  REG64(STRETTO_DMA_BASE) = 3;
  if (REG8(STRETTO_DMA_BASE + 0x18) != 0x18) return 2;
  if (traps != 0) return 3;
  load(STRETTO_LINK_BASE);
  if (!expect_trap(1, 5, STRETTO_LINK_BASE)) return 4;  // Nobody there: load access fault.
  store(STRETTO_LINK_BASE + 8, 0);
  if (!expect_trap(2, 7, STRETTO_LINK_BASE + 8)) return 5;
  load(STRETTO_DMA_BASE + 4);
  if (!expect_trap(3, 4, STRETTO_DMA_BASE + 4)) return 6;  // Misaligned.
  load(STRETTO_UART_BASE + 0x100);
  if (!expect_trap(4, 5, STRETTO_UART_BASE + 0x100)) return 7;
  load(MEMORY(0x80000000));
  if (!expect_trap(5, 5, MEMORY(0x80000000))) return 8;  // The memory answers with an error.
  load(MEMORY(0x103C));
  if (!expect_trap(6, 4, MEMORY(0x103C))) return 9;  // Over the end of a line.
  load((uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT);
  if (!expect_trap(7, 5, (uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT)) return 10;
  store(((uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT) + 0x40, 77);
  if (traps != 7) return 11;
  return 0;
}
