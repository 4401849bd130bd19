// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/request_ring.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;
// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.
#ifndef STRETTO_SW_INCLUDE_REGS_REQUEST_RING_REGS_H_
#define STRETTO_SW_INCLUDE_REGS_REQUEST_RING_REGS_H_

// request_ring: Takes send requests of GPU threads, checks them, starts their transfers and writes their completion flags.

// Mode of the ring. (read, write)
#define REQUEST_RING_CONTROL_OFFSET 0x0
#define REQUEST_RING_CONTROL_RESET 0x1000
#define REQUEST_RING_CONTROL_ENABLE_SHIFT 0  // 0 = send requests are dropped (and counted) and none leaves the ring.
#define REQUEST_RING_CONTROL_ENABLE_MASK 0x1
#define REQUEST_RING_CONTROL_ENGINE_SHIFT 1  // Who moves the data; a write while status.busy is 1 leaves this field as it is.
#define REQUEST_RING_CONTROL_ENGINE_MASK 0x2
#define REQUEST_RING_CONTROL_ENGINE_HARDWARE 0
#define REQUEST_RING_CONTROL_ENGINE_SOFTWARE 1
#define REQUEST_RING_CONTROL_ENGINE_MAX 1
#define REQUEST_RING_CONTROL_REPLICA_SHIFT 2  // 1 = the head is written to replica_address.
#define REQUEST_RING_CONTROL_REPLICA_MASK 0x4
#define REQUEST_RING_CONTROL_BATCH_SHIFT 8  // The replica is written when it is this far behind, or behind at all and the ring is empty; 0 counts as 1.
#define REQUEST_RING_CONTROL_BATCH_MASK 0xff00

// A write of any value empties the ring and sets head, tail, replica and the numbers of all connections to 0; without effect while status.busy is 1. (write only, reads 0)
#define REQUEST_RING_CLEAR_OFFSET 0x8

// A write of any value clears the counters refused .. replicas. (write only, reads 0)
#define REQUEST_RING_COUNTER_CLEAR_OFFSET 0x10

// State of the ring. (read only)
#define REQUEST_RING_STATUS_OFFSET 0x18
#define REQUEST_RING_STATUS_BUSY_SHIFT 0  // A request is past the ring and not retired, or a flag or the replica waits to be written.
#define REQUEST_RING_STATUS_BUSY_MASK 0x1
#define REQUEST_RING_STATUS_WORK_SHIFT 1  // Software engine: software_bytes shows a transfer that nobody has taken.
#define REQUEST_RING_STATUS_WORK_MASK 0x2
#define REQUEST_RING_STATUS_LEVEL_SHIFT 16  // Requests in the ring.
#define REQUEST_RING_STATUS_LEVEL_MASK 0xffff0000
#define REQUEST_RING_STATUS_IN_FLIGHT_SHIFT 32  // Transfers issued (or waiting to be taken) and not retired.
#define REQUEST_RING_STATUS_IN_FLIGHT_MASK 0xffff00000000

// What is built. (read only)
#define REQUEST_RING_LIMITS_OFFSET 0x20
#define REQUEST_RING_LIMITS_DEPTH_SHIFT 0  // Entries of the ring.
#define REQUEST_RING_LIMITS_DEPTH_MASK 0xffff
#define REQUEST_RING_LIMITS_BUFFERS_SHIFT 16  // Buffer ids.
#define REQUEST_RING_LIMITS_BUFFERS_MASK 0xffff0000
#define REQUEST_RING_LIMITS_CONNECTIONS_SHIFT 32  // Connections.
#define REQUEST_RING_LIMITS_CONNECTIONS_MASK 0xffff00000000
#define REQUEST_RING_LIMITS_SLOTS_SHIFT 48  // Transfers in flight a connection can have.
#define REQUEST_RING_LIMITS_SLOTS_MASK 0xffff000000000000

// Node of this GPU. (read, write)
#define REQUEST_RING_NODE_OFFSET 0x28
#define REQUEST_RING_NODE_NODE_SHIFT 0  // GPU number + 1.
#define REQUEST_RING_NODE_NODE_MASK 0xff

// Where the head replica lies, an 8-byte word. (read, write)
#define REQUEST_RING_REPLICA_ADDRESS_OFFSET 0x30
#define REQUEST_RING_REPLICA_ADDRESS_ADDRESS_SHIFT 0  // 48-bit address.
#define REQUEST_RING_REPLICA_ADDRESS_ADDRESS_MASK 0xffffffffffff

// Array of send flags, 8 bytes a source buffer. (read, write)
#define REQUEST_RING_SC_BASE_OFFSET 0x38
#define REQUEST_RING_SC_BASE_ADDRESS_SHIFT 0  // 48-bit address of flag 0.
#define REQUEST_RING_SC_BASE_ADDRESS_MASK 0xffffffffffff

// What went wrong; the line STRETTO_IRQ_REQUEST_RING is high while a bit here or status.work is set that irq_enable lets through. (read, write 1 to clear)
#define REQUEST_RING_ERROR_OFFSET 0x40
#define REQUEST_RING_ERROR_MALFORMED_SHIFT 0  // A request was refused; it touched no memory.
#define REQUEST_RING_ERROR_MALFORMED_MASK 0x1
#define REQUEST_RING_ERROR_DROPPED_SHIFT 1  // A request came while the ring was full or disabled and is lost.
#define REQUEST_RING_ERROR_DROPPED_MASK 0x2
#define REQUEST_RING_ERROR_TRANSFER_SHIFT 2  // The engine reported that a transfer failed; its flags are not written.
#define REQUEST_RING_ERROR_TRANSFER_MASK 0x4

// What raises the line. (read, write)
#define REQUEST_RING_IRQ_ENABLE_OFFSET 0x48
#define REQUEST_RING_IRQ_ENABLE_ERRORS_SHIFT 0  // Bit n: bit n of error.
#define REQUEST_RING_IRQ_ENABLE_ERRORS_MASK 0x7
#define REQUEST_RING_IRQ_ENABLE_WORK_SHIFT 3  // status.work.
#define REQUEST_RING_IRQ_ENABLE_WORK_MASK 0x8

// The first error since error was last 0. (read only)
#define REQUEST_RING_ERROR_FIRST_OFFSET 0x50
#define REQUEST_RING_ERROR_FIRST_REASON_SHIFT 0  // Malformed: bit 0 opcode, 1 reserved bits, 2 connection, 3 source not registered, 4 destination not registered, 5 source may not be read or destination not written, 6 a buffer is not at the node it must be at, 7 units differ, 8 length 0, 9 beyond the source, 10 beyond the destination. 5, 6, 7, 9 and 10 are judged only if bits 0, 2, 3 and 4 are clear.
#define REQUEST_RING_ERROR_FIRST_REASON_MASK 0x7ff
#define REQUEST_RING_ERROR_FIRST_KIND_SHIFT 16  // Bit of error that it is.
#define REQUEST_RING_ERROR_FIRST_KIND_MASK 0x30000
#define REQUEST_RING_ERROR_FIRST_KIND_MALFORMED 0
#define REQUEST_RING_ERROR_FIRST_KIND_DROPPED 1
#define REQUEST_RING_ERROR_FIRST_KIND_TRANSFER 2
#define REQUEST_RING_ERROR_FIRST_KIND_MAX 2

// The request of error_first; of a failed transfer only buffers, connection and flags. (read only)
#define REQUEST_RING_ERROR_REQUEST_OFFSET 0x58

// Requests that entered the ring (48 bits). (read only)
#define REQUEST_RING_TAIL_OFFSET 0x60

// Requests that left the ring (48 bits); the replica follows it. (read only)
#define REQUEST_RING_HEAD_OFFSET 0x68

// Malformed requests (48 bits). (read only)
#define REQUEST_RING_REFUSED_OFFSET 0x70

// Requests dropped (48 bits). (read only)
#define REQUEST_RING_DROPPED_OFFSET 0x78

// Transfers taken by an engine (48 bits). (read only)
#define REQUEST_RING_ISSUED_OFFSET 0x80

// Transfers retired, failed ones included (48 bits). (read only)
#define REQUEST_RING_COMPLETED_OFFSET 0x88

// Transfers that failed (48 bits). (read only)
#define REQUEST_RING_FAILED_OFFSET 0x90

// Send and receive flags written (48 bits). (read only)
#define REQUEST_RING_FLAGS_OFFSET 0x98

// Writes of the head replica (48 bits). (read only)
#define REQUEST_RING_REPLICAS_OFFSET 0xa0

// Software engine, source of the transfer that waits to be taken. (read only)
#define REQUEST_RING_SOFTWARE_SOURCE_OFFSET 0xc0
#define REQUEST_RING_SOFTWARE_SOURCE_ADDRESS_SHIFT 0  // 48-bit address.
#define REQUEST_RING_SOFTWARE_SOURCE_ADDRESS_MASK 0xffffffffffff

// Software engine, its destination. (read only)
#define REQUEST_RING_SOFTWARE_DESTINATION_OFFSET 0xc8
#define REQUEST_RING_SOFTWARE_DESTINATION_ADDRESS_SHIFT 0  // 48-bit address.
#define REQUEST_RING_SOFTWARE_DESTINATION_ADDRESS_MASK 0xffffffffffff

// Software engine, its length and tag. (read only)
#define REQUEST_RING_SOFTWARE_BYTES_OFFSET 0xd0
#define REQUEST_RING_SOFTWARE_BYTES_BYTES_SHIFT 0  // Length in bytes.
#define REQUEST_RING_SOFTWARE_BYTES_BYTES_MASK 0x3ffffffff
#define REQUEST_RING_SOFTWARE_BYTES_TAG_SHIFT 40  // For software_done.
#define REQUEST_RING_SOFTWARE_BYTES_TAG_MASK 0xfff0000000000
#define REQUEST_RING_SOFTWARE_BYTES_READ_SHIFT 62  // 1 = the opcode was read.
#define REQUEST_RING_SOFTWARE_BYTES_READ_MASK 0x4000000000000000
#define REQUEST_RING_SOFTWARE_BYTES_VALID_SHIFT 63  // A transfer waits.
#define REQUEST_RING_SOFTWARE_BYTES_VALID_MASK 0x8000000000000000

// Software engine, a write of any value takes the transfer that waits; the next one shows. (write only, reads 0)
#define REQUEST_RING_SOFTWARE_TAKE_OFFSET 0xd8

// Software engine, a transfer is complete; ignored if the tag is not in flight. (write only, reads 0)
#define REQUEST_RING_SOFTWARE_DONE_OFFSET 0xe0
#define REQUEST_RING_SOFTWARE_DONE_TAG_SHIFT 0  // Of software_bytes.
#define REQUEST_RING_SOFTWARE_DONE_TAG_MASK 0xfff
#define REQUEST_RING_SOFTWARE_DONE_FAILED_SHIFT 16  // 1 = it failed.
#define REQUEST_RING_SOFTWARE_DONE_FAILED_MASK 0x10000

// Connection c. Change it only while the connection has nothing in flight and no request names it. (read, write)
#define REQUEST_RING_CONNECTION_CONFIG_OFFSET 0x400
#define REQUEST_RING_CONNECTION_CONFIG_COUNT 16
#define REQUEST_RING_CONNECTION_CONFIG_STRIDE 0x20
#define REQUEST_RING_CONNECTION_CONFIG_OFFSET_AT(i) (0x400 + (i) * 0x20)
#define REQUEST_RING_CONNECTION_CONFIG_VALID_SHIFT 0  // Requests may name it.
#define REQUEST_RING_CONNECTION_CONFIG_VALID_MASK 0x1
#define REQUEST_RING_CONNECTION_CONFIG_LIMIT_SHIFT 4  // Transfers in flight; 0 or more than are built means all that are built.
#define REQUEST_RING_CONNECTION_CONFIG_LIMIT_MASK 0xf0
#define REQUEST_RING_CONNECTION_CONFIG_NODE_SHIFT 8  // Node of the peer.
#define REQUEST_RING_CONNECTION_CONFIG_NODE_MASK 0xff00

// Array of receive flags at the peer, 8 bytes a destination buffer. (write only, reads 0)
#define REQUEST_RING_CONNECTION_RC_BASE_OFFSET 0x408
#define REQUEST_RING_CONNECTION_RC_BASE_COUNT 16
#define REQUEST_RING_CONNECTION_RC_BASE_STRIDE 0x20
#define REQUEST_RING_CONNECTION_RC_BASE_OFFSET_AT(i) (0x408 + (i) * 0x20)
#define REQUEST_RING_CONNECTION_RC_BASE_ADDRESS_SHIFT 0  // 48-bit address of flag 0.
#define REQUEST_RING_CONNECTION_RC_BASE_ADDRESS_MASK 0xffffffffffff

// State of connection c. (read only)
#define REQUEST_RING_CONNECTION_STATE_OFFSET 0x410
#define REQUEST_RING_CONNECTION_STATE_COUNT 16
#define REQUEST_RING_CONNECTION_STATE_STRIDE 0x20
#define REQUEST_RING_CONNECTION_STATE_OFFSET_AT(i) (0x410 + (i) * 0x20)
#define REQUEST_RING_CONNECTION_STATE_COMPLETED_SHIFT 0  // Number of its last retired request.
#define REQUEST_RING_CONNECTION_STATE_COMPLETED_MASK 0xffffffff
#define REQUEST_RING_CONNECTION_STATE_IN_FLIGHT_SHIFT 32  // Transfers in flight.
#define REQUEST_RING_CONNECTION_STATE_IN_FLIGHT_MASK 0xff00000000

// Buffer b, first byte; written while the buffer is not valid. (write only, reads 0)
#define REQUEST_RING_BUFFER_BASE_OFFSET 0x1000
#define REQUEST_RING_BUFFER_BASE_COUNT 256
#define REQUEST_RING_BUFFER_BASE_STRIDE 0x10
#define REQUEST_RING_BUFFER_BASE_OFFSET_AT(i) (0x1000 + (i) * 0x10)
#define REQUEST_RING_BUFFER_BASE_ADDRESS_SHIFT 0  // 48-bit address, of this GPU or of a peer.
#define REQUEST_RING_BUFFER_BASE_ADDRESS_MASK 0xffffffffffff

// Buffer b, size and use; written after its base. Requests that are in flight keep what they were checked against. (write only, reads 0)
#define REQUEST_RING_BUFFER_CONFIG_OFFSET 0x1008
#define REQUEST_RING_BUFFER_CONFIG_COUNT 256
#define REQUEST_RING_BUFFER_CONFIG_STRIDE 0x10
#define REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(i) (0x1008 + (i) * 0x10)
#define REQUEST_RING_BUFFER_CONFIG_UNITS_SHIFT 0  // Size in units, at most 131072.
#define REQUEST_RING_BUFFER_CONFIG_UNITS_MASK 0x3ffff
#define REQUEST_RING_BUFFER_CONFIG_UNIT_SHIFT 20  // log2 of the bytes of a unit, at most 17.
#define REQUEST_RING_BUFFER_CONFIG_UNIT_MASK 0x1f00000
#define REQUEST_RING_BUFFER_CONFIG_READABLE_SHIFT 28  // May be a source.
#define REQUEST_RING_BUFFER_CONFIG_READABLE_MASK 0x10000000
#define REQUEST_RING_BUFFER_CONFIG_WRITABLE_SHIFT 29  // May be a destination.
#define REQUEST_RING_BUFFER_CONFIG_WRITABLE_MASK 0x20000000
#define REQUEST_RING_BUFFER_CONFIG_VALID_SHIFT 31  // Requests may name it.
#define REQUEST_RING_BUFFER_CONFIG_VALID_MASK 0x80000000

#endif  // STRETTO_SW_INCLUDE_REGS_REQUEST_RING_REGS_H_
