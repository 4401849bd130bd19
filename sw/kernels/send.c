// SPDX-License-Identifier: Apache-2.0
// Sends by GPU threads: each work-group writes its share of a list of send requests into the
// request ring, then waits for a list of flags. One wavefront a work-group. And what measures
// messages: many in a row, and back and forth; and a block to every other GPU and one from each.
#include "sw/kernels/send.h"

void send_requests(void) {
  const stretto_send_arguments_t* g =
      (const stretto_send_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint64_t* requests = (const uint64_t*)(uintptr_t)g->requests;
  send_port_t port = {.ring = &g->ring};
  const uint64_t first = tile_csr(TILE_CSR_WG_ID);
  const uint64_t groups = tile_csr(TILE_CSR_GRID);
  for (uint64_t i = first; i < g->count; i += groups) {
    send_request(&port, requests[i]);
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

KERNEL_INLINE void note_cycle(uint64_t address) {
  *(volatile uint64_t*)(uintptr_t)address = tile_csr(TILE_CSR_CYCLE);
}

void send_stream(void) {
  const stretto_message_arguments_t* g =
      (const stretto_message_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  send_port_t port = {.ring = &g->ring};
  uint32_t offset = 0;
  note_cycle(g->stamps);
  for (uint32_t i = 0; i < g->count; ++i) {
    const uint64_t wish = i + 1 == g->count ? STRETTO_SR_SC | STRETTO_SR_RC : 0;
    send_request(&port, (g->request + ((uint64_t)offset << STRETTO_SR_OFFSET_SHIFT)) | wish);
    offset += g->step;
    if (offset == g->wrap) offset = 0;
  }
  tile_wait_until(g->flag, TILE_GEU, g->flag_base + g->count);
  tile_end();
  __builtin_unreachable();
}

void receive_stream(void) {
  const stretto_message_arguments_t* g =
      (const stretto_message_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  tile_wait_until(g->flag, TILE_GEU, g->flag_base + g->count);
  note_cycle(g->stamps);
  tile_end();
  __builtin_unreachable();
}

void ping_pong(void) {
  const stretto_message_arguments_t* g =
      (const stretto_message_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  send_port_t port = {.ring = &g->ring};
  note_cycle(g->stamps);
  for (uint32_t i = 0; i < g->count; ++i) {
    if (g->initiator) send_request(&port, g->request);
    tile_wait_until(g->flag, TILE_GEU, g->flag_base + i + 1);
    if (!g->initiator) send_request(&port, g->request);
  }
  note_cycle(g->stamps + 8);
  tile_end();
  __builtin_unreachable();
}

// Blocks of this work-group's peers, of the first `calls` calls, are here.
KERNEL_INLINE void wait_for_blocks(const stretto_exchange_arguments_t* g, uint64_t first,
                                   uint64_t groups, uint64_t calls) {
  for (uint64_t peer = first; peer < g->peers; peer += groups)
    tile_wait_until(g->flags + 8 * peer, TILE_GEU, g->flag_base + calls);
}

KERNEL_INLINE void ask_for_call(const stretto_exchange_arguments_t* g, send_port_t* port,
                                uint64_t first, uint64_t groups, uint64_t request) {
  if (g->form == STRETTO_EXCHANGE_COLLECTIVE) {
    if (first == 0) send_collective_request(port, request, g->peers);
    return;
  }
  const int at_once = g->form == STRETTO_EXCHANGE_TICKETS_AT_ONCE;
  uint64_t ticket = at_once ? take_tickets(port, (g->peers - first + groups - 1) / groups) : 0;
  for (uint64_t peer = first; peer < g->peers; peer += groups) {
    if (!at_once) ticket = take_tickets(port, 1);
    store_request(port, ticket++, request + peer * STRETTO_SR_NEXT_PEER);
  }
}

void exchange(void) {
  const stretto_exchange_arguments_t* g =
      (const stretto_exchange_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint64_t first = tile_csr(TILE_CSR_WG_ID);
  const uint64_t groups = tile_csr(TILE_CSR_GRID);
  const uint64_t step = (uint64_t)g->step << STRETTO_SR_OFFSET_SHIFT;
  const uint64_t stamps = g->stamps + 16 * first;
  send_port_t port = {.ring = &g->ring};
  for (uint64_t call = 0; call < g->calls; ++call) {
    if (call == g->warm_up) note_cycle(stamps);
    ask_for_call(g, &port, first, groups, g->request + call * step);
    if (call + 1 >= g->ahead) wait_for_blocks(g, first, groups, call + 2 - g->ahead);
  }
  wait_for_blocks(g, first, groups, g->calls);
  note_cycle(stamps + 8);
  tile_end();
  __builtin_unreachable();
}

void stamp(void) {
  const stretto_stamp_arguments_t* g =
      (const stretto_stamp_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  note_cycle(g->address);
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(send_stream, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096,
               .private_bytes = 1024, .wavefronts = 1,
               .kernarg_bytes = sizeof(stretto_message_arguments_t));
STRETTO_KERNEL(receive_stream, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096,
               .private_bytes = 1024, .wavefronts = 1,
               .kernarg_bytes = sizeof(stretto_message_arguments_t));
STRETTO_KERNEL(ping_pong, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096,
               .private_bytes = 1024, .wavefronts = 1,
               .kernarg_bytes = sizeof(stretto_message_arguments_t));
STRETTO_KERNEL(exchange, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096,
               .private_bytes = 1024, .wavefronts = 1,
               .kernarg_bytes = sizeof(stretto_exchange_arguments_t));
STRETTO_KERNEL(stamp, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096, .private_bytes = 1024,
               .wavefronts = 1, .kernarg_bytes = sizeof(stretto_stamp_arguments_t));
