// SPDX-License-Identifier: Apache-2.0
// DMA card on the PCIe switch: the host's side. The card takes send requests of one GPU's kernels
// (send_request.h), reads from that GPU and writes to others. It is programmed by posted writes
// into its registers and never read; what goes wrong it writes into host memory.
//
// Order of calls: stretto_card_init, stretto_card_start, then connections and buffers, then
// kernels. Kernels store requests to stretto_card_window(), which their GPU must have mapped:
// remote_map(client, stream, window, STRETTO_SEND_APERTURE_BYTES, window, 0).
#ifndef STRETTO_SW_DRIVER_CARD_H_
#define STRETTO_SW_DRIVER_CARD_H_

#include "sw/driver/stretto_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stretto_card {
  const stretto_host_ops_t* ops;
  uint32_t gpu;     // Whose kernels it serves.
  uint64_t base;    // Of its registers.
  uint64_t report;  // Two words of host memory, zero.
} stretto_card_t;

// STRETTO_ERROR_ARGUMENT: no such GPU, or `report` is not in host memory.
stretto_status_t stretto_card_init(stretto_card_t* card, const stretto_host_ops_t* ops,
                                   uint32_t gpu, uint64_t report);
uint64_t stretto_card_window(const stretto_card_t* card);

// Empties and starts the ring. `replica` (a word) and `sc_base` (an array of send flags) lie in the
// GPU's memory and are zero. REQUIRES: nothing in flight.
stretto_status_t stretto_card_start(const stretto_card_t* card, uint64_t replica, uint64_t sc_base,
                                    uint32_t batch);
// Requests that name `connection` go to GPU `peer`, whose array of receive flags is `rc_base`; at
// most `limit` at a time, 0 = as many as are built.
stretto_status_t stretto_card_connect(const stretto_card_t* card, uint32_t connection,
                                      uint32_t peer, uint64_t rc_base, uint32_t limit);
// Memory of the GPU or of a peer as buffer `id`; `flags`: STRETTO_RING_READABLE,
// STRETTO_RING_WRITABLE.
stretto_status_t stretto_card_register(const stretto_card_t* card, uint32_t id,
                                       const stretto_ring_export_t* buffer);
// REQUIRES: no request that names the buffer is in flight.
stretto_status_t stretto_card_unregister(const stretto_card_t* card, uint32_t id);

// The collective engine makes `peers` requests of a collective request from now on; 0: it is off.
// REQUIRES: the machine's card has one (card.collective); it cannot be asked, and one without takes
// the write for an access to nothing.
stretto_status_t stretto_card_collective(const stretto_card_t* card, uint32_t peers);

// Blocks until the card reports an error, or stretto_card_stop_waiting() is called: then null. Else
// one line, valid until the next call.
const char* stretto_card_wait_error(stretto_card_t* card, char* line, size_t line_bytes);
void stretto_card_stop_waiting(const stretto_card_t* card);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_DRIVER_CARD_H_
