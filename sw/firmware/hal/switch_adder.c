// SPDX-License-Identifier: Apache-2.0
// Adder of the switch: see switch_adder.h.
#include "sw/firmware/hal/switch_adder.h"

#include "sw/include/regs/link_regs.h"  // Generated.

static uint64_t switch_register(uint64_t offset) {
  return ((uint64_t)STRETTO_NODE_SWITCH << STRETTO_NODE_SHIFT) + offset;
}

fw_result_t switch_adder_set(unsigned gpu, uint64_t base, uint64_t bytes, uint32_t senders) {
  if (gpu >= SWITCH_ADD_BASE_COUNT || bytes > SWITCH_ADD_LENGTH_BYTES_MASK ||
      senders > SWITCH_ADD_PARTS_SENDERS_MASK)
    return STRETTO_ERROR_ARGUMENT;
  const uint64_t route =
      mmio_read64(STRETTO_LINK_BASE + LINK_ROUTE_OFFSET_AT((uint64_t)STRETTO_NODE_SWITCH));
  if ((route & LINK_ROUTE_VALID_MASK) == 0) return STRETTO_ERROR_UNMAPPED;
  switch_adder_clear(gpu);  // Nothing is added to half a range.
  mmio_write64(switch_register(SWITCH_ADD_BASE_OFFSET_AT(gpu)), base);
  mmio_write64(switch_register(SWITCH_ADD_LENGTH_OFFSET_AT(gpu)), bytes);
  mmio_write64(switch_register(SWITCH_ADD_PARTS_OFFSET_AT(gpu)), senders);
  return STRETTO_OK;
}

void switch_adder_clear(unsigned gpu) {
  mmio_write64(switch_register(SWITCH_ADD_PARTS_OFFSET_AT(gpu)), 0);
}
