// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/nic.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;
// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.
#ifndef STRETTO_SW_INCLUDE_REGS_NIC_REGS_H_
#define STRETTO_SW_INCLUDE_REGS_NIC_REGS_H_

// nic: Network interface of a server. Reached by posted writes alone.

// Where it is said that a region is free; 0 = nowhere. (read, write)
#define NIC_RELEASE_OFFSET 0x0
#define NIC_RELEASE_ADDRESS_SHIFT 0  // Array of 8-byte words, one a region: generation + 1 of the last key that nothing uses any more.
#define NIC_RELEASE_ADDRESS_MASK 0xffffffffffff

// Where a memory region begins. (read, write)
#define NIC_REGION_BASE_OFFSET 0x1000
#define NIC_REGION_BASE_COUNT 256
#define NIC_REGION_BASE_STRIDE 0x20
#define NIC_REGION_BASE_OFFSET_AT(i) (0x1000 + (i) * 0x20)
#define NIC_REGION_BASE_ADDRESS_SHIFT 0  // 48-bit address in this server.
#define NIC_REGION_BASE_ADDRESS_MASK 0xffffffffffff

// Its bytes. (read, write)
#define NIC_REGION_BYTES_OFFSET 0x1008
#define NIC_REGION_BYTES_COUNT 256
#define NIC_REGION_BYTES_STRIDE 0x20
#define NIC_REGION_BYTES_OFFSET_AT(i) (0x1008 + (i) * 0x20)

// Written last; takes effect at once. valid = 0 ends the region, also for what is under way and has not touched it. (read, write)
#define NIC_REGION_CONFIG_OFFSET 0x1010
#define NIC_REGION_CONFIG_COUNT 256
#define NIC_REGION_CONFIG_STRIDE 0x20
#define NIC_REGION_CONFIG_OFFSET_AT(i) (0x1010 + (i) * 0x20)
#define NIC_REGION_CONFIG_VALID_SHIFT 0  // Its key is right.
#define NIC_REGION_CONFIG_VALID_MASK 0x1
#define NIC_REGION_CONFIG_ACCESS_SHIFT 4  // STRETTO_NIC_LOCAL_WRITE and following.
#define NIC_REGION_CONFIG_ACCESS_MASK 0xf0
#define NIC_REGION_CONFIG_GENERATION_SHIFT 8  // Of its key.
#define NIC_REGION_CONFIG_GENERATION_MASK 0xff00

// Where a completion queue lies, 32 bytes an entry. (read, write)
#define NIC_COMPLETION_BASE_OFFSET 0x4000
#define NIC_COMPLETION_BASE_COUNT 64
#define NIC_COMPLETION_BASE_STRIDE 0x10
#define NIC_COMPLETION_BASE_OFFSET_AT(i) (0x4000 + (i) * 0x10)
#define NIC_COMPLETION_BASE_ADDRESS_SHIFT 0  // 48-bit address, a multiple of 32.
#define NIC_COMPLETION_BASE_ADDRESS_MASK 0xffffffffffff

// Written last; starts the queue empty. (read, write)
#define NIC_COMPLETION_CONFIG_OFFSET 0x4008
#define NIC_COMPLETION_CONFIG_COUNT 64
#define NIC_COMPLETION_CONFIG_STRIDE 0x10
#define NIC_COMPLETION_CONFIG_OFFSET_AT(i) (0x4008 + (i) * 0x10)
#define NIC_COMPLETION_CONFIG_VALID_SHIFT 0  // Completions are written.
#define NIC_COMPLETION_CONFIG_VALID_MASK 0x1
#define NIC_COMPLETION_CONFIG_ENTRIES_LOG2_SHIFT 8  // Entries.
#define NIC_COMPLETION_CONFIG_ENTRIES_LOG2_MASK 0xf00

// Where the send queue of a queue pair lies, 64 bytes an entry. (read, write)
#define NIC_PAIR_SEND_BASE_OFFSET 0x8000
#define NIC_PAIR_SEND_BASE_COUNT 256
#define NIC_PAIR_SEND_BASE_STRIDE 0x20
#define NIC_PAIR_SEND_BASE_OFFSET_AT(i) (0x8000 + (i) * 0x20)
#define NIC_PAIR_SEND_BASE_ADDRESS_SHIFT 0  // 48-bit address, a multiple of 64.
#define NIC_PAIR_SEND_BASE_ADDRESS_MASK 0xffffffffffff

// Where its receive queue lies. (read, write)
#define NIC_PAIR_RECEIVE_BASE_OFFSET 0x8008
#define NIC_PAIR_RECEIVE_BASE_COUNT 256
#define NIC_PAIR_RECEIVE_BASE_STRIDE 0x20
#define NIC_PAIR_RECEIVE_BASE_OFFSET_AT(i) (0x8008 + (i) * 0x20)
#define NIC_PAIR_RECEIVE_BASE_ADDRESS_SHIFT 0  // 48-bit address, a multiple of 64.
#define NIC_PAIR_RECEIVE_BASE_ADDRESS_MASK 0xffffffffffff

// The other end; queue pair 0 sends datagrams and has none. (read, write)
#define NIC_PAIR_PEER_OFFSET 0x8010
#define NIC_PAIR_PEER_COUNT 256
#define NIC_PAIR_PEER_STRIDE 0x20
#define NIC_PAIR_PEER_OFFSET_AT(i) (0x8010 + (i) * 0x20)
#define NIC_PAIR_PEER_QUEUE_PAIR_SHIFT 0  // Its number there.
#define NIC_PAIR_PEER_QUEUE_PAIR_MASK 0xffff
#define NIC_PAIR_PEER_NODE_SHIFT 16  // Node of its NIC.
#define NIC_PAIR_PEER_NODE_MASK 0xff0000

// Written last. valid = 1 starts the pair anew, with empty queues and packet number 0; valid = 0 ends it and what it does, without completions. (read, write)
#define NIC_PAIR_CONFIG_OFFSET 0x8018
#define NIC_PAIR_CONFIG_COUNT 256
#define NIC_PAIR_CONFIG_STRIDE 0x20
#define NIC_PAIR_CONFIG_OFFSET_AT(i) (0x8018 + (i) * 0x20)
#define NIC_PAIR_CONFIG_VALID_SHIFT 0  // It works.
#define NIC_PAIR_CONFIG_VALID_MASK 0x1
#define NIC_PAIR_CONFIG_SEND_ENTRIES_LOG2_SHIFT 4  // Entries of the send queue.
#define NIC_PAIR_CONFIG_SEND_ENTRIES_LOG2_MASK 0xf0
#define NIC_PAIR_CONFIG_RECEIVE_ENTRIES_LOG2_SHIFT 8  // Entries of the receive queue.
#define NIC_PAIR_CONFIG_RECEIVE_ENTRIES_LOG2_MASK 0xf00
#define NIC_PAIR_CONFIG_SEND_COMPLETION_SHIFT 16  // Completion queue of operations.
#define NIC_PAIR_CONFIG_SEND_COMPLETION_MASK 0x3f0000
#define NIC_PAIR_CONFIG_RECEIVE_COMPLETION_SHIFT 24  // Completion queue of receives.
#define NIC_PAIR_CONFIG_RECEIVE_COMPLETION_MASK 0x3f000000
#define NIC_PAIR_CONFIG_PAGE_SHIFT 32  // Doorbells of the pair are heard on this page alone.
#define NIC_PAIR_CONFIG_PAGE_MASK 0x3f00000000

#endif  // STRETTO_SW_INCLUDE_REGS_NIC_REGS_H_
