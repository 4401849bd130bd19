// SPDX-License-Identifier: Apache-2.0
// Operators of a graph as kernels of their own: products and what else it has as the kernel library does them
// (sw/kernels/ops), the others by graph_rows of the graph's own ELF.
#ifndef STRETTO_SW_APPS_GRAPH_OPERATORS_H_
#define STRETTO_SW_APPS_GRAPH_OPERATORS_H_

#include "sw/compiler/loop_arguments.h"
#include "sw/kernels/ops/vector_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

// Matrices of an operand; places are bytes from the begin of the arena, gradients lie behind it.
typedef struct graph_operand {
  uint64_t place;
  uint64_t outer;  // Bytes from one matrix to the next, see ops_gemm_arguments_t.
  uint64_t inner;
  uint32_t pitch;
} graph_operand_t;

// Of a product: a, b, c. Of others: inputs, then a row of its constant.
typedef struct graph_operator {
  const char* vector;     // Kernel of the library (vector_plan.h) if there is one.
  uint32_t tiles;         // Work-groups of graph_rows.
  ops_gemm_shape_t gemm;  // m = 0: no product.
  uint32_t inner;
  uint32_t activation;
  int has_bias;
  graph_operand_t in[4];
  graph_operand_t out;
  uint32_t rows;
  uint32_t columns;
  ops_gemm_choice_t choice;  // graph_choose().
} graph_operator_t;

#define GRAPH_MAX_LAUNCHES 2u  // Of an operator.

typedef struct graph_launch {
  char kernel[40];
  int of_library;
  uint32_t work_groups;
  uint32_t argument_bytes;
  union {
    ops_gemm_arguments_t gemm;
    ops_vector_arguments_t vector;
    loop_arguments_t rows;
  } arguments;
} graph_launch_t;

// Addresses.
typedef struct graph_memory {
  uint64_t arena;
  uint64_t gradients;
  uint64_t partials;
} graph_memory_t;

// The kernel of each product, in so many parts of K or, if that is 0, the best number; and the bytes of partial sums that
// one of them needs at most. 0: the machine runs none for one of them.
int graph_choose(const ops_machine_t* machine, graph_operator_t* operators, uint32_t count,
                 uint32_t parts, uint64_t* partial_bytes);
// A loop kernel of so many work-groups as a machine for graph_choose(): one work-group a unit.
ops_machine_t graph_loop_machine(const ops_machine_t* machine, uint32_t compute);
// What such a kernel has behind its arguments; returns how many.
uint32_t graph_loop_choices(const graph_operator_t* operators, uint32_t count,
                            loop_choice_t* choices);
// The launches of operator `index`, one after the other; returns how many.
uint32_t graph_launches(const ops_machine_t* machine, const graph_operator_t* operators,
                        uint32_t index, const graph_memory_t* memory, graph_launch_t* launches);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_GRAPH_OPERATORS_H_
