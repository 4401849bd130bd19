// SPDX-License-Identifier: Apache-2.0
// libtally_client.so: memory, copies and sets. See client.h.
//
// To the device: bytes go into the bulk, and the server writes them to the device at once: to where they
// belong if nothing runs, else to staging memory of the client, from which a copy takes them in order.
// To the host: a copy in order into the ring in the bulk; from there when it is done.
#include <stdlib.h>
#include <string.h>

#include "sw/tally/client.h"

#define SLOTS (CLIENT_IN_BYTES / CLIENT_SLOT_BYTES)

void client_memory_free(client_t* client) {
  while (client->blocks != NULL) {
    client_block_t* next = client->blocks->next;
    free(client->blocks);
    client->blocks = next;
  }
  while (client->arrivals != NULL) {
    client_arrival_t* next = client->arrivals->next;
    free(client->arrivals);
    client->arrivals = next;
  }
}

// Whether cudaMalloc has given out all of it, in one piece.
static int has_memory(const client_t* client, const void* pointer, uint64_t bytes) {
  const uint64_t address = (uint64_t)(uintptr_t)pointer;
  for (const client_block_t* b = client->blocks; b != NULL; b = b->next) {
    if (address >= b->address && address - b->address <= b->bytes &&
        bytes <= b->bytes - (address - b->address))
      return 1;
  }
  return 0;
}

// Whether nothing is under way, as far as is known without waiting.
static int is_idle(client_t* client) {
  return client->idle_at == client->channel.messages || client_is_done(client, client_mark(client));
}

// Waits for earlier work, as cudaMalloc of the runtime does.
static cudaError_t allocate(client_t* client, uint64_t bytes, uint64_t* address) {
  if (!is_idle(client)) {
    const cudaError_t earlier = client_wait_all(client, "cudaMalloc");
    if (earlier != cudaSuccess) return earlier;
  }
  const tally_message_t message = {
      .operation = TALLY_MALLOC,
      .malloc = {
          .bytes = bytes, .alignment = CLIENT_ALIGNMENT, .allocation = STRETTO_ALLOCATION_CACHED}};
  tally_reply_t reply;
  const cudaError_t error = client_call(client, "cudaMalloc", &message, NULL, &reply);
  *address = reply.value[0];
  client->idle_at = client->channel.messages;
  return error;
}

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  CLIENT_OR_NEXT(cudaMalloc, pointer, bytes);
  if (pointer == NULL) return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaMalloc: null");
  *pointer = NULL;
  if (bytes == 0) return cudaSuccess;
  client_block_t* block = calloc(1, sizeof *block);
  if (block == NULL)
    return stretto_runtime_refuse(cudaErrorMemoryAllocation, "cudaMalloc: no host memory");
  // Whole words: sets and copies have them.
  const uint64_t rounded = bytes > SIZE_MAX - 7 ? SIZE_MAX & ~7ull : (bytes + 7) & ~7ull;
  const cudaError_t error = allocate(client, rounded, &block->address);
  if (error != cudaSuccess) {
    free(block);
    return error;
  }
  block->bytes = bytes;
  block->next = client->blocks;
  client->blocks = block;
  *pointer = (void*)(uintptr_t)block->address;
  return cudaSuccess;
}

cudaError_t cudaFree(void* pointer) {
  CLIENT_OR_NEXT(cudaFree, pointer);
  if (pointer == NULL) return cudaSuccess;
  client_block_t** b = &client->blocks;
  while (*b != NULL && (*b)->address != (uint64_t)(uintptr_t)pointer) b = &(*b)->next;
  if (*b == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue,
                                  "cudaFree: %p is no address that cudaMalloc gave, or was freed",
                                  pointer);
  const cudaError_t error = client_wait_all(client, "cudaFree");
  const tally_message_t message = {.operation = TALLY_FREE, .free = {.address = (*b)->address}};
  tally_reply_t reply;
  const cudaError_t freed = client_call(client, "cudaFree", &message, NULL, &reply);
  client_block_t* block = *b;
  *b = block->next;
  free(block);
  return error != cudaSuccess ? error : freed;
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  CLIENT_OR_NEXT(cudaMallocHost, pointer, bytes);
  client_answered(client);
  return stretto_runtime_malloc_host(pointer, bytes);
}

cudaError_t cudaFreeHost(void* pointer) {
  CLIENT_OR_NEXT(cudaFreeHost, pointer);
  client_answered(client);
  return stretto_runtime_free_host(pointer);
}

// To the device

// The next slot, which nothing uses any longer.
static cudaError_t take_slot(client_t* client, const char* call, uint32_t* number) {
  *number = client->next_slot++ % SLOTS;
  client_slot_t* slot = &client->slots[*number];
  cudaError_t error = client_check(client, call, slot->taken);
  if (error == cudaSuccess && slot->copied != 0) error = client_wait(client, call, slot->copied);
  *slot = (client_slot_t){0};
  return error;
}

static uint64_t send_copy(client_t* client, uint64_t to, uint64_t from, uint64_t bytes) {
  const tally_message_t message = {.operation = TALLY_COPY,
                                   .copy = {.to = to, .from = from, .bytes = bytes}};
  return client_send(client, &message, NULL);
}

// Through `at` of the bulk, piece by piece. Returns the last message.
static uint64_t send_pieces(client_t* client, uint64_t to, uint64_t at, const uint8_t* from,
                            uint64_t bytes) {
  uint64_t message = 0;
  for (uint64_t done = 0; done < bytes; done += CLIENT_PIECE_BYTES) {
    const uint64_t left = bytes - done;
    const uint64_t piece = left < CLIENT_PIECE_BYTES ? left : CLIENT_PIECE_BYTES;
    tally_bulk_write(&client->channel, at + done, from + done, piece);
    const tally_message_t one = {.operation = TALLY_COPY_IN,
                                 .copy_in = {.to = to + done, .bulk = at + done, .bytes = piece}};
    message = client_send(client, &one, NULL);
  }
  return message;
}

static cudaError_t copy_in(client_t* client, const char* call, uint64_t to, const void* from,
                           uint64_t bytes) {
  const int direct = is_idle(client);
  if (!direct && client->staging == 0) {
    const cudaError_t error = allocate(client, CLIENT_IN_BYTES, &client->staging);
    if (error != cudaSuccess) return error;
  }
  for (uint64_t done = 0; done < bytes; done += CLIENT_SLOT_BYTES) {
    const uint64_t left = bytes - done, part = left < CLIENT_SLOT_BYTES ? left : CLIENT_SLOT_BYTES;
    uint32_t number;
    const cudaError_t error = take_slot(client, call, &number);
    if (error != cudaSuccess) return error;
    client_slot_t* slot = &client->slots[number];
    const uint64_t at = number * CLIENT_SLOT_BYTES;
    const uint64_t target = direct ? to + done : client->staging + at;
    slot->taken = send_pieces(client, target, at, (const uint8_t*)from + done, part);
    if (direct) continue;
    send_copy(client, to + done, target, part);
    slot->copied = client_mark(client);
  }
  if (direct) client->idle_at = client->channel.messages;
  return cudaSuccess;
}

// To the host

void client_deliver(client_t* client) {
  while (client->arrivals != NULL && client_is_done(client, client->arrivals->message)) {
    client_arrival_t* a = client->arrivals;
    const stretto_host_ops_t* ops = client->channel.ops;
    ops->read(ops->context, tally_bulk_address(&client->channel, a->place) + a->skip, a->to,
              a->bytes);
    client->arrivals = a->next;
    free(a);
  }
}

// A place in the ring. What is still there came before all the rest.
static cudaError_t place_in_ring(client_t* client, const char* call, uint64_t room,
                                 uint64_t* place) {
  if (client->arrivals_next + room > CLIENT_OUT_BYTES) client->arrivals_next = 0;
  *place = CLIENT_OUT_AT + client->arrivals_next;
  client->arrivals_next += room;
  uint64_t last = 0;
  for (const client_arrival_t* a = client->arrivals; a != NULL; a = a->next)
    if (a->place < *place + room && *place < a->place + a->room) last = a->message;
  return last == 0 ? cudaSuccess : client_wait(client, call, last);
}

static cudaError_t copy_out(client_t* client, const char* call, void* to, uint64_t from,
                            uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t at = from + done, begin = at & ~7ull, left = bytes - done;
    const uint64_t piece = left < CLIENT_SLOT_BYTES ? left : CLIENT_SLOT_BYTES;
    const uint64_t room = ((at + piece + 7) & ~7ull) - begin;
    client_arrival_t* a = calloc(1, sizeof *a);
    if (a == NULL)
      return stretto_runtime_refuse(cudaErrorMemoryAllocation, "%s: no host memory", call);
    *a = (client_arrival_t){
        .room = room, .skip = at - begin, .to = (uint8_t*)to + done, .bytes = piece};
    const cudaError_t error = place_in_ring(client, call, room, &a->place);
    if (error != cudaSuccess) {
      free(a);
      return error;
    }
    send_copy(client, tally_bulk_address(&client->channel, a->place), begin, room);
    a->message = client_mark(client);
    client_arrival_t** last = &client->arrivals;
    while (*last != NULL) last = &(*last)->next;
    *last = a;
    done += piece;
  }
  return cudaSuccess;
}

// Either

static cudaError_t copy(client_t* client, const char* call, void* to, const void* from,
                        uint64_t bytes, cudaMemcpyKind kind) {
  stretto_runtime_direction_t direction;
  const cudaError_t checked =
      stretto_runtime_check_copy(call, to, has_memory(client, to, bytes), from,
                                 has_memory(client, from, bytes), bytes, kind, &direction);
  if (checked != cudaSuccess) return checked;
  const uint64_t device_to = (uint64_t)(uintptr_t)to, device_from = (uint64_t)(uintptr_t)from;
  if (direction.from_device && direction.to_device) {
    send_copy(client, device_to, device_from, bytes);
    return cudaSuccess;
  }
  if (direction.from_device) return copy_out(client, call, to, device_from, bytes);
  if (direction.to_device) return copy_in(client, call, device_to, from, bytes);
  const cudaError_t error = client_wait_all(client, call);
  memmove(to, from, bytes);
  return error;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  CLIENT_OR_NEXT(cudaMemcpyAsync, to, from, bytes, kind, stream);
  if (client_stream(client, stream) == NULL) return client_no_stream("cudaMemcpyAsync", stream);
  return bytes == 0 ? cudaSuccess : copy(client, "cudaMemcpyAsync", to, from, bytes, kind);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  CLIENT_OR_NEXT(cudaMemcpy, to, from, bytes, kind);
  if (bytes == 0) return cudaSuccess;
  cudaError_t error = client_wait_all(client, "cudaMemcpy");
  if (error == cudaSuccess) error = copy(client, "cudaMemcpy", to, from, bytes, kind);
  return error == cudaSuccess ? client_wait_all(client, "cudaMemcpy") : error;
}

// The server fills whole words; what is left at the ends is copied.
static cudaError_t set(client_t* client, const char* call, void* pointer, int value,
                       uint64_t bytes) {
  if (!has_memory(client, pointer, bytes))
    return stretto_runtime_refuse(cudaErrorInvalidValue,
                                  "%s: %llu bytes at %p are not allocated on the device", call,
                                  (unsigned long long)bytes, pointer);
  const stretto_runtime_set_t set = stretto_runtime_split_set(pointer, value, bytes);
  cudaError_t error = cudaSuccess;
  if (set.begin < set.whole)
    error = copy_in(client, call, set.begin, set.bytes, set.whole - set.begin);
  if (error == cudaSuccess && set.whole_end < set.end)
    error = copy_in(client, call, set.whole_end, set.bytes, set.end - set.whole_end);
  if (error != cudaSuccess || set.whole == set.whole_end) return error;
  const tally_message_t message = {
      .operation = TALLY_FILL,
      .fill = {.address = set.whole, .bytes = set.whole_end - set.whole, .pattern = set.pattern}};
  client_send(client, &message, NULL);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  CLIENT_OR_NEXT(cudaMemsetAsync, pointer, value, bytes, stream);
  if (client_stream(client, stream) == NULL) return client_no_stream("cudaMemsetAsync", stream);
  return bytes == 0 ? cudaSuccess : set(client, "cudaMemsetAsync", pointer, value, bytes);
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  CLIENT_OR_NEXT(cudaMemset, pointer, value, bytes);
  if (bytes == 0) return cudaSuccess;
  const cudaError_t error = set(client, "cudaMemset", pointer, value, bytes);
  return error == cudaSuccess ? client_wait_all(client, "cudaMemset") : error;
}
