// SPDX-License-Identifier: Apache-2.0
// Which kernels of rows.h and reduce.h take which rows, in how many work-groups, for host programs.
#ifndef STRETTO_SW_KERNELS_OPS_ROWS_PLAN_H_
#define STRETTO_SW_KERNELS_OPS_ROWS_PLAN_H_

#include "sw/kernels/ops/reduce.h"
#include "sw/kernels/ops/rows.h"
#include "sw/kernels/ops/vector_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

// Two launches, one behind the other; the second may be none.
typedef struct ops_sum_launch {
  ops_vector_launch_t first, second;  // `second.work_groups` 0: there is none.
  uint64_t part_bytes;                // Scratch memory.
} ops_sum_launch_t;

// `name`: softmax, layer_norm, softmax_grad, layer_norm_grad; of FP16, BF16 or FP32. Sets share and rows_each from rows
// and row_bytes. Sums over rows of layer_norm_grad are `sums`: ops_sum_rows_plan's second launch, of twice the columns.
// Both null: no sums.
void ops_rows_plan(const ops_machine_t* machine, const char* name, ops_element_t element,
                   ops_rows_arguments_t* arguments, ops_vector_launch_t* launch,
                   ops_sum_arguments_t* sum_arguments, ops_sum_launch_t* sums);

// Sums over rows: sets rows_each, chunks, part_count, columns, out_element from rows and row_bytes.
void ops_sum_rows_plan(const ops_machine_t* machine, ops_element_t element,
                       ops_sum_arguments_t* arguments, ops_sum_launch_t* launch);

// Sums over columns: `second` are the arguments of the second launch: its `in` and `arguments`' out are the parts if
// there is one. 0: a row has more than OPS_SUM_LONG_PIECE / 4 pieces.
int ops_sum_columns_plan(const ops_machine_t* machine, ops_element_t element,
                         ops_sum_arguments_t* arguments, ops_sum_arguments_t* second,
                         ops_sum_launch_t* launch);

// Sums of groups of `part_count` rows: sets rows_each and chunks from rows of the result and row_bytes.
void ops_sum_groups_plan(const ops_machine_t* machine, ops_element_t element,
                         ops_sum_arguments_t* arguments, ops_sum_launch_t* launch);

// Work-groups of a kernel that fill the GPU once.
uint64_t ops_resident(const ops_machine_t* machine, uint32_t registers, uint32_t lds,
                      uint32_t wavefronts);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_KERNELS_OPS_ROWS_PLAN_H_
