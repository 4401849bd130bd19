// SPDX-License-Identifier: Apache-2.0
// How a GPU thread sends (GD-DMA-01, -08, -09): the same for the request ring on the die, one in a
// card behind PCIe and a software engine, which differ in where the window lies.
//
// Before a request a ticket is taken and the local head replica is looked at, nothing remote; the
// request itself is one locked store, so it comes after all stores of this wavefront before it
// (GD-U15).
#ifndef STRETTO_SW_KERNELS_SEND_H_
#define STRETTO_SW_KERNELS_SEND_H_

#include "sw/include/formats/send_request.h"
#include "sw/kernels/kernel.h"
#include "sw/kernels/kernel_arguments.h"

// The first of `count` tickets, when the ring has room for all of them.
KERNEL_INLINE uint64_t take_tickets(const stretto_send_ring_t* ring, uint64_t count) {
  uint64_t* const tickets = (uint64_t*)(uintptr_t)ring->ticket;
  const uint64_t ticket = __atomic_fetch_add(tickets, count, __ATOMIC_RELAXED);
  const uint64_t free_at_first = ring->depth - (count - 1);
  if (ticket >= free_at_first) tile_wait_until(ring->replica, TILE_GEU, ticket - free_at_first + 1);
  return ticket;
}

KERNEL_INLINE void store_request(const stretto_send_ring_t* ring, uint64_t ticket,
                                 uint64_t request) {
  tile_locked_store(ring->window + 8 * (ticket % ring->depth), request);
}

KERNEL_INLINE void send_request(const stretto_send_ring_t* ring, uint64_t request) {
  store_request(ring, take_tickets(ring, 1), request);
}

// For a card whose collective engine makes `peers` requests of it.
KERNEL_INLINE void send_collective_request(const stretto_send_ring_t* ring, uint64_t request,
                                           uint32_t peers) {
  store_request(ring, take_tickets(ring, peers), request);
}

#endif  // STRETTO_SW_KERNELS_SEND_H_
