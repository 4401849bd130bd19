// SPDX-License-Identifier: Apache-2.0
// Which fused kernel takes a chain of products, in how many work-groups, for host programs.
#ifndef STRETTO_SW_KERNELS_FUSED_FUSED_PLAN_H_
#define STRETTO_SW_KERNELS_FUSED_FUSED_PLAN_H_

#include "sw/kernels/fused/fused.h"
#include "sw/kernels/ops/vector_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

// As many work-groups as fit the machine. Sets `blocks`. 0: products are too wide, or the machine has no room for one
// work-group.
int fused_plan(const ops_machine_t* machine, fused_arguments_t* arguments,
               ops_vector_launch_t* launch);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_KERNELS_FUSED_FUSED_PLAN_H_
