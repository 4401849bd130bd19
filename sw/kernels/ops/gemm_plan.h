// SPDX-License-Identifier: Apache-2.0
// Which kernel of the GEMM family a machine takes for a shape, for host programs: tile, K step, buffers, split.
//
// The choice is the least of estimates that follow from the machine's parameters alone: clocks of the pipe of the unit
// that has most work-groups (so a last wave that is nearly empty costs a whole one), bytes over a unit's load port, the
// L2 and DRAM, what the buffers of resident work-groups keep in flight, and for split-K a second kernel.
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
  uint32_t layout;  // GEMM_A_KM, GEMM_B_NK.
} ops_gemm_shape_t;

typedef struct ops_gemm_choice {
  uint32_t tile_m, tile_n;
  uint32_t step;  // Elements of K.
  uint32_t stages;
  uint32_t split;
  // Derived.
  char kernel[40];
  char reduce[24];  // Empty without split.
  uint32_t work_groups, reduce_work_groups;
  uint32_t units;
  uint32_t resident;  // Work-groups a unit.
  uint64_t partial_bytes;
  double clocks;  // The estimate.
} ops_gemm_choice_t;

uint32_t ops_element_bytes(ops_element_t element);
const char* ops_element_name(ops_element_t element);
// 0: no kernel of the family runs on the machine. Fields of `wanted` that are not 0 are taken as they are.
int ops_gemm_choose(const ops_machine_t* machine, const ops_gemm_shape_t* shape,
                    const ops_gemm_choice_t* wanted, ops_gemm_choice_t* choice);
// The tile, step and buffers of the choice, from tile_m to split; the fields that follow from them.
void ops_gemm_derive(const ops_gemm_shape_t* shape, ops_gemm_choice_t* choice);
// The shape and choice as arguments; addresses, strides of the batch (`inner`: all of it), pitches, bias and activation
// are the caller's.
void ops_gemm_fill(const ops_gemm_shape_t* shape, const ops_gemm_choice_t* choice,
                   ops_gemm_arguments_t* arguments);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_KERNELS_OPS_GEMM_PLAN_H_
