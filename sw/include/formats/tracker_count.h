// SPDX-License-Identifier: Apache-2.0
// What the Tracker can count: firmware, host programs.
#ifndef STRETTO_SW_INCLUDE_FORMATS_TRACKER_COUNT_H_
#define STRETTO_SW_INCLUDE_FORMATS_TRACKER_COUNT_H_

// Half-words of a wavefront's part of a tile, all updates together: in the overflow table a counter
// has 15 bits, beside a valid bit and an address of 48.
#define STRETTO_TRACKER_MAX_HALF_WORDS 32768u

#endif  // STRETTO_SW_INCLUDE_FORMATS_TRACKER_COUNT_H_
