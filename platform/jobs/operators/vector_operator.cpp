// SPDX-License-Identifier: Apache-2.0
// Vector operators, see sw/kernels/ops/vector.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "platform/config/library_machine.h"
#include "platform/jobs/operators/operators.h"
#include "sw/kernels/ops/rows_plan.h"

namespace stretto {

namespace {

enum class Form { map, rows, gemv, concat };

struct VectorKind {
  const char* kernel;  // Without element and piece.
  Form form;
  uint32_t inputs;
};

class Vector final : public Operator {
 public:
  Vector(const std::string& name, const VectorKind& kind, Fields fields, const MachineSpec& spec)
      : Operator(name, fields.text().substr(fields.text().find(':') + 1)), kind_(kind) {
    element = fields.element();
    bytes_ = ops_element_bytes(element);
    const size_t sizes = kind.form == Form::map ? 1 : kind.form == Form::concat ? 3 : 2;
    const std::vector<uint32_t> shape = fields.numbers("", sizes);
    if (shape.empty())
      fields.refuse(fmt::format(
          "needs {}", kind.form == Form::map      ? "a number of elements, as add:1048576"
                      : kind.form == Form::concat ? "rows x columns x columns of the other"
                                                  : "rows x columns, as softmax:4096x1024"));
    fields.end("fp16, bf16, fp32");
    rows_ = kind.form == Form::map ? 1 : shape[0];
    columns_ = kind.form == Form::map ? shape[0] : shape[1];
    other_columns_ = kind.form == Form::concat ? shape[2] : 0;
    if (kind.form != Form::map &&
        (uint64_t{columns_} + other_columns_) * bytes_ > std::numeric_limits<uint32_t>::max())
      fields.refuse(fmt::format("rows have at most {} columns{}",
                                std::numeric_limits<uint32_t>::max() / bytes_,
                                kind.form == Form::concat ? ", of both together" : ""));
    arguments_.bytes = uint64_t{columns_} * bytes_;
    if (kind.form != Form::map) {
      arguments_.rows = rows_;
      arguments_.row_bytes = static_cast<uint32_t>(arguments_.bytes);
      arguments_.other_bytes = other_columns_ * bytes_;
    }
    const ops_machine_t machine = library_machine(spec);
    if (kind.form == Form::rows) {
      row_arguments_.rows = rows_;
      row_arguments_.row_bytes = arguments_.row_bytes;
      ops_rows_plan(&machine, kind.kernel, element, &row_arguments_, &launch_, nullptr, nullptr);
    } else if (ops_vector_plan(&machine, kind.kernel, element, &arguments_, &launch_) == 0) {
      fields.refuse(fmt::format("rows have at most {} columns", OPS_VECTOR_LONG_PIECE / bytes_));
    }
  }

  uint64_t input_elements() const override { return at(kind_.inputs) / bytes_; }
  uint64_t output_bytes() const override {
    if (kind_.form == Form::gemv) return uint64_t{rows_} * bytes_;
    return uint64_t{rows_} * (columns_ + other_columns_) * bytes_;
  }
  double products() const override { return kind_.form == Form::gemv ? 1.0 * rows_ * columns_ : 0; }
  double reference_work() const override { return 20.0 * rows_ * (columns_ + other_columns_); }
  uint64_t least_read_bytes() const override {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < kind_.inputs; ++i) bytes += input_bytes(i);
    return bytes;
  }
  std::string how() const override {
    if (kind_.form == Form::rows)
      return fmt::format("{} x {}", launch_.work_groups, launch_.kernel);
    return fmt::format("{} work-groups, pieces of {} B", launch_.work_groups, launch_.piece);
  }

  std::vector<Launch> launches(const Places& places) const override {
    if (kind_.form == Form::rows) {
      ops_rows_arguments_t rows = row_arguments_;
      for (uint32_t i = 0; i < kind_.inputs; ++i) rows.in[i] = places.input[element] + at(i);
      rows.constants = places.constants;
      rows.out = places.output;
      return {{launch_.kernel, argument_bytes(rows), launch_.work_groups}};
    }
    ops_vector_arguments_t g = arguments_;
    for (uint32_t i = 0; i < std::min(kind_.inputs, 3u); ++i)
      g.in[i] = places.input[element] + at(i);
    g.out = places.output;
    return {{launch_.kernel, argument_bytes(g), launch_.work_groups}};
  }

  std::vector<uint8_t> constants() const override {
    return kind_.form == Form::rows ? rows_constants(columns_) : std::vector<uint8_t>{};
  }

  void check(const Places& places, uint64_t seed, Comparison& comparison) const override {
    const double eps = unit_roundoff(element);
    // Denormals.
    const double smallest = element == OPS_FP16 ? 0x1p-25 : 0;
    const auto in = [&](uint32_t input, uint64_t index) {
      return input_value(element, seed, at(input) / bytes_ + index);
    };
    const auto expect = [&](uint64_t index, double wanted, double error, uint64_t row,
                            uint64_t column) {
      comparison.expect(element, places.output + index * bytes_, wanted,
                        error + eps * std::abs(wanted) + smallest, row, column);
    };
    const std::string name = kind_.kernel;
    for (uint64_t row = 0; row < rows_; ++row) {
      const uint64_t first = row * columns_;
      if (kind_.form == Form::map) {
        for (uint64_t i = 0; i < columns_; ++i) {
          const double a = in(0, i), b = kind_.inputs > 1 ? in(1, i) : 0,
                       c = kind_.inputs > 2 ? in(2, i) : 0;
          if (name == "map_copy")
            comparison.expect(element, places.output + i * bytes_, a, 0, 0, i);
          const double t = std::tanh(std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a));
          if (name == "map_gelu") expect(i, 0.5 * a * (1 + t), 0x1p-22, 0, i);
          if (name == "map_relu") expect(i, std::max(a, 0.0), 0, 0, i);
          if (name == "map_relu_grad") expect(i, a > 0 ? b : 0, 0, 0, i);
          if (name == "map_gelu_grad")
            expect(i,
                   b * (0.5 * (1 + t) +
                        0.5 * a * (1 - t * t) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * a * a)),
                   0x1p-20, 0, i);
          if (name == "map_add") expect(i, a + b, 0, 0, i);
          if (name == "map_mul") expect(i, a * b, 0, 0, i);
          if (name == "map_triad") expect(i, a + b * c, eps * std::abs(b * c) + smallest, 0, i);
        }
      } else if (kind_.form == Form::concat) {
        for (uint64_t i = 0; i < columns_ + other_columns_; ++i)
          comparison.expect(
              element, places.output + (row * (columns_ + other_columns_) + i) * bytes_,
              i < columns_ ? in(0, first + i) : in(1, row * other_columns_ + i - columns_), 0, row,
              i);
      } else if (kind_.form == Form::gemv) {
        double sum = 0, size = 0;
        for (uint64_t i = 0; i < columns_; ++i) {
          const double product = in(0, first + i) * in(1, i);
          sum += product;
          size += std::abs(product);
        }
        // Each product is rounded; the sum is FP32.
        expect(row, sum, (eps + columns_ * 0x1p-24) * size, row, 0);
      } else {
        check_row(row, in, expect);
      }
    }
  }

 private:
  template <class In, class Expect>
  void check_row(uint64_t row, const In& in, const Expect& expect) const {
    const double eps = unit_roundoff(element), n = columns_, sums = n * 0x1p-24;
    const uint64_t first = row * columns_;
    std::vector<double> x(columns_);
    for (uint64_t i = 0; i < columns_; ++i) x[i] = in(0, first + i);
    if (std::string(kind_.kernel) == "softmax") {
      const double most = *std::max_element(x.begin(), x.end()),
                   far = most - *std::min_element(x.begin(), x.end());
      double sum = 0;
      for (double& value : x) sum += value = std::exp(value - most);
      // A difference rounded, its exponential, sum, reciprocal, product.
      for (uint64_t i = 0; i < columns_; ++i)
        expect(first + i, x[i] / sum, (2 * (far + 1) + 2 + sums / eps) * eps * 1.01 * x[i] / sum,
               row, i);
      return;
    }
    double mean = 0, variance = 0, spread = 0;
    for (const double value : x) mean += value / n;
    for (const double value : x) {
      variance += (value - mean) * (value - mean) / n;
      spread += std::abs(value) / n;
    }
    const double scale = 1 / std::sqrt(variance + kLayerNormEpsilon);
    // Of the mean, of a difference, and of the scale: squares, their mean, the epsilon, the root, each once.
    const double mean_error = eps * std::abs(mean) + sums * spread;
    for (uint64_t i = 0; i < columns_; ++i) {
      const double z = x[i] - mean, gamma = in(1, i), beta = in(2, i), y = z * scale * gamma;
      const double z_error = mean_error + eps * std::abs(z);
      const double scale_error = (mean_error * scale + 4 * eps + sums) * 1.01;  // Relative.
      expect(first + i, y + beta,
             std::abs(gamma) * scale * z_error + std::abs(y) * (scale_error + 2.02 * eps), row, i);
    }
  }

  uint64_t input_bytes(uint32_t input) const {
    if (kind_.form == Form::map || input == 0) return uint64_t{rows_} * columns_ * bytes_;
    if (kind_.form == Form::concat) return uint64_t{rows_} * other_columns_ * bytes_;
    return uint64_t{columns_} * bytes_;  // A vector.
  }
  // Where an input begins.
  uint64_t at(uint32_t input) const {
    uint64_t place = 0;
    for (uint32_t i = 0; i < input; ++i) place += operand_end(input_bytes(i));
    return place;
  }

  const VectorKind kind_;
  uint64_t bytes_;  // Of an element.
  uint32_t rows_, columns_, other_columns_;
  ops_vector_arguments_t arguments_{};
  ops_vector_launch_t launch_{};
  ops_rows_arguments_t row_arguments_{};
};

const std::map<std::string, VectorKind> kKinds{{"copy", {"map_copy", Form::map, 1}},
                                               {"gelu", {"map_gelu", Form::map, 1}},
                                               {"relu", {"map_relu", Form::map, 1}},
                                               {"gelu_grad", {"map_gelu_grad", Form::map, 2}},
                                               {"relu_grad", {"map_relu_grad", Form::map, 2}},
                                               {"add", {"map_add", Form::map, 2}},
                                               {"mul", {"map_mul", Form::map, 2}},
                                               {"triad", {"map_triad", Form::map, 3}},
                                               {"softmax", {"softmax", Form::rows, 1}},
                                               {"layer_norm", {"layer_norm", Form::rows, 3}},
                                               {"gemv", {"gemv", Form::gemv, 2}},
                                               {"concat", {"concat", Form::concat, 2}}};

}  // namespace

std::unique_ptr<Operator> make_vector(const std::string& name, const Fields& fields,
                                      const MachineSpec& spec) {
  const auto kind = kKinds.find(name);
  if (kind == kKinds.end()) return nullptr;
  return std::make_unique<Vector>(name, kind->second, fields, spec);
}

std::vector<std::string> vector_names() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kKinds) names.push_back(name);
  return names;
}

}  // namespace stretto
