// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/gemm_job.h"

#include <utility>

#include "models/common/error.h"
#include "platform/jobs/operands.h"

namespace stretto {

void GemmShape::describe(ParameterSet& set, const char* m_is, const char* n_is, const char* k_is) {
  set.number("m", m, 1, 1u << 20, m_is);
  set.number("n", n, 1, 1u << 20, n_is);
  set.number("k", k, 1, 1u << 20, k_is);
  set.flag("b_k_contiguous", b_k_contiguous, "B is stored N x K, else K x N.");
}

std::string GemmShape::first_error() const {
  for (const auto& [key, size] : {std::pair("m", m), std::pair("n", n), std::pair("k", k)}) {
    if (size == 0) return std::string("needs ") + key;
  }
  return "";
}

void refuse_split_k(const JobRequest& request) {
  if (request.spec.software.split_k == 1) return;
  throw UserError("software.split_k=" + std::to_string(request.spec.software.split_k) +
                  " needs kind sub_layer: here memory does not add");
}

void check_even_rows(const std::string& who, const GemmShape& shape, uint32_t tile_m,
                     uint32_t ranks) {
  if (shape.tiles_m(tile_m) % ranks == 0) return;
  throw UserError(who + "has " + std::to_string(shape.tiles_m(tile_m)) + " row blocks of " +
                  std::to_string(tile_m) + ", which " + std::to_string(ranks) +
                  " GPUs cannot share evenly; change m or gpus");
}

void place_operands(MemoryImage& memory, const GemmShape& shape, const GemmOperands& at,
                    const OperandValue& a, const OperandValue& b) {
  const uint64_t a_base = offset_of(at.a), b_base = offset_of(at.b);
  const bool k_first = shape.b_k_contiguous;
  memory.add_generator(a_base, at.a_bytes, generator(a_base, at.lda, shape.m, shape.k, a));
  memory.add_generator(
      b_base, at.b_bytes,
      generator(b_base, at.ldb, k_first ? shape.n : shape.k, k_first ? shape.k : shape.n,
                [b, k_first](uint32_t row, uint32_t column) {
                  return k_first ? b(column, row) : b(row, column);
                }));
}

CheckTask product_task(const GemmShape& shape, uint32_t ranks, uint32_t tile_m) {
  CheckTask task;
  task.ranks = task.simulated_ranks = ranks;
  task.m = shape.m;
  task.n = shape.n;
  task.k = shape.k;
  task.tile_m = tile_m;
  task.data = DataMode::real;
  task.output = CheckOutput::product;
  return task;
}

}  // namespace stretto
