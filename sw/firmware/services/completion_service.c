// SPDX-License-Identifier: Apache-2.0
// Serves completion interrupts on hart 1: kernels that ended, write-backs of the L2 for those that
// are released at system scope, fills and copies, regions of the collective, and the errors that end
// a run. No job waits for another's write-back but those that are released too: what ends while the
// L2 writes back is written back next, all at once.
#include "sw/firmware/hal/intc.h"
#include "sw/firmware/services/net_service.h"
#include "sw/firmware/services/report.h"
#include "sw/firmware/services/ring_service.h"
#include "sw/firmware/services/shared.h"
#include "sw/include/regs/grid_scheduler_regs.h"  // Generated.

void complete_signal(uint64_t signal, fw_result_t status) {
  fence_release();
  if (signal != 0) mmio_write64(signal, (uint64_t)(int64_t)status);
}

static void complete(shared_t* shared, const job_t* job, fw_result_t status) {
  complete_signal(job->signal, status);
  shared->completed[job->queue] = shared->completed[job->queue] + 1;
}

static void complete_slot(shared_t* shared, uint32_t slot, fw_result_t status) {
  const job_t job = shared->slot_jobs[slot];
  shared->slots_ended[slot] = shared->slots_ended[slot] + 1;
  complete(shared, &job, status);
}

// For all that waits now, unless the L2 is at it: then what waits is next.
static void start_write_back(shared_t* shared) {
  const write_back_t wanted = {shared->slots_to_release, shared->releases_started};
  if (shared->writes_back ||
      (wanted.slots == 0 && wanted.releases == shared->written_back.releases))
    return;
  shared->slots_to_release = 0;
  shared->written_back = wanted;
  shared->writes_back = true;
  gpu_l2_write_back(&shared->gpu);
}

// A preemption is complete when each of its kernels has ended or stopped since.
static void finish_stop(shared_t* shared) {
  if (shared->stops_started == shared->stops_ended) return;
  for (uint32_t rest = shared->stop_slots, slot = 0; rest != 0; rest >>= 1, ++slot) {
    if ((rest & 1u) != 0 &&
        shared->slots_ended[slot] + shared->slots_stopped[slot] == shared->stop_seen[slot])
      return;
  }
  const job_t job = shared->stop_job;
  shared->stops_ended = shared->stops_ended + 1;
  complete(shared, &job, STRETTO_OK);
}

returned_t returned_ring[RETURNED] FW_NOINIT;

// Takes the work-groups that came back undone. False: hart 0 has to make room first.
static bool take_returned(shared_t* shared) {
  uint32_t slot, id;
  while (shared->returned_taken - shared->returned_used != RETURNED) {
    if (!grid_control_take_returned(&shared->scheduler, &slot, &id)) return true;
    returned_ring[shared->returned_taken % RETURNED] = (returned_t){.slot = slot, .id = id};
    shared->slots_with_returned |= 1u << slot;
    fence_release();
    shared->returned_taken = shared->returned_taken + 1;
  }
  clint_poke(QUEUE_HART);
  return false;
}

// Those that can be released now: of a pipeline all, with the last of them (one boundary).
static uint32_t released_with(shared_t* shared, uint32_t slot) {
  const uint32_t pipeline = shared->slot_pipeline[slot];
  if (pipeline == 0) return 1u << slot;
  shared->pipeline_ended |= 1u << slot;
  if ((pipeline & ~shared->pipeline_ended) != 0) return 0;
  shared->pipeline_ended &= ~pipeline;
  return pipeline;
}

// A slot beside those that are refused; of a pipeline the first says why. Apart, so that other ends
// cost no more.
static __attribute__((noinline, cold)) uint32_t refuse(const shared_t* shared, uint32_t slot,
                                                       uint32_t refused, uint32_t reason) {
  const uint32_t pipeline = shared->slot_pipeline[slot];
  uint32_t members = 0;
  for (uint32_t rest = pipeline; rest != 0; rest &= rest - 1) ++members;
  if (members != 0 && (pipeline & refused) == 0) report_pipeline_refused(members, slot, reason);
  return refused | 1u << slot;
}

static void kernels_done(shared_t* shared) {
  const uint32_t slots = grid_scheduler_done(&shared->scheduler);
  if (slots == 0) return;
  uint32_t refused = 0;
  uint32_t stopped = 0;
  for (uint32_t rest = slots, slot = 0; rest != 0; rest >>= 1, ++slot) {
    if ((rest & 1u) == 0) continue;
    grid_report_t report;
    if (grid_control_report(&shared->scheduler, slot, &report) != STRETTO_OK) continue;
    if (report.state == GRID_SCHEDULER_SLOT_STATE_STATE_REFUSED) {
      refused = refuse(shared, slot, refused, report.reason);
      continue;
    }
    if (report.preempted && !take_returned(shared)) return;  // The lines stay high.
    const uint32_t unfinished = shared->slots_with_returned | shared->slots_with_more;
    if ((report.preempted && report.undispatched != 0) || (unfinished & 1u << slot) != 0) {
      stopped |= 1u << slot;
      shared->slot_undispatched[slot] = report.undispatched;
    }
  }
  shared->slots_with_returned &= ~slots;
  // Released before it is announced: hart 0 may launch in the slot as soon as the counts agree.
  grid_scheduler_release(&shared->scheduler, slots);
  for (uint32_t rest = slots, slot = 0; rest != 0; rest >>= 1, ++slot) {
    const uint32_t bit = 1u << slot;
    if ((rest & 1u) == 0) continue;
    if ((stopped & bit) != 0) {
      fence_release();
      shared->slots_stopped[slot] = shared->slots_stopped[slot] + 1;
    } else if ((refused & bit) != 0) {
      complete_slot(shared, slot, STRETTO_ERROR_RESOURCES);
    } else if (shared->slot_jobs[slot].release) {
      shared->slots_to_release |= released_with(shared, slot);
    } else {
      complete_slot(shared, slot, STRETTO_OK);
    }
  }
  start_write_back(shared);
  finish_stop(shared);
}

static void written_back(shared_t* shared) {
  if (!gpu_l2_take_done(&shared->gpu)) return;
  const write_back_t done = shared->written_back;
  shared->writes_back = false;
  start_write_back(shared);
  for (uint32_t rest = done.slots, slot = 0; rest != 0; rest >>= 1, ++slot) {
    if ((rest & 1u) != 0) complete_slot(shared, slot, STRETTO_OK);
  }
  while (shared->releases_ended < done.releases) {
    const job_t job = shared->releases[shared->releases_ended % RELEASES];
    shared->releases_ended = shared->releases_ended + 1;
    complete(shared, &job, STRETTO_OK);
  }
  finish_stop(shared);
}

static void finish_wait(shared_t* shared) {
#ifdef FIRMWARE_NO_WAIT
  if (shared->waits_started == shared->waits_ended) return;
#else
  if (shared->waits_started == shared->waits_ended || !regions_complete(shared)) return;
#endif
  const job_t job = shared->wait_job;
  shared->waits_ended = shared->waits_ended + 1;
  complete(shared, &job, STRETTO_OK);
}

static void dma_done(shared_t* shared) {
  uint64_t done[2] = {0, 0};
  dma_take_done(&shared->dma, done);
  shared->regions_done[0] = shared->regions_done[0] | done[0];
  shared->regions_done[1] = shared->regions_done[1] | done[1];
  const uint64_t id = dma_completed(&shared->dma);
  while (shared->transfers_ended != shared->transfers_started) {
    const transfer_job_t transfer =
        shared->transfers[shared->transfers_ended % DMA_QUEUE_DESCRIPTORS];
    if (transfer.id > id) break;
    shared->transfers_ended = shared->transfers_ended + 1;
    complete(shared, &transfer.job, STRETTO_OK);
  }
  finish_wait(shared);
}

void completion_service_irq(shared_t* shared, unsigned line) {
  gpu_fault_t fault;
  uint64_t info = 0;
  switch (line) {
    case STRETTO_IRQ_GRID_SCHEDULER: kernels_done(shared); break;
    case STRETTO_IRQ_L2: written_back(shared); break;
    case STRETTO_IRQ_DMA: dma_done(shared); break;
    case STRETTO_IRQ_DMA_ERROR: {
      const uint32_t errors = dma_take_errors(&shared->dma, &info);
      if (errors == 0) break;
      report_dma_error(errors, info);
      report_fail(FAIL_DMA, "the DMA engine reported an error");
    }
    case STRETTO_IRQ_FAULT:
      if (!gpu_take_fault(&shared->gpu, &fault)) break;
      report_fault(&fault);
      report_fail(FAIL_FAULT, "a wavefront faulted");
    case STRETTO_IRQ_REQUEST_RING: ring_service_irq(); break;
    default: report_fail(FAIL_ASSERT, "interrupt of a line that was never enabled");
  }
}

static inline __attribute__((always_inline)) void begin_and_end(shared_t* shared) {
  dma_done(shared);
  start_write_back(shared);
  finish_stop(shared);
}

// What hart 1 does while the network service runs, instead of its loop in main.c.
static void serve_network(shared_t* shared) {
  while (net_service_runs(shared, COMPLETION_HART)) {
    net_service_serve(shared, COMPLETION_HART, CLINT_NEVER);
    clint_clear(COMPLETION_HART);
    if (shared->drains) (void)take_returned(shared);
    begin_and_end(shared);
    for (unsigned line = intc_claim(COMPLETION_HART); line != 0;
         line = intc_claim(COMPLETION_HART)) {
      completion_service_irq(shared, line);
      intc_complete(COMPLETION_HART, line);
    }
    clint_poke(QUEUE_HART);
  }
}

// Apart, so that other wake-ups cost no more.
static __attribute__((noinline, cold)) void attend(shared_t* shared) {
  if (shared->drains) (void)take_returned(shared);
  if (!net_service_runs(shared, COMPLETION_HART)) return;
  begin_and_end(shared);
  serve_network(shared);
}

// Hart 0 started something: a release, or what may be complete already, a wait without open regions,
// a fill that was faster than its entry in the ring, a preemption of nothing. What a drain brings
// back is taken as it comes: the scheduler has room for some of it only.
void completion_service_poke(shared_t* shared) {
  if (shared->attends) attend(shared);
  begin_and_end(shared);
}
