// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_reference.h"

#include <Eigen/Core>

#include <boost/json.hpp>

#include <algorithm>
#include <cmath>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "platform/jobs/contents.h"

namespace stretto {

namespace json = boost::json;

namespace {

double rounded(double value) { return number_from_fp16(fp16_of_number(value)); }

uint64_t whole(const json::value& value) { return value.to_number<uint64_t>(); }

double attribute(const json::object& op, const char* name, double fallback) {
  const json::object& all = op.at("attributes").as_object();
  return all.contains(name) ? all.at(name).to_number<double>() : fallback;
}

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

double gelu_slope(double x) {
  const double c = std::sqrt(2 / M_PI), t = std::tanh(c * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x);
}

struct Moments {
  double mean = 0, scale = 0;  // 1 / deviation.
};

Moments moments(const double* x, uint64_t n, double epsilon) {
  Moments m;
  for (uint64_t i = 0; i < n; ++i) m.mean += x[i];
  m.mean /= static_cast<double>(n);
  double square = 0;
  for (uint64_t i = 0; i < n; ++i) square += (x[i] - m.mean) * (x[i] - m.mean);
  m.scale = 1 / std::sqrt(square / static_cast<double>(n) + epsilon);
  return m;
}

}  // namespace

double number_from_fp16(uint16_t bits) {
  return static_cast<double>(static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits)));
}

uint16_t fp16_of_number(double value) { return Eigen::half(static_cast<float>(value)).x; }

uint16_t graph_content(uint64_t seed, const GraphTensor& tensor, size_t index, uint32_t rank,
                       uint64_t element) {
  if (tensor.kind == "constant") return fp16_of_number(tensor.value);
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

GraphReference::GraphReference(const GraphPlan& plan, uint32_t ranks, uint64_t seed) : plan_(plan) {
  for (size_t i = 0; i < plan.tensors.size(); ++i) index_[plan.tensors[i].name] = i;
  data_.resize(ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
      const GraphTensor& tensor = plan.tensors[i];
      std::vector<double>& data = data_[rank].emplace_back(tensor.elements());
      if (tensor.kind == "value" || tensor.kind == "gradient") continue;
      for (uint64_t e = 0; e < data.size(); ++e)
        data[e] = number_from_fp16(graph_content(seed, tensor, i, rank, e));
    }
  }
}

std::vector<double>& GraphReference::of(uint32_t rank, const json::value& name) {
  // A value that was fused away has no place in the plan, but is needed here.
  const std::string key = name.as_string().c_str();
  const auto [place, fresh] = index_.emplace(key, data_[0].size());
  if (fresh) {
    for (auto& all : data_) all.emplace_back();
  }
  return data_[rank][place->second];
}

void GraphReference::run(uint32_t iterations) {
  for (uint32_t iteration = 0; iteration < iterations; ++iteration) {
    for (const json::value& value : plan_.ops) {
      const json::object& op = value.as_object();
      const json::string& kind = op.at("kind").as_string();
      if (kind == "AllReduce") {
        all_reduce(op);
        continue;
      }
      for (uint32_t rank = 0; rank < data_.size(); ++rank)
        kind == "MatMul" ? matmul(rank, op) : rows(rank, op);
    }
  }
}

void GraphReference::matmul(uint32_t rank, const json::object& op) {
  const json::object& shape = op.at("matmul").as_object();
  const uint64_t m = whole(shape.at("m")), n = whole(shape.at("n")), k = whole(shape.at("k"));
  const uint64_t outer = whole(shape.at("outer")), inner = whole(shape.at("inner"));
  const bool ta = attribute(op, "transpose_a", 0) != 0, tb = attribute(op, "transpose_b", 0) != 0;
  const json::array& names = op.at("inputs").as_array();
  of(rank, op.at("output"));  // May move the others.
  const std::vector<double>& a = of(rank, names[0]);
  const std::vector<double>& b = of(rank, names[1]);
  std::vector<double>& c = of(rank, op.at("output"));
  const auto element = [&](size_t which, const char* key) {
    return whole(shape.at(key).at(which)) / 2;
  };
  const auto stride = [&](size_t which, size_t level) {
    return whole(shape.at("strides").at(which).at(level)) / 2;
  };
  const uint64_t lda = element(0, "pitch"), ldb = element(1, "pitch"), ldc = element(2, "pitch");
  c.resize(std::max<size_t>(
      c.size(), (outer - 1) * stride(2, 0) + (inner - 1) * stride(2, 1) + (m - 1) * ldc + n));
  double& largest = products_[op.at("output").as_string().c_str()];
  for (uint64_t o = 0; o < outer; ++o) {
    for (uint64_t i = 0; i < inner; ++i) {
      const double* const pa = a.data() + o * stride(0, 0) + i * stride(0, 1);
      const double* const pb = b.data() + o * stride(1, 0) + i * stride(1, 1);
      double* const pc = c.data() + o * stride(2, 0) + i * stride(2, 1);
      for (uint64_t row = 0; row < m; ++row) {
        for (uint64_t column = 0; column < n; ++column) {
          double sum = 0, size = 0;
          for (uint64_t x = 0; x < k; ++x) {
            const double product = (ta ? pa[x * lda + row] : pa[row * lda + x]) *
                                   (tb ? pb[column * ldb + x] : pb[x * ldb + column]);
            sum += product;
            size += std::abs(product);
          }
          largest = std::max(largest, size / std::sqrt(static_cast<double>(k)));
          pc[row * ldc + column] = rounded(sum);
        }
      }
    }
  }
}

double GraphReference::magnitude(uint32_t rank, size_t index) const {
  const auto products = products_.find(plan_.tensors[index].name);
  double most = products == products_.end() ? 0 : products->second;
  for (const double value : data_[rank][index]) most = std::max(most, std::abs(value));
  return most;
}

void GraphReference::rows(uint32_t rank, const json::object& op) {
  const std::string kind = op.at("kind").as_string().c_str();
  const json::array& names = op.at("inputs").as_array();
  of(rank, op.at("output"));
  const std::vector<double>& first = of(rank, names[0]);
  const std::vector<double>& second = of(rank, names[names.size() > 1 ? 1 : 0]);
  const std::vector<double>& third = of(rank, names[names.size() > 2 ? 2 : 0]);
  std::vector<double>& out = of(rank, op.at("output"));
  out.resize(first.size());
  const auto known = index_.find(op.at("output").as_string().c_str());
  const uint64_t columns =
      known->second < plan_.tensors.size() ? plan_.tensors[known->second].columns : second.size();
  // Constants lie in memory as FP16.
  const double scale = rounded(attribute(op, "scale", 1));
  const double epsilon = rounded(attribute(op, "epsilon", 1e-5));
  const double rate = rounded(attribute(op, "rate", 0.001));
  for (uint64_t begin = 0; begin < first.size(); begin += columns) {
    const double* const x = first.data() + begin;
    const auto other = [&](uint64_t i) {
      return second.size() == first.size() ? second[begin + i] : second[i];
    };
    double most = -HUGE_VAL, sum = 0, dot = 0, mean = 0;
    Moments m;
    if (kind == "Softmax") {
      for (uint64_t i = 0; i < columns; ++i) most = std::max(most, x[i] * scale);
      for (uint64_t i = 0; i < columns; ++i) sum += std::exp(x[i] * scale - most);
    } else if (kind == "SoftmaxGrad") {
      for (uint64_t i = 0; i < columns; ++i) dot += x[i] * other(i);
    } else if (kind == "LayerNorm" || kind == "LayerNormGrad") {
      m = moments(x, columns, epsilon);
      for (uint64_t i = 0; kind == "LayerNormGrad" && i < columns; ++i) {
        const double g = second[i] * third[begin + i];
        mean += g / static_cast<double>(columns);
        dot += g * (x[i] - m.mean) * m.scale / static_cast<double>(columns);
      }
    }
    for (uint64_t i = 0; i < columns; ++i) {
      double y = 0;
      if (kind == "Add") y = x[i] + other(i);
      if (kind == "Sub") y = x[i] - other(i);
      if (kind == "Mul") y = x[i] * other(i);
      if (kind == "Gelu") y = gelu(x[i]);
      if (kind == "GeluGrad") y = other(i) * gelu_slope(x[i]);
      if (kind == "Softmax") y = std::exp(x[i] * scale - most) / sum;
      if (kind == "SoftmaxGrad") y = x[i] * (other(i) - dot) * scale;
      if (kind == "LayerNorm") y = (x[i] - m.mean) * m.scale * second[i] + third[i];
      if (kind == "LayerNormGrad")
        y = (second[i] * third[begin + i] - mean - (x[i] - m.mean) * m.scale * dot) * m.scale;
      // Rounded twice, as there: where a step is about half a unit of the weight's last place, another rounding of it
      // makes the weight go another way in every iteration.
      if (kind == "Update") y = x[i] - rounded(rate * other(i));
      out[begin + i] = rounded(y);
    }
  }
}

void GraphReference::all_reduce(const json::object& op) {
  std::vector<double> sum = of(0, op.at("output"));
  for (uint32_t rank = 1; rank < data_.size(); ++rank) {
    const std::vector<double>& one = of(rank, op.at("output"));
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
  }
  for (double& value : sum) value = rounded(value);
  for (uint32_t rank = 0; rank < data_.size(); ++rank) of(rank, op.at("output")) = sum;
}

}  // namespace stretto
