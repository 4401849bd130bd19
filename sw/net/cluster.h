// SPDX-License-Identifier: Apache-2.0
// Cluster: host programs of several servers, one each, that know each other's memory. A program joins
// with its heap; then it has address and key of every other one's, and a queue pair to each. What
// they must tell each other for that goes in datagrams (verbs.h), as servers share nothing else.
//
// Order of calls: stretto_cluster_join at all servers; then post, wait, barrier; a barrier last, so
// that nobody is asked who has left. Structs belong to the caller and stay where they are. One thread
// a cluster.
#ifndef STRETTO_SW_NET_CLUSTER_H_
#define STRETTO_SW_NET_CLUSTER_H_

#include "sw/net/verbs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STRETTO_CLUSTER_SERVERS 32
#define STRETTO_CLUSTER_RING_LOG2 6        // Operations under way to one server: 64.
#define STRETTO_CLUSTER_BYTES 0x100000ull  // Of host memory, for rings, words and datagrams.

// Region of the heap; others are the caller's from STRETTO_CLUSTER_REGIONS on.
enum { STRETTO_CLUSTER_HEAP_REGION, STRETTO_CLUSTER_WORDS_REGION, STRETTO_CLUSTER_REGIONS };

typedef struct stretto_cluster_options {
  const stretto_host_ops_t* ops;
  uint32_t server;   // Of this program,
  uint32_t servers;  // of so many: 0, 1, ...
  uint64_t memory;   // STRETTO_CLUSTER_BYTES of host memory, zero, a multiple of 4096.
  uint64_t heap;     // Memory of this server, GPU's or host's, that others may read and write.
  uint64_t heap_bytes;
} stretto_cluster_options_t;

typedef struct stretto_cluster_peer {
  uint64_t heap, heap_bytes;
  uint64_t words;  // Of its barrier, one a server.
  uint32_t heap_key, words_key;
  uint8_t known;  // The fields above are its own.
  uint8_t knows;  // It has said that it knows this server.
  stretto_nic_pair_t pair;
} stretto_cluster_peer_t;

typedef struct stretto_cluster {
  stretto_cluster_options_t options;
  stretto_nic_t nic;
  stretto_nic_queue_t queue;
  stretto_nic_pair_t datagrams;
  uint32_t heap_key, words_key;
  uint64_t barriers, exchanges;
  uint32_t told;  // Puts of barriers and exchanges that have not ended.
  uint32_t datagrams_open;
  stretto_cluster_peer_t peer[STRETTO_CLUSTER_SERVERS];  // That of this server has no pair.
  char error[160];
} stretto_cluster_t;

// Returns when every other server is known and knows this one. ARGUMENT: see options; FAILED: one
// has not joined in 10 ms; `error` says.
stretto_nic_result_t stretto_cluster_join(stretto_cluster_t* cluster,
                                          const stretto_cluster_options_t* options);

// Address of the byte `offset` of the heap of a server.
uint64_t stretto_cluster_at(const stretto_cluster_t* cluster, uint32_t server, uint64_t offset);

// Posts to the pair of a server, see verbs.h. ARGUMENT: no other server.
stretto_nic_result_t stretto_cluster_post(stretto_cluster_t* cluster, uint32_t server,
                                          const stretto_nic_work_entry_t* entry);

// A message of `bytes` at `address` of the own heap to a server, and room for the next one from it: in
// the order of calls, as MPI's non-blocking send and receive of one tag. Each has a completion. A
// message that comes before its room is refused, and sent again when its sender's time is up.
stretto_nic_result_t stretto_cluster_send(stretto_cluster_t* cluster, uint32_t server,
                                          uint64_t address, uint32_t bytes);
stretto_nic_result_t stretto_cluster_receive(stretto_cluster_t* cluster, uint32_t server,
                                             uint64_t address, uint32_t bytes);

// Waits for the next completion of what was posted. Answers servers that still join.
void stretto_cluster_wait(stretto_cluster_t* cluster, stretto_nic_completion_t* completion);

// All pass when all have come for the nth time. REQUIRES: nothing that was posted is under way.
// FAILED: a server does not answer; `error` names it.
stretto_nic_result_t stretto_cluster_barrier(stretto_cluster_t* cluster);

// Gives `value` to all, and returns, when all have come for the nth time, with `values` of all by
// server. What was posted may be under way.
stretto_nic_result_t stretto_cluster_exchange(stretto_cluster_t* cluster, uint32_t value,
                                              uint32_t* values);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_NET_CLUSTER_H_
