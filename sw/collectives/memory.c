// SPDX-License-Identifier: Apache-2.0
// Device memory of cuda_runtime.h, and copies that the host waits for.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/collectives/internal.h"

// Host memory through which copies from a device go, one buffer a job and GPU.
#define BOUNCE_AT 0x20000000ull
#define BOUNCE_BYTES (1ull << 20)

// The smallest free block that holds `bytes`, or null.
static memory_block_t* free_block(const device_t* device, uint64_t bytes) {
  memory_block_t* best = NULL;
  for (memory_block_t* b = device->blocks; b != NULL; b = b->next) {
    if (b->used == 0 && b->bytes >= bytes && (best == NULL || b->bytes < best->bytes)) best = b;
  }
  return best;
}

// The DMA engine reads and writes memory past the L2, so what it moves is not cached.
static uint32_t memory_class(const device_t* device) {
  return device->runtime->options.engine == STRETTO_ENGINE_MMIO ? STRETTO_ALLOCATION_CACHED
                                                                : STRETTO_ALLOCATION_UNCACHED;
}

ncclResult_t runtime_quiet(device_t* device) {
  for (struct CUstream_st* s = device->streams; s != NULL; s = s->next)
    TRY_NCCL(runtime_synchronize(s));
  return ncclSuccess;
}

// Takes `bytes` of a free block; the rest stays free.
static int split(memory_block_t* block, uint64_t bytes) {
  if (block->bytes == bytes) return 1;
  memory_block_t* rest = calloc(1, sizeof *rest);
  if (rest == NULL) return 0;
  rest->address = block->address + bytes;
  rest->bytes = block->bytes - bytes;
  rest->next = block->next;
  block->next = rest;
  block->bytes = bytes;
  return 1;
}

// New memory or what was freed, mapped.
static stretto_status_t map_block(device_t* device, uint64_t bytes, uint32_t allocation,
                                  memory_block_t** mapped) {
  const stretto_api_t* api = device->client->api;
  stretto_stream_t* stream = device->default_stream->stream;
  memory_block_t* block = free_block(device, bytes);
  if (block != NULL && split(block, bytes)) {
    *mapped = block;
    return api->map(device->client, stream, block->address, bytes, allocation);
  }
  block = calloc(1, sizeof *block);
  if (block == NULL) return STRETTO_ERROR_TABLE_FULL;
  block->bytes = bytes;
  const stretto_status_t status =
      api->allocate(device->client, stream, bytes, RUNTIME_ALIGNMENT, allocation, &block->address);
  if (status != STRETTO_OK) {
    free(block);
    return status;
  }
  block->next = device->blocks;
  device->blocks = block;
  *mapped = block;
  return status;
}

cudaError_t runtime_allocate(device_t* device, uint64_t bytes, uint64_t* address) {
  return runtime_allocate_as(device, bytes, memory_class(device), address);
}

cudaError_t runtime_allocate_as(device_t* device, uint64_t bytes, uint32_t allocation,
                                uint64_t* address) {
  // More than there is stays more than there is.
  const uint64_t most = UINT64_MAX / RUNTIME_ALIGNMENT * RUNTIME_ALIGNMENT;
  const uint64_t rounded =
      bytes > most ? most : (bytes + RUNTIME_ALIGNMENT - 1) / RUNTIME_ALIGNMENT * RUNTIME_ALIGNMENT;
  memory_block_t* block = NULL;
  // Nothing can be mapped while a reduce-scatter of engine t3 is under way.
  if (device->runtime->options.engine == STRETTO_ENGINE_T3 && runtime_quiet(device) != ncclSuccess)
    return cudaErrorLaunchFailure;
  if (runtime_status(device->runtime, device, map_block(device, rounded, allocation, &block)) !=
          ncclSuccess ||
      runtime_cuda_synchronize(device->default_stream) != cudaSuccess)
    return cudaErrorMemoryAllocation;
  block->used = bytes;
  *address = block->address;
  return cudaSuccess;
}

// One free block of those that lie behind each other.
static void merge_free(device_t* device) {
  for (memory_block_t* a = device->blocks; a != NULL; a = a->next) {
    for (memory_block_t** b = &device->blocks; a->used == 0 && *b != NULL;) {
      memory_block_t* behind = *b;
      if (behind->used != 0 || behind->address != a->address + a->bytes) {
        b = &behind->next;
        continue;
      }
      a->bytes += behind->bytes;
      *b = behind->next;
      free(behind);
      b = &device->blocks;
    }
  }
}

cudaError_t runtime_release(device_t* device, uint64_t address) {
  const stretto_api_t* api = device->client->api;
  for (memory_block_t* b = device->blocks; b != NULL; b = b->next) {
    if (b->address != address || b->used == 0) continue;
    const stretto_status_t status =
        api->release(device->client, device->default_stream->stream, address);
    if (runtime_status(device->runtime, device, status) != ncclSuccess)
      return cudaErrorInvalidValue;
    TRY_CUDA(runtime_cuda_synchronize(device->default_stream));
    b->used = 0;
    merge_free(device);
    return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

void runtime_use(struct CUstream_st* stream, uint64_t address, uint64_t bytes, const char* by) {
  device_t* device = stream->device;
  memory_use_t* use = device->uses;
  while (use != NULL && (use->stream != stream || use->address != address || use->bytes != bytes))
    use = use->next;
  if (use == NULL) {
    use = calloc(1, sizeof *use);
    if (use == NULL) return;
    use->next = device->uses;
    device->uses = use;
    use->stream = stream;
    use->address = address;
    use->bytes = bytes;
  }
  snprintf(use->by, sizeof use->by, "%s", by);
}

// Whether [address, address + bytes) lies in the block.
static int lies_in(const memory_block_t* block, uint64_t address, uint64_t bytes) {
  return bytes != 0 && address < block->address + block->bytes && block->address < address + bytes;
}

// Refuses to free what an operation uses that is under way, or waits for the end of its group.
static cudaError_t check_unused(device_t* device, const memory_block_t* block) {
  char pending[OPERATION_TEXT];
  const char* by = NULL;
  for (const memory_use_t* u = device->uses; u != NULL; u = u->next)
    if (lies_in(block, u->address, u->bytes)) by = u->by;
  for (const operation_t* o = device->runtime->first; o != NULL; o = o->next) {
    if (o->comm->device != device || (!lies_in(block, o->arguments.source, o->source_bytes) &&
                                      !lies_in(block, o->arguments.target, o->target_bytes)))
      continue;
    operation_text(o, pending, sizeof pending);
    by = pending;
  }
  if (by == NULL) return cudaSuccess;
  runtime_fail(device->runtime, ncclInvalidUsage,
               "cudaFree: 0x%llx on device %u is in use: %s; wait for its stream first",
               (unsigned long long)block->address, device->number, by);
  return cudaErrorInvalidValue;
}

static cudaError_t allocate_on(device_t* device, void** pointer, size_t bytes,
                               uint32_t allocation) {
  if (pointer == NULL) return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaMalloc: null");
  if (device == NULL) return runtime_keep(cudaErrorInvalidValue);
  *pointer = NULL;
  if (bytes == 0) return cudaSuccess;
  uint64_t address = 0;
  const cudaError_t error = runtime_allocate_as(device, bytes, allocation, &address);
  *pointer = (void*)(uintptr_t)address;
  return runtime_keep(error);
}

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  device_t* device = runtime_current_device();
  return allocate_on(device, pointer, bytes, device == NULL ? 0 : memory_class(device));
}

cudaError_t stretto_runtime_malloc_cached(void** pointer, size_t bytes) {
  return allocate_on(runtime_current_device(), pointer, bytes, STRETTO_ALLOCATION_CACHED);
}

int runtime_has_memory(const device_t* device, uint64_t address, uint64_t bytes) {
  for (const memory_block_t* b = device->blocks; b != NULL; b = b->next) {
    if (address >= b->address && address - b->address <= b->used &&
        bytes <= b->used - (address - b->address))
      return 1;
  }
  return 0;
}

// Device memory of the program, as a device and an address; null: not allocated.
static device_t* owner_of(stretto_runtime_t* runtime, const void* pointer, uint64_t bytes) {
  const uint64_t address = (uint64_t)(uintptr_t)pointer;
  const uint64_t node = address >> STRETTO_NODE_SHIFT;
  for (uint32_t i = 0; i < runtime->options.devices; ++i) {
    device_t* device = runtime->devices[i];
    if (device != NULL && device->client->options.gpu + 1 == node)
      return runtime_has_memory(device, address, bytes) ? device : NULL;
  }
  return NULL;
}

// Of any device, current or not.
cudaError_t cudaFree(void* pointer) {
  if (pointer == NULL) return cudaSuccess;
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL) return runtime_keep(cudaErrorInvalidValue);
  const uint64_t address = (uint64_t)(uintptr_t)pointer;
  device_t* device = owner_of(runtime, pointer, 1);
  for (memory_block_t* b = device == NULL ? NULL : device->blocks; b != NULL; b = b->next) {
    if (b->address != address || b->used == 0) continue;
    const cudaError_t used = check_unused(device, b);
    if (used != cudaSuccess) return runtime_keep(used);
    if (runtime_quiet(device) != ncclSuccess) return runtime_keep(cudaErrorLaunchFailure);
    return runtime_keep(runtime_release(device, address));
  }
  runtime_fail(runtime, ncclInvalidArgument,
               "cudaFree: 0x%llx is no address that cudaMalloc gave, or was freed",
               (unsigned long long)address);
  return runtime_keep(cudaErrorInvalidValue);
}

static cudaError_t driver_result(const device_t* device, stretto_status_t status) {
  return runtime_status(device->runtime, device, status) == ncclSuccess ? cudaSuccess
                                                                        : cudaErrorInvalidValue;
}

static cudaError_t copy_in(device_t* device, void* to, const void* from, uint64_t bytes) {
  return driver_result(device, device->client->api->copy_to_device(
                                   device->client, (uint64_t)(uintptr_t)to, from, bytes));
}

// Through a buffer of host memory, in words that hold the bytes; blocks of device memory are whole
// words.
static cudaError_t copy_out(device_t* device, void* to, const void* from, uint64_t bytes) {
  const stretto_host_ops_t* ops = &device->runtime->options.ops;
  const uint64_t bounce = runtime_host_area(device, BOUNCE_AT, BOUNCE_BYTES);
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t at = (uint64_t)(uintptr_t)from + done, begin = at & ~7ull;
    uint64_t piece = bytes - done;
    if (piece > BOUNCE_BYTES - 8) piece = BOUNCE_BYTES - 8;
    const uint64_t words = (at + piece + 7 - begin) & ~7ull;
    TRY_CUDA(driver_result(
        device, device->client->api->copy(device->client, device->default_stream->stream, bounce,
                                          begin, words, device->runtime->options.accounts.move)));
    TRY_CUDA(runtime_cuda_synchronize(device->default_stream));
    ops->read(ops->context, bounce + (at - begin), (uint8_t*)to + done, piece);
    done += piece;
  }
  return cudaSuccess;
}

static cudaError_t copy_across(device_t* device, void* to, const void* from, uint64_t bytes) {
  const uint64_t source = (uint64_t)(uintptr_t)from, target = (uint64_t)(uintptr_t)to;
  TRY_CUDA(driver_result(
      device, device->client->api->copy(device->client, device->default_stream->stream, target,
                                        source, bytes, device->runtime->options.accounts.move)));
  return runtime_cuda_synchronize(device->default_stream);
}

cudaError_t stretto_runtime_check_copy(const char* call, const void* to, int to_is_device,
                                       const void* from, int from_is_device, uint64_t bytes,
                                       cudaMemcpyKind kind,
                                       stretto_runtime_direction_t* direction) {
  if ((unsigned)kind > cudaMemcpyDefault)
    return stretto_runtime_refuse(cudaErrorInvalidMemcpyDirection,
                                  "%s: kind %d is none of cudaMemcpyKind", call, (int)kind);
  if (to == NULL || from == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "%s: null", call);
  const int any = kind == cudaMemcpyDefault;
  const int from_device =
      any ? from_is_device : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const int to_device =
      any ? to_is_device : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  *direction = (stretto_runtime_direction_t){from_device, to_device};
  if ((from_device && !from_is_device) || (to_device && !to_is_device))
    return stretto_runtime_refuse(
        cudaErrorInvalidValue, "%s: %llu bytes at %p are not allocated in one piece on a device",
        call, (unsigned long long)bytes, from_device && !from_is_device ? from : to);
  if (from_device && to_device &&
      (((uint64_t)(uintptr_t)from | (uint64_t)(uintptr_t)to | bytes) & 7) != 0)
    return stretto_runtime_refuse(
        cudaErrorNotSupported,
        "%s: %llu bytes from %p to %p: between devices whole words of 8 bytes", call,
        (unsigned long long)bytes, from, to);
  return cudaSuccess;
}

cudaError_t copy_find(const char* call, void* to, const void* from, uint64_t bytes,
                      cudaMemcpyKind kind, copy_t* copy) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL) return cudaErrorInvalidValue;
  device_t* source = owner_of(runtime, from, bytes);
  device_t* target = owner_of(runtime, to, bytes);
  stretto_runtime_direction_t direction;
  TRY_CUDA(stretto_runtime_check_copy(call, to, target != NULL, from, source != NULL, bytes, kind,
                                      &direction));
  *copy = (copy_t){.source = direction.from_device ? source : NULL,
                   .target = direction.to_device ? target : NULL,
                   .to = to,
                   .from = from,
                   .bytes = bytes};
  return cudaSuccess;
}

stretto_runtime_set_t stretto_runtime_split_set(const void* pointer, int value, uint64_t bytes) {
  stretto_runtime_set_t set = {.begin = (uint64_t)(uintptr_t)pointer};
  set.end = set.begin + bytes;
  const uint64_t first = (set.begin + 7) & ~7ull, last = set.end & ~7ull;
  set.whole = first < set.end ? first : set.end;
  set.whole_end = last > set.whole ? last : set.whole;
  memset(set.bytes, value, sizeof set.bytes);
  memcpy(&set.pattern, set.bytes, sizeof set.pattern);
  return set;
}

cudaError_t copy_now(const copy_t* copy) {
  device_t* device = copy->source != NULL ? copy->source : copy->target;
  if (device == NULL) {
    memmove(copy->to, copy->from, copy->bytes);
    return cudaSuccess;
  }
  TRY_CUDA(runtime_cuda_synchronize(device->default_stream));
  if (copy->source != NULL && copy->target != NULL)
    return copy_across(device, copy->to, copy->from, copy->bytes);
  return copy->source != NULL ? copy_out(device, copy->to, copy->from, copy->bytes)
                              : copy_in(device, copy->to, copy->from, copy->bytes);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  copy_t copy;
  if (runtime_current() == NULL) return cudaErrorInvalidValue;
  if (bytes == 0) return cudaSuccess;
  TRY_CUDA(copy_find("cudaMemcpy", to, from, bytes, kind, &copy));
  return runtime_keep(copy_now(&copy));
}

void host_blocks_free(stretto_runtime_t* runtime) {
  while (runtime->host_blocks != NULL) {
    host_block_t* next = runtime->host_blocks->next;
    free(runtime->host_blocks);
    runtime->host_blocks = next;
  }
}

cudaError_t stretto_runtime_malloc_host(void** pointer, size_t bytes) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL || pointer == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaMallocHost: null");
  host_block_t* block = calloc(1, sizeof *block);
  *pointer = block == NULL ? NULL : malloc(bytes == 0 ? 1 : bytes);
  if (*pointer == NULL) {
    free(block);
    return stretto_runtime_refuse(cudaErrorMemoryAllocation,
                                  "cudaMallocHost: %zu bytes of host memory", bytes);
  }
  *block = (host_block_t){.next = runtime->host_blocks, .pointer = *pointer};
  runtime->host_blocks = block;
  return cudaSuccess;
}

// free() of what malloc() has not given may end the process.
cudaError_t stretto_runtime_free_host(void* pointer) {
  stretto_runtime_t* runtime = runtime_current();
  if (pointer == NULL) return cudaSuccess;
  host_block_t** b = runtime == NULL ? NULL : &runtime->host_blocks;
  while (b != NULL && *b != NULL && (*b)->pointer != pointer) b = &(*b)->next;
  if (b == NULL || *b == NULL)
    return stretto_runtime_refuse(
        cudaErrorInvalidValue,
        "cudaFreeHost: %p is no address that cudaMallocHost gave, or was freed", pointer);
  host_block_t* block = *b;
  *b = block->next;
  free(block);
  free(pointer);
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return stretto_runtime_malloc_host(pointer, bytes);
}

cudaError_t cudaFreeHost(void* pointer) { return stretto_runtime_free_host(pointer); }

// Ragged ends go over PCIe, the rest is filled by the DMA engine.
cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  device_t* device = runtime_current_device();
  if (device == NULL ||
      (bytes != 0 && !runtime_has_memory(device, (uint64_t)(uintptr_t)pointer, bytes)))
    return stretto_runtime_refuse(cudaErrorInvalidValue,
                                  "cudaMemset: %zu bytes at %p are not allocated on the device",
                                  bytes, pointer);
  const stretto_runtime_set_t set = stretto_runtime_split_set(pointer, value, bytes);
  TRY_CUDA(runtime_cuda_synchronize(device->default_stream));
  const stretto_api_t* api = device->client->api;
  stretto_status_t status = STRETTO_OK;
  if (set.whole < set.whole_end)
    status =
        api->fill(device->client, device->default_stream->stream, set.whole,
                  set.whole_end - set.whole, set.pattern, device->runtime->options.accounts.init);
  if (status == STRETTO_OK && set.begin < set.whole)
    status = api->copy_to_device(device->client, set.begin, set.bytes, set.whole - set.begin);
  if (status == STRETTO_OK && set.whole_end < set.end)
    status = api->copy_to_device(device->client, set.whole_end, set.bytes, set.end - set.whole_end);
  if (runtime_status(device->runtime, device, status) != ncclSuccess)
    return runtime_keep(cudaErrorInvalidValue);
  return runtime_keep(runtime_cuda_synchronize(device->default_stream));
}
