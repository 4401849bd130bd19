// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_arithmetic.h"

#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "sw/kernels/ops/rows.h"

namespace stretto {

namespace json = boost::json;

namespace {

constexpr double kU = 0x1p-11;  // Half an ulp of FP16, of a part of the number,
constexpr double kF = 0x1p-24;  // and of FP32.
// Additions that a sum has beside one a term: of its parts, whose number a plan limits to 64, and zeros.
constexpr double kParts = 72;
// Exponentials, roots and quotients of FP32 and what is added to them, together.
constexpr double kFunction = 16 * kF;

uint64_t whole(const json::value& value) { return value.to_number<uint64_t>(); }

double attribute(const json::object& op, const char* name, double fallback) {
  const json::object& all = op.at("attributes").as_object();
  return all.contains(name) ? all.at(name).to_number<double>() : fallback;
}

double rounded(double value) { return number_from_fp16(fp16_of_number(value)); }

// A number that loop kernels have in FP16, launches in FP32.
double factor_of(const json::object& op, const char* name, double fallback, GraphKernels kernels) {
  const double value = attribute(op, name, fallback);
  return kernels == GraphKernels::loop ? rounded(value) : static_cast<float>(value);
}

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

double gelu_slope(double x) {
  const double c = std::sqrt(2 / M_PI), t = std::tanh(c * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Of n additions whose largest sum of first terms is `most`.
double sum_error(double n, double most) { return 2 * kF * (n + kParts) * most; }

struct Element {
  double value, error;
};

// Products

constexpr uint64_t kAbreast = 8;  // Columns that are summed side by side, in vectors.

// So many columns of the second operand, row by row; zeros beyond its last column.
struct Panel {
  std::vector<double> value, error;
};

Panel panel_of(const Numbers& b, uint64_t begin, uint64_t rows, uint64_t columns, uint64_t row_step,
               uint64_t column_step) {
  Panel panel;
  panel.value.resize(rows * kAbreast);
  panel.error.resize(rows * kAbreast);
  for (uint64_t row = 0; row < rows; ++row) {
    for (uint64_t column = 0; column < columns; ++column) {
      const uint64_t at = begin + row * row_step + column * column_step;
      panel.value[row * kAbreast + column] = b.value[at];
      panel.error[row * kAbreast + column] = b.error_of(at);
    }
  }
  return panel;
}

// Of each column of a panel: its sum, the largest sum of first terms, what the errors of operands come to.
struct Sums {
  double value[kAbreast]{}, most[kAbreast]{}, error[kAbreast]{};
};

// A row of the first operand, k elements `step` apart from `at` on, by a panel; terms are added in their order.
template <bool is_exact, OperandErrors errors>
Sums add_up(const Numbers& a, uint64_t at, uint64_t step, const Panel& b, uint64_t k) {
  Sums sums;
  for (uint64_t x = 0; x < k; ++x, at += step) {
    const double value = a.value[at], off = is_exact ? 0 : a.error_of(at);
    const double *const other = &b.value[x * kAbreast], *const other_off = &b.error[x * kAbreast];
    for (uint64_t i = 0; i < kAbreast; ++i) {
      sums.value[i] += value * other[i];
      sums.most[i] = std::max(sums.most[i], std::abs(sums.value[i]));
      if (is_exact) continue;
      const double term =
          std::abs(value) * other_off[i] + std::abs(other[i]) * off + off * other_off[i];
      sums.error[i] += errors == OperandErrors::worst ? term : term * term;
    }
  }
  return sums;
}

Numbers multiply(const json::object& op, const std::vector<const Numbers*>& inputs,
                 OperandErrors errors) {
  const json::object& shape = op.at("matmul").as_object();
  const uint64_t m = whole(shape.at("m")), n = whole(shape.at("n")), k = whole(shape.at("k"));
  const uint64_t outer = whole(shape.at("outer")), inner = whole(shape.at("inner"));
  const bool ta = attribute(op, "transpose_a", 0) != 0, tb = attribute(op, "transpose_b", 0) != 0;
  const auto pitch = [&](size_t which) { return whole(shape.at("pitch").at(which)) / 2; };
  const auto stride = [&](size_t which, size_t level) {
    return whole(shape.at("strides").at(which).at(level)) / 2;
  };
  const Numbers &a = *inputs[0], &b = *inputs[1];
  const bool is_exact = a.error.empty() && b.error.empty();
  const auto sums_of = is_exact                         ? add_up<true, OperandErrors::worst>
                       : errors == OperandErrors::worst ? add_up<false, OperandErrors::worst>
                                                        : add_up<false, OperandErrors::independent>;
  const uint64_t lda = pitch(0), ldb = pitch(1), ldc = pitch(2);
  Numbers out;
  out.value.resize((outer - 1) * stride(2, 0) + (inner - 1) * stride(2, 1) + (m - 1) * ldc + n);
  out.error.resize(out.value.size());
  for (uint64_t matrix = 0; matrix < outer * inner; ++matrix) {
    const auto begin = [&](size_t which) {
      return matrix / inner * stride(which, 0) + matrix % inner * stride(which, 1);
    };
    const uint64_t of_a = begin(0), of_b = begin(1), of_c = begin(2);
    for (uint64_t first = 0; first < n; first += kAbreast) {
      const uint64_t columns = std::min(kAbreast, n - first);
      const Panel panel =
          panel_of(b, of_b + first * (tb ? ldb : 1), k, columns, tb ? 1 : ldb, tb ? ldb : 1);
      for (uint64_t row = 0; row < m; ++row) {
        const Sums sums = sums_of(a, of_a + row * (ta ? 1 : lda), ta ? lda : 1, panel, k);
        for (uint64_t i = 0; i < columns; ++i) {
          double value = sums.value[i], error = sums.error[i];
          if (errors == OperandErrors::independent) error = std::sqrt(error);
          error += sum_error(static_cast<double>(k), sums.most[i] + error);
          if (inputs.size() == 3) {  // The sum is rounded before the row is added.
            error += half_ulp(std::abs(value) + error) + inputs[2]->error_of(first + i);
            value += inputs[2]->value[first + i];
          }
          const uint64_t at = of_c + row * ldc + first + i;
          out.value[at] = value;
          out.error[at] = error;
        }
      }
    }
  }
  return out;
}

// Element by element

// Of x and, where an operator has two operands, y; before the last rounding.
using Function = std::function<Element(Element x, Element y)>;

Element times(Element x, Element y) {
  return {x.value * y.value,
          std::abs(x.value) * y.error + std::abs(y.value) * x.error + x.error * y.error};
}

std::map<std::string, Function> functions(const json::object& op) {
  // Slopes of GELU, of its derivative: below 1.13, 0.8. A tanh is off by some units of FP32, and the last term of the
  // derivative has it times 11 at most, for beyond 5.5 it is 1.
  return {
      {"Add",
       [](Element x, Element y) {
         return Element{x.value + y.value, x.error + y.error};
       }},
      {"Sub",
       [](Element x, Element y) {
         return Element{x.value - y.value, x.error + y.error};
       }},
      {"Mul", times},
      {"Gelu",
       [](Element x, Element) {
         return Element{gelu(x.value), 1.13 * x.error + 0x1p-20 * std::abs(x.value)};
       }},
      {"GeluGrad",
       [](Element x, Element y) {
         return times({gelu_slope(x.value), 0.8 * x.error + 0x1p-17}, y);
       }},
      {"Div",
       [](Element x, Element y) {
         const double z = x.value / y.value, least = std::abs(y.value) - y.error;
         const double error = x.error + std::abs(z) * y.error;
         return Element{z, error == 0  ? kFunction * std::abs(z)
                           : least > 0 ? error / least + kFunction * std::abs(z)
                                       : HUGE_VAL};
       }},
      {"Relu",
       [](Element x, Element) {
         return Element{std::max(x.value, 0.0), x.error};
       }},
      {"ReluGrad",
       [](Element x, Element y) {
         const bool is_sure = std::abs(x.value) > x.error || x.error == 0;
         return Element{x.value > 0 ? y.value : 0, is_sure ? y.error : std::abs(y.value) + y.error};
       }},
      {"Neg",
       [](Element x, Element) {
         return Element{-x.value, x.error};
       }},
      {"Pow", [](Element x, Element) { return times(x, x); }},
      {"Sqrt",
       [epsilon = attribute(op, "epsilon", 0)](Element x, Element) {
         const double all = x.value + static_cast<float>(epsilon), z = std::sqrt(all);
         return Element{z, (x.error == 0    ? 0
                            : all > x.error ? x.error / z
                                            : std::sqrt(all + x.error)) +
                               kFunction * z};
       }},
      // Slopes of the sigmoid, of tanh and of silu are below 0.25, 1, 1.1.
      {"Sigmoid",
       [](Element x, Element) {
         const double s = sigmoid(x.value);
         return Element{s, 0.25 * x.error + kFunction * s};
       }},
      {"Tanh",
       [](Element x, Element) {
         return Element{std::tanh(x.value), x.error + kFunction};
       }},
      {"Silu",
       [](Element x, Element) {
         const double z = x.value * sigmoid(x.value);
         return Element{z, 1.1 * x.error + 2 * kFunction * std::abs(z)};
       }},
      {"SigmoidGrad",
       [](Element y, Element dy) {
         const double slope = y.value * (1 - y.value);
         return times(
             {slope, y.error * (std::abs(1 - 2 * y.value) + y.error) + kFunction * std::abs(slope)},
             dy);
       }},
      {"TanhGrad",
       [](Element y, Element dy) {
         return times(
             {1 - y.value * y.value, y.error * (2 * std::abs(y.value) + y.error) + kFunction}, dy);
       }},
      {"SiluGrad",
       [](Element x, Element dy) {
         const double s = sigmoid(x.value), rest = x.value * (1 - s);
         // 1 - s is off by some units of FP32, times x.
         return times({s * (1 + rest), 0.5 * x.error + kFunction * s * (2 + 2 * std::abs(x.value))},
                      dy);
       }},
      {"Update",
       [rate = update_rate(op)](Element x, Element y) {
         const Element step = times({rate, 0}, y);
         return Element{x.value - step.value,
                        x.error + step.error + half_ulp(std::abs(step.value) + step.error)};
       }},
  };
}

Numbers each(const Function& function, const json::object& op,
             const std::vector<const Numbers*>& inputs, uint64_t columns) {
  const Numbers &x = *inputs[0], &y = *inputs[inputs.size() - 1];
  const json::value* second = op.if_contains("second");
  const std::string_view repeated =
      second == nullptr ? "rows" : std::string_view(second->as_string());
  const bool is_one = repeated == "one", is_row = repeated == "row",
             is_column = repeated == "column";
  Numbers out;
  out.value.resize(x.value.size());
  out.error.resize(x.value.size());
  for (uint64_t i = 0; i < x.value.size(); ++i) {
    const uint64_t j = is_one      ? 0
                       : is_row    ? i % columns
                       : is_column ? i / columns
                                   : i % y.value.size();
    const Element one = function({x.value[i], x.error_of(i)}, {y.value[j], y.error_of(j)});
    out.value[i] = one.value;
    out.error[i] = one.error;
  }
  return out;
}

// Rows

struct Row {
  const Numbers& numbers;
  uint64_t begin;
  double value(uint64_t i) const { return numbers.value[begin + i]; }
  double error(uint64_t i) const { return numbers.error_of(begin + i); }
};

// e^(s x - most) / sum.
void softmax(const json::object& op, Row x, uint64_t n, GraphKernels kernels, double* value,
             double* error) {
  const bool is_fp16 = kernels == GraphKernels::loop;
  const double scale = factor_of(op, "scale", 1, kernels);
  double most = -HUGE_VAL;
  for (uint64_t i = 0; i < n; ++i) most = std::max(most, x.value(i) * scale);
  const auto half = [&](double v) { return is_fp16 ? half_ulp(v) : kF * v; };
  // Of the exponent: the product, the maximum, their difference.
  const auto exponent_error = [&](uint64_t i) {
    const double t = x.value(i) * scale;
    return half(std::abs(t)) + half(std::abs(most)) + half(std::abs(t - most)) +
           2 * std::abs(scale) * x.error(i);
  };
  double sum = 0, off = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const double power = std::exp(x.value(i) * scale - most);
    if (power == 0) continue;
    sum += power;
    off += power * (std::expm1(exponent_error(i)) + kU) + 0x1p-25;
  }
  // Exponentials, their sum and its reciprocal are FP16 in a loop kernel; exponentials alone in the library's.
  const double of_sum = off / sum + kF * (static_cast<double>(n) + kParts) + 2 * kU;
  for (uint64_t i = 0; i < n; ++i) {
    value[i] = std::exp(x.value(i) * scale - most) / sum;
    error[i] = 0x1p-25 / sum;
    if (value[i] == 0) continue;
    const double part = std::expm1(exponent_error(i)) + kU + of_sum + kFunction;
    error[i] += value[i] * part * (1 + part);
  }
}

// y (dy - D) s with D = sum of y dy.
void softmax_grad(const json::object& op, Row y, Row dy, uint64_t n, GraphKernels kernels,
                  double* value, double* error) {
  const double scale = factor_of(op, "scale", 1, kernels);
  double dot = 0, most = 0, off = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const Element product = times({y.value(i), y.error(i)}, {dy.value(i), dy.error(i)});
    dot += product.value;
    most = std::max(most, std::abs(dot));
    off += product.error + half_ulp(std::abs(product.value) + product.error);
  }
  off += sum_error(static_cast<double>(n), most + off);
  if (kernels == GraphKernels::loop) off += half_ulp(std::abs(dot) + off);
  for (uint64_t i = 0; i < n; ++i) {
    const double difference = dy.value(i) - dot;
    Element d{difference, off + dy.error(i) + 4 * kF * std::abs(difference)};
    const Element of_y{y.value(i), y.error(i)};
    const auto put = [&](Element& e) { e.error += half_ulp(std::abs(e.value) + e.error); };
    if (kernels == GraphKernels::loop) {
      put(d);
      d = times(of_y, d);
      put(d);
      d = times({scale, 0}, d);
    } else {
      d = times({scale, 0}, d);
      put(d);
      d = times(of_y, d);
    }
    value[i] = d.value;
    error[i] = d.error;
  }
}

// A row normalised: h = (x - mean) scale.
struct Normal {
  std::vector<double> h, h_error;
  double scale = 0, scale_error = 0;  // The latter a part of the former.
};

Normal normalise(const json::object& op, Row x, uint64_t n, GraphKernels kernels) {
  const double count = static_cast<double>(n);
  const double epsilon = static_cast<float>(attribute(op, "epsilon", 1e-5));
  double mean = 0, size = 0, square = 0, given = 0, shifted = 0, shifted_square = 0, largest = 0;
  for (uint64_t i = 0; i < n; ++i) {
    mean += x.value(i) / count;
    size += std::abs(x.value(i)) / count;
    given = std::max(given, x.error(i));
  }
  for (uint64_t i = 0; i < n; ++i) {
    const double d = x.value(i) - mean, s = x.value(i) - x.value(0);
    square += d * d / count;
    largest = std::max(largest, std::abs(d));
    shifted += std::abs(s) / count;
    shifted_square += s * s / count;
  }
  const double additions = kF * (count + kParts);
  double mean_error = additions * size + given, square_error = 0;
  // Rows that the library reads twice: sums of differences from the first element, and of their squares.
  const bool is_long =
      kernels == GraphKernels::library &&
      2 * n > uint64_t{OPS_ROWS_MAX_TEAM} * OPS_ROWS_LAYER_NORM_PIECES * OPS_ROWS_PIECE;
  if (is_long) {
    mean_error = additions * shifted + 2 * kF * std::abs(mean) + given;
    square_error = 3 * additions * shifted_square;
  }
  const double off = mean_error + given;
  square_error += off * off + 2 * given * std::sqrt(square) + (additions + 4 * kF) * square;
  Normal out;
  out.scale = 1 / std::sqrt(square + epsilon);
  const double left = square + epsilon - square_error;
  out.scale_error = left <= 0 ? HUGE_VAL : std::sqrt((square + epsilon) / left) - 1 + kFunction;
  for (uint64_t i = 0; i < n; ++i) {
    const double d = x.value(i) - mean, d_error = off + 2 * kF * std::abs(d);
    out.h.push_back(d * out.scale);
    out.h_error.push_back(out.scale * d_error * (1 + out.scale_error) +
                          std::abs(d) * out.scale * out.scale_error);
  }
  return out;
}

void layer_norm(const json::object& op, Row x, const Numbers& gamma, const Numbers& beta,
                uint64_t n, GraphKernels kernels, double* value, double* error) {
  const Normal row = normalise(op, x, n, kernels);
  for (uint64_t i = 0; i < n; ++i) {
    Element y{row.h[i], row.h_error[i]};
    const auto put = [&](Element& e) {
      e.error += kernels == GraphKernels::library ? half_ulp(std::abs(e.value) + e.error)
                                                  : 2 * kF * std::abs(e.value);
    };
    put(y);
    y = times(y, {gamma.value[i], gamma.error_of(i)});
    put(y);
    value[i] = y.value + beta.value[i];
    error[i] = y.error + beta.error_of(i);
  }
}

// With g = gamma dy: scale (g - mean g - h mean(g h)).
void layer_norm_grad(const json::object& op, Row x, const Numbers& gamma, Row dy, uint64_t n,
                     GraphKernels kernels, double* value, double* error) {
  const Normal row = normalise(op, x, n, kernels);
  const double count = static_cast<double>(n), additions = kF * (count + kParts);
  std::vector<Element> g(n);
  Element mean{0, 0}, dot{0, 0};
  double size = 0, h_mean_error = 0;
  for (uint64_t i = 0; i < n; ++i) {
    g[i] = times({gamma.value[i], gamma.error_of(i)}, {dy.value(i), dy.error(i)});
    g[i].error += kF * std::abs(g[i].value);
    const Element product = times(g[i], {row.h[i], row.h_error[i]});
    mean.value += g[i].value / count;
    mean.error += g[i].error / count;
    size += std::abs(g[i].value) / count;
    dot.value += product.value / count;
    dot.error += (product.error + additions * std::abs(product.value)) / count;
    h_mean_error += row.h_error[i] / count;
  }
  mean.error += additions * size;
  // The library multiplies h by g less its mean: the mean of h is 0 but for its error.
  dot.error += (std::abs(mean.value) + mean.error) * (h_mean_error + additions);
  for (uint64_t i = 0; i < n; ++i) {
    const Element part = times({row.h[i], row.h_error[i]}, dot);
    const Element sum{
        g[i].value - mean.value - part.value,
        g[i].error + mean.error + part.error +
            4 * kF * (std::abs(g[i].value) + std::abs(mean.value) + std::abs(part.value))};
    const Element out = times(sum, {row.scale, row.scale * row.scale_error});
    value[i] = out.value;
    error[i] = out.error;
  }
}

Numbers rows(const std::string& kind, const json::object& op,
             const std::vector<const Numbers*>& inputs, uint64_t columns, GraphKernels kernels) {
  Numbers out;
  out.value.resize(inputs[0]->value.size());
  out.error.resize(out.value.size());
  for (uint64_t begin = 0; begin < out.value.size(); begin += columns) {
    const Row first{*inputs[0], begin};
    double *const value = &out.value[begin], *const error = &out.error[begin];
    if (kind == "Softmax") softmax(op, first, columns, kernels, value, error);
    if (kind == "SoftmaxGrad")
      softmax_grad(op, first, {*inputs[1], begin}, columns, kernels, value, error);
    if (kind == "LayerNorm")
      layer_norm(op, first, *inputs[1], *inputs[2], columns, kernels, value, error);
    if (kind == "LayerNormGrad")
      layer_norm_grad(op, first, *inputs[1], {*inputs[2], begin}, columns, kernels, value, error);
  }
  return out;
}

// What sums, repeats or moves rows

uint64_t axis_of(const json::object& op, size_t i) { return whole(op.at("axis").at(i)); }

// Sums over the axis in the middle, times a factor.
Numbers reduce(const std::string& kind, const json::object& op, const Numbers& x,
               uint64_t columns) {
  const bool has_axis = op.contains("axis");
  const uint64_t before = has_axis ? axis_of(op, 0) : 1,
                 after = has_axis ? axis_of(op, 2) : columns;
  const uint64_t extent = has_axis ? axis_of(op, 1) : x.value.size() / columns;
  const double factor = kind == "ReduceMean" ? 1 / static_cast<double>(extent) : 1;
  Numbers out;
  for (uint64_t i = 0; i < before * after; ++i) {
    const uint64_t first = i / after * extent * after + i % after;
    double sum = 0, size = 0, error = 0;
    for (uint64_t j = 0; j < extent; ++j) {
      sum += x.value[first + j * after];
      size += std::abs(x.value[first + j * after]);
      error += x.error_of(first + j * after);
    }
    // Rows meet in whatever order their pieces have.
    out.value.push_back(sum * factor);
    out.error.push_back(factor *
                            (error + kF * (static_cast<double>(extent) + kParts) * (size + error)) +
                        4 * kF * std::abs(sum) * factor);
  }
  return out;
}

// Of x, dy: sums over rows of dy x^.
Numbers gamma_grad(const json::object& op, const Numbers& x, const Numbers& dy, uint64_t columns,
                   GraphKernels kernels) {
  Numbers out;
  out.value.resize(columns);
  out.error.resize(columns);
  std::vector<double> size(columns);
  for (uint64_t begin = 0; begin < x.value.size(); begin += columns) {
    const Normal row = normalise(op, {x, begin}, columns, kernels);
    for (uint64_t i = 0; i < columns; ++i) {
      const Element one =
          times({row.h[i], row.h_error[i]}, {dy.value[begin + i], dy.error_of(begin + i)});
      out.value[i] += one.value;
      out.error[i] += one.error;
      size[i] += std::abs(one.value) + one.error;
    }
  }
  const double rows = static_cast<double>(x.value.size() / columns);
  for (uint64_t i = 0; i < columns; ++i) out.error[i] += kF * (rows + kParts) * size[i];
  return out;
}

Numbers expand(const json::object& op, const Numbers& x) {
  const double factor = static_cast<float>(attribute(op, "scale", 1));
  const uint64_t before = axis_of(op, 0), extent = axis_of(op, 1), after = axis_of(op, 2);
  Numbers out;
  for (uint64_t i = 0; i < before * extent * after; ++i) {
    const uint64_t from = i / (extent * after) * after + i % after;
    const Element one = times({factor, 0}, {x.value[from], x.error_of(from)});
    out.value.push_back(one.value);
    out.error.push_back(one.error + 2 * kF * std::abs(one.value));
  }
  return out;
}

// Pairs of elements half a head apart, turned.
Numbers rope(const json::object& op, const Numbers& x, const Numbers& cosines,
             const Numbers& sines) {
  const uint64_t heads = axis_of(op, 1), length = axis_of(op, 2), half = length / 2;
  const bool is_back = attribute(op, "inverse", 0) != 0;
  Numbers out;
  for (uint64_t i = 0; i < x.value.size(); ++i) {
    const uint64_t row = i / length, at = i % length, other = at < half ? i + half : i - half;
    const uint64_t angle = row / heads * length + at;
    const uint64_t turned = is_back ? (at < half ? angle + half : angle - half) : angle;
    const Element a =
        times({x.value[i], x.error_of(i)}, {cosines.value[angle], cosines.error_of(angle)});
    const Element b =
        times({x.value[other], x.error_of(other)}, {sines.value[turned], sines.error_of(turned)});
    out.value.push_back((at < half) != is_back ? a.value - b.value : a.value + b.value);
    out.error.push_back(a.error + b.error + 4 * kF * (std::abs(a.value) + std::abs(b.value)));
  }
  return out;
}

// Rows by index, and sums of rows that have the same.
Numbers gather(const json::object& op, const Numbers& x, const Numbers& index) {
  const uint64_t before = axis_of(op, 0), extent = axis_of(op, 1), after = axis_of(op, 2);
  Numbers out;
  for (uint64_t matrix = 0; matrix < before; ++matrix) {
    for (const double row : index.value) {
      for (uint64_t i = 0; i < after; ++i) {
        const uint64_t from = (matrix * extent + static_cast<uint64_t>(row)) * after + i;
        out.value.push_back(x.value[from]);
        out.error.push_back(x.error_of(from));
      }
    }
  }
  return out;
}

Numbers scatter_add(const json::object& op, const Numbers& x, const Numbers& index) {
  const uint64_t before = axis_of(op, 0), rows = axis_of(op, 1), after = axis_of(op, 2);
  const uint64_t sources = index.value.size();
  Numbers out;
  out.value.resize(before * rows * after);
  out.error.resize(before * rows * after);
  std::vector<double> size(before * rows * after), count(rows);
  for (const double row : index.value) count[static_cast<uint64_t>(row)] += 1;
  for (uint64_t at = 0; at < before * sources; ++at) {
    const uint64_t row = at / sources * rows + static_cast<uint64_t>(index.value[at % sources]);
    for (uint64_t i = 0; i < after; ++i) {
      const double value = x.value[at * after + i], error = x.error_of(at * after + i);
      out.value[row * after + i] += value;
      out.error[row * after + i] += error;
      size[row * after + i] += std::abs(value) + error;
    }
  }
  for (uint64_t i = 0; i < size.size(); ++i) {
    const double terms = count[i / after % rows];
    if (terms > 1) out.error[i] += kF * (terms + kParts) * size[i];
  }
  return out;
}

// Parts of operands, by their names; zeros elsewhere.
Numbers copies(const json::object& op, const std::vector<const Numbers*>& inputs) {
  uint64_t elements = 0;
  const json::array& all = op.at("copies").as_array();
  const auto number = [](const json::value& copy, const char* key) {
    return whole(copy.at(key)) / 2;
  };
  for (const json::value& copy : all)
    elements = std::max(elements, number(copy, "to_offset") +
                                      (whole(copy.at("rows")) - 1) * number(copy, "out_pitch") +
                                      number(copy, "row_bytes"));
  Numbers out;
  out.value.resize(elements);
  out.error.resize(elements);
  const json::array& names = op.at("inputs").as_array();
  size_t place = 0;
  for (const json::value& copy : all) {
    if (copy.at("from").as_string().empty()) continue;
    while (names[place] != copy.at("from")) place = (place + 1) % names.size();
    const Numbers& x = *inputs[place];
    const uint64_t rows = whole(copy.at("rows")), length = number(copy, "row_bytes");
    const uint64_t in_pitch = number(copy, "in_pitch"), out_pitch = number(copy, "out_pitch");
    uint64_t from = number(copy, "from_offset"), to = number(copy, "to_offset");
    for (uint64_t row = 0; row < rows; ++row, from += in_pitch, to += out_pitch) {
      for (uint64_t i = 0; i < length; ++i) {
        out.value[to + i] = x.value[from + i];
        out.error[to + i] = x.error_of(from + i);
      }
    }
  }
  return out;
}

// Whether a result is that of a kind above; `exact`: no rounding.
bool work_out_moving(const std::string& kind, const json::object& op,
                     const std::vector<const Numbers*>& inputs, uint64_t columns,
                     GraphKernels kernels, Numbers& out, bool& is_exact) {
  const Numbers& x = *inputs[0];
  const Numbers& last = *inputs.back();
  is_exact = kind == "View" || kind == "Gather" || op.contains("copies");
  if (kind == "View") {
    out = x;
    out.error.resize(out.value.size());
  } else if (kind == "Gather") {
    out = gather(op, x, last);
  } else if (op.contains("copies")) {
    out = copies(op, inputs);
  } else if (kind == "ScatterAdd") {
    out = scatter_add(op, x, last);
  } else if (kind == "Expand") {
    out = expand(op, x);
  } else if (kind == "Rope") {
    out = rope(op, x, *inputs[1], *inputs[2]);
  } else if (kind == "LayerNormGammaGrad") {
    out = gamma_grad(op, x, last, columns, kernels);
  } else if (kind.starts_with("Reduce") || kind == "LayerNormBetaGrad") {
    out = reduce(kind, op, x, columns);
  } else {
    return false;
  }
  return true;
}

}  // namespace

Numbers work_out(const json::object& op, const std::vector<const Numbers*>& inputs,
                 uint64_t columns, GraphKernels kernels, OperandErrors errors) {
  const std::string kind = op.at("kind").as_string().c_str();
  const auto all = functions(op);
  const auto function = all.find(kind);
  Numbers out;
  bool is_exact = false;
  if (work_out_moving(kind, op, inputs, columns, kernels, out, is_exact)) {
    if (is_exact) return out;
  } else {
    out = kind == "MatMul"        ? multiply(op, inputs, errors)
          : function != all.end() ? each(function->second, op, inputs, columns)
                                  : rows(kind, op, inputs, columns, kernels);
  }
  for (uint64_t i = 0; i < out.value.size(); ++i)
    out.error[i] += half_ulp(std::abs(out.value[i]) + out.error[i]);
  return out;
}

double update_rate(const json::object& op) {
  return factor_of(op, "rate", 0.001, has_master(op) ? GraphKernels::library : GraphKernels::loop);
}

Numbers update_master(const json::object& op, const Numbers& master, const Numbers& gradient) {
  const double rate = update_rate(op);
  Numbers out;
  for (uint64_t i = 0; i < master.value.size(); ++i) {
    const double step = rate * gradient.value[i];
    double error = master.error_of(i) + std::abs(rate) * gradient.error_of(i);
    error += half_ulp_fp32(std::abs(step) + error);
    const double value = master.value[i] - step;
    out.value.push_back(value);
    out.error.push_back(error + half_ulp_fp32(std::abs(value) + error));
  }
  return out;
}

}  // namespace stretto
