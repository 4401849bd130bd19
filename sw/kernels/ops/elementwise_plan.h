// SPDX-License-Identifier: Apache-2.0
// How a kernel of elementwise.h takes its operands, in how many work-groups, for host programs.
#ifndef STRETTO_SW_KERNELS_OPS_ELEMENTWISE_PLAN_H_
#define STRETTO_SW_KERNELS_OPS_ELEMENTWISE_PLAN_H_

#include "sw/kernels/ops/elementwise.h"
#include "sw/kernels/ops/vector_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

// `name` behind each_. Sets rows_each and chunks from rows, row_bytes, second and period.
void ops_elementwise_plan(const char* name, ops_elementwise_arguments_t* arguments,
                          ops_vector_launch_t* launch);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_KERNELS_OPS_ELEMENTWISE_PLAN_H_
