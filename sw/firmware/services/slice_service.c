// SPDX-License-Identifier: Apache-2.0
// See slice_service.h.
#include "sw/firmware/services/slice_service.h"

#include <stddef.h>

#include "sw/firmware/hal/intc.h"
#include "sw/firmware/services/memory_range.h"
#include "sw/firmware/services/schedule_service.h"

#define ALL_QUEUES ((1u << STRETTO_QUEUE_COUNT) - 1)
#define LEAST_SLICE_NS 1000u
// While a context leaves: hart 1 takes what comes back, and the scheduler has room for some of it only.
#define LEAVING_LOOK_NS 1000u

static uint32_t all_queues(const slices_t* slices) {
  uint32_t queues = 0;
  for (uint32_t i = 0; i < slices->contexts; ++i) queues |= slices->context[i].queues;
  return queues;
}

fw_result_t slice_service_configure(slices_t* slices, shared_t* shared,
                                    const stretto_time_slice_t* config) {
  if (slices == NULL || shared == NULL || config == NULL) return STRETTO_ERROR_ARGUMENT;
  if (slices->contexts != 0 && slices->leaves) return STRETTO_ERROR_TABLE_FULL;
  const uint32_t sliced = all_queues(slices);
  if (config->queues == 0) {
    const fw_result_t result = schedule_service_go_on(shared, sliced);
    if (result == STRETTO_OK) slices->contexts = 0;
    return result;
  }
  if (slices->contexts == STRETTO_CONTEXTS || (config->queues & (sliced | ~ALL_QUEUES)) != 0 ||
      config->slice_ns < LEAST_SLICE_NS)
    return STRETTO_ERROR_ARGUMENT;
  if (config->save_bytes != 0 &&
      (config->save_base % 128 != 0 ||
       !in_gpu_memory(config->save_base, config->save_bytes, shared->gpu_id)))
    return STRETTO_ERROR_UNMAPPED;
  if ((shared->queues_stopped & config->queues) != 0) return STRETTO_ERROR_STATE;
  schedule_service_expect_drains(shared);
  if (slices->contexts == 0)
    *slices = (slices_t){.end = clint_now() + config->slice_ns};
  else
    shared->queues_stopped |= config->queues;  // Not its turn.
  slices->slice_ns = config->slice_ns;
  slices->context[slices->contexts++] = (slice_context_t){
      .queues = config->queues, .save_base = config->save_base, .save_bytes = config->save_bytes};
  return STRETTO_OK;
}

static bool has_work(const shared_t* shared, uint32_t queues, uint32_t rung) {
  if ((rung & queues) != 0) return true;
  for (uint32_t queue = 0; queues != 0; queues >>= 1, ++queue) {
    if ((queues & 1u) != 0 && shared->started[queue] != shared->completed[queue]) return true;
  }
  return false;
}

// The next context in turn that has work; the current one if no other has.
static uint32_t next_of(const slices_t* slices, const shared_t* shared, uint32_t rung) {
  for (uint32_t i = 1; i < slices->contexts; ++i) {
    const uint32_t next = (slices->current + i) % slices->contexts;
    if (has_work(shared, slices->context[next].queues, rung)) return next;
  }
  return slices->current;
}

static void leave(slices_t* slices, shared_t* shared) {
  const slice_context_t* context = &slices->context[slices->current];
  uint32_t queue = 0;
  while ((context->queues >> queue & 1u) == 0) ++queue;
  const job_t job = {.queue = queue};
  if (schedule_service_suspend(shared, context->queues, context->save_base, context->save_bytes,
                               job) != STRETTO_OK)
    return;  // Another preemption is under way: when it has ended.
  slices->leaves = true;
  clint_poke(COMPLETION_HART);  // It may have been nothing.
}

uint64_t slice_service_run(slices_t* slices, shared_t* shared, uint32_t rung) {
  if (slices->contexts < 2) return CLINT_NEVER;
  const uint64_t now = clint_now();
  if (slices->leaves) {
    const uint32_t next = next_of(slices, shared, rung);
    if (schedule_service_go_on(shared, slices->context[next].queues) != STRETTO_OK) {
      clint_poke(COMPLETION_HART);
      return now + LEAVING_LOOK_NS;
    }
    slices->leaves = false;
    slices->current = next;
    slices->end = now + slices->slice_ns;
  }
  if (next_of(slices, shared, rung) == slices->current) {
    // Alone: one slice after the other.
    if (now >= slices->end)
      slices->end += ((now - slices->end) / slices->slice_ns + 1) * slices->slice_ns;
    return CLINT_NEVER;
  }
  if (now >= slices->end || !has_work(shared, slices->context[slices->current].queues, rung)) {
    leave(slices, shared);
    return now + LEAVING_LOOK_NS;
  }
  return slices->end;
}
