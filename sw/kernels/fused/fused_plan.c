// SPDX-License-Identifier: Apache-2.0
// See fused_plan.h.
#include "sw/kernels/fused/fused_plan.h"

#include <stdio.h>

#include "sw/kernels/ops/rows_plan.h"

int fused_plan(const ops_machine_t* machine, fused_arguments_t* g, ops_vector_launch_t* launch) {
  // Columns of one product alone are cut into blocks of the kernel of which more work-groups fit a unit.
  const int is_cut = g->products == 1 && !g->has_norm;
  uint32_t most = 0;
  for (uint32_t i = 0; i < g->products && !is_cut; ++i)
    if (g->product[i].n > most) most = g->product[i].n;
  const int is_norm = most > FUSED_MOST_COLUMNS;  // Of one product.
  if (is_norm && (g->products > 1 || most > FUSED_NORM_COLUMNS)) return 0;
  const uint32_t columns = is_norm ? FUSED_NORM_COLUMNS : most <= 128 ? 128 : FUSED_MOST_COLUMNS;
  g->tile_rows = is_norm ? FUSED_NORM_ROWS : FUSED_TILE_ROWS;
  g->blocks = is_cut ? (g->product[0].n + columns - 1) / columns : 1;
  const uint64_t resident =
      ops_resident(machine, FUSED_REGISTERS(g->tile_rows, columns),
                   is_norm ? FUSED_NORM_LDS : FUSED_LDS(columns), FUSED_WAVEFRONTS);
  const uint64_t items = (uint64_t)((g->rows + g->tile_rows - 1) / g->tile_rows) * g->blocks;
  launch->work_groups = (uint32_t)(items < resident ? items : resident);
  launch->piece = 0;
  snprintf(launch->kernel, sizeof launch->kernel, "fused_%u", columns);
  return resident != 0;
}
