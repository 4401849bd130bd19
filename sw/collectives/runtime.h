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

#ifdef __cplusplus
extern "C" {
#endif

// Accounts (machine_types.h) of what a program asks for.
typedef struct stretto_runtime_accounts {
  uint32_t init;    // Fills.
  uint32_t reduce;  // Collectives that reduce, with all that their kernels do.
  uint32_t move;    // The others, sends, and copies of the DMA engine.
} stretto_runtime_accounts_t;

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
} stretto_runtime_options_t;

typedef struct stretto_runtime stretto_runtime_t;

// Where the first cudaMalloc of a program lies in each GPU's memory, as an offset.
uint64_t stretto_runtime_first_address(const stretto_runtime_options_t* options);

// Null: no host memory.
stretto_runtime_t* stretto_runtime_create(const stretto_runtime_options_t* options);
void stretto_runtime_destroy(stretto_runtime_t* runtime);

// Gives the runtime of the calling thread; set once, before any program starts.
void stretto_runtime_set_lookup(stretto_runtime_t* (*current)(void));

// The driver's stream behind one of cuda_runtime.h, and its client, for a program that uses both.
stretto_stream_t* stretto_runtime_stream(cudaStream_t stream, stretto_client_t** client);

// End of the device memory that the program was given, as an offset.
uint64_t stretto_runtime_memory_end(const stretto_runtime_t* runtime, uint32_t device);

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
