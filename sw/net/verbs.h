// SPDX-License-Identifier: Apache-2.0
// Verbs: a program's side of the network interface of its server (models/nic). Registers memory, makes
// queue pairs, posts operations, polls completions. C, callable from C++; on the host, and on harts of
// a command processor (sw/firmware/hal/hart_ops.h).
//
// Rings and completion queues lie in the memory that the ops reach, of the host or of the hart's GPU:
// entries written there are seen by the NIC when the doorbell is. Addresses have 48 bits and name memory of this server, remote ones that of the peer's.
// The library reaches the machine through stretto_host_ops_t alone and allocates nothing; structs
// belong to the caller and stay where they are. Calls are not thread-safe a NIC.
//
// Order of calls: stretto_nic_init; stretto_nic_queue_init; stretto_nic_pair_init and _connect, at
// both ends; stretto_nic_register; then post and poll. What one program sets up another one may
// use: it calls stretto_nic_attach, stretto_nic_queue_attach and stretto_nic_pair_attach with the
// same numbers, and then posts and polls, of each queue one of them alone.
#ifndef STRETTO_SW_NET_VERBS_H_
#define STRETTO_SW_NET_VERBS_H_

#include "sw/driver/stretto_driver.h"
#include "sw/include/formats/nic.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum stretto_nic_result {
  STRETTO_NIC_RESULT_OK = 0,
  STRETTO_NIC_RESULT_ARGUMENT,  // A number, size, right or address that there is not.
  STRETTO_NIC_RESULT_FULL,      // The ring has no place: poll first.
  STRETTO_NIC_RESULT_EMPTY,     // No completion.
  STRETTO_NIC_RESULT_FAILED,    // An operation has failed (cluster.h).
} stretto_nic_result_t;

#define STRETTO_NIC_REGIONS 256
#define STRETTO_NIC_QUEUES 64
#define STRETTO_NIC_PAIRS 256
#define STRETTO_NIC_RELEASE_BYTES (8 * STRETTO_NIC_REGIONS)

struct stretto_nic_pair;

typedef struct stretto_nic {
  const stretto_host_ops_t* ops;
  uint64_t base;                            // Of its node.
  uint64_t release;                         // Words of memory, one a region.
  uint8_t generation[STRETTO_NIC_REGIONS];  // Of the next key,
  uint8_t registered[STRETTO_NIC_REGIONS];  // whether there is one now.
  struct stretto_nic_pair* pairs[STRETTO_NIC_PAIRS];
} stretto_nic_t;

typedef struct stretto_nic_queue {
  stretto_nic_t* nic;
  uint32_t number;
  uint64_t memory;
  uint32_t entries;
  uint64_t read;  // Completions so far.
} stretto_nic_queue_t;

typedef struct stretto_nic_ring {
  uint64_t memory;
  uint32_t entries;
  uint32_t posted;
  uint32_t ended;
} stretto_nic_ring_t;

typedef struct stretto_nic_pair {
  stretto_nic_t* nic;
  uint32_t number;
  uint32_t page;
  stretto_nic_queue_t* completions;
  stretto_nic_ring_t send, receive;
} stretto_nic_pair_t;

// `release`: STRETTO_NIC_RELEASE_BYTES of memory, zero. Rings lie in the same one.
stretto_nic_result_t stretto_nic_init(stretto_nic_t* nic, const stretto_host_ops_t* ops,
                                      uint32_t server, uint64_t release);

// For one who uses what another one has set up. ARGUMENT: no such server.
stretto_nic_result_t stretto_nic_attach(stretto_nic_t* nic, const stretto_host_ops_t* ops,
                                        uint32_t server);

// Memory of this server as region `region`; `access`: STRETTO_NIC_LOCAL_WRITE and following. A key of
// an earlier registration is wrong from here on. ARGUMENT: registered already, or no such region.
stretto_nic_result_t stretto_nic_register(stretto_nic_t* nic, uint32_t region, uint64_t address,
                                          uint64_t bytes, uint32_t access, uint32_t* key);
// Returns when the NIC touches the memory no more. Operations that use the key fail.
stretto_nic_result_t stretto_nic_deregister(stretto_nic_t* nic, uint32_t region);

// Completion queue `number` of 2^entries_log2 entries at `memory`, zero.
stretto_nic_result_t stretto_nic_queue_init(stretto_nic_queue_t* queue, stretto_nic_t* nic,
                                            uint32_t number, uint64_t memory,
                                            uint32_t entries_log2);

// Registers alone, for one who attaches: memory of the host or of a GPU of the server.
stretto_nic_result_t stretto_nic_queue_configure(const stretto_nic_t* nic, uint32_t number,
                                                 uint64_t memory, uint32_t entries_log2);
// The struct alone, of a queue that was configured and not used.
stretto_nic_result_t stretto_nic_queue_attach(stretto_nic_queue_t* queue, stretto_nic_t* nic,
                                              uint32_t number, uint64_t memory,
                                              uint32_t entries_log2);

// Queue pair `number`, whose rings of 2^entries_log2 entries lie at `send_memory` and
// `receive_memory`; its completions go to `completions`, which must have twice as many entries as
// all rings that it serves. Doorbells are rung on `page`.
stretto_nic_result_t stretto_nic_pair_init(stretto_nic_pair_t* pair, stretto_nic_t* nic,
                                           uint32_t number, uint64_t send_memory,
                                           uint64_t receive_memory, uint32_t entries_log2,
                                           stretto_nic_queue_t* completions, uint32_t page);
// The same where the rings lie in any memory of the server: for stretto_nic_connect by one program,
// and for stretto_nic_post by another one that has attached.
stretto_nic_result_t stretto_nic_pair_attach(stretto_nic_pair_t* pair, stretto_nic_t* nic,
                                             uint32_t number, uint64_t send_memory,
                                             uint64_t receive_memory, uint32_t entries_log2,
                                             stretto_nic_queue_t* completions, uint32_t page);
// To queue pair `peer` of server `peer_server`, whose side connects to this one. Also after an error,
// at both ends when nothing is under way: both begin anew.
stretto_nic_result_t stretto_nic_connect(stretto_nic_pair_t* pair, uint32_t peer_server,
                                         uint32_t peer);

// The operation begins when those before it have begun. It always has a completion: flag
// STRETTO_NIC_SIGNALED is set here. What it names is checked by the NICs.
stretto_nic_result_t stretto_nic_post(stretto_nic_pair_t* pair,
                                      const stretto_nic_work_entry_t* entry);
// Room for the next send of the peer: id, local_address, length and local_key.
stretto_nic_result_t stretto_nic_post_receive(stretto_nic_pair_t* pair,
                                              const stretto_nic_work_entry_t* entry);

// The next completion, if there is one; else EMPTY.
stretto_nic_result_t stretto_nic_poll(stretto_nic_queue_t* queue,
                                      stretto_nic_completion_t* completion);
// Waits for it.
void stretto_nic_wait(stretto_nic_queue_t* queue, stretto_nic_completion_t* completion);

// "remote access refused"; never null.
const char* stretto_nic_status_text(uint32_t status);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_NET_VERBS_H_
