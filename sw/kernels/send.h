// SPDX-License-Identifier: Apache-2.0
// How a GPU thread sends (GD-DMA-01, -08, -09): the same for the request ring on the die, one in a
// card behind PCIe and a software engine, which differ in where the window lies.
//
// Before a request a ticket is taken and the local head replica may be looked at, nothing remote; the
// request itself is one locked store, so it comes after all stores of this wavefront before it
// (GD-U15).
#ifndef STRETTO_SW_KERNELS_SEND_H_
#define STRETTO_SW_KERNELS_SEND_H_

#include "sw/include/formats/send_request.h"
#include "sw/kernels/kernel.h"
#include "sw/kernels/kernel_arguments.h"

// A wavefront's side of a ring. It looks at the head replica only when what it saw last leaves no
// room, so what a request costs does not depend on how many there were before.
typedef struct send_port {
  const stretto_send_ring_t* ring;
  uint64_t head;  // Last seen; 0 at first.
} send_port_t;

// The first of `count` tickets, when the ring has room for all of them.
KERNEL_INLINE uint64_t take_tickets(send_port_t* port, uint64_t count) {
  const stretto_send_ring_t* const ring = port->ring;
  uint64_t* const tickets = (uint64_t*)(uintptr_t)ring->ticket;
  const uint64_t ticket = __atomic_fetch_add(tickets, count, __ATOMIC_RELAXED);
  const uint64_t end = ticket + count;
  // The replica is read once where there is room; a kernel that begins behind a full turn of the ring pays no more.
  const volatile uint64_t* const replica = (const volatile uint64_t*)(uintptr_t)ring->replica;
  if (end - port->head > ring->depth) port->head = *replica;
  if (end - port->head > ring->depth) {
    tile_wait_until(ring->replica, TILE_GEU, end - ring->depth);
    port->head = *replica;
  }
  return ticket;
}

KERNEL_INLINE void store_request(const send_port_t* port, uint64_t ticket, uint64_t request) {
  tile_locked_store(port->ring->window + 8 * (ticket % port->ring->depth), request);
}

KERNEL_INLINE void send_request(send_port_t* port, uint64_t request) {
  store_request(port, take_tickets(port, 1), request);
}

// For a card whose collective engine makes `peers` requests of it.
KERNEL_INLINE void send_collective_request(send_port_t* port, uint64_t request, uint32_t peers) {
  store_request(port, take_tickets(port, peers), request);
}

#endif  // STRETTO_SW_KERNELS_SEND_H_
