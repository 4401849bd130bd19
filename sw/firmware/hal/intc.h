// SPDX-License-Identifier: Apache-2.0
// The CP's own devices: interrupt controller, doorbells, core-local interruptor.
#ifndef STRETTO_SW_FIRMWARE_HAL_INTC_H_
#define STRETTO_SW_FIRMWARE_HAL_INTC_H_

#include "sw/firmware/hal/mmio.h"

#ifdef __cplusplus
extern "C" {
#endif

// Lets `line` interrupt `hart`. STRETTO_ERROR_ARGUMENT: no such hart or line.
FW_MUST_CHECK fw_result_t intc_enable(unsigned hart, unsigned line);
// The lowest pending line enabled for `hart`, claimed; 0 = none.
unsigned intc_claim(unsigned hart);
// REQUIRES: `line` was claimed by `hart` and its device is quiet, or it interrupts again at once.
void intc_complete(unsigned hart, unsigned line);
// Node of this GPU (g + 1).
unsigned intc_node(void);

// One bit a doorbell that was rung since the last call.
uint32_t doorbell_take_pending(void);
uint64_t doorbell_value(unsigned queue);

// Raises or clears the software interrupt of a hart.
void clint_poke(unsigned hart);
void clint_clear(unsigned hart);
// Sleeps for at least `nanoseconds`. Other interrupts stay pending. The caller's interrupt enables
// become `enabled`.
void clint_sleep(unsigned hart, uint64_t nanoseconds, uint64_t enabled);
// Nanoseconds since the start.
uint64_t clint_now(void);
// Raises the timer interrupt of a hart from `at` on; CLINT_NEVER: not at all.
#define CLINT_NEVER UINT64_MAX
void clint_alarm(unsigned hart, uint64_t at);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_HAL_INTC_H_
