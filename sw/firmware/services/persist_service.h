// SPDX-License-Identifier: Apache-2.0
// What stays in the L2: its share for pinned ranges, and these ranges. The registers hold both.
// Runs on hart 0.
#ifndef STRETTO_SW_FIRMWARE_SERVICES_PERSIST_SERVICE_H_
#define STRETTO_SW_FIRMWARE_SERVICES_PERSIST_SERVICE_H_

#include "sw/firmware/services/shared.h"

#ifdef __cplusplus
extern "C" {
#endif

// STRETTO_ERROR_ARGUMENT: a limit that the L2 cannot keep (with a console line that says what it
// can), a range that is not of whole lines, an unknown action. STRETTO_ERROR_UNMAPPED: not memory of
// this GPU, or nothing is pinned there. STRETTO_ERROR_OVERLAP, STRETTO_ERROR_TABLE_FULL: of ranges.
FW_MUST_CHECK fw_result_t persist_service(const shared_t* shared,
                                          const stretto_l2_persist_t* persist);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_SERVICES_PERSIST_SERVICE_H_
