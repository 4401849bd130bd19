// SPDX-License-Identifier: Apache-2.0
// Reads a plan and checks whatever the host program, the reference and the check rely on: ranges of
// numbers, names that exist, places inside of their space, operands as large as what is read of
// them.
#include <boost/json.hpp>

#include <map>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "platform/kinds/graph/graph_groups.h"
#include "platform/kinds/graph/graph_reference.h"
#include "sw/compiler/loop_arguments.h"

namespace stretto {

namespace json = boost::json;

namespace {

using Entry = PlanEntry;
using Wide = unsigned __int128;

// Operators of rows and how many inputs they have.
const std::map<std::string, size_t> kRowOperators{
    {"Add", 2},     {"Sub", 2},         {"Mul", 2},       {"Gelu", 1},          {"GeluGrad", 2},
    {"Softmax", 1}, {"SoftmaxGrad", 2}, {"LayerNorm", 3}, {"LayerNormGrad", 3}, {"Update", 2}};

// Kernels of the library that do an operator as it is: without a row for all rows, without a scale.
const std::map<std::string, const char*> kVectorKernels{{"Add", "map_add"},
                                                        {"Mul", "map_mul"},
                                                        {"Gelu", "map_gelu"},
                                                        {"Softmax", "softmax"},
                                                        {"LayerNorm", "layer_norm"}};

double attribute(const Entry& op, const char* name, double otherwise) {
  const Entry all = op["attributes"];
  return all.has(name) ? all[name].real() : otherwise;
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names{"MatMul", "AllReduce"};
  for (const auto& [name, inputs] : kRowOperators) names.push_back(name);
  return names;
}

// Follows how many elements each tensor has while operators are worked out one after the other.
class Operators {
 public:
  explicit Operators(const GraphPlan& plan) {
    for (const GraphTensor& tensor : plan.tensors) tensors_[tensor.name] = &tensor;
    for (const GraphTensor& tensor : plan.tensors) elements_[tensor.name] = tensor.elements();
  }

  void check(const Entry& op) {
    const std::string kind = op["kind"].one_of(operator_names());
    for (const char* name : {"scale", "epsilon", "rate", "transpose_a", "transpose_b", "gelu"})
      (void)attribute(op, name, 0);
    if (kind == "AllReduce") {
      (void)size_of(op["output"]);
    } else if (kind == "MatMul") {
      check_product(op);
    } else {
      check_rows(op, kRowOperators.at(kind), kind);
    }
  }

 private:
  uint64_t size_of(const Entry& name) const {
    const auto found = elements_.find(name.text());
    if (found == elements_.end())
      name.fail("is '" + name.text() + "', which is no tensor and no output of an operator before");
    return found->second;
  }
  void put(const Entry& name, Wide elements) {
    const auto tensor = tensors_.find(name.text());
    if (tensor != tensors_.end() && elements > tensor->second->elements())
      name.fail("is '" + name.text() + "', which is smaller than what the operator writes");
    if (elements > kMostBytes / 2) name.fail("is too large");
    uint64_t& known = elements_[name.text()];
    known = std::max(known, static_cast<uint64_t>(elements));
  }

  void check_product(const Entry& op) {
    const Entry shape = op["matmul"];
    const auto side = [&](const char* key) { return shape[key].number(1, kMostRows); };
    const uint64_t m = side("m"), n = side("n"), k = side("k");
    const uint64_t outer = side("outer"), inner = side("inner");
    const auto inputs = op["inputs"].list(2, 3);
    const auto pitches = shape["pitch"].list(3, 3), strides = shape["strides"].list(3, 3);
    // One behind the last element of operand `i`, of `rows` x `columns`.
    const auto end = [&](size_t i, uint64_t rows, uint64_t columns) {
      const auto steps = strides[i].list(2, 2);
      const auto elements = [](const Entry& bytes) {
        return Wide{bytes.number(0, kMostBytes) / 2};
      };
      return (outer - 1) * elements(steps[0]) + (inner - 1) * elements(steps[1]) +
             (rows - 1) * elements(pitches[i]) + columns;
    };
    const bool ta = attribute(op, "transpose_a", 0) != 0, tb = attribute(op, "transpose_b", 0) != 0;
    if (end(0, ta ? k : m, ta ? m : k) > size_of(inputs[0]))
      inputs[0].fail("is smaller than the left side of the product");
    if (end(1, tb ? n : k, tb ? k : n) > size_of(inputs[1]))
      inputs[1].fail("is smaller than the right side of the product");
    if (inputs.size() == 3 && n > size_of(inputs[2]))
      inputs[2].fail("is smaller than a row of the product");
    put(op["output"], end(2, m, n));
  }

  void check_rows(const Entry& op, size_t count, const std::string& kind) {
    const auto inputs = op["inputs"].list(count, count);
    std::vector<uint64_t> sizes;
    for (const Entry& input : inputs) sizes.push_back(size_of(input));
    const uint64_t all = sizes[0];
    const auto tensor = tensors_.find(op["output"].text());
    const uint64_t columns =
        tensor != tensors_.end() ? tensor->second->columns : sizes[count > 1 ? 1 : 0];
    if (columns == 0 || all == 0 || all % columns != 0)
      op.fail("has " + std::to_string(all) + " elements in rows of " + std::to_string(columns));
    for (size_t i = 1; i < count; ++i) {
      const bool whole = kind == "LayerNormGrad" && i == 2;
      if (sizes[i] != all && (whole || sizes[i] < columns))
        inputs[i].fail("is smaller than " + (whole ? "the first input" : std::string("a row")));
    }
    put(op["output"], all);
  }

  std::map<std::string, const GraphTensor*> tensors_;
  std::map<std::string, uint64_t> elements_;  // By name, of tensors and of values that were fused.
};

void read_tensors(const Entry& root, GraphPlan& plan) {
  std::map<std::string, bool> names;
  for (const Entry& one : root["tensors"].list(1)) {
    GraphTensor tensor;
    tensor.name = one["name"].text();
    tensor.kind = one["kind"].one_of({"input", "weight", "constant", "value", "gradient"});
    tensor.rows = one["rows"].number(1, kMostRows);
    tensor.columns = one["columns"].number(1, kMostRows);
    tensor.in_gradients = one["space"].one_of({"arena", "gradients"}) == "gradients";
    tensor.offset = one["offset"].number(0, kMostBytes);
    tensor.value = one["value"].real();
    const uint64_t space = tensor.in_gradients ? plan.gradient_bytes : plan.arena_bytes;
    if (tensor.offset % 2 != 0 || tensor.offset + 2 * tensor.elements() > space)
      one.fail("('" + tensor.name + "') does not lie in its space of " + std::to_string(space) +
               " bytes");
    if (!names.emplace(tensor.name, true).second)
      one.fail("has the name '" + tensor.name + "' of another");
    plan.tensors.push_back(std::move(tensor));
  }
}

// REQUIRES: Operators has checked it.
graph_operator_t operator_of(const Entry& one, const GraphPlan& plan) {
  const auto tensor = [&](const Entry& name) -> const GraphTensor& {
    for (const GraphTensor& tensor : plan.tensors)
      if (tensor.name == name.text()) return tensor;
    name.fail("is '" + name.text() + "', which is no tensor");
  };
  graph_operator_t op{};
  std::vector<Entry> inputs = one["inputs"].list(1, 3);
  const size_t count = inputs.size();
  for (const Entry& name : one["constants"].list(0, 1)) inputs.push_back(name);
  const auto place = [&](const Entry& name) {
    const GraphTensor& of = tensor(name);
    return of.offset + (of.in_gradients ? plan.arena_bytes : 0);
  };
  for (size_t i = 0; i < inputs.size(); ++i) op.in[i].place = place(inputs[i]);
  op.out.place = place(one["output"]);
  const std::string kind = one["kind"].text();
  if (kind == "MatMul") {
    const Entry shape = one["matmul"];
    const auto side = [&](const char* key) {
      return static_cast<uint32_t>(shape[key].number(1, kMostRows));
    };
    op.inner = side("inner");
    op.gemm = {OPS_FP16, side("m"), side("n"), side("k"), side("outer") * op.inner, 0};
    if (attribute(one, "transpose_a", 0) != 0) op.gemm.layout |= GEMM_A_KM;
    if (attribute(one, "transpose_b", 0) != 0) op.gemm.layout |= GEMM_B_NK;
    op.has_bias = count == 3;
    op.activation = attribute(one, "gelu", 0) != 0 ? OPS_GEMM_GELU : OPS_GEMM_NO_ACTIVATION;
    graph_operand_t* const operands[] = {&op.in[0], &op.in[1], &op.out};
    for (size_t i = 0; i < 3; ++i) {
      const auto strides = shape["strides"].list(3, 3)[i].list(2, 2);
      operands[i]->outer = strides[0].number(0, kMostBytes);
      operands[i]->inner = strides[1].number(0, kMostBytes);
      operands[i]->pitch =
          static_cast<uint32_t>(shape["pitch"].list(3, 3)[i].number(0, ~uint32_t{0}));
    }
    return op;
  }
  const GraphTensor& out = tensor(one["output"]);
  op.rows = static_cast<uint32_t>(out.rows);
  op.columns = static_cast<uint32_t>(out.columns);
  op.in[3] = op.in[inputs.size() - 1];
  const auto vector = kVectorKernels.find(kind);
  const bool is_broadcast = kind == "Add" && tensor(inputs[1]).elements() != out.elements();
  if (vector != kVectorKernels.end() && !is_broadcast && attribute(one, "scale", 1) == 1)
    op.vector = vector->second;
  return op;
}

void read_launches(const Entry& root, GraphPlan& plan) {
  const auto buckets = root["buckets"].list(0, LOOP_MAX_BUCKETS);
  const auto launches = root["launches"].list(1, LOOP_MAX_OPS);
  plan.buckets.assign(buckets.size(), {0, 0, 0, LOOP_MAX_OPS});
  Operators operators(plan);
  for (const Entry& one : launches) {
    const uint32_t op = static_cast<uint32_t>(plan.launches.size());
    operators.check(one);
    plan.launches.push_back(one["kind"].text());
    plan.outputs.push_back(one["output"].text());
    plan.operators.push_back(operator_of(one, plan));
    plan.operators.back().tiles = static_cast<uint32_t>(one["tiles"].number(1, kMostRows));
    for (const Entry& bucket : one["after_buckets"].list()) {
      if (buckets.empty()) bucket.fail("names a bucket, and there is none");
      uint32_t& first = plan.buckets[bucket.number(0, buckets.size() - 1)].first_use;
      first = std::min(first, op);
    }
  }
  for (size_t i = 0; i < buckets.size(); ++i) {
    const Entry& one = buckets[i];
    graph_bucket_t& bucket = plan.buckets[i];
    bucket.offset = one["offset"].number(0, kMostBytes);
    bucket.bytes = one["bytes"].number(1, kMostBytes);
    if (bucket.offset + bucket.bytes > plan.gradient_bytes)
      one.fail("does not lie in the " + std::to_string(plan.gradient_bytes) +
               " bytes of gradients");
    for (const Entry& op : one["ops"].list(1))
      bucket.last_op =
          std::max(bucket.last_op, static_cast<uint32_t>(op.number(0, launches.size() - 1)));
  }
}

}  // namespace

GraphPlan load_graph_plan(const std::string& file) {
  boost::system::error_code error;
  const json::value value = json::parse(read_file(file), error);
  if (error || !value.is_object())
    throw UserError(file + ": is no plan of sw/compiler/compile.py: no JSON object");
  const Entry root(file, value, "");
  GraphPlan plan;
  plan.name = root["name"].text();
  plan.arena_bytes = root["arena_bytes"].number(0, kMostBytes);
  plan.gradient_bytes = root["gradient_bytes"].number(0, kMostBytes);
  read_tensors(root, plan);
  read_launches(root, plan);
  if (root.has("groups")) read_groups(root["groups"], plan);
  Operators operators(plan);
  for (const Entry& op : root["ops"].list(1)) {
    operators.check(op);
    if (op["kind"].text() != "MatMul") continue;
    double flop = 2e-9;
    for (const char* key : {"m", "n", "k", "outer", "inner"}) flop *= op["matmul"][key].real();
    plan.gflop += flop;
  }
  plan.ops = value.at("ops").as_array();
  return plan;
}

}  // namespace stretto
