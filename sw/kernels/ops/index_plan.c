// SPDX-License-Identifier: Apache-2.0
// See index_plan.h.
#include "sw/kernels/ops/index_plan.h"

#include <stdio.h>
#include <string.h>

#include "sw/kernels/ops/rows_plan.h"

static uint32_t groups(const ops_machine_t* machine, uint32_t registers, uint64_t wavefronts) {
  const uint64_t resident = ops_resident(machine, registers, 0, OPS_INDEX_WAVEFRONTS);
  const uint64_t needed = (wavefronts + OPS_INDEX_WAVEFRONTS - 1) / OPS_INDEX_WAVEFRONTS;
  return (uint32_t)(resident < needed ? resident : needed);
}

void ops_gather_plan(const ops_machine_t* machine, const ops_index_arguments_t* a,
                     ops_vector_launch_t* launch) {
  memset(launch, 0, sizeof *launch);
  if (a->pitch != 0) {
    const uint64_t rows = ops_gather_rows(a->row_bytes);
    launch->piece = OPS_GATHER_COLUMNS_PIECE;
    snprintf(launch->kernel, sizeof launch->kernel, "gather_columns");
    launch->work_groups = groups(machine, OPS_GATHER_REGISTERS(launch->piece),
                                 ((a->columns + rows - 1) / rows * a->count + 7) / 8);
    return;
  }
  launch->piece = a->row_bytes > OPS_GATHER_PIECE ? OPS_GATHER_LONG_PIECE : OPS_GATHER_PIECE;
  snprintf(launch->kernel, sizeof launch->kernel, "gather_%u", launch->piece);
  launch->work_groups =
      groups(machine, OPS_GATHER_REGISTERS(launch->piece), ((uint64_t)a->count + 7) / 8);
}

void ops_bag_plan(const ops_machine_t* machine, ops_element_t element, int parts,
                  const ops_index_arguments_t* a, ops_vector_launch_t* launch) {
  memset(launch, 0, sizeof *launch);
  const uint32_t columns =
      (uint64_t)a->columns * a->slices > OPS_BAG_COLUMNS ? OPS_BAG_LONG_COLUMNS : OPS_BAG_COLUMNS;
  const uint32_t together = ops_bag_slices(a, columns);
  launch->piece = columns * ops_element_bytes(element);
  snprintf(launch->kernel, sizeof launch->kernel, "bag_%s%s_%u", parts ? "parts_" : "",
           ops_element_name(element), columns);
  launch->work_groups =
      groups(machine, OPS_BAG_REGISTERS(columns, parts ? 4 : ops_element_bytes(element)),
             (uint64_t)a->count * ((a->slices + together - 1) / together));
}

ops_bag_cut_t ops_bag_cut(const uint32_t* offsets, uint32_t rows, ops_index_segment_t* first,
                          ops_index_segment_t* second) {
  ops_bag_cut_t cut = {0, 0, 0};
  for (uint32_t row = 0; row < rows; ++row) {
    const uint32_t begin = offsets[row], count = offsets[row + 1] - begin;
    const uint32_t pieces = (count + OPS_BAG_SEGMENT - 1) / OPS_BAG_SEGMENT;
    if (pieces <= 1) {
      if (first != NULL) first[cut.first] = (ops_index_segment_t){begin, count, row, 0};
      ++cut.first;
      continue;
    }
    if (second != NULL) second[cut.second] = (ops_index_segment_t){cut.parts, pieces, row, 0};
    ++cut.second;
    for (uint32_t i = 0; i < pieces; ++i) {
      const uint32_t at = i * OPS_BAG_SEGMENT;
      const uint32_t left = count - at;
      if (first != NULL)
        first[cut.first] = (ops_index_segment_t){
            begin + at, left < OPS_BAG_SEGMENT ? left : OPS_BAG_SEGMENT, cut.parts, 1};
      ++cut.first;
      ++cut.parts;
    }
  }
  return cut;
}
