// SPDX-License-Identifier: Apache-2.0
// Priorities and preemption: see schedule_service.h. A stopped kernel keeps its slot, context and
// job; it goes on as a launch that skips what was placed (T2 of rtl/grid_scheduler/README.md). What
// a drain has brought back is mostly what was placed last, and then skipped less; other ids are
// launched first, a run of neighbours at a time in the same slot (T3).
#include "sw/firmware/services/schedule_service.h"

#include <stddef.h>

#include "sw/firmware/hal/intc.h"
#include "sw/firmware/services/report.h"

// What a kernel has left, by position in its order: all from `tail` on, and of [first, end) those
// whose bit is set. Room for more than the work-groups that a GPU holds, 160 units of 40. Only the
// words of [first, end) are valid; the first drain sets up the rest.
#define LEFT_WORDS 128u
typedef struct left {
  uint32_t tail;
  uint32_t first, end;
  uint64_t bits[LEFT_WORDS];
} left_t;
static left_t slot_left[GRID_SLOTS] FW_NOINIT;

// Of a kernel that has been suspended the front end knows what is left (context_resume of gpu.yaml):
// positions from `placed` on have never been placed, of those before the lowest that came back counts.
typedef struct saved {
  uint32_t kernel;  // Which of the slot's, by slots_started.
  uint32_t placed;
  uint32_t first;
} saved_t;
static saved_t slot_saved[GRID_SLOTS] FW_NOINIT;  // Of shared->slots_with_area.

static bool is_saved(const shared_t* shared, uint32_t slot) {
  return (shared->slots_with_area & 1u << slot) != 0 &&
         slot_saved[slot].kernel == shared->slots_started[slot];
}

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
  if (shared == NULL || policy == NULL || policy->in_order > 1 || policy->two_arbiters > 1 ||
      policy->strict_priority > 1)
    return STRETTO_ERROR_ARGUMENT;
  grid_control_set_policy(&shared->scheduler, policy->in_order != 0, policy->two_arbiters != 0,
                          policy->strict_priority != 0);
  return STRETTO_OK;
}

void schedule_service_expect_drains(shared_t* shared) {
  if (shared->drains) return;
  for (uint32_t of = 0; of < GRID_SLOTS; ++of) slot_left[of].first = slot_left[of].end = 0;
  shared->drains = shared->attends = true;
}

// Where states of the slot's kernel go from now on; 0 bytes: nowhere.
static void set_save_area(shared_t* shared, uint32_t slot, uint64_t base, uint64_t bytes) {
  if (is_saved(shared, slot) && bytes == 0) return;  // What is suspended waits there.
  if (!is_saved(shared, slot))
    slot_saved[slot] =
        (saved_t){.kernel = shared->slots_started[slot], .placed = 0, .first = UINT32_MAX};
  shared->slots_with_area &= ~(1u << slot);
  if (bytes != 0) shared->slots_with_area |= 1u << slot;
  gpu_set_save_area(&shared->gpu, slot, base, bytes);
}

static fw_result_t stop(shared_t* shared, uint32_t queues, bool drain, uint64_t save_base,
                        uint64_t save_bytes, job_t job) {
  if (shared->stops_started != shared->stops_ended) return STRETTO_ERROR_TABLE_FULL;
  uint32_t slots = 0;
  for (uint32_t slot = 0; slot < shared->slots_used; ++slot) {
    // Read once: hart 1 may add to them.
    const uint32_t ended = shared->slots_ended[slot];
    const uint32_t stopped = shared->slots_stopped[slot];
    if (shared->slots_started[slot] == ended || shared->slots_resumed[slot] != stopped ||
        (queues & 1u << shared->slot_jobs[slot].queue) == 0)
      continue;
    slots |= 1u << slot;
    shared->stop_seen[slot] = ended + stopped;
  }
  shared->queues_stopped |= queues;
  shared->stop_slots = slots;
  shared->stop_job = job;
  ++shared->started[job.queue];
  fence_release();
  shared->stops_started = shared->stops_started + 1;
  fw_result_t result = STRETTO_OK;
  for (uint32_t slot = 0; slot < shared->slots_used && result == STRETTO_OK; ++slot) {
    if ((slots & 1u << slot) == 0) continue;
    const bool drains = drain && shared->slot_pipeline[slot] == 0;
    if (drains) schedule_service_expect_drains(shared);
    if (drains && (save_bytes != 0 || (shared->slots_with_area & 1u << slot) != 0))
      set_save_area(shared, slot, save_base, save_bytes);
    result = grid_control_preempt(&shared->scheduler, slot, drains);
  }
  return result;
}

fw_result_t schedule_service_stop(shared_t* shared, uint32_t queues, bool drain, job_t job) {
  return stop(shared, queues, drain, 0, 0, job);
}

fw_result_t schedule_service_suspend(shared_t* shared, uint32_t queues, uint64_t save_base,
                                     uint64_t save_bytes, job_t job) {
  return stop(shared, queues, true, save_base, save_bytes, job);
}

fw_result_t schedule_service_preempt(shared_t* shared, const stretto_preempt_t* preempt,
                                     job_t job) {
  if (shared == NULL || preempt == NULL || preempt->queue >= STRETTO_QUEUE_COUNT ||
      preempt->queue == job.queue || preempt->drain > 1)
    return STRETTO_ERROR_ARGUMENT;
  if ((shared->queues_stopped & 1u << preempt->queue) != 0) return STRETTO_ERROR_STATE;
  return schedule_service_stop(shared, 1u << preempt->queue, preempt->drain != 0, job);
}

// Whether the kernel of a slot belongs to one of the queues and was stopped.
static bool is_stopped(const shared_t* shared, uint32_t slot, uint32_t queues) {
  return shared->slots_stopped[slot] != shared->slots_resumed[slot] &&
         (queues & 1u << shared->slot_jobs[slot].queue) != 0;
}

static uint64_t* word_of(left_t* left, uint32_t position) {
  return &left->bits[position / 64 % LEFT_WORDS];
}

static bool is_left(left_t* left, uint32_t position) {
  return (*word_of(left, position) >> position % 64 & 1) != 0;
}

static void set_left(left_t* left, uint32_t position) {
  if (left->first == left->end) {
    left->first = left->end = position;
    *word_of(left, position) = 0;
  }
  uint32_t low = left->first / 64, high = (left->end - (left->end != left->first)) / 64;
  while (position / 64 < low) left->bits[--low % LEFT_WORDS] = 0;
  while (position / 64 > high) left->bits[++high % LEFT_WORDS] = 0;
  FW_ASSERT(high - low < LEFT_WORDS);
  if (position < left->first) left->first = position;
  if (position >= left->end) left->end = position + 1;
  *word_of(left, position) |= 1ull << position % 64;
}

// The highest one that is left apart from the tail joins it, if it is its neighbour.
static bool join_tail(left_t* left) {
  while (left->end != left->first && !is_left(left, left->end - 1)) --left->end;
  while (left->end != left->first && !is_left(left, left->first)) ++left->first;
  if (left->end == left->first || left->end != left->tail) return false;
  --left->tail;
  --left->end;
  *word_of(left, left->end) &= ~(1ull << left->end % 64);
  return true;
}

// Notes what hart 1 has taken.
static void note_returned(shared_t* shared) {
  while (shared->returned_used != shared->returned_taken) {
    const returned_t returned = returned_ring[shared->returned_used % RETURNED];
    const grid_launch_t* launch = &shared->slot_work[returned.slot].launch;
    const uint64_t behind = (uint64_t)(returned.id - launch->first) + launch->count - launch->start;
    const uint32_t position = (uint32_t)(behind % launch->count);
    if (!is_saved(shared, returned.slot)) {
      set_left(&slot_left[returned.slot], position);
    } else if (position < slot_saved[returned.slot].first) {
      slot_saved[returned.slot].first = position;
    }
    shared->returned_used = shared->returned_used + 1;
  }
}

// The next launch of a suspended kernel: from the first that is left on.
static grid_job_t next_saved(shared_t* shared, uint32_t slot) {
  grid_job_t job = shared->slot_work[slot];
  saved_t* saved = &slot_saved[slot];
  const uint32_t placed = job.launch.count - shared->slot_undispatched[slot];
  if (placed > saved->placed) saved->placed = placed;
  job.skip = saved->first < placed ? saved->first : placed;
  saved->first = UINT32_MAX;
  gpu_set_resume(&shared->gpu, slot, saved->placed - job.skip);
  return job;
}

// The next launch of a stopped kernel: a run of ids that came back, or all that was never placed.
static grid_job_t next_of(shared_t* shared, uint32_t slot) {
  grid_job_t job = shared->slot_work[slot];
  const uint32_t count = job.launch.count;
  left_t* left = &slot_left[slot];
  const uint32_t end = shared->slot_end[slot], undispatched = shared->slot_undispatched[slot];
  shared->slots_with_more &= ~(1u << slot);
  shared->slot_end[slot] = 0;
  if (!shared->drains) {
    job.skip = count - undispatched;
    return job;
  }
  if (end == 0) left->tail = count - undispatched;
  for (uint32_t position = end - undispatched; end != 0 && position < end; ++position)
    set_left(left, position);
  while (join_tail(left)) continue;
  if (left->first == left->end) {
    job.skip = left->tail;
    return job;
  }
  const uint32_t from = left->first;
  const uint32_t id = (uint32_t)(((uint64_t)job.launch.start + from) % count);
  uint32_t run = 0;
  for (; left->first != left->end && is_left(left, left->first) && id + run < count; ++run) {
    *word_of(left, left->first) &= ~(1ull << left->first % 64);
    ++left->first;
  }
  shared->slot_end[slot] = from + run;
  if (left->first != left->end || left->tail != count) shared->slots_with_more |= 1u << slot;
  job.launch.first += id;
  job.launch.count = run;
  job.launch.start = 0;
  job.gated = id;
  return job;
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

// Launches what is left of stopped kernels, or the next part of it, of all queues that are not
// stopped.
static fw_result_t go_on(shared_t* shared) {
  fw_result_t result = STRETTO_OK;
  note_returned(shared);
  for (uint32_t slot = 0; slot < shared->slots_used && result == STRETTO_OK; ++slot) {
    if (shared->slots_stopped[slot] == shared->slots_resumed[slot] ||
        (shared->queues_stopped & 1u << shared->slot_jobs[slot].queue) != 0)
      continue;
    const uint32_t pipeline = shared->slot_pipeline[slot];
    grid_job_t job = {0};
    if (pipeline == 0)
      job = is_saved(shared, slot) ? next_saved(shared, slot) : next_of(shared, slot);
    shared->slots_resumed[slot] = shared->slots_stopped[slot];
    fence_release();
    if (pipeline == 0) {
      result = grid_control_launch(&shared->scheduler, &job);
    } else if (pipeline >> slot == 1) {  // Its last member.
      result = relaunch(shared, pipeline);
    }
  }
  return result;
}

fw_result_t schedule_service_go_on(shared_t* shared, uint32_t queues) {
  if (shared->stops_started != shared->stops_ended) return STRETTO_ERROR_TABLE_FULL;
  for (uint32_t slot = 0; slot < shared->slots_used; ++slot) {
    if (is_stopped(shared, slot, queues) && shared->slot_pipeline[slot] != 0 &&
        grid_control_pipeline_waits(&shared->scheduler))
      return STRETTO_ERROR_TABLE_FULL;
  }
  shared->queues_stopped &= ~queues;
  return go_on(shared);
}

fw_result_t schedule_service_resume(shared_t* shared, const stretto_preempt_t* preempt) {
  if (shared == NULL || preempt == NULL || preempt->queue >= STRETTO_QUEUE_COUNT)
    return STRETTO_ERROR_ARGUMENT;
  const uint32_t bit = 1u << preempt->queue;
  if ((shared->queues_stopped & bit) == 0) return STRETTO_ERROR_STATE;
  return schedule_service_go_on(shared, bit);
}

void schedule_service_run(shared_t* shared) {
  const uint32_t used = shared->returned_used;
  FW_ASSERT(go_on(shared) == STRETTO_OK);
  if (used != shared->returned_used) clint_poke(COMPLETION_HART);  // It may have waited for room.
}
