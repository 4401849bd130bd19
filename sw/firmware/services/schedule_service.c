// SPDX-License-Identifier: Apache-2.0
// Priorities and preemption: see schedule_service.h. A stopped kernel keeps its slot, context and
// job; it goes on as a launch that skips what was placed (T2 of rtl/grid_scheduler/README.md).
#include "sw/firmware/services/schedule_service.h"

#include <stddef.h>

fw_result_t schedule_service_priority(shared_t* shared, uint32_t queue,
                                      const stretto_priority_t* priority) {
  if (shared == NULL || queue >= STRETTO_QUEUE_COUNT || priority == NULL ||
      priority->priority >= STRETTO_PRIORITIES)
    return STRETTO_ERROR_ARGUMENT;
  shared->queues_of[shared->priority[queue]] &= ~(1u << queue);
  shared->queues_of[priority->priority] |= 1u << queue;
  shared->priority[queue] = priority->priority;
  if (priority->priority > shared->highest_priority) shared->highest_priority = priority->priority;
  return STRETTO_OK;
}

fw_result_t schedule_service_policy(const shared_t* shared,
                                    const stretto_scheduler_policy_t* policy) {
  if (shared == NULL || policy == NULL || policy->in_order > 1 || policy->two_arbiters > 1)
    return STRETTO_ERROR_ARGUMENT;
  grid_control_set_policy(&shared->scheduler, policy->in_order != 0, policy->two_arbiters != 0);
  return STRETTO_OK;
}

fw_result_t schedule_service_preempt(shared_t* shared, const stretto_preempt_t* preempt,
                                     job_t job) {
  if (shared == NULL || preempt == NULL || preempt->queue >= STRETTO_QUEUE_COUNT ||
      preempt->queue == job.queue)
    return STRETTO_ERROR_ARGUMENT;
  if ((shared->queues_stopped & 1u << preempt->queue) != 0) return STRETTO_ERROR_STATE;
  if (shared->stops_started != shared->stops_ended) return STRETTO_ERROR_TABLE_FULL;
  uint32_t slots = 0;
  for (uint32_t slot = 0; slot < GRID_SLOTS; ++slot) {
    // Read once: hart 1 may add to them.
    const uint32_t ended = shared->slots_ended[slot];
    const uint32_t stopped = shared->slots_stopped[slot];
    if (shared->slots_started[slot] == ended || shared->slots_resumed[slot] != stopped ||
        shared->slot_jobs[slot].queue != preempt->queue)
      continue;
    slots |= 1u << slot;
    shared->stop_seen[slot] = ended + stopped;
  }
  shared->queues_stopped |= 1u << preempt->queue;
  shared->stop_slots = slots;
  shared->stop_job = job;
  ++shared->started[job.queue];
  fence_release();
  shared->stops_started = shared->stops_started + 1;
  fw_result_t result = STRETTO_OK;
  for (uint32_t slot = 0; slot < GRID_SLOTS && result == STRETTO_OK; ++slot) {
    if ((slots & 1u << slot) != 0) result = grid_control_preempt(&shared->scheduler, slot, false);
  }
  return result;
}

// Whether the kernel of a slot belongs to the queue and was stopped.
static bool is_stopped(const shared_t* shared, uint32_t slot, uint32_t queue) {
  return shared->slots_stopped[slot] != shared->slots_resumed[slot] &&
         shared->slot_jobs[slot].queue == queue;
}

// Of a pipeline all members have stopped, before one was placed, or none has.
static fw_result_t relaunch(const shared_t* shared, uint32_t slots) {
  grid_job_t jobs[GRID_SLOTS];
  uint32_t members = 0;
  for (uint32_t slot = 0; slot < GRID_SLOTS; ++slot) {
    if ((slots & 1u << slot) != 0) jobs[members++] = shared->slot_work[slot];
  }
  return grid_control_launch_pipeline(&shared->scheduler, jobs, members);
}

fw_result_t schedule_service_resume(shared_t* shared, const stretto_preempt_t* preempt) {
  if (shared == NULL || preempt == NULL || preempt->queue >= STRETTO_QUEUE_COUNT)
    return STRETTO_ERROR_ARGUMENT;
  const uint32_t bit = 1u << preempt->queue;
  if ((shared->queues_stopped & bit) == 0) return STRETTO_ERROR_STATE;
  if (shared->stops_started != shared->stops_ended) return STRETTO_ERROR_TABLE_FULL;
  for (uint32_t slot = 0; slot < GRID_SLOTS; ++slot) {
    if (is_stopped(shared, slot, preempt->queue) && shared->slot_pipeline[slot] != 0 &&
        grid_control_pipeline_waits(&shared->scheduler))
      return STRETTO_ERROR_TABLE_FULL;
  }
  shared->queues_stopped &= ~bit;
  fw_result_t result = STRETTO_OK;
  for (uint32_t slot = 0; slot < GRID_SLOTS && result == STRETTO_OK; ++slot) {
    if (!is_stopped(shared, slot, preempt->queue)) continue;
    const uint32_t pipeline = shared->slot_pipeline[slot];
    grid_job_t* work = &shared->slot_work[slot];
    work->skip = work->launch.count - shared->slot_undispatched[slot];
    shared->slots_resumed[slot] = shared->slots_stopped[slot];
    fence_release();
    if (pipeline == 0) {
      result = grid_control_launch(&shared->scheduler, work);
    } else if (pipeline >> slot == 1) {  // Its last member.
      result = relaunch(shared, pipeline);
    }
  }
  return result;
}
