// SPDX-License-Identifier: Apache-2.0
// The Tracker: counts the updates of each wavefront's part of an output tile and triggers its DMA
// (T3 4.2.1).
//
// Order of calls: tracker_stop, tracker_set_spill_table, tracker_configure, then for each remote
// chunk tracker_set_untracked, and tracker_start before the first update can arrive.
#ifndef STRETTO_SW_FIRMWARE_HAL_TRACKER_H_
#define STRETTO_SW_FIRMWARE_HAL_TRACKER_H_

#include "sw/firmware/hal/mmio.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tracker {
  uint64_t base;
  uint64_t spill_base;  // Bank with the place of the overflow table.
} tracker_t;

// Shape of the tracked output; work-group id = tile in the order `order` (tile_order.h).
typedef struct tracker_output {
  uint32_t m;
  uint32_t n;
  uint32_t tile_m;
  uint32_t tile_n;
  uint32_t
      wavefronts;  // 1..8; wavefront w has rows w * tile_m / wavefronts and following of its tile.
  uint32_t updates;        // Expected per element.
  uint32_t element_bytes;  // 1 (FP8), 2 or 4.
  uint32_t ways;           // In use; 0 = all.
  uint32_t order;
} tracker_output_t;

FW_MUST_CHECK fw_result_t tracker_init(tracker_t* tracker);
// Disables it and forgets all tiles. STRETTO_ERROR_STATE: it is still busy.
FW_MUST_CHECK fw_result_t tracker_stop(const tracker_t* tracker);
// STRETTO_ERROR_ARGUMENT: not aligned to 64.
FW_MUST_CHECK fw_result_t tracker_set_spill_table(const tracker_t* tracker, uint64_t base,
                                                  uint64_t bytes);
// Thresholds of the four tile classes and of every wavefront, in half-words, as which elements of 8
// bits count, too; 0 for a wavefront without rows. STRETTO_ERROR_ARGUMENT: a field out of range, more than 65536 tiles or a threshold
// beyond the counter.
FW_MUST_CHECK fw_result_t tracker_configure(const tracker_t* tracker,
                                            const tracker_output_t* output);
// Tiles first .. first + count - 1 raise a scheduling event when they are complete (T3-AGC-01).
FW_MUST_CHECK fw_result_t tracker_set_events(const tracker_t* tracker, uint32_t first,
                                             uint32_t count);
// Tiles first .. first + count - 1 are not tracked (T3-TRK-11).
FW_MUST_CHECK fw_result_t tracker_set_untracked(const tracker_t* tracker, uint32_t first,
                                                uint32_t count);
FW_MUST_CHECK fw_result_t tracker_start(const tracker_t* tracker, uint32_t ways);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_HAL_TRACKER_H_
