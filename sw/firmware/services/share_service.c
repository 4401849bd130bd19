// SPDX-License-Identifier: Apache-2.0
// See share_service.h.
//
// FIRMWARE_NO_STOP builds an image that stops nothing, for the test that such a run is found out.
#include "sw/firmware/services/share_service.h"

#include <stddef.h>

#include "sw/firmware/hal/intc.h"
#include "sw/firmware/services/report.h"
#include "sw/firmware/services/schedule_service.h"

#define ALL_QUEUES ((1u << STRETTO_QUEUE_COUNT) - 1)

static uint32_t first_of(uint32_t queues) {
  uint32_t queue = 0;
  while ((queues >> queue & 1u) == 0) ++queue;
  return queue;
}

fw_result_t share_service_configure(share_t* share, shared_t* shared,
                                    const stretto_share_t* config) {
  if (share == NULL || shared == NULL || config == NULL) return STRETTO_ERROR_ARGUMENT;
  const bool ends = (config->high | config->best_effort) == 0;
  if (!ends &&
      (config->high == 0 || config->best_effort == 0 || (config->high & config->best_effort) != 0 ||
       ((config->high | config->best_effort) & ~ALL_QUEUES) != 0))
    return STRETTO_ERROR_ARGUMENT;
  if (share->stopped) {
    const fw_result_t result = schedule_service_go_on(shared, share->best_effort);
    if (result != STRETTO_OK) return result;
  }
  shared->queues_stopped &= ~share->best_effort;
  *share = (share_t){.policy = tally_policy_defaults(),
                     .high = config->high,
                     .best_effort = config->best_effort,
                     .high_idle_since = clint_now()};
  share->policy.min_idle_before_best_effort_ns = config->min_idle_ns;
  if (!ends) schedule_service_expect_drains(shared);
  return STRETTO_OK;
}

static bool is_active(const shared_t* shared, uint32_t queues) {
  for (uint32_t queue = 0; queues != 0; queues >>= 1, ++queue) {
    if ((queues & 1u) != 0 && shared->started[queue] != shared->completed[queue]) return true;
  }
  return false;
}

// Of queues those that have a kernel on the GPU.
static uint32_t running(const shared_t* shared, uint32_t queues) {
  uint32_t with = 0;
  for (uint32_t slot = 0; slot < shared->slots_used; ++slot) {
    const uint32_t bit = 1u << shared->slot_jobs[slot].queue;
    if ((queues & bit) != 0 && shared->slots_started[slot] != shared->slots_ended[slot])
      with |= bit;
  }
  return with;
}

// First of all: each clock until then may place a work-group.
static void stop(share_t* share, shared_t* shared) {
#ifdef FIRMWARE_NO_STOP
  (void)share, (void)shared;
  return;
#endif
  const job_t job = {.queue = first_of(share->best_effort)};
  if (schedule_service_stop(shared, share->best_effort, true, job) != STRETTO_OK) return;
  share->stopped = true;
  clint_poke(COMPLETION_HART);  // It may have been nothing.
}

void share_service_rung(share_t* share, shared_t* shared, uint32_t rung) {
  if ((rung & share->high) == 0) return;
  share->high_active = true;
  if (!share->stopped) stop(share, shared);
}

uint64_t share_service_run(share_t* share, shared_t* shared, uint32_t rung) {
  if (share->high == 0) return CLINT_NEVER;
  const bool active = (rung & share->high) != 0 || is_active(shared, share->high);
  if (active && !share->stopped) stop(share, shared);
  if (!active && share->high_active) share->high_idle_since = clint_now();
  share->high_active = active;
  const tally_situation_t situation = {
      .now_ns = active ? 0 : clint_now(),
      .high_active = active,
      .high_idle_since_ns = share->high_idle_since,
      .waiting = share->stopped,
  };
  const tally_decision_t decision = tally_decide(&share->policy, &situation);
  if (decision.action == TALLY_START || decision.action == TALLY_START_ORIGINAL) {
    heed(shared);  // Instead of stopping it at once.
    // Not while it is still being stopped: hart 1 says when it has been.
    if (!share->high_active && schedule_service_go_on(shared, share->best_effort) == STRETTO_OK)
      share->stopped = false;
  }
  if (!share
           ->stopped) {  // One kernel at a time (TL-SCHED-08); who is behind whom, the queues know.
    const uint32_t with = running(shared, share->best_effort);
    shared->queues_stopped &= ~share->best_effort;
    if (with != 0) shared->queues_stopped |= share->best_effort & ~with;
  }
  return decision.action == TALLY_HOLD ? decision.until_ns : CLINT_NEVER;
}
