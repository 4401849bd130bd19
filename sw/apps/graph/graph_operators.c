// SPDX-License-Identifier: Apache-2.0
// See graph_operators.h.
#include "sw/apps/graph/graph_operators.h"

#include <stdio.h>
#include <string.h>

#define ELEMENT_BYTES 2u

const char* graph_library(graph_library_t library) {
  static const char* const names[] = {
      "ops_gemm_fp16", "ops_gemm_stream_fp16", "ops_vector_fp16", "ops_elementwise_fp16",
      "ops_rows_fp16", "ops_reduce_fp16",      "ops_index_fp16",  "fused",
      "ops_update"};
  return names[library];
}

// Sums over rows are products to a loop kernel.
static int has_product(const graph_operator_t* op) { return op->gemm.m != 0; }

// Of sums over rows and over columns; the latter have other arguments in their second launch.
static ops_sum_launch_t plan_sum(const ops_machine_t* machine, const graph_operator_t* op,
                                 ops_sum_arguments_t* g, ops_sum_arguments_t* second) {
  ops_sum_launch_t launch;
  *g = (ops_sum_arguments_t){.rows = op->rows, .row_bytes = op->columns * ELEMENT_BYTES};
  if (op->form == GRAPH_SUM_ROWS) {
    ops_sum_rows_plan(machine, OPS_FP16, g, &launch);
    *second = *g;
  } else if (op->form == GRAPH_SUM_GROUPS) {
    g->part_count = op->period;
    ops_sum_groups_plan(machine, OPS_FP16, g, &launch);
    *second = *g;
  } else {
    (void)ops_sum_columns_plan(machine, OPS_FP16, g, second, &launch);
  }
  return launch;
}

// Gradient of layer norm with sums for gamma and beta.
static ops_sum_launch_t plan_norm_sums(const ops_machine_t* machine, const graph_operator_t* op,
                                       ops_rows_arguments_t* g, ops_sum_arguments_t* sum) {
  ops_sum_launch_t launch = {0};
  *g = (ops_rows_arguments_t){.rows = op->rows, .row_bytes = op->columns * ELEMENT_BYTES};
  ops_vector_launch_t first;
  ops_rows_plan(machine, "layer_norm_grad", OPS_FP16, g, &first, sum, &launch);
  launch.first = first;
  // Those for gamma alone.
  sum->pitch = sum->columns;
  sum->columns = op->columns;
  launch.second.work_groups = (op->columns + OPS_SUM_PARTS_COLUMNS - 1) / OPS_SUM_PARTS_COLUMNS;
  return launch;
}

// Lists of more than OPS_BAG_SEGMENT rows are cut.
static uint64_t scatter_parts_pitch(const graph_operator_t* op) {
  return (uint64_t)(op->rows / (OPS_BAG_SEGMENT / 2) + 1) * op->columns * 4;
}

static uint64_t part_bytes(const ops_machine_t* machine, const graph_operator_t* op) {
  ops_sum_arguments_t g, second;
  ops_rows_arguments_t rows;
  switch (op->form) {
    case GRAPH_PRODUCT: return op->choice.partial_bytes;
    case GRAPH_SUM_ROWS:
    case GRAPH_SUM_GROUPS:
    case GRAPH_SUM_COLUMNS: return plan_sum(machine, op, &g, &second).part_bytes;
    case GRAPH_NORM_SUMS: return plan_norm_sums(machine, op, &rows, &g).part_bytes;
    case GRAPH_SCATTER: return scatter_parts_pitch(op) * op->period;
    default: return 0;
  }
}

int graph_choose(const ops_machine_t* machine, graph_operator_t* operators, uint32_t count,
                 uint32_t parts, uint64_t* partial_bytes, uint64_t* flag_bytes) {
  const ops_gemm_choice_t wanted = {.split = parts};
  *partial_bytes = *flag_bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    graph_operator_t* op = &operators[i];
    if (has_product(op) && !ops_gemm_choose(machine, &op->gemm, &wanted, &op->choice)) return 0;
    const uint64_t bytes = part_bytes(machine, op);
    if (bytes > *partial_bytes) *partial_bytes = bytes;
    if (op->choice.flag_bytes > *flag_bytes) *flag_bytes = op->choice.flag_bytes;
  }
  if (*flag_bytes != 0) *partial_bytes = (*partial_bytes + 4095) & ~4095ull;  // Flags lie behind.
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
    if (!has_product(&operators[i])) continue;
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
  if (op->gemm.has_addend) g.addend = memory->arena + op->addend;
  g.partials = memory->partials;
  g.flags = memory->flags;
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
    launches[i] = (graph_launch_t){
        .library = choice->streams == 0 ? GRAPH_GEMM_KERNELS : GRAPH_STREAM_KERNELS,
        .work_groups = i == 0 ? choice->work_groups : choice->reduce_work_groups,
        .argument_bytes = choice->argument_bytes,
        .arguments.gemm = g};
    snprintf(launches[i].kernel, sizeof launches[i].kernel, "%s",
             i == 0 ? choice->kernel : choice->reduce);
  }
  return count;
}

static graph_launch_t launch_of(graph_library_t library, const ops_vector_launch_t* choice,
                                uint32_t argument_bytes) {
  graph_launch_t launch = {
      .library = library, .work_groups = choice->work_groups, .argument_bytes = argument_bytes};
  snprintf(launch.kernel, sizeof launch.kernel, "%s", choice->kernel);
  return launch;
}

static graph_launch_t launch_map(const ops_machine_t* machine, const graph_operator_t* op,
                                 const graph_memory_t* memory) {
  ops_vector_arguments_t g = {
      .in = {memory->arena + op->in[0].place, memory->arena + op->in[1].place},
      .out = memory->arena + op->out.place,
      .bytes = (uint64_t)op->rows * op->columns * ELEMENT_BYTES};
  ops_vector_launch_t choice;
  (void)ops_vector_plan(machine, op->kernel, OPS_FP16, &g, &choice);
  graph_launch_t launch = launch_of(GRAPH_VECTOR_KERNELS, &choice, sizeof g);
  launch.arguments.vector = g;
  return launch;
}

static graph_launch_t each_of(const char* kernel, ops_elementwise_arguments_t* g) {
  ops_vector_launch_t choice;
  ops_elementwise_plan(kernel, g, &choice);
  graph_launch_t launch = launch_of(GRAPH_EACH_KERNELS, &choice, sizeof *g);
  launch.arguments.each = *g;
  return launch;
}

static graph_launch_t launch_each(const graph_operator_t* op, const graph_memory_t* memory) {
  ops_elementwise_arguments_t g = {
      .in = {memory->arena + op->in[0].place, memory->arena + op->in[1].place},
      .out = memory->arena + op->out.place,
      .factor = op->has_factor ? memory->arena + op->words + 4 * OPS_ROWS_FACTOR : 0,
      .rows = op->rows,
      .row_bytes = op->columns * ELEMENT_BYTES,
      .second = op->second,
      .period = op->period};
  if (op->form == GRAPH_ROPE) g.factor = memory->arena + op->in[2].place;
  return each_of(op->kernel, &g);
}

static uint32_t launch_copies(const graph_operator_t* op, const graph_memory_t* memory,
                              graph_launch_t* launches) {
  for (uint32_t i = 0; i < op->copy_count; ++i) {
    const graph_copy_t* one = &op->copies[i];
    ops_elementwise_arguments_t g = {.in = {memory->arena + one->from},
                                     .out = memory->arena + one->to,
                                     .rows = one->rows,
                                     .row_bytes = one->row_bytes,
                                     .period = one->rows,
                                     .in_pitch = one->in_pitch,
                                     .out_pitch = one->out_pitch};
    launches[i] = each_of(one->is_fill ? "fill" : "copy", &g);
  }
  return op->copy_count;
}

static graph_launch_t launch_rows(const ops_machine_t* machine, const graph_operator_t* op,
                                  const graph_memory_t* memory) {
  const uint64_t words = memory->arena + op->words;
  ops_rows_arguments_t g = {.in = {memory->arena + op->in[0].place, memory->arena + op->in[1].place,
                                   memory->arena + op->in[2].place},
                            .out = memory->arena + op->out.place,
                            .constants = words,
                            .rows = op->rows,
                            .row_bytes = op->columns * ELEMENT_BYTES};
  if (strncmp(op->kernel, "softmax", 7) == 0)
    g.in[2] = op->has_factor ? words + 4 * OPS_ROWS_FACTOR : 0;
  ops_vector_launch_t choice;
  ops_rows_plan(machine, op->kernel, OPS_FP16, &g, &choice, NULL, NULL);
  graph_launch_t launch = launch_of(GRAPH_ROWS_KERNELS, &choice, sizeof g);
  launch.arguments.rows = g;
  return launch;
}

static uint32_t launch_sum(const ops_machine_t* machine, const graph_operator_t* op,
                           const graph_memory_t* memory, graph_launch_t* launches) {
  ops_sum_arguments_t g, second;
  const ops_sum_launch_t plan = plan_sum(machine, op, &g, &second);
  const int count = plan.second.work_groups != 0 ? 2 : 1;
  const uint64_t out = memory->arena + op->out.place;
  g.in = memory->arena + op->in[0].place;
  g.parts = second.parts = second.in = memory->partials;
  g.out = count == 2 ? memory->partials : out;
  second.out = out;
  (count == 2 ? &second : &g)->factor =
      op->has_factor ? memory->arena + op->words + 4 * OPS_ROWS_FACTOR : 0;
  launches[0] = launch_of(GRAPH_REDUCE_KERNELS, &plan.first, sizeof g);
  launches[1] = launch_of(GRAPH_REDUCE_KERNELS, &plan.second, sizeof g);
  launches[0].arguments.sum = g;
  launches[1].arguments.sum = second;
  return (uint32_t)count;
}

static uint32_t launch_norm_sums(const ops_machine_t* machine, const graph_operator_t* op,
                                 const graph_memory_t* memory, graph_launch_t* launches) {
  ops_rows_arguments_t g;
  ops_sum_arguments_t sum;
  const ops_sum_launch_t plan = plan_norm_sums(machine, op, &g, &sum);
  g.in[0] = g.in[2] = memory->arena + op->in[0].place;  // Any gamma does.
  g.in[1] = memory->arena + op->in[1].place;
  g.parts = sum.parts = memory->partials;
  g.constants = memory->arena + op->words;
  sum.out = memory->arena + op->out.place;
  launches[0] = launch_of(GRAPH_ROWS_KERNELS, &plan.first, sizeof g);
  launches[1] = launch_of(GRAPH_REDUCE_KERNELS, &plan.second, sizeof sum);
  launches[0].arguments.rows = g;
  launches[1].arguments.sum = sum;
  return 2;
}

static uint32_t launch_gather(const ops_machine_t* machine, const graph_operator_t* op,
                              const graph_memory_t* memory, graph_launch_t* launches) {
  const ops_index_arguments_t g = {.table = memory->arena + op->in[0].place,
                                   .indices = memory->arena + op->in[1].place,
                                   .out = memory->arena + op->out.place,
                                   .count = op->rows,
                                   .row_bytes = op->columns * ELEMENT_BYTES,
                                   .columns = op->period,
                                   .pitch = op->in[0].pitch};
  ops_vector_launch_t choice;
  ops_gather_plan(machine, &g, &choice);
  launches[0] = launch_of(GRAPH_INDEX_KERNELS, &choice, sizeof g);
  launches[0].arguments.index = g;
  return 1;
}

static uint32_t launch_scatter(const ops_machine_t* machine, const graph_operator_t* op,
                               const graph_memory_t* memory, graph_launch_t* launches) {
  ops_index_arguments_t g = {.table = memory->arena + op->in[0].place,
                             .indices = memory->arena + op->list,
                             .segments = memory->arena + op->first,
                             .out = memory->arena + op->out.place,
                             .parts = memory->partials,
                             .count = op->first_count,
                             .columns = op->columns,
                             .pitch = op->in[0].pitch,
                             .slices = op->period,
                             .out_pitch = op->out.pitch,
                             .parts_pitch = (uint32_t)scatter_parts_pitch(op)};
  ops_vector_launch_t choice;
  ops_bag_plan(machine, OPS_FP16, 0, &g, &choice);
  launches[0] = launch_of(GRAPH_INDEX_KERNELS, &choice, sizeof g);
  launches[0].arguments.index = g;
  if (op->second_count == 0) return 1;
  g.table = g.parts;
  g.pitch = g.parts_pitch;
  g.indices = 0;
  g.segments = memory->arena + op->second_list;
  g.count = op->second_count;
  ops_bag_plan(machine, OPS_FP16, 1, &g, &choice);
  launches[1] = launch_of(GRAPH_INDEX_KERNELS, &choice, sizeof g);
  launches[1].arguments.index = g;
  return 2;
}

static uint32_t launch_chain(const ops_machine_t* machine, const graph_operator_t* op,
                             const graph_memory_t* memory, graph_launch_t* launches) {
  fused_arguments_t g = op->chain;
  uint64_t* const places[] = {&g.in, &g.out, &g.keep, &g.gamma, &g.beta, &g.epsilon};
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i)
    *places[i] = *places[i] == GRAPH_NOWHERE ? 0 : memory->arena + *places[i];
  for (uint32_t i = 0; i < g.products; ++i) {
    fused_product_t* const p = &g.product[i];
    p->weights += memory->arena;
    p->bias = p->bias == GRAPH_NOWHERE ? 0 : memory->arena + p->bias;
  }
  ops_vector_launch_t choice;
  (void)fused_plan(machine, &g, &choice);
  launches[0] = launch_of(GRAPH_FUSED_KERNELS, &choice, sizeof g);
  launches[0].arguments.fused = g;
  return 1;
}

static graph_launch_t launch_update(const graph_operator_t* op, const graph_memory_t* memory) {
  const ops_update_arguments_t g = {.weight = memory->arena + op->in[0].place,
                                    .gradient = memory->arena + op->in[1].place,
                                    .master = memory->arena + op->in[2].place,
                                    .rate = memory->arena + op->words + 4 * OPS_ROWS_FACTOR,
                                    .elements = (uint64_t)op->rows * op->columns};
  const uint64_t pieces = (g.elements + OPS_UPDATE_PIECE - 1) / OPS_UPDATE_PIECE;
  const ops_vector_launch_t choice = {
      .kernel = "update_master",
      .work_groups = (uint32_t)((pieces + OPS_UPDATE_WAVEFRONTS - 1) / OPS_UPDATE_WAVEFRONTS)};
  graph_launch_t launch = launch_of(GRAPH_UPDATE_KERNELS, &choice, sizeof g);
  launch.arguments.update = g;
  return launch;
}

uint32_t graph_launches(const ops_machine_t* machine, const graph_operator_t* op,
                        const graph_memory_t* memory, graph_launch_t* launches) {
  switch (op->form) {
    case GRAPH_PRODUCT: return launch_product(op, memory, launches);
    case GRAPH_SUM_ROWS:
    case GRAPH_SUM_GROUPS:
    case GRAPH_SUM_COLUMNS: return launch_sum(machine, op, memory, launches);
    case GRAPH_NORM_SUMS: return launch_norm_sums(machine, op, memory, launches);
    case GRAPH_COPIES: return launch_copies(op, memory, launches);
    case GRAPH_GATHER: return launch_gather(machine, op, memory, launches);
    case GRAPH_SCATTER: return launch_scatter(machine, op, memory, launches);
    case GRAPH_CHAIN: return launch_chain(machine, op, memory, launches);
    case GRAPH_MAP: *launches = launch_map(machine, op, memory); return 1;
    case GRAPH_UPDATE: *launches = launch_update(op, memory); return 1;
    case GRAPH_ROWS: *launches = launch_rows(machine, op, memory); return 1;
    default: *launches = launch_each(op, memory); return 1;
  }
}
