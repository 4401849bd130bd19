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

KERNEL_INLINE void send_request(const stretto_send_ring_t* ring, uint64_t request) {
  uint64_t* const tickets = (uint64_t*)(uintptr_t)ring->ticket;
  const uint64_t ticket = __atomic_fetch_add(tickets, 1, __ATOMIC_RELAXED);
  if (ticket >= ring->depth) tile_wait_until(ring->replica, TILE_GEU, ticket - ring->depth + 1);
  tile_locked_store(ring->window + 8 * (ticket % ring->depth), request);
}

#endif  // STRETTO_SW_KERNELS_SEND_H_
