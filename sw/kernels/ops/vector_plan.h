// SPDX-License-Identifier: Apache-2.0
// Which vector kernel takes which arrays, in how many work-groups, for host programs.
#ifndef STRETTO_SW_KERNELS_OPS_VECTOR_PLAN_H_
#define STRETTO_SW_KERNELS_OPS_VECTOR_PLAN_H_

#include "sw/kernels/ops/gemm_plan.h"
#include "sw/kernels/ops/vector.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ops_vector_launch {
  char kernel[32];
  uint32_t work_groups;
  uint32_t piece;
} ops_vector_launch_t;

// `name`: map_copy, map_gelu, map_add, map_mul, map_triad, gemv, concat ...; of FP16, BF16 or FP32. Sets rows_each. 0:
// rows of gemv have more than OPS_VECTOR_LONG_PIECE bytes.
int ops_vector_plan(const ops_machine_t* machine, const char* name, ops_element_t element,
                    ops_vector_arguments_t* arguments, ops_vector_launch_t* launch);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_KERNELS_OPS_VECTOR_PLAN_H_
