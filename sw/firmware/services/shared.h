// SPDX-License-Identifier: Apache-2.0
// What the two harts share, in the CP's SRAM (coherent, single cycle). Hart 0 serves the queues and
// starts work, hart 1 serves completion interrupts. Every word has one writer, named beside it; a
// job's fields are written before it is published and not touched while it is active, so no lock is
// needed. A hart that has news for the other one pokes it with a software interrupt.
#ifndef STRETTO_SW_FIRMWARE_SERVICES_SHARED_H_
#define STRETTO_SW_FIRMWARE_SERVICES_SHARED_H_

#include <stdbool.h>
#include <stddef.h>

#include "sw/firmware/hal/dma.h"
#include "sw/firmware/hal/gpu.h"
#include "sw/firmware/hal/grid_control.h"
#include "sw/firmware/hal/mmio.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QUEUE_HART 0u
#define COMPLETION_HART 1u

// Whom to tell when something is complete.
typedef struct job {
  uint32_t queue;
  uint64_t signal;  // 0 = nobody.
  bool release;     // At system scope: complete when the L2 holds nothing dirty of before its end.
} job_t;

typedef struct transfer_job {
  job_t job;
  uint64_t id;  // Of the DMA descriptor.
} transfer_job_t;

#define RELEASES 16u  // Barrier packets whose write-back is to come.

// Jobs that wait for a write-back of the L2: kernel slots, and releases before number `releases`.
typedef struct write_back {
  uint32_t slots;
  uint64_t releases;
} write_back_t;

// A work-group that left its unit undone.
typedef struct returned {
  uint32_t slot;
  uint32_t id;
} returned_t;
#define RETURNED 64u
extern returned_t returned_ring[RETURNED];  // Hart 1.

typedef struct shared {
  uint64_t started[STRETTO_QUEUE_COUNT];             // Background packets started; hart 0.
  volatile uint64_t completed[STRETTO_QUEUE_COUNT];  // ... and completed; hart 1.
  volatile uint32_t slots_started[GRID_SLOTS];       // Kernels launched in a slot; hart 0.
  volatile uint32_t slots_ended[GRID_SLOTS];    // ... and ended: the slot is free if equal; hart 1.
  job_t slot_jobs[GRID_SLOTS];                  // Hart 0.
  grid_job_t slot_work[GRID_SLOTS];             // What was launched; hart 0.
  uint32_t slot_pipeline[GRID_SLOTS];           // Slots launched together, 0 = by itself; hart 0.
  volatile uint32_t slots_stopped[GRID_SLOTS];  // Preempted with work-groups left; hart 1.
  volatile uint32_t slots_resumed[GRID_SLOTS];  // ... and launched again; hart 0.
  uint32_t slot_undispatched[GRID_SLOTS];       // Not placed of what was launched; hart 1.
  uint32_t slot_end[GRID_SLOTS];                // Position behind a part, 0 = no part; hart 0.
  uint32_t slots_with_more;                     // A part runs, and others follow; hart 0.
  volatile uint32_t returned_taken;             // Of the ring of what came back; hart 1.
  volatile uint32_t returned_used;              // Hart 0.
  uint32_t slots_with_returned;                 // Since they were launched; hart 1.
  uint32_t pipeline_ended;                      // Members of pipelines that go on; hart 1.
  uint32_t priority[STRETTO_QUEUE_COUNT];       // Hart 0.
  uint32_t queues_of[STRETTO_PRIORITIES];       // Those of a priority, one bit each; hart 0.
  uint32_t highest_priority;                    // That a queue has had; hart 0.
  uint32_t queues_stopped;                      // One bit a queue; hart 0.
  uint32_t queues_outranked;                    // A higher one was rung under a packet; hart 0.
  bool drains;                                  // A preemption has drained; hart 0.
  volatile uint8_t networks;  // What the network service is doing (net_service.c); hart 0.
  bool attends;         // Queues differ, drains have been, or the network service is on; hart 0.
  bool rounds;          // Hart 0 is in its loop of the network service; hart 0.
  uint32_t stop_slots;  // Kernels that a preemption waits for,
  uint32_t stop_seen[GRID_SLOTS];   // ends and stops of each before it; hart 0.
  job_t stop_job;                   // Hart 0. One at a time.
  volatile uint32_t stops_started;  // Hart 0.
  volatile uint32_t stops_ended;    // Hart 1.
  uint32_t output_tiles;            // Of the configured output, 0 = none; hart 0.
  uint32_t split;  // Work-groups of the producer that add to each of its tiles; hart 0.
  transfer_job_t transfers[DMA_QUEUE_DESCRIPTORS];  // Fills and copies, ring; hart 0.
  volatile uint64_t transfers_started;              // Hart 0.
  volatile uint64_t transfers_ended;                // Hart 1.
  volatile uint64_t regions_mapped[2];  // One bit a DMA region of the open collective; hart 0.
  volatile uint64_t regions_done[2];    // Hart 1; hart 0 clears it while no region is mapped.
  volatile uint64_t waits_started;      // Collective waits; hart 0. One at a time.
  volatile uint64_t waits_ended;        // Hart 1.
  job_t wait_job;                       // Hart 0.
  job_t releases[RELEASES];             // Of barrier packets, ring; hart 0.
  volatile uint64_t releases_started;   // Hart 0.
  volatile uint64_t releases_ended;     // Hart 1.
  uint32_t slots_to_release;            // Kernels that ended since `written_back` began; hart 1.
  bool writes_back;                     // The L2 is writing back for `written_back`; hart 1.
  write_back_t written_back;            // Hart 1.
  gpu_t gpu;                            // Handles; constant after boot.
  grid_scheduler_t scheduler;
  dma_t dma;
  unit_limits_t limits;
  unsigned gpu_id;
  uint32_t slots_with_area;  // Of kernels that the front end may suspend; hart 0.
  uint32_t slots_used;       // No slot from here on has ever had a kernel; hart 0.
  void (*heed)(void);        // While queues share the GPU, or differ: see heed(); hart 0.
} shared_t;

// Hart 0, between the steps of a packet: a doorbell of high priority stops best effort now. Then the
// packet may have to wait.
static inline void heed(const shared_t* shared) {
  if (shared->heed != NULL && line_pending()) shared->heed();
}
// Likewise; whether a packet of that queue is to wait, because it is stopped or a higher one was rung.
static inline bool is_to_wait(const shared_t* shared, uint32_t queue) {
  if (shared->heed != NULL) {
    if (line_pending()) shared->heed();
    if ((shared->queues_outranked & 1u << queue) != 0) return true;
  }
  return (shared->queues_stopped & 1u << queue) != 0;
}

// Writes a completion signal: 0 or a negative status. All effects of the packet come before it.
void complete_signal(uint64_t signal, fw_result_t status);

// Hart 1: acts on a software interrupt and on its interrupt lines.
void completion_service_irq(shared_t* shared, unsigned line);
void completion_service_poke(shared_t* shared);

static inline bool regions_complete(const shared_t* shared) {
  return (shared->regions_mapped[0] & ~shared->regions_done[0]) == 0 &&
         (shared->regions_mapped[1] & ~shared->regions_done[1]) == 0;
}

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_SERVICES_SHARED_H_
