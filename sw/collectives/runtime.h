// SPDX-License-Identifier: Apache-2.0
// What stands behind cuda_runtime.h and nccl.h: one runtime a host program (a thread of the
// modelled host), with a driver client for each GPU that the program uses. The platform makes one,
// says which one the calling thread has, and asks it where the program stands.
//
// Programs that share a GPU have other queues and memory there.
#ifndef STRETTO_SW_COLLECTIVES_RUNTIME_H_
#define STRETTO_SW_COLLECTIVES_RUNTIME_H_

#include "sw/driver/stretto_driver.h"
#include "sw/include/cuda_runtime.h"
#include "sw/include/formats/collective.h"
#include "sw/include/nccl.h"
#include "sw/net/symmetric.h"

#ifdef __cplusplus
extern "C" {
#endif

// Accounts (machine_types.h) of what a program asks for.
typedef struct stretto_runtime_accounts {
  uint32_t init;     // Fills.
  uint32_t reduce;   // Collectives that reduce, with all that their kernels do.
  uint32_t move;     // The others, sends, and copies of the DMA engine.
  uint32_t kernels;  // Of cudaLaunchKernel.
} stretto_runtime_accounts_t;

// What a program that is a PE needs for the host's calls of shmem.h (sw/net/symmetric.h).
typedef struct stretto_runtime_network {
  uint32_t server;   // The PE, whose GPU is device 0,
  uint32_t servers;  // of so many; 0: the program is none.
  uint64_t memory;   // Of the host, for its cluster.
  uint64_t heap_bytes;
  // Threads of the host serve, and not harts: what lies where in host memory, see symmetric.h.
  int by_host;
  uint64_t service;
  uint64_t entries;
  uint32_t threads;
  uint32_t poll_rounds;
  uint32_t handle_flags;
  uint32_t table_flags;
} stretto_runtime_network_t;

typedef struct stretto_runtime_options {
  stretto_host_ops_t ops;
  uint32_t gpus;  // Of the machine.
  // What the program sees, as its devices 0, 1, ...
  uint32_t devices;
  uint8_t device_gpu[STRETTO_MAX_GPUS];
  uint32_t job;        // Number of its job (queue.h): programs of different ones do not meet.
  uint8_t neighbours;  // 1: links only between GPUs g and g + 1, and the last and the first.
  stretto_client_options_t client;  // Of each GPU; `gpu` is not used.
  // Communicators; the same in all programs.
  uint8_t engine;     // STRETTO_ENGINE_*.
  uint8_t links;      // STRETTO_LINKS_*: the algorithm.
  uint32_t channels;  // At most so many; gdma: at most 16 links a GPU.
  // Bytes of a rank's block that a channel of a collective has at least; 0: 8 KiB bring another one.
  uint32_t channel_bytes;
  uint32_t channel_ns;  // CPU time of a channel that is launched.
  uint32_t slots;
  uint32_t slot_bytes;
  // mmio: what a link carries a hop by protocol ll at most, in bytes; 0 = nothing.
  uint32_t lines_bytes;
  // What a work-group of a copy kernel (mmio) holds at least; 0 = what its descriptor says.
  uint32_t copy_registers_bytes;
  stretto_runtime_accounts_t accounts;
  const void* kernels;  // collective.elf.
  size_t kernel_bytes;
  // Where in host memory the program reaches a server that has the devices for it, through a library
  // that is preloaded; 0: it has them itself.
  uint64_t server_channel;
  int high_priority;  // What it is to the server.
  stretto_runtime_network_t network;
} stretto_runtime_options_t;

typedef struct stretto_runtime stretto_runtime_t;

// Where the first cudaMalloc of a program lies in each GPU's memory, as an offset.
uint64_t stretto_runtime_first_address(const stretto_runtime_options_t* options);

// Null: no host memory.
stretto_runtime_t* stretto_runtime_create(const stretto_runtime_options_t* options);
void stretto_runtime_destroy(stretto_runtime_t* runtime);

// Gives the runtime of the calling thread; set once, before any program starts.
void stretto_runtime_set_lookup(stretto_runtime_t* (*current)(void));

// For libraries that are preloaded: what they know of the calling program.
typedef struct stretto_runtime_layer {
  const stretto_host_ops_t* ops;
  uint64_t server_channel;
  int high_priority;
  // The library's own, null at first. `end` is called when the program has ended, however that was,
  // and may take machine time.
  void* state;
  void (*end)(struct stretto_runtime_layer* layer);
  // What it counts: calls that it answered itself; when it has ended, messages that it sent.
  uint64_t answered;
  uint64_t messages;
  uint64_t message_bytes;
} stretto_runtime_layer_t;
// Null outside of a host program.
stretto_runtime_layer_t* stretto_runtime_layer(void);
// Keeps an error of such a library as if it were a call's of this one, and returns it.
__attribute__((format(printf, 2, 3))) cudaError_t stretto_runtime_refuse(cudaError_t error,
                                                                         const char* format, ...);
// What calls with the same names share with it. Each refuses with a line that begins with `call`.
uint32_t stretto_runtime_priority(int priority);  // Of the driver, for one of a stream.
cudaError_t stretto_runtime_check_stream(const cudaStream_t* stream, unsigned flags);
cudaError_t stretto_runtime_check_event(const cudaEvent_t* event, unsigned flags);
cudaError_t stretto_runtime_check_library(const char* call, const cudaLibrary_t* library,
                                          const void* from, unsigned jit_count,
                                          unsigned library_count);
cudaFuncAttributes stretto_runtime_attributes(const stretto_kernel_descriptor_t* descriptor);
cudaError_t stretto_runtime_check_launch(const char* call, const char* kernel,
                                         const stretto_kernel_descriptor_t* descriptor, dim3 grid,
                                         dim3 block, void* const* arguments, size_t shared_bytes);
// Whether a copy is from and to a device: as `kind` says, or as the addresses do, of which the caller knows
// whether they are a device's.
typedef struct stretto_runtime_direction {
  int from_device;
  int to_device;
} stretto_runtime_direction_t;
cudaError_t stretto_runtime_check_copy(const char* call, const void* to, int to_is_device,
                                       const void* from, int from_is_device, uint64_t bytes,
                                       cudaMemcpyKind kind, stretto_runtime_direction_t* direction);
// [begin, end) of a set: words of 8 bytes from `whole` to `whole_end`, and bytes before and behind them.
typedef struct stretto_runtime_set {
  uint64_t begin, whole, whole_end, end;
  uint8_t bytes[8];
  uint64_t pattern;
} stretto_runtime_set_t;
stretto_runtime_set_t stretto_runtime_split_set(const void* pointer, int value, uint64_t bytes);

// What cudaMallocHost and cudaFreeHost do.
cudaError_t stretto_runtime_malloc_host(void** pointer, size_t bytes);
cudaError_t stretto_runtime_free_host(void* pointer);

// Ends the layer's part. In the thread of the program, before stretto_runtime_destroy().
void stretto_runtime_end_layer(stretto_runtime_t* runtime);

// Libraries that a program has loaded, and kernels that it has asked for: first fields of whoever keeps them.
struct stretto_runtime_library;
typedef struct stretto_runtime_kernel {
  struct stretto_runtime_kernel* next;  // Of the library.
  struct stretto_runtime_library* library;
  char* name;
  stretto_kernel_descriptor_t descriptor;  // Not relocated.
} stretto_runtime_kernel_t;
typedef struct stretto_runtime_library {
  struct stretto_runtime_library* next;
  void* elf;
  size_t bytes;
  stretto_runtime_kernel_t* kernels;
} stretto_runtime_library_t;
// Takes `elf`, allocated by malloc, into the list; the whole has `struct_bytes`. Null: no host memory.
stretto_runtime_library_t* stretto_runtime_add_library(stretto_runtime_library_t** list, void* elf,
                                                       size_t bytes, size_t struct_bytes);
stretto_runtime_kernel_t* stretto_runtime_add_kernel(stretto_runtime_library_t* library,
                                                     const char* name,
                                                     const stretto_kernel_descriptor_t* descriptor,
                                                     size_t struct_bytes);
// Null: it is none of the list, or of the library.
stretto_runtime_library_t* stretto_runtime_given_library(stretto_runtime_library_t* list,
                                                         const void* library);
stretto_runtime_kernel_t* stretto_runtime_given_kernel(stretto_runtime_library_t* list,
                                                       const void* kernel);
stretto_runtime_kernel_t* stretto_runtime_named_kernel(stretto_runtime_library_t* library,
                                                       const char* name);
// REQUIRES: it is of the list.
void stretto_runtime_remove_library(stretto_runtime_library_t** list,
                                    stretto_runtime_library_t* library);
void stretto_runtime_remove_libraries(stretto_runtime_library_t** list);

// The driver's stream behind one of cuda_runtime.h, and its client, for a program that uses both.
stretto_stream_t* stretto_runtime_stream(cudaStream_t stream, stretto_client_t** client);

// End of the device memory that the program was given, as an offset.
uint64_t stretto_runtime_memory_end(const stretto_runtime_t* runtime, uint32_t device);

// As cudaMalloc, but cached whatever the engine: for what no collective moves.
cudaError_t stretto_runtime_malloc_cached(void** pointer, size_t bytes);

// The symmetric memory that the program has opened or had; null: none. Until it is closed
// `is_open` is 1.
const stretto_symmetric_options_t* stretto_runtime_symmetric(const stretto_runtime_t* runtime,
                                                             int* is_open);

// Where the program stands, in words, for a report of a deadlock; "" outside of communication.
const char* stretto_runtime_position(const stretto_runtime_t* runtime);

// What the last call that failed had to say; "" if none has.
const char* stretto_runtime_last_error(const stretto_runtime_t* runtime);

// What a result of nccl.h or cuda_runtime.h means for the calling program, as a status of the
// driver; `error` (256 bytes) gets one line if it is not STRETTO_OK.
stretto_status_t stretto_runtime_outcome(ncclResult_t result, char* error);
stretto_status_t stretto_runtime_cuda_outcome(cudaError_t result, const char* call, char* error);

// Groups that are open.
int stretto_runtime_group_depth(const stretto_runtime_t* runtime);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_COLLECTIVES_RUNTIME_H_
