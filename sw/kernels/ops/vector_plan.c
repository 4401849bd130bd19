// SPDX-License-Identifier: Apache-2.0
// See vector_plan.h.
#include "sw/kernels/ops/vector_plan.h"

#include <stdio.h>
#include <string.h>

static uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }
static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// Of a matrix whose rows are cut into pieces.
static uint64_t pieces_of(uint32_t rows, uint32_t row_bytes) {
  if (row_bytes < OPS_VECTOR_PIECE) return divide_up(rows, OPS_VECTOR_PIECE / row_bytes);
  return rows * divide_up(row_bytes, OPS_VECTOR_PIECE);
}

int ops_vector_plan(const ops_machine_t* machine, const char* name, ops_element_t element,
                    ops_vector_arguments_t* arguments, ops_vector_launch_t* launch) {
  uint64_t pieces = 0;
  launch->piece = OPS_VECTOR_PIECE;
  if (strncmp(name, "map_", 4) == 0) {
    pieces = divide_up(arguments->bytes, OPS_VECTOR_PIECE);
  } else if (strcmp(name, "concat") == 0) {
    pieces = pieces_of(arguments->rows, arguments->row_bytes) +
             pieces_of(arguments->rows, arguments->other_bytes);
  } else {
    if (arguments->row_bytes > OPS_VECTOR_LONG_PIECE) return 0;
    if (arguments->row_bytes > OPS_VECTOR_PIECE) launch->piece = OPS_VECTOR_LONG_PIECE;
    arguments->rows_each = launch->piece / arguments->row_bytes;
    // A tile has at most 1024 rows.
    if (arguments->rows_each > 1024) arguments->rows_each = 1024;
    pieces = divide_up(arguments->rows, arguments->rows_each);
  }
  const int is_gemv = strcmp(name, "gemv") == 0;
  if (is_gemv)
    snprintf(launch->kernel, sizeof launch->kernel, "%s_%s_%u", name, ops_element_name(element),
             launch->piece);
  else
    snprintf(launch->kernel, sizeof launch->kernel, "%s_%s", name, ops_element_name(element));
  const uint32_t wavefronts = OPS_VECTOR_WAVEFRONTS(launch->piece);
  const uint64_t all = divide_up(pieces, wavefronts);
  const uint64_t resident = least(
      least(machine->registers_bytes / OPS_VECTOR_REGISTERS(launch->piece, OPS_VECTOR_GEMV_TILES),
            machine->wavefronts / wavefronts),
      machine->work_groups);
  launch->work_groups = (uint32_t)(is_gemv ? least(machine->units * resident, all) : all);
  return 1;
}
