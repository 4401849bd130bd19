// SPDX-License-Identifier: Apache-2.0
// Sets up the request ring for kernels that send by themselves: the ring and its window,
// connections, buffers; and reports what the ring refused. Packets run on hart 0, the interrupt on
// hart 1.
#ifndef STRETTO_SW_FIRMWARE_SERVICES_RING_SERVICE_H_
#define STRETTO_SW_FIRMWARE_SERVICES_RING_SERVICE_H_

#include "sw/firmware/services/trigger_service.h"

#ifdef __cplusplus
extern "C" {
#endif

// STRETTO_ERROR_UNMAPPED: replica or flags are not memory of this GPU; STRETTO_ERROR_ARGUMENT: not
// multiples of 8; STRETTO_ERROR_STATE: requests are under way, or tiles are mapped.
FW_MUST_CHECK fw_result_t ring_service_start(trigger_service_t* trigger,
                                             const stretto_ring_config_t* config);
// STRETTO_ERROR_UNMAPPED: the receive flags are not memory of the peer.
FW_MUST_CHECK fw_result_t ring_service_connection(const shared_t* shared,
                                                  const stretto_ring_connection_t* connection);
// STRETTO_ERROR_UNMAPPED: not memory of one GPU; STRETTO_ERROR_ARGUMENT: see
// request_ring_set_buffer.
FW_MUST_CHECK fw_result_t ring_service_buffer(uint32_t flags, const stretto_ring_buffer_t* buffer);
// Ends the run with a report if the ring has an error.
void ring_service_irq(void);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_SERVICES_RING_SERVICE_H_
