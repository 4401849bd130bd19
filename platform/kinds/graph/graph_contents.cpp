// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_contents.h"

#include <Eigen/Core>

#include <algorithm>
#include <bit>
#include <cmath>

#include "platform/jobs/contents.h"

namespace stretto {
namespace {

// Of a format with so many bits of a significand, and least subnormal 2^least.
double half_ulp_of(double magnitude, int bits, int least) {
  // That of a number in [1/2, 1) is 0; subnormal numbers, and 0, are below each least.
  const int exponent = static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> 52 & 0x7ff) - 1022;
  const int half = std::max(exponent - bits, least) - 1;
  return std::bit_cast<double>(static_cast<uint64_t>(half + 1023) << 52);
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

GraphContent::GraphContent(uint64_t seed, const GraphTensor& tensor, size_t index, uint32_t rank)
    : tensor_(tensor), seed_(seed), index_(index) {
  kind_ = tensor.kind == "constant" ? Kind::constant
          : tensor.kind == "words"  ? Kind::words
          : tensor.kind == "index"  ? Kind::index
          : tensor.kind == "lists"  ? Kind::lists
          : tensor.kind == "master" ? Kind::master
                                    : Kind::random;
  const bool is_input = tensor.kind == "input";
  const size_t of = kind_ == Kind::master ? tensor.master_of : index;
  hash_ = content_hash(seed * 0x9e3779b97f4a7c15ull + of * 64 + (is_input ? rank + 1 : 0));
  // Rows of ones where a row scales (one row): gamma; matrices so that products neither grow nor
  // fade.
  scale_ = is_input           ? 1
           : tensor.rows == 1 ? 0.25
                              : 1 / std::sqrt(static_cast<double>(tensor.rows) / 3);
  middle_ = !is_input && tensor.rows == 1 ? 0.75 : 0;
}

uint16_t GraphContent::random(uint64_t element) const {
  const uint64_t x = content_hash(hash_ + element);
  const double unit = static_cast<double>(x >> 40) / (1 << 23) - 1;  // -1 .. 1
  return fp16_of_number(middle_ + unit * scale_);
}

uint16_t GraphContent::operator()(uint64_t element) const {
  // Of numbers of 32 bits the lower half comes first.
  const auto half_of = [element](uint32_t bits) {
    return static_cast<uint16_t>(element % 2 == 0 ? bits : bits >> 16);
  };
  const auto half_of_number = [&](double number) {
    return half_of(std::bit_cast<uint32_t>(static_cast<float>(number)));
  };
  switch (kind_) {
    case Kind::constant: return fp16_of_number(tensor_.value);
    case Kind::words: return half_of_number(tensor_.words[element / 2]);
    case Kind::index: return half_of(graph_index(seed_, tensor_, index_, element / 2));
    case Kind::lists: return tensor_.data[element];
    case Kind::master:  // Training begins with the weight.
      return half_of_number(number_from_fp16(random(element / 2)));
    case Kind::random: break;
  }
  return random(element);
}

void round_to_fp16(std::vector<double>& values) {
  for (double& value : values) value = number_from_fp16(fp16_of_number(value));
}

}  // namespace stretto
