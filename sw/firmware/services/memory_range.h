// SPDX-License-Identifier: Apache-2.0
// Whether addresses lie in memory of a GPU or of the host, or in a card's window.
#ifndef STRETTO_SW_FIRMWARE_SERVICES_MEMORY_RANGE_H_
#define STRETTO_SW_FIRMWARE_SERVICES_MEMORY_RANGE_H_

#include <stdbool.h>

#include "sw/firmware/hal/mmio.h"
#include "sw/include/formats/card.h"

static inline uint64_t node_of(uint64_t address) { return address >> STRETTO_NODE_SHIFT; }

// All of [address, address + bytes) is memory of GPU `gpu`.
static inline bool in_gpu_memory(uint64_t address, uint64_t bytes, unsigned gpu) {
  const uint64_t offset = address & STRETTO_OFFSET_MASK;
  return node_of(address) == gpu + 1 && offset < STRETTO_GPU_MEMORY_LIMIT &&
         bytes <= STRETTO_GPU_MEMORY_LIMIT - offset;
}

// All of it is memory of some other GPU.
static inline bool in_peer_memory(uint64_t address, uint64_t bytes, unsigned gpu) {
  const uint64_t node = node_of(address);
  return node >= 1 && node <= STRETTO_MAX_GPUS && node != gpu + 1 &&
         in_gpu_memory(address, bytes, (unsigned)node - 1);
}

// All of it is host memory.
static inline bool in_host_memory(uint64_t address, uint64_t bytes) {
  return node_of(address) == STRETTO_NODE_HOST &&
         bytes <= STRETTO_OFFSET_MASK + 1ull - (address & STRETTO_OFFSET_MASK);
}

// All of it is the send window of the DMA card that serves GPU `gpu`.
static inline bool in_card_window(uint64_t address, uint64_t bytes, unsigned gpu) {
  const uint64_t offset = address & STRETTO_OFFSET_MASK;
  return node_of(address) == STRETTO_NODE_CARD + gpu && offset >= STRETTO_SEND_APERTURE &&
         offset - STRETTO_SEND_APERTURE < STRETTO_SEND_APERTURE_BYTES &&
         bytes <= STRETTO_SEND_APERTURE_BYTES - (offset - STRETTO_SEND_APERTURE);
}

#endif  // STRETTO_SW_FIRMWARE_SERVICES_MEMORY_RANGE_H_
