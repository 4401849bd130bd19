// SPDX-License-Identifier: Apache-2.0
// Packets of a queue and the signals by which they are seen complete.
#include <stdarg.h>
#include <stdio.h>

#include "sw/driver/internal.h"

uint64_t driver_host_address(uint64_t offset) {
  return ((uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT) + offset;
}

stretto_status_t driver_fail(stretto_client_t* client, stretto_status_t status, const char* format,
                             ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(client->error, sizeof client->error, format, arguments);
  va_end(arguments);
  return status;
}

const char* stretto_status_text(stretto_status_t status) {
  switch (status) {
    case STRETTO_OK: return "ok";
    case STRETTO_ERROR_PACKET: return "unknown packet";
    case STRETTO_ERROR_ARGUMENT: return "argument out of range";
    case STRETTO_ERROR_OVERLAP: return "map overlaps an earlier map";
    case STRETTO_ERROR_UNMAPPED: return "address or tile outside of what is mapped or configured";
    case STRETTO_ERROR_TABLE_FULL: return "no room left";
    case STRETTO_ERROR_RESOURCES: return "kernel needs more than a compute unit has";
    case STRETTO_ERROR_KERNEL: return "no such kernel";
    case STRETTO_ERROR_DEVICE: return "device error";
    case STRETTO_ERROR_FAULT: return "fault";
    case STRETTO_ERROR_STATE: return "not possible now";
  }
  return "unknown status";
}

void driver_call(const stretto_client_t* client) {
  client->ops.charge_cpu_ns(client->ops.context, client->options.costs.call_ns);
}

void driver_charge(const stretto_client_t* client, uint32_t nanoseconds) {
  if (nanoseconds != 0) client->ops.charge_cpu_ns(client->ops.context, nanoseconds);
}

uint64_t driver_signal_address(const stretto_client_t* client, const stretto_stream_t* stream,
                               uint64_t packet) {
  const uint64_t index =
      stream->queue * STRETTO_SIGNALS_PER_QUEUE + packet % STRETTO_SIGNALS_PER_QUEUE;
  return driver_host_address(STRETTO_SIGNAL_OFFSET((uint64_t)client->options.gpu, index));
}

// The oldest packet not yet seen complete has ended so.
static void note_oldest(stretto_client_t* client, stretto_stream_t* stream,
                        stretto_status_t status) {
  if (status != STRETTO_OK && stream->error == STRETTO_OK) {
    stream->error = status;
    driver_fail(
        client, status, "gpu %u queue %u packet %llu: %s", client->options.gpu, stream->queue,
        (unsigned long long)stream->checked,
        status == STRETTO_ERROR_RESOURCES
            ? "the kernel needs more than a compute unit has, or all its work-groups at once "
              "more than the GPU"
            : stretto_status_text(status));
  }
  ++stream->checked;
}

void driver_check_oldest(stretto_client_t* client, stretto_stream_t* stream) {
  const uint64_t address = driver_signal_address(client, stream, stream->checked);
  note_oldest(client, stream,
              (stretto_status_t)(int64_t)client->ops.wait(
                  client->ops.context, address, STRETTO_WAIT_NOT_EQUAL, STRETTO_SIGNAL_PENDING));
}

int driver_look_at_oldest(stretto_client_t* client, stretto_stream_t* stream) {
  uint64_t word = STRETTO_SIGNAL_PENDING;
  client->ops.read(client->ops.context, driver_signal_address(client, stream, stream->checked),
                   &word, sizeof word);
  if (word == STRETTO_SIGNAL_PENDING) return 0;
  note_oldest(client, stream, (stretto_status_t)(int64_t)word);
  return 1;
}

stretto_status_t driver_queue_room(stretto_client_t* client, stretto_stream_t* stream,
                                   uint32_t packets) {
  const stretto_host_ops_t* ops = &client->ops;
  const uint64_t needed = stream->written + packets;
  if (needed - stream->read <= STRETTO_QUEUE_PACKETS) return STRETTO_OK;
  const uint64_t address =
      driver_host_address(STRETTO_READ_INDEX_OFFSET((uint64_t)client->options.gpu, stream->queue));
  const uint64_t wanted = needed - STRETTO_QUEUE_PACKETS;
  if (stream->preempted) {
    ops->read(ops->context, address, &stream->read, sizeof stream->read);
    if (stream->read < wanted)
      return driver_fail(client, STRETTO_ERROR_TABLE_FULL,
                         "queue %u: its %u packets wait, and its stream is preempted",
                         stream->queue, STRETTO_QUEUE_PACKETS);
  } else {
    stream->read = ops->wait(ops->context, address, STRETTO_WAIT_AT_LEAST, wanted);
  }
  return STRETTO_OK;
}

stretto_status_t driver_put(stretto_client_t* client, stretto_stream_t* stream,
                            stretto_packet_t* packet) {
  const stretto_host_ops_t* ops = &client->ops;
  const uint32_t gpu = client->options.gpu;
  const uint64_t index = stream->written;
  while (index - stream->checked >= STRETTO_SIGNALS_PER_QUEUE) driver_check_oldest(client, stream);
  const stretto_status_t status = driver_queue_room(client, stream, 1);
  if (status != STRETTO_OK) return status;
  const uint64_t signal = driver_signal_address(client, stream, index);
  ops->store(ops->context, signal, STRETTO_SIGNAL_PENDING);
  packet->vendor.completion_signal = signal;
  ops->charge_cpu_ns(ops->context, client->options.costs.packet_ns);
  const uint64_t slot = stretto_gpu_address(gpu, STRETTO_QUEUE_OFFSET((uint64_t)stream->queue)) +
                        index % STRETTO_QUEUE_PACKETS * sizeof *packet;
  // The header last, then the doorbell (posted writes keep their order).
  ops->write(ops->context, slot + 4, (const uint8_t*)packet + 4, sizeof *packet - 4);
  ops->write(ops->context, slot, packet, 4);
  ops->write(ops->context,
             stretto_gpu_address(gpu, STRETTO_DOORBELL_APERTURE) + 8ull * stream->queue, &index,
             sizeof index);
  stream->written = index + 1;
  return STRETTO_OK;
}

stretto_status_t driver_put_barrier(stretto_client_t* client, stretto_stream_t* stream) {
  const uint32_t release = stream->unreleased ? STRETTO_SCOPE_SYSTEM : 0u;
  stretto_packet_t packet = {0};
  packet.barrier.header = (uint16_t)(STRETTO_PACKET_BARRIER_AND | STRETTO_PACKET_BARRIER |
                                     STRETTO_PACKET_SCOPES(0u, release));
  stream->unreleased = stream->behind_kernel = 0;
  return driver_put(client, stream, &packet);
}

stretto_status_t driver_release_earlier(stretto_client_t* client, stretto_stream_t* stream) {
  return stream->unreleased ? driver_put_barrier(client, stream) : STRETTO_OK;
}

stretto_status_t driver_submit(stretto_client_t* client, stretto_stream_t* stream,
                               stretto_packet_t* packet) {
  const stretto_status_t status = driver_release_earlier(client, stream);
  if (status != STRETTO_OK) return status;
  stream->behind_kernel = 0;
  return driver_put(client, stream, packet);
}

stretto_packet_t driver_vendor(stretto_operation_t operation, uint32_t flags) {
  stretto_packet_t packet = {0};
  packet.vendor.header = STRETTO_PACKET_VENDOR;
  packet.vendor.operation = (uint16_t)operation;
  packet.vendor.flags = flags;
  return packet;
}
