// SPDX-License-Identifier: Apache-2.0
// What tensors hold before the first iteration, and the numbers that FP16 and FP32 have.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_CONTENTS_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_CONTENTS_H_

#include <cstdint>
#include <vector>

#include "platform/kinds/graph/graph_plan.h"

namespace stretto {

// FP16 bits <-> number, by Eigen.
double number_from_fp16(uint16_t bits);
uint16_t fp16_of_number(double value);
// Half an ulp of FP16 at a number of this magnitude; at 0 that of the least number.
double half_ulp(double magnitude);
// Of FP32, likewise.
double half_ulp_fp32(double magnitude);

// What a tensor, `index` of its plan, holds before the first iteration, FP16 by FP16: small random numbers for inputs,
// others on each rank, and weights; indices the same for all. The tensor outlives this.
class GraphContent {
 public:
  GraphContent(uint64_t seed, const GraphTensor& tensor, size_t index, uint32_t rank);
  uint16_t operator()(uint64_t element) const;

 private:
  enum class Kind : uint8_t { constant, words, index, lists, master, random };
  uint16_t random(uint64_t element) const;

  const GraphTensor& tensor_;
  uint64_t seed_, index_, hash_;
  double scale_, middle_;
  Kind kind_;
};

uint32_t graph_index(uint64_t seed, const GraphTensor& tensor, size_t index, uint64_t i);

void round_to_fp16(std::vector<double>& values);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_CONTENTS_H_
