// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/link.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;
// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.
#ifndef STRETTO_SW_INCLUDE_REGS_LINK_REGS_H_
#define STRETTO_SW_INCLUDE_REGS_LINK_REGS_H_

// link: Router and link ports, at STRETTO_LINK_BASE.

// Way to node i (1..64 = GPU i - 1, 255 = host). The reset values come from the machine file. (read, write)
#define LINK_ROUTE_OFFSET 0x0
#define LINK_ROUTE_COUNT 256
#define LINK_ROUTE_STRIDE 0x8
#define LINK_ROUTE_OFFSET_AT(i) (0x0 + (i) * 0x8)
#define LINK_ROUTE_LINK_SHIFT 0  // Link port.
#define LINK_ROUTE_LINK_MASK 0x7f
#define LINK_ROUTE_VALID_SHIFT 7  // There is a way; else the sender gets an address error.
#define LINK_ROUTE_VALID_MASK 0x80

// Number of link ports, the PCIe port (the last one) included. (read only)
#define LINK_LINKS_OFFSET 0x800

// Requests refused because there was no way to their node. (read only)
#define LINK_DROPPED_OFFSET 0x808

// Port i, node at the other end. (read only)
#define LINK_PEER_OFFSET 0x1000
#define LINK_PEER_COUNT 66
#define LINK_PEER_STRIDE 0x40
#define LINK_PEER_OFFSET_AT(i) (0x1000 + (i) * 0x40)
#define LINK_PEER_NODE_SHIFT 0  // 1..64 = GPU node - 1, 254 = switch, 255 = host, 0 = no such port.
#define LINK_PEER_NODE_MASK 0xff

// Port i, payload bytes sent. (read only)
#define LINK_SENT_OFFSET 0x1008
#define LINK_SENT_COUNT 66
#define LINK_SENT_STRIDE 0x40
#define LINK_SENT_OFFSET_AT(i) (0x1008 + (i) * 0x40)

// Port i, payload bytes received. (read only)
#define LINK_RECEIVED_OFFSET 0x1010
#define LINK_RECEIVED_COUNT 66
#define LINK_RECEIVED_STRIDE 0x40
#define LINK_RECEIVED_OFFSET_AT(i) (0x1010 + (i) * 0x40)

// Port i, received payload bytes that the memory has taken. (read only)
#define LINK_WRITTEN_OFFSET 0x1018
#define LINK_WRITTEN_COUNT 66
#define LINK_WRITTEN_STRIDE 0x40
#define LINK_WRITTEN_OFFSET_AT(i) (0x1018 + (i) * 0x40)

// Port i, bytes that may still be sent before the receiver returns credits. (read only)
#define LINK_CREDITS_OFFSET 0x1020
#define LINK_CREDITS_COUNT 66
#define LINK_CREDITS_STRIDE 0x40
#define LINK_CREDITS_OFFSET_AT(i) (0x1020 + (i) * 0x40)

// switch: A switch between GPUs, at its node, 0xFE. A GPU reaches those of its own port, by posted writes alone.

// Port i, where what is added on the way to its GPU begins. (read, write)
#define SWITCH_ADD_BASE_OFFSET 0x0
#define SWITCH_ADD_BASE_COUNT 32
#define SWITCH_ADD_BASE_STRIDE 0x20
#define SWITCH_ADD_BASE_OFFSET_AT(i) (0x0 + (i) * 0x20)
#define SWITCH_ADD_BASE_ADDRESS_SHIFT 0  // 48-bit address in that GPU.
#define SWITCH_ADD_BASE_ADDRESS_MASK 0xffffffffffff

// Port i, how much is added. (read, write)
#define SWITCH_ADD_LENGTH_OFFSET 0x8
#define SWITCH_ADD_LENGTH_COUNT 32
#define SWITCH_ADD_LENGTH_STRIDE 0x20
#define SWITCH_ADD_LENGTH_OFFSET_AT(i) (0x8 + (i) * 0x20)
#define SWITCH_ADD_LENGTH_BYTES_SHIFT 0  // Bytes from add_base on.
#define SWITCH_ADD_LENGTH_BYTES_MASK 0xffffffffff

// Port i, senders that add to each address. Sums that wait leave when one of the three is written. (read, write)
#define SWITCH_ADD_PARTS_OFFSET 0x10
#define SWITCH_ADD_PARTS_COUNT 32
#define SWITCH_ADD_PARTS_STRIDE 0x20
#define SWITCH_ADD_PARTS_OFFSET_AT(i) (0x10 + (i) * 0x20)
#define SWITCH_ADD_PARTS_SENDERS_SHIFT 0  // 0 or 1: nothing is added.
#define SWITCH_ADD_PARTS_SENDERS_MASK 0xff

#endif  // STRETTO_SW_INCLUDE_REGS_LINK_REGS_H_
