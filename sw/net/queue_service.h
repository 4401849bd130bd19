// SPDX-License-Identifier: Apache-2.0
// Service of command queues (ComP-Net 4.2.1): takes the entries of work-groups
// (formats/shmem_queue.h) and does by the NIC of the server what they ask for. The same C runs on
// harts of the command processor (sw/firmware/services/net_service.h) and on threads of the host
// (sw/host_service). Thread t has queues t, t + threads, ... and, to each other PE, a queue pair, so
// threads share nothing. A host program has registered memory and connected the queue pairs
// (sw/net/symmetric.h).
//
// Their state is FW_PRIVATE: who opens and attaches for others hands it over.
//
// Order of calls: queue_service_open; queue_service_attach of each thread; rounds;
// queue_service_write_counts.
#ifndef STRETTO_SW_NET_QUEUE_SERVICE_H_
#define STRETTO_SW_NET_QUEUE_SERVICE_H_

#include <stdbool.h>

#include "sw/firmware/hal/mmio.h"

#ifdef __cplusplus
extern "C" {
#endif

// An operation that has failed.
typedef struct queue_service_failure {
  uint32_t work_group;
  uint32_t operation;  // STRETTO_NIC_*.
  uint32_t pe;
  uint64_t bytes;
  uint64_t remote, local;  // 0: has not come so far.
  bool is_value;           // `local` is the data.
  const char* why;
} queue_service_failure_t;

// The program that has the service.
typedef struct queue_service_owner {
  // Whether all of [address, address + bytes) is memory for queues, and for rings and words of
  // threads.
  bool (*is_queue_memory)(uint64_t address, uint64_t bytes);
  bool (*is_ring_memory)(uint64_t address, uint64_t bytes);
  // A failure that no work-group is told of, or (null) something that cannot be happened. Does not
  // return.
  void (*failed)(const queue_service_failure_t* failure);
} queue_service_owner_t;

// STRETTO_ERROR_UNMAPPED: something that the table names is not memory where it may be.
// STRETTO_ERROR_ARGUMENT: a number in it is out of range. REQUIRES: the table can be read; the
// owner outlives the service.
FW_MUST_CHECK fw_result_t queue_service_open(const queue_service_owner_t* owner, uint64_t table);
// How many threads the table has.
unsigned queue_service_threads(void);
// Likewise. REQUIRES: thread < queue_service_threads().
FW_MUST_CHECK fw_result_t queue_service_attach(unsigned thread);
// Goes round the queues of the thread once and, each poll_rounds-th time, looks at completions.
void queue_service_round(unsigned thread);
// Whether all operations that the thread has posted have ended.
bool queue_service_is_idle(unsigned thread);
void queue_service_write_counts(unsigned thread);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_NET_QUEUE_SERVICE_H_
