// SPDX-License-Identifier: Apache-2.0
// The part of CUDA 12's runtime interface that host programs have: devices, memory, streams, events,
// kernels of libraries. Names and meaning are CUDA's; sw/collectives/README.md says what is simplified.
// C and C++. A call that fails returns a code and keeps one line that names the culprit:
// stretto_error_text().
#ifndef STRETTO_SW_INCLUDE_CUDA_RUNTIME_H_
#define STRETTO_SW_INCLUDE_CUDA_RUNTIME_H_

#ifdef __cplusplus
#include <cstddef>
extern "C" {
#else
#include <stddef.h>
#endif

#include "machine_time.h"

typedef enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidKernelImage = 200,
  cudaErrorFileNotFound = 301,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorSymbolNotFound = 500,
  cudaErrorNotReady = 600,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
} cudaError_t;

// One line for people: what the last call that failed had to say, "" if none has. In a thread that the program
// made, where all calls fail: why.
const char* stretto_error_text(void);
const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);

// Devices

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceSynchronize(void);

// Streams. Null: the default stream of the current device, a stream like the others.

typedef struct CUstream_st* cudaStream_t;

#define cudaStreamDefault 0u
#define cudaStreamNonBlocking 1u
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
// Lower numbers are served first; those outside of the range count as its ends.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
// cudaErrorNotReady: what was submitted is not done.
cudaError_t cudaStreamQuery(cudaStream_t stream);

// Events. Their times are those of the command processor's clock when all before them was done.

typedef struct CUevent_st* cudaEvent_t;

#define cudaEventDefault 0u
#define cudaEventBlockingSync 1u
#define cudaEventDisableTiming 2u
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
// An event that was never recorded is done.
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
// Milliseconds. Both events were recorded, with times; cudaErrorNotReady: one is not done.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaEventDestroy(cudaEvent_t event);
// What follows in `stream` starts when the event, as it was recorded last, is done. `flags`: 0.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);

// Memory

typedef enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,  // As the addresses say.
} cudaMemcpyKind;

cudaError_t cudaMalloc(void** pointer, size_t bytes);
cudaError_t cudaFree(void* pointer);
// Of the host; all host memory counts as pinned. cudaFreeHost refuses what cudaMallocHost has not given.
cudaError_t cudaMallocHost(void** pointer, size_t bytes);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaMemset(void* pointer, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
// Does not wait for the stream. What is copied to a device is read before the call returns; what is
// copied to the host is there when a call has found the stream, or an event behind the copy, done.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);

// Kernels: those of an ELF that stretto-kernel has built.

typedef struct CUlib_st* cudaLibrary_t;
typedef struct CUkern_st* cudaKernel_t;
typedef enum cudaJitOption { cudaJitMaxRegisters = 0 } cudaJitOption;  // None has an effect.
typedef enum cudaLibraryOption {
  cudaLibraryHostUniversalFunctionAndDataTable = 0
} cudaLibraryOption;

typedef struct dim3 {
  unsigned x, y, z;
#ifdef __cplusplus
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
#endif
} dim3;

typedef struct cudaFuncAttributes {
  size_t sharedSizeBytes;  // LDS of a work-group.
  size_t constSizeBytes;   // Arguments.
  size_t localSizeBytes;   // Private memory of a wavefront.
  int maxThreadsPerBlock;  // Wavefronts of a work-group.
  int numRegs;             // Of 4 bytes, of a wavefront.
} cudaFuncAttributes;

// `code`: the whole ELF. There are no options: their numbers must be 0.
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code,
                                cudaJitOption* jit_options, void** jit_values, unsigned jit_count,
                                cudaLibraryOption* library_options, void** library_values,
                                unsigned library_count);
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file,
                                    cudaJitOption* jit_options, void** jit_values,
                                    unsigned jit_count, cudaLibraryOption* library_options,
                                    void** library_values, unsigned library_count);
// Its kernels may be launched no longer; what runs goes on.
cudaError_t cudaLibraryUnload(cudaLibrary_t library);
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);

// `kernel`: a cudaKernel_t. A kernel of Stretto has one argument, its structure, so arguments[0] is the
// address of that one. A thread is a wavefront: `block` is {wavefronts of the kernel, 1, 1}. LDS is what
// the kernel declares: shared_bytes is 0.
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream);
// All work-groups are on the device at the same time. What does not fit fails when it is waited for.
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream);

// Pipelines: kernels that are on the device at the same time and pass tiles through queues in the L2
// (tile_queue.h). Calls are those of CUDA Graphs with another word, as in Kitsune (arXiv 2502.18403, 4.2, Fig 6).
// Work-groups are placed all or none; what never fits fails when it is waited for.

typedef struct CUpipeline_st* cudaPipeline_t;
typedef struct CUpipelineNode_st* cudaPipelineNode_t;
typedef struct CUpipelineExec_st* cudaPipelineExec_t;

// What a kernel needs most of a unit; each type has a round-robin arbiter of its own.
typedef enum cudaPipelineKernelType {
  cudaPipelineKernelTypeDeclared = 0,  // As the kernel says.
  cudaPipelineKernelTypeSimt = 1,
  cudaPipelineKernelTypeTensor = 2
} cudaPipelineKernelType;

typedef struct cudaPipelineKernelNodeParams {
  const void* func;  // These as in cudaLaunchKernel. Arguments are copied.
  dim3 gridDim, blockDim;
  size_t sharedMemBytes;
  void** kernelParams;
  cudaPipelineKernelType type;
} cudaPipelineKernelNodeParams;

// `flags` here and below: 0.
cudaError_t cudaPipelineCreate(cudaPipeline_t* pipeline, unsigned flags);
// Of a pipeline at most 32. `dependencies`: whose queues it reads.
cudaError_t cudaPipelineAddKernelNode(cudaPipelineNode_t* node, cudaPipeline_t pipeline,
                                      const cudaPipelineNode_t* dependencies, size_t count,
                                      const cudaPipelineKernelNodeParams* parameters);
// to[i] reads a queue of from[i]: its work-groups begin behind those. Queues say when there is something to read.
cudaError_t cudaPipelineAddDependencies(cudaPipeline_t pipeline, const cudaPipelineNode_t* from,
                                        const cudaPipelineNode_t* to, size_t count);
// A copy that can be launched as often as wanted. Dependencies have no cycle.
cudaError_t cudaPipelineInstantiate(cudaPipelineExec_t* exec, cudaPipeline_t pipeline,
                                    unsigned flags);
cudaError_t cudaPipelineLaunch(cudaPipelineExec_t exec, cudaStream_t stream);
cudaError_t cudaPipelineExecDestroy(cudaPipelineExec_t exec);
cudaError_t cudaPipelineDestroy(cudaPipeline_t pipeline);

// Lines that stay in the L2.

typedef enum cudaDeviceAttr { cudaDevAttrMaxPersistingL2CacheSize = 108 } cudaDeviceAttr;
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
typedef enum cudaLimit { cudaLimitPersistingL2CacheSize = 6 } cudaLimit;
// What persisting lines may have of the L2, in whole ways; 0 at first.
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
typedef enum cudaAccessProperty {
  cudaAccessPropertyNormal = 0,
  cudaAccessPropertyPersisting = 2
} cudaAccessProperty;
typedef struct cudaAccessPolicyWindow {
  void* base_ptr;  // Multiples of 128, both.
  size_t num_bytes;
  float hitRatio;               // 1.
  cudaAccessProperty hitProp;   // Normal: they persist no longer.
  cudaAccessProperty missProp;  // Normal.
} cudaAccessPolicyWindow;
typedef enum cudaStreamAttrID { cudaStreamAttributeAccessPolicyWindow = 1 } cudaStreamAttrID;
typedef union cudaStreamAttrValue {
  cudaAccessPolicyWindow accessPolicyWindow;
} cudaStreamAttrValue;
// From here on in the stream, for all of the device, until another call or a reset ends it; at most 4 windows.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value);
cudaError_t cudaCtxResetPersistingL2Cache(void);

#ifdef __cplusplus
}  // extern "C"

// As in CUDA's C++ header.
template <class T>
cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes) {
  return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes);
}
// The defaults that CUDA's has.
inline cudaError_t cudaEventRecord(cudaEvent_t event) { return cudaEventRecord(event, nullptr); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event) {
  return cudaStreamWaitEvent(stream, event, 0);
}
#endif

#endif  // STRETTO_SW_INCLUDE_CUDA_RUNTIME_H_
