// SPDX-License-Identifier: Apache-2.0
// See graph_operators.h.
#include "sw/apps/graph_operators.h"

#include <stdio.h>

#define ELEMENT_BYTES 2u

int graph_choose(const ops_machine_t* machine, graph_operator_t* operators, uint32_t count,
                 uint32_t parts, uint64_t* partial_bytes) {
  const ops_gemm_choice_t wanted = {.split = parts};
  *partial_bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    graph_operator_t* op = &operators[i];
    if (op->gemm.m == 0) continue;
    if (!ops_gemm_choose(machine, &op->gemm, &wanted, &op->choice)) return 0;
    if (op->choice.partial_bytes > *partial_bytes) *partial_bytes = op->choice.partial_bytes;
  }
  return 1;
}

ops_machine_t graph_loop_machine(const ops_machine_t* machine, uint32_t compute) {
  ops_machine_t loop = *machine;
  loop.units = compute;
  loop.work_groups = 1;
  loop.wavefronts = GEMM_WAVEFRONTS;
  loop.lds_bytes = LOOP_LDS_BYTES;
  return loop;
}

uint32_t graph_loop_choices(const graph_operator_t* operators, uint32_t count,
                            loop_choice_t* choices) {
  uint32_t products = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const ops_gemm_choice_t* by = &operators[i].choice;
    if (operators[i].gemm.m == 0) continue;
    ops_gemm_arguments_t g;
    ops_gemm_fill(&operators[i].gemm, by, &g);
    choices[products++] = (loop_choice_t){.tile_m = (uint16_t)by->tile_m,
                                          .tile_n = (uint16_t)by->tile_n,
                                          .strip = (uint16_t)g.strip,
                                          .step = (uint8_t)by->step,
                                          .stages = (uint8_t)by->stages};
  }
  return products;
}

static uint32_t launch_product(const graph_operator_t* op, const graph_memory_t* memory,
                               graph_launch_t* launches) {
  const graph_operand_t *a = &op->in[0], *b = &op->in[1], *c = &op->out;
  ops_gemm_arguments_t g;
  ops_gemm_fill(&op->gemm, &op->choice, &g);
  g.a = memory->arena + a->place;
  g.b = memory->arena + b->place;
  g.c = memory->arena + c->place;
  if (op->has_bias) g.bias = memory->arena + op->in[2].place;
  g.partials = memory->partials;
  g.inner = op->inner;
  g.a_stride = a->inner;
  g.b_stride = b->inner;
  g.c_stride = c->inner;
  g.a_outer = a->outer;
  g.b_outer = b->outer;
  g.c_outer = c->outer;
  g.lda = a->pitch;
  g.ldb = b->pitch;
  g.ldc = c->pitch;
  g.activation = op->activation;
  const ops_gemm_choice_t* choice = &op->choice;
  const uint32_t count = choice->split > 1 ? 2 : 1;
  for (uint32_t i = 0; i < count; ++i) {
    launches[i] =
        (graph_launch_t){.of_library = 1,
                         .work_groups = i == 0 ? choice->work_groups : choice->reduce_work_groups,
                         .argument_bytes = sizeof g,
                         .arguments.gemm = g};
    snprintf(launches[i].kernel, sizeof launches[i].kernel, "%s",
             i == 0 ? choice->kernel : choice->reduce);
  }
  return count;
}

// 0: not by the library.
static uint32_t launch_vector(const ops_machine_t* machine, const graph_operator_t* op,
                              const graph_memory_t* memory, graph_launch_t* launch) {
  ops_vector_launch_t choice;
  ops_vector_arguments_t g = {
      .in = {memory->arena + op->in[0].place, memory->arena + op->in[1].place,
             memory->arena + op->in[2].place},
      .out = memory->arena + op->out.place,
      .bytes = (uint64_t)op->rows * op->columns * ELEMENT_BYTES,
      .constant = memory->arena + op->in[3].place,
      .rows = op->rows,
      .row_bytes = op->columns * ELEMENT_BYTES};
  if (op->vector == NULL || !ops_vector_plan(machine, op->vector, OPS_FP16, &g, &choice)) return 0;
  *launch = (graph_launch_t){.of_library = 1,
                             .work_groups = choice.work_groups,
                             .argument_bytes = sizeof g,
                             .arguments.vector = g};
  snprintf(launch->kernel, sizeof launch->kernel, "%s", choice.kernel);
  return 1;
}

uint32_t graph_launches(const ops_machine_t* machine, const graph_operator_t* operators,
                        uint32_t index, const graph_memory_t* memory, graph_launch_t* launches) {
  const graph_operator_t* op = &operators[index];
  if (op->gemm.m != 0) return launch_product(op, memory, launches);
  if (launch_vector(machine, op, memory, launches)) return 1;
  *launches = (graph_launch_t){.kernel = "graph_rows",
                               .work_groups = op->tiles,
                               .argument_bytes = sizeof(loop_arguments_t),
                               .arguments.rows = {.arena = memory->arena,
                                                  .gradients = memory->gradients,
                                                  .compute = op->tiles,
                                                  .op = index}};
  return 1;
}
