// SPDX-License-Identifier: Apache-2.0
// Ways of the L2 that pinned memory takes. C and C++.
#ifndef STRETTO_SW_DRIVER_L2_WAYS_H_
#define STRETTO_SW_DRIVER_L2_WAYS_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

// Ways of a set that lines of [begin, end) take at most, as offsets or addresses: memory as large as a way and aligned
// to its size has one line in each set. REQUIRES: begin < end; way_bytes is a power of two.
static inline uint64_t stretto_l2_ways(uint64_t begin, uint64_t end, uint64_t way_bytes) {
  return (end - 1) / way_bytes - begin / way_bytes + 1;
}

#endif  // STRETTO_SW_DRIVER_L2_WAYS_H_
