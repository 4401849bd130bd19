// SPDX-License-Identifier: Apache-2.0
// Calls of shmem.h for host programs: symmetric memory of device 0, given out in the same order at
// all PEs.
#include "sw/include/shmem.h"

#include <stdlib.h>

#include "sw/collectives/internal.h"

#define LINE STRETTO_SHARED_ALIGNMENT  // Of what is given out.
#define FREE_FLAG 0x80000000u  // Of what PEs tell each other: bytes, or the line of a block.

// What shmem_malloc has given, by address.
typedef struct symmetric_block {
  struct symmetric_block* next;
  uint64_t begin, end;  // From the heap's begin.
} symmetric_block_t;

typedef struct symmetric_memory {
  stretto_symmetric_t symmetric;
  device_t* device;
  symmetric_block_t* blocks;
  int was_opened;
  int is_open;
} symmetric_memory_t;

void symmetric_free(stretto_runtime_t* runtime) {
  symmetric_memory_t* memory = runtime->symmetric;
  while (memory != NULL && memory->blocks != NULL) {
    symmetric_block_t* next = memory->blocks->next;
    free(memory->blocks);
    memory->blocks = next;
  }
  free(memory);
  runtime->symmetric = NULL;
}

const stretto_symmetric_options_t* stretto_runtime_symmetric(const stretto_runtime_t* runtime,
                                                             int* is_open) {
  const symmetric_memory_t* memory = runtime->symmetric;
  *is_open = memory != NULL && memory->is_open;
  return memory != NULL && memory->was_opened ? &memory->symmetric.options : NULL;
}

// That is open; null: none, which is said.
static symmetric_memory_t* opened(const char* call) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime != NULL && runtime->symmetric != NULL && runtime->symmetric->is_open)
    return runtime->symmetric;
  (void)stretto_runtime_refuse(cudaErrorInvalidValue,
                               "%s: before shmem_wg_init, or behind shmem_finalize", call);
  return NULL;
}

// Memory of the device as the service and the NIC need it.
static int allocate(symmetric_memory_t* memory, const stretto_runtime_network_t* network,
                    uint32_t work_groups) {
  stretto_symmetric_options_t* o = &memory->symmetric.options;
  device_t* device = memory->device;
  const uint32_t queues =
      network->by_host ? STRETTO_ALLOCATION_UNCACHED : STRETTO_ALLOCATION_SHARED;
  o->cluster.heap_bytes =
      STRETTO_SHMEM_SYNC_BYTES(work_groups) + (network->heap_bytes + LINE - 1) / LINE * LINE;
  o->service = network->service;
  return (network->by_host ||
          runtime_allocate_as(device,
                              stretto_symmetric_service_bytes(network->threads, network->servers),
                              STRETTO_ALLOCATION_UNCACHED, &o->service) == cudaSuccess) &&
         runtime_allocate_as(device, (uint64_t)work_groups * STRETTO_SHMEM_QUEUE_BYTES, queues,
                             &o->queues) == cudaSuccess &&
         runtime_allocate_as(device, o->cluster.heap_bytes, STRETTO_ALLOCATION_SHARED,
                             &o->cluster.heap) == cudaSuccess;
}

int shmem_wg_init(stretto_shmem_handle_t* handle, unsigned work_groups) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL) return -1;
  const stretto_runtime_network_t* network = &runtime->options.network;
  if (network->servers == 0)
    return stretto_runtime_refuse(cudaErrorNotSupported,
                                  "shmem_wg_init: the program is no PE; --mode compnet, "
                                  "compnet-nolock, dgpu, dgpu-host or apu"),
           -1;
  if (runtime->symmetric != NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "shmem_wg_init: called for a second time"),
           -1;
  if (work_groups == 0 || work_groups > STRETTO_SHMEM_QUEUES)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "shmem_wg_init: %u work-groups; 1 to %u",
                                  work_groups, STRETTO_SHMEM_QUEUES),
           -1;
  device_t* device = runtime_device(runtime, 0);
  symmetric_memory_t* memory = device == NULL ? NULL : calloc(1, sizeof *memory);
  if (memory == NULL) return -1;
  runtime->symmetric = memory;
  memory->device = device;
  if (!allocate(memory, network, work_groups)) return -1;
  stretto_symmetric_options_t options = memory->symmetric.options;
  options.cluster.ops = &runtime->options.ops;
  options.cluster.server = network->server;
  options.cluster.servers = network->servers;
  options.cluster.memory = network->memory;
  options.client = device->client;
  options.stream = device->default_stream->stream;
  options.by_host = network->by_host;
  options.threads = network->threads;
  options.entries = network->entries;
  options.queue_count = work_groups;
  options.poll_rounds = network->poll_rounds;
  options.handle_flags = network->handle_flags;
  options.table_flags = network->table_flags;
  runtime_at(runtime, "shmem_wg_init: waits for the other PEs");
  const stretto_status_t status = stretto_symmetric_open(&memory->symmetric, &options);
  runtime_at(runtime, "");
  if (status != STRETTO_OK)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "shmem_wg_init: %s",
                                  memory->symmetric.error),
           -1;
  memory->is_open = memory->was_opened = 1;
  if (handle != NULL) *handle = memory->symmetric.handle;
  return 0;
}

void shmem_init(void) { (void)shmem_wg_init(NULL, 1); }

int shmem_my_pe(void) {
  const symmetric_memory_t* memory = opened("shmem_my_pe");
  return memory == NULL ? -1 : (int)memory->symmetric.handle.pe;
}

int shmem_n_pes(void) {
  const symmetric_memory_t* memory = opened("shmem_n_pes");
  return memory == NULL ? -1 : (int)memory->symmetric.handle.pes;
}

// All have come, and given the same value; else it is said who has not.
static int agree(symmetric_memory_t* memory, const char* call, uint32_t value) {
  stretto_runtime_t* runtime = memory->device->runtime;
  uint32_t values[STRETTO_CLUSTER_SERVERS];
  runtime_at(runtime, "%s: waits for the other PEs", call);
  const stretto_nic_result_t result =
      stretto_cluster_exchange(&memory->symmetric.cluster, value, values);
  runtime_at(runtime, "");
  if (result != STRETTO_NIC_RESULT_OK) {
    (void)stretto_runtime_refuse(cudaErrorLaunchFailure, "%s: %s", call,
                                 memory->symmetric.cluster.error);
    return 0;
  }
  for (uint32_t pe = 0; pe < memory->symmetric.handle.pes; ++pe) {
    if (values[pe] == value) continue;
    const int other = ((values[pe] ^ value) & FREE_FLAG) != 0;
    (void)stretto_runtime_refuse(
        cudaErrorInvalidValue,
        other ? "%s: PE %u asks for another call" : "%s: PE %u asks for %u, this one for %u", call,
        pe, values[pe] & ~FREE_FLAG, value & ~FREE_FLAG);
    return 0;
  }
  return 1;
}

// The first place that is large enough. Null: none, or no host memory.
static symmetric_block_t* place(symmetric_memory_t* memory, uint64_t alignment, uint64_t bytes) {
  const stretto_symmetric_options_t* o = &memory->symmetric.options;
  uint64_t begin = STRETTO_SHMEM_SYNC_BYTES(o->queue_count);
  symmetric_block_t** at = &memory->blocks;
  for (;; at = &(*at)->next) {
    begin = (o->cluster.heap + begin + alignment - 1) / alignment * alignment - o->cluster.heap;
    if (*at == NULL || begin + bytes <= (*at)->begin) break;
    begin = (*at)->end;
  }
  if (begin > o->cluster.heap_bytes || bytes > o->cluster.heap_bytes - begin) return NULL;
  symmetric_block_t* block = calloc(1, sizeof *block);
  if (block == NULL) return NULL;
  *block = (symmetric_block_t){.next = *at, .begin = begin, .end = begin + bytes};
  *at = block;
  return block;
}

static void* allocate_symmetric(const char* call, uint64_t alignment, uint64_t bytes) {
  symmetric_memory_t* memory = opened(call);
  if (memory == NULL) return NULL;
  const uint64_t heap_bytes = memory->symmetric.options.cluster.heap_bytes;
  const uint64_t clamped = bytes < heap_bytes ? bytes : heap_bytes;
  if (!agree(memory, call, (uint32_t)clamped) || bytes == 0) return NULL;
  const uint64_t lines = (bytes + LINE - 1) / LINE * LINE;
  const symmetric_block_t* block =
      bytes > heap_bytes ? NULL : place(memory, alignment < LINE ? LINE : alignment, lines);
  if (block == NULL) {
    (void)stretto_runtime_refuse(
        cudaErrorMemoryAllocation, "%s: %llu bytes do not fit into a heap of %llu", call,
        (unsigned long long)bytes,
        (unsigned long long)memory->device->runtime->options.network.heap_bytes);
    return NULL;
  }
  return (void*)(uintptr_t)(memory->symmetric.handle.heap + block->begin);
}

void* shmem_malloc(size_t size) { return allocate_symmetric("shmem_malloc", LINE, size); }

void* shmem_align(size_t alignment, size_t size) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > RUNTIME_ALIGNMENT) {
    (void)stretto_runtime_refuse(cudaErrorInvalidValue,
                                 "shmem_align: %zu is no power of two up to %u", alignment,
                                 RUNTIME_ALIGNMENT);
    return NULL;
  }
  return allocate_symmetric("shmem_align", alignment, size);
}

void* shmem_calloc(size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) {
    (void)stretto_runtime_refuse(cudaErrorInvalidValue, "shmem_calloc: %zu x %zu bytes", count,
                                 size);
    return NULL;
  }
  void* given = allocate_symmetric("shmem_calloc", LINE, count * size);
  if (given == NULL) return NULL;
  if (cudaMemset(given, 0, count * size) != cudaSuccess) return NULL;
  shmem_barrier_all();
  return given;
}

void shmem_free(void* pointer) {
  symmetric_memory_t* memory = pointer == NULL ? NULL : opened("shmem_free");
  if (memory == NULL) return;
  const uint64_t begin = (uint64_t)(uintptr_t)pointer - memory->symmetric.handle.heap;
  symmetric_block_t** at = &memory->blocks;
  while (*at != NULL && (*at)->begin != begin) at = &(*at)->next;
  if (*at == NULL) {
    (void)stretto_runtime_refuse(cudaErrorInvalidValue,
                                 "shmem_free: %p is no address that shmem_malloc gave", pointer);
    return;
  }
  if (!agree(memory, "shmem_free", FREE_FLAG | (uint32_t)(begin / LINE))) return;
  shmem_barrier_all();  // What kernels and NICs do there has ended, at all PEs.
  symmetric_block_t* block = *at;
  *at = block->next;
  free(block);
}

void* shmem_ptr(const void* dest, int pe) {
  return pe >= 0 && pe == shmem_my_pe() ? (void*)(uintptr_t)dest : NULL;
}

void shmem_barrier_all(void) {
  symmetric_memory_t* memory = opened("shmem_barrier_all");
  if (memory == NULL || runtime_quiet(memory->device) != ncclSuccess) return;
  stretto_runtime_t* runtime = memory->device->runtime;
  runtime_at(runtime, "shmem_barrier_all: waits for the other PEs");
  const stretto_status_t status = stretto_symmetric_barrier(&memory->symmetric);
  runtime_at(runtime, "");
  if (status != STRETTO_OK)
    (void)stretto_runtime_refuse(cudaErrorLaunchFailure, "shmem_barrier_all: %s",
                                 memory->symmetric.error);
  // NICs may have written what the next kernels read.
  for (struct CUstream_st* s = memory->device->streams; s != NULL; s = s->next) s->acquires = 1;
}

void shmem_finalize(void) {
  symmetric_memory_t* memory = opened("shmem_finalize");
  if (memory == NULL) return;
  for (struct CUstream_st* s = memory->device->streams; s != NULL; s = s->next) {
    if (runtime_is_done(s)) continue;
    (void)stretto_runtime_refuse(
        cudaErrorNotReady,
        "shmem_finalize: PE %u: a stream has not ended, and its kernels may communicate; wait for "
        "it first",
        memory->symmetric.handle.pe);
    return;
  }
  shmem_barrier_all();
  const stretto_status_t status = stretto_symmetric_close(&memory->symmetric);
  if (status != STRETTO_OK) {
    (void)stretto_runtime_refuse(cudaErrorLaunchFailure, "shmem_finalize: %s",
                                 memory->symmetric.error);
    return;
  }
  memory->is_open = 0;
}
