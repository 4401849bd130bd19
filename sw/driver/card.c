// SPDX-License-Identifier: Apache-2.0
// The host's side of a DMA card: see card.h.
#include "sw/driver/card.h"

#include <stdio.h>

#include "sw/include/formats/card.h"
#include "sw/include/formats/send_error.h"
#include "sw/include/regs/card_regs.h"  // Generated.
#include "sw/include/regs/field.h"
#include "sw/include/regs/request_ring_regs.h"  // Generated.

#define ALL_ERRORS 7u

static void write64(const stretto_card_t* card, uint64_t address, uint64_t value) {
  card->ops->write(card->ops->context, address, &value, 8);
}

static void write_ring(const stretto_card_t* card, uint64_t offset, uint64_t value) {
  write64(card, card->base + offset, value);
}

static void write_card(const stretto_card_t* card, uint64_t offset, uint64_t value) {
  write64(card, card->base - STRETTO_DOORBELL_APERTURE + STRETTO_CARD_REGISTERS + offset, value);
}

static uint64_t node_of(uint64_t address) { return address >> STRETTO_NODE_SHIFT; }

// All of it is memory of some GPU.
static int in_gpu_memory(uint64_t address, uint64_t bytes) {
  const uint64_t offset = address & STRETTO_OFFSET_MASK;
  return node_of(address) >= 1 && node_of(address) <= STRETTO_MAX_GPUS &&
         offset < STRETTO_GPU_MEMORY_LIMIT && bytes <= STRETTO_GPU_MEMORY_LIMIT - offset;
}

stretto_status_t stretto_card_init(stretto_card_t* card, const stretto_host_ops_t* ops,
                                   uint32_t gpu, uint64_t report) {
  if (gpu >= STRETTO_MAX_GPUS || node_of(report) != STRETTO_NODE_HOST || report % 8 != 0)
    return STRETTO_ERROR_ARGUMENT;
  card->ops = ops;
  card->gpu = gpu;
  card->base =
      ((uint64_t)(STRETTO_NODE_CARD + gpu) << STRETTO_NODE_SHIFT) + STRETTO_DOORBELL_APERTURE;
  card->report = report;
  return STRETTO_OK;
}

uint64_t stretto_card_window(const stretto_card_t* card) {
  return card->base - STRETTO_DOORBELL_APERTURE + STRETTO_SEND_APERTURE;
}

stretto_status_t stretto_card_start(const stretto_card_t* card, uint64_t replica, uint64_t sc_base,
                                    uint32_t batch) {
  if (batch > 255 || replica % 8 != 0 || sc_base % 8 != 0) return STRETTO_ERROR_ARGUMENT;
  if (!in_gpu_memory(replica, 8) || node_of(replica) != card->gpu + 1 ||
      !in_gpu_memory(sc_base, STRETTO_SEND_FLAG_BYTES) || node_of(sc_base) != card->gpu + 1)
    return STRETTO_ERROR_UNMAPPED;
  // Stopped first: a request in between is reported as dropped instead of half started.
  write_ring(card, REQUEST_RING_CONTROL_OFFSET, 0);
  write_ring(card, REQUEST_RING_CLEAR_OFFSET, 1);
  write_ring(card, REQUEST_RING_NODE_OFFSET, card->gpu + 1);
  write_ring(card, REQUEST_RING_REPLICA_ADDRESS_OFFSET, replica);
  write_ring(card, REQUEST_RING_SC_BASE_OFFSET, sc_base);
  write_ring(card, REQUEST_RING_ERROR_OFFSET, ALL_ERRORS);
  write_card(card, CARD_REPORT_OFFSET, card->report);
  write_ring(card, REQUEST_RING_IRQ_ENABLE_OFFSET,
             STRETTO_FIELD(REQUEST_RING_IRQ_ENABLE_ERRORS, ALL_ERRORS));
  write_ring(card, REQUEST_RING_CONTROL_OFFSET,
             REQUEST_RING_CONTROL_ENABLE_MASK | REQUEST_RING_CONTROL_REPLICA_MASK |
                 STRETTO_FIELD(REQUEST_RING_CONTROL_BATCH, batch));
  return STRETTO_OK;
}

stretto_status_t stretto_card_connect(const stretto_card_t* card, uint32_t connection,
                                      uint32_t peer, uint64_t rc_base, uint32_t limit) {
  if (connection >= STRETTO_SEND_CONNECTIONS || peer >= STRETTO_MAX_GPUS || peer == card->gpu ||
      limit > 15 || rc_base % 8 != 0)
    return STRETTO_ERROR_ARGUMENT;
  if (!in_gpu_memory(rc_base, STRETTO_SEND_FLAG_BYTES) || node_of(rc_base) != peer + 1)
    return STRETTO_ERROR_UNMAPPED;
  write_ring(card, REQUEST_RING_CONNECTION_RC_BASE_OFFSET_AT(connection), rc_base);
  write_ring(card, REQUEST_RING_CONNECTION_CONFIG_OFFSET_AT(connection),
             REQUEST_RING_CONNECTION_CONFIG_VALID_MASK |
                 STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_LIMIT, limit) |
                 STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_NODE, peer + 1));
  return STRETTO_OK;
}

stretto_status_t stretto_card_register(const stretto_card_t* card, uint32_t id,
                                       const stretto_ring_export_t* buffer) {
  if (id >= STRETTO_SEND_BUFFERS || buffer->unit_shift > STRETTO_SEND_MAX_UNIT_SHIFT)
    return STRETTO_ERROR_ARGUMENT;
  const uint64_t units = buffer->bytes >> buffer->unit_shift;
  if (units == 0 || units << buffer->unit_shift != buffer->bytes || units > STRETTO_SEND_MAX_UNITS)
    return STRETTO_ERROR_ARGUMENT;
  if (!in_gpu_memory(buffer->base, buffer->bytes)) return STRETTO_ERROR_UNMAPPED;
  // Invalid while it changes.
  write_ring(card, REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(id), 0);
  write_ring(card, REQUEST_RING_BUFFER_BASE_OFFSET_AT(id), buffer->base);
  write_ring(card, REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(id),
             STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_UNITS, units) |
                 STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_UNIT, buffer->unit_shift) |
                 STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_READABLE,
                               (buffer->flags & STRETTO_RING_READABLE) != 0) |
                 STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_WRITABLE,
                               (buffer->flags & STRETTO_RING_WRITABLE) != 0) |
                 REQUEST_RING_BUFFER_CONFIG_VALID_MASK);
  return STRETTO_OK;
}

stretto_status_t stretto_card_unregister(const stretto_card_t* card, uint32_t id) {
  if (id >= STRETTO_SEND_BUFFERS) return STRETTO_ERROR_ARGUMENT;
  write_ring(card, REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(id), 0);
  return STRETTO_OK;
}

stretto_status_t stretto_card_collective(const stretto_card_t* card, uint32_t peers) {
  if (peers > STRETTO_SEND_CONNECTIONS) return STRETTO_ERROR_ARGUMENT;
  write_card(card, CARD_PEERS_OFFSET, peers);
  return STRETTO_OK;
}

const char* stretto_card_wait_error(stretto_card_t* card, char* line, size_t line_bytes) {
  const stretto_host_ops_t* ops = card->ops;
  const uint64_t reason =
      ops->wait(ops->context, card->report + STRETTO_CARD_REPORT_REASON, STRETTO_WAIT_NOT_EQUAL, 0);
  if ((reason & STRETTO_CARD_REPORT_VALID) == 0) return NULL;
  const uint64_t request =
      ops->wait(ops->context, card->report + STRETTO_CARD_REPORT_REQUEST, STRETTO_WAIT_AT_LEAST, 0);
  const uint32_t kind = (uint32_t)STRETTO_FIELD_GET(reason, REQUEST_RING_ERROR_FIRST_KIND);
  snprintf(line, line_bytes,
           "card of gpu %u: send request 0x%016llx (buffer %u -> %u, connection %u): %s", card->gpu,
           (unsigned long long)request, (unsigned)(request >> STRETTO_SR_SOURCE_SHIFT & 0xFF),
           (unsigned)(request >> STRETTO_SR_DESTINATION_SHIFT & 0xFF),
           (unsigned)(request >> STRETTO_SR_CONNECTION_SHIFT & 0x7F),
           stretto_send_error_text(
               kind, (uint32_t)STRETTO_FIELD_GET(reason, REQUEST_RING_ERROR_FIRST_REASON)));
  return line;
}

void stretto_card_stop_waiting(const stretto_card_t* card) {
  card->ops->store(card->ops->context, card->report + STRETTO_CARD_REPORT_REASON, 1);
}
