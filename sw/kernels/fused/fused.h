// SPDX-License-Identifier: Apache-2.0
// Vertically fused operators (Kitsune, 3): products one behind the other, each with bias and activation, then perhaps the
// norm of the rows. What a kernel is told, as it lies in memory. C and C++.
//
// A work-group has a tile of rows to itself and works out all operators on it, one after the other.
// What is between two products stays in its LDS. Kernels are persistent: work-group w takes tiles w, w + work-groups, ...
// A single product may have more columns than a kernel's tile; then tiles are cut into blocks of columns, too.
//
// fused_128: no more than 128 columns of any product; fused_256: 256; fused_512: one product with its norm, 512, in tiles
// of 64 rows.
#ifndef STRETTO_SW_KERNELS_FUSED_FUSED_H_
#define STRETTO_SW_KERNELS_FUSED_FUSED_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#include "sw/kernels/kernel_arguments.h"
#include "sw/kernels/stages/stages.h"

#define FUSED_TILE_ROWS 128u
#define FUSED_MOST_COLUMNS 256u
#define FUSED_NORM_ROWS 64u
#define FUSED_NORM_COLUMNS 512u
#define FUSED_MOST_PRODUCTS 4u

typedef struct fused_product {
  uint64_t weights;  // k x n or, with GEMM_B_NK, n x k.
  uint64_t bias;     // n elements; 0 = none.
  uint32_t ldb;      // Bytes.
  uint32_t layout;
  uint32_t k;  // Of the first: any. Of others: the columns of the one before.
  uint32_t n;
  uint32_t activation;  // stage_activation_t; all but the last one's: at most STAGE_GELU.
  uint32_t reserved;
} fused_product_t;

typedef struct fused_arguments {
  uint64_t in;  // Rows of product[0].k elements.
  uint64_t out;
  uint64_t keep;   // The last product with its bias goes here, too; 0 = it does not.
  uint64_t gamma;  // Of the norm.
  uint64_t beta;
  uint64_t epsilon;   // A word, FP32.
  uint32_t in_pitch;  // Bytes.
  uint32_t out_pitch;
  uint32_t rows;
  uint32_t products;
  uint32_t blocks;    // Of columns; 1 if there are several products, or a norm.
  uint32_t has_norm;  // Behind the last product, which then has no activation.
  uint32_t tile_rows;
  uint32_t reserved;
  fused_product_t product[FUSED_MOST_PRODUCTS];
} fused_arguments_t;

// A work-group: wavefront 0 issues products, the others what is between them. LDS: six tiles of operands, FUSED_STEP
// elements of K each, the tile between two products, and epsilon. Registers: the accumulator, and of each wavefront 2 KiB
// of scalar ones and, unless it is the first, five pieces, two of FP32, and columns.
#define FUSED_STEP 32u
#define FUSED_STAGES 3u
#define FUSED_STORING 4u
#define FUSED_WAVEFRONTS (FUSED_STORING + 1u)
#define FUSED_PIECE 1024u
#define FUSED_LDS(columns) \
  (6u * 2u * FUSED_STEP * (columns) + 2u * FUSED_TILE_ROWS * (columns) + 2048u)
#define FUSED_NORM_LDS \
  (FUSED_STAGES * 2u * FUSED_STEP * (FUSED_NORM_ROWS + FUSED_NORM_COLUMNS) + 2048u)
#define FUSED_REGISTERS(rows, columns)                  \
  (4u * (rows) * (columns) + FUSED_WAVEFRONTS * 2048u + \
   FUSED_STORING * (5u * FUSED_PIECE + 4u * FUSED_PIECE + 512u))

#ifdef __cplusplus
static_assert(sizeof(fused_arguments_t) == 80 + 40 * FUSED_MOST_PRODUCTS, "read by kernels");
#else
_Static_assert(sizeof(fused_arguments_t) == 80 + 40 * FUSED_MOST_PRODUCTS, "read by kernels");
#endif

#endif  // STRETTO_SW_KERNELS_FUSED_FUSED_H_
