// SPDX-License-Identifier: Apache-2.0
// See symmetric.h.
#include "sw/net/symmetric.h"

#include <stdio.h>

#define RING_BYTES ((uint64_t)STRETTO_NIC_WORK_ENTRY_BYTES << STRETTO_SYMMETRIC_RING_LOG2)
#define COUNTS_OFFSET 0x800ull   // Of harts, behind the table.
#define RESULTS_OFFSET 0xc00ull  // A sector a hart.
#define HARTS_OFFSET 0x1000ull   // Rings and completions of each.
#define RESULTS_REGION STRETTO_CLUSTER_REGIONS
// Numbers of the NIC: behind those of the cluster.
#define FIRST_QUEUE 1u
#define FIRST_PAIR 64u
#define FIRST_PAGE 1u

_Static_assert(sizeof(stretto_shmem_table_t) <= COUNTS_OFFSET, "in front of the counts");
_Static_assert(FIRST_PAIR + STRETTO_SHMEM_MAX_HARTS * STRETTO_SHMEM_MAX_PES <= STRETTO_NIC_PAIRS &&
                   FIRST_PAIR > STRETTO_CLUSTER_SERVERS,
               "pairs of the cluster, then of harts");

// A completion queue has twice as many entries as the rings that it serves.
static uint32_t completions_log2(uint32_t pes) {
  uint32_t log2 = STRETTO_SYMMETRIC_RING_LOG2 + 2;
  while (1u << (log2 - STRETTO_SYMMETRIC_RING_LOG2 - 2) < pes) ++log2;
  return log2;
}

static uint64_t completions_bytes(uint32_t pes) {
  return (uint64_t)STRETTO_NIC_COMPLETION_BYTES << completions_log2(pes);
}

static uint64_t hart_bytes(uint32_t pes) { return 2 * pes * RING_BYTES + completions_bytes(pes); }

uint64_t stretto_symmetric_service_bytes(uint32_t pes) {
  return HARTS_OFFSET + STRETTO_SHMEM_MAX_HARTS * hart_bytes(pes);
}

uint64_t stretto_symmetric_counts_offset(void) { return COUNTS_OFFSET; }

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

// Memory that harts, kernels and NICs take for zero at first.
static stretto_status_t clear(stretto_symmetric_t* symmetric) {
  const stretto_symmetric_options_t* o = &symmetric->options;
  const struct {
    uint64_t address, bytes;
  } ranges[] = {
      {o->service, stretto_symmetric_service_bytes(o->cluster.servers)},
      {o->queues, (uint64_t)o->queue_count * STRETTO_SHMEM_QUEUE_BYTES},
      {o->cluster.heap, STRETTO_SHMEM_SYNC_BYTES(o->queue_count)},
  };
  for (unsigned i = 0; i < sizeof ranges / sizeof ranges[0]; ++i)
    TRY(of_driver(symmetric,
                  o->client->api->fill(o->client, o->stream, ranges[i].address, ranges[i].bytes, 0,
                                       STRETTO_ACCOUNT_OTHER),
                  "fill"));
  return of_driver(symmetric, o->client->api->stream_synchronize(o->client, o->stream), "fill");
}

// Queue pairs of hart `hart`, whose ends are those of hart `hart` elsewhere.
static stretto_nic_result_t connect(stretto_symmetric_t* symmetric, uint32_t hart,
                                    const stretto_shmem_hart_t* of) {
  stretto_nic_t* nic = &symmetric->cluster.nic;
  const stretto_cluster_options_t* o = &symmetric->options.cluster;
  const uint32_t log2 = completions_log2(o->servers);
  const uint32_t first = FIRST_PAIR + hart * STRETTO_SHMEM_MAX_PES;
  stretto_nic_queue_t queue;
  stretto_nic_result_t result =
      stretto_nic_queue_configure(nic, of->completion_queue, of->completions, log2);
  if (result == STRETTO_NIC_RESULT_OK)
    result = stretto_nic_queue_attach(&queue, nic, of->completion_queue, of->completions, log2);
  for (uint32_t pe = 0; pe < o->servers && result == STRETTO_NIC_RESULT_OK; ++pe) {
    if (pe == o->server) continue;
    const uint64_t ring = of->rings + 2 * pe * RING_BYTES;
    stretto_nic_pair_t pair;
    result = stretto_nic_pair_attach(&pair, nic, first + pe, ring, ring + RING_BYTES,
                                     STRETTO_SYMMETRIC_RING_LOG2, &queue, of->page);
    if (result == STRETTO_NIC_RESULT_OK) result = stretto_nic_connect(&pair, pe, first + o->server);
    nic->pairs[first + pe] = NULL;  // The hart's from here on.
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
                                   .counts = o->service + COUNTS_OFFSET};
  uint32_t results_key = 0;
  stretto_nic_result_t result =
      stretto_nic_register(&cluster->nic, RESULTS_REGION, o->service + RESULTS_OFFSET,
                           64 * STRETTO_SHMEM_MAX_HARTS, STRETTO_NIC_LOCAL_WRITE, &results_key);
  for (uint32_t i = 0; i < STRETTO_SHMEM_MAX_HARTS && result == STRETTO_NIC_RESULT_OK; ++i) {
    const uint64_t base = o->service + HARTS_OFFSET + i * hart_bytes(pes);
    table->hart[i] = (stretto_shmem_hart_t){.completions = base,
                                            .rings = base + completions_bytes(pes),
                                            .result = o->service + RESULTS_OFFSET + 64 * i,
                                            .result_key = results_key,
                                            .completion_queue = FIRST_QUEUE + i,
                                            .first_pair = FIRST_PAIR + i * STRETTO_SHMEM_MAX_PES,
                                            .page = FIRST_PAGE + i};
    result = connect(symmetric, i, &table->hart[i]);
  }
  for (uint32_t pe = 0; pe < pes; ++pe) {
    const int own = pe == o->cluster.server;
    table->peer[pe].heap = own ? o->cluster.heap : cluster->peer[pe].heap;
    table->peer[pe].key = own ? cluster->heap_key : cluster->peer[pe].heap_key;
  }
  return result;
}

stretto_status_t stretto_symmetric_open(stretto_symmetric_t* symmetric,
                                        const stretto_symmetric_options_t* options) {
  const stretto_symmetric_options_t* o = &symmetric->options;
  *symmetric = (stretto_symmetric_t){.options = *options};
  if (o->queue_count == 0 || o->queue_count > STRETTO_SHMEM_QUEUES || o->poll_rounds == 0 ||
      o->cluster.servers < 2 || o->cluster.heap_bytes < STRETTO_SHMEM_SYNC_BYTES(o->queue_count) ||
      (o->cluster.heap | o->queues) % STRETTO_SHARED_ALIGNMENT != 0 || o->service % 64 != 0)
    return fail(symmetric, STRETTO_ERROR_ARGUMENT, "symmetric memory",
                "a number, an address or the size of the heap");
  symmetric->handle = (stretto_shmem_handle_t){.queues = o->queues,
                                               .heap = o->cluster.heap,
                                               .pe = o->cluster.server,
                                               .pes = o->cluster.servers,
                                               .queue_count = o->queue_count,
                                               .flags = o->handle_flags};
  TRY(clear(symmetric));
  TRY(of_cluster(symmetric, stretto_cluster_join(&symmetric->cluster, &o->cluster), "join"));
  stretto_shmem_table_t table;
  if (fill_table(symmetric, &table) != STRETTO_NIC_RESULT_OK)
    return fail(symmetric, STRETTO_ERROR_ARGUMENT, "symmetric memory", "the NIC has no such place");
  const stretto_api_t* api = o->client->api;
  TRY(of_driver(symmetric, api->copy_to_device(o->client, o->service, &table, sizeof table),
                "table"));
  TRY(of_driver(symmetric, api->network(o->client, o->stream, o->service), "start"));
  TRY(of_driver(symmetric, api->stream_synchronize(o->client, o->stream), "start"));
  return stretto_symmetric_barrier(symmetric);
}

stretto_status_t stretto_symmetric_barrier(stretto_symmetric_t* symmetric) {
  return of_cluster(symmetric, stretto_cluster_barrier(&symmetric->cluster), "barrier");
}

stretto_status_t stretto_symmetric_close(stretto_symmetric_t* symmetric) {
  const stretto_symmetric_options_t* o = &symmetric->options;
  const stretto_api_t* api = o->client->api;
  TRY(of_driver(symmetric, api->network(o->client, o->stream, 0), "stop"));
  return of_driver(symmetric, api->stream_synchronize(o->client, o->stream), "stop");
}
