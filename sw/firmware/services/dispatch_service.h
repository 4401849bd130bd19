// SPDX-License-Identifier: Apache-2.0
// Kernel dispatches: from an AQL packet and the kernel's descriptor to a slot of the grid
// scheduler. Runs on hart 0.
#ifndef STRETTO_SW_FIRMWARE_SERVICES_DISPATCH_SERVICE_H_
#define STRETTO_SW_FIRMWARE_SERVICES_DISPATCH_SERVICE_H_

#include "sw/firmware/services/shared.h"

#ifdef __cplusplus
extern "C" {
#endif

// Launches the kernel. STRETTO_ERROR_ARGUMENT: grid, block range or order out of range;
// STRETTO_ERROR_UNMAPPED: arguments outside this GPU; STRETTO_ERROR_KERNEL: no descriptor;
// STRETTO_ERROR_RESOURCES: it needs more than a compute unit has; STRETTO_ERROR_TABLE_FULL: all
// slots run, try again after a completion.
FW_MUST_CHECK fw_result_t dispatch_service_start(shared_t* shared,
                                                 const stretto_dispatch_packet_t* packet,
                                                 job_t job);
// All of them as one pipeline, or none; STRETTO_ERROR_TABLE_FULL while another one waits,
// STRETTO_ERROR_RESOURCES if it can never be resident at once (with a console line that says of which
// member what). Each is completed as the job of the same index.
FW_MUST_CHECK fw_result_t dispatch_service_start_pipeline(shared_t* shared,
                                                          const stretto_packet_t* packets,
                                                          const job_t* jobs, uint32_t members);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_SERVICES_DISPATCH_SERVICE_H_
