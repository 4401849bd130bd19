// SPDX-License-Identifier: Apache-2.0
// What sw/net needs of the program that calls it, from a hart of the command processor: rings and
// completions lie in the memory of its GPU. Where no range is mapped the L1 alone is between hart and
// memory: stores are released before a device is told, loads acquire.
#ifndef STRETTO_SW_FIRMWARE_HAL_HART_OPS_H_
#define STRETTO_SW_FIRMWARE_HAL_HART_OPS_H_

#include "sw/driver/stretto_driver.h"

// write, wait, read, store and store_bytes; addresses and sizes are multiples of 8. The others are
// null.
extern const stretto_host_ops_t kHartOps;

#endif  // STRETTO_SW_FIRMWARE_HAL_HART_OPS_H_
