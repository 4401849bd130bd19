// SPDX-License-Identifier: Apache-2.0
// The DMA engine: immediate fills and copies, and the command table of tracked output regions (T3
// 4.2.2).
#ifndef STRETTO_SW_FIRMWARE_HAL_DMA_H_
#define STRETTO_SW_FIRMWARE_HAL_DMA_H_

#include <stdbool.h>

#include "sw/firmware/hal/mmio.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DMA_REGIONS 128
#define DMA_QUEUE_DESCRIPTORS 16

typedef struct dma {
  uint64_t base;
} dma_t;

typedef struct dma_region {
  uint64_t base;       // Element (0, 0) of the output, in this GPU.
  uint64_t peer_base;  // The same element at the receiver; 0 = count completion only. With
                       // `in_place` in this GPU.
  uint64_t pitch;
  uint32_t m;
  uint32_t n;
  uint32_t tile_m;
  uint32_t tile_n;
  uint32_t tiles_n;
  uint32_t order;  // Of tiles, tile_order.h.
  uint32_t wavefronts;
  uint32_t first_tile;  // Tiles first_tile .. first_tile + tile_count - 1.
  uint32_t tile_count;
  uint32_t block_tiles;
  uint32_t element;  // ElementType.
  uint32_t account;  // Account.
  bool update;
  bool ready;     // All tiles are complete: send them now. Else they leave as they are triggered.
  bool in_place;  // With ready and update: operands for the memory of this GPU; nobody counts them.
  bool multiply;  // With in_place: memory multiplies instead of adding.
} dma_region_t;

// Enables interrupts for completed descriptors, regions and errors.
FW_MUST_CHECK fw_result_t dma_init(dma_t* dma);
// Starts a fill; `id` counts descriptors from 1. STRETTO_ERROR_ARGUMENT: not a multiple of 8, or no
// bytes; STRETTO_ERROR_TABLE_FULL: no free place in the queue, try again after a completion.
FW_MUST_CHECK fw_result_t dma_fill(const dma_t* dma, uint64_t address, uint64_t bytes,
                                   uint64_t pattern, uint32_t account, uint64_t* id);
// Starts a copy from memory of this GPU to any memory, in bytes; as dma_fill.
FW_MUST_CHECK fw_result_t dma_copy(const dma_t* dma, uint64_t destination, uint64_t source,
                                   uint64_t bytes, uint32_t account, uint64_t* id);
// All descriptors up to the returned id are complete.
uint64_t dma_completed(const dma_t* dma);
// Programs region `index` and makes it valid. STRETTO_ERROR_ARGUMENT: a field out of range or
// refused by the engine.
FW_MUST_CHECK fw_result_t dma_set_region(const dma_t* dma, uint32_t index,
                                         const dma_region_t* region);
FW_MUST_CHECK fw_result_t dma_clear_region(const dma_t* dma, uint32_t index);
// Adds regions that became done since the last call to done[2] and acknowledges them and queue
// completions.
void dma_take_done(const dma_t* dma, uint64_t done[2]);
// Errors since the last call, acknowledged; `info` is error_info (dma.yaml). 0 = none.
uint32_t dma_take_errors(const dma_t* dma, uint64_t* info);
const char* dma_error_name(uint32_t errors);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_HAL_DMA_H_
