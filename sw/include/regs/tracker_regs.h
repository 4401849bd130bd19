// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/tracker.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;
// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.
#ifndef STRETTO_SW_INCLUDE_REGS_TRACKER_REGS_H_
#define STRETTO_SW_INCLUDE_REGS_TRACKER_REGS_H_

// tracker: Counts the updates of each wavefront's output tile and triggers its DMA at a threshold.

// Mode; change it only while status.busy is 0. (read, write)
#define TRACKER_CONTROL_OFFSET 0x0
#define TRACKER_CONTROL_RESET 0x80
#define TRACKER_CONTROL_ENABLE_SHIFT 0  // 0 = updates are taken and forgotten.
#define TRACKER_CONTROL_ENABLE_MASK 0x1
#define TRACKER_CONTROL_WAYS_SHIFT 4  // Ways that new tiles may take, 1..8; fewer make the table smaller. 0 or more than are built means all.
#define TRACKER_CONTROL_WAYS_MASK 0xf0

// A write of any value empties the table and forgets what was spilled; only while status.busy is 0. (write only, reads 0)
#define TRACKER_CLEAR_OFFSET 0x8

// A write of any value clears the counters (max_live becomes live). (write only, reads 0)
#define TRACKER_COUNTER_CLEAR_OFFSET 0x10

// State of the Tracker. (read only)
#define TRACKER_STATUS_OFFSET 0x18
#define TRACKER_STATUS_BUSY_SHIFT 0  // An update, trigger or spill transaction is on its way through the Tracker or outstanding in memory.
#define TRACKER_STATUS_BUSY_MASK 0x1
#define TRACKER_STATUS_OUTSTANDING_SHIFT 8  // Spill reads and writes outstanding or waiting to be sent.
#define TRACKER_STATUS_OUTSTANDING_MASK 0x7f00
#define TRACKER_STATUS_LIVE_SHIFT 32  // Tiles with a slot or a spilled entry.
#define TRACKER_STATUS_LIVE_MASK 0xfffff00000000

// Tiles of the output; ids run through strips of tiles, one after the other (sw/include/tile_order.h). (read, write)
#define TRACKER_TILES_OFFSET 0x20
#define TRACKER_TILES_TOTAL_SHIFT 0  // Number of tiles, 1..65536; updates of ids from here on are forgotten.
#define TRACKER_TILES_TOTAL_MASK 0x1ffff
#define TRACKER_TILES_LAST_STRIP_SHIFT 32  // Id of the first tile of the last strip.
#define TRACKER_TILES_LAST_STRIP_MASK 0xffff00000000

// Shape of the strips; lets the Tracker find the place of an id in its strip without a divider. (read, write)
#define TRACKER_STRIPS_OFFSET 0x28
#define TRACKER_STRIPS_ALONG_SHIFT 0  // Tiles along a strip; the place is exact while (along - 1) x ((tiles.total >> width) - 1) < 2^24, so always for along <= 256.
#define TRACKER_STRIPS_ALONG_MASK 0xffff
#define TRACKER_STRIPS_WIDTH_SHIFT 16  // log2 of the tiles across a strip; 0 and strips along the rows are row-major order.
#define TRACKER_STRIPS_WIDTH_MASK 0x30000
#define TRACKER_STRIPS_RECIPROCAL_SHIFT 32  // ceil(2^24 / along), 25 bits.
#define TRACKER_STRIPS_RECIPROCAL_MASK 0x1ffffff00000000

// Ids that are not tracked, the remote chunk (T3-TRK-11); the interval wraps from tiles.total to 0. (read, write)
#define TRACKER_UNTRACKED_OFFSET 0x30
#define TRACKER_UNTRACKED_FIRST_SHIFT 0  // First id not tracked.
#define TRACKER_UNTRACKED_FIRST_MASK 0xffff
#define TRACKER_UNTRACKED_COUNT_SHIFT 32  // Number of ids not tracked; 0 = all are tracked.
#define TRACKER_UNTRACKED_COUNT_MASK 0x1ffff00000000

// Ids whose completion raises a work-group scheduling event instead of a DMA (T3-AGC-01); the interval wraps from tiles.total to 0. (read, write)
#define TRACKER_EVENT_OFFSET 0x38
#define TRACKER_EVENT_FIRST_SHIFT 0  // First id of an event.
#define TRACKER_EVENT_FIRST_MASK 0xffff
#define TRACKER_EVENT_COUNT_SHIFT 32  // Number of ids; 0 = every trigger is for the DMA.
#define TRACKER_EVENT_COUNT_MASK 0x1ffff00000000

// Half-words written that complete a wavefront tile; register class x 2 + wavefront / 4, class 0 interior, 1 end of a strip, 2 far edge of the last strip, 3 both. (read, write)
#define TRACKER_THRESHOLD_OFFSET 0x40
#define TRACKER_THRESHOLD_COUNT 8
#define TRACKER_THRESHOLD_STRIDE 0x8
#define TRACKER_THRESHOLD_OFFSET_AT(i) (0x40 + (i) * 0x8)
#define TRACKER_THRESHOLD_WF0_SHIFT 0  // Wavefront 0 or 4, 1..32768; 0 = this wavefront's part is empty and is not tracked.
#define TRACKER_THRESHOLD_WF0_MASK 0xffff
#define TRACKER_THRESHOLD_WF1_SHIFT 16  // Wavefront 1 or 5.
#define TRACKER_THRESHOLD_WF1_MASK 0xffff0000
#define TRACKER_THRESHOLD_WF2_SHIFT 32  // Wavefront 2 or 6.
#define TRACKER_THRESHOLD_WF2_MASK 0xffff00000000
#define TRACKER_THRESHOLD_WF3_SHIFT 48  // Wavefront 3 or 7.
#define TRACKER_THRESHOLD_WF3_MASK 0xffff000000000000

// Updates counted (48 bits). (read only)
#define TRACKER_UPDATES_OFFSET 0x80

// Half-words in the counted updates (48 bits). (read only)
#define TRACKER_HALF_WORDS_OFFSET 0x88

// Updates taken and not counted (disabled, untracked id, empty wavefront; 48 bits). (read only)
#define TRACKER_IGNORED_OFFSET 0x90

// Tiles completed (48 bits). (read only)
#define TRACKER_TRIGGERS_OFFSET 0x98

// Slots written to memory (48 bits). (read only)
#define TRACKER_SPILLS_OFFSET 0xa0

// Entries read from memory (48 bits). (read only)
#define TRACKER_SPILL_READS_OFFSET 0xa8

// Entries found valid and merged into a slot; each was also written back invalid (48 bits). (read only)
#define TRACKER_REFILLS_OFFSET 0xb0

// Largest value of live (a tile that misses counts twice until its entry has been read). (read only)
#define TRACKER_MAX_LIVE_OFFSET 0xb8

#endif  // STRETTO_SW_INCLUDE_REGS_TRACKER_REGS_H_
