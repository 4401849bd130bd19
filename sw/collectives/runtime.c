// SPDX-License-Identifier: Apache-2.0
// Devices and errors of a runtime: see runtime.h and cuda_runtime.h.
#include "sw/collectives/runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/collectives/internal.h"

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
  snprintf(error, 256, "%.*s: %.200s", (int)strcspn(call, "("), call,
           said[0] != '\0' ? said : cudaGetErrorString(result));
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
  return stretto_place(&next, 0, RUNTIME_ALIGNMENT);
}

uint64_t stretto_runtime_memory_end(const stretto_runtime_t* runtime, uint32_t device) {
  const device_t* d = runtime->devices[device];
  return d == NULL ? runtime->options.client.memory_begin : d->client->memory_next;
}

stretto_runtime_t* stretto_runtime_create(const stretto_runtime_options_t* options) {
  stretto_runtime_t* runtime = calloc(1, sizeof *runtime);
  if (runtime == NULL) return NULL;
  runtime->options = *options;
  runtime->layer = (stretto_runtime_layer_t){.ops = &runtime->options.ops,
                                             .server_channel = options->server_channel,
                                             .high_priority = options->high_priority};
  return runtime;
}

uint64_t runtime_host_area(const device_t* device, uint64_t offset, uint64_t bytes) {
  const uint64_t number =
      device->runtime->options.job * STRETTO_MAX_GPUS + device->client->options.gpu;
  return ((uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT) + offset + number * bytes;
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
  copies_free(device);
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
  events_free(runtime);
  symmetric_free(runtime);
  pipelines_free(runtime);
  host_blocks_free(runtime);
  stretto_runtime_remove_libraries(&runtime->libraries);
  free(runtime);
}

unsigned long long stretto_time(void) {
  const stretto_runtime_t* runtime = runtime_current();
  return runtime == NULL ? 0 : runtime->options.ops.now_ns(runtime->options.ops.context);
}

void stretto_sleep(unsigned long long nanoseconds) {
  const stretto_runtime_t* runtime = runtime_current();
  if (runtime != NULL)
    runtime->options.ops.charge_cpu_ns(runtime->options.ops.context, nanoseconds);
}

// Devices

device_t* runtime_device(stretto_runtime_t* runtime, uint32_t number) {
  if (number >= runtime->options.devices) {
    runtime_fail(runtime, ncclInvalidArgument, "device %u: there are %u", number,
                 runtime->options.devices);
    return NULL;
  }
  if (runtime->options.server_channel != 0) {
    runtime_fail(runtime, ncclInvalidUsage,
                 "device %u: a server has it, and this call is none that a server serves", number);
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
  if (device->client == NULL ||
      runtime_create_stream(device, 0, &device->default_stream) != cudaSuccess) {
    runtime_fail(runtime, ncclSystemError, "device %u: no driver client", number);
    destroy_device(device);
    return NULL;
  }
  runtime->devices[number] = device;
  return device;
}

cudaError_t runtime_keep(cudaError_t error) {
  stretto_runtime_t* runtime = runtime_current();
  if (error != cudaSuccess && runtime != NULL) runtime->cuda_error = error;
  return error;
}

cudaError_t stretto_runtime_refuse(cudaError_t error, const char* format, ...) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL) return error;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(runtime->error, sizeof runtime->error, format, arguments);
  va_end(arguments);
  return runtime_keep(error);
}

stretto_runtime_layer_t* stretto_runtime_layer(void) {
  stretto_runtime_t* runtime = runtime_current();
  return runtime == NULL ? NULL : &runtime->layer;
}

void stretto_runtime_end_layer(stretto_runtime_t* runtime) {
  if (runtime->layer.end != NULL) runtime->layer.end(&runtime->layer);
  runtime->layer.end = NULL;
}

device_t* runtime_current_device(void) {
  stretto_runtime_t* runtime = runtime_current();
  return runtime == NULL ? NULL : runtime_device(runtime, runtime->device);
}

cudaError_t cudaGetDeviceCount(int* count) {
  const stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL || count == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaGetDeviceCount: null");
  *count = (int)runtime->options.devices;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  const stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL || device == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaGetDevice: null");
  *device = (int)runtime->device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL || device < 0 || (uint32_t)device >= runtime->options.devices)
    return stretto_runtime_refuse(cudaErrorInvalidDevice, "cudaSetDevice: device %d: there are %u",
                                  device, runtime == NULL ? 0 : runtime->options.devices);
  runtime->device = (uint32_t)device;
  return cudaSuccess;
}

// Errors

const char* stretto_error_text(void) {
  const stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL)  // All calls fail there, and have nothing to keep a line in.
    return "called from another thread than that of main(): the modelled host knows one thread a "
           "program";
  return runtime->error;
}

typedef struct error_words {
  cudaError_t error;
  const char* name;
  const char* text;
} error_words_t;

static const error_words_t kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidKernelImage, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {cudaErrorFileNotFound, "cudaErrorFileNotFound", "file not found"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

static const error_words_t* words_of(cudaError_t error) {
  static const error_words_t unknown = {cudaSuccess, "unrecognized error code",
                                        "unrecognized error code"};
  for (size_t i = 0; i < sizeof kErrors / sizeof kErrors[0]; ++i)
    if (kErrors[i].error == error) return &kErrors[i];
  return &unknown;
}

const char* cudaGetErrorString(cudaError_t error) { return words_of(error)->text; }

const char* cudaGetErrorName(cudaError_t error) { return words_of(error)->name; }

cudaError_t cudaPeekAtLastError(void) {
  const stretto_runtime_t* runtime = runtime_current();
  return runtime == NULL ? cudaErrorInvalidValue : runtime->cuda_error;
}

cudaError_t cudaGetLastError(void) {
  stretto_runtime_t* runtime = runtime_current();
  const cudaError_t error = cudaPeekAtLastError();
  if (runtime != NULL) runtime->cuda_error = cudaSuccess;
  return error;
}
