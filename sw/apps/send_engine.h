// SPDX-License-Identifier: Apache-2.0
// The software engine for send requests (G-Drv-S; GD-SW-01, -02): a CPU thread that takes them from
// a ring in host memory, into which the kernels of one GPU store (send.h), and moves the data. It
// puts sends of contiguous memory together.
//
//   mover     who moves the data                            flags
//   gpu_dma   the DMA engine of the GPU (cudaMemcpy)        packets of the stream that copies, what
//             cuStreamWriteValue does: a store of the CPU could overtake the data (deviation from
//             GD-SW-03)
//   cpu_mmio  the thread's own loads and stores (GD-SW-04)  stores of the thread, behind those
//             or those of workers, each a part of a copy    ..., when all parts have left
//   cpu_dma   the DMA engine of the thread's processor      stores of the thread, when the engine says
//             (GD-FUTURE-03), several copies at a time      that the data have left
//
// The thread runs on the host, or on the processor of a SmartNIC (GD-FUTURE-01): ring and words lie in
// the memory of where it runs, and there is no driver of the GPU then.
#ifndef STRETTO_SW_APPS_SEND_ENGINE_H_
#define STRETTO_SW_APPS_SEND_ENGINE_H_

#include "sw/driver/stretto_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SEND_ENGINE_RING_BYTES (STRETTO_SEND_RING_DEPTH * 8u)
#define SEND_ENGINE_COPIES 32u  // By DMA engine or workers: so many may be under way; a word each.
#define SEND_ENGINE_SIGNAL_BYTES (SEND_ENGINE_COPIES * 8u)
#define SEND_ENGINE_PART_BYTES 1024u  // Of a copy that workers share; a multiple of lines.

typedef enum send_mover {
  SEND_MOVER_GPU_DMA,
  SEND_MOVER_CPU_MMIO,
  SEND_MOVER_CPU_DMA,
} send_mover_t;

typedef struct send_engine_buffer {
  uint64_t base;  // 48-bit; 0 = not registered.
  uint64_t bytes;
  uint32_t unit_shift;
} send_engine_buffer_t;

// What the ranks register before kernels send.
typedef struct send_engine_setup {
  uint64_t
      ring;  // Where the thread runs: SEND_ENGINE_RING_BYTES, zero. Kernels store to it as to a send window.
  send_mover_t mover;
  uint32_t account;  // Of its copies by the GPU, see machine_types.h.
  uint32_t workers;  // cpu_mmio: threads that move the data; 0 = this one.
  uint64_t signals;  // SEND_ENGINE_SIGNAL_BYTES where the thread runs, zero.
  uint64_t jobs;     // Likewise SEND_ENGINE_JOB_BYTES, of the workers.
  uint64_t stop;     // Word of host memory: not 0 = the engine ends when the ring is empty.
  uint64_t replica;  // Head replica, in the GPU.
  uint64_t sc;       // Array of send flags, in the GPU.
  uint64_t rc[STRETTO_SEND_CONNECTIONS];  // Arrays of receive flags, at the peers.
  send_engine_buffer_t buffer[STRETTO_SEND_BUFFERS];
  // STRETTO_SEND_RING_DEPTH of them, by slot: when the engine last found a request there. Null: not noted.
  uint64_t* found_ns;
} send_engine_setup_t;

typedef struct send_engine_counts {
  uint64_t sends;
  uint64_t copies;
  uint64_t bytes;
} send_engine_counts_t;

// The thread. `client` is its own, on the sender's GPU. Returns at the stop word or with an error,
// of which `error` (256 bytes) gets one line: a request that names what is not registered
// (STRETTO_ERROR_ARGUMENT) touches no memory.
stretto_status_t send_engine_run(const send_engine_setup_t* setup, stretto_client_t* client,
                                 send_engine_counts_t* counts, char* error);

// What a worker is given: SEND_ENGINE_COPIES of them, for copy n worker n % workers.
typedef struct send_engine_job {
  uint64_t to, from, bytes;
  uint64_t number;  // Of the copy, from 1 on; written last. SEND_ENGINE_END: there are no more.
} send_engine_job_t;
#define SEND_ENGINE_JOB_BYTES (SEND_ENGINE_COPIES * sizeof(send_engine_job_t))
#define SEND_ENGINE_END UINT64_MAX

// A worker: moves the copies of its number until the engine's thread ends, which it does not outlive.
void send_engine_worker(const send_engine_setup_t* setup, uint32_t worker,
                        const stretto_host_ops_t* ops);

// A word of host memory, read by one poll.
uint64_t send_engine_load(const stretto_host_ops_t* ops, uint64_t address);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_SEND_ENGINE_H_
