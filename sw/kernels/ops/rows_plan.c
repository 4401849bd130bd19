// SPDX-License-Identifier: Apache-2.0
// See rows_plan.h.
#include "sw/kernels/ops/rows_plan.h"

#include <stdio.h>
#include <string.h>

#include "sw/include/formats/machine_types.h"

static uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }
static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// Columns of FP32 lie beside a piece of short rows: one of so many rows has 1 KiB.
#define MOST_SHORT_ROWS 256u

// Rows of a tile, of which it has at most 1024.
static uint32_t rows_of(uint32_t piece, uint32_t row_bytes) {
  return row_bytes >= piece ? 1 : (uint32_t)least(1024, piece / row_bytes);
}

static uint32_t element_number(ops_element_t element) {
  return element == OPS_FP16 ? STRETTO_FP16 : element == OPS_BF16 ? STRETTO_BF16 : STRETTO_FP32;
}

uint64_t ops_resident(const ops_machine_t* machine, uint32_t registers, uint32_t lds,
                      uint32_t wavefronts) {
  uint64_t each = least(machine->registers_bytes / registers, machine->wavefronts / wavefronts);
  each = least(each, machine->work_groups);
  if (lds != 0) each = least(each, machine->lds_bytes / lds);
  return each * machine->units;
}

static void sum_parts(ops_element_t element, ops_sum_arguments_t* a, ops_sum_launch_t* launch) {
  a->out_element = element_number(element);
  snprintf(launch->second.kernel, sizeof launch->second.kernel, "sum_parts_%s",
           ops_element_name(element));
  launch->second.work_groups = (uint32_t)divide_up(a->columns, OPS_SUM_PARTS_COLUMNS);
  launch->part_bytes = (uint64_t)a->part_count * a->columns * 4;
}

void ops_rows_plan(const ops_machine_t* machine, const char* name, ops_element_t element,
                   ops_rows_arguments_t* a, ops_vector_launch_t* launch,
                   ops_sum_arguments_t* sum_arguments, ops_sum_launch_t* sums) {
  const int is_layer_norm_grad = strcmp(name, "layer_norm_grad") == 0;
  const int is_grad = is_layer_norm_grad || strcmp(name, "softmax_grad") == 0;
  const uint32_t pieces = is_layer_norm_grad                ? OPS_ROWS_LAYER_NORM_GRAD_PIECES
                          : is_grad                         ? OPS_ROWS_SOFTMAX_GRAD_PIECES
                          : strcmp(name, "layer_norm") == 0 ? OPS_ROWS_LAYER_NORM_PIECES
                                                            : OPS_ROWS_SOFTMAX_PIECES;
  // One wavefront alone holds several pieces of gradients only.
  uint32_t wide = is_grad || a->row_bytes <= OPS_ROWS_PIECE ? 1 : 4;
  while (wide <= OPS_ROWS_MAX_TEAM && a->row_bytes > wide * pieces * OPS_ROWS_PIECE)
    wide = wide == 1 ? 4 : 2 * wide;
  const int is_long = wide > OPS_ROWS_MAX_TEAM;
  if (is_long) wide = OPS_ROWS_MAX_TEAM;
  // Parts begin at sectors of the L2.
  a->share = wide == 1 ? a->row_bytes : (uint32_t)divide_up(a->row_bytes, wide * 64) * 64;
  a->rows_each = wide != 1 || (sums != NULL && is_layer_norm_grad)
                     ? 1
                     : (uint32_t)least(MOST_SHORT_ROWS, rows_of(OPS_ROWS_PIECE, a->row_bytes));
  char team[8];
  snprintf(team, sizeof team, is_long ? "long" : "w%u", wide);
  snprintf(launch->kernel, sizeof launch->kernel, "%s_%s_%s", name, ops_element_name(element),
           team);
  launch->piece = OPS_ROWS_PIECE;
  const uint32_t wavefronts = wide == 1 ? 4 : wide;
  const uint32_t registers =
      wavefronts * (is_layer_norm_grad ? OPS_ROWS_LAYER_NORM_GRAD_REGISTERS : OPS_ROWS_REGISTERS);
  const uint64_t teams = divide_up(a->rows, a->rows_each);
  launch->work_groups = (uint32_t)least(ops_resident(machine, registers, OPS_ROWS_LDS, wavefronts),
                                        wide == 1 ? divide_up(teams, wavefronts) : teams);
  if (!is_layer_norm_grad || sums == NULL) return;
  memset(sum_arguments, 0, sizeof *sum_arguments);
  sum_arguments->columns = 2 * (a->row_bytes / ops_element_bytes(element));
  sum_arguments->part_count =
      (uint32_t)least(a->rows, launch->work_groups * (wide == 1 ? wavefronts : 1));
  memset(sums, 0, sizeof *sums);
  sum_parts(element, sum_arguments, sums);
}

void ops_sum_rows_plan(const ops_machine_t* machine, ops_element_t element, ops_sum_arguments_t* a,
                       ops_sum_launch_t* launch) {
  memset(launch, 0, sizeof *launch);
  a->columns = a->row_bytes / ops_element_bytes(element);
  a->rows_each = rows_of(OPS_SUM_PIECE, a->row_bytes);
  a->chunks = (uint32_t)divide_up(a->row_bytes, OPS_SUM_PIECE);
  const uint64_t resident =
      ops_resident(machine, OPS_SUM_ROWS_REGISTERS, OPS_SUM_ROWS_LDS, OPS_SUM_ROWS_WAVEFRONTS);
  // All pieces beside each other have as many parts; as many as fill the GPU, if there are rows for them.
  const uint64_t most = divide_up(a->rows, (uint64_t)a->rows_each * OPS_SUM_ROWS_WAVEFRONTS);
  const uint64_t wanted = resident / a->chunks;
  a->part_count = (uint32_t)least(wanted == 0 ? 1 : wanted, most);
  snprintf(launch->first.kernel, sizeof launch->first.kernel, "sum_rows_%s",
           ops_element_name(element));
  launch->first.piece = OPS_SUM_PIECE;
  launch->first.work_groups = a->part_count * a->chunks;
  sum_parts(element, a, launch);
}

static void columns_launch(const ops_machine_t* machine, ops_element_t element,
                           ops_sum_arguments_t* a, ops_vector_launch_t* launch) {
  launch->piece = a->row_bytes > OPS_SUM_PIECE ? OPS_SUM_LONG_PIECE : OPS_SUM_PIECE;
  a->rows_each = rows_of(launch->piece, a->row_bytes);
  a->chunks = (uint32_t)divide_up(a->row_bytes, launch->piece);
  snprintf(launch->kernel, sizeof launch->kernel, "sum_columns_%s_%u", ops_element_name(element),
           launch->piece);
  const uint32_t wavefronts = OPS_SUM_COLUMNS_WAVEFRONTS(launch->piece);
  const uint64_t pieces = divide_up(a->rows, a->rows_each) * a->chunks;
  launch->work_groups = (uint32_t)least(
      ops_resident(machine, OPS_SUM_COLUMNS_REGISTERS(launch->piece), 0, wavefronts),
      divide_up(pieces, wavefronts));
}

void ops_sum_groups_plan(const ops_machine_t* machine, ops_element_t element,
                         ops_sum_arguments_t* a, ops_sum_launch_t* launch) {
  memset(launch, 0, sizeof *launch);
  a->rows_each = rows_of(OPS_SUM_PIECE, a->row_bytes);
  a->chunks = (uint32_t)divide_up(a->row_bytes, OPS_SUM_PIECE);
  snprintf(launch->first.kernel, sizeof launch->first.kernel, "sum_groups_%s",
           ops_element_name(element));
  launch->first.piece = OPS_SUM_PIECE;
  const uint64_t pieces = divide_up(a->rows, a->rows_each) * a->chunks;
  launch->first.work_groups =
      (uint32_t)least(ops_resident(machine, OPS_SUM_GROUPS_REGISTERS, 0, OPS_SUM_GROUPS_WAVEFRONTS),
                      divide_up(pieces, OPS_SUM_GROUPS_WAVEFRONTS));
}

int ops_sum_columns_plan(const ops_machine_t* machine, ops_element_t element,
                         ops_sum_arguments_t* a, ops_sum_arguments_t* second,
                         ops_sum_launch_t* launch) {
  memset(launch, 0, sizeof *launch);
  columns_launch(machine, element, a, &launch->first);
  a->out_element = element_number(element);
  if (a->chunks == 1) return 1;
  if (a->chunks > OPS_SUM_LONG_PIECE / 4) return 0;
  a->out_element = element_number(OPS_FP32);
  memset(second, 0, sizeof *second);
  second->rows = a->rows;
  second->row_bytes = a->chunks * 4;
  second->out_element = element_number(element);
  columns_launch(machine, OPS_FP32, second, &launch->second);
  launch->part_bytes = (uint64_t)a->rows * second->row_bytes;
  return 1;
}
