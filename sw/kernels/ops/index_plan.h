// SPDX-License-Identifier: Apache-2.0
// Which kernels of index.h take which rows, in how many work-groups, and how lists are cut, for host programs.
#ifndef STRETTO_SW_KERNELS_OPS_INDEX_PLAN_H_
#define STRETTO_SW_KERNELS_OPS_INDEX_PLAN_H_

#include "sw/kernels/ops/index.h"
#include "sw/kernels/ops/vector_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

void ops_gather_plan(const ops_machine_t* machine, const ops_index_arguments_t* arguments,
                     ops_vector_launch_t* launch);
// `parts`: the second launch, of bag_parts. Both from `count` and `columns`.
void ops_bag_plan(const ops_machine_t* machine, ops_element_t element, int parts,
                  const ops_index_arguments_t* arguments, ops_vector_launch_t* launch);

typedef struct ops_bag_cut {
  uint32_t first, second;  // Segments of each launch.
  uint32_t parts;          // Rows of FP32.
} ops_bag_cut_t;

// Cuts the lists of `rows` rows, row r's from offsets[r] to offsets[r + 1], into segments. `first` and `second` may be
// null: then they are only counted.
ops_bag_cut_t ops_bag_cut(const uint32_t* offsets, uint32_t rows, ops_index_segment_t* first,
                          ops_index_segment_t* second);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_KERNELS_OPS_INDEX_PLAN_H_
