// SPDX-License-Identifier: Apache-2.0
// Stages of a spatial pipeline (Kitsune, 4): kernels that stay on their units and pass tiles of rows to each other
// through queues in the L2 (sw/include/tile_queue.h). What they are told, as it lies in memory. C and C++.
//
// A pipeline goes through `rows` rows in tiles of `tile_rows`. Work-group w of a stage with `work_groups` of them makes
// tiles w, w + work_groups, ... An edge is a tensor in memory or a queue; tile t is payload first + t of all queues of
// the pipeline, so a queue's entry has one writer and each reading stage one reader of it, whatever their numbers.
#ifndef STRETTO_SW_KERNELS_STAGES_STAGES_H_
#define STRETTO_SW_KERNELS_STAGES_STAGES_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#include "sw/kernels/kernel_arguments.h"

#define STAGE_TILE_ROWS 128u  // At most.

// Rows of FP16. A queue: `entries` of entry_bytes, each with `readers`. Of sums, FP32, there is one entry for each replica
// of the stage that makes them, and one payload in it each time that the pipeline runs.
typedef struct stage_edge {
  uint64_t base;   // First row; of a queue the first entry,
  uint64_t words;  // and its words; 0 = memory.
  uint32_t pitch;  // Bytes between rows.
  uint32_t entries;
  uint32_t entry_bytes;
  uint16_t readers;
  uint16_t writers;  // Wavefronts of the stage that writes it, see tile_queue.h.
} stage_edge_t;

// Clocks of a work-group, of map stages of its first wavefront: begin, end, waited for inputs, waited for room. Linear stages
// have two sides that meet, one that waits for inputs and multiplies, one that waits for room and stores: what they waited
// for each other. And the shortest time from tile to tile, and when the work-group's first tile had left it, of sums: been read.
#define STAGE_CLOCKS 8u
#define STAGE_MET_MULTIPLYING 4u
#define STAGE_MET_STORING 5u
#define STAGE_SHORTEST 6u
#define STAGE_FIRST_LEFT 7u

typedef enum stage_activation {
  STAGE_NO_ACTIVATION,
  STAGE_RELU,
  STAGE_GELU,
  STAGE_SIGMOID,  // From here on worked out in FP32.
  STAGE_TANH,
  STAGE_SILU
} stage_activation_t;

// How in[1] of stage_map_add, _mul, _sub, _div is repeated, from memory with pitch 0, or has one column.
typedef enum stage_second { STAGE_SAME, STAGE_ROW, STAGE_COLUMN, STAGE_ONE } stage_second_t;

typedef struct stage_arguments {
  stage_edge_t in[3];
  stage_edge_t out;
  // stage_map_layer_norm_grad: queues for those of gamma and beta; words 0 = nobody wants them.
  stage_edge_t sums[2];
  // What else goes to memory; pitch 0 = nothing does. stage_linear_*: what the activation is of. stage_map_rms_norm: roots,
  // rows divided by them.
  stage_edge_t keep[2];
  uint64_t copy;    // The output goes to memory, too; copy_pitch 0 = it does not.
  uint64_t clocks;  // Of work-group 0.
  uint64_t first;   // Payload of tile 0.
  uint32_t copy_pitch;
  uint32_t rows;
  uint32_t tile_rows;
  uint32_t second;
  uint32_t columns[3];  // Of the inputs. Not of stage_linear_*.
  // stage_linear_*: out = activation(in[0] weights + bias) + in[1], weights k x n or, with GEMM_B_NK, n x k. in[1] has a reader
  // in each wavefront that stores.
  // stage_map_layer_norm: gamma, beta, and a word, FP32; its gradient: no beta.
  // stage_map_expand: n columns, each that of in[0] times a word, factor.
  // stage_map_rms_norm: gamma, and two words: epsilon, and what the sum of a row is multiplied by for its mean.
  uint64_t weights;
  uint64_t bias;  // n elements.
  uint64_t epsilon;
  uint64_t factor;
  uint32_t ldb;  // Bytes.
  uint32_t layout;
  uint32_t k;
  uint32_t n;
  uint32_t activation;
  uint32_t has_bias;
  uint32_t has_addend;
  uint32_t has_norm;
  // Column parts of the result. stage_linear_*: work-group w makes part w % parts of tiles w / parts,
  // + work-groups / parts, ...; stage_fan_in_*: it has part w % parts of replica w / parts. Of others 1.
  uint32_t parts;
  // stage_final: rows of sums in an entry of in[0]; elements of the result.
  uint32_t sections;
  uint32_t elements;
} stage_arguments_t;

// stage_linear_*: blocks of STAGE_BLOCK columns, two accumulators; wavefront 0 multiplies while the others store. A part
// is whole blocks, none has none. Of up to two blocks, each step of the input is loaded once. With weights in LDS
// (resident) a part has one block and at most twice STAGE_RESIDENT_STEPS steps of K, or two and at most so many.
#define STAGE_BLOCK 128u
#define STAGE_STEP 64u
#define STAGE_RESIDENT_STEPS 4u
#define STAGE_STORING 4u  // Wavefronts.
#define STAGE_PIECE 2048u
#define STAGE_A_BYTES (STAGE_TILE_ROWS * STAGE_STEP * 2u)
#define STAGE_B_BYTES (STAGE_BLOCK * STAGE_STEP * 2u)
// Steps of the input in LDS, beside so many steps of blocks that stay; or with those of so many blocks at once.
#define STAGE_RESIDENT_BUFFERS(steps) ((steps) + 4u <= STAGE_RESIDENT_TILES ? 4u : 2u)
#define STAGE_STREAM_BUFFERS(blocks) ((blocks) == 2u ? 2u : 3u)
#define STAGE_RESIDENT_TILES (2u * STAGE_RESIDENT_STEPS + 2u)
#define STAGE_RESIDENT_LDS (STAGE_RESIDENT_TILES * STAGE_B_BYTES)
#define STAGE_STREAM_LDS (2u * (STAGE_A_BYTES + 2u * STAGE_B_BYTES))
#define STAGE_LINEAR_REGISTERS \
  (2u * 4u * STAGE_TILE_ROWS * STAGE_BLOCK + (STAGE_STORING + 1u) * (4u * STAGE_PIECE + 2048u))

// stage_map_*, and what else runs on the SIMT pipe. Rows of stage_map_layer_norm have at most STAGE_PIECE bytes.
#define STAGE_MAP_WAVEFRONTS 4u
#define STAGE_MAP_REGISTERS (STAGE_MAP_WAVEFRONTS * (8u * STAGE_PIECE + 256u + 2048u))

#define STAGE_NORM_LDS 64u
#define STAGE_EXPAND_LDS 64u

// stage_map_rope: of in[0], rows of heads; in[1] cosines, in[2] sines, as wide as a head, of STAGE_ROPE_COLUMNS at most.
#define STAGE_ROPE_COLUMNS 1024u

// stage_map_layer_norm_grad has tiles in FP32, a row at least in each, and sums over all rows beside them.
#define STAGE_NORM_GRAD_COLUMNS 512u
#define STAGE_NORM_GRAD_LDS (2u * STAGE_NORM_GRAD_COLUMNS + 64u)

// Sums over all rows. stage_fan_in_*: a work-group of a replica sums tiles replica, + replicas, ..., in that order, and
// leaves its sums once in the entry of its replica. stage_final adds those of all replicas in a tree of STAGE_TREE ways.
// stage_fan_in_product: in[0]^T in[1], columns[0] x columns[1]; a part is one or two blocks of 128 x 128, side by side,
// or, of 128 columns or fewer, one below the other.
// stage_fan_in_sum: in[0]; a part is STAGE_SUM_COLUMNS columns; each wavefront leaves a row of them.
#define STAGE_TREE 4u
#define STAGE_MOST_SUMS 1024u  // That stage_final adds.
// Up to so many elements of a result a tile of it has STAGE_TREE sums.
#define STAGE_FINAL_FOLDS 16384u
#define STAGE_SUM_COLUMNS 512u
#define STAGE_FAN_IN_WAVEFRONTS 4u
#define STAGE_FAN_IN_LDS (2u * 3u * STAGE_B_BYTES)
#define STAGE_FAN_IN_REGISTERS \
  (2u * 4u * STAGE_BLOCK * STAGE_BLOCK + STAGE_FAN_IN_WAVEFRONTS * (2u * STAGE_PIECE + 2048u))
#define STAGE_BLOCKS(extent) (((extent) + STAGE_BLOCK - 1u) / STAGE_BLOCK)
// stage_linear_*: of a part.
#define STAGE_PART_BLOCKS(n, parts) ((STAGE_BLOCKS(n) + (parts)-1u) / (parts))
#define STAGE_IS_RESIDENT(k, blocks) \
  ((k) <= 2u * STAGE_RESIDENT_STEPS * STAGE_STEP / (blocks) && (blocks) <= 2u)
// Of results of so many rows and columns; of sums.
#define STAGE_PRODUCT_PARTS(m, n)                   \
  ((n) <= STAGE_BLOCK ? (STAGE_BLOCKS(m) + 1u) / 2u \
                      : STAGE_BLOCKS(m) * ((STAGE_BLOCKS(n) + 1u) / 2u))
#define STAGE_SUM_PARTS(n) (((n) + STAGE_SUM_COLUMNS - 1u) / STAGE_SUM_COLUMNS)

#endif  // STRETTO_SW_KERNELS_STAGES_STAGES_H_
