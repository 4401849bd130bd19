// SPDX-License-Identifier: Apache-2.0
// Network service (ComP-Net 4.2.1): harts serve the command queues of work-groups
// (sw/net/queue_service.h) beside packets and interrupts. They share nothing but start and stop.
//
// While it runs, harts do not sleep: both go round their queues until an interrupt is pending,
// serve that as ever, and go on. Who starts nothing pays nothing.
#ifndef STRETTO_SW_FIRMWARE_SERVICES_NET_SERVICE_H_
#define STRETTO_SW_FIRMWARE_SERVICES_NET_SERVICE_H_

#include "sw/firmware/services/shared.h"

#ifdef __cplusplus
extern "C" {
#endif

// Hart 0. STRETTO_ERROR_UNMAPPED: the table, or what it names, is not memory of this GPU.
// STRETTO_ERROR_ARGUMENT: a number in it is out of range. STRETTO_ERROR_STATE: it runs already.
FW_MUST_CHECK fw_result_t net_service_start(shared_t* shared, uint64_t table);
// Hart 0, for as long as it is refused with STRETTO_ERROR_TABLE_FULL: something that was taken has
// not ended. STRETTO_ERROR_STATE: it does not run.
FW_MUST_CHECK fw_result_t net_service_stop(shared_t* shared);

// Whether this hart has rounds to make: from start until all that it took before the stop has
// ended.
bool net_service_runs(const shared_t* shared, unsigned hart);
// Makes rounds until an enabled interrupt is pending, `until` (CLINT_NEVER: nothing) has come, or
// there are none to make.
void net_service_serve(const shared_t* shared, unsigned hart, uint64_t until);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_SERVICES_NET_SERVICE_H_
