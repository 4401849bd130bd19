// SPDX-License-Identifier: Apache-2.0
// Streams of cuda_runtime.h.
#include <stdlib.h>

#include "sw/collectives/internal.h"

static cudaError_t find_stream(device_t* device, struct CUstream_st** stream) {
  for (struct CUstream_st* s = device->streams; s != NULL; s = s->next) {
    if (!s->destroyed) continue;
    s->destroyed = 0;
    *stream = s;
    return cudaSuccess;
  }
  struct CUstream_st* created = calloc(1, sizeof *created);
  if (created == NULL)
    return stretto_runtime_refuse(cudaErrorMemoryAllocation, "cudaStreamCreate: no host memory");
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

cudaError_t runtime_create_stream(device_t* device, uint32_t priority,
                                  struct CUstream_st** stream) {
  const cudaError_t found = find_stream(device, stream);
  if (found != cudaSuccess || (*stream)->priority == priority) return found;
  (*stream)->priority = priority;
  const stretto_status_t status =
      device->client->api->stream_priority(device->client, (*stream)->stream, priority);
  if (status == STRETTO_OK) return cudaSuccess;
  runtime_status(device->runtime, device, status);
  return cudaErrorLaunchFailure;
}

struct CUstream_st* runtime_stream(const device_t* device, cudaStream_t stream) {
  return stream == NULL ? device->default_stream : stream;
}

stretto_stream_t* stretto_runtime_stream(cudaStream_t stream, stretto_client_t** client) {
  *client = stream->device->client;
  return stream->stream;
}

struct CUstream_st* runtime_given_stream(cudaStream_t stream) {
  stretto_runtime_t* runtime = runtime_current();
  if (stream == NULL) {
    const device_t* device = runtime_current_device();
    return device == NULL ? NULL : device->default_stream;
  }
  for (uint32_t i = 0; runtime != NULL && i < runtime->options.devices; ++i) {
    if (runtime->devices[i] == NULL) continue;
    for (struct CUstream_st* s = runtime->devices[i]->streams; s != NULL; s = s->next)
      if (s == stream && !s->destroyed) return s;
  }
  return NULL;
}

cudaError_t runtime_no_stream(const char* call, cudaStream_t stream) {
  return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                "%s: %p is no stream, or was destroyed", call, (void*)stream);
}

ncclResult_t runtime_synchronize(struct CUstream_st* stream) {
  device_t* device = stream->device;
  const stretto_status_t status =
      device->client->api->stream_synchronize(device->client, stream->stream);
  stream->unreleased = 0;
  copies_deliver(device);
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

cudaError_t runtime_cuda_synchronize(struct CUstream_st* stream) {
  if (runtime_current() == NULL) return cudaErrorInvalidValue;
  return runtime_synchronize(stream) == ncclSuccess ? cudaSuccess : cudaErrorLaunchFailure;
}

int runtime_is_done(const struct CUstream_st* stream) {
  const stretto_api_t* api = stream->device->client->api;
  stretto_event_t last;
  return api->event_of_last(stream->device->client, stream->stream, &last) != STRETTO_OK ||
         api->event_query(stream->device->client, &last);
}

uint32_t stretto_runtime_priority(int priority) {
  const int greatest = 1 - (int)STRETTO_PRIORITIES;
  const int within = priority < greatest ? greatest : priority > 0 ? 0 : priority;
  return (uint32_t)-within;
}

cudaError_t stretto_runtime_check_stream(const cudaStream_t* stream, unsigned flags) {
  if (stream == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaStreamCreate: null");
  if (flags > cudaStreamNonBlocking)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaStreamCreate: flags %#x", flags);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  TRY_CUDA(stretto_runtime_check_stream(stream, flags));
  device_t* device = runtime_current_device();
  if (device == NULL) return runtime_keep(cudaErrorInvalidValue);
  return runtime_keep(runtime_create_stream(device, stretto_runtime_priority(priority), stream));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != NULL) *least = 0;
  if (greatest != NULL) *greatest = 1 - (int)STRETTO_PRIORITIES;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  struct CUstream_st* given = stream == NULL ? NULL : runtime_given_stream(stream);
  if (given == NULL) return runtime_no_stream("cudaStreamDestroy", stream);
  TRY_CUDA(runtime_cuda_synchronize(given));
  given->destroyed = 1;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  struct CUstream_st* given = runtime_given_stream(stream);
  if (given == NULL) return runtime_no_stream("cudaStreamSynchronize", stream);
  return runtime_keep(runtime_cuda_synchronize(given));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  struct CUstream_st* given = runtime_given_stream(stream);
  if (given == NULL) return runtime_no_stream("cudaStreamQuery", stream);
  if (!runtime_is_done(given)) return cudaErrorNotReady;
  return runtime_keep(runtime_cuda_synchronize(given));
}

cudaError_t cudaDeviceSynchronize(void) {
  device_t* device = runtime_current_device();
  if (device == NULL) return runtime_keep(cudaErrorInvalidValue);
  cudaError_t error = cudaSuccess;
  for (struct CUstream_st* s = device->streams; s != NULL; s = s->next) {
    const cudaError_t one = runtime_cuda_synchronize(s);
    if (error == cudaSuccess) error = one;
  }
  return runtime_keep(error);
}
