// SPDX-License-Identifier: Apache-2.0
// Symmetric memory: a host program's side of sw/include/shmem.h. It joins the cluster, gives harts
// of its GPU's command processor, or threads of the host, queue pairs to all other servers, and
// starts the service of command queues. From then on kernels and service communicate alone, until
// the program closes.
//
// One PE a server, and one GPU of it. Order of calls: stretto_symmetric_open at all servers;
// kernels with `handle`; stretto_symmetric_barrier; stretto_symmetric_close, all kernels having
// ended.
#ifndef STRETTO_SW_NET_SYMMETRIC_H_
#define STRETTO_SW_NET_SYMMETRIC_H_

#include "sw/include/formats/shmem_queue.h"
#include "sw/net/cluster.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STRETTO_SYMMETRIC_RING_LOG2 6  // Operations of a hart under way to one PE: 64.

typedef struct stretto_symmetric_options {
  stretto_cluster_options_t cluster;  // `heap`: of the GPU, class SHARED, a multiple of 128.
  stretto_client_t* client;           // Of the GPU,
  stretto_stream_t* stream;           // where packets for the service go.
  int by_host;                        // Threads of the host serve (sw/host_service), else harts.
  uint32_t threads;                   // So many; of harts 1 .. STRETTO_SHMEM_HARTS.
  uint64_t service;  // stretto_symmetric_service_bytes() of the GPU, class UNCACHED; by_host: of
                     // the host, zero.
  uint64_t queues;   // queue_count x STRETTO_SHMEM_QUEUE_BYTES of the GPU, class SHARED; by_host:
                     // UNCACHED.
  uint64_t entries;  // by_host: as much of the host, zero, for entries; or 0: in `queues`.
  uint32_t queue_count;  // 1 .. STRETTO_SHMEM_QUEUES: work-groups that communicate at a time.
  uint32_t poll_rounds;  // See stretto_shmem_table_t; at least 1.
  uint32_t handle_flags;
  uint32_t table_flags;
} stretto_symmetric_options_t;

typedef struct stretto_symmetric {
  stretto_symmetric_options_t options;
  stretto_cluster_t cluster;
  stretto_shmem_handle_t handle;  // For kernels.
  char error[200];
} stretto_symmetric_t;

// Of a service of so many threads, among so many PEs.
uint64_t stretto_symmetric_service_bytes(uint32_t threads, uint32_t pes);
// Where in it the counts of threads are (stretto_shmem_counts_t), when the service has stopped; and
// the stretto_shmem_control_t that threads of the host look at.
uint64_t stretto_symmetric_counts_offset(void);
uint64_t stretto_symmetric_control_offset(void);

// Returns when all servers have opened theirs. The heap's first STRETTO_SHMEM_SYNC_BYTES are its
// own from here on. A status of the driver or STRETTO_ERROR_STATE; `error` says what.
stretto_status_t stretto_symmetric_open(stretto_symmetric_t* symmetric,
                                        const stretto_symmetric_options_t* options);
// Of the host programs.
stretto_status_t stretto_symmetric_barrier(stretto_symmetric_t* symmetric);
// Stops the service.
stretto_status_t stretto_symmetric_close(stretto_symmetric_t* symmetric);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_NET_SYMMETRIC_H_
