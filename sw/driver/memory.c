// SPDX-License-Identifier: Apache-2.0
// Device memory: what a client takes, maps and fills.
#include "sw/driver/internal.h"

#define COPY_BYTES 4096u  // Of one posted write.

stretto_status_t driver_take_memory(stretto_client_t* client, uint64_t bytes, uint64_t alignment,
                                    uint64_t* address) {
  uint64_t next = client->memory_next;
  if (bytes == 0 || alignment < 64 || (alignment & (alignment - 1)) != 0) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "allocate: %llu bytes aligned to %llu",
                       (unsigned long long)bytes, (unsigned long long)alignment);
  }
  const uint64_t left = client->options.memory_end - next;
  if (bytes > left || alignment > left) {
    return driver_fail(client, STRETTO_ERROR_TABLE_FULL, "allocate: %llu bytes wanted, %llu left",
                       (unsigned long long)bytes, (unsigned long long)left);
  }
  const uint64_t offset = stretto_place(&next, bytes, alignment);
  if (next > client->options.memory_end) {
    return driver_fail(client, STRETTO_ERROR_TABLE_FULL, "allocate: %llu bytes wanted, %llu left",
                       (unsigned long long)bytes, (unsigned long long)left);
  }
  client->memory_next = next;
  *address = stretto_gpu_address(client->options.gpu, offset);
  return STRETTO_OK;
}

int driver_in_client_memory(const stretto_client_t* client, uint64_t address, uint64_t bytes) {
  const uint64_t offset = address - stretto_gpu_address(client->options.gpu, 0);
  return offset >= client->options.memory_begin && offset <= client->memory_next &&
         bytes <= client->memory_next - offset;
}

static stretto_status_t map_memory(stretto_client_t* client, stretto_stream_t* stream,
                                   uint64_t address, uint64_t bytes, uint32_t allocation) {
  stretto_packet_t packet = driver_vendor(STRETTO_OP_LOCAL_MAP, 0);
  packet.vendor.map = (stretto_map_t){
      .base = address, .row_bytes = bytes, .rows = 1, .allocation = (uint8_t)allocation};
  return driver_submit(client, stream, &packet);
}

stretto_status_t driver_allocate(stretto_client_t* client, stretto_stream_t* stream, uint64_t bytes,
                                 uint64_t alignment, uint32_t allocation, uint64_t* address) {
  driver_call(client);
  if (allocation > STRETTO_ALLOCATION_SHARED) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "allocate: class %u", allocation);
  }
  if (allocation == STRETTO_ALLOCATION_SHARED) {  // Whole lines of the L2.
    if (alignment < STRETTO_SHARED_ALIGNMENT) alignment = STRETTO_SHARED_ALIGNMENT;
    bytes = (bytes + STRETTO_SHARED_ALIGNMENT - 1) & ~(uint64_t)(STRETTO_SHARED_ALIGNMENT - 1);
  }
  const stretto_status_t status = driver_take_memory(client, bytes, alignment, address);
  return status == STRETTO_OK ? map_memory(client, stream, *address, bytes, allocation) : status;
}

stretto_status_t driver_release(stretto_client_t* client, stretto_stream_t* stream,
                                uint64_t address) {
  driver_call(client);
  if (!driver_in_client_memory(client, address, 1)) {
    return driver_fail(client, STRETTO_ERROR_UNMAPPED, "release: 0x%llx is not allocated",
                       (unsigned long long)address);
  }
  stretto_packet_t packet = driver_vendor(STRETTO_OP_UNMAP, 0);
  packet.vendor.header |= STRETTO_PACKET_BARRIER;
  packet.vendor.map = (stretto_map_t){.base = address};
  return driver_submit(client, stream, &packet);
}

stretto_status_t driver_map(stretto_client_t* client, stretto_stream_t* stream, uint64_t address,
                            uint64_t bytes, uint32_t allocation) {
  driver_call(client);
  const int whole_lines = (address | bytes) % STRETTO_SHARED_ALIGNMENT == 0;
  if (bytes == 0 || allocation > STRETTO_ALLOCATION_SHARED ||
      (allocation == STRETTO_ALLOCATION_SHARED && !whole_lines) ||
      !driver_in_client_memory(client, address, bytes)) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "map: 0x%llx, %llu bytes, class %u",
                       (unsigned long long)address, (unsigned long long)bytes, allocation);
  }
  return map_memory(client, stream, address, bytes, allocation);
}

// Whether the host may write there.
static stretto_status_t note_host_write(stretto_client_t* client, const char* call,
                                        uint64_t address, uint64_t bytes) {
  driver_call(client);
  const uint64_t offset = address - stretto_gpu_address(client->options.gpu, 0);
  if (offset < client->options.memory_begin || offset > client->memory_next ||
      bytes > client->memory_next - offset) {
    return driver_fail(client, STRETTO_ERROR_UNMAPPED, "%s: 0x%llx is not allocated", call,
                       (unsigned long long)address);
  }
  ++client->host_writes;
  return STRETTO_OK;
}

stretto_status_t driver_copy_to_device(stretto_client_t* client, uint64_t address, const void* data,
                                       uint64_t bytes) {
  const stretto_status_t status = note_host_write(client, "copy_to_device", address, bytes);
  if (status != STRETTO_OK) return status;
  for (uint64_t done = 0; done < bytes; done += COPY_BYTES) {
    const uint64_t piece = bytes - done < COPY_BYTES ? bytes - done : COPY_BYTES;
    client->ops.write(client->ops.context, address + done, (const uint8_t*)data + done, piece);
  }
  return STRETTO_OK;
}

stretto_status_t driver_copy_host_memory(stretto_client_t* client, uint64_t address,
                                         uint64_t host_address, uint64_t bytes) {
  const stretto_status_t status = note_host_write(client, "copy_host_memory", address, bytes);
  if (status != STRETTO_OK) return status;
  for (uint64_t done = 0; done < bytes; done += COPY_BYTES) {
    const uint64_t piece = bytes - done < COPY_BYTES ? bytes - done : COPY_BYTES;
    client->ops.write_from(client->ops.context, address + done, host_address + done, piece);
  }
  return STRETTO_OK;
}
