// SPDX-License-Identifier: Apache-2.0
// A library to preload: sees every cudaMalloc() of a program and hands it on.
#define _GNU_SOURCE
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  cudaError_t (*next)(void**, size_t);
  *(void**)&next = dlsym(RTLD_NEXT, "cudaMalloc");
  const cudaError_t error = next(pointer, bytes);
  printf("interposer: cudaMalloc of %zu bytes gave %d\n", bytes, (int)error);
  return error;
}
