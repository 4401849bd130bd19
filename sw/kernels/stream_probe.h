// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernels that stream through arrays, for stream_probe.c and for those who launch
// them.
#ifndef STRETTO_SW_KERNELS_STREAM_PROBE_H_
#define STRETTO_SW_KERNELS_STREAM_PROBE_H_

#include <stdint.h>

#define STREAM_PROBE_INPUTS 3u
#define STREAM_PROBE_PIECE_BYTES 512u         // Of a wavefront, at most: 32 lanes of 16 B.
#define STREAM_PROBE_REGISTERS_BYTES 262144u  // Of a compute unit; a work-group claims its share.

typedef enum stream_probe_operation {
  STREAM_PROBE_READ,
  STREAM_PROBE_WRITE,
  STREAM_PROBE_COPY,
  STREAM_PROBE_SCALE,  // to = 2 from[0]
  STREAM_PROBE_ADD,    // to = from[0] + from[1]
  STREAM_PROBE_TRIAD,  // to = from[0] + from[1] from[2]
  STREAM_PROBE_OPERATIONS,
} stream_probe_operation_t;

// Of kernel stream_probe_N a compute unit holds N wavefronts: two work-groups of N / 2, or from 16
// on N / 8 of eight. Every wavefront does one piece, its own: a thread an element. words: the clock
// in which work-group 0 begins, then those in which the last `tail` ones end.
typedef struct stretto_stream_probe_arguments {
  uint64_t from[STREAM_PROBE_INPUTS];
  uint64_t to;
  uint64_t words;
  uint32_t operation;
  uint32_t piece_bytes;
  uint32_t tail;
} stretto_stream_probe_arguments_t;

#endif  // STRETTO_SW_KERNELS_STREAM_PROBE_H_
