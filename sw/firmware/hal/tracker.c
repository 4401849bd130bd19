// SPDX-License-Identifier: Apache-2.0
// The Tracker: see tracker.h. FIRMWARE_EARLY_TRIGGER: one that triggers a row too early.
#include "sw/firmware/hal/tracker.h"

#include <stddef.h>

#include "sw/include/formats/tracker_count.h"
#include "sw/include/regs/hbm_regs.h"      // Generated.
#include "sw/include/regs/tracker_regs.h"  // Generated.
#include "sw/include/tile_order.h"

#define MAX_TILES 65536u
#define MAX_WAVEFRONTS 8u
#define RECIPROCAL_ONE (1u << 24)
#define SPILL_BANK 0x1000

static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

fw_result_t tracker_init(tracker_t* tracker) {
  if (tracker == NULL) return STRETTO_ERROR_ARGUMENT;
  tracker->base = STRETTO_TRACKER_BASE;
  tracker->spill_base = STRETTO_TRACKER_BASE + SPILL_BANK;
  return STRETTO_OK;
}

fw_result_t tracker_stop(const tracker_t* tracker) {
  if (tracker == NULL) return STRETTO_ERROR_ARGUMENT;
  const uint64_t status = mmio_read64(tracker->base + TRACKER_STATUS_OFFSET);
  if (STRETTO_FIELD_GET(status, TRACKER_STATUS_BUSY) != 0) return STRETTO_ERROR_STATE;
  mmio_write64(tracker->base + TRACKER_CONTROL_OFFSET, 0);
  mmio_write64(tracker->base + TRACKER_CLEAR_OFFSET, 1);
  return STRETTO_OK;
}

fw_result_t tracker_set_spill_table(const tracker_t* tracker, uint64_t base, uint64_t bytes) {
  if (tracker == NULL || base % 64 != 0 || bytes > SPILL_BYTES_BYTES_MASK)
    return STRETTO_ERROR_ARGUMENT;
  mmio_write64(tracker->spill_base + SPILL_BASE_OFFSET, base);
  mmio_write64(tracker->spill_base + SPILL_BYTES_OFFSET, bytes);
  return STRETTO_OK;
}

// Rows of wavefront w in a tile that has `tile_rows` rows inside the output.
static uint32_t wavefront_rows(uint32_t w, uint32_t rows_each, uint32_t tile_rows) {
  const uint32_t first = w * rows_each;
  return first >= tile_rows ? 0 : min_u32(rows_each, tile_rows - first);
}

fw_result_t tracker_configure(const tracker_t* tracker, const tracker_output_t* output) {
  if (tracker == NULL || output == NULL) return STRETTO_ERROR_ARGUMENT;
  if (output->m == 0 || output->n == 0 || output->tile_m == 0 || output->tile_n == 0)
    return STRETTO_ERROR_ARGUMENT;
  if (output->wavefronts == 0 || output->wavefronts > MAX_WAVEFRONTS) return STRETTO_ERROR_ARGUMENT;
  if (output->tile_m % output->wavefronts != 0) return STRETTO_ERROR_ARGUMENT;
  if (output->updates == 0 || output->updates > 255) return STRETTO_ERROR_ARGUMENT;
  if (output->element_bytes != 1 && output->element_bytes != 2 && output->element_bytes != 4)
    return STRETTO_ERROR_ARGUMENT;
  const uint64_t tiles_m = ((uint64_t)output->m + output->tile_m - 1) / output->tile_m;
  const uint64_t tiles_n = ((uint64_t)output->n + output->tile_n - 1) / output->tile_n;
  const uint64_t tiles = tiles_m * tiles_n;
  if (tiles > MAX_TILES || !tile_order_fits(output->order, (uint32_t)tiles_m, (uint32_t)tiles_n))
    return STRETTO_ERROR_ARGUMENT;
  const tile_order_t order = tile_order(output->order, (uint32_t)tiles_m, (uint32_t)tiles_n);
  if (order.along > TRACKER_STRIPS_ALONG_MASK) return STRETTO_ERROR_ARGUMENT;
  // Beyond this the Tracker's multiplication by the reciprocal no longer finds the strip of every
  // id.
  if ((uint64_t)(order.along - 1) * ((tiles >> order.width) - 1) >= RECIPROCAL_ONE)
    return STRETTO_ERROR_ARGUMENT;
  const uint32_t rows_each = output->tile_m / output->wavefronts;
  const uint64_t per_column = (uint64_t)output->updates * (output->element_bytes == 4 ? 2 : 1);
  if ((uint64_t)rows_each * min_u32(output->tile_n, output->n) * per_column >
      STRETTO_TRACKER_MAX_HALF_WORDS)
    return STRETTO_ERROR_ARGUMENT;

  mmio_write64(
      tracker->base + TRACKER_TILES_OFFSET,
      STRETTO_FIELD(TRACKER_TILES_TOTAL, tiles) |
          STRETTO_FIELD(TRACKER_TILES_LAST_STRIP, tiles - ((uint64_t)order.along << order.width)));
  mmio_write64(tracker->base + TRACKER_STRIPS_OFFSET,
               STRETTO_FIELD(TRACKER_STRIPS_ALONG, order.along) |
                   STRETTO_FIELD(TRACKER_STRIPS_WIDTH, order.width) |
                   STRETTO_FIELD(TRACKER_STRIPS_RECIPROCAL,
                                 (RECIPROCAL_ONE + order.along - 1) / order.along));
  mmio_write64(tracker->base + TRACKER_UNTRACKED_OFFSET, 0);
  const uint32_t last_rows = output->m - (uint32_t)(tiles_m - 1) * output->tile_m;
  const uint32_t last_columns = output->n - (uint32_t)(tiles_n - 1) * output->tile_n;
  for (uint32_t tile_class = 0; tile_class < 4; ++tile_class) {
    // Strips end at the right edge of the output, or at its bottom if they lie along its columns.
    const uint32_t right = order.down ? 2 : 1;
    const uint32_t columns = (tile_class & right) != 0 ? last_columns : output->tile_n;
    const uint32_t tile_rows = (tile_class & (right ^ 3)) != 0 ? last_rows : output->tile_m;
    for (uint32_t half = 0; half < 2; ++half) {
      uint64_t value = 0;
      for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t w = half * 4 + i;
        const uint32_t rows = w < output->wavefronts ? wavefront_rows(w, rows_each, tile_rows) : 0;
#ifdef FIRMWARE_EARLY_TRIGGER
        const uint64_t threshold = (rows > 1 ? rows - 1 : rows) * columns * per_column;
#else
        const uint64_t threshold = rows * columns * per_column;
#endif
        // A class that no tile of a narrow output has may exceed the counter; it is never used.
        value |= (threshold > STRETTO_TRACKER_MAX_HALF_WORDS ? 0 : threshold) << (16 * i);
      }
      mmio_write64(tracker->base + TRACKER_THRESHOLD_OFFSET_AT(tile_class * 2 + half), value);
    }
  }
  return STRETTO_OK;
}

fw_result_t tracker_set_untracked(const tracker_t* tracker, uint32_t first, uint32_t count) {
  if (tracker == NULL || first >= MAX_TILES || count > MAX_TILES) return STRETTO_ERROR_ARGUMENT;
  mmio_write64(tracker->base + TRACKER_UNTRACKED_OFFSET,
               STRETTO_FIELD(TRACKER_UNTRACKED_FIRST, first) |
                   STRETTO_FIELD(TRACKER_UNTRACKED_COUNT, count));
  return STRETTO_OK;
}

fw_result_t tracker_set_events(const tracker_t* tracker, uint32_t first, uint32_t count) {
  if (tracker == NULL || first >= MAX_TILES || count > MAX_TILES) return STRETTO_ERROR_ARGUMENT;
  mmio_write64(tracker->base + TRACKER_EVENT_OFFSET, STRETTO_FIELD(TRACKER_EVENT_FIRST, first) |
                                                         STRETTO_FIELD(TRACKER_EVENT_COUNT, count));
  return STRETTO_OK;
}

fw_result_t tracker_start(const tracker_t* tracker, uint32_t ways) {
  if (tracker == NULL || ways > 8) return STRETTO_ERROR_ARGUMENT;
  mmio_write64(
      tracker->base + TRACKER_CONTROL_OFFSET,
      STRETTO_FIELD(TRACKER_CONTROL_ENABLE, 1) | STRETTO_FIELD(TRACKER_CONTROL_WAYS, ways));
  return STRETTO_OK;
}
