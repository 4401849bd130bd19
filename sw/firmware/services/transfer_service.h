// SPDX-License-Identifier: Apache-2.0
// Fills and copies, done by the DMA engine. Runs on hart 0.
#ifndef STRETTO_SW_FIRMWARE_SERVICES_TRANSFER_SERVICE_H_
#define STRETTO_SW_FIRMWARE_SERVICES_TRANSFER_SERVICE_H_

#include "sw/firmware/services/shared.h"

#ifdef __cplusplus
extern "C" {
#endif

// Starts a fill of memory of this GPU or a copy from it. STRETTO_ERROR_UNMAPPED: not in this GPU's
// memory, or the destination of a copy in no memory; STRETTO_ERROR_ARGUMENT: no bytes, or a fill
// not in multiples of 8; STRETTO_ERROR_TABLE_FULL: try again after a completion.
FW_MUST_CHECK fw_result_t transfer_service_fill(shared_t* shared, const stretto_fill_t* fill,
                                                job_t job);
FW_MUST_CHECK fw_result_t transfer_service_copy(shared_t* shared, const stretto_copy_t* copy,
                                                job_t job);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_SERVICES_TRANSFER_SERVICE_H_
