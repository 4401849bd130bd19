// SPDX-License-Identifier: Apache-2.0
// The request ring's packets and its interrupt: see ring_service.h. Nothing happens to the ring
// until the first packet asks for it.
#include "sw/firmware/services/ring_service.h"

#include <stddef.h>

#include "sw/firmware/hal/intc.h"
#include "sw/firmware/hal/request_ring.h"
#include "sw/firmware/services/memory_range.h"
#include "sw/firmware/services/report.h"

static const request_ring_t kRing = {STRETTO_REQUEST_RING_BASE};

fw_result_t ring_service_start(trigger_service_t* trigger, const stretto_ring_config_t* config) {
  if (trigger == NULL || config == NULL) return STRETTO_ERROR_ARGUMENT;
  const unsigned gpu = trigger->shared->gpu_id;
  if (!in_gpu_memory(config->replica, 8, gpu) ||
      !in_gpu_memory(config->sc_base, STRETTO_SEND_FLAG_BYTES, gpu))
    return STRETTO_ERROR_UNMAPPED;
  fw_result_t result = trigger_service_map_send_window(trigger);
  if (result != STRETTO_OK) return result;
  result = request_ring_start(&kRing, gpu + 1, config->replica, config->sc_base, config->batch);
  if (result != STRETTO_OK) return result;
  return intc_enable(COMPLETION_HART, STRETTO_IRQ_REQUEST_RING);
}

fw_result_t ring_service_connection(const shared_t* shared,
                                    const stretto_ring_connection_t* connection) {
  if (shared == NULL || connection == NULL || connection->peer >= STRETTO_MAX_GPUS)
    return STRETTO_ERROR_ARGUMENT;
  if (!in_gpu_memory(connection->rc_base, STRETTO_SEND_FLAG_BYTES, connection->peer))
    return STRETTO_ERROR_UNMAPPED;
  return request_ring_set_connection(&kRing, connection->connection, connection->peer + 1,
                                     connection->rc_base, connection->limit);
}

fw_result_t ring_service_buffer(uint32_t flags, const stretto_ring_buffer_t* buffer) {
  if (buffer == NULL || (flags & ~(STRETTO_RING_READABLE | STRETTO_RING_WRITABLE)) != 0)
    return STRETTO_ERROR_ARGUMENT;
  const uint64_t node = node_of(buffer->base);
  if (buffer->bytes != 0 && (node == 0 || node > STRETTO_MAX_GPUS ||
                             !in_gpu_memory(buffer->base, buffer->bytes, (unsigned)node - 1)))
    return STRETTO_ERROR_UNMAPPED;
  const request_ring_buffer_t what = {.base = buffer->base,
                                      .bytes = buffer->bytes,
                                      .unit_shift = buffer->unit_shift,
                                      .readable = (flags & STRETTO_RING_READABLE) != 0,
                                      .writable = (flags & STRETTO_RING_WRITABLE) != 0};
  return request_ring_set_buffer(&kRing, buffer->buffer, &what);
}

void ring_service_irq(void) {
  request_ring_error_t error;
  if (!request_ring_take_error(&kRing, &error)) return;
  report_send_failure(error.request, request_ring_error_name(&error));
}
