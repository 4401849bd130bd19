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
// Half an ulp of FP16 at a number of this magnitude.
double half_ulp(double magnitude);
// Of FP32, likewise.
double half_ulp_fp32(double magnitude);

// What input and weight tensors hold before the first iteration: small random numbers, inputs another for each rank;
// indices the same for all.
uint16_t graph_content(uint64_t seed, const GraphTensor& tensor, size_t index, uint32_t rank,
                       uint64_t element);

uint32_t graph_index(uint64_t seed, const GraphTensor& tensor, size_t index, uint64_t i);

void round_to_fp16(std::vector<double>& values);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_CONTENTS_H_
