// SPDX-License-Identifier: Apache-2.0
// The DMA engine: see dma.h.
#include "sw/firmware/hal/dma.h"

#include <stddef.h>

#include "sw/include/regs/dma_regs.h"  // Generated.
#include "sw/include/tile_order.h"

STRETTO_STATIC_ASSERT(DMA_REGIONS == DMA_REGION_BASE_COUNT, "as many as the engine has");

#define ALL_ERRORS DMA_ERROR_ENABLE_BITS_MASK

fw_result_t dma_init(dma_t* dma) {
  if (dma == NULL) return STRETTO_ERROR_ARGUMENT;
  dma->base = STRETTO_DMA_BASE;
  mmio_write64(dma->base + DMA_ERROR_ENABLE_OFFSET, ALL_ERRORS);
  mmio_write64(dma->base + DMA_REGION_IRQ_ENABLE_OFFSET_AT(0), ~0ull);
  mmio_write64(dma->base + DMA_REGION_IRQ_ENABLE_OFFSET_AT(1), ~0ull);
  mmio_write64(dma->base + DMA_IRQ_ENABLE_OFFSET, DMA_IRQ_ENABLE_QUEUE_DONE_MASK);
  return STRETTO_OK;
}

fw_result_t dma_fill(const dma_t* dma, uint64_t address, uint64_t bytes, uint64_t pattern,
                     uint32_t account, uint64_t* id) {
  if (dma == NULL || id == NULL) return STRETTO_ERROR_ARGUMENT;
  if (bytes == 0 || bytes % 8 != 0 || address % 8 != 0 || bytes > DMA_QUEUE_BYTES_BYTES_MASK)
    return STRETTO_ERROR_ARGUMENT;
  const uint64_t status = mmio_read64(dma->base + DMA_QUEUE_STATUS_OFFSET);
  if (STRETTO_FIELD_GET(status, DMA_QUEUE_STATUS_FREE) == 0) return STRETTO_ERROR_TABLE_FULL;
  mmio_write64(dma->base + DMA_QUEUE_DESTINATION_OFFSET, address);
  mmio_write64(dma->base + DMA_QUEUE_BYTES_OFFSET, bytes);
  mmio_write64(dma->base + DMA_QUEUE_PATTERN_OFFSET, pattern);
  mmio_write64(dma->base + DMA_QUEUE_PUSH_OFFSET,
               STRETTO_FIELD(DMA_QUEUE_PUSH_KIND, DMA_QUEUE_PUSH_KIND_FILL) |
                   STRETTO_FIELD(DMA_QUEUE_PUSH_ACCOUNT, account) | DMA_QUEUE_PUSH_INTERRUPT_MASK);
  *id = mmio_read64(dma->base + DMA_QUEUE_PUSHED_OFFSET);
  return STRETTO_OK;
}

fw_result_t dma_copy(const dma_t* dma, uint64_t destination, uint64_t source, uint64_t bytes,
                     uint32_t account, uint64_t* id) {
  if (dma == NULL || id == NULL) return STRETTO_ERROR_ARGUMENT;
  if (bytes == 0 || bytes > DMA_QUEUE_BYTES_BYTES_MASK) return STRETTO_ERROR_ARGUMENT;
  const uint64_t status = mmio_read64(dma->base + DMA_QUEUE_STATUS_OFFSET);
  if (STRETTO_FIELD_GET(status, DMA_QUEUE_STATUS_FREE) == 0) return STRETTO_ERROR_TABLE_FULL;
  mmio_write64(dma->base + DMA_QUEUE_SOURCE_OFFSET, source);
  mmio_write64(dma->base + DMA_QUEUE_DESTINATION_OFFSET, destination);
  mmio_write64(dma->base + DMA_QUEUE_BYTES_OFFSET, bytes);
  mmio_write64(dma->base + DMA_QUEUE_PUSH_OFFSET,
               STRETTO_FIELD(DMA_QUEUE_PUSH_KIND, DMA_QUEUE_PUSH_KIND_COPY) |
                   STRETTO_FIELD(DMA_QUEUE_PUSH_ACCOUNT, account) | DMA_QUEUE_PUSH_INTERRUPT_MASK);
  *id = mmio_read64(dma->base + DMA_QUEUE_PUSHED_OFFSET);
  return STRETTO_OK;
}

uint64_t dma_completed(const dma_t* dma) {
  return mmio_read64(dma->base + DMA_QUEUE_COMPLETED_OFFSET);
}

fw_result_t dma_set_region(const dma_t* dma, uint32_t index, const dma_region_t* region) {
  if (dma == NULL || region == NULL || index >= DMA_REGIONS) return STRETTO_ERROR_ARGUMENT;
  if (region->tile_count == 0 || region->first_tile + region->tile_count > 65536)
    return STRETTO_ERROR_ARGUMENT;
  if (region->wavefronts == 0 || region->wavefronts > 8 ||
      region->tile_m % region->wavefronts != 0) {
    return STRETTO_ERROR_ARGUMENT;
  }
  if (region->m == 0 || region->n == 0 || region->tiles_n == 0 || region->block_tiles > 65535 ||
      region->order >= TILE_ORDER_CODES)
    return STRETTO_ERROR_ARGUMENT;
  mmio_write64(dma->base + DMA_REGION_RANGE_OFFSET_AT(index),
               STRETTO_FIELD(DMA_REGION_RANGE_FIRST_WG, region->first_tile) |
                   STRETTO_FIELD(DMA_REGION_RANGE_WG_COUNT, region->tile_count));
  mmio_write64(dma->base + DMA_REGION_BASE_OFFSET_AT(index), region->base);
  mmio_write64(dma->base + DMA_REGION_PEER_OFFSET_AT(index), region->peer_base);
  mmio_write64(dma->base + DMA_REGION_PITCH_OFFSET_AT(index), region->pitch);
  mmio_write64(
      dma->base + DMA_REGION_SIZE_OFFSET_AT(index),
      STRETTO_FIELD(DMA_REGION_SIZE_M, region->m) | STRETTO_FIELD(DMA_REGION_SIZE_N, region->n));
  mmio_write64(dma->base + DMA_REGION_TILE_OFFSET_AT(index),
               STRETTO_FIELD(DMA_REGION_TILE_TILE_M, region->tile_m) |
                   STRETTO_FIELD(DMA_REGION_TILE_TILE_N, region->tile_n) |
                   STRETTO_FIELD(DMA_REGION_TILE_TILES_N, region->tiles_n));
  mmio_write64(dma->base + DMA_REGION_WAVEFRONTS_OFFSET_AT(index),
               STRETTO_FIELD(DMA_REGION_WAVEFRONTS_COUNT, region->wavefronts) |
                   STRETTO_FIELD(DMA_REGION_WAVEFRONTS_ORDER, region->order) |
                   STRETTO_FIELD(DMA_REGION_WAVEFRONTS_ROWS, region->tile_m / region->wavefronts));
  // Control last: it makes the region valid.
  mmio_write64(dma->base + DMA_REGION_CONTROL_OFFSET_AT(index),
               DMA_REGION_CONTROL_VALID_MASK |
                   STRETTO_FIELD(DMA_REGION_CONTROL_OPERATION,
                                 region->update ? DMA_REGION_CONTROL_OPERATION_UPDATE
                                                : DMA_REGION_CONTROL_OPERATION_STORE) |
                   STRETTO_FIELD(DMA_REGION_CONTROL_TRACKED, !region->in_place) |
                   STRETTO_FIELD(DMA_REGION_CONTROL_READY, region->ready) |
                   STRETTO_FIELD(DMA_REGION_CONTROL_MULTIPLY, region->multiply) |
                   STRETTO_FIELD(DMA_REGION_CONTROL_ELEMENT, region->element) |
                   STRETTO_FIELD(DMA_REGION_CONTROL_ACCOUNT, region->account) |
                   STRETTO_FIELD(DMA_REGION_CONTROL_BLOCK_TILES, region->block_tiles));
  const uint64_t control = mmio_read64(dma->base + DMA_REGION_CONTROL_OFFSET_AT(index));
  return (control & DMA_REGION_CONTROL_VALID_MASK) != 0 ? STRETTO_OK : STRETTO_ERROR_ARGUMENT;
}

fw_result_t dma_clear_region(const dma_t* dma, uint32_t index) {
  if (dma == NULL || index >= DMA_REGIONS) return STRETTO_ERROR_ARGUMENT;
  mmio_write64(dma->base + DMA_REGION_CONTROL_OFFSET_AT(index), 0);
  return STRETTO_OK;
}

void dma_take_done(const dma_t* dma, uint64_t done[2]) {
  // Acknowledged before anybody looks at the queue's ids: a completion in between raises the line
  // again.
  mmio_write64(dma->base + DMA_QUEUE_STATUS_OFFSET, DMA_QUEUE_STATUS_DONE_MASK);
  for (uint32_t i = 0; i < DMA_REGION_DONE_COUNT; ++i) {
    const uint64_t bits = mmio_read64(dma->base + DMA_REGION_DONE_OFFSET_AT(i));
    if (bits != 0) mmio_write64(dma->base + DMA_REGION_DONE_OFFSET_AT(i), bits);
    done[i] |= bits;
  }
}

uint32_t dma_take_errors(const dma_t* dma, uint64_t* info) {
  const uint64_t errors = mmio_read64(dma->base + DMA_ERROR_OFFSET) & ALL_ERRORS;
  if (errors == 0) return 0;
  *info = mmio_read64(dma->base + DMA_ERROR_INFO_OFFSET);
  mmio_write64(dma->base + DMA_ERROR_OFFSET, errors);
  return (uint32_t)errors;
}

const char* dma_error_name(uint32_t errors) {
  if ((errors & DMA_ERROR_BAD_DESCRIPTOR_MASK) != 0) return "bad descriptor";
  if ((errors & DMA_ERROR_QUEUE_FULL_MASK) != 0) return "queue full";
  if ((errors & DMA_ERROR_BAD_REGION_MASK) != 0) return "bad region";
  if ((errors & DMA_ERROR_NO_REGION_MASK) != 0) return "trigger without region";
  if ((errors & DMA_ERROR_REPEATED_TRIGGER_MASK) != 0) return "repeated trigger";
  if ((errors & DMA_ERROR_RESPONSE_MASK) != 0) return "error response";
  return "none";
}
