// SPDX-License-Identifier: Apache-2.0
// libtally_client.so: libraries and launches. See client.h. A library's ELF is captured when the program loads
// it, and goes to the server, which transforms it (TL-VIRT-02).
#include <stdlib.h>
#include <string.h>

#include "sw/tally/client.h"

// Takes `elf`. `name`: of what is loaded, for a message.
static cudaError_t load(client_t* client, const char* name, void* elf, size_t bytes,
                        cudaLibrary_t* library) {
  char error[160];
  uint64_t number = 0;
  cudaError_t result = cudaSuccess;
  if (stretto_kernel_check(elf, bytes, NULL, NULL, error, sizeof error) != STRETTO_OK)
    result = stretto_runtime_refuse(cudaErrorInvalidKernelImage, "%s: %s", name, error);
  else if (bytes > CLIENT_IN_BYTES)
    result = stretto_runtime_refuse(cudaErrorMemoryAllocation,
                                    "%s: a kernel ELF of %zu bytes; a client sends at most %llu",
                                    name, bytes, (unsigned long long)CLIENT_IN_BYTES);
  // The whole of that part of the bulk.
  if (result == cudaSuccess) result = client_wait_all(client, name);
  if (result == cudaSuccess) {
    tally_bulk_write(&client->channel, 0, elf, bytes);
    const tally_message_t message = {.operation = TALLY_LIBRARY_LOAD,
                                     .library_load = {.bulk = 0, .bytes = bytes}};
    tally_reply_t reply;
    result = client_call(client, name, &message, NULL, &reply);
    number = reply.value[0];
  }
  if (result == cudaSuccess) {
    *library = (cudaLibrary_t)stretto_runtime_add_library(&client->libraries, elf, bytes,
                                                          sizeof(struct CUlib_st));
    if (*library != NULL) {
      (*library)->library = number;
      return cudaSuccess;
    }
    result = stretto_runtime_refuse(cudaErrorMemoryAllocation, "%s: no host memory", name);
  }
  free(elf);
  return result;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code,
                                cudaJitOption* jit_options, void** jit_values, unsigned jit_count,
                                cudaLibraryOption* library_options, void** library_values,
                                unsigned library_count) {
  CLIENT_OR_NEXT(cudaLibraryLoadData, library, code, jit_options, jit_values, jit_count,
                 library_options, library_values, library_count);
  const cudaError_t error =
      stretto_runtime_check_library("cudaLibraryLoadData", library, code, jit_count, library_count);
  if (error != cudaSuccess) return error;
  const size_t bytes = stretto_kernel_bytes(code);
  void* elf = bytes == 0 ? NULL : malloc(bytes);
  if (elf == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidKernelImage,
                                  "cudaLibraryLoadData: kernel ELF: not an ELF file");
  memcpy(elf, code, bytes);
  return load(client, "cudaLibraryLoadData", elf, bytes, library);
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file,
                                    cudaJitOption* jit_options, void** jit_values,
                                    unsigned jit_count, cudaLibraryOption* library_options,
                                    void** library_values, unsigned library_count) {
  CLIENT_OR_NEXT(cudaLibraryLoadFromFile, library, file, jit_options, jit_values, jit_count,
                 library_options, library_values, library_count);
  const cudaError_t error = stretto_runtime_check_library("cudaLibraryLoadFromFile", library, file,
                                                          jit_count, library_count);
  if (error != cudaSuccess) return error;
  size_t bytes = 0;
  void* elf = stretto_kernel_read(file, &bytes);
  if (elf == NULL)
    return stretto_runtime_refuse(
        cudaErrorFileNotFound,
        "cudaLibraryLoadFromFile: %.200s: no such file, or it cannot be read", file);
  return load(client, file, elf, bytes, library);
}

// The server keeps what it has: kernels of other libraries may be the same.
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  CLIENT_OR_NEXT(cudaLibraryUnload, library);
  client_answered(client);
  stretto_runtime_library_t* given = stretto_runtime_given_library(client->libraries, library);
  if (given == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                  "cudaLibraryUnload: %p is no library", (void*)library);
  stretto_runtime_remove_library(&client->libraries, given);
  return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  CLIENT_OR_NEXT(cudaLibraryGetKernel, kernel, library, name);
  stretto_runtime_library_t* given = stretto_runtime_given_library(client->libraries, library);
  if (given == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                  "cudaLibraryGetKernel: %p is no library", (void*)library);
  if (kernel == NULL || name == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaLibraryGetKernel: a null pointer");
  *kernel = (cudaKernel_t)stretto_runtime_named_kernel(given, name);
  if (*kernel != NULL) {
    client_answered(client);
    return cudaSuccess;
  }
  stretto_kernel_descriptor_t descriptor;
  char error[160];
  const size_t name_bytes = strlen(name) + 1;
  if (name_bytes > TALLY_PAYLOAD_BYTES ||
      stretto_kernel_check(given->elf, given->bytes, name, &descriptor, error, sizeof error) !=
          STRETTO_OK)
    return stretto_runtime_refuse(cudaErrorSymbolNotFound, "cudaLibraryGetKernel: %s",
                                  name_bytes > TALLY_PAYLOAD_BYTES ? "name too long" : error);
  const tally_message_t message = {.operation = TALLY_KERNEL,
                                   .payload_bytes = (uint32_t)name_bytes,
                                   .kernel = {.library = library->library}};
  tally_reply_t reply;
  const cudaError_t asked = client_call(client, "cudaLibraryGetKernel", &message, name, &reply);
  if (asked != cudaSuccess) return asked;
  *kernel =
      (cudaKernel_t)stretto_runtime_add_kernel(given, name, &descriptor, sizeof(struct CUkern_st));
  if (*kernel == NULL)
    return stretto_runtime_refuse(cudaErrorMemoryAllocation,
                                  "cudaLibraryGetKernel: no host memory");
  (*kernel)->kernel = reply.value[0];
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  CLIENT_OR_NEXT(cudaFuncGetAttributes, attributes, kernel);
  client_answered(client);
  const stretto_runtime_kernel_t* k = stretto_runtime_given_kernel(client->libraries, kernel);
  if (k == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                  "cudaFuncGetAttributes: %p is no kernel", kernel);
  if (attributes == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaFuncGetAttributes: null");
  *attributes = stretto_runtime_attributes(&k->descriptor);
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  CLIENT_OR_NEXT(cudaLaunchKernel, kernel, grid, block, arguments, shared_bytes, stream);
  const char* call = "cudaLaunchKernel";
  const stretto_runtime_kernel_t* k = stretto_runtime_given_kernel(client->libraries, kernel);
  if (k == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                  "%s: %p is no kernel of cudaLibraryGetKernel", call, kernel);
  const struct CUstream_st* s = client_stream(client, stream);
  if (s == NULL) return client_no_stream(call, stream);
  const cudaError_t error = stretto_runtime_check_launch(call, k->name, &k->descriptor, grid, block,
                                                         arguments, shared_bytes);
  if (error != cudaSuccess) return error;
  if (k->descriptor.kernarg_bytes > TALLY_PAYLOAD_BYTES)
    return stretto_runtime_refuse(cudaErrorInvalidValue,
                                  "%s: %.60s: %u bytes of arguments; a client sends at most %u",
                                  call, k->name, k->descriptor.kernarg_bytes, TALLY_PAYLOAD_BYTES);
  const tally_message_t message = {.operation = TALLY_LAUNCH,
                                   .stream = s->number,
                                   .payload_bytes = k->descriptor.kernarg_bytes,
                                   .launch = {.kernel = ((const struct CUkern_st*)k)->kernel,
                                              .grid_x = grid.x,
                                              .grid_y = grid.y,
                                              .grid_z = grid.z}};
  client_send(client, &message, arguments == NULL ? NULL : arguments[0]);
  return cudaSuccess;
}

cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream) {
  CLIENT_OR_NEXT(cudaLaunchCooperativeKernel, kernel, grid, block, arguments, shared_bytes, stream);
  client_answered(client);
  return stretto_runtime_refuse(cudaErrorNotSupported,
                                "cudaLaunchCooperativeKernel: a server that shares the GPU stops "
                                "kernels between work-groups");
}

cudaError_t cudaPipelineCreate(cudaPipeline_t* pipeline, unsigned flags) {
  CLIENT_OR_NEXT(cudaPipelineCreate, pipeline, flags);
  client_answered(client);
  return stretto_runtime_refuse(cudaErrorNotSupported,
                                "cudaPipelineCreate: a server that shares the GPU stops kernels "
                                "between work-groups");
}
