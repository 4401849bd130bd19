// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA runtime's interface that programs over nccl.h use: devices, memory, streams.
// Names and meaning are CUDA's; sw/collectives/README.md says what is simplified. C and C++.
#ifndef STRETTO_SW_INCLUDE_CUDA_RUNTIME_H_
#define STRETTO_SW_INCLUDE_CUDA_RUNTIME_H_

#ifdef __cplusplus
#include <cstddef>
extern "C" {
#else
#include <stddef.h>
#endif

typedef enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
} cudaError_t;

typedef enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
} cudaMemcpyKind;

typedef struct CUstream_st* cudaStream_t;  // Null: the default stream of the current device.

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);

cudaError_t cudaMalloc(void** pointer, size_t bytes);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMemset(void* pointer, int value, size_t bytes);
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
// Waits for the stream, then copies.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);

#define cudaStreamDefault 0u
#define cudaStreamNonBlocking 1u
cudaError_t cudaStreamCreate(cudaStream_t* stream);
// Lower numbers are served first; those outside of the range count as its ends.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaDeviceSynchronize(void);

// Stretto's own: the time of the machine in nanoseconds, for timing calls (synchronise first).
// Reading it takes no time. 0 outside of a host program.
unsigned long long stretto_time(void);

const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);

#ifdef __cplusplus
}  // extern "C"

// As in CUDA's C++ header.
template <class T>
cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
#endif

#endif  // STRETTO_SW_INCLUDE_CUDA_RUNTIME_H_
