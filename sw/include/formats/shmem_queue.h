// SPDX-License-Identifier: Apache-2.0
// Command queues between work-groups and the network service of the firmware (ComP-Net 4.2.1): how
// a work-group asks for an operation on the memory of another server, and is told of its end. C
// (firmware, kernels), C and C++ (host programs). Who uses them: sw/include/shmem.h.
//
// A queue belongs to one work-group at a time: first a sector of the work-group, then one of the
// service, then a ring of entries of one sector each. It lies in memory of its GPU: of class SHARED
// where harts of the command processor serve it, UNCACHED where threads of the host do.
//   work-group  writes words 1 to 6 of entry n % STRETTO_SHMEM_ENTRIES, then word 0 with status
//               READY, by tile.llc_store or tile.locked_store: behind the others, at device scope
//   service     polls word 0 of the next entry, takes it, and when it has ended writes words 1 and 0:
//               a value, and status DONE or a failure
// An entry whose status is not READY is the work-group's. The read index lags by at most one:
// entries below it have their last word 0, so the work-group may write their places again. The
// service takes entries of a queue in order. Behind one that waits (BLOCKING, QUIET) it takes none.
//
// Entries may lie elsewhere than the rest, in host memory, where a work-group can write and not
// read: `entries` and `queues` of handle and table differ then. What the work-group reads stays in
// GPU memory: it first stores word 0 of the entry in the queue, which the service answers, and then
// writes the entry. The service clears word 0 of what it has taken.
#ifndef STRETTO_SW_INCLUDE_FORMATS_SHMEM_QUEUE_H_
#define STRETTO_SW_INCLUDE_FORMATS_SHMEM_QUEUE_H_

#ifdef __cplusplus
#include <cstdint>
#define STRETTO_SHMEM_STATIC_ASSERT static_assert
#else
#include <stdint.h>
#define STRETTO_SHMEM_STATIC_ASSERT _Static_assert
#endif

// Status, bits [7:0] of word 0. A failure is STRETTO_SHMEM_FAILED with the status of the NIC
// (formats/nic.h), or with BAD_PE or BAD_OPERATION, which the service finds itself.
enum {
  STRETTO_SHMEM_DONE = 0,
  STRETTO_SHMEM_READY = 1,
  STRETTO_SHMEM_FAILED = 0x80,
  STRETTO_SHMEM_BAD_PE = 0x40,         // No such PE.
  STRETTO_SHMEM_BAD_OPERATION = 0x41,  // No such operation.
};

// Operation, bits [15:8].
enum {
  STRETTO_SHMEM_PUT = 1,           // `bytes` of `source` to `destination` at the PE.
  STRETTO_SHMEM_GET = 2,           // `bytes` of `source` at the PE to `destination`.
  STRETTO_SHMEM_FETCH_ADD = 3,     // Adds `operand` to the word `destination` there; value: before.
  STRETTO_SHMEM_COMPARE_SWAP = 4,  // Stores `operand` there if it is `compare`; value: before.
  STRETTO_SHMEM_QUIET = 5,         // Ends when all of the queue before it has ended.
};

// Flags, bits [23:16].
enum {
  STRETTO_SHMEM_BLOCKING = 1,    // Ends when its effects are there; else when it is on its way.
  STRETTO_SHMEM_INLINE = 2,      // PUT: `source` is the data, at most 8 bytes.
  STRETTO_SHMEM_SIGNAL_SET = 4,  // PUT: behind the data `operand` is put to `signal` at the PE,
  STRETTO_SHMEM_SIGNAL_ADD = 8,  // or added there.
};

// Word 0: status [7:0], operation [15:8], flags [23:16], PE [47:32], work-group [63:48].
typedef struct stretto_shmem_entry {
  uint64_t state;
  union {
    uint64_t destination;  // Symmetric addresses are those in the heap of the PE that issues.
    uint64_t value;        // When it has ended: of an atomic, what was there before; of others, the
                           // clock of the command processor when it took the entry, nanoseconds.
  };
  uint64_t source;
  uint64_t bytes;
  uint64_t signal;
  uint64_t operand;
  uint64_t compare;
  uint64_t reserved;
} stretto_shmem_entry_t;

// The service's operations have ids at the NIC: queue [15:0], 1 in [16] of what ends the entry, number
// of the entry in its queue [63:32].
#define STRETTO_SHMEM_ID_QUEUE(id) ((uint32_t)(id)&0xFFFFu)

static inline uint64_t stretto_shmem_state(uint32_t operation, uint32_t flags, uint32_t pe,
                                           uint32_t work_group) {
  return (uint64_t)(work_group & 0xFFFF) << 48 | (uint64_t)(pe & 0xFFFF) << 32 |
         (uint64_t)flags << 16 | operation << 8 | STRETTO_SHMEM_READY;
}

#define STRETTO_SHMEM_ENTRY_BYTES 64u
#define STRETTO_SHMEM_ENTRIES 64u      // CN-Q-09.
#define STRETTO_SHMEM_QUEUES 1024u     // Of a GPU.
#define STRETTO_SHMEM_MAX_PES 32u      // Servers of a machine.
#define STRETTO_SHMEM_MAX_THREADS 16u  // That serve: harts of a command processor, or the host's.
#define STRETTO_SHMEM_HARTS 2u         // Of these, harts.
#define STRETTO_SHMEM_WRITTEN 0u   // Offsets in a queue. Sector of the work-group: entries so far,
#define STRETTO_SHMEM_BARRIERS 8u  // barriers so far,
#define STRETTO_SHMEM_EXCHANGES 16u  // words exchanged so far; kept from one kernel to the next.
#define STRETTO_SHMEM_TAKEN 24u      // 1: a work-group has it.
#define STRETTO_SHMEM_READ 64u       // Sector of the service: read index.
#define STRETTO_SHMEM_FIRST 128u     // Entries.
#define STRETTO_SHMEM_QUEUE_BYTES \
  (STRETTO_SHMEM_FIRST + STRETTO_SHMEM_ENTRIES * STRETTO_SHMEM_ENTRY_BYTES)

// The heap begins with what collectives of each work-group need; then it is the program's. Of a
// work-group, words by PE: of barriers, then twice of words that are exchanged; then 32-bit numbers
// by PE.
#define STRETTO_SHMEM_EXCHANGED (8u * STRETTO_SHMEM_MAX_PES)  // Offsets.
#define STRETTO_SHMEM_NUMBERS (24u * STRETTO_SHMEM_MAX_PES)
#define STRETTO_SHMEM_WORK_BYTES (32u * STRETTO_SHMEM_MAX_PES)
#define STRETTO_SHMEM_SYNC_BYTES(queues) ((uint64_t)(queues)*STRETTO_SHMEM_WORK_BYTES)

// What kernels need to know, in their arguments.
typedef struct stretto_shmem_handle {
  uint64_t queues;   // Queue w is that of work-group w,
  uint64_t entries;  // and its entries are at this address + their offset in `queues`.
  uint64_t heap;     // Of this PE; multiple of 128, class SHARED.
  uint32_t pe;
  uint32_t pes;
  uint32_t queue_count;
  uint32_t flags;  // STRETTO_SHMEM_NO_LOCK.
} stretto_shmem_handle_t;
#define STRETTO_SHMEM_NO_LOCK 1u  // Entries are announced without keeping them in the L2.

// What a thread of the service has for itself, in memory that it polls: of the GPU, not cached in the
// L2, or of the host.
typedef struct stretto_shmem_thread {
  uint64_t completions;  // Completion queue.
  uint64_t rings;        // Of each PE two, send then receive.
  uint64_t result;       // Word that the NIC writes results of atomics to,
  uint32_t result_key;
  uint32_t completion_queue;  // Numbers of the NIC: of the completion queue,
  uint32_t first_pair;        // of the queue pair to PE 0; that to PE p is first_pair + p,
  uint32_t page;              // and of its doorbell page.
} stretto_shmem_thread_t;

// What the service is told, in the same memory, before it starts (STRETTO_OP_NET_START, or
// stretto_shmem_control_t). Thread t serves queues t, t + threads, ...
typedef struct stretto_shmem_table {
  uint64_t queues;
  uint32_t queue_count;       // 1 .. STRETTO_SHMEM_QUEUES.
  uint32_t pe;                // Number of the server.
  uint32_t pes;               // 2 .. STRETTO_SHMEM_MAX_PES.
  uint32_t poll_rounds;       // Rounds over the queues to one look at completions (CN-Q-08), 1 ..
  uint32_t ring_log2;         // Entries of a ring,
  uint32_t completions_log2;  // and of a completion queue.
  uint64_t heap;
  uint32_t heap_key;
  uint32_t flags;    // STRETTO_SHMEM_RETURN_ERRORS.
  uint64_t counts;   // A stretto_shmem_counts_t for each thread, written when the service stops.
  uint64_t entries;  // As in the handle, but as the service names them.
  uint32_t threads;  // 1 .. STRETTO_SHMEM_MAX_THREADS.
  uint32_t reserved;
  stretto_shmem_thread_t thread[STRETTO_SHMEM_MAX_THREADS];
  struct {
    uint64_t heap;
    uint64_t key;
  } peer[STRETTO_SHMEM_MAX_PES];
} stretto_shmem_table_t;
#define STRETTO_SHMEM_RETURN_ERRORS \
  1u  // A failure is told to the work-group alone; else it ends the run.

// Start and stop of threads of the host, words of its memory, zero at first.
typedef struct stretto_shmem_control {
  uint64_t run;  // Address of the table; 0: stop when all that was taken has ended.
  // STRETTO_SHMEM_SERVES, then STRETTO_SHMEM_STOPPED, or a negative status.
  uint64_t state[STRETTO_SHMEM_MAX_THREADS];
} stretto_shmem_control_t;
enum { STRETTO_SHMEM_SERVES = 1, STRETTO_SHMEM_STOPPED = 2 };

// What a thread has done since the service started.
typedef struct stretto_shmem_counts {
  uint64_t taken;      // Entries,
  uint64_t ended;      // of these those whose word 0 was written.
  uint64_t posted;     // Operations of the NIC,
  uint64_t completed;  // and those whose completion was read.
  uint64_t bytes;      // Of puts and gets that were posted.
  uint64_t rounds;     // Over the queues.
  uint64_t reserved[2];
} stretto_shmem_counts_t;

STRETTO_SHMEM_STATIC_ASSERT(sizeof(stretto_shmem_entry_t) == STRETTO_SHMEM_ENTRY_BYTES,
                            "one sector");
STRETTO_SHMEM_STATIC_ASSERT(STRETTO_SHMEM_QUEUE_BYTES % 128 == 0, "whole lines");
STRETTO_SHMEM_STATIC_ASSERT(sizeof(stretto_shmem_thread_t) == 40 &&
                                sizeof(stretto_shmem_handle_t) == 40 &&
                                sizeof(stretto_shmem_counts_t) == 64 &&
                                sizeof(stretto_shmem_control_t) == 136 &&
                                sizeof(stretto_shmem_table_t) == 72 + 16 * 40 + 32 * 16,
                            "read by services and kernels");

#endif  // STRETTO_SW_INCLUDE_FORMATS_SHMEM_QUEUE_H_
