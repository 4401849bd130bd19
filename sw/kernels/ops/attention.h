// SPDX-License-Identifier: Apache-2.0
// Fused attention, forward: what kernels there are, and their arguments as they lie in memory. C and C++.
//
// attention_fp16_D: out = softmax(scale Q K^T) V for each head, D = 64 or 128 elements of a head at most. A work-group
// has 64 queries, each of its wavefronts 16; keys and values pass through LDS in blocks of 64. Maximum and sum of the
// exponentials run along (online softmax), in FP32; the weights are rounded to FP16 for the product with the values.
#ifndef STRETTO_SW_KERNELS_OPS_ATTENTION_H_
#define STRETTO_SW_KERNELS_OPS_ATTENTION_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define OPS_ATTENTION_WAVEFRONTS 4u
#define OPS_ATTENTION_ROWS 16u  // Queries of a wavefront.
#define OPS_ATTENTION_QUERIES (OPS_ATTENTION_WAVEFRONTS * OPS_ATTENTION_ROWS)
#define OPS_ATTENTION_KEYS 64u  // Of a block.
// Of a wavefront: scores, the running sum of values, what is in between, queries, weights, an accumulator for scores and
// one for values, three columns; and 2 KiB of scalar registers.
#define OPS_ATTENTION_REGISTERS(d) \
  (OPS_ATTENTION_WAVEFRONTS *      \
   (OPS_ATTENTION_ROWS * (16u * (d) + 8u * OPS_ATTENTION_KEYS + 12u) + 2048u))
// Two blocks of keys and values, and the scale.
#define OPS_ATTENTION_LDS(d) (8u * OPS_ATTENTION_KEYS * (d) + 64u)

// FP32 words at `constants`.
enum { OPS_ATTENTION_SCALE, OPS_ATTENTION_LOWEST, OPS_ATTENTION_ZERO, OPS_ATTENTION_WORDS };

typedef struct ops_attention_arguments {
  uint64_t q, k, v, out;  // heads x queries (keys) rows of d elements.
  uint64_t constants;
  uint32_t heads;
  uint32_t queries, keys;  // Of a head.
  uint32_t d;
  uint32_t zero[2];
} ops_attention_arguments_t;

#ifdef __cplusplus
static_assert(sizeof(ops_attention_arguments_t) == 64, "read by kernels");
#else
_Static_assert(sizeof(ops_attention_arguments_t) == 64, "read by kernels");
#endif

#endif  // STRETTO_SW_KERNELS_OPS_ATTENTION_H_
