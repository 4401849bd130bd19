// SPDX-License-Identifier: Apache-2.0
// Memory-controller arbiters: one policy for all channels.
#ifndef STRETTO_SW_FIRMWARE_HAL_MCA_H_
#define STRETTO_SW_FIRMWARE_HAL_MCA_H_

#include <stdbool.h>

#include "sw/firmware/hal/mmio.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mca {
  uint64_t base;  // Of the broadcast window: a write reaches all channels.
} mca_t;

typedef struct mca_policy {
  uint32_t policy;        // MCA_CONTROL_POLICY_*.
  bool automatic;         // The arbiter chooses the limit from what it measures.
  uint32_t threshold;     // Limit if not automatic; 0 = none.
  uint32_t starve_limit;  // Memory clock cycles; 0 leaves it.
} mca_policy_t;

FW_MUST_CHECK fw_result_t mca_init(mca_t* mca);
// STRETTO_ERROR_ARGUMENT: unknown policy, or a limit of more than 127.
FW_MUST_CHECK fw_result_t mca_configure(const mca_t* mca, const mca_policy_t* policy);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_HAL_MCA_H_
