// SPDX-License-Identifier: Apache-2.0
// Which kernel of the GEMM family a machine takes for a shape, for host programs: tile, K step, buffers, split, shares.
//
// The choice is the least of estimates that follow from the machine's parameters alone: clocks of the pipe of the unit
// that has most work-groups (so a last wave that is nearly empty costs a whole one), bytes over a unit's load port, the
// L2 and DRAM, what the buffers of resident work-groups keep in flight, for split-K a second kernel, for stream-K the
// fix-up. Shares are tried as many as one, two, ... work-groups a unit. What is shared are the tiles that do not fill a
// turn, or these and a turn more: then a share has one to two tiles and waits for one other at most ("two-tile hybrid").
// Shares are at different places of K, so an operand that the L2 does not hold is read by each.
#ifndef STRETTO_SW_KERNELS_OPS_GEMM_PLAN_H_
#define STRETTO_SW_KERNELS_OPS_GEMM_PLAN_H_

#include "sw/kernels/ops/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ops_element { OPS_FP16, OPS_BF16, OPS_TF32, OPS_FP32, OPS_ELEMENTS } ops_element_t;

// A GPU as the choice sees it. Rates are those of its data sheet.
typedef struct ops_machine {
  uint32_t units;
  uint32_t registers_bytes;  // Of a unit; likewise:
  uint32_t lds_bytes;
  uint32_t wavefronts;
  uint32_t work_groups;
  // LDS buffers at most: 2 where loads pass through registers on their way to LDS, as what is under way would take
  // those of the accumulator.
  uint32_t stages;
  double l2_capacity;
  double l2_operands;    // What it holds of bytes that all units read.
  double fp16_products;  // Multiply-adds a clock,
  double tf32_products;  // 0 = none,
  double fp32_products;
  double load_bytes;  // a clock, of a unit,
  double store_bytes;
  double l2_bytes;  // of all of them,
  double dram_bytes;
  double miss_clocks;    // Latency of a load from DRAM,
  double launch_clocks;  // and from the end of a kernel to the begin of the next.
} ops_machine_t;

typedef struct ops_gemm_shape {
  ops_element_t element;
  uint32_t m, n, k;
  uint32_t batch;
  uint32_t layout;      // GEMM_A_KM, GEMM_B_NK.
  uint32_t has_addend;  // D is read.
} ops_gemm_shape_t;

#define OPS_GEMM_MAX_SPLIT 64u
#define OPS_GEMM_MAX_STREAMS 65536u
#define OPS_GEMM_NO_STREAMS UINT32_MAX  // Wanted: whole tiles or split-K.

typedef struct ops_gemm_choice {
  uint32_t tile_m, tile_n;
  uint32_t step;  // Elements of K.
  uint32_t stages;
  uint32_t split;
  uint32_t streams;  // Work-groups that share tiles; 0 = none.
  uint32_t stream_tiles;
  // Derived.
  uint32_t argument_bytes;
  char kernel[40];
  char reduce[24];  // Empty without split.
  uint32_t work_groups, reduce_work_groups;
  uint32_t units;
  uint32_t resident;  // Work-groups a unit.
  uint64_t partial_bytes;
  uint64_t flag_bytes;  // 0 before a launch.
  double clocks;        // The estimate.
} ops_gemm_choice_t;

uint32_t ops_element_bytes(ops_element_t element);
const char* ops_element_name(ops_element_t element);
// Multiply-adds a clock of a unit; 0 = it has none of the element.
double ops_products(const ops_machine_t* machine, ops_element_t element);
// 0: no kernel of the family runs on the machine. Fields of `wanted` that are not 0 are taken as they are; with a
// `split` nothing is shared.
int ops_gemm_choose(const ops_machine_t* machine, const ops_gemm_shape_t* shape,
                    const ops_gemm_choice_t* wanted, ops_gemm_choice_t* choice);
// The tile, step and buffers of the choice, from tile_m to stream_tiles; the fields that follow from them.
void ops_gemm_derive(const ops_gemm_shape_t* shape, ops_gemm_choice_t* choice);
// The shape and choice as arguments, of which the kernel takes `argument_bytes`; addresses, strides of the batch
// (`inner`: all of it), pitches, bias and activation are the caller's.
void ops_gemm_fill(const ops_gemm_shape_t* shape, const ops_gemm_choice_t* choice,
                   ops_gemm_arguments_t* arguments);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_KERNELS_OPS_GEMM_PLAN_H_
