// SPDX-License-Identifier: Apache-2.0
// Libraries of kernels and launches of cuda_runtime.h. A library is loaded into a device when a kernel of it
// is first launched there.
#include <stdlib.h>
#include <string.h>

#include "sw/collectives/internal.h"

struct CUkern_st {
  stretto_runtime_kernel_t base;
  stretto_kernel_t on[STRETTO_MAX_GPUS];  // By device; object 0 = not loaded there.
};

struct CUlib_st {
  stretto_runtime_library_t base;
  stretto_module_t* on[STRETTO_MAX_GPUS];  // By device; null = not loaded there.
};

static stretto_runtime_library_t* libraries(void) {
  const stretto_runtime_t* runtime = runtime_current();
  return runtime == NULL ? NULL : runtime->libraries;
}

// Keeps a copy of the ELF. `name`: of what is loaded, for a message.
static cudaError_t load(const char* name, const void* elf, size_t bytes, cudaLibrary_t* library) {
  stretto_runtime_t* runtime = runtime_current();
  char error[160];
  if (stretto_kernel_check(elf, bytes, NULL, NULL, error, sizeof error) != STRETTO_OK)
    return stretto_runtime_refuse(cudaErrorInvalidKernelImage, "%s: %s", name, error);
  void* copy = malloc(bytes);
  stretto_runtime_library_t* created =
      copy == NULL
          ? NULL
          : stretto_runtime_add_library(&runtime->libraries, copy, bytes, sizeof(struct CUlib_st));
  if (created == NULL) {
    free(copy);
    return stretto_runtime_refuse(cudaErrorMemoryAllocation, "%s: no host memory", name);
  }
  memcpy(copy, elf, bytes);
  *library = (cudaLibrary_t)created;
  return cudaSuccess;
}

cudaError_t stretto_runtime_check_library(const char* call, const cudaLibrary_t* library,
                                          const void* from, unsigned jit_count,
                                          unsigned library_count) {
  if (runtime_current() == NULL || library == NULL || from == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "%s: a null pointer", call);
  if (jit_count != 0 || library_count != 0)
    return stretto_runtime_refuse(cudaErrorNotSupported, "%s: %u and %u options; there are none",
                                  call, jit_count, library_count);
  return cudaSuccess;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code,
                                cudaJitOption* jit_options, void** jit_values, unsigned jit_count,
                                cudaLibraryOption* library_options, void** library_values,
                                unsigned library_count) {
  (void)jit_options, (void)jit_values, (void)library_options, (void)library_values;
  TRY_CUDA(stretto_runtime_check_library("cudaLibraryLoadData", library, code, jit_count,
                                         library_count));
  const size_t bytes = stretto_kernel_bytes(code);
  if (bytes == 0)
    return stretto_runtime_refuse(cudaErrorInvalidKernelImage,
                                  "cudaLibraryLoadData: kernel ELF: not an ELF file");
  return load("cudaLibraryLoadData", code, bytes, library);
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file,
                                    cudaJitOption* jit_options, void** jit_values,
                                    unsigned jit_count, cudaLibraryOption* library_options,
                                    void** library_values, unsigned library_count) {
  (void)jit_options, (void)jit_values, (void)library_options, (void)library_values;
  TRY_CUDA(stretto_runtime_check_library("cudaLibraryLoadFromFile", library, file, jit_count,
                                         library_count));
  size_t bytes = 0;
  void* elf = stretto_kernel_read(file, &bytes);
  if (elf == NULL)
    return stretto_runtime_refuse(
        cudaErrorFileNotFound,
        "cudaLibraryLoadFromFile: %.200s: no such file, or it cannot be read", file);
  const cudaError_t error = load(file, elf, bytes, library);
  free(elf);
  return error;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  stretto_runtime_library_t* given = stretto_runtime_given_library(libraries(), library);
  if (given == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                  "cudaLibraryUnload: %p is no library", (void*)library);
  stretto_runtime_remove_library(&runtime_current()->libraries, given);
  return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  stretto_runtime_library_t* given = stretto_runtime_given_library(libraries(), library);
  if (given == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                  "cudaLibraryGetKernel: %p is no library", (void*)library);
  if (kernel == NULL || name == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaLibraryGetKernel: a null pointer");
  stretto_runtime_kernel_t* found = stretto_runtime_named_kernel(given, name);
  *kernel = (cudaKernel_t)found;
  if (found != NULL) return cudaSuccess;
  stretto_kernel_descriptor_t descriptor;
  char error[160];
  if (stretto_kernel_check(given->elf, given->bytes, name, &descriptor, error, sizeof error) !=
      STRETTO_OK)
    return stretto_runtime_refuse(cudaErrorSymbolNotFound, "cudaLibraryGetKernel: %s", error);
  found = stretto_runtime_add_kernel(given, name, &descriptor, sizeof(struct CUkern_st));
  *kernel = (cudaKernel_t)found;
  if (found == NULL)
    return stretto_runtime_refuse(cudaErrorMemoryAllocation,
                                  "cudaLibraryGetKernel: no host memory");
  return cudaSuccess;
}

cudaFuncAttributes stretto_runtime_attributes(const stretto_kernel_descriptor_t* descriptor) {
  const uint32_t wavefronts = descriptor->wavefronts;
  return (cudaFuncAttributes){.sharedSizeBytes = descriptor->lds_bytes,
                              .constSizeBytes = descriptor->kernarg_bytes,
                              .localSizeBytes = descriptor->private_bytes,
                              .maxThreadsPerBlock = (int)wavefronts,
                              .numRegs = (int)(descriptor->registers_bytes / 4 / wavefronts)};
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  const stretto_runtime_kernel_t* k = stretto_runtime_given_kernel(libraries(), kernel);
  if (k == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                  "cudaFuncGetAttributes: %p is no kernel", kernel);
  if (attributes == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaFuncGetAttributes: null");
  *attributes = stretto_runtime_attributes(&k->descriptor);
  return cudaSuccess;
}

static stretto_status_t load_on(device_t* device, struct CUkern_st* kernel) {
  const stretto_api_t* api = device->client->api;
  stretto_kernel_t* on = &kernel->on[device->number];
  stretto_runtime_library_t* library = kernel->base.library;
  stretto_module_t** module = &((struct CUlib_st*)library)->on[device->number];
  if (on->object != 0) return STRETTO_OK;
  stretto_status_t status = STRETTO_OK;
  if (*module == NULL)
    status = api->module_load(device->client, library->elf, library->bytes, module);
  return status == STRETTO_OK ? api->module_kernel(device->client, *module, kernel->base.name, on)
                              : status;
}

static cudaError_t launch_error(stretto_status_t status) {
  switch (status) {
    case STRETTO_ERROR_ARGUMENT: return cudaErrorInvalidConfiguration;
    case STRETTO_ERROR_RESOURCES: return cudaErrorLaunchOutOfResources;
    case STRETTO_ERROR_TABLE_FULL: return cudaErrorMemoryAllocation;
    default: return cudaErrorLaunchFailure;
  }
}

cudaError_t stretto_runtime_check_launch(const char* call, const char* kernel,
                                         const stretto_kernel_descriptor_t* descriptor, dim3 grid,
                                         dim3 block, void* const* arguments, size_t shared_bytes) {
  if (block.x != descriptor->wavefronts || block.y != 1 || block.z != 1)
    return stretto_runtime_refuse(
        cudaErrorInvalidConfiguration,
        "%s: %.60s: a block of %u x %u x %u; it has %u x 1 x 1 wavefronts", call, kernel, block.x,
        block.y, block.z, descriptor->wavefronts);
  const uint64_t plane = (uint64_t)grid.x * grid.y;
  if (plane == 0 || grid.z == 0 || grid.y > STRETTO_MAX_GRID_YZ || grid.z > STRETTO_MAX_GRID_YZ ||
      plane > STRETTO_MAX_GRID / grid.z)
    return stretto_runtime_refuse(
        cudaErrorInvalidConfiguration,
        "%s: %.60s: a grid of %u x %u x %u; 1..%u in all, y and z at most %u", call, kernel, grid.x,
        grid.y, grid.z, STRETTO_MAX_GRID, STRETTO_MAX_GRID_YZ);
  if (shared_bytes != 0)
    return stretto_runtime_refuse(
        cudaErrorInvalidValue,
        "%s: %.60s: %zu bytes of shared memory; it has the %u that it declares", call, kernel,
        shared_bytes, descriptor->lds_bytes);
  if (descriptor->kernarg_bytes != 0 && (arguments == NULL || arguments[0] == NULL))
    return stretto_runtime_refuse(cudaErrorInvalidValue, "%s: %.60s: no arguments; it has %u bytes",
                                  call, kernel, descriptor->kernarg_bytes);
  return cudaSuccess;
}

cudaError_t runtime_prepare_launch(const char* call, const stretto_runtime_kernel_t* kernel,
                                   dim3 grid, const void* arguments, struct CUstream_st* stream,
                                   stretto_launch_t* launch) {
  device_t* device = stream->device;
  struct CUkern_st* own = (struct CUkern_st*)kernel;
  const stretto_status_t status = load_on(device, own);
  if (status != STRETTO_OK)
    return stretto_runtime_refuse(launch_error(status), "%s: %.60s: %.180s", call, kernel->name,
                                  device->client->api->last_error(device->client));
  *launch = (stretto_launch_t){.kernel = &own->on[device->number],
                               .arguments = arguments,
                               .argument_bytes = kernel->descriptor.kernarg_bytes,
                               .work_groups = grid.x,
                               .grid_y = grid.y,
                               .grid_z = grid.z,
                               .account = device->runtime->options.accounts.kernels,
                               .device_scope = 1,
                               .system_acquire = stream->acquires,
                               .after_all_earlier = 1};
  return cudaSuccess;
}

static cudaError_t launched(const char* call, const char* kernel, struct CUstream_st* stream,
                            stretto_status_t status) {
  device_t* device = stream->device;
  if (status != STRETTO_OK)
    return stretto_runtime_refuse(launch_error(status), "%s: %.60s: %.180s", call, kernel,
                                  device->client->api->last_error(device->client));
  stream->acquires = 0;
  stream->unreleased = 1;
  return cudaSuccess;
}

cudaError_t runtime_launch_together(const char* call, const stretto_launch_t* launches,
                                    uint32_t count, struct CUstream_st* stream) {
  stretto_client_t* client = stream->device->client;
  return launched(call, "all together", stream,
                  client->api->launch_pipeline(client, stream->stream, launches, count));
}

// `together`: all work-groups at once, or none.
static cudaError_t launch(const char* call, const void* kernel, dim3 grid, dim3 block,
                          void** arguments, size_t shared_bytes, cudaStream_t stream,
                          int together) {
  const stretto_runtime_kernel_t* k = stretto_runtime_given_kernel(libraries(), kernel);
  if (k == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                  "%s: %p is no kernel of cudaLibraryGetKernel", call, kernel);
  struct CUstream_st* s = runtime_given_stream(stream);
  if (s == NULL) return runtime_no_stream(call, stream);
  TRY_CUDA(stretto_runtime_check_launch(call, k->name, &k->descriptor, grid, block, arguments,
                                        shared_bytes));
  const void* given = k->descriptor.kernarg_bytes == 0 ? NULL : arguments[0];
  stretto_launch_t one;
  TRY_CUDA(runtime_prepare_launch(call, k, grid, given, s, &one));
  stretto_client_t* client = s->device->client;
  return launched(call, k->name, s,
                  together ? client->api->launch_pipeline(client, s->stream, &one, 1)
                           : client->api->launch(client, s->stream, &one));
}

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  return launch("cudaLaunchKernel", kernel, grid, block, arguments, shared_bytes, stream, 0);
}

cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream) {
  return launch("cudaLaunchCooperativeKernel", kernel, grid, block, arguments, shared_bytes, stream,
                1);
}
