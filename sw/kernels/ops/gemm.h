// SPDX-License-Identifier: Apache-2.0
// The GEMM family of the kernel library: C = activation(A B + bias + D), batched, any layout, split-K, stream-K. What
// kernels there are, and their arguments as they lie in memory. C and C++.
//
// Kernel gemm_ELEMENT_MxN_kK_sS computes tiles of M x N, K elements of K at a time, with S LDS buffers. Elements are
// fp16, bf16, tf32 (FP32 in memory) and fp32 (on the SIMT pipe). Work-group id = (part of K, matrix of the batch,
// tile in the order of strips), the last one fastest.
//
// gemm_ELEMENT_MxN_kK_sS_stream shares the first `stream_tiles` tiles, of all matrices in their order, among `streams`
// work-groups. Their K steps, one tile behind the other, are cut into `streams` shares that differ by a step at most;
// work-group 0 has the last share, work-group streams - 1 the first. Other work-groups have a whole tile each.
#ifndef STRETTO_SW_KERNELS_OPS_GEMM_H_
#define STRETTO_SW_KERNELS_OPS_GEMM_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#include "sw/kernels/kernel_arguments.h"

// Tiles of C: rows, columns, wavefronts of a work-group, and bytes that a wavefront stores at a time.
#define OPS_GEMM_TILES(X) \
  X(256, 128, 8, 2048)    \
  X(128, 256, 8, 2048)    \
  X(128, 128, 8, 1024)    \
  X(128, 64, 4, 1024)     \
  X(64, 64, 4, 1024)

#define OPS_GEMM_MAX_STAGES 4u
// K steps are a sector or a line of the L2 of each row with K contiguous.
#define OPS_GEMM_MIN_STEP_BYTES 64u
#define OPS_GEMM_MAX_STEP_BYTES 128u

// Of one work-group. Registers: accumulator, four pieces and 2 KiB of scalar registers a wavefront, a piece of zeros.
#define OPS_GEMM_REGISTERS(m, n, wavefronts, piece) \
  (4u * (m) * (n) + (wavefronts) * (4u * (piece) + 2048u) + 2u * (piece))
// gemm_reduce_*: two tiles of partial sums, what they become, and scalar registers.
#define OPS_GEMM_REDUCE_BYTES 8192u
#define OPS_GEMM_REDUCE_REGISTERS (2u * OPS_GEMM_REDUCE_BYTES + 12288u + 2048u)
#define OPS_GEMM_LDS(m, n, step_bytes, stages) (((m) + (n)) * (step_bytes) * (stages))
// Of each share: a word a wavefront.
#define OPS_GEMM_FLAG_BYTES 64u

enum { OPS_GEMM_NO_ACTIVATION, OPS_GEMM_RELU, OPS_GEMM_GELU };

// `split` above 1: every part of K stores its product in FP32 to `partials`, and gemm_reduce_* adds them: a
// work-group of one wavefront for each `reduce_columns` elements of a row of C. Bias, D and activation are then its own.
typedef struct ops_gemm_arguments {
  uint64_t a;
  uint64_t b;
  uint64_t c;
  uint64_t bias;      // n elements as C has them; 0 = none.
  uint64_t addend;    // D: as C lies, and may be C; 0 = none.
  uint64_t partials;  // split x batch x m rows of partial_pitch bytes.
  uint64_t a_stride;  // Bytes from one matrix of the batch to the next; 0 = all use the same.
  uint64_t b_stride;
  uint64_t c_stride;
  uint64_t a_outer;  // Likewise, every `inner` matrices: heads of several sequences.
  uint64_t b_outer;
  uint64_t c_outer;
  uint32_t lda;  // Bytes between rows as stored, see stretto_gemm_arguments_t.
  uint32_t ldb;
  uint32_t ldc;
  uint32_t partial_pitch;
  uint32_t m;
  uint32_t n;
  uint32_t k;
  uint32_t batch;
  uint32_t layout;  // GEMM_A_KM, GEMM_B_NK.
  uint32_t activation;
  uint32_t tiles_m;
  uint32_t tiles_n;
  uint32_t split;           // At most the K steps.
  uint32_t reduce_columns;  // Elements of C that a work-group of gemm_reduce_* makes,
  uint32_t reduce_parts;    // of so many parts at a time.
  uint32_t strip;           // Tiles of a strip of their order.
  uint32_t inner;           // Of the batch; a divisor of it.
  uint32_t reserved;
  // Of stream kernels alone; to them `partials` are a tile in FP32 for each share.
  uint64_t flags;  // OPS_GEMM_FLAG_BYTES for each share: 0 before a launch, and again behind it.
  uint32_t streams;
  uint32_t stream_tiles;
} ops_gemm_arguments_t;

#define OPS_GEMM_ARGUMENT_BYTES 168u  // Of the others.

#ifdef __cplusplus
static_assert(sizeof(ops_gemm_arguments_t) == OPS_GEMM_ARGUMENT_BYTES + 16, "read by kernels");
#else
_Static_assert(sizeof(ops_gemm_arguments_t) == OPS_GEMM_ARGUMENT_BYTES + 16, "read by kernels");
#endif

#endif  // STRETTO_SW_KERNELS_OPS_GEMM_H_
