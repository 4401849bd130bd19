// SPDX-License-Identifier: Apache-2.0
// Arguments of a loop kernel, as they lie in memory at the kernarg address. C and C++.
#ifndef STRETTO_SW_COMPILER_LOOP_ARGUMENTS_H_
#define STRETTO_SW_COMPILER_LOOP_ARGUMENTS_H_

#include "sw/kernels/kernel_arguments.h"

// Work-groups 0 .. comm_groups - 1 reduce gradients over the ranks, the next `compute` ones run the
// operators. All of them must be resident at once.
typedef struct loop_arguments {
  uint64_t arena;      // Weights and activations.
  uint64_t gradients;  // Gradients, uncached: other GPUs and the DMA engine reach the memory only.
  uint64_t receive;    // As large as the gradients: what the left neighbour sends to be added.
  uint64_t words;      // LOOP_WORD_BYTES, zero at launch.
  uint64_t stamps;     // LOOP_STAMP_BYTES: cycles, see below.
  stretto_send_ring_t ring;
  uint64_t sc;  // Arrays of send and receive flags.
  uint64_t rc;
  uint32_t iterations;
  uint32_t compute;
  uint32_t comm_groups;
  uint32_t ranks;
  uint32_t rank;
  uint32_t by_rows;  // Tiles wait for the rows that they read (GD-LOOP-04).
} loop_arguments_t;

// How a loop kernel multiplies: behind its arguments, one for each product in the order of operators.
typedef struct loop_choice {
  uint16_t tile_m;
  uint16_t tile_n;
  uint16_t strip;  // Tiles of a strip of their order.
  uint8_t step;    // Elements of K.
  uint8_t stages;  // LDS buffers.
} loop_choice_t;
// What a loop kernel's ELF has once: the SHA-256 of its plan's text in hexadecimal digits follows.
#define LOOP_PLAN_MARK "stretto plan "
// What such a choice may take: buffers, accumulator.
#define LOOP_LDS_BYTES 65536u
#define LOOP_ACCUMULATOR_BYTES 131072u

#define LOOP_MAX_OPS 4096u      // Words of operators ...
#define LOOP_MAX_BUCKETS 512u   // ... behind them of buckets ...
#define LOOP_MAX_BLOCKS 16384u  // ... and of blocks of rows that operators have made.
#define LOOP_BLOCK_ROWS 128u
#define LOOP_WORD_BYTES ((LOOP_MAX_OPS + LOOP_MAX_BUCKETS + LOOP_MAX_BLOCKS) * 8u)

// Stamps: the end of each iteration; of the last one, the end of each operator at the first
// work-group and begin and end of each bucket at the first one that reduces.
#define LOOP_MAX_ITERATIONS 256u
#define LOOP_STAMP_OPS LOOP_MAX_ITERATIONS
#define LOOP_STAMP_BUCKETS (LOOP_STAMP_OPS + LOOP_MAX_OPS)
#define LOOP_STAMP_BYTES ((LOOP_STAMP_BUCKETS + 2 * LOOP_MAX_BUCKETS) * 8u)

// Buffer ids of the request ring: one a communication work-group, so that each has flags of its
// own.
#define LOOP_MAX_COMM_GROUPS 8u
#define LOOP_SOURCE_ID 1u                                         // Own gradients, to be read.
#define LOOP_GRADIENT_ID (LOOP_SOURCE_ID + LOOP_MAX_COMM_GROUPS)  // Own gradients, to be written.
#define LOOP_RECEIVE_ID (LOOP_GRADIENT_ID + LOOP_MAX_COMM_GROUPS)
#define LOOP_PEER_GRADIENT_ID (LOOP_RECEIVE_ID + LOOP_MAX_COMM_GROUPS)  // The right neighbour's.
#define LOOP_PEER_RECEIVE_ID (LOOP_PEER_GRADIENT_ID + LOOP_MAX_COMM_GROUPS)
#define LOOP_UNIT_SHIFT 13u
#define LOOP_UNIT (1u << LOOP_UNIT_SHIFT)

#ifdef __cplusplus
static_assert(sizeof(loop_arguments_t) == 112 && sizeof(loop_choice_t) == 8, "read by kernels");
#else
_Static_assert(sizeof(loop_arguments_t) == 112 && sizeof(loop_choice_t) == 8, "read by kernels");
#endif

#endif  // STRETTO_SW_COMPILER_LOOP_ARGUMENTS_H_
