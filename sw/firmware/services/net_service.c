// SPDX-License-Identifier: Apache-2.0
// See net_service.h.
#include "sw/firmware/services/net_service.h"

#include <stddef.h>

#include "sw/firmware/hal/intc.h"
#include "sw/firmware/services/memory_range.h"
#include "sw/firmware/services/report.h"
#include "sw/include/formats/shmem_queue.h"
#include "sw/net/queue_service.h"

enum { NET_OFF, NET_RUNS, NET_STOPS };  // shared_t.networks

static volatile uint32_t failing FW_NOINIT;  // A hart reports a failure.
static unsigned gpu FW_NOINIT;
// Set by hart 0, cleared by the hart. Looked at while the service is not off.
static volatile bool serves[STRETTO_SHMEM_HARTS] FW_NOINIT;

// Queues and rings lie in memory of this GPU.
static bool is_own_memory(uint64_t address, uint64_t bytes) {
  return in_gpu_memory(address, bytes, gpu);
}

// The first hart alone: the other one waits for the end of the run.
static void failed(const queue_service_failure_t* failure) {
  while (__atomic_exchange_n(&failing, 1, __ATOMIC_RELAXED) != 0) wait_for_interrupt();
  if (failure == NULL) report_fail(FAIL_ASSERT, "assertion failed: network service");
  report_network_failure(failure);
}

static const queue_service_owner_t kOwner = {is_own_memory, is_own_memory, failed};

fw_result_t net_service_start(shared_t* shared, uint64_t table) {
  if (shared == NULL || table % 64 != 0) return STRETTO_ERROR_ARGUMENT;
  if (shared->networks != NET_OFF) return STRETTO_ERROR_STATE;
  if (!in_gpu_memory(table, sizeof(stretto_shmem_table_t), shared->gpu_id))
    return STRETTO_ERROR_UNMAPPED;
  gpu = shared->gpu_id;
  failing = 0;
  fw_result_t result = queue_service_open(&kOwner, table);
  const unsigned threads = queue_service_threads();
  if (result == STRETTO_OK && threads > STRETTO_SHMEM_HARTS) result = STRETTO_ERROR_ARGUMENT;
  for (unsigned i = 0; i < threads && result == STRETTO_OK; ++i) result = queue_service_attach(i);
  if (result != STRETTO_OK) return result;
  for (unsigned i = 0; i < STRETTO_SHMEM_HARTS; ++i) serves[i] = i < threads;
  fence_release();
  fence_private();
  shared->networks = NET_RUNS;
  shared->attends = true;
  clint_poke(COMPLETION_HART);
  return STRETTO_OK;
}

fw_result_t net_service_stop(shared_t* shared) {
  if (shared->networks == NET_OFF) return STRETTO_ERROR_STATE;
  shared->networks = NET_STOPS;
  for (unsigned i = 0; i < STRETTO_SHMEM_HARTS; ++i)
    if (serves[i]) return STRETTO_ERROR_TABLE_FULL;
  fence_private();
  for (unsigned i = 0; i < queue_service_threads(); ++i) queue_service_write_counts(i);
  shared->networks = NET_OFF;
  shared->attends = shared->drains || shared->highest_priority != 0;
  return STRETTO_OK;
}

bool net_service_runs(const shared_t* shared, unsigned hart) {
  return shared->networks != NET_OFF && serves[hart];
}

void net_service_serve(const shared_t* shared, unsigned hart, uint64_t until) {
  while (!interrupt_pending() && (until == CLINT_NEVER || clint_now() < until)) {
    queue_service_round(hart);
    if (shared->networks != NET_STOPS || !queue_service_is_idle(hart)) continue;
    fence_private();
    serves[hart] = false;
    clint_poke(QUEUE_HART);  // The packet that stops the service waits for that.
    return;
  }
}
