// SPDX-License-Identifier: Apache-2.0
// Packets: see packet_service.h. A packet ends in one of three ways: done (its signal is written
// here), started (hart 1 writes its signal), or held (looked at again after the next completion or
// doorbell).
//
// FIRMWARE_NO_WRITE_BACK builds an image that never writes the L2 back, for the test that such a run
// is found out.
#include "sw/firmware/services/packet_service.h"

#include <stddef.h>

#include "sw/firmware/services/dispatch_service.h"
#include "sw/firmware/services/memory_range.h"
#include "sw/firmware/services/net_service.h"
#include "sw/firmware/services/persist_service.h"
#include "sw/firmware/services/report.h"
#include "sw/firmware/services/ring_service.h"
#include "sw/firmware/services/schedule_service.h"
#include "sw/firmware/services/share_service.h"
#include "sw/firmware/services/slice_service.h"
#include "sw/firmware/services/transfer_service.h"

#define TYPE_MASK 0xFFu
#define DEP_SIGNALS 5
#define PIPELINE_LOOK_NS 1000
#define NETWORK_STARTED \
  ((fw_result_t)1)  // Of a packet that is done, and then the hart goes on there.

static stretto_packet_t next_packet[STRETTO_QUEUE_COUNT];  // Of each queue.
static share_t sharing FW_NOINIT;  // Most runs have none: boot does not clear them.
static slices_t slices FW_NOINIT;
static packet_service_t* attending;  // Set while queues share the GPU, or differ.

typedef enum outcome { OUTCOME_DONE, OUTCOME_STARTED, OUTCOME_HELD } outcome_t;

fw_result_t packet_service_init(packet_service_t* service, shared_t* shared,
                                trigger_service_t* trigger) {
  if (service == NULL || shared == NULL || trigger == NULL) return STRETTO_ERROR_ARGUMENT;
  *service = (packet_service_t){.shared = shared, .trigger = trigger};
  shared->queues_of[0] = (1u << STRETTO_QUEUE_COUNT) - 1;
  share_service_init(&sharing);
  slice_service_init(&slices);
  return mca_init(&service->mca);
}

void packet_service_doorbell(packet_service_t* service) {
  const uint32_t rung = doorbell_take_pending();
  share_service_rung(&sharing, service->shared, rung);  // Before all else.
  for (uint32_t left = rung, queue = 0; left != 0; left >>= 1, ++queue) {
    if ((left & 1u) == 0) continue;
    const uint64_t limit = doorbell_value(queue) + 1;
    // Rings may overtake each other's values, never go back.
    if (limit <= service->limit[queue]) continue;
    service->limit[queue] = limit;
    service->rung |= 1u << queue;
  }
}

static uint64_t slot_address(const packet_service_t* service, unsigned queue, uint64_t index) {
  return ((uint64_t)(service->shared->gpu_id + 1) << STRETTO_NODE_SHIFT) +
         STRETTO_QUEUE_OFFSET(queue) + index % STRETTO_QUEUE_PACKETS * sizeof(stretto_packet_t);
}

static void read_packet(uint64_t address, stretto_packet_t* packet) {
  fence_acquire();
  for (unsigned i = 0; i < sizeof packet->words / sizeof packet->words[0]; ++i) {
    packet->words[i] = mmio_read64(address + 8 * i);
  }
}

// A result that says "no room now" holds the packet; success of background work means started.
static outcome_t background(fw_result_t* result) {
  if (*result == STRETTO_OK) return OUTCOME_STARTED;
  return *result == STRETTO_ERROR_TABLE_FULL ? OUTCOME_HELD : OUTCOME_DONE;
}

static fw_result_t configure_mca(const packet_service_t* service, uint32_t flags,
                                 const stretto_mca_config_t* config) {
  const mca_policy_t policy = {.policy = config->policy,
                               .automatic = (flags & STRETTO_MCA_FIXED_THRESHOLD) == 0,
                               .threshold = config->threshold,
                               .starve_limit = config->starve_limit};
  return mca_configure(&service->mca, &policy);
}

// The word and the doorbell are two packets on one link, which keeps them in order. Other queues of
// this GPU are looked at again after every packet taken.
static fw_result_t send_signal(const shared_t* shared, const stretto_signal_t* signal) {
  if (signal->address % 8 != 0 || signal->time % 8 != 0) return STRETTO_ERROR_ARGUMENT;
  if (signal->time != 0) {
    if (!in_host_memory(signal->time, 8)) return STRETTO_ERROR_UNMAPPED;
    mmio_write64(signal->time, clint_now());
    if (signal->address == 0) return STRETTO_OK;
  }
  const bool peer = in_peer_memory(signal->address, 8, shared->gpu_id);
  if (!peer && !in_gpu_memory(signal->address, 8, shared->gpu_id) &&
      !in_host_memory(signal->address, 8)) {
    return STRETTO_ERROR_UNMAPPED;
  }
  fence_release();
  mmio_write64(signal->address, signal->value);
  if (peer) {
    mmio_write64((node_of(signal->address) << STRETTO_NODE_SHIFT) + STRETTO_DOORBELL_APERTURE +
                     8 * STRETTO_WAKE_DOORBELL,
                 0);
  }
  return STRETTO_OK;
}

static bool releases(const stretto_packet_t* packet) {
#ifdef FIRMWARE_NO_WRITE_BACK
  (void)packet;
  return false;
#else
  return STRETTO_PACKET_RELEASE(packet->header) == STRETTO_SCOPE_SYSTEM;
#endif
}

static job_t job_of(const stretto_packet_t* packet, unsigned queue) {
  return (job_t){
      .queue = queue, .signal = packet->vendor.completion_signal, .release = releases(packet)};
}

// The members are taken with the packet that announces them, all at once.
static outcome_t handle_pipeline(packet_service_t* service, const stretto_pipeline_t* pipeline,
                                 unsigned queue, fw_result_t* result) {
  stretto_packet_t packets[STRETTO_PIPELINE_MEMBERS];
  job_t jobs[STRETTO_PIPELINE_MEMBERS];
  const uint64_t first = service->next[queue] + 1;
  const uint32_t members = pipeline->members;
  *result = STRETTO_ERROR_ARGUMENT;
  if (members == 0 || members > STRETTO_PIPELINE_MEMBERS) return OUTCOME_DONE;
  if (service->limit[queue] < first + members) return OUTCOME_HELD;  // They are not all there.
  *result = STRETTO_OK;
  for (uint32_t i = 0; i < members; ++i) {
    read_packet(slot_address(service, queue, first + i), &packets[i]);
    jobs[i] = job_of(&packets[i], queue);
    if ((packets[i].header & TYPE_MASK) != STRETTO_PACKET_KERNEL_DISPATCH)
      *result = STRETTO_ERROR_PACKET;
  }
  if (*result == STRETTO_OK)
    *result = dispatch_service_start_pipeline(service->shared, packets, jobs, members);
  if (*result == STRETTO_ERROR_TABLE_FULL) {
    // Nobody says when the one before it is placed.
    if (grid_control_pipeline_waits(&service->shared->scheduler))
      service->pipeline_look = clint_now() + PIPELINE_LOOK_NS;
    return OUTCOME_HELD;
  }
  service->next[queue] += members;
  for (uint32_t i = 0; i < members; ++i) {
    mmio_write64(slot_address(service, queue, first + i), STRETTO_PACKET_INVALID);
    if (*result != STRETTO_OK) complete_signal(jobs[i].signal, *result);
  }
  return OUTCOME_DONE;
}

// Until one outranks what is being taken; the others then wait until that has been taken, unless they
// may stop best effort.
static __attribute__((cold)) void take_doorbells(void) {
  shared_t* const shared = attending->shared;
  if (shared->queues_outranked != 0 && sharing.high == 0) return;
  const uint32_t before = attending->rung;
  for (unsigned line = intc_claim(QUEUE_HART); line != 0; line = intc_claim(QUEUE_HART)) {
    packet_service_doorbell(attending);
    intc_complete(QUEUE_HART, line);
    // Whoever had packets already has had his turn.
    const uint32_t rung = attending->rung & ~before;
    uint32_t lower = 0;
    for (uint32_t level = 0; level < shared->highest_priority; ++level) {
      lower |= shared->queues_of[level];
      if ((rung & shared->queues_of[level + 1]) != 0) shared->queues_outranked |= lower;
    }
    if (shared->queues_outranked != 0 && sharing.high == 0) return;
  }
}

// Apart, so that other packets cost no more.
static __attribute__((noinline, cold)) fw_result_t set_priority(
    packet_service_t* service, unsigned queue, const stretto_priority_t* priority) {
  const fw_result_t result = schedule_service_priority(service->shared, queue, priority);
  attending = service;
  if (service->shared->highest_priority != 0) {
    service->shared->heed = take_doorbells;
    service->shared->attends = true;  // From here on by run_ranked().
  }
  return result;
}

static __attribute__((noinline, cold)) fw_result_t time_slice(packet_service_t* service,
                                                              const stretto_time_slice_t* config) {
  if (sharing.high != 0) return STRETTO_ERROR_STATE;
  return slice_service_configure(&slices, service->shared, config);
}
static __attribute__((noinline, cold)) fw_result_t share_queues(packet_service_t* service,
                                                                const stretto_share_t* config) {
  // Who has the GPU in turn is stopped and resumed by that alone.
  if (slice_service_is_on(&slices)) return STRETTO_ERROR_STATE;
  const fw_result_t result = share_service_configure(&sharing, service->shared, config);
  attending = service;
  const bool heeds = sharing.high != 0 || service->shared->highest_priority != 0;
  service->shared->heed = heeds ? take_doorbells : NULL;
  return result;
}
static __attribute__((noinline, cold)) fw_result_t preempt(packet_service_t* service,
                                                           const stretto_preempt_t* config,
                                                           job_t job) {
  if (slice_service_is_on(&slices)) return STRETTO_ERROR_STATE;
  return schedule_service_preempt(service->shared, config, job);
}
static __attribute__((noinline, cold)) fw_result_t resume(packet_service_t* service,
                                                          const stretto_preempt_t* config) {
  if (slice_service_is_on(&slices)) return STRETTO_ERROR_STATE;
  return schedule_service_resume(service->shared, config);
}

static inline fw_result_t network(packet_service_t* service, const stretto_network_t* config) {
  if (config->table == 0) return net_service_stop(service->shared);
  const fw_result_t result = net_service_start(service->shared, config->table);
  return result == STRETTO_OK ? NETWORK_STARTED : result;
}

static outcome_t handle_vendor(packet_service_t* service, const stretto_vendor_packet_t* packet,
                               job_t job, const char** what, fw_result_t* result) {
  switch (packet->operation) {
    case STRETTO_OP_FILL:
      *what = "fill";
      *result = transfer_service_fill(service->shared, &packet->fill, job);
      return background(result);
    case STRETTO_OP_COPY:
      *what = "copy";
      *result = transfer_service_copy(service->shared, &packet->copy, job);
      return background(result);
    case STRETTO_OP_SIGNAL:
      *what = "signal";
      *result = send_signal(service->shared, &packet->signal);
      return OUTCOME_DONE;
    case STRETTO_OP_LOCAL_MAP:
    case STRETTO_OP_REMOTE_MAP:
    case STRETTO_OP_DMA_MAP:
      *what = packet->operation == STRETTO_OP_LOCAL_MAP    ? "local_map"
              : packet->operation == STRETTO_OP_REMOTE_MAP ? "remote_map"
                                                           : "dma_map";
      *result = trigger_service_map(service->trigger, (stretto_operation_t)packet->operation,
                                    packet->flags, &packet->map);
      return OUTCOME_DONE;
    case STRETTO_OP_UNMAP:
      *what = "unmap";
      *result = trigger_service_unmap(service->trigger, packet->map.base);
      return OUTCOME_DONE;
    case STRETTO_OP_OUTPUT_CONFIG:
      *what = "output_config";
      *result = trigger_service_output(service->trigger, &packet->output);
      return OUTCOME_DONE;
    case STRETTO_OP_SPILL_TABLE:
      *what = "spill_table";
      *result = trigger_service_spill_table(service->trigger, &packet->spill);
      return OUTCOME_DONE;
    case STRETTO_OP_MCA_CONFIG:
      *what = "mca_config";
      *result = configure_mca(service, packet->flags, &packet->mca);
      return OUTCOME_DONE;
    case STRETTO_OP_RESET_MAPS:
      *what = "reset_maps";
      *result =
          trigger_service_reset(service->trigger, (packet->flags & STRETTO_RESET_ALLOCATIONS) != 0);
      return OUTCOME_DONE;
    case STRETTO_OP_COLLECTIVE_WAIT:
      *what = "collective_wait";
      *result = trigger_service_wait(service->trigger, job);
      return background(result);
    case STRETTO_OP_RING_CONFIG:
      *what = "ring_config";
      *result = ring_service_start(service->trigger, &packet->ring);
      return OUTCOME_DONE;
    case STRETTO_OP_RING_CONNECTION:
      *what = "ring_connection";
      *result = ring_service_connection(service->shared, &packet->connection);
      return OUTCOME_DONE;
    case STRETTO_OP_RING_BUFFER:
      *what = "ring_buffer";
      *result = ring_service_buffer(packet->flags, &packet->buffer);
      return OUTCOME_DONE;
    case STRETTO_OP_GATES:
      *what = "gates";
      *result = trigger_service_gates(service->trigger, &packet->gates);
      return OUTCOME_DONE;
    case STRETTO_OP_PRIORITY:
      *what = "priority";
      *result = set_priority(service, job.queue, &packet->priority);
      return OUTCOME_DONE;
    case STRETTO_OP_PREEMPT:
      *what = "preempt";
      *result = preempt(service, &packet->preempt, job);
      return background(result);
    case STRETTO_OP_RESUME:
      *what = "resume";
      *result = resume(service, &packet->preempt);
      return *result == STRETTO_ERROR_TABLE_FULL ? OUTCOME_HELD : OUTCOME_DONE;
    case STRETTO_OP_PIPELINE:
      *what = "pipeline";
      return handle_pipeline(service, &packet->pipeline, job.queue, result);
    case STRETTO_OP_SCHEDULER_POLICY:
      *what = "scheduler_policy";
      *result = schedule_service_policy(service->shared, &packet->policy);
      return OUTCOME_DONE;
    case STRETTO_OP_L2_PERSIST:
      *what = "l2_persist";
      *result = persist_service(service->shared, &packet->persist);
      return OUTCOME_DONE;
    case STRETTO_OP_NETWORK:
      *what = "network";
      *result = network(service, &packet->network);
      return *result == STRETTO_ERROR_TABLE_FULL ? OUTCOME_HELD : OUTCOME_DONE;
    case STRETTO_OP_SHARE:
      *what = "share";
      *result = share_queues(service, &packet->share);
      return *result == STRETTO_ERROR_TABLE_FULL ? OUTCOME_HELD : OUTCOME_DONE;
    case STRETTO_OP_TIME_SLICE:
      *what = "time_slice";
      *result = time_slice(service, &packet->time_slice);
      return *result == STRETTO_ERROR_TABLE_FULL ? OUTCOME_HELD : OUTCOME_DONE;
    default:
      *what = "vendor";
      *result = STRETTO_ERROR_PACKET;
      return OUTCOME_DONE;
  }
}

// A barrier that is released at system scope: hart 1 completes it after a write-back of the L2.
static outcome_t release(shared_t* shared, job_t job) {
  if (shared->releases_started - shared->releases_ended == RELEASES) return OUTCOME_HELD;
  shared->releases[shared->releases_started % RELEASES] = job;
  ++shared->started[job.queue];
  fence_release();
  shared->releases_started = shared->releases_started + 1;
  return OUTCOME_STARTED;
}

// Held until every dependent signal is 0; looked at on every occasion, or only every poll_ns.
static outcome_t handle_barrier(packet_service_t* service, const stretto_barrier_packet_t* packet,
                                job_t job, fw_result_t* result) {
  const unsigned queue = job.queue;
  service->look_at[queue] = 0;
  for (unsigned i = 0; i < DEP_SIGNALS; ++i) {
    const uint64_t signal = packet->dep_signal[i];
    if (signal == 0) continue;
    if (signal % 8 != 0 || !in_gpu_memory(signal, 8, service->shared->gpu_id)) {
      *result = STRETTO_ERROR_UNMAPPED;
      return OUTCOME_DONE;
    }
    if (mmio_read64(signal) == 0) continue;
    if (packet->poll_ns != 0) service->look_at[queue] = clint_now() + packet->poll_ns;
    return OUTCOME_HELD;
  }
  *result = STRETTO_OK;
  return job.release ? release(service->shared, job) : OUTCOME_DONE;
}

static outcome_t handle(packet_service_t* service, const stretto_packet_t* packet, job_t job,
                        const char** what, fw_result_t* result) {
  switch (packet->header & TYPE_MASK) {
    case STRETTO_PACKET_KERNEL_DISPATCH:
      *what = "kernel_dispatch";
      *result = dispatch_service_start(service->shared, &packet->dispatch, job);
      return background(result);
    case STRETTO_PACKET_BARRIER_AND:
      *what = "barrier_and";
      return handle_barrier(service, &packet->barrier, job, result);
    case STRETTO_PACKET_VENDOR: return handle_vendor(service, &packet->vendor, job, what, result);
    default:
      // A doorbell for a slot whose header was never written, or an unknown type.
      *what = "packet";
      *result = STRETTO_ERROR_PACKET;
      return OUTCOME_DONE;
  }
}

// The packet has been read: its slot is nobody's.
static void give_up(uint64_t address) {
  mmio_write64(address, STRETTO_PACKET_INVALID);
  fence_release();
}

// What hart 0 does while the network service runs, instead of its loop in main.c, which sets the
// alarm when this has come back.
static void serve_network(packet_service_t* service) {
  shared_t* shared = service->shared;
  if (shared->rounds) return;  // It is there already.
  shared->rounds = true;
  while (net_service_runs(shared, QUEUE_HART)) {
    net_service_serve(shared, QUEUE_HART, packet_service_alarm(service));
    clint_clear(QUEUE_HART);
    for (unsigned line = intc_claim(QUEUE_HART); line != 0; line = intc_claim(QUEUE_HART)) {
      packet_service_doorbell(service);
      intc_complete(QUEUE_HART, line);
    }
    packet_service_run(service);
  }
  shared->rounds = false;
  clint_poke(QUEUE_HART);
}

// A packet that is done, but not just well: it was refused, or the network service goes on.
static __attribute__((noinline, cold)) void end_apart(packet_service_t* service, job_t job,
                                                      uint64_t index, const char* what,
                                                      fw_result_t result) {
  if (result != NETWORK_STARTED) {
    report_refused(job.queue, index, what, result);
    complete_signal(job.signal, result);
    return;
  }
  complete_signal(job.signal, STRETTO_OK);
  if (service->next[job.queue] == service->limit[job.queue]) service->rung &= ~(1u << job.queue);
  serve_network(service);
}

// The slot first, then the index that lets the driver use it again.
static void tell_driver(const packet_service_t* service, unsigned queue) {
  mmio_write64(((uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT) +
                   STRETTO_READ_INDEX_OFFSET(service->shared->gpu_id, queue),
               service->next[queue]);
}

// What was put off for a higher queue.
static __attribute__((noinline, cold)) void pay_owed(packet_service_t* service) {
  for (uint32_t left = service->owed, queue = 0; left != 0; left >>= 1, ++queue) {
    if ((left & 1u) == 0) continue;
    give_up(slot_address(service, queue, service->next[queue] - 1));
    tell_driver(service, queue);
  }
  service->owed = 0;
}

// Takes the next packet of a queue. Returns whether it did.
static bool take_packet(packet_service_t* service, unsigned queue) {
  shared_t* shared = service->shared;
  const uint64_t index = service->next[queue];
  const uint64_t address = slot_address(service, queue, index);
  stretto_packet_t* const packet = &next_packet[queue];
  const bool is_read = (service->read & 1u << queue) != 0;
  if (!is_read) {
    if (shared->heed != NULL && is_to_wait(shared, queue)) return false;
    read_packet(address, packet);
    if (is_to_wait(shared, queue)) return false;
  }
  if ((packet->header & STRETTO_PACKET_BARRIER) != 0 &&
      shared->started[queue] != shared->completed[queue]) {
    if (!is_read) {
      service->read |= 1u << queue;
      give_up(address);  // While it waits, not when others wait for it.
    }
    return false;
  }
  if (is_read) fence_acquire();  // What it names may have been written since.
  const job_t job = job_of(packet, queue);
  const char* what = "packet";
  fw_result_t result = STRETTO_OK;
  const outcome_t outcome = handle(service, packet, job, &what, &result);
  if (outcome == OUTCOME_HELD) return false;
  heed(shared);
  const bool is_started_kernel =
      outcome == OUTCOME_STARTED && (packet->header & TYPE_MASK) == STRETTO_PACKET_KERNEL_DISPATCH;
  if (is_started_kernel && (shared->queues_outranked & 1u << queue) != 0) {
    service->owed |= 1u << queue;
    service->read &= ~(1u << queue);
    ++service->next[queue];
    return true;
  }
  if (!is_read) give_up(address);
  heed(shared);
  service->read &= ~(1u << queue);
  ++service->next[queue];
  tell_driver(service, queue);
  if (outcome == OUTCOME_DONE) {
    if (result != STRETTO_OK) {
      end_apart(service, job, index, what, result);
      return true;
    }
    complete_signal(job.signal, STRETTO_OK);
  } else if (!is_started_kernel) {
    clint_poke(COMPLETION_HART);  // It may have been complete before hart 1 could know of it.
  }
  return true;
}

// Takes the next packet of a queue if it has one to take now.
static inline bool take_of(packet_service_t* service, unsigned queue, unsigned level) {
  if (service->look_at[queue] != 0 && service->look_at[queue] > clint_now()) return false;
  if (!take_packet(service, queue)) return false;
  if (service->next[queue] == service->limit[queue]) service->rung &= ~(1u << queue);
  service->behind[level] = ~1u << queue;
  return true;
}

// Of the first of these queues that has one.
static bool take_first(packet_service_t* service, uint32_t queues, unsigned level) {
  for (unsigned queue = 0; queues != 0; queues >>= 1, ++queue) {
    if ((queues & 1u) != 0 && take_of(service, queue, level)) return true;
  }
  return false;
}

// Of the highest queue that has one; queues of one priority in turn.
static bool take_next(packet_service_t* service) {
  const shared_t* shared = service->shared;
  const uint32_t queues = service->rung & ~shared->queues_stopped;
  for (unsigned level = shared->highest_priority + 1; queues != 0 && level-- != 0;) {
    const uint32_t equal = queues & shared->queues_of[level];
    const uint32_t behind = equal & service->behind[level];
    if (take_first(service, behind, level) || take_first(service, equal & ~behind, level))
      return true;
  }
  return false;
}

// Of these queues those whose packet, which has been read, waits for those before it.
static uint32_t waiting_of(const packet_service_t* service, uint32_t queues) {
  const uint64_t* started = service->shared->started;
  const volatile uint64_t* completed = service->shared->completed;
  uint32_t waiting = 0;
  for (uint32_t left = service->read & queues, bit = 1; left != 0; left >>= 1, bit <<= 1) {
    if ((left & 1u) != 0 && *started != *completed) waiting |= bit;
    ++started;
    ++completed;
  }
  return waiting;
}

// Of a level; once one waits for a higher queue, all others of the level do.
static bool take_ranked(packet_service_t* service, uint32_t queues, unsigned level) {
  for (unsigned queue = 0; queues != 0; queues >>= 1, ++queue) {
    if ((queues & 1u) == 0) continue;
    if (take_of(service, queue, level)) return true;
    if (service->shared->queues_outranked != 0) return false;
  }
  return false;
}

// Who shares a GPU has a priority, and may be drained.
static void share(packet_service_t* service) {
  const uint64_t shares = share_service_run(&sharing, service->shared, service->rung);
  const uint64_t sliced = slice_service_run(&slices, service->shared, service->rung);
  const uint64_t at = shares < sliced ? shares : sliced;
  if (at != CLINT_NEVER && (service->pipeline_look == 0 || at < service->pipeline_look))
    service->pipeline_look = at;
}

// Where queues differ. What was rung meanwhile is looked at between any two packets, and between the
// steps of one that a higher queue may outrank: then it waits.
static __attribute__((noinline, cold)) void run_ranked(packet_service_t* service) {
  shared_t* const shared = service->shared;
  for (bool more = true; more;) {
    if (line_pending()) take_doorbells();
    if (shared->drains) share(service);
    if (service->owed != 0 && shared->queues_outranked == 0) pay_owed(service);
    shared->queues_outranked = 0;
    more = false;
    for (unsigned level = shared->highest_priority + 1; !more && level-- != 0;) {
      uint32_t equal = service->rung & shared->queues_of[level];
      equal &= ~(shared->queues_stopped | service->owed);
      if (equal != 0) equal &= ~waiting_of(service, equal);
      if (equal == 0) continue;
      const uint32_t behind = equal & service->behind[level], before = equal & ~behind;
      // Nobody outranks the highest: doorbells wait until its packet is taken.
      const bool is_undisturbed = level == shared->highest_priority && sharing.high == 0;
      if (is_undisturbed) shared->heed = NULL;
      more = behind != 0 && take_ranked(service, behind, level);
      if (!more && shared->queues_outranked == 0) more = take_ranked(service, before, level);
      if (is_undisturbed) shared->heed = take_doorbells;
      more = more || shared->queues_outranked != 0;
    }
    more = more || service->owed != 0;
  }
}

void packet_service_run(packet_service_t* service) {
  service->pipeline_look = 0;
  if (service->shared->attends) {
    if (service->shared->drains) {
      share(service);
      heed(service->shared);
      schedule_service_run(service->shared);
      heed(service->shared);
    }
    if (service->shared->highest_priority != 0) {
      run_ranked(service);
      return;
    }
  }
  while (take_next(service)) {
    if (service->shared->highest_priority == 0) continue;
    run_ranked(service);  // By what the packet has set.
    return;
  }
}

uint64_t packet_service_alarm(const packet_service_t* service) {
  uint64_t first = service->pipeline_look != 0 ? service->pipeline_look : CLINT_NEVER;
  for (unsigned queue = 0; queue < STRETTO_QUEUE_COUNT; ++queue) {
    const uint64_t at = service->look_at[queue];
    // A stopped queue is looked at when it goes on.
    if (at != 0 && at < first && (service->shared->queues_stopped & 1u << queue) == 0) first = at;
  }
  return first;
}
