// SPDX-License-Identifier: Apache-2.0
// What jobs share that are one FP16 GEMM, C = A B, and a collective of its operand or its output.
#ifndef STRETTO_PLATFORM_JOBS_GEMM_JOB_H_
#define STRETTO_PLATFORM_JOBS_GEMM_JOB_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "models/common/memory_image.h"
#include "models/common/spec.h"
#include "platform/check/check.h"
#include "platform/jobs/job_request.h"

namespace stretto {

// Of a workload: its parameters.
struct GemmShape {
  uint32_t m = 0;
  uint32_t n = 0;
  uint32_t k = 0;
  bool b_k_contiguous = true;  // B stored N x K ("transposed"); else K x N.

  // The parameters m, n, k, of which the kind says what they are, and b_k_contiguous.
  void describe(ParameterSet& set, const char* m_is, const char* n_is, const char* k_is);
  // Which one is missing, or "".
  std::string first_error() const;
  std::map<std::string, uint64_t> sizes() const { return {{"m", m}, {"n", n}, {"k", k}}; }

  uint64_t tiles_m(uint32_t tile_m) const { return (uint64_t{m} + tile_m - 1) / tile_m; }
  uint64_t tiles_n() const { return (uint64_t{n} + 127) / 128; }
};

// Throws UserError if the workload splits K: partial products need memory that adds.
void refuse_split_k(const JobRequest& request);
// Likewise if the GPUs cannot share the row blocks of the output evenly. `who`: "...: it ".
void check_even_rows(const std::string& who, const GemmShape& shape, uint32_t tile_m,
                     uint32_t ranks);

// Where a GPU's operands lie: addresses, bytes in all and a row.
struct GemmOperands {
  uint64_t a, a_bytes, lda;
  uint64_t b, b_bytes, ldb;
};
// Puts them there before time 0. `a` and `b` give the bits of [row, k] and [k, column].
using OperandValue = std::function<uint16_t(uint32_t, uint32_t)>;
void place_operands(MemoryImage& memory, const GemmShape& shape, const GemmOperands& at,
                    const OperandValue& a, const OperandValue& b);

// What to check: that outputs are products of real numbers. Contents are the caller's to say.
CheckTask product_task(const GemmShape& shape, uint32_t ranks, uint32_t tile_m);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_GEMM_JOB_H_
