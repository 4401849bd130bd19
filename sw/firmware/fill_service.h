// SPDX-License-Identifier: Apache-2.0
// Fills: the DMA engine writes a pattern over memory of this GPU. Runs on hart 0.
#ifndef STRETTO_SW_FIRMWARE_FILL_SERVICE_H_
#define STRETTO_SW_FIRMWARE_FILL_SERVICE_H_

#include "sw/firmware/shared.h"

#ifdef __cplusplus
extern "C" {
#endif

// Starts a fill. STRETTO_ERROR_UNMAPPED: not in this GPU's memory; STRETTO_ERROR_ARGUMENT: not in
// multiples of 8; STRETTO_ERROR_TABLE_FULL: try again after a completion.
FW_MUST_CHECK fw_result_t fill_service_start(shared_t* shared, const stretto_fill_t* fill,
                                             job_t job);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_FILL_SERVICE_H_
