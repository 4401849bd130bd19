// SPDX-License-Identifier: Apache-2.0
// What the switch adds on its way to this GPU: registers of the switch's port, posted stores over
// the link.
#ifndef STRETTO_SW_FIRMWARE_HAL_SWITCH_ADDER_H_
#define STRETTO_SW_FIRMWARE_HAL_SWITCH_ADDER_H_

#include "sw/firmware/hal/mmio.h"

#ifdef __cplusplus
extern "C" {
#endif

// Updates of [base, base + bytes) of this GPU, `gpu`, by `senders` others an address.
// STRETTO_ERROR_UNMAPPED: there is no switch; STRETTO_ERROR_ARGUMENT: a field out of range.
FW_MUST_CHECK fw_result_t switch_adder_set(unsigned gpu, uint64_t base, uint64_t bytes,
                                           uint32_t senders);
// Nothing any more. REQUIRES: set before.
void switch_adder_clear(unsigned gpu);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_HAL_SWITCH_ADDER_H_
