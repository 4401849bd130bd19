// SPDX-License-Identifier: Apache-2.0
// Shapes of operators of which the rows of `reproduce silicon` ask and that its simulations run: names
// of kernels/roofline.
#ifndef STRETTO_PLATFORM_REPRODUCE_SILICON_SILICON_SHAPES_H_
#define STRETTO_PLATFORM_REPRODUCE_SILICON_SILICON_SHAPES_H_

#include <string>
#include <vector>

namespace stretto {

inline constexpr const char* kLargeGemm = "8192x8192x8192";
inline constexpr const char* kSlowGemm = "4096x4096x4096";  // Of elements that take longer.

// What is stored by columns, M x N x K, is the product of the transposes by rows.
std::string by_rows(const std::string& shape);

struct LayerOperator {
  const char* name;
  const char* shape;
  const char* kind = "gemm";
};
// 4 x 2,048 tokens, hidden 4,096, 16 heads (SI-OP-04).
inline constexpr LayerOperator kLayer[] = {
    {"qkv", "8192x12288x4096"},       {"score", "2048x2048x256:nt:batch=64"},
    {"av", "2048x256x2048:batch=64"}, {"projection", "8192x4096x4096"},
    {"h_to_4h", "8192x16384x4096"},   {"4h_to_h", "8192x4096x16384"},
    {"gelu", "134217728", "gelu"},    {"layer_norm", "8192x4096", "layer_norm"}};

// A layer of BERT-base as the library has it: 12 heads of 64, `key` tokens as "b8 s128". What adds the
// residual and normalises is two kernels here.
std::vector<std::string> bert_layer(const std::string& key);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_SILICON_SILICON_SHAPES_H_
