// SPDX-License-Identifier: Apache-2.0
// Devices, memory and streams over the driver: see runtime.h and cuda_runtime.h.
#include "sw/collectives/runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/collectives/internal.h"

#define ALIGNMENT 512u  // Of cudaMalloc.
// Host memory through which copies from a device go, one buffer a job and GPU.
#define BOUNCE_AT 0x20000000ull
#define BOUNCE_BYTES (1ull << 20)

static stretto_runtime_t* (*g_lookup)(void);

void stretto_runtime_set_lookup(stretto_runtime_t* (*current)(void)) { g_lookup = current; }

stretto_runtime_t* runtime_current(void) { return g_lookup == NULL ? NULL : g_lookup(); }

const char* stretto_runtime_position(const stretto_runtime_t* runtime) { return runtime->position; }

const char* stretto_runtime_last_error(const stretto_runtime_t* runtime) { return runtime->error; }

int stretto_runtime_group_depth(const stretto_runtime_t* runtime) { return runtime->group_depth; }

stretto_status_t stretto_runtime_outcome(ncclResult_t result, char* error) {
  const stretto_runtime_t* runtime = runtime_current();
  if (result == ncclSuccess) return STRETTO_OK;
  snprintf(error, 256, "%.255s", runtime == NULL ? "" : runtime->error);
  if (result == ncclInvalidArgument || result == ncclInvalidUsage) return STRETTO_ERROR_ARGUMENT;
  return runtime == NULL || runtime->status == STRETTO_OK ? STRETTO_ERROR_DEVICE : runtime->status;
}

stretto_status_t stretto_runtime_cuda_outcome(cudaError_t result, const char* call, char* error) {
  const stretto_runtime_t* runtime = runtime_current();
  if (result == cudaSuccess) return STRETTO_OK;
  const char* said = runtime == NULL ? "" : runtime->error;
  snprintf(error, 256, "%.40s: %.200s", call, said[0] != '\0' ? said : cudaGetErrorString(result));
  return runtime == NULL || runtime->status == STRETTO_OK ? STRETTO_ERROR_DEVICE : runtime->status;
}

void runtime_at(stretto_runtime_t* runtime, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(runtime->position, sizeof runtime->position, format, arguments);
  va_end(arguments);
}

ncclResult_t runtime_fail(stretto_runtime_t* runtime, ncclResult_t result, const char* format,
                          ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(runtime->error, sizeof runtime->error, format, arguments);
  va_end(arguments);
  return result;
}

ncclResult_t runtime_status(stretto_runtime_t* runtime, const device_t* device,
                            stretto_status_t status) {
  if (status == STRETTO_OK) return ncclSuccess;
  if (runtime->status == STRETTO_OK) runtime->status = status;
  return runtime_fail(runtime, ncclUnhandledCudaError, "%s",
                      device->client->api->last_error(device->client));
}

uint64_t stretto_runtime_first_address(const stretto_runtime_options_t* options) {
  uint64_t next = options->client.memory_begin;
  (void)stretto_place(&next, STRETTO_ARGUMENT_BUFFER_BYTES, 4096);
  return stretto_place(&next, 0, ALIGNMENT);
}

uint64_t stretto_runtime_memory_end(const stretto_runtime_t* runtime, uint32_t device) {
  const device_t* d = runtime->devices[device];
  return d == NULL ? runtime->options.client.memory_begin : d->client->memory_next;
}

stretto_runtime_t* stretto_runtime_create(const stretto_runtime_options_t* options) {
  stretto_runtime_t* runtime = calloc(1, sizeof *runtime);
  if (runtime != NULL) runtime->options = *options;
  return runtime;
}

static void destroy_device(device_t* device) {
  if (device == NULL) return;
  for (struct CUstream_st* s = device->streams; s != NULL;) {
    struct CUstream_st* next = s->next;
    free(s);
    s = next;
  }
  for (memory_block_t* b = device->blocks; b != NULL;) {
    memory_block_t* next = b->next;
    free(b);
    b = next;
  }
  for (memory_use_t* u = device->uses; u != NULL;) {
    memory_use_t* next = u->next;
    free(u);
    u = next;
  }
  stretto_client_destroy(device->client);
  free(device);
}

void operations_free(stretto_runtime_t* runtime) {
  while (runtime->first != NULL) {
    operation_t* next = runtime->first->next;
    free(runtime->first);
    runtime->first = next;
  }
  runtime->last = NULL;
}

static void free_comms(stretto_runtime_t* runtime) {
  while (runtime->comms != NULL) {
    ncclComm_t next = runtime->comms->next;
    free(runtime->comms);
    runtime->comms = next;
  }
}

void stretto_runtime_destroy(stretto_runtime_t* runtime) {
  if (runtime == NULL) return;
  for (uint32_t i = 0; i < STRETTO_MAX_GPUS; ++i) destroy_device(runtime->devices[i]);
  operations_free(runtime);
  free_comms(runtime);
  free(runtime);
}

unsigned long long stretto_time(void) {
  const stretto_runtime_t* runtime = runtime_current();
  return runtime == NULL ? 0 : runtime->options.ops.now_ns(runtime->options.ops.context);
}

// Devices

static cudaError_t find_stream(device_t* device, struct CUstream_st** stream) {
  for (struct CUstream_st* s = device->streams; s != NULL; s = s->next) {
    if (!s->destroyed) continue;
    s->destroyed = 0;
    *stream = s;
    return cudaSuccess;
  }
  struct CUstream_st* created = calloc(1, sizeof *created);
  if (created == NULL) return cudaErrorMemoryAllocation;
  const stretto_status_t status =
      device->client->api->stream_create(device->client, &created->stream);
  if (status != STRETTO_OK) {
    runtime_status(device->runtime, device, status);
    free(created);
    return cudaErrorMemoryAllocation;
  }
  created->device = device;
  created->next = device->streams;
  device->streams = created;
  *stream = created;
  return cudaSuccess;
}

static cudaError_t create_stream(device_t* device, uint32_t priority, struct CUstream_st** stream) {
  const cudaError_t found = find_stream(device, stream);
  if (found != cudaSuccess || (*stream)->priority == priority) return found;
  (*stream)->priority = priority;
  const stretto_status_t status =
      device->client->api->stream_priority(device->client, (*stream)->stream, priority);
  if (status == STRETTO_OK) return cudaSuccess;
  runtime_status(device->runtime, device, status);
  return cudaErrorLaunchFailure;
}

device_t* runtime_device(stretto_runtime_t* runtime, uint32_t number) {
  if (number >= runtime->options.devices) {
    runtime_fail(runtime, ncclInvalidArgument, "device %u: there are %u", number,
                 runtime->options.devices);
    return NULL;
  }
  if (runtime->devices[number] != NULL) return runtime->devices[number];
  device_t* device = calloc(1, sizeof *device);
  if (device == NULL) return NULL;
  device->runtime = runtime;
  device->number = number;
  stretto_client_options_t options = runtime->options.client;
  options.gpu = runtime->options.device_gpu[number];
  device->client = stretto_client_create(&options, &runtime->options.ops);
  if (device->client == NULL || create_stream(device, 0, &device->default_stream) != cudaSuccess) {
    runtime_fail(runtime, ncclSystemError, "device %u: no driver client", number);
    destroy_device(device);
    return NULL;
  }
  runtime->devices[number] = device;
  return device;
}

struct CUstream_st* runtime_stream(const device_t* device, cudaStream_t stream) {
  return stream == NULL ? device->default_stream : stream;
}

stretto_stream_t* stretto_runtime_stream(cudaStream_t stream, stretto_client_t** client) {
  *client = stream->device->client;
  return stream->stream;
}

ncclResult_t runtime_synchronize(struct CUstream_st* stream) {
  device_t* device = stream->device;
  const stretto_status_t status =
      device->client->api->stream_synchronize(device->client, stream->stream);
  for (memory_use_t** u = &device->uses; *u != NULL;) {
    memory_use_t* use = *u;
    if (use->stream != stream) {
      u = &use->next;
      continue;
    }
    *u = use->next;
    free(use);
  }
  return runtime_status(device->runtime, device, status);
}

static cudaError_t synchronize(struct CUstream_st* stream) {
  if (runtime_current() == NULL) return cudaErrorInvalidValue;
  return runtime_synchronize(stream) == ncclSuccess ? cudaSuccess : cudaErrorLaunchFailure;
}

// Keeps the error for cudaGetLastError.
static cudaError_t keep(cudaError_t error) {
  stretto_runtime_t* runtime = runtime_current();
  if (error != cudaSuccess && runtime != NULL) runtime->cuda_error = error;
  return error;
}

// The device that the calling thread has chosen.
static device_t* current_device(void) {
  stretto_runtime_t* runtime = runtime_current();
  return runtime == NULL ? NULL : runtime_device(runtime, runtime->device);
}

cudaError_t cudaGetDeviceCount(int* count) {
  const stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL || count == NULL) return keep(cudaErrorInvalidValue);
  *count = (int)runtime->options.devices;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  const stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL || device == NULL) return keep(cudaErrorInvalidValue);
  *device = (int)runtime->device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL || device < 0 || (uint32_t)device >= runtime->options.devices)
    return keep(cudaErrorInvalidDevice);
  runtime->device = (uint32_t)device;
  return cudaSuccess;
}

// Memory

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
static stretto_status_t map_block(device_t* device, uint64_t bytes, memory_block_t** mapped) {
  const stretto_api_t* api = device->client->api;
  stretto_stream_t* stream = device->default_stream->stream;
  memory_block_t* block = free_block(device, bytes);
  if (block != NULL && split(block, bytes)) {
    *mapped = block;
    return api->map(device->client, stream, block->address, bytes, memory_class(device));
  }
  block = calloc(1, sizeof *block);
  if (block == NULL) return STRETTO_ERROR_TABLE_FULL;
  block->bytes = bytes;
  const stretto_status_t status = api->allocate(device->client, stream, bytes, ALIGNMENT,
                                                memory_class(device), &block->address);
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
  const uint64_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  memory_block_t* block = NULL;
  // Nothing can be mapped while a reduce-scatter of engine t3 is under way.
  if (device->runtime->options.engine == STRETTO_ENGINE_T3 && runtime_quiet(device) != ncclSuccess)
    return cudaErrorLaunchFailure;
  if (runtime_status(device->runtime, device, map_block(device, rounded, &block)) != ncclSuccess ||
      synchronize(device->default_stream) != cudaSuccess)
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
    TRY_CUDA(synchronize(device->default_stream));
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

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  device_t* device = current_device();
  if (device == NULL || pointer == NULL) return keep(cudaErrorInvalidValue);
  *pointer = NULL;
  if (bytes == 0) return cudaSuccess;
  uint64_t address = 0;
  const cudaError_t error = runtime_allocate(device, bytes, &address);
  *pointer = (void*)(uintptr_t)address;
  return keep(error);
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
  if (runtime == NULL) return keep(cudaErrorInvalidValue);
  const uint64_t address = (uint64_t)(uintptr_t)pointer;
  device_t* device = owner_of(runtime, pointer, 1);
  for (memory_block_t* b = device == NULL ? NULL : device->blocks; b != NULL; b = b->next) {
    if (b->address != address || b->used == 0) continue;
    const cudaError_t used = check_unused(device, b);
    if (used != cudaSuccess) return keep(used);
    if (runtime_quiet(device) != ncclSuccess) return keep(cudaErrorLaunchFailure);
    return keep(runtime_release(device, address));
  }
  runtime_fail(runtime, ncclInvalidArgument,
               "cudaFree: 0x%llx is no address that cudaMalloc gave, or was freed",
               (unsigned long long)address);
  return keep(cudaErrorInvalidValue);
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
  const uint64_t bounce =
      ((uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT) + BOUNCE_AT +
      (device->runtime->options.job * STRETTO_MAX_GPUS + device->client->options.gpu) *
          BOUNCE_BYTES;
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t at = (uint64_t)(uintptr_t)from + done, begin = at & ~7ull;
    uint64_t piece = bytes - done;
    if (piece > BOUNCE_BYTES - 8) piece = BOUNCE_BYTES - 8;
    const uint64_t words = (at + piece + 7 - begin) & ~7ull;
    TRY_CUDA(driver_result(
        device, device->client->api->copy(device->client, device->default_stream->stream, bounce,
                                          begin, words, device->runtime->options.accounts.move)));
    TRY_CUDA(synchronize(device->default_stream));
    ops->read(ops->context, bounce + (at - begin), (uint8_t*)to + done, piece);
    done += piece;
  }
  return cudaSuccess;
}

static cudaError_t copy_across(device_t* device, void* to, const void* from, uint64_t bytes) {
  const uint64_t source = (uint64_t)(uintptr_t)from, target = (uint64_t)(uintptr_t)to;
  if (source % 8 != 0 || target % 8 != 0 || bytes % 8 != 0) return cudaErrorNotSupported;
  TRY_CUDA(driver_result(
      device, device->client->api->copy(device->client, device->default_stream->stream, target,
                                        source, bytes, device->runtime->options.accounts.move)));
  return synchronize(device->default_stream);
}

static cudaError_t copy_by_kind(stretto_runtime_t* runtime, void* to, const void* from,
                                uint64_t bytes, cudaMemcpyKind kind) {
  device_t* source = owner_of(runtime, from, bytes);
  device_t* target = owner_of(runtime, to, bytes);
  const int from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const int to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  if ((from_device && source == NULL) || (to_device && target == NULL))
    return cudaErrorInvalidValue;
  if (!from_device && !to_device) {
    memmove(to, from, bytes);
    return cudaSuccess;
  }
  device_t* device = from_device ? source : target;
  TRY_CUDA(synchronize(device->default_stream));
  if (from_device && to_device) return copy_across(device, to, from, bytes);
  return from_device ? copy_out(device, to, from, bytes) : copy_in(device, to, from, bytes);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL) return cudaErrorInvalidValue;
  return bytes == 0 ? cudaSuccess : keep(copy_by_kind(runtime, to, from, bytes, kind));
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  TRY_CUDA(cudaStreamSynchronize(stream));
  return cudaMemcpy(to, from, bytes, kind);
}

// Ragged ends go over PCIe, the rest is filled by the DMA engine.
cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  device_t* device = current_device();
  const uint64_t begin = (uint64_t)(uintptr_t)pointer, end = begin + bytes;
  if (device == NULL || (bytes != 0 && !runtime_has_memory(device, begin, bytes)))
    return keep(cudaErrorInvalidValue);
  uint8_t ends[8];
  memset(ends, value, sizeof ends);
  uint64_t pattern;
  memcpy(&pattern, ends, 8);
  const uint64_t whole = (begin + 7) & ~7ull, whole_end = end & ~7ull;
  TRY_CUDA(synchronize(device->default_stream));
  const stretto_api_t* api = device->client->api;
  stretto_status_t status = STRETTO_OK;
  if (whole >= whole_end) {
    for (uint64_t at = begin; at < end && status == STRETTO_OK; ++at)
      status = api->copy_to_device(device->client, at, ends, 1);
  } else {
    status = api->fill(device->client, device->default_stream->stream, whole, whole_end - whole,
                       pattern, device->runtime->options.accounts.init);
    if (status == STRETTO_OK && begin < whole)
      status = api->copy_to_device(device->client, begin, ends, whole - begin);
    if (status == STRETTO_OK && whole_end < end)
      status = api->copy_to_device(device->client, whole_end, ends, end - whole_end);
  }
  if (runtime_status(device->runtime, device, status) != ncclSuccess)
    return keep(cudaErrorInvalidValue);
  return keep(synchronize(device->default_stream));
}

// Streams

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  device_t* device = current_device();
  if (device == NULL || stream == NULL) return keep(cudaErrorInvalidValue);
  return keep(create_stream(device, 0, stream));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  device_t* device = current_device();
  if (device == NULL || stream == NULL || flags > cudaStreamNonBlocking)
    return keep(cudaErrorInvalidValue);
  const int greatest = 1 - (int)STRETTO_PRIORITIES;
  const int within = priority < greatest ? greatest : priority > 0 ? 0 : priority;
  return keep(create_stream(device, (uint32_t)-within, stream));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != NULL) *least = 0;
  if (greatest != NULL) *greatest = 1 - (int)STRETTO_PRIORITIES;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == NULL) return keep(cudaErrorInvalidResourceHandle);
  TRY_CUDA(synchronize(stream));
  stream->destroyed = 1;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  device_t* device = stream == NULL ? current_device() : stream->device;
  if (device == NULL) return keep(cudaErrorInvalidValue);
  return keep(synchronize(stream == NULL ? device->default_stream : stream));
}

cudaError_t cudaDeviceSynchronize(void) {
  device_t* device = current_device();
  if (device == NULL) return keep(cudaErrorInvalidValue);
  cudaError_t error = cudaSuccess;
  for (struct CUstream_st* s = device->streams; s != NULL; s = s->next) {
    const cudaError_t one = synchronize(s);
    if (error == cudaSuccess) error = one;
  }
  return keep(error);
}

// Errors

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle: return "invalid resource handle";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    case cudaErrorNotSupported: return "operation not supported";
  }
  return "unrecognized error code";
}

cudaError_t cudaGetLastError(void) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL) return cudaErrorInvalidValue;
  const cudaError_t error = runtime->cuda_error;
  runtime->cuda_error = cudaSuccess;
  return error;
}
