// SPDX-License-Identifier: Apache-2.0
// See symmetric.h.
#include "sw/net/symmetric.h"

#include <stddef.h>
#include <stdio.h>

#define RING_BYTES ((uint64_t)STRETTO_NIC_WORK_ENTRY_BYTES << STRETTO_SYMMETRIC_RING_LOG2)
#define CONTROL_OFFSET 0x700ull   // Behind the table.
#define COUNTS_OFFSET 0x800ull    // Of threads.
#define RESULTS_OFFSET 0xc00ull   // A sector a thread.
#define THREADS_OFFSET 0x1000ull  // Rings and completions of each.
#define RESULTS_REGION STRETTO_CLUSTER_REGIONS
// Numbers of the NIC: behind those of the cluster.
#define FIRST_QUEUE 1u
#define FIRST_PAIR 64u
#define FIRST_PAGE 1u

_Static_assert(sizeof(stretto_shmem_table_t) <= CONTROL_OFFSET &&
                   CONTROL_OFFSET + sizeof(stretto_shmem_control_t) <= COUNTS_OFFSET &&
                   COUNTS_OFFSET + STRETTO_SHMEM_MAX_THREADS * sizeof(stretto_shmem_counts_t) <=
                       RESULTS_OFFSET &&
                   RESULTS_OFFSET + STRETTO_SHMEM_MAX_THREADS * 64 <= THREADS_OFFSET,
               "one behind the other");
_Static_assert(FIRST_PAIR > STRETTO_CLUSTER_SERVERS &&
                   FIRST_QUEUE + STRETTO_SHMEM_MAX_THREADS <= STRETTO_NIC_QUEUES &&
                   FIRST_PAIR + STRETTO_SHMEM_MAX_THREADS * 8 <= STRETTO_NIC_PAIRS,
               "pairs of the cluster, then of threads: of 8 servers all, of 32 six");

// A completion queue has twice as many entries as the rings that it serves.
static uint32_t completions_log2(uint32_t pes) {
  uint32_t log2 = STRETTO_SYMMETRIC_RING_LOG2 + 2;
  while (1u << (log2 - STRETTO_SYMMETRIC_RING_LOG2 - 2) < pes) ++log2;
  return log2;
}

static uint64_t completions_bytes(uint32_t pes) {
  return (uint64_t)STRETTO_NIC_COMPLETION_BYTES << completions_log2(pes);
}

static uint64_t thread_bytes(uint32_t pes) { return 2 * pes * RING_BYTES + completions_bytes(pes); }

uint64_t stretto_symmetric_service_bytes(uint32_t threads, uint32_t pes) {
  return THREADS_OFFSET + threads * thread_bytes(pes);
}

uint64_t stretto_symmetric_counts_offset(void) { return COUNTS_OFFSET; }
uint64_t stretto_symmetric_control_offset(void) { return CONTROL_OFFSET; }

static stretto_status_t fail(stretto_symmetric_t* symmetric, stretto_status_t status,
                             const char* what, const char* why) {
  snprintf(symmetric->error, sizeof symmetric->error, "%s: %s", what, why);
  return status;
}

static stretto_status_t of_driver(stretto_symmetric_t* symmetric, stretto_status_t status,
                                  const char* what) {
  if (status == STRETTO_OK) return status;
  const stretto_client_t* client = symmetric->options.client;
  return fail(symmetric, status, what, client->api->last_error(client));
}

static stretto_status_t of_cluster(stretto_symmetric_t* symmetric, stretto_nic_result_t result,
                                   const char* what) {
  if (result == STRETTO_NIC_RESULT_OK) return STRETTO_OK;
  return fail(symmetric, STRETTO_ERROR_STATE, what, symmetric->cluster.error);
}

#define TRY(call)                              \
  do {                                         \
    const stretto_status_t status_ = (call);   \
    if (status_ != STRETTO_OK) return status_; \
  } while (0)

// Memory of the GPU that service, kernels and NICs take for zero at first.
static stretto_status_t clear(stretto_symmetric_t* symmetric) {
  const stretto_symmetric_options_t* o = &symmetric->options;
  const struct {
    uint64_t address, bytes;
  } ranges[] = {
      {o->service,
       o->by_host ? 0 : stretto_symmetric_service_bytes(o->threads, o->cluster.servers)},
      {o->queues, (uint64_t)o->queue_count * STRETTO_SHMEM_QUEUE_BYTES},
      {o->cluster.heap, STRETTO_SHMEM_SYNC_BYTES(o->queue_count)},
  };
  for (unsigned i = 0; i < sizeof ranges / sizeof ranges[0]; ++i) {
    if (ranges[i].bytes == 0) continue;
    TRY(of_driver(symmetric,
                  o->client->api->fill(o->client, o->stream, ranges[i].address, ranges[i].bytes, 0,
                                       STRETTO_ACCOUNT_OTHER),
                  "fill"));
  }
  return of_driver(symmetric, o->client->api->stream_synchronize(o->client, o->stream), "fill");
}

// Queue pairs of a thread, whose ends are those of the thread of this number elsewhere; that to the
// own PE is its own end.
static stretto_nic_result_t connect(stretto_symmetric_t* symmetric,
                                    const stretto_shmem_thread_t* of) {
  stretto_nic_t* nic = &symmetric->cluster.nic;
  const stretto_cluster_options_t* o = &symmetric->options.cluster;
  const uint32_t log2 = completions_log2(o->servers);
  const uint32_t first = of->first_pair;
  stretto_nic_queue_t queue;
  stretto_nic_result_t result =
      stretto_nic_queue_configure(nic, of->completion_queue, of->completions, log2);
  if (result == STRETTO_NIC_RESULT_OK)
    result = stretto_nic_queue_attach(&queue, nic, of->completion_queue, of->completions, log2);
  for (uint32_t pe = 0; pe < o->servers && result == STRETTO_NIC_RESULT_OK; ++pe) {
    const uint64_t ring = of->rings + 2 * pe * RING_BYTES;
    stretto_nic_pair_t pair;
    result = stretto_nic_pair_attach(&pair, nic, first + pe, ring, ring + RING_BYTES,
                                     STRETTO_SYMMETRIC_RING_LOG2, &queue, of->page);
    if (result == STRETTO_NIC_RESULT_OK) result = stretto_nic_connect(&pair, pe, first + o->server);
    nic->pairs[first + pe] = NULL;  // The thread's from here on.
  }
  return result;
}

static stretto_nic_result_t fill_table(stretto_symmetric_t* symmetric,
                                       stretto_shmem_table_t* table) {
  const stretto_symmetric_options_t* o = &symmetric->options;
  stretto_cluster_t* cluster = &symmetric->cluster;
  const uint32_t pes = o->cluster.servers;
  *table = (stretto_shmem_table_t){.queues = o->queues,
                                   .queue_count = o->queue_count,
                                   .pe = o->cluster.server,
                                   .pes = pes,
                                   .poll_rounds = o->poll_rounds,
                                   .ring_log2 = STRETTO_SYMMETRIC_RING_LOG2,
                                   .completions_log2 = completions_log2(pes),
                                   .heap = o->cluster.heap,
                                   .heap_key = cluster->heap_key,
                                   .flags = o->table_flags,
                                   .counts = o->service + COUNTS_OFFSET,
                                   .entries = symmetric->handle.entries,
                                   .threads = o->threads};
  uint32_t results_key = 0;
  stretto_nic_result_t result =
      stretto_nic_register(&cluster->nic, RESULTS_REGION, o->service + RESULTS_OFFSET,
                           64 * o->threads, STRETTO_NIC_LOCAL_WRITE, &results_key);
  for (uint32_t i = 0; i < o->threads && result == STRETTO_NIC_RESULT_OK; ++i) {
    const uint64_t base = o->service + THREADS_OFFSET + i * thread_bytes(pes);
    table->thread[i] = (stretto_shmem_thread_t){.completions = base,
                                                .rings = base + completions_bytes(pes),
                                                .result = o->service + RESULTS_OFFSET + 64 * i,
                                                .result_key = results_key,
                                                .completion_queue = FIRST_QUEUE + i,
                                                .first_pair = FIRST_PAIR + i * pes,
                                                .page = FIRST_PAGE + i};
    result = connect(symmetric, &table->thread[i]);
  }
  for (uint32_t pe = 0; pe < pes; ++pe) {
    const int own = pe == o->cluster.server;
    table->peer[pe].heap = own ? o->cluster.heap : cluster->peer[pe].heap;
    table->peer[pe].key = own ? cluster->heap_key : cluster->peer[pe].heap_key;
  }
  return result;
}

// Until the state of each thread is no longer `before`; it should be `after` then.
static stretto_status_t await_threads(stretto_symmetric_t* symmetric, uint64_t before,
                                      uint64_t after, const char* what) {
  const stretto_symmetric_options_t* o = &symmetric->options;
  const stretto_host_ops_t* ops = o->cluster.ops;
  const uint64_t states = o->service + CONTROL_OFFSET + offsetof(stretto_shmem_control_t, state);
  for (uint32_t i = 0; i < o->threads; ++i)
    if (ops->wait(ops->context, states + 8 * i, STRETTO_WAIT_NOT_EQUAL, before) != after)
      return fail(symmetric, STRETTO_ERROR_STATE, what, "a thread refuses");
  return STRETTO_OK;
}

static stretto_status_t start_harts(stretto_symmetric_t* symmetric,
                                    const stretto_shmem_table_t* table) {
  const stretto_symmetric_options_t* o = &symmetric->options;
  const stretto_api_t* api = o->client->api;
  TRY(of_driver(symmetric, api->copy_to_device(o->client, o->service, table, sizeof *table),
                "table"));
  TRY(of_driver(symmetric, api->network(o->client, o->stream, o->service), "start"));
  return of_driver(symmetric, api->stream_synchronize(o->client, o->stream), "start");
}

static stretto_status_t start_threads(stretto_symmetric_t* symmetric,
                                      const stretto_shmem_table_t* table) {
  const stretto_symmetric_options_t* o = &symmetric->options;
  const stretto_host_ops_t* ops = o->cluster.ops;
  const uint64_t control = o->service + CONTROL_OFFSET;
  if (o->entries != 0)
    TRY(of_driver(symmetric,
                  o->client->api->remote_map(o->client, o->stream, o->entries,
                                             (uint64_t)o->queue_count * STRETTO_SHMEM_QUEUE_BYTES,
                                             o->entries, 0),
                  "map"));
  ops->store_bytes(ops->context, o->service, table, sizeof *table);
  ops->store(ops->context, control + offsetof(stretto_shmem_control_t, run), o->service);
  return await_threads(symmetric, 0, STRETTO_SHMEM_SERVES, "start");
}

// Addresses are symmetric only where all heaps are alike.
static stretto_status_t compare_heaps(stretto_symmetric_t* symmetric) {
  const stretto_cluster_options_t* o = &symmetric->options.cluster;
  for (uint32_t pe = 0; pe < o->servers; ++pe) {
    const uint64_t bytes = symmetric->cluster.peer[pe].heap_bytes;
    if (pe == o->server || bytes == o->heap_bytes) continue;
    snprintf(symmetric->error, sizeof symmetric->error,
             "heap of %llu bytes, of PE %u %llu: all must have as many work-groups and bytes",
             (unsigned long long)o->heap_bytes, pe, (unsigned long long)bytes);
    return STRETTO_ERROR_ARGUMENT;
  }
  return STRETTO_OK;
}

stretto_status_t stretto_symmetric_open(stretto_symmetric_t* symmetric,
                                        const stretto_symmetric_options_t* options) {
  const stretto_symmetric_options_t* o = &symmetric->options;
  *symmetric = (stretto_symmetric_t){.options = *options};
  if (o->queue_count == 0 || o->queue_count > STRETTO_SHMEM_QUEUES || o->poll_rounds == 0 ||
      o->threads == 0 ||
      o->threads > (o->by_host ? STRETTO_SHMEM_MAX_THREADS : STRETTO_SHMEM_HARTS) ||
      (o->entries != 0 && !o->by_host) || o->cluster.servers < 2 ||
      o->cluster.heap_bytes < STRETTO_SHMEM_SYNC_BYTES(o->queue_count) ||
      (o->cluster.heap | o->queues) % STRETTO_SHARED_ALIGNMENT != 0 || o->service % 64 != 0)
    return fail(symmetric, STRETTO_ERROR_ARGUMENT, "symmetric memory",
                "a number, an address or the size of the heap");
  symmetric->handle = (stretto_shmem_handle_t){.queues = o->queues,
                                               .entries = o->entries != 0 ? o->entries : o->queues,
                                               .heap = o->cluster.heap,
                                               .pe = o->cluster.server,
                                               .pes = o->cluster.servers,
                                               .queue_count = o->queue_count,
                                               .flags = o->handle_flags};
  TRY(clear(symmetric));
  TRY(of_cluster(symmetric, stretto_cluster_join(&symmetric->cluster, &o->cluster), "join"));
  TRY(compare_heaps(symmetric));
  stretto_shmem_table_t table;
  if (fill_table(symmetric, &table) != STRETTO_NIC_RESULT_OK)
    return fail(symmetric, STRETTO_ERROR_ARGUMENT, "symmetric memory", "the NIC has no such place");
  TRY(o->by_host ? start_threads(symmetric, &table) : start_harts(symmetric, &table));
  return stretto_symmetric_barrier(symmetric);
}

stretto_status_t stretto_symmetric_barrier(stretto_symmetric_t* symmetric) {
  return of_cluster(symmetric, stretto_cluster_barrier(&symmetric->cluster), "barrier");
}

stretto_status_t stretto_symmetric_close(stretto_symmetric_t* symmetric) {
  const stretto_symmetric_options_t* o = &symmetric->options;
  const stretto_api_t* api = o->client->api;
  if (o->by_host) {
    const stretto_host_ops_t* ops = o->cluster.ops;
    ops->store(ops->context, o->service + CONTROL_OFFSET + offsetof(stretto_shmem_control_t, run),
               0);
    return await_threads(symmetric, STRETTO_SHMEM_SERVES, STRETTO_SHMEM_STOPPED, "stop");
  }
  TRY(of_driver(symmetric, api->network(o->client, o->stream, 0), "stop"));
  return of_driver(symmetric, api->stream_synchronize(o->client, o->stream), "stop");
}
