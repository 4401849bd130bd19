// SPDX-License-Identifier: Apache-2.0
// Copies and sets of cuda_runtime.h that the host does not wait for.
//
// To a device: the host writes the bytes over PCIe at once, to where they go if the stream has nothing
// else to do, else to a staging slot in the device's memory, from which the DMA engine copies them when it
// is their turn. To the host: the DMA engine copies them into the runtime's host memory; when a call of the
// program finds that done, they are copied to where they go.
#include <stdlib.h>

#include "sw/collectives/internal.h"

#define SLOT_BYTES (STAGING_BYTES / STAGING_SLOTS)

// Host memory of copies that have not been delivered, a ring a job and GPU.
#define ARRIVALS_AT 0x30000000ull
#define ARRIVALS_BYTES (8ull << 20)
#define PIECE_BYTES (1ull << 20)

typedef struct arrival {
  struct arrival* next;  // Later.
  stretto_event_t done;
  uint64_t place;  // In the ring.
  uint64_t room;
  uint64_t skip;  // Bytes before the first.
  uint8_t* to;
  uint64_t bytes;
} arrival_t;

void copies_free(device_t* device) {
  while (device->arrivals != NULL) {
    arrival_t* next = device->arrivals->next;
    free(device->arrivals);
    device->arrivals = next;
  }
}

// Hands over what is in the ring.
static void take(device_t* device, arrival_t** link) {
  arrival_t* a = *link;
  const stretto_host_ops_t* ops = &device->runtime->options.ops;
  const uint64_t ring = runtime_host_area(device, ARRIVALS_AT, ARRIVALS_BYTES);
  ops->read(ops->context, ring + a->place + a->skip, a->to, a->bytes);
  *link = a->next;
  free(a);
}

void copies_deliver(device_t* device) {
  for (arrival_t** a = &device->arrivals; *a != NULL;) {
    if (device->client->api->event_query(device->client, &(*a)->done))
      take(device, a);
    else
      a = &(*a)->next;
  }
}

// A place in the ring; what is still there is waited for.
static cudaError_t place_in_ring(device_t* device, uint64_t room, uint64_t* place) {
  if (device->arrivals_next + room > ARRIVALS_BYTES) device->arrivals_next = 0;
  *place = device->arrivals_next;
  for (arrival_t** a = &device->arrivals; *a != NULL;) {
    if ((*a)->place >= *place + room || *place >= (*a)->place + (*a)->room) {
      a = &(*a)->next;
      continue;
    }
    const stretto_status_t status =
        device->client->api->event_synchronize(device->client, &(*a)->done);
    if (runtime_status(device->runtime, device, status) != ncclSuccess)
      return cudaErrorLaunchFailure;
    take(device, a);
  }
  device->arrivals_next += room;
  return cudaSuccess;
}

static cudaError_t copy_out(struct CUstream_st* stream, uint8_t* to, uint64_t from,
                            uint64_t bytes) {
  device_t* device = stream->device;
  const stretto_api_t* api = device->client->api;
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t at = from + done, begin = at & ~7ull;
    const uint64_t left = bytes - done;
    const uint64_t piece = left < PIECE_BYTES ? left : PIECE_BYTES;
    const uint64_t room = ((at + piece + 7) & ~7ull) - begin;
    arrival_t* a = calloc(1, sizeof *a);
    if (a == NULL) return cudaErrorMemoryAllocation;
    *a = (arrival_t){.room = room, .skip = at - begin, .to = to + done, .bytes = piece};
    const cudaError_t placed = place_in_ring(device, room, &a->place);
    stretto_status_t status = STRETTO_OK;
    if (placed == cudaSuccess)
      status = api->copy(device->client, stream->stream,
                         runtime_host_area(device, ARRIVALS_AT, ARRIVALS_BYTES) + a->place, begin,
                         room, device->runtime->options.accounts.move);
    if (placed == cudaSuccess && status == STRETTO_OK)
      status = api->event_of_last(device->client, stream->stream, &a->done);
    if (placed != cudaSuccess || runtime_status(device->runtime, device, status) != ncclSuccess) {
      free(a);
      return placed != cudaSuccess ? placed : cudaErrorLaunchFailure;
    }
    arrival_t** last = &device->arrivals;
    while (*last != NULL) last = &(*last)->next;
    *last = a;
    stream->unreleased = 0;
    done += piece;
  }
  return cudaSuccess;
}

// The next staging slot, when the copy out of it is done.
static cudaError_t take_slot(device_t* device, staging_slot_t** slot, uint64_t* address) {
  if (device->staging == 0) TRY_CUDA(runtime_allocate(device, STAGING_BYTES, &device->staging));
  const uint32_t number = device->next_slot++ % STAGING_SLOTS;
  *slot = &device->slots[number];
  *address = device->staging + number * SLOT_BYTES;
  if (!(*slot)->used) return cudaSuccess;
  (*slot)->used = 0;
  const stretto_status_t status =
      device->client->api->event_synchronize(device->client, &(*slot)->read);
  return runtime_status(device->runtime, device, status) == ncclSuccess ? cudaSuccess
                                                                        : cudaErrorLaunchFailure;
}

static cudaError_t copy_in(struct CUstream_st* stream, uint64_t to, const uint8_t* from,
                           uint64_t bytes) {
  device_t* device = stream->device;
  const stretto_api_t* api = device->client->api;
  stretto_status_t status = STRETTO_OK;
  if (!stream->unreleased && runtime_is_done(stream)) {
    status = api->copy_to_device(device->client, to, from, bytes);
    return runtime_status(device->runtime, device, status) == ncclSuccess ? cudaSuccess
                                                                          : cudaErrorInvalidValue;
  }
  for (uint64_t done = 0; done < bytes && status == STRETTO_OK; done += SLOT_BYTES) {
    const uint64_t piece = bytes - done < SLOT_BYTES ? bytes - done : SLOT_BYTES;
    staging_slot_t* slot = NULL;
    uint64_t address = 0;
    TRY_CUDA(take_slot(device, &slot, &address));
    status = api->copy_to_device(device->client, address, from + done, piece);
    if (status == STRETTO_OK)
      status = api->copy(device->client, stream->stream, to + done, address, piece,
                         device->runtime->options.accounts.move);
    if (status == STRETTO_OK)
      status = api->event_of_last(device->client, stream->stream, &slot->read);
    slot->used = status == STRETTO_OK;
  }
  stream->unreleased = 0;
  return runtime_status(device->runtime, device, status) == ncclSuccess ? cudaSuccess
                                                                        : cudaErrorLaunchFailure;
}

// Between memory of the stream's device and that of any.
static cudaError_t copy_across(struct CUstream_st* stream, const copy_t* copy) {
  device_t* device = stream->device;
  const stretto_status_t status = device->client->api->copy(
      device->client, stream->stream, (uint64_t)(uintptr_t)copy->to,
      (uint64_t)(uintptr_t)copy->from, copy->bytes, device->runtime->options.accounts.move);
  stream->unreleased = 0;
  return runtime_status(device->runtime, device, status) == ncclSuccess ? cudaSuccess
                                                                        : cudaErrorLaunchFailure;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  struct CUstream_st* s = runtime_given_stream(stream);
  if (s == NULL) return runtime_no_stream("cudaMemcpyAsync", stream);
  if (bytes == 0) return cudaSuccess;
  copy_t copy;
  TRY_CUDA(copy_find("cudaMemcpyAsync", to, from, bytes, kind, &copy));
  const device_t* own = copy.source != NULL ? copy.source : copy.target;
  if (own != s->device) {  // Another device's, or the host's alone.
    TRY_CUDA(runtime_cuda_synchronize(s));
    return runtime_keep(copy_now(&copy));
  }
  if (copy.source != NULL && copy.target != NULL) return runtime_keep(copy_across(s, &copy));
  return runtime_keep(copy.source != NULL ? copy_out(s, to, (uint64_t)(uintptr_t)from, bytes)
                                          : copy_in(s, (uint64_t)(uintptr_t)to, from, bytes));
}

// The DMA engine fills whole words; what is left at the ends is copied.
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  struct CUstream_st* s = runtime_given_stream(stream);
  if (s == NULL) return runtime_no_stream("cudaMemsetAsync", stream);
  if (bytes == 0) return cudaSuccess;
  device_t* device = s->device;
  if (!runtime_has_memory(device, (uint64_t)(uintptr_t)pointer, bytes))
    return stretto_runtime_refuse(cudaErrorInvalidValue,
                                  "cudaMemsetAsync: %zu bytes at %p are not allocated on device %u",
                                  bytes, pointer, device->number);
  const stretto_runtime_set_t set = stretto_runtime_split_set(pointer, value, bytes);
  if (set.begin < set.whole)
    TRY_CUDA(runtime_keep(copy_in(s, set.begin, set.bytes, set.whole - set.begin)));
  if (set.whole_end < set.end)
    TRY_CUDA(runtime_keep(copy_in(s, set.whole_end, set.bytes, set.end - set.whole_end)));
  if (set.whole == set.whole_end) return cudaSuccess;
  const stretto_api_t* api = device->client->api;
  const stretto_status_t status =
      api->fill_in_order(device->client, s->stream, set.whole, set.whole_end - set.whole,
                         set.pattern, device->runtime->options.accounts.init);
  s->unreleased = 0;
  return runtime_status(device->runtime, device, status) == ncclSuccess
             ? cudaSuccess
             : runtime_keep(cudaErrorInvalidValue);
}
