// SPDX-License-Identifier: Apache-2.0
// Bare-metal self-test of the command processor: console, timer interrupts that end WFI, software
// interrupt between the harts, traps, and the L1's release and acquire on GPU memory. Ends with
// tohost = 1, or (number of the check << 1) | 1.
#include "sw/firmware/hal/end_run.h"
#include "sw/firmware/hal/intc.h"
#include "sw/firmware/hal/uart.h"
#include "sw/include/regs/cp_regs.h"  // Generated.

#define MSTATUS_MIE (1u << 3)
#define CAUSE_INTERRUPT (1ull << 63)
#define CAUSE_TIMER (CAUSE_INTERRUPT | 7)
#define CAUSE_ILLEGAL 2
#define TICK_NS 2000
#define TICKS 3
#define SCRATCH_OFFSET 0x200000  // In GPU memory, beyond the system's MiB.

volatile uint32_t boot_done;  // Read by crt0: lets hart 1 in.

static volatile uint32_t ticks;       // Written by the handler.
static volatile uint32_t traps;       // Written by the handler.
static volatile uint32_t hart1_said;  // Written by hart 1.

static void check(unsigned number, int passed, const char* what) {
  uart_text(passed ? "selftest: ok: " : "selftest: failed: ");
  uart_text(what);
  uart_text("\n");
  if (!passed) end_run(((uint64_t)number << 1) | 1);
}

static void set_timer(uint64_t at) {
  mmio_write64(STRETTO_CLINT_BASE + CLINT_MTIMECMP_OFFSET_AT(0), at);
}

static uint64_t now(void) { return mmio_read64(STRETTO_CLINT_BASE + CLINT_MTIME_OFFSET); }

__attribute__((interrupt, aligned(4))) static void handler(void) {
  uint64_t cause, pc;
  __asm__ volatile("csrr %0, mcause\n\tcsrr %1, mepc" : "=r"(cause), "=r"(pc));
  if (cause == CAUSE_TIMER) {
    ticks = ticks + 1;
    set_timer(ticks < TICKS ? now() + TICK_NS : CLINT_MTIMECMP_RESET);
  } else if (cause == CAUSE_ILLEGAL) {
    traps = traps + 1;
    __asm__ volatile("csrw mepc, %0" : : "r"(pc + 4));
  } else {
    end_run((99u << 1) | 1);
  }
}

void trap(uint64_t cause, uint64_t pc, uint64_t value, uint64_t hart) {
  (void)pc, (void)value, (void)hart;
  end_run(((100 + cause) << 1) | 1);
}

static void hart1(void) {
  clint_clear(1);
  hart1_said = 1;
  clint_poke(0);
  set_interrupt_enable(0);
  for (;;) wait_for_interrupt();
}

void firmware_main(uint64_t hart) {
  if (hart != 0) hart1();
  __asm__ volatile("csrw mtvec, %0" : : "r"(handler));

  const uint64_t begin = now();
  set_timer(begin + TICK_NS);
  set_interrupt_enable(FW_MIE_TIMER);
  __asm__ volatile("csrs mstatus, %0" : : "r"(MSTATUS_MIE));
  while (ticks < TICKS) wait_for_interrupt();
  check(1, now() >= begin + TICKS * TICK_NS, "timer interrupts end WFI in time");

  __asm__ volatile(".balign 4\n\t.4byte 0xFFFFFFFF");
  check(2, traps == 1, "an illegal instruction traps and returns");

  __asm__ volatile("csrc mstatus, %0" : : "r"(MSTATUS_MIE));
  set_interrupt_enable(FW_MIE_SOFTWARE);
  boot_done = 1;
  clint_poke(1);
  while (!hart1_said) wait_for_interrupt();
  clint_clear(0);
  check(3, hart1_said == 1, "the harts interrupt each other");

  const unsigned node = intc_node();
  if (node != 0) {
    const uint64_t word = ((uint64_t)node << STRETTO_NODE_SHIFT) + SCRATCH_OFFSET;
    mmio_write64(word, 0x0123456789ABCDEFull);
    fence_release();
    fence_acquire();
    check(4, mmio_read64(word) == 0x0123456789ABCDEFull, "GPU memory keeps what was released");
    uint64_t old;
    __asm__ volatile("amoadd.d.aqrl %0, %1, (%2)" : "=r"(old) : "r"(1ull), "r"(word) : "memory");
    fence_acquire();
    check(5, old == 0x0123456789ABCDEFull && mmio_read64(word) == old + 1,
          "an atomic reaches GPU memory");
  }
  end_run(1);
}
