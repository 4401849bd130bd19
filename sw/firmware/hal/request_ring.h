// SPDX-License-Identifier: Apache-2.0
// The request ring: takes send requests of GPU threads (GD-DMA-01..11, send_request.h).
//
// Order of calls: request_ring_init, request_ring_start, then connections and buffers; kernels may
// send what is registered. request_ring_set_buffer with no bytes takes a buffer back.
#ifndef STRETTO_SW_FIRMWARE_HAL_REQUEST_RING_H_
#define STRETTO_SW_FIRMWARE_HAL_REQUEST_RING_H_

#include <stdbool.h>

#include "sw/firmware/hal/mmio.h"
#include "sw/include/formats/send_request.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct request_ring {
  uint64_t base;
} request_ring_t;

typedef struct request_ring_buffer {
  uint64_t base;        // 48-bit.
  uint64_t bytes;       // A multiple of the unit; 0 = not registered.
  uint32_t unit_shift;  // log2 of the bytes of a unit.
  bool readable;
  bool writable;
} request_ring_buffer_t;

typedef struct request_ring_error {
  uint32_t bits;  // What happened since the last call: bits of the register `error`.
  uint32_t kind;  // Which of them came first: its number.
  uint32_t reason;
  uint64_t request;
} request_ring_error_t;

FW_MUST_CHECK fw_result_t request_ring_init(request_ring_t* ring);
// Empties the ring, forgets numbers and errors, and starts it with the hardware engine.
// STRETTO_ERROR_STATE: requests or transfers are under way; STRETTO_ERROR_ARGUMENT: an address is
// not a multiple of 8, batch above 255.
FW_MUST_CHECK fw_result_t request_ring_start(const request_ring_t* ring, unsigned node,
                                             uint64_t replica, uint64_t sc_base, uint32_t batch);
// STRETTO_ERROR_ARGUMENT: no such connection or node, limit above 15, rc_base not a multiple of 8;
// STRETTO_ERROR_STATE: it has transfers in flight.
FW_MUST_CHECK fw_result_t request_ring_set_connection(const request_ring_t* ring,
                                                      uint32_t connection, unsigned node,
                                                      uint64_t rc_base, uint32_t limit);
// STRETTO_ERROR_ARGUMENT: no such buffer, unit above 2^17, size no multiple of the unit or above
// 2^17 units; STRETTO_ERROR_STATE: the buffer is invalid now, but requests that passed the check
// before are still under way.
FW_MUST_CHECK fw_result_t request_ring_set_buffer(const request_ring_t* ring, uint32_t buffer,
                                                  const request_ring_buffer_t* what);
// Errors since the last call, acknowledged; false = none.
bool request_ring_take_error(const request_ring_t* ring, request_ring_error_t* error);
// The first reason in words.
const char* request_ring_error_name(const request_ring_error_t* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_HAL_REQUEST_RING_H_
