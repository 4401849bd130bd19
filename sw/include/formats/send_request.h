// SPDX-License-Identifier: Apache-2.0
// Send request (SR): the 8 bytes with which a GPU thread starts a DMA transfer (GD-DMA-03, -04,
// -11). C and C++; kernels, firmware, models and tests read this file,
// rtl/request_ring/request_ring.sv has the same positions.
//
//   63   61 60 59 58      42 41      25 24        18 17    10 9           2 1      0
//  +-------+--+--+----------+----------+------------+--------+-------------+--------+
//  | 0     |RC|SC| offset   | length   | connection | source | destination | opcode |
//  +-------+--+--+----------+----------+------------+--------+-------------+--------+
//
// The layout is GD-DMA-11 with the 34-bit length cut into a length and an offset of 17 bits, both
// in units of the buffers, and two of the five reserved bits taken for the flags wanted. Source and
// destination are ids of registered buffers and must have the same unit (2^0 .. 2^17 bytes), so
// that 128 KiB - 1 B are addressed byte by byte and 16 GiB in all; the offset counts in both
// buffers.
//
// Flags. Requests of a connection are numbered from 1 in the order in which they left the ring
// (refused ones have no number). When request n and all earlier ones of its connection are
// complete, the 8-byte word of its source buffer in the local array of send flags (SC) becomes n,
// and the word of its destination buffer in the peer's array of receive flags (RC) becomes n,
// behind the data. A zero word is never a valid request.
//
// Collective requests are for cards with a collective engine (GD-FUTURE-02): it makes `peers` WRITE
// requests of one (card.yaml), the i-th with source + i, destination + i and connection + i, so a
// sender takes `peers` tickets for it. A ring refuses the opcode.
//
// Protocol of the ring (GD-DMA-08): a thread takes a ticket (atomic add on a word in GPU memory),
// waits until ticket - head replica < STRETTO_SEND_RING_DEPTH, and stores the SR to any 8-byte word
// of the send window. The ring holds at most what was ticketed, so it cannot overflow; a store
// without ticket may be dropped and is reported.
#ifndef STRETTO_SW_INCLUDE_FORMATS_SEND_REQUEST_H_
#define STRETTO_SW_INCLUDE_FORMATS_SEND_REQUEST_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define STRETTO_SR_OPCODE_SHIFT 0
#define STRETTO_SR_OPCODE_BITS 2
#define STRETTO_SR_WRITE 1       // Source is local, destination at the connection's node.
#define STRETTO_SR_READ 2        // Source at the connection's node, destination local.
#define STRETTO_SR_COLLECTIVE 3  // A WRITE to each of several peers.
#define STRETTO_SR_DESTINATION_SHIFT 2
#define STRETTO_SR_DESTINATION_BITS 8
#define STRETTO_SR_SOURCE_SHIFT 10
#define STRETTO_SR_SOURCE_BITS 8
#define STRETTO_SR_CONNECTION_SHIFT 18
#define STRETTO_SR_CONNECTION_BITS 7
#define STRETTO_SR_LENGTH_SHIFT 25
#define STRETTO_SR_LENGTH_BITS 17
#define STRETTO_SR_OFFSET_SHIFT 42
#define STRETTO_SR_OFFSET_BITS 17
#define STRETTO_SR_SC_SHIFT 59
#define STRETTO_SR_RC_SHIFT 60
#define STRETTO_SR_RESERVED_SHIFT 61
#define STRETTO_SR_RESERVED_BITS 3

#define STRETTO_SR_SC ((uint64_t)1 << STRETTO_SR_SC_SHIFT)  // Write the send flag.
#define STRETTO_SR_RC ((uint64_t)1 << STRETTO_SR_RC_SHIFT)  // Write the receive flag.
#define STRETTO_SR_GET(request, FIELD) \
  ((uint32_t)((request) >> STRETTO_SR_##FIELD##_SHIFT) & ((1u << STRETTO_SR_##FIELD##_BITS) - 1))

// From the request to a peer to that to the next one.
#define STRETTO_SR_NEXT_PEER                                                                  \
  (((uint64_t)1 << STRETTO_SR_SOURCE_SHIFT) + ((uint64_t)1 << STRETTO_SR_DESTINATION_SHIFT) + \
   ((uint64_t)1 << STRETTO_SR_CONNECTION_SHIFT))

#define STRETTO_SEND_BUFFERS 256
#define STRETTO_SEND_MAX_UNIT_SHIFT 17
#define STRETTO_SEND_MAX_UNITS (1u << 17)
#define STRETTO_SEND_RING_DEPTH 256
#define STRETTO_SEND_CONNECTIONS 16
#define STRETTO_SEND_FLAG_BYTES (STRETTO_SEND_BUFFERS * 8)  // An array of flags.

// The fields must be in range.
static inline uint64_t stretto_send_request(uint32_t opcode, uint32_t source, uint32_t destination,
                                            uint32_t connection, uint32_t offset, uint32_t length,
                                            uint64_t flags) {
  return (uint64_t)opcode << STRETTO_SR_OPCODE_SHIFT |
         (uint64_t)destination << STRETTO_SR_DESTINATION_SHIFT |
         (uint64_t)source << STRETTO_SR_SOURCE_SHIFT |
         (uint64_t)connection << STRETTO_SR_CONNECTION_SHIFT |
         (uint64_t)length << STRETTO_SR_LENGTH_SHIFT | (uint64_t)offset << STRETTO_SR_OFFSET_SHIFT |
         flags;
}

#ifdef __cplusplus
#define STRETTO_SR_ASSERT static_assert
#else
#define STRETTO_SR_ASSERT _Static_assert
#endif
// Every field begins where the one below ends, and all of them fill 64 bits.
STRETTO_SR_ASSERT(STRETTO_SR_DESTINATION_SHIFT == STRETTO_SR_OPCODE_SHIFT + STRETTO_SR_OPCODE_BITS,
                  "layout");
STRETTO_SR_ASSERT(STRETTO_SR_SOURCE_SHIFT ==
                      STRETTO_SR_DESTINATION_SHIFT + STRETTO_SR_DESTINATION_BITS,
                  "layout");
STRETTO_SR_ASSERT(STRETTO_SR_CONNECTION_SHIFT == STRETTO_SR_SOURCE_SHIFT + STRETTO_SR_SOURCE_BITS,
                  "layout");
STRETTO_SR_ASSERT(STRETTO_SR_LENGTH_SHIFT ==
                      STRETTO_SR_CONNECTION_SHIFT + STRETTO_SR_CONNECTION_BITS,
                  "layout");
STRETTO_SR_ASSERT(STRETTO_SR_OFFSET_SHIFT == STRETTO_SR_LENGTH_SHIFT + STRETTO_SR_LENGTH_BITS,
                  "layout");
STRETTO_SR_ASSERT(STRETTO_SR_SC_SHIFT == STRETTO_SR_OFFSET_SHIFT + STRETTO_SR_OFFSET_BITS,
                  "layout");
STRETTO_SR_ASSERT(STRETTO_SR_RC_SHIFT == STRETTO_SR_SC_SHIFT + 1, "layout");
STRETTO_SR_ASSERT(STRETTO_SR_RESERVED_SHIFT == STRETTO_SR_RC_SHIFT + 1 &&
                      STRETTO_SR_RESERVED_SHIFT + STRETTO_SR_RESERVED_BITS == 64,
                  "an SR is 8 bytes");
STRETTO_SR_ASSERT(STRETTO_SR_LENGTH_BITS + STRETTO_SR_OFFSET_BITS == 34,
                  "the length field of GD-DMA-11");
#undef STRETTO_SR_ASSERT

#endif  // STRETTO_SW_INCLUDE_FORMATS_SEND_REQUEST_H_
