// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernels that measure launches, for launch_probe.c and for those who launch them.
#ifndef STRETTO_SW_KERNELS_LAUNCH_PROBE_H_
#define STRETTO_SW_KERNELS_LAUNCH_PROBE_H_

#include <stdint.h>

#define LAUNCH_PROBE_WAVEFRONTS 8u      // Of a work-group: a block of 256 threads.
#define LAUNCH_PROBE_PIECE_BYTES 256u   // That a wavefront of launch_move moves,
#define LAUNCH_PROBE_DIRTY_BYTES 8192u  // and in which one of launch_dirty stores.

// launch_move: every wavefront loads one piece of `from` and stores it at its place in `to`.
// launch_dirty: all wavefronts together store `bytes` from `to` on.
// words: of each work-group, the clocks of its begin and its end.
typedef struct stretto_launch_probe_arguments {
  uint64_t from;
  uint64_t to;
  uint64_t words;
  uint64_t bytes;
} stretto_launch_probe_arguments_t;

#endif  // STRETTO_SW_KERNELS_LAUNCH_PROBE_H_
