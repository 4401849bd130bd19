// SPDX-License-Identifier: Apache-2.0
// The data path of a communicator for kernels (sw/include/formats/collective.h): a sender fills the
// slots of a peer's FIFO, a receiver empties its own. Which engine carries a slot is the
// communicator's business; a kernel that uses these calls runs with any.
//
//   stretto_sender_t s;                           stretto_receiver_t r;
//   stretto_sender_open(&s, comm, peer, channel);      stretto_receiver_open(&r, comm, peer, channel);
//   for each slot:                                for each slot:
//     to = stretto_sender_slot(&s);                    from = stretto_receiver_slot(&r);
//     stretto_move(...) or tile stores to it           tile loads from it, each stored somewhere
//     stretto_put(&s, bytes);                          stretto_release(&r);
//   stretto_sender_close(&s);                     stretto_receiver_close(&r);
//
// With STRETTO_LINES 1 slots are those of protocol ll (engine mmio): stretto_receiver_slot waits for
// nothing, since a load of lines waits for its flags; who stores lines sets their flag.
//
// One wavefront owns a link (peer, channel) at a time. A slot may be released when what was loaded
// from it has been stored (the flag leaves behind the stores). A sender may be `slots` slots ahead
// of its receiver, then stretto_sender_slot waits.
#ifndef STRETTO_SW_KERNELS_STRETTO_COMM_H_
#define STRETTO_SW_KERNELS_STRETTO_COMM_H_

#include "sw/include/formats/collective.h"
#include "sw/kernels/kernel.h"

#ifndef STRETTO_LINES
#define STRETTO_LINES 0
#endif

typedef struct stretto_sender {
  const stretto_comm_t* comm;
  uint64_t words;      // Of the link.
  uint64_t credit_at;  // Word that the receiver writes.
  uint64_t fifo;       // mmio: the peer's; gdma: staging.
  uint64_t arrived;    // mmio: the peer's word.
  uint64_t request;    // gdma: a send request without place and length.
  uint32_t sent;
  uint32_t credit;  // Last seen.
} stretto_sender_t;

typedef struct stretto_receiver {
  const stretto_comm_t* comm;
  uint64_t words;
  uint64_t arrived;  // Word that says how many slots have come.
  uint64_t fifo;
  uint64_t credit;  // The peer's word.
  uint32_t received;
} stretto_receiver_t;

KERNEL_INLINE uint64_t stretto_peer_block(const stretto_comm_t* comm, uint32_t peer) {
  const uint64_t offset = comm->block & (((uint64_t)1 << 40) - 1);
  return ((uint64_t)(comm->gpu[peer] + 1) << 40) + offset;
}

KERNEL_INLINE uint32_t stretto_load_word(uint64_t address) {
  return *(const volatile uint32_t*)(uintptr_t)address;
}
KERNEL_INLINE void stretto_store_word(uint64_t address, uint32_t value) {
  *(volatile uint32_t*)(uintptr_t)address = value;
}

// Bytes of data that a slot, and the FIFO of a link, holds.
KERNEL_INLINE uint32_t stretto_slot_data(const stretto_comm_t* comm) {
  return STRETTO_LINES ? STRETTO_LINES_DATA : comm->slot_bytes;
}
KERNEL_INLINE uint64_t stretto_fifo_data(const stretto_comm_t* comm) {
  return STRETTO_LINES ? (uint64_t)comm->slots * STRETTO_LINES_DATA : stretto_comm_fifo_bytes(comm);
}
// Where slot number `slot` of a FIFO lies.
KERNEL_INLINE uint64_t stretto_slot_at(const stretto_comm_t* comm, uint64_t fifo, uint32_t slot) {
  return fifo +
         (uint64_t)(slot % comm->slots) * (STRETTO_LINES ? STRETTO_LINES_SLOT : comm->slot_bytes);
}

static __attribute__((noinline, unused)) void stretto_sender_open(stretto_sender_t* s,
                                                                  const stretto_comm_t* comm,
                                                                  uint32_t peer, uint32_t channel) {
  const uint64_t link = stretto_comm_link(comm, peer, channel);
  const uint64_t here = stretto_comm_link(comm, comm->rank, channel);  // Of this rank at the peer.
  const uint64_t there = stretto_peer_block(comm, peer);
  const uint64_t words =
      comm->block + link * STRETTO_LINK_BYTES + (STRETTO_LINES ? STRETTO_LINK_LINES : 0);
  s->comm = comm;
  s->words = words;
  s->credit_at = words + STRETTO_LINK_CREDIT;
  s->arrived = there + here * STRETTO_LINK_BYTES + STRETTO_LINK_ARRIVED;
  if (STRETTO_LINES) {
    s->fifo = there + stretto_comm_lines_at(comm) + here * stretto_comm_lines_fifo_bytes(comm);
  } else if (comm->engine == STRETTO_ENGINE_MMIO) {
    s->fifo = there + stretto_comm_fifo_at(comm) + here * stretto_comm_fifo_bytes(comm);
  } else {
    s->fifo = comm->block + stretto_comm_staging_at(comm) + link * stretto_comm_fifo_bytes(comm);
    const uint32_t outgoing = stretto_comm_outgoing(comm, peer, channel);
    s->request = stretto_send_request(STRETTO_SR_WRITE, comm->staging_id + outgoing,
                                      stretto_comm_buffer_id(comm, comm->rank, peer, channel),
                                      comm->first_connection + outgoing, 0, 0, STRETTO_SR_RC);
  }
  s->sent = stretto_load_word(words + STRETTO_LINK_SENT);
  // Not looked at yet; so much is sure.
  s->credit = s->sent < comm->slots ? 0 : s->sent - comm->slots;
}

static __attribute__((noinline, unused)) void stretto_receiver_open(stretto_receiver_t* r,
                                                                    const stretto_comm_t* comm,
                                                                    uint32_t peer,
                                                                    uint32_t channel) {
  const uint64_t link = stretto_comm_link(comm, peer, channel);
  const uint64_t there = stretto_comm_link(comm, comm->rank, channel);
  const uint64_t lines = STRETTO_LINES ? STRETTO_LINK_LINES : 0;
  const uint64_t words = comm->block + link * STRETTO_LINK_BYTES + lines;
  r->comm = comm;
  r->words = words;
  r->arrived = comm->engine == STRETTO_ENGINE_MMIO
                   ? words + STRETTO_LINK_ARRIVED
                   : comm->block + stretto_comm_flags_at(comm) +
                         8 * stretto_comm_buffer_id(comm, peer, comm->rank, channel);
  r->fifo =
      STRETTO_LINES
          ? comm->block + stretto_comm_lines_at(comm) + link * stretto_comm_lines_fifo_bytes(comm)
          : comm->block + stretto_comm_fifo_at(comm) + link * stretto_comm_fifo_bytes(comm);
  r->credit =
      stretto_peer_block(comm, peer) + there * STRETTO_LINK_BYTES + lines + STRETTO_LINK_CREDIT;
  r->received = stretto_load_word(words + STRETTO_LINK_RECEIVED);
}

// Where the next slot's data go; waits until the receiver has emptied it.
static __attribute__((noinline, unused)) uint64_t stretto_sender_slot(stretto_sender_t* s) {
  const uint32_t slots = s->comm->slots;
  // With ll the waits that are left count, and credit has mostly come.
  if (STRETTO_LINES && s->sent - s->credit >= slots) s->credit = stretto_load_word(s->credit_at);
  if (s->sent - s->credit >= slots) {
    tile_wait_until(s->credit_at, TILE_GEU, (uint64_t)(s->sent - slots + 1));
    s->credit = stretto_load_word(s->credit_at);
  }
  return stretto_slot_at(s->comm, s->fifo, s->sent);
}

// Takes a place in the request ring (send_request.h) and stores the request, behind this
// wavefront's stores.
KERNEL_INLINE void stretto_send(const stretto_comm_t* comm, uint64_t request) {
  uint64_t* const tickets = (uint64_t*)(uintptr_t)comm->ticket;
  const uint64_t ticket = __atomic_fetch_add(tickets, 1, __ATOMIC_RELAXED);
  if (ticket >= STRETTO_SEND_RING_DEPTH)
    tile_wait_until(comm->replica, TILE_GEU, ticket - STRETTO_SEND_RING_DEPTH + 1);
  tile_locked_store(comm->window + 8 * (ticket % STRETTO_SEND_RING_DEPTH), request);
}

// gdma: sends `length` units at `offset` from buffer to buffer instead of the slot of the last
// stretto_sender_slot, which counts as used. REQUIRES: what is sent was stored by this wavefront,
// or has arrived here.
KERNEL_INLINE void stretto_put_from(stretto_sender_t* s, uint32_t source, uint32_t destination,
                                    uint32_t connection, uint32_t offset, uint32_t length) {
  ++s->sent;
  stretto_send(s->comm, stretto_send_request(STRETTO_SR_WRITE, source, destination, connection,
                                             offset, length, STRETTO_SR_RC));
}

// Waits until the receiver has released all that was sent.
KERNEL_INLINE void stretto_sender_drain(const stretto_sender_t* s) {
  tile_wait_until(s->credit_at, TILE_GEU, (uint64_t)s->sent);
}

// Hands the slot of the last stretto_sender_slot to the engine. REQUIRES: 1 <= bytes <= slot_bytes,
// stored by this wavefront.
static __attribute__((noinline, unused)) void stretto_put(stretto_sender_t* s, uint32_t bytes) {
  const stretto_comm_t* comm = s->comm;
  const uint32_t slot = s->sent % comm->slots;
  ++s->sent;
  if (STRETTO_LINES) return;
  if (comm->engine == STRETTO_ENGINE_MMIO) {
    tile_locked_store(s->arrived, (uint64_t)s->sent);
    return;
  }
  const uint64_t offset = slot * (comm->slot_bytes >> STRETTO_COMM_UNIT_SHIFT);
  const uint64_t length = (bytes + STRETTO_COMM_UNIT - 1) >> STRETTO_COMM_UNIT_SHIFT;
  stretto_send(comm,
               s->request | offset << STRETTO_SR_OFFSET_SHIFT | length << STRETTO_SR_LENGTH_SHIFT);
}

// Waits for the next slot; returns where it lies.
KERNEL_INLINE uint64_t stretto_receiver_slot(stretto_receiver_t* r) {
  if (!STRETTO_LINES) tile_wait_until(r->arrived, TILE_GEU, (uint64_t)r->received + 1);
  return stretto_slot_at(r->comm, r->fifo, r->received);
}

// Gives the slot of the last stretto_receiver_slot back to the sender.
KERNEL_INLINE void stretto_release(stretto_receiver_t* r) {
  ++r->received;
  tile_locked_store(r->credit, (uint64_t)r->received);
}

// Stores the counts, where the next launch finds them.
KERNEL_INLINE void stretto_sender_close(const stretto_sender_t* s) {
  stretto_store_word(s->words + STRETTO_LINK_SENT, s->sent);
}
KERNEL_INLINE void stretto_receiver_close(const stretto_receiver_t* r) {
  stretto_store_word(r->words + STRETTO_LINK_RECEIVED, r->received);
}

// Tiles

#define STRETTO_MOVE_BYTES 8192u  // Of a tile; eight of them are in use.

// What stretto_move does: to, also <- (from op with) * scale. Addresses may be 0 = there is none,
// but for `from`.
typedef struct stretto_movement {
  uint64_t from;
  uint64_t with;  // Same number of bytes, combined by `reduction`.
  uint64_t to;
  uint64_t also;
  uint64_t scale;  // STRETTO_MOVE_BYTES of constants; there is a `with` then.
  uint32_t bytes;
  uint8_t element;
  uint8_t reduction;
} stretto_movement_t;

// The element of a tile is a field of the instruction, and so is `lines`: TILE_LINES or 0.
#define STRETTO_LOAD_LIKE(t, address, shape, which, lines)      \
  do {                                                          \
    if ((which) == STRETTO_FP16)                                \
      tile_load(t, address, shape, STRETTO_FP16 | (lines), 0);  \
    else if ((which) == STRETTO_BF16)                           \
      tile_load(t, address, shape, STRETTO_BF16 | (lines), 0);  \
    else if ((which) == STRETTO_FP32)                           \
      tile_load(t, address, shape, STRETTO_FP32 | (lines), 0);  \
    else if ((which) == STRETTO_INT32)                          \
      tile_load(t, address, shape, STRETTO_INT32 | (lines), 0); \
    else                                                        \
      tile_load(t, address, shape, STRETTO_BYTE | (lines), 0);  \
  } while (0)
#define STRETTO_LOAD_AS(t, address, shape, which) STRETTO_LOAD_LIKE(t, address, shape, which, 0)

KERNEL_INLINE void stretto_move_load(const stretto_movement_t* m, uint32_t at, const int own,
                                     const int other) {
  if (at >= m->bytes) return;
  const uint64_t shape = tile_shape(1, min_u32(STRETTO_MOVE_BYTES, m->bytes - at), 0);
  STRETTO_LOAD_AS(own, m->from + at, shape, m->element);
  if (m->with != 0) STRETTO_LOAD_AS(other, m->with + at, shape, m->element);
}

// own <- (own op other) * scale.
KERNEL_INLINE void stretto_move_combine(const stretto_movement_t* m, uint64_t shape, const int own,
                                        const int other) {
  if (m->reduction == STRETTO_REDUCTION_SUM)
    tile_simt(TILE_SIMT_ADD, own, own, other);
  else if (m->reduction == STRETTO_REDUCTION_PROD)
    tile_simt(TILE_SIMT_MUL, own, own, other);
  else if (m->reduction == STRETTO_REDUCTION_MAX)
    tile_simt(TILE_SIMT_MAX, own, own, other);
  else
    tile_simt(TILE_SIMT_MIN, own, own, other);
  if (m->scale != 0) {
    STRETTO_LOAD_AS(other, m->scale, shape, m->element);
    tile_simt(TILE_SIMT_MUL, own, own, other);
  }
}

// Returns whether there is more.
KERNEL_INLINE int stretto_move_store(const stretto_movement_t* m, uint32_t at, const int own,
                                     const int other) {
  const uint64_t shape = tile_shape(1, min_u32(STRETTO_MOVE_BYTES, m->bytes - at), 0);
  if (m->with != 0) stretto_move_combine(m, shape, own, other);
  // Stored as bytes: any length will do.
  if (m->to != 0) tile_store(own, m->to + at, shape, STRETTO_BYTE);
  if (m->also != 0) tile_store(own, m->also + at, shape, STRETTO_BYTE);
  return at + STRETTO_MOVE_BYTES < m->bytes;
}

// Four tiles are under way: loads run three ahead of the arithmetic and the stores.
static __attribute__((noinline, unused)) void stretto_move(const stretto_movement_t* m) {
  const uint32_t unit = STRETTO_MOVE_BYTES;
  if (m->bytes == 0) return;
  stretto_move_load(m, 0, TILE_R(0), TILE_R(1));
  stretto_move_load(m, unit, TILE_R(2), TILE_R(3));
  stretto_move_load(m, 2 * unit, TILE_R(4), TILE_R(5));
  for (uint32_t at = 0;; at += 4 * unit) {
    stretto_move_load(m, at + 3 * unit, TILE_R(6), TILE_R(7));
    if (!stretto_move_store(m, at, TILE_R(0), TILE_R(1))) return;
    stretto_move_load(m, at + 4 * unit, TILE_R(0), TILE_R(1));
    if (!stretto_move_store(m, at + unit, TILE_R(2), TILE_R(3))) return;
    stretto_move_load(m, at + 5 * unit, TILE_R(2), TILE_R(3));
    if (!stretto_move_store(m, at + 2 * unit, TILE_R(4), TILE_R(5))) return;
    stretto_move_load(m, at + 6 * unit, TILE_R(4), TILE_R(5));
    if (!stretto_move_store(m, at + 3 * unit, TILE_R(6), TILE_R(7))) return;
  }
}

#endif  // STRETTO_SW_KERNELS_STRETTO_COMM_H_
