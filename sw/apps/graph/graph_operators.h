// SPDX-License-Identifier: Apache-2.0
// Operators of a graph as kernels of their own: those of the kernel library (sw/kernels/ops), for every operator.
#ifndef STRETTO_SW_APPS_GRAPH_GRAPH_OPERATORS_H_
#define STRETTO_SW_APPS_GRAPH_GRAPH_OPERATORS_H_

#include "sw/compiler/loop_arguments.h"
#include "sw/kernels/fused/fused_plan.h"
#include "sw/kernels/ops/elementwise_plan.h"
#include "sw/kernels/ops/index_plan.h"
#include "sw/kernels/ops/rows_plan.h"
#include "sw/kernels/ops/update.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum graph_form {
  GRAPH_PRODUCT,
  GRAPH_MAP,     // Element by element, of vector.h.
  GRAPH_EACH,    // Of elementwise.h.
  GRAPH_ROPE,    // Of elementwise.h: x, cosines, sines.
  GRAPH_COPIES,  // Likewise: parts of operands.
  GRAPH_ROWS,
  GRAPH_NORM_SUMS,  // Gradient of layer norm for gamma.
  GRAPH_SUM_ROWS,
  GRAPH_SUM_COLUMNS,
  GRAPH_SUM_GROUPS,  // Of `period` rows that follow each other.
  GRAPH_GATHER,
  GRAPH_SCATTER,
  GRAPH_CHAIN,  // Products, vertically fused.
  GRAPH_UPDATE  // Of weights with masters, of update.h.
} graph_form_t;

// Parts of the library, an ELF each.
typedef enum graph_library {
  GRAPH_GEMM_KERNELS,
  GRAPH_STREAM_KERNELS,  // GEMMs whose work-groups share tiles.
  GRAPH_VECTOR_KERNELS,
  GRAPH_EACH_KERNELS,
  GRAPH_ROWS_KERNELS,
  GRAPH_REDUCE_KERNELS,
  GRAPH_INDEX_KERNELS,
  GRAPH_FUSED_KERNELS,
  GRAPH_UPDATE_KERNELS,
  GRAPH_LIBRARIES
} graph_library_t;

// Matrices of an operand; places are bytes from the begin of the arena, gradients lie behind it.
typedef struct graph_operand {
  uint64_t place;
  uint64_t outer;  // Bytes from one matrix to the next, see ops_gemm_arguments_t.
  uint64_t inner;
  uint32_t pitch;
} graph_operand_t;

// Rows that are copied, or zeros if there is nothing to copy them from.
typedef struct graph_copy {
  uint64_t from, to;  // Places.
  int is_fill;
  uint32_t rows, row_bytes, in_pitch, out_pitch;
} graph_copy_t;

typedef struct graph_operator {
  graph_form_t form;
  const char* kernel;  // Of the library, without element; of products, choice.kernel.
  graph_operand_t in[3];
  graph_operand_t out;
  uint64_t words;  // Place of OPS_ROWS_WORDS words.
  int has_factor;  // One of them is other than 1.
  // Of products.
  ops_gemm_shape_t gemm;
  uint32_t inner;
  uint32_t activation;
  int has_bias;
  uint64_t addend;           // Place of what is added to it, with gemm.has_addend.
  ops_gemm_choice_t choice;  // graph_choose().
  // Of others: of the first operand, and how the second is repeated (elementwise.h).
  uint32_t rows;
  uint32_t columns;
  uint32_t second;
  uint32_t period;
  const graph_copy_t* copies;
  uint32_t copy_count;
  // GRAPH_GATHER: `rows` results; in[1] are indices; of columns, in[0] has `period` rows and a pitch. GRAPH_SCATTER:
  // `rows` indices, `period` slices, each with the pitches; place of sorted rows, of segments of both launches, and how
  // many of those (index_plan.h).
  uint64_t list, first, second_list;
  uint32_t first_count, second_count;
  // GRAPH_CHAIN: addresses are places, GRAPH_NOWHERE is none.
  fused_arguments_t chain;
} graph_operator_t;

#define GRAPH_NOWHERE (~0ull)

// Operators first_op .. first_op + ops - 1 of a plan as one.
typedef struct graph_fused {
  uint32_t first_op;
  uint32_t ops;
  graph_operator_t op;
} graph_fused_t;

#define GRAPH_MAX_COPIES 64u
#define GRAPH_MAX_LAUNCHES GRAPH_MAX_COPIES  // Of an operator.

typedef struct graph_launch {
  char kernel[40];
  graph_library_t library;
  uint32_t work_groups;
  uint32_t argument_bytes;
  union {
    ops_gemm_arguments_t gemm;
    ops_vector_arguments_t vector;
    ops_elementwise_arguments_t each;
    ops_rows_arguments_t rows;
    ops_sum_arguments_t sum;
    ops_index_arguments_t index;
    fused_arguments_t fused;
    ops_update_arguments_t update;
  } arguments;
} graph_launch_t;

// Addresses.
typedef struct graph_memory {
  uint64_t arena;
  uint64_t gradients;
  uint64_t partials;
  uint64_t flags;  // Zero at first; operators leave them so.
} graph_memory_t;

// Name of the ELF.
const char* graph_library(graph_library_t library);
// The kernel of each product, in so many parts of K or, if that is 0, the best number; and the bytes of partial sums
// and of flags that one operator needs at most. 0: the machine runs none for one of them.
int graph_choose(const ops_machine_t* machine, graph_operator_t* operators, uint32_t count,
                 uint32_t parts, uint64_t* partial_bytes, uint64_t* flag_bytes);
// A loop kernel of so many work-groups as a machine for graph_choose(): one work-group a unit.
ops_machine_t graph_loop_machine(const ops_machine_t* machine, uint32_t compute);
// What such a kernel has behind its arguments; returns how many.
uint32_t graph_loop_choices(const graph_operator_t* operators, uint32_t count,
                            loop_choice_t* choices);
// The launches of an operator, one after the other; returns how many.
uint32_t graph_launches(const ops_machine_t* machine, const graph_operator_t* op,
                        const graph_memory_t* memory, graph_launch_t* launches);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_GRAPH_GRAPH_OPERATORS_H_
