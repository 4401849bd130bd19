// SPDX-License-Identifier: Apache-2.0
// Tally in the command processor: the policy of sw/tally/policy.h decides from doorbells and completions when
// kernels of best-effort queues run. They are stopped by the grid scheduler, unmodified (TL-ARCH-04). Runs on
// hart 0, whenever a doorbell, a completion or the alarm has woken it, and behind each packet.
#ifndef STRETTO_SW_FIRMWARE_SERVICES_SHARE_SERVICE_H_
#define STRETTO_SW_FIRMWARE_SERVICES_SHARE_SERVICE_H_

#include "sw/firmware/services/shared.h"
#include "sw/tally/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct share {
  tally_policy_t policy;
  uint32_t high;  // Queues, one bit each; 0: nothing is shared.
  uint32_t best_effort;
  bool high_active;
  uint64_t high_idle_since;
  bool stopped;  // Best effort, until it goes on.
} share_t;

// Nothing is shared. The rest of `share` may hold anything.
static inline void share_service_init(share_t* share) {
  share->high = share->best_effort = 0;
  share->stopped = false;
}
// STRETTO_ERROR_ARGUMENT: queues that are not there or in both. STRETTO_ERROR_TABLE_FULL: best effort was
// stopped and cannot go on now.
FW_MUST_CHECK fw_result_t share_service_configure(share_t* share, shared_t* shared,
                                                  const stretto_share_t* config);
// Queues that were rung: stops best effort for those of high priority.
void share_service_rung(share_t* share, shared_t* shared, uint32_t rung);
// `rung`: queues with packets that were not taken. Returns when to look again without news, or CLINT_NEVER.
uint64_t share_service_run(share_t* share, shared_t* shared, uint32_t rung);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_SERVICES_SHARE_SERVICE_H_
