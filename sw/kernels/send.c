// SPDX-License-Identifier: Apache-2.0
// Sends by GPU threads: each work-group writes its share of a list of send requests into the
// request ring, then waits for a list of flags (GD-DMA-01, -08, -09). One wavefront a work-group.
//
// Before a request a ticket is taken and the local head replica is looked at, nothing remote; the
// request itself is one locked store, so it comes after all stores of this wavefront before it
// (GD-U15).
#include "sw/include/formats/send_request.h"
#include "sw/kernels/kernel.h"
#include "sw/kernels/kernel_arguments.h"

void send_requests(void) {
  const stretto_send_arguments_t* g =
      (const stretto_send_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint64_t* requests = (const uint64_t*)(uintptr_t)g->requests;
  const uint64_t first = tile_csr(TILE_CSR_WG_ID);
  const uint64_t groups = tile_csr(TILE_CSR_GRID);
  for (uint64_t i = first; i < g->count; i += groups) {
    uint64_t* const tickets = (uint64_t*)(uintptr_t)g->ticket;
    const uint64_t ticket = __atomic_fetch_add(tickets, 1, __ATOMIC_RELAXED);
    if (ticket >= g->depth) tile_wait_until(g->replica, TILE_GEU, ticket - g->depth + 1);
    tile_locked_store(g->window + 8 * (ticket % g->depth), requests[i]);
  }
  const uint64_t* waits = (const uint64_t*)(uintptr_t)g->waits;
  for (uint64_t i = first; i < g->wait_count; i += groups) {
    tile_wait_until(waits[2 * i], TILE_GEU, waits[2 * i + 1]);
  }
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(send_requests, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096,
               .private_bytes = 1024, .wavefronts = 1,
               .kernarg_bytes = sizeof(stretto_send_arguments_t));
