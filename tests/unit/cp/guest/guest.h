// SPDX-License-Identifier: Apache-2.0
// Frame of a guest program for the CP tests. guest_main(hart) runs on every hart; what it returns
// on hart 0 is reported to tohost: 0 = passed, n = check n failed. Other harts sleep when they
// return.
#ifndef STRETTO_TESTS_UNIT_CP_GUEST_GUEST_H_
#define STRETTO_TESTS_UNIT_CP_GUEST_GUEST_H_

#include <stdint.h>

#include "sw/include/formats/address_map.h"
#include "sw/include/regs/cp_regs.h"

volatile uint64_t tohost __attribute__((section(".tohost"), aligned(64)));

#define REG64(address) (*(volatile uint64_t*)(address))
#define REG32(address) (*(volatile uint32_t*)(address))
#define REG8(address) (*(volatile uint8_t*)(address))
#define MEMORY(offset) ((1ull << STRETTO_NODE_SHIFT) + (offset))  // Of GPU 0.

#define CSR_READ(name)                                               \
  ({                                                                 \
    uint64_t value_;                                                 \
    __asm__ volatile("csrr %0, " #name : "=r"(value_) : : "memory"); \
    value_;                                                          \
  })
#define CSR_WRITE(name, value) __asm__ volatile("csrw " #name ", %0" : : "r"(value) : "memory")
#define CSR_SET(name, bits) __asm__ volatile("csrs " #name ", %0" : : "r"(bits) : "memory")
#define ACQUIRE() __asm__ volatile("fence r, rw" : : : "memory")
#define RELEASE() __asm__ volatile("fence rw, w" : : : "memory")
#define WFI() __asm__ volatile("wfi" : : : "memory")

#define MIE_SOFTWARE (1u << 3)
#define MIE_TIMER (1u << 7)
#define MIE_EXTERNAL (1u << 11)
#define MSTATUS_MIE (1u << 3)

static inline void wait_until_ns(uint64_t ns) {
  while (CSR_READ(time) < ns) {
  }
}

int guest_main(uint64_t hart);

__attribute__((used)) static void guest_run(uint64_t hart) {
  const int failed = guest_main(hart);
  if (hart == 0) tohost = failed == 0 ? 1 : ((uint64_t)failed << 1) | 1;
  for (;;) {
    WFI();
  }
}

__asm__(
    ".section .text.start,\"ax\"\n"
    ".globl _start\n"
    "_start:\n"
    "  csrr a0, mhartid\n"
    "  la sp, guest_stacks\n"
    "  addi t0, a0, 1\n"
    "  slli t0, t0, 12\n"
    "  add sp, sp, t0\n"
    "  j guest_run\n"
    ".section .bss\n"
    ".align 4\n"
    "guest_stacks:\n"
    "  .skip 16384\n"
    ".text\n");

#endif  // STRETTO_TESTS_UNIT_CP_GUEST_GUEST_H_
