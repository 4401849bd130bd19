// SPDX-License-Identifier: Apache-2.0
// Interrupt controller, doorbells and core-local interruptor: see intc.h.
#include "sw/firmware/hal/intc.h"

#include "sw/include/regs/cp_regs.h"  // Generated.

fw_result_t intc_enable(unsigned hart, unsigned line) {
  if (hart >= INTC_ENABLE_COUNT || line == 0 || line >= STRETTO_IRQ_COUNT)
    return STRETTO_ERROR_ARGUMENT;
  const uint64_t address = STRETTO_INTC_BASE + INTC_ENABLE_OFFSET_AT(hart);
  mmio_write64(address, mmio_read64(address) | 1ull << line);
  return STRETTO_OK;
}

unsigned intc_claim(unsigned hart) {
  return (unsigned)STRETTO_FIELD_GET(mmio_read64(STRETTO_INTC_BASE + INTC_CLAIM_OFFSET_AT(hart)),
                                     INTC_CLAIM_LINE);
}

void intc_complete(unsigned hart, unsigned line) {
  mmio_write64(STRETTO_INTC_BASE + INTC_CLAIM_OFFSET_AT(hart), line);
}

unsigned intc_node(void) {
  return (unsigned)STRETTO_FIELD_GET(mmio_read64(STRETTO_INTC_BASE + INTC_NODE_OFFSET),
                                     INTC_NODE_NODE);
}

uint32_t doorbell_take_pending(void) {
  const uint64_t pending = mmio_read64(STRETTO_DOORBELL_BASE + DOORBELL_PENDING_OFFSET);
  // Cleared before the values are read: a ring in between is seen again, never lost.
  if (pending != 0) mmio_write64(STRETTO_DOORBELL_BASE + DOORBELL_PENDING_OFFSET, pending);
  return (uint32_t)pending;
}

uint64_t doorbell_value(unsigned queue) {
  return mmio_read64(STRETTO_DOORBELL_BASE + DOORBELL_VALUE_OFFSET_AT(queue));
}

void clint_poke(unsigned hart) { mmio_write32(STRETTO_CLINT_BASE + CLINT_MSIP_OFFSET_AT(hart), 1); }

void clint_clear(unsigned hart) {
  mmio_write32(STRETTO_CLINT_BASE + CLINT_MSIP_OFFSET_AT(hart), 0);
}

uint64_t clint_now(void) { return mmio_read64(STRETTO_CLINT_BASE + CLINT_MTIME_OFFSET); }

void clint_alarm(unsigned hart, uint64_t at) {
  mmio_write64(STRETTO_CLINT_BASE + CLINT_MTIMECMP_OFFSET_AT(hart), at);
}

void clint_sleep(unsigned hart, uint64_t nanoseconds, uint64_t enabled) {
  const uint64_t compare = STRETTO_CLINT_BASE + CLINT_MTIMECMP_OFFSET_AT(hart);
  mmio_write64(compare, mmio_read64(STRETTO_CLINT_BASE + CLINT_MTIME_OFFSET) + nanoseconds);
  set_interrupt_enable(FW_MIE_TIMER);
  wait_for_interrupt();
  mmio_write64(compare, CLINT_MTIMECMP_RESET);
  set_interrupt_enable(enabled);
}
