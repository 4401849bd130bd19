// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernels that measure the L2, for l2_probe.c and for those who launch them.
#ifndef STRETTO_SW_KERNELS_L2_PROBE_H_
#define STRETTO_SW_KERNELS_L2_PROBE_H_

#include <stdint.h>

#define L2_PROBE_WAVEFRONTS 8u     // Of a work-group,
#define L2_PROBE_TILE_BYTES 8192u  // and what each has under way at most.
#define L2_PROBE_LINE_BYTES 128u   // A link of the chain.
#define L2_PROBE_CHASE_BATCH 8u    // Loads of l2_chase come in batches.

// l2_stream: every wavefront moves `pieces` pieces of 2^piece_shift bytes from and to places drawn
// in [base, base + bytes), `tiles` (1, 2, 4 or 8) at a time, when all wavefronts have come and the
// range has been read once.
typedef struct stretto_l2_stream_arguments {
  uint64_t base;
  uint64_t
      words;  // Zero: how many have come; then, of each wavefront, the clocks of begin and end.
  uint64_t bytes;  // A power of two.
  uint32_t piece_shift;
  uint32_t tiles;
  uint32_t pieces;
  uint32_t stores;  // 0: all are loads, 1: about half are stores, 2: all are.
} stretto_l2_stream_arguments_t;

// l2_chase: one wavefront follows a chain of addresses from `base`, `warm` loads and then `loads`.
typedef struct stretto_l2_chase_arguments {
  uint64_t base;
  uint64_t words;  // Clocks of begin and end of the latter, then where the chain has led.
  uint32_t warm;
  uint32_t loads;
} stretto_l2_chase_arguments_t;

// l2_atomics: one wavefront adds `count` times to the word `target`, which nobody else touches, and
// waits for none of them.
typedef struct stretto_l2_atomics_arguments {
  uint64_t target;
  uint64_t words;  // Clocks of begin and end: of the last one performed.
  uint32_t count;
} stretto_l2_atomics_arguments_t;

#endif  // STRETTO_SW_KERNELS_L2_PROBE_H_
