// SPDX-License-Identifier: Apache-2.0
// Updates of weights with masters of FP32 in loop kernels, see update.h. Of graphs that have some.
#ifndef STRETTO_SW_COMPILER_LOOP_MASTER_H_
#define STRETTO_SW_COMPILER_LOOP_MASTER_H_

#include "sw/compiler/loop.h"
#include "sw/kernels/ops/update.h"

// A tile is eight pieces, a wavefront each.
typedef struct loop_master {
  uint64_t weight, gradient, master, rate;  // Places.
  uint32_t elements;
  uint32_t tiles;
} loop_master_t;

static __attribute__((noinline)) void loop_update(const loop_t* l, const loop_master_t* op,
                                                  uint32_t tile) {
  const uint64_t first = ((uint64_t)tile * GEMM_WAVEFRONTS + l->wavefront) * OPS_UPDATE_PIECE;
  if (first >= op->elements) return;
  const ops_update_arguments_t g = {.weight = loop_address(l, op->weight),
                                    .gradient = loop_address(l, op->gradient),
                                    .master = loop_address(l, op->master),
                                    .rate = loop_address(l, op->rate),
                                    .elements = op->elements};
  update_master_piece(&g, first);
}

#endif  // STRETTO_SW_COMPILER_LOOP_MASTER_H_
