// SPDX-License-Identifier: Apache-2.0
// The request ring: see request_ring.h.
#include "sw/firmware/hal/request_ring.h"

#include <stddef.h>

#include "sw/include/formats/send_error.h"
#include "sw/include/regs/request_ring_regs.h"  // Generated.

#define ALL_ERRORS 7u
#define POLLS 1000u  // A transfer takes microseconds, a read of a register tens of nanoseconds.

_Static_assert(REQUEST_RING_BUFFER_BASE_COUNT == STRETTO_SEND_BUFFERS, "ids of send_request.h");
_Static_assert(REQUEST_RING_CONNECTION_CONFIG_COUNT == STRETTO_SEND_CONNECTIONS,
               "connections of send_request.h");

fw_result_t request_ring_init(request_ring_t* ring) {
  if (ring == NULL) return STRETTO_ERROR_ARGUMENT;
  ring->base = STRETTO_REQUEST_RING_BASE;
  return STRETTO_OK;
}

static bool busy(const request_ring_t* ring) {
  return (mmio_read64(ring->base + REQUEST_RING_STATUS_OFFSET) & REQUEST_RING_STATUS_BUSY_MASK) !=
         0;
}

fw_result_t request_ring_start(const request_ring_t* ring, unsigned node, uint64_t replica,
                               uint64_t sc_base, uint32_t batch) {
  if (ring == NULL || node == 0 || node > STRETTO_MAX_GPUS || replica % 8 != 0 || sc_base % 8 != 0)
    return STRETTO_ERROR_ARGUMENT;
  if (batch > 255) return STRETTO_ERROR_ARGUMENT;
  if (busy(ring)) return STRETTO_ERROR_STATE;
  // Stopped first: a store in between is reported as dropped instead of half started.
  mmio_write64(ring->base + REQUEST_RING_CONTROL_OFFSET, 0);
  mmio_write64(ring->base + REQUEST_RING_CLEAR_OFFSET, 1);
  mmio_write64(ring->base + REQUEST_RING_NODE_OFFSET, node);
  mmio_write64(ring->base + REQUEST_RING_REPLICA_ADDRESS_OFFSET, replica);
  mmio_write64(ring->base + REQUEST_RING_SC_BASE_OFFSET, sc_base);
  mmio_write64(ring->base + REQUEST_RING_ERROR_OFFSET, ALL_ERRORS);
  mmio_write64(ring->base + REQUEST_RING_IRQ_ENABLE_OFFSET,
               STRETTO_FIELD(REQUEST_RING_IRQ_ENABLE_ERRORS, ALL_ERRORS));
  mmio_write64(ring->base + REQUEST_RING_CONTROL_OFFSET,
               REQUEST_RING_CONTROL_ENABLE_MASK | REQUEST_RING_CONTROL_REPLICA_MASK |
                   STRETTO_FIELD(REQUEST_RING_CONTROL_BATCH, batch));
  return STRETTO_OK;
}

fw_result_t request_ring_set_connection(const request_ring_t* ring, uint32_t connection,
                                        unsigned node, uint64_t rc_base, uint32_t limit) {
  if (ring == NULL || connection >= STRETTO_SEND_CONNECTIONS || limit > 15 || rc_base % 8 != 0)
    return STRETTO_ERROR_ARGUMENT;
  if (node == 0 || node > STRETTO_MAX_GPUS) return STRETTO_ERROR_ARGUMENT;
  const uint64_t state =
      mmio_read64(ring->base + REQUEST_RING_CONNECTION_STATE_OFFSET_AT(connection));
  if (STRETTO_FIELD_GET(state, REQUEST_RING_CONNECTION_STATE_IN_FLIGHT) != 0)
    return STRETTO_ERROR_STATE;
  mmio_write64(ring->base + REQUEST_RING_CONNECTION_RC_BASE_OFFSET_AT(connection), rc_base);
  mmio_write64(ring->base + REQUEST_RING_CONNECTION_CONFIG_OFFSET_AT(connection),
               REQUEST_RING_CONNECTION_CONFIG_VALID_MASK |
                   STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_LIMIT, limit) |
                   STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_NODE, node));
  return STRETTO_OK;
}

fw_result_t request_ring_set_buffer(const request_ring_t* ring, uint32_t buffer,
                                    const request_ring_buffer_t* what) {
  if (ring == NULL || what == NULL || buffer >= STRETTO_SEND_BUFFERS) return STRETTO_ERROR_ARGUMENT;
  if (what->unit_shift > STRETTO_SEND_MAX_UNIT_SHIFT) return STRETTO_ERROR_ARGUMENT;
  const uint64_t units = what->bytes >> what->unit_shift;
  if (units << what->unit_shift != what->bytes || units > STRETTO_SEND_MAX_UNITS)
    return STRETTO_ERROR_ARGUMENT;
  // Invalid while it changes; what was checked before keeps its addresses and is waited for.
  mmio_write64(ring->base + REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(buffer), 0);
  if (what->bytes == 0) {
    unsigned polls = POLLS;
    while (busy(ring)) {
      if (--polls == 0) return STRETTO_ERROR_STATE;
    }
    return STRETTO_OK;
  }
  mmio_write64(ring->base + REQUEST_RING_BUFFER_BASE_OFFSET_AT(buffer), what->base);
  mmio_write64(ring->base + REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(buffer),
               STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_UNITS, units) |
                   STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_UNIT, what->unit_shift) |
                   STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_READABLE, what->readable) |
                   STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_WRITABLE, what->writable) |
                   REQUEST_RING_BUFFER_CONFIG_VALID_MASK);
  return STRETTO_OK;
}

bool request_ring_take_error(const request_ring_t* ring, request_ring_error_t* error) {
  const uint64_t bits = mmio_read64(ring->base + REQUEST_RING_ERROR_OFFSET) & ALL_ERRORS;
  if (bits == 0) return false;
  const uint64_t first = mmio_read64(ring->base + REQUEST_RING_ERROR_FIRST_OFFSET);
  error->bits = (uint32_t)bits;
  error->kind = (uint32_t)STRETTO_FIELD_GET(first, REQUEST_RING_ERROR_FIRST_KIND);
  error->reason = (uint32_t)STRETTO_FIELD_GET(first, REQUEST_RING_ERROR_FIRST_REASON);
  error->request = mmio_read64(ring->base + REQUEST_RING_ERROR_REQUEST_OFFSET);
  mmio_write64(ring->base + REQUEST_RING_ERROR_OFFSET, bits);
  return true;
}

const char* request_ring_error_name(const request_ring_error_t* error) {
  return stretto_send_error_text(error->kind, error->reason);
}
