// SPDX-License-Identifier: Apache-2.0
// The software engine for send requests (G-Drv-S; GD-SW-01, -02): a CPU thread that takes them from
// a ring in host memory, into which the kernels of one GPU store (send.h), and has the GPU's DMA
// engine copy. It puts sends of contiguous memory together. Flags are packets of the stream that
// copies, what cuStreamWriteValue does: a store of the CPU could overtake the data (deviation from
// GD-SW-03).
#ifndef STRETTO_SW_APPS_SEND_ENGINE_H_
#define STRETTO_SW_APPS_SEND_ENGINE_H_

#include "sw/driver/stretto_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SEND_ENGINE_RING_BYTES (STRETTO_SEND_RING_DEPTH * 8u)

typedef struct send_engine_buffer {
  uint64_t base;  // 48-bit; 0 = not registered.
  uint64_t bytes;
  uint32_t unit_shift;
} send_engine_buffer_t;

// What the ranks register before kernels send.
typedef struct send_engine_setup {
  uint64_t
      ring;  // In host memory: SEND_ENGINE_RING_BYTES, zero. Kernels store to it as to a send window.
  uint32_t account;  // Of its copies, see machine_types.h.
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
} send_engine_counts_t;

// The thread. `client` is its own, on the sender's GPU. Returns at the stop word or with an error,
// of which `error` (256 bytes) gets one line: a request that names what is not registered
// (STRETTO_ERROR_ARGUMENT) touches no memory.
stretto_status_t send_engine_run(const send_engine_setup_t* setup, stretto_client_t* client,
                                 send_engine_counts_t* counts, char* error);

// A word of host memory, read by one poll.
uint64_t send_engine_load(const stretto_host_ops_t* ops, uint64_t address);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_SEND_ENGINE_H_
