// SPDX-License-Identifier: Apache-2.0
// Console of the CP.
#ifndef STRETTO_SW_FIRMWARE_HAL_UART_H_
#define STRETTO_SW_FIRMWARE_HAL_UART_H_

#include "sw/firmware/hal/mmio.h"

#ifdef __cplusplus
extern "C" {
#endif

void uart_text(const char* text);
void uart_decimal(uint64_t value);
void uart_hex(uint64_t value);  // "0x" and no leading zeros.

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_HAL_UART_H_
