// SPDX-License-Identifier: Apache-2.0
// Question: does the register access layer of the interrupt controller write the right values in
// the order that the device needs, and refuse what it must? State space: one call on a fresh
// device; each guard once. Expected numbers are worked out by hand in the comments.
#include "sw/firmware/hal/intc.h"
#include "sw/include/regs/cp_regs.h"
#include "tests/unit/sw/hal/hal_test.h"

TEST_CASE("a line of the interrupt controller is enabled beside the others") {
  MockMmio mmio;
  mmio.expect_read(STRETTO_INTC_BASE + INTC_ENABLE_OFFSET_AT(1), 1 << 2);
  mmio.expect_write(STRETTO_INTC_BASE + INTC_ENABLE_OFFSET_AT(1), 1 << 2 | 1 << 3);
  CHECK(intc_enable(1, STRETTO_IRQ_DMA) == STRETTO_OK);
  CHECK(intc_enable(INTC_ENABLE_COUNT, STRETTO_IRQ_DMA) == STRETTO_ERROR_ARGUMENT);
  CHECK(intc_enable(0, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(intc_enable(0, STRETTO_IRQ_COUNT) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("doorbells are acknowledged before their values are read") {
  MockMmio mmio;
  mmio.expect_read(STRETTO_DOORBELL_BASE + DOORBELL_PENDING_OFFSET, 0x5);
  mmio.expect_write(STRETTO_DOORBELL_BASE + DOORBELL_PENDING_OFFSET, 0x5);
  mmio.expect_read(STRETTO_DOORBELL_BASE + DOORBELL_VALUE_OFFSET_AT(2), 7);
  CHECK(doorbell_take_pending() == 0x5);
  CHECK(doorbell_value(2) == 7);
}
