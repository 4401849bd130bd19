// SPDX-License-Identifier: Apache-2.0
// Network interface (NIC) of a server, as software sees it: its node, its aperture, doorbells, keys,
// and the entries of its queues. C and C++. What they do: models/nic/README.md.
#ifndef STRETTO_SW_INCLUDE_FORMATS_NIC_H_
#define STRETTO_SW_INCLUDE_FORMATS_NIC_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#include "sw/include/formats/address_map.h"

// The NIC of server s is node 0xA0 + s. It has apertures and no memory, all written 8 bytes at a
// time: doorbell pages at STRETTO_DOORBELL_APERTURE, its registers (nic.yaml) here.
#define STRETTO_NODE_NIC 0xA0
#define STRETTO_MAX_SERVERS 32
#define STRETTO_NIC_PAGES 64
#define STRETTO_NIC_PAGE_BYTES 0x1000
#define STRETTO_NIC_REGISTERS 0xFF00100000

// Doorbells: any word of a page. `index` counts entries since the queue was configured, modulo 2^32.
enum {
  STRETTO_NIC_DOORBELL_SEND = 1,        // Work entries up to `index` are in the send queue.
  STRETTO_NIC_DOORBELL_RECEIVE = 2,     // The same of the receive queue.
  STRETTO_NIC_DOORBELL_COMPLETION = 3,  // Completions up to `index` have been read.
};
static inline uint64_t stretto_nic_doorbell(uint8_t kind, uint16_t queue, uint32_t index) {
  return (uint64_t)kind << 56 | (uint64_t)queue << 32 | index;
}

// What may be done with a region. Reading it for operations of its own server needs no right.
enum {
  STRETTO_NIC_LOCAL_WRITE = 1,    // Results of operations of its own server; receives.
  STRETTO_NIC_REMOTE_READ = 2,    // Gets of other servers,
  STRETTO_NIC_REMOTE_WRITE = 4,   // their puts,
  STRETTO_NIC_REMOTE_ATOMIC = 8,  // their atomics.
};
// A key is right while region `region` is valid with this generation.
static inline uint32_t stretto_nic_key(uint32_t region, uint8_t generation) {
  return region | (uint32_t)generation << 24;
}

enum {
  STRETTO_NIC_PUT = 1,           // length bytes to remote_address.
  STRETTO_NIC_GET = 2,           // length bytes from there.
  STRETTO_NIC_FETCH_ADD = 3,     // Adds operand to the 64-bit word there; length is 8.
  STRETTO_NIC_COMPARE_SWAP = 4,  // Stores operand there if compare is what it finds.
  STRETTO_NIC_SEND = 5,          // length bytes into the next receive entry of the peer.
  STRETTO_NIC_FLUSH = 6,         // Nothing; it ends when all before it have.
  STRETTO_NIC_RECEIVE = 7,       // Of receive queues, and of their completions.
};

enum {
  STRETTO_NIC_SIGNALED = 1,  // Writes a completion; a failure always does.
  STRETTO_NIC_FENCE = 2,     // Begins when all before it have ended.
  STRETTO_NIC_INLINE = 4,    // Put, send: the data are operand and compare, at most 16 bytes.
};
#define STRETTO_NIC_INLINE_BYTES 16

// Work entry, of send and receive queues. All addresses have 48 bits and lie in the server whose
// memory they name.
typedef struct stretto_nic_work_entry {
  uint8_t opcode;
  uint8_t flags;
  uint16_t peer_queue_pair;  // Queue pair 0 only: where its datagram goes,
  uint8_t peer_node;         // and to which NIC.
  uint8_t reserved[3];
  uint64_t id;              // Comes back in the completion.
  uint64_t local_address;   // Source of a put or send, destination of a result.
  uint64_t remote_address;  // At the server of the peer.
  uint32_t length;          // Bytes; of a receive entry, room.
  uint32_t local_key;       // Not looked at with STRETTO_NIC_INLINE.
  uint32_t remote_key;
  uint32_t reserved_word;
  uint64_t operand;
  uint64_t compare;
} stretto_nic_work_entry_t;
#define STRETTO_NIC_WORK_ENTRY_BYTES 64

enum {
  STRETTO_NIC_OK = 0,
  STRETTO_NIC_BAD_ENTRY = 1,         // Opcode or flags.
  STRETTO_NIC_BAD_LENGTH = 2,        // 0, above 2^30, not 8 of an atomic, beyond inline or MTU.
  STRETTO_NIC_LOCAL_PROTECTION = 3,  // local_key does not allow it, or the memory does not answer.
  STRETTO_NIC_REMOTE_ACCESS = 4,     // remote_key does not allow it.
  STRETTO_NIC_REMOTE_OPERATION = 5,  // The memory of the peer does not answer, or its receive entry
                                     // names what its key does not allow.
  STRETTO_NIC_REMOTE_LENGTH = 6,     // Longer than the peer's receive entry; misaligned atomic.
  STRETTO_NIC_RETRIES_EXCEEDED = 7,  // The peer does not answer.
  STRETTO_NIC_FLUSHED = 8,           // The queue pair was in error before the operation ended.
};

// Completion. The NIC writes all 32 bytes at once.
typedef struct stretto_nic_completion {
  uint64_t id;
  uint32_t bytes;       // Moved; 0 of what failed.
  uint16_t queue_pair;  // Of this NIC.
  uint8_t status;
  uint8_t opcode;
  uint64_t value;   // Of an atomic: what was there before. Of a datagram: node << 16 | queue pair.
  uint64_t serial;  // 1, 2, ... of its queue: new if it is one more than that of the last one read.
} stretto_nic_completion_t;
#define STRETTO_NIC_COMPLETION_BYTES 32

#ifdef __cplusplus
static_assert(sizeof(stretto_nic_work_entry_t) == STRETTO_NIC_WORK_ENTRY_BYTES, "64 bytes");
static_assert(sizeof(stretto_nic_completion_t) == STRETTO_NIC_COMPLETION_BYTES, "32 bytes");
#else
_Static_assert(sizeof(stretto_nic_work_entry_t) == STRETTO_NIC_WORK_ENTRY_BYTES, "64 bytes");
_Static_assert(sizeof(stretto_nic_completion_t) == STRETTO_NIC_COMPLETION_BYTES, "32 bytes");
#endif

#endif  // STRETTO_SW_INCLUDE_FORMATS_NIC_H_
