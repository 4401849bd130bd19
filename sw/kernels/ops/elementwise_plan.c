// SPDX-License-Identifier: Apache-2.0
// See elementwise_plan.h.
#include "sw/kernels/ops/elementwise_plan.h"

#include <stdio.h>

void ops_elementwise_plan(const char* name, ops_elementwise_arguments_t* a,
                          ops_vector_launch_t* launch) {
  // A tile has at most 1024 rows.
  a->rows_each = a->row_bytes >= OPS_EACH_PIECE ? 1 : OPS_EACH_PIECE / a->row_bytes;
  if (a->rows_each > 1024) a->rows_each = 1024;
  if ((a->second == OPS_EACH_ROWS && a->period < a->rows) || a->second == OPS_EACH_GROUP)
    while (a->period % a->rows_each != 0) --a->rows_each;
  a->chunks = (a->row_bytes + OPS_EACH_PIECE - 1) / OPS_EACH_PIECE;
  const uint64_t pieces = ((uint64_t)a->rows + a->rows_each - 1) / a->rows_each * a->chunks;
  launch->piece = OPS_EACH_PIECE;
  launch->work_groups = (uint32_t)((pieces + OPS_EACH_WAVEFRONTS - 1) / OPS_EACH_WAVEFRONTS);
  snprintf(launch->kernel, sizeof launch->kernel, "each_%s", name);
}
