// SPDX-License-Identifier: Apache-2.0
// How a program of the command processor ends the run.
#ifndef STRETTO_SW_FIRMWARE_HAL_END_RUN_H_
#define STRETTO_SW_FIRMWARE_HAL_END_RUN_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Stores `value` to `tohost`: 1 = all is well, else (code << 1) | 1.
__attribute__((noreturn)) void end_run(uint64_t value);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_HAL_END_RUN_H_
