// SPDX-License-Identifier: Apache-2.0
// See queue_service.h. Entries are taken in the order of their queue. What a blocking one has asked
// for is posted like all else; its queue waits, the thread does not (CN-Q-08).
//
// FIRMWARE_NET_* builds images for tests that such runs are found out: one posts an entry twice,
// one never, one ends a blocking entry when it is on its way, one lets QUIET end at once.
#include "sw/net/queue_service.h"

#include <stddef.h>

#include "sw/firmware/hal/hart_ops.h"
#include "sw/include/formats/shmem_queue.h"
#include "sw/net/verbs.h"

#define MAX_RING_LOG2 10u
#define MAX_COMPLETIONS_LOG2 15u
#define RING_BYTES(log2) ((uint64_t)STRETTO_NIC_WORK_ENTRY_BYTES << (log2))
#define NO_ROUND 0u
#define MUST(condition)                        \
  do {                                         \
    if (!(condition)) net.owner->failed(NULL); \
  } while (0)

// What a queue waits for; it takes no entry meanwhile.
typedef enum net_wait {
  NET_WAIT_NOTHING,
  NET_WAIT_COMPLETION,  // Of the operation that was posted last.
  NET_WAIT_QUIET,       // Of all that were posted.
} net_wait_t;

typedef struct net_queue {
  uint64_t next;       // Address of the next entry.
  uint32_t taken;      // Entries so far.
  uint32_t under_way;  // Operations posted and not completed.
  uint64_t value;      // What its last entry will tell.
  uint32_t failed;     // Status of the first one that failed since the last QUIET, 0 = none.
  net_wait_t waits;
} net_queue_t;

#define ID_ENDS (1ull << 16)  // In the id (formats/shmem_queue.h).

typedef struct net_thread {
  stretto_nic_t nic;
  stretto_nic_queue_t completions;
  stretto_nic_pair_t pair[STRETTO_SHMEM_MAX_PES];
  uint64_t result;
  uint32_t result_key;
  uint32_t first_pair;
  uint32_t under_way;
  uint32_t rounds_to_poll;
  uint32_t first_queue;  // Of the next round.
  stretto_shmem_counts_t counts;
} net_thread_t;

typedef struct net {
  const queue_service_owner_t* owner;
  uint64_t table, queues, entries;
  uint32_t threads, queue_count, pe, pes, poll_rounds, heap_key, flags;
  uint64_t heap, counts;
  struct {
    uint64_t heap;
    uint64_t key;
  } peer[STRETTO_SHMEM_MAX_PES];
  net_queue_t queue[STRETTO_SHMEM_QUEUES];  // Of the thread that serves it.
  net_thread_t thread[STRETTO_SHMEM_MAX_THREADS];
} net_t;

static net_t net FW_PRIVATE;  // Most runs of a command processor have none: boot does not clear it.

// Starting

static uint64_t word_of(uint64_t table, size_t offset) { return mmio_read64(table + offset); }
#define WORD(field) word_of(table, offsetof(stretto_shmem_table_t, field))
#define LOW(word) ((uint32_t)(word))
#define HIGH(word) ((uint32_t)((word) >> 32))

fw_result_t queue_service_open(const queue_service_owner_t* owner, uint64_t table) {
  fence_acquire();
  net.owner = owner;
  net.table = table;
  net.queues = WORD(queues);
  net.entries = WORD(entries);
  net.threads = LOW(WORD(threads));
  net.queue_count = LOW(WORD(queue_count));
  net.pe = HIGH(WORD(queue_count));
  net.pes = LOW(WORD(pes));
  net.poll_rounds = HIGH(WORD(pes));
  net.heap = WORD(heap);
  net.heap_key = LOW(WORD(heap_key));
  net.flags = HIGH(WORD(heap_key));
  net.counts = WORD(counts);
  if (net.queue_count == 0 || net.queue_count > STRETTO_SHMEM_QUEUES || net.pes < 2 ||
      net.pes > STRETTO_SHMEM_MAX_PES || net.pe >= net.pes || net.poll_rounds == NO_ROUND ||
      net.threads == 0 || net.threads > STRETTO_SHMEM_MAX_THREADS)
    return STRETTO_ERROR_ARGUMENT;
  const uint64_t bytes = (uint64_t)net.queue_count * STRETTO_SHMEM_QUEUE_BYTES;
  if (!net.owner->is_queue_memory(net.queues, bytes) ||
      !net.owner->is_queue_memory(net.entries, bytes) ||
      !net.owner->is_ring_memory(net.counts, net.threads * sizeof(stretto_shmem_counts_t)))
    return STRETTO_ERROR_UNMAPPED;
  for (uint32_t pe = 0; pe < net.pes; ++pe) {
    net.peer[pe].heap = word_of(table, offsetof(stretto_shmem_table_t, peer) + 16 * pe);
    net.peer[pe].key = word_of(table, offsetof(stretto_shmem_table_t, peer) + 16 * pe + 8);
  }
  for (uint32_t i = 0; i < net.queue_count; ++i) {
    const uint64_t base = net.entries + (uint64_t)i * STRETTO_SHMEM_QUEUE_BYTES;
    net.queue[i] = (net_queue_t){.next = base + STRETTO_SHMEM_FIRST};
  }
  return STRETTO_OK;
}

fw_result_t queue_service_attach(unsigned number) {
  net_thread_t* thread = &net.thread[number];
  const uint64_t table = net.table;
  const uint64_t at =
      offsetof(stretto_shmem_table_t, thread) + number * sizeof(stretto_shmem_thread_t);
  const uint64_t completions = word_of(table, at), rings = word_of(table, at + 8);
  const uint64_t keys = word_of(table, at + 24), numbers = word_of(table, at + 32);
  const uint32_t ring_log2 = LOW(WORD(ring_log2)), completions_log2 = HIGH(WORD(ring_log2));
  thread->result = word_of(table, at + 16);
  thread->result_key = LOW(keys);
  thread->first_pair = LOW(numbers);
  thread->under_way = thread->rounds_to_poll = 0;
  thread->first_queue = number;
  thread->counts = (stretto_shmem_counts_t){0};
  if (ring_log2 > MAX_RING_LOG2 || completions_log2 > MAX_COMPLETIONS_LOG2)
    return STRETTO_ERROR_ARGUMENT;
  if (!net.owner->is_ring_memory(completions,
                                 (uint64_t)STRETTO_NIC_COMPLETION_BYTES << completions_log2) ||
      !net.owner->is_ring_memory(rings, 2 * net.pes * RING_BYTES(ring_log2)) ||
      !net.owner->is_ring_memory(thread->result, 8))
    return STRETTO_ERROR_UNMAPPED;
  if (stretto_nic_attach(&thread->nic, &kHartOps, net.pe) != STRETTO_NIC_RESULT_OK ||
      stretto_nic_queue_attach(&thread->completions, &thread->nic, HIGH(keys), completions,
                               completions_log2) != STRETTO_NIC_RESULT_OK)
    return STRETTO_ERROR_ARGUMENT;
  for (uint32_t pe = 0; pe < net.pes; ++pe) {
    const uint64_t ring = rings + 2 * pe * RING_BYTES(ring_log2);
    if (stretto_nic_pair_attach(&thread->pair[pe], &thread->nic, LOW(numbers) + pe, ring,
                                ring + RING_BYTES(ring_log2), ring_log2, &thread->completions,
                                HIGH(numbers)) != STRETTO_NIC_RESULT_OK)
      return STRETTO_ERROR_ARGUMENT;
  }
  return STRETTO_OK;
}

unsigned queue_service_threads(void) { return net.threads; }
bool queue_service_is_idle(unsigned number) { return net.thread[number].under_way == 0; }

void queue_service_write_counts(unsigned number) {
  const uint64_t* words = (const uint64_t*)&net.thread[number].counts;
  const uint64_t at = net.counts + number * sizeof(stretto_shmem_counts_t);
  for (size_t i = 0; i < sizeof(stretto_shmem_counts_t) / 8; ++i)
    mmio_write64(at + 8 * i, words[i]);
  fence_release();
}
// The end of operations

// Of the queue's last entry. The read index is that of the entries before it: their last words have
// been released, this one's has not.
static void end_entry(net_thread_t* thread, uint32_t number, uint32_t failed) {
  net_queue_t* queue = &net.queue[number];
  const uint64_t base = net.queues + (uint64_t)number * STRETTO_SHMEM_QUEUE_BYTES;
  const uint64_t entry =
      base + STRETTO_SHMEM_FIRST +
      (uint64_t)((queue->taken - 1) % STRETTO_SHMEM_ENTRIES) * STRETTO_SHMEM_ENTRY_BYTES;
  queue->waits = NET_WAIT_NOTHING;
  ++thread->counts.ended;
  // In one sector; from the host two writes, the status behind the value.
  mmio_write64(entry + offsetof(stretto_shmem_entry_t, value), queue->value);
  mmio_write64(entry, failed == 0 ? STRETTO_SHMEM_DONE : STRETTO_SHMEM_FAILED | failed);
  mmio_write64(base + STRETTO_SHMEM_READ, queue->taken - 1);
  fence_release();
}

// Its entry is still where the NIC has read it.
static void report_failure(const stretto_nic_pair_t* pair, uint32_t queue, uint32_t status,
                           uint32_t pe) {
  const stretto_nic_ring_t* ring = &pair->send;
  const uint64_t entry =
      ring->memory + (uint64_t)((ring->ended - 1) % ring->entries) * STRETTO_NIC_WORK_ENTRY_BYTES;
  const uint64_t operation = mmio_read64(entry);
  const bool is_value = (operation >> 8 & STRETTO_NIC_INLINE) != 0;
  net.owner->failed(&(queue_service_failure_t){
      .work_group = queue,
      .operation = (uint8_t)operation,
      .pe = pe,
      .bytes = LOW(mmio_read64(entry + offsetof(stretto_nic_work_entry_t, length))),
      .local = mmio_read64(entry + (is_value ? offsetof(stretto_nic_work_entry_t, operand)
                                             : offsetof(stretto_nic_work_entry_t, local_address))),
      .is_value = is_value,
      .remote = mmio_read64(entry + offsetof(stretto_nic_work_entry_t, remote_address)),
      .why = stretto_nic_status_text(status)});
}

static void completed(net_thread_t* thread, const stretto_nic_completion_t* completion) {
  const uint32_t number = STRETTO_SHMEM_ID_QUEUE(completion->id);
  net_queue_t* queue = &net.queue[number];
  --queue->under_way;
  --thread->under_way;
  ++thread->counts.completed;
  if (completion->status != STRETTO_NIC_OK) {
    const uint32_t pe = completion->queue_pair - thread->first_pair;
    if ((net.flags & STRETTO_SHMEM_RETURN_ERRORS) == 0)
      report_failure(&thread->pair[pe], number, completion->status, pe);
    if (queue->failed == 0) queue->failed = completion->status;
  }
  // Those of entries before, which wait for nothing, may still come.
  const bool ends = queue->waits == NET_WAIT_COMPLETION && (completion->id & ID_ENDS) != 0 &&
                    (uint32_t)(completion->id >> 32) == queue->taken - 1;
  if (ends && completion->status == STRETTO_NIC_OK &&
      (completion->opcode == STRETTO_NIC_FETCH_ADD ||
       completion->opcode == STRETTO_NIC_COMPARE_SWAP))
    queue->value = completion->value;
  if (!ends && (queue->waits != NET_WAIT_QUIET || queue->under_way != 0)) return;
  const uint32_t failed = queue->failed;
  queue->failed = 0;
  end_entry(thread, number, failed);
}

// Entries

static bool post(net_thread_t* thread, uint32_t pe, uint32_t number,
                 const stretto_nic_work_entry_t* work) {
  if (stretto_nic_post(&thread->pair[pe], work) != STRETTO_NIC_RESULT_OK) return false;
  ++net.queue[number].under_way;
  ++thread->under_way;
  ++thread->counts.posted;
  return true;
}

// Where a symmetric address lies at a PE.
static uint64_t at_pe(uint64_t address, uint32_t pe) {
  return address - net.heap + net.peer[pe].heap;
}

static void post_signal(net_thread_t* thread, uint32_t number, uint32_t pe, uint64_t at,
                        uint64_t operand, bool adds, uint64_t id) {
  const stretto_nic_work_entry_t work = {.opcode = adds ? STRETTO_NIC_FETCH_ADD : STRETTO_NIC_PUT,
                                         .flags = adds ? 0 : STRETTO_NIC_INLINE,
                                         .id = id,
                                         .local_address = thread->result,
                                         .local_key = thread->result_key,
                                         .remote_address = at_pe(at, pe),
                                         .remote_key = (uint32_t)net.peer[pe].key,
                                         .length = 8,
                                         .operand = operand};
  MUST(post(thread, pe, number, &work));  // There was room for two.
}

// The NIC's operation for an entry, without what follows a put. False: there is none.
static bool make_work(const net_thread_t* thread, uint64_t entry, uint32_t operation,
                      uint32_t flags, uint32_t pe, stretto_nic_work_entry_t* work) {
  const uint64_t destination = mmio_read64(entry + offsetof(stretto_shmem_entry_t, destination));
  const uint64_t source = mmio_read64(entry + offsetof(stretto_shmem_entry_t, source));
  const uint64_t bytes = mmio_read64(entry + offsetof(stretto_shmem_entry_t, bytes));
  work->remote_key = (uint32_t)net.peer[pe].key;
  work->local_key = net.heap_key;
  work->length = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;  // The NIC refuses that.
  switch (operation) {
    case STRETTO_SHMEM_PUT:
      work->opcode = STRETTO_NIC_PUT;
      work->remote_address = at_pe(destination, pe);
      work->local_address = source;
      if ((flags & STRETTO_SHMEM_INLINE) == 0) return true;
      work->flags = STRETTO_NIC_INLINE;
      work->operand = source;
      return true;
    case STRETTO_SHMEM_GET:
      work->opcode = STRETTO_NIC_GET;
      work->remote_address = at_pe(source, pe);
      work->local_address = destination;
      return true;
    case STRETTO_SHMEM_FETCH_ADD:
    case STRETTO_SHMEM_COMPARE_SWAP:
      work->opcode =
          operation == STRETTO_SHMEM_FETCH_ADD ? STRETTO_NIC_FETCH_ADD : STRETTO_NIC_COMPARE_SWAP;
      work->remote_address = at_pe(destination, pe);
      work->local_address = thread->result;
      work->local_key = thread->result_key;
      work->length = 8;
      work->operand = mmio_read64(entry + offsetof(stretto_shmem_entry_t, operand));
      work->compare = mmio_read64(entry + offsetof(stretto_shmem_entry_t, compare));
      return true;
    default: return false;
  }
}

static void advance(net_thread_t* thread, uint32_t number) {
  net_queue_t* queue = &net.queue[number];
  if (net.entries != net.queues) mmio_write64(queue->next, 0);
  ++thread->counts.taken;
  ++queue->taken;
  queue->next = queue->taken % STRETTO_SHMEM_ENTRIES != 0
                    ? queue->next + STRETTO_SHMEM_ENTRY_BYTES
                    : queue->next + STRETTO_SHMEM_ENTRY_BYTES -
                          STRETTO_SHMEM_ENTRIES * STRETTO_SHMEM_ENTRY_BYTES;
}

static void take_quiet(net_thread_t* thread, uint32_t number) {
  net_queue_t* queue = &net.queue[number];
  advance(thread, number);
#ifndef FIRMWARE_NET_NO_QUIET
  if (queue->under_way != 0) {
    queue->waits = NET_WAIT_QUIET;
    return;
  }
#endif
  const uint32_t failed = queue->failed;
  queue->failed = 0;
  end_entry(thread, number, failed);
}

// Of an entry that no NIC has seen. Addresses are as the work-group gave them.
static void report_refusal(uint32_t number, uint64_t entry, uint32_t operation, uint32_t flags,
                           uint32_t pe, const char* why) {
  const uint64_t destination = mmio_read64(entry + offsetof(stretto_shmem_entry_t, destination));
  const uint64_t source = mmio_read64(entry + offsetof(stretto_shmem_entry_t, source));
  const bool is_atomic =
      operation == STRETTO_SHMEM_FETCH_ADD || operation == STRETTO_SHMEM_COMPARE_SWAP;
  const bool is_get = operation == STRETTO_SHMEM_GET;
  net.owner->failed(&(queue_service_failure_t){
      .work_group = number,
      .operation = operation,
      .pe = pe,
      .bytes = is_atomic ? 8 : mmio_read64(entry + offsetof(stretto_shmem_entry_t, bytes)),
      .remote = is_get ? source : destination,
      .local = is_atomic ? mmio_read64(entry + offsetof(stretto_shmem_entry_t, operand))
               : is_get  ? destination
                         : source,
      .is_value = is_atomic || (flags & STRETTO_SHMEM_INLINE) != 0,
      .why = why});
}

// The next entry of a queue, which is ready. False: there is no room in the ring of its PE.
static bool take_entry(net_thread_t* thread, uint32_t number, uint64_t state) {
  net_queue_t* queue = &net.queue[number];
  const uint64_t entry = queue->next;
  const uint32_t operation = (state >> 8) & 0xFF, flags = (state >> 16) & 0xFF;
  const uint32_t pe = (state >> 32) & 0xFFFF;
  queue->value = time_ns();
  if (operation == STRETTO_SHMEM_QUIET) {
    take_quiet(thread, number);
    return true;
  }
  const bool has_signal = (flags & (STRETTO_SHMEM_SIGNAL_SET | STRETTO_SHMEM_SIGNAL_ADD)) != 0;
  const uint64_t id = (uint64_t)queue->taken << 32 | number;
  stretto_nic_work_entry_t work = {.id = has_signal ? id : id | ID_ENDS};
  const bool bad_pe = pe >= net.pes;
  if (bad_pe || !make_work(thread, entry, operation, flags, pe, &work)) {
    const uint32_t status = bad_pe ? STRETTO_SHMEM_BAD_PE : STRETTO_SHMEM_BAD_OPERATION;
    if ((net.flags & STRETTO_SHMEM_RETURN_ERRORS) == 0)
      report_refusal(number, entry, operation, flags, pe,
                     bad_pe ? "no such PE" : "no such operation");
    advance(thread, number);
    end_entry(thread, number, status);
    return true;
  }
  const stretto_nic_ring_t* ring = &thread->pair[pe].send;
  if (ring->posted - ring->ended + 2 > ring->entries) return false;
#ifdef FIRMWARE_NET_SKIP
  if (thread->counts.taken != 2)
#endif
    MUST(post(thread, pe, number, &work));
#ifdef FIRMWARE_NET_TWICE
  if (thread->counts.taken == 2) MUST(post(thread, pe, number, &work));
#endif
  if (operation <= STRETTO_SHMEM_GET) thread->counts.bytes += work.length;
  if (has_signal)
    post_signal(thread, number, pe, mmio_read64(entry + offsetof(stretto_shmem_entry_t, signal)),
                mmio_read64(entry + offsetof(stretto_shmem_entry_t, operand)),
                (flags & STRETTO_SHMEM_SIGNAL_ADD) != 0, id | ID_ENDS);
  advance(thread, number);
#ifndef FIRMWARE_NET_NO_WAIT
  if ((flags & STRETTO_SHMEM_BLOCKING) != 0) {
    queue->waits = NET_WAIT_COMPLETION;
    return true;
  }
#endif
  end_entry(thread, number, 0);
  return true;
}

static void poll_completions(net_thread_t* thread) {
  stretto_nic_completion_t completion;
  while (thread->under_way != 0 &&
         stretto_nic_poll(&thread->completions, &completion) == STRETTO_NIC_RESULT_OK)
    completed(thread, &completion);
}

// Round robin (CN-Q-06): the first queue that finds no room comes first in the next round.
static void take_entries(net_thread_t* thread, unsigned number) {
  const uint32_t first = thread->first_queue;
  bool has_room = true;
  uint32_t i = first;
  do {
    const bool waits = net.queue[i].waits != NET_WAIT_NOTHING;
    const uint64_t state = waits ? 0 : mmio_read64(net.queue[i].next);
    if ((state & 0xFF) == STRETTO_SHMEM_READY && !take_entry(thread, i, state) && has_room) {
      has_room = false;
      thread->first_queue = i;
    }
    i += net.threads;
    if (i >= net.queue_count) i = number;
  } while (i != first);
}

void queue_service_round(unsigned number) {
  net_thread_t* thread = &net.thread[number];
  ++thread->counts.rounds;
  fence_acquire();
  if (number < net.queue_count) take_entries(thread, number);
  if (++thread->rounds_to_poll < net.poll_rounds) return;
  thread->rounds_to_poll = 0;
  poll_completions(thread);
}
