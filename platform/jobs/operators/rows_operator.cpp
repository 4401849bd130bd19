// SPDX-License-Identifier: Apache-2.0
// Gradients of row operators and sums, see sw/kernels/ops/rows.h and reduce.h.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "platform/config/library_machine.h"
#include "platform/jobs/operators/operators.h"
#include "sw/kernels/ops/rows_plan.h"

namespace stretto {

namespace {

constexpr double kFp32 = 0x1p-24;  // Of one rounding.

// Matrices of rows x columns as input, one behind the other.
class Matrix : public Operator {
 public:
  double reference_work() const override { return 30.0 * rows_ * columns_; }

 protected:
  Matrix(const std::string& name, Fields fields)
      : Operator(name, fields.text().substr(fields.text().find(':') + 1)) {
    element = fields.element();
    const std::vector<uint32_t> shape = fields.numbers("", 2);
    if (shape.empty()) fields.refuse("needs rows x columns, as " + name + ":4096x1024");
    fields.end("fp16, bf16, fp32");
    rows_ = shape[0];
    columns_ = shape[1];
    bytes_ = ops_element_bytes(element);
    if (uint64_t{columns_} * bytes_ > std::numeric_limits<uint32_t>::max())
      fields.refuse(fmt::format("rows have at most {} columns",
                                std::numeric_limits<uint32_t>::max() / bytes_));
  }

  uint64_t matrix_bytes() const { return uint64_t{rows_} * columns_ * bytes_; }
  uint64_t at(uint32_t matrix) const { return matrix * operand_end(matrix_bytes()); }
  double in(uint64_t seed, uint32_t matrix, uint64_t index) const {
    return input_value(element, seed, at(matrix) / bytes_ + index);
  }
  // What one rounding to the element adds.
  double rounding(double value) const {
    return unit_roundoff(element) * std::abs(value) + (element == OPS_FP16 ? 0x1p-25 : 0);
  }

  uint32_t rows_, columns_;
  uint64_t bytes_;  // Of an element.
};

// From y and dy: y (dy - sum of y dy).
class SoftmaxGrad final : public Matrix {
 public:
  SoftmaxGrad(const std::string& name, const Fields& fields, const MachineSpec& spec)
      : Matrix(name, fields) {
    const ops_machine_t machine = library_machine(spec);
    arguments_.rows = rows_;
    arguments_.row_bytes = static_cast<uint32_t>(columns_ * bytes_);
    ops_rows_plan(&machine, "softmax_grad", element, &arguments_, &launch_, nullptr, nullptr);
  }
  uint64_t input_elements() const override { return at(2) / bytes_; }
  uint64_t output_bytes() const override { return matrix_bytes(); }
  uint64_t least_read_bytes() const override { return 2 * matrix_bytes(); }
  std::string how() const override {
    return fmt::format("{} x {}", launch_.work_groups, launch_.kernel);
  }
  std::vector<uint8_t> constants() const override { return rows_constants(columns_); }
  std::vector<Launch> launches(const Places& places) const override {
    ops_rows_arguments_t a = arguments_;
    a.in[0] = places.input[element];
    a.in[1] = a.in[0] + at(1);
    a.out = places.output;
    a.constants = places.constants;
    return {{launch_.kernel, argument_bytes(a), launch_.work_groups}};
  }
  void check(const Places& places, uint64_t seed, Comparison& comparison) const override {
    const double eps = unit_roundoff(element);
    for (uint64_t row = 0; row < rows_; ++row) {
      const uint64_t first = row * columns_;
      double sum = 0, size = 0;
      for (uint64_t i = first; i < first + columns_; ++i) {
        const double product = in(seed, 0, i) * in(seed, 1, i);
        sum += product;
        size += std::abs(product);
      }
      // Each product is rounded to the element; the sum is FP32.
      const double sum_error = (eps + (columns_ + 2) * kFp32) * size;
      for (uint64_t i = 0; i < columns_; ++i) {
        const double y = in(seed, 0, first + i), dy = in(seed, 1, first + i), difference = dy - sum;
        const double error = sum_error + kFp32 * std::abs(difference) + rounding(difference);
        comparison.expect(element, places.output + (first + i) * bytes_, y * difference,
                          1.01 * (std::abs(y) * error + rounding(y * difference)), row, i);
      }
    }
  }

 private:
  ops_rows_arguments_t arguments_{};
  ops_vector_launch_t launch_{};
};

// From x, dy and gamma: dx, and behind it the sums over rows for gamma, then beta.
class LayerNormGrad final : public Matrix {
 public:
  LayerNormGrad(const std::string& name, const Fields& fields, const MachineSpec& spec)
      : Matrix(name, fields) {
    const ops_machine_t machine = library_machine(spec);
    arguments_.rows = rows_;
    arguments_.row_bytes = static_cast<uint32_t>(columns_ * bytes_);
    ops_rows_plan(&machine, "layer_norm_grad", element, &arguments_, &launch_, &sum_, &sums_);
  }
  uint64_t input_elements() const override { return at(2) / bytes_ + columns_; }
  uint64_t output_bytes() const override {
    return operand_end(matrix_bytes()) + uint64_t{2} * columns_ * bytes_;
  }
  uint64_t scratch_bytes() const override { return sums_.part_bytes; }
  uint64_t least_read_bytes() const override { return 2 * matrix_bytes() + columns_ * bytes_; }
  uint64_t least_written_bytes() const override { return matrix_bytes() + 2 * columns_ * bytes_; }
  std::string how() const override {
    return fmt::format("{} x {}, {} parts", launch_.work_groups, launch_.kernel, sum_.part_count);
  }
  std::vector<uint8_t> constants() const override { return rows_constants(columns_); }
  std::vector<Launch> launches(const Places& places) const override {
    ops_rows_arguments_t a = arguments_;
    for (uint32_t i = 0; i < 3; ++i) a.in[i] = places.input[element] + at(i);
    a.out = places.output;
    a.parts = places.scratch;
    a.constants = places.constants;
    ops_sum_arguments_t sum = sum_;
    sum.parts = places.scratch;
    sum.out = places.output + operand_end(matrix_bytes());
    return {{launch_.kernel, argument_bytes(a), launch_.work_groups},
            {sums_.second.kernel, argument_bytes(sum), sums_.second.work_groups}};
  }

  void check(const Places& places, uint64_t seed, Comparison& comparison) const override {
    const double n = columns_, sums = (n + 8) * kFp32;
    std::vector<double> x(columns_), g(columns_), of_gamma(columns_), of_beta(columns_),
        gamma_error(columns_), beta_size(columns_);
    for (uint64_t row = 0; row < rows_; ++row) {
      const uint64_t first = row * columns_;
      double mean = 0, spread = 0, variance = 0;
      for (uint64_t i = 0; i < columns_; ++i) {
        x[i] = in(seed, 0, first + i);
        mean += x[i] / n;
        spread += std::abs(x[i]) / n;
      }
      for (const double value : x) variance += (value - mean) * (value - mean) / n;
      const double scale = 1 / std::sqrt(variance + kLayerNormEpsilon);
      double g_mean = 0, g_size = 0, product_mean = 0, product_size = 0, product_error = 0;
      for (uint64_t i = 0; i < columns_; ++i) {
        x[i] = (x[i] - mean) * scale;
        const double dy = in(seed, 1, first + i);
        g[i] = dy * in(seed, 2, i);
        g_mean += g[i] / n;
        g_size += std::abs(g[i]) / n;
        product_mean += g[i] * x[i] / n;
        product_size += std::abs(g[i] * x[i]) / n;
        const double x_error = sums * (std::abs(x[i]) + scale * spread);
        product_error += (std::abs(g[i]) + g_size) * x_error / n;
        of_gamma[i] += dy * x[i];
        of_beta[i] += dy;
        gamma_error[i] += std::abs(dy) * x_error + kFp32 * (rows_ + 8.0) * std::abs(dy * x[i]);
        beta_size[i] += std::abs(dy);
      }
      for (uint64_t i = 0; i < columns_; ++i) {
        const double dx = scale * (g[i] - g_mean - x[i] * product_mean);
        const double x_error = sums * (std::abs(x[i]) + scale * spread);
        const double error =
            scale * (4 * kFp32 * std::abs(g[i]) + sums * g_size + std::abs(product_mean) * x_error +
                     std::abs(x[i]) * (sums * (product_size + std::abs(g_mean)) + product_error)) +
            sums * std::abs(dx);
        comparison.expect(element, places.output + (first + i) * bytes_, dx,
                          1.01 * error + rounding(dx), row, i);
      }
    }
    const uint64_t behind = places.output + operand_end(matrix_bytes());
    for (uint64_t i = 0; i < columns_; ++i) {
      comparison.expect(element, behind + i * bytes_, of_gamma[i],
                        1.01 * gamma_error[i] + rounding(of_gamma[i]), rows_, i);
      comparison.expect(element, behind + (columns_ + i) * bytes_, of_beta[i],
                        kFp32 * (rows_ + 8.0) * beta_size[i] + rounding(of_beta[i]), rows_ + 1, i);
    }
  }

 private:
  ops_rows_arguments_t arguments_{};
  ops_vector_launch_t launch_{};
  ops_sum_arguments_t sum_{};
  ops_sum_launch_t sums_{};
};

// sum_rows: of each column; sum_columns: of each row.
class Sum final : public Matrix {
 public:
  Sum(const std::string& name, const Fields& fields, const MachineSpec& spec)
      : Matrix(name, fields), of_rows_(name == "sum_rows") {
    const ops_machine_t machine = library_machine(spec);
    arguments_.rows = rows_;
    arguments_.row_bytes = static_cast<uint32_t>(columns_ * bytes_);
    if (of_rows_) {
      ops_sum_rows_plan(&machine, element, &arguments_, &launch_);
    } else if (ops_sum_columns_plan(&machine, element, &arguments_, &second_, &launch_) == 0) {
      fields.refuse(fmt::format("rows have at most {} columns",
                                OPS_SUM_LONG_PIECE / 4 * OPS_SUM_LONG_PIECE / bytes_));
    }
  }
  uint64_t input_elements() const override { return at(1) / bytes_; }
  uint64_t output_bytes() const override { return (of_rows_ ? columns_ : rows_) * bytes_; }
  uint64_t scratch_bytes() const override { return launch_.part_bytes; }
  uint64_t least_read_bytes() const override { return matrix_bytes(); }
  std::string how() const override {
    std::string text = fmt::format("{} x {}", launch_.first.work_groups, launch_.first.kernel);
    if (launch_.second.work_groups != 0)
      text += fmt::format(", {} parts", of_rows_ ? arguments_.part_count : arguments_.chunks);
    return text;
  }
  std::vector<Launch> launches(const Places& places) const override {
    ops_sum_arguments_t a = arguments_, b = of_rows_ ? arguments_ : second_;
    const bool has_second = launch_.second.work_groups != 0;
    a.in = places.input[element];
    a.parts = b.parts = b.in = places.scratch;
    a.out = has_second ? places.scratch : places.output;
    b.out = places.output;
    std::vector<Launch> all{{launch_.first.kernel, argument_bytes(a), launch_.first.work_groups}};
    if (has_second)
      all.push_back({launch_.second.kernel, argument_bytes(b), launch_.second.work_groups});
    return all;
  }
  void check(const Places& places, uint64_t seed, Comparison& comparison) const override {
    const uint64_t results = of_rows_ ? columns_ : rows_, terms = of_rows_ ? rows_ : columns_;
    std::vector<double> sum(results), size(results);
    for (uint64_t row = 0; row < rows_; ++row) {
      for (uint64_t i = 0; i < columns_; ++i) {
        const double value = in(seed, 0, row * columns_ + i);
        sum[of_rows_ ? i : row] += value;
        size[of_rows_ ? i : row] += std::abs(value);
      }
    }
    for (uint64_t i = 0; i < results; ++i)
      comparison.expect(element, places.output + i * bytes_, sum[i],
                        kFp32 * static_cast<double>(terms) * size[i] + rounding(sum[i]),
                        of_rows_ ? 0 : i, of_rows_ ? i : 0);
  }

 private:
  const bool of_rows_;
  ops_sum_arguments_t arguments_{}, second_{};
  ops_sum_launch_t launch_{};
};

}  // namespace

std::vector<uint8_t> rows_constants(uint32_t columns) {
  float words[OPS_ROWS_WORDS] = {};
  words[OPS_ROWS_ONE_BY_COLUMNS] = 1.0F / static_cast<float>(columns);
  words[OPS_ROWS_EPSILON] = kLayerNormEpsilon;
  words[OPS_ROWS_LOWEST] = std::numeric_limits<float>::lowest();
  return argument_bytes(words);
}

std::unique_ptr<Operator> make_rows(const std::string& name, const Fields& fields,
                                    const MachineSpec& spec) {
  if (name == "softmax_grad") return std::make_unique<SoftmaxGrad>(name, fields, spec);
  if (name == "layer_norm_grad") return std::make_unique<LayerNormGrad>(name, fields, spec);
  if (name == "sum_rows" || name == "sum_columns") return std::make_unique<Sum>(name, fields, spec);
  return nullptr;
}

std::vector<std::string> rows_names() {
  return {"softmax_grad", "layer_norm_grad", "sum_rows", "sum_columns"};
}

}  // namespace stretto
