// SPDX-License-Identifier: Apache-2.0
// attention: softmax(Q K^T / sqrt(d)) V, see sw/kernels/ops/attention.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "platform/jobs/operators/operators.h"
#include "sw/kernels/ops/attention.h"

namespace stretto {

namespace {

class Attention final : public Operator {
 public:
  explicit Attention(Fields fields)
      : Operator("attention", fields.text().substr(fields.text().find(':') + 1)) {
    element = OPS_FP16;
    fields.word({"fp16"});
    const std::vector<uint32_t> shape = fields.numbers("", 4);
    if (shape.empty())
      fields.refuse("needs heads x queries x keys x d, as attention:32x2048x2048x128");
    fields.end("fp16");
    if (shape[3] > 128) fields.refuse("d is at most 128");
    a_.heads = shape[0];
    a_.queries = shape[1];
    a_.keys = shape[2];
    a_.d = shape[3];
    work_groups_ = a_.heads * ((a_.queries + OPS_ATTENTION_QUERIES - 1) / OPS_ATTENTION_QUERIES);
    k_at_ = operand_end(2 * query_elements());
    v_at_ = k_at_ + operand_end(2 * key_elements());
  }

  uint64_t input_elements() const override { return v_at_ / 2 + key_elements(); }
  uint64_t output_bytes() const override { return 2 * query_elements(); }
  std::string how() const override {
    return fmt::format("{} x attention_fp16_{}", work_groups_, size());
  }
  double products() const override { return 2.0 * a_.heads * a_.queries * a_.keys * a_.d; }
  uint64_t least_read_bytes() const override { return 2 * (query_elements() + 2 * key_elements()); }
  double reference_work() const override { return products(); }
  std::vector<uint8_t> constants() const override {
    float words[OPS_ATTENTION_WORDS] = {};
    words[OPS_ATTENTION_SCALE] = scale();
    words[OPS_ATTENTION_LOWEST] = std::numeric_limits<float>::lowest();
    return argument_bytes(words);
  }
  std::vector<Launch> launches(const Places& places) const override {
    ops_attention_arguments_t a = a_;
    a.q = places.input[element];
    a.k = a.q + k_at_;
    a.v = a.q + v_at_;
    a.out = places.output;
    a.constants = places.constants;
    return {{fmt::format("attention_fp16_{}", size()), argument_bytes(a), work_groups_}};
  }

  void check(const Places& places, uint64_t seed, Comparison& comparison) const override {
    const double eps = unit_roundoff(element), fp32 = 0x1p-24;
    const auto in = [&](uint64_t at, uint64_t row, uint32_t i) {
      return input_value(element, seed, at / 2 + row * a_.d + i);
    };
    std::vector<double> q(a_.d), weight(a_.keys), out(a_.d), size(a_.d), values(a_.d);
    for (uint64_t row = 0; row < uint64_t{a_.heads} * a_.queries; ++row) {
      const uint64_t first = row / a_.queries * a_.keys;  // The head's keys.
      for (uint32_t i = 0; i < a_.d; ++i) q[i] = in(0, row, i);
      double most = std::numeric_limits<double>::lowest(), far = 0, sum = 0;
      for (uint32_t k = 0; k < a_.keys; ++k) {
        double score = 0, products = 0;
        for (uint32_t i = 0; i < a_.d; ++i) {
          const double product = q[i] * in(k_at_, first + k, i);
          score += product;
          products += std::abs(product);
        }
        weight[k] = score * scale();
        far = std::max(far, products * scale());
        most = std::max(most, weight[k]);
      }
      for (double& value : weight) sum += value = std::exp(value - most);
      std::fill(out.begin(), out.end(), 0);
      std::fill(size.begin(), size.end(), 0);
      std::fill(values.begin(), values.end(), 0);
      for (uint32_t k = 0; k < a_.keys; ++k) {
        for (uint32_t i = 0; i < a_.d; ++i) {
          const double value = in(v_at_, first + k, i);
          out[i] += weight[k] / sum * value;
          size[i] += weight[k] / sum * std::abs(value);
          values[i] += std::abs(value) / sum;
        }
      }
      // Scores are FP32, of d products; weights FP16 (the smallest are denormal); sums FP32, over blocks, too.
      const double score_error = 2 * (a_.d + 6) * fp32 * (far + 1);
      const double relative = eps + score_error + (a_.keys + 16) * fp32;
      for (uint32_t i = 0; i < a_.d; ++i)
        comparison.expect(
            element, places.output + 2 * (row * a_.d + i), out[i],
            1.01 * (relative * size[i] + 0x1p-25 * values[i]) + eps * std::abs(out[i]) + 0x1p-25,
            row, i);
    }
  }

 private:
  uint64_t query_elements() const { return uint64_t{a_.heads} * a_.queries * a_.d; }
  uint64_t key_elements() const { return uint64_t{a_.heads} * a_.keys * a_.d; }
  uint32_t size() const { return a_.d > 64 ? 128 : 64; }
  float scale() const { return 1.0F / std::sqrt(static_cast<float>(a_.d)); }

  ops_attention_arguments_t a_{};
  uint32_t work_groups_ = 0;
  uint64_t k_at_ = 0, v_at_ = 0;
};

}  // namespace

std::unique_ptr<Operator> make_attention(const Fields& fields) {
  return std::make_unique<Attention>(fields);
}

}  // namespace stretto
