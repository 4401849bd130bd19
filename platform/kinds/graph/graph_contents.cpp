// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_contents.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>

#include "platform/jobs/contents.h"

namespace stretto {
namespace {

// Of a format with so many bits of a significand, and least subnormal 2^least.
double half_ulp_of(double magnitude, int bits, int least) {
  int exponent = 0;
  (void)std::frexp(magnitude, &exponent);
  return std::ldexp(1.0, std::max(exponent - bits, least) - 1);
}

}  // namespace

double number_from_fp16(uint16_t bits) {
  return static_cast<double>(static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits)));
}

uint16_t fp16_of_number(double value) { return Eigen::half(static_cast<float>(value)).x; }

double half_ulp(double magnitude) { return half_ulp_of(magnitude, 11, -24); }
double half_ulp_fp32(double magnitude) { return half_ulp_of(magnitude, 24, -149); }

uint32_t graph_index(uint64_t seed, const GraphTensor& tensor, size_t index, uint64_t i) {
  const uint64_t x = content_hash(content_hash(seed * 0x9e3779b97f4a7c15ull + index * 64) + i);
  return static_cast<uint32_t>((x >> 32) % tensor.extent);
}

uint16_t graph_content(uint64_t seed, const GraphTensor& tensor, size_t index, uint32_t rank,
                       uint64_t element) {
  // Of numbers of 32 bits the lower half comes first.
  const auto half_of = [element](uint32_t bits) {
    return static_cast<uint16_t>(element % 2 == 0 ? bits : bits >> 16);
  };
  const auto half_of_number = [&](double number) {
    return half_of(Eigen::numext::bit_cast<uint32_t>(static_cast<float>(number)));
  };
  if (tensor.kind == "constant") return fp16_of_number(tensor.value);
  if (tensor.kind == "words") return half_of_number(tensor.words[element / 2]);
  if (tensor.kind == "index") return half_of(graph_index(seed, tensor, index, element / 2));
  if (tensor.kind == "lists") return tensor.data[element];
  if (tensor.kind == "master") {  // Training begins with the weight.
    GraphTensor weight;
    weight.kind = "weight";
    weight.rows = tensor.rows;
    return half_of_number(
        number_from_fp16(graph_content(seed, weight, tensor.master_of, rank, element / 2)));
  }
  const bool input = tensor.kind == "input";
  const uint64_t x = content_hash(
      content_hash(seed * 0x9e3779b97f4a7c15ull + index * 64 + (input ? rank + 1 : 0)) + element);
  const double unit = static_cast<double>(x >> 40) / (1 << 23) - 1;  // -1 .. 1
  // Rows of ones where a row scales (one row): gamma; matrices so that products neither grow nor
  // fade.
  const double scale = input              ? 1
                       : tensor.rows == 1 ? 0.25
                                          : 1 / std::sqrt(static_cast<double>(tensor.rows) / 3);
  const double middle = !input && tensor.rows == 1 ? 0.75 : 0;
  return fp16_of_number(middle + unit * scale);
}

void round_to_fp16(std::vector<double>& values) {
  for (double& value : values) value = number_from_fp16(fp16_of_number(value));
}

}  // namespace stretto
