// SPDX-License-Identifier: Apache-2.0
// Reads a plan and checks whatever the host program, the reference and the check rely on: ranges of
// numbers, names that exist, places inside of their space, operands as large as what is read of
// them.
#include <boost/json.hpp>

#include <algorithm>
#include <cstring>
#include <map>

#include "models/common/component.h"
#include "models/common/error.h"
#include "models/common/read_file.h"
#include "platform/kinds/graph/graph_fused.h"
#include "platform/kinds/graph/graph_groups.h"
#include "platform/kinds/graph/graph_plan.h"
#include "sw/compiler/loop_arguments.h"

namespace stretto {

namespace json = boost::json;

namespace {

using Entry = PlanEntry;
using Wide = unsigned __int128;

// Operators element by element or of rows, and how many inputs they have.
const std::map<std::string, size_t> kRowOperators{
    {"Div", 2},       {"Relu", 1},          {"ReluGrad", 2}, {"Sigmoid", 1},  {"SigmoidGrad", 2},
    {"Tanh", 1},      {"TanhGrad", 2},      {"Silu", 1},     {"SiluGrad", 2}, {"Neg", 1},
    {"Sqrt", 1},      {"Pow", 1},           {"Rope", 3},     {"Add", 2},      {"Sub", 2},
    {"Mul", 2},       {"Gelu", 1},          {"GeluGrad", 2}, {"Softmax", 1},  {"SoftmaxGrad", 2},
    {"LayerNorm", 3}, {"LayerNormGrad", 3}, {"Update", 2}};

// The kernel of the library that has an operator of rows.
struct LibraryKernel {
  graph_form_t form;
  const char* name;
};
const std::map<std::string, LibraryKernel> kLibrary{
    {"Add", {GRAPH_MAP, "map_add"}},
    {"Sub", {GRAPH_EACH, "sub"}},
    {"Mul", {GRAPH_MAP, "map_mul"}},
    {"Gelu", {GRAPH_MAP, "map_gelu"}},
    {"GeluGrad", {GRAPH_MAP, "map_gelu_grad"}},
    {"Softmax", {GRAPH_ROWS, "softmax"}},
    {"SoftmaxGrad", {GRAPH_ROWS, "softmax_grad"}},
    {"LayerNorm", {GRAPH_ROWS, "layer_norm"}},
    {"LayerNormGrad", {GRAPH_ROWS, "layer_norm_grad"}},
    {"Update", {GRAPH_EACH, "update"}},
    {"Div", {GRAPH_EACH, "div"}},
    {"Relu", {GRAPH_MAP, "map_relu"}},
    {"ReluGrad", {GRAPH_MAP, "map_relu_grad"}},
    {"Sigmoid", {GRAPH_EACH, "sigmoid"}},
    {"SigmoidGrad", {GRAPH_EACH, "sigmoid_grad"}},
    {"Tanh", {GRAPH_EACH, "tanh"}},
    {"TanhGrad", {GRAPH_EACH, "tanh_grad"}},
    {"Silu", {GRAPH_EACH, "silu"}},
    {"SiluGrad", {GRAPH_EACH, "silu_grad"}},
    {"Neg", {GRAPH_EACH, "neg"}},
    {"Sqrt", {GRAPH_EACH, "sqrt"}},
    {"Pow", {GRAPH_MAP, "map_mul"}},
    {"Rope", {GRAPH_ROPE, "rope"}}};
// Operators that sum, repeat or move rows, and how many inputs they have at most.
const std::map<std::string, size_t> kMoving{{"View", 1},
                                            {"ReduceSum", 1},
                                            {"ReduceMean", 1},
                                            {"Expand", 1},
                                            {"LayerNormGammaGrad", 2},
                                            {"LayerNormBetaGrad", 1},
                                            {"Concat", GRAPH_MAX_COPIES},
                                            {"Slice", 1},
                                            {"Pad", 1},
                                            {"Gather", 2},
                                            {"ScatterAdd", 2}};
// Those of two whole operands, if the second is repeated.
const std::map<std::string, const char*> kRepeated{
    {"Add", "add"}, {"Sub", "sub"}, {"Mul", "mul"}, {"Div", "div"}};
const std::vector<std::string> kSeconds{"rows", "row", "column", "one"};  // OPS_EACH_*

double attribute(const Entry& op, const char* name, double otherwise) {
  const Entry all = op["attributes"];
  return all.has(name) ? all[name].real() : otherwise;
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names{"MatMul", "AllReduce"};
  for (const auto& [name, inputs] : kRowOperators) names.push_back(name);
  for (const auto& [name, inputs] : kMoving) names.push_back(name);
  return names;
}

// Follows how many elements each tensor has while operators are worked out one after the other.
class Operators {
 public:
  explicit Operators(const GraphPlan& plan) {
    for (const GraphTensor& tensor : plan.tensors) tensors_[tensor.name] = &tensor;
    for (const GraphTensor& tensor : plan.tensors)
      elements_[tensor.name] =
          tensor.elements() / (tensor.kind == "index" || tensor.kind == "master" ? 2 : 1);
  }

  void check(const Entry& op) {
    const std::string kind = op["kind"].one_of(operator_names());
    for (const char* name : {"scale", "epsilon", "rate", "transpose_a", "transpose_b", "gelu"})
      (void)attribute(op, name, 0);
    check_masters(op, kind);
    if (kind == "AllReduce") {
      (void)size_of(op["output"]);
    } else if (kind == "MatMul") {
      check_product(op);
    } else if (kMoving.contains(kind)) {
      check_moving(op, kind);
    } else {
      check_rows(op, has_master(op) ? 3 : kRowOperators.at(kind), kind);
    }
  }

  static bool has_master(const Entry& op) {
    return op["kind"].text() == "Update" && op["inputs"].list().size() == 3;
  }

 private:
  uint64_t size_of(const Entry& name) const {
    const auto found = elements_.find(name.text());
    if (found == elements_.end())
      name.fail("is '" + name.text() + "', which is no tensor and no output of an operator before");
    return found->second;
  }
  // A master is behind weight and gradient, and nowhere else.
  void check_masters(const Entry& op, const std::string& kind) const {
    const auto inputs = op["inputs"].list();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto tensor = tensors_.find(inputs[i].text());
      const bool is_master = tensor != tensors_.end() && tensor->second->kind == "master";
      const bool must_be = kind == "Update" && i == 2;
      if (is_master && !must_be) inputs[i].fail("is a master, which its weight's Update takes");
      if (must_be && !is_master) inputs[i].fail("is no master");
    }
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
    if (kind == "Rope") {  // Cosines and sines of rows of one head.
      const auto axis = op["axis"].list(3, 3);
      const Wide rows = axis[0].number(1, kMostRows), heads = axis[1].number(1, kMostRows),
                 length = axis[2].number(1, kMostRows);
      if (rows * heads * length != all) op.fail("has heads that are not its rows");
      for (size_t i = 1; i < count; ++i)
        if (sizes[i] < rows * length) inputs[i].fail("has no row for each of the first input");
      put(op["output"], all);
      return;
    }
    const std::string second = op.has("second") ? op["second"].one_of(kSeconds) : "rows";
    for (size_t i = 1; i < count; ++i) {
      const bool is_row = kind.starts_with("LayerNorm") && !(kind == "LayerNormGrad" && i == 2);
      const bool is_repeated = kRepeated.contains(kind) && sizes[i] % columns == 0 &&
                               sizes[i] != 0 && all % sizes[i] == 0;
      const uint64_t needed = is_row || second == "row" ? columns
                              : second == "column"      ? all / columns
                              : second == "one"         ? 1
                              : is_repeated             ? sizes[i]
                                                        : all;
      if (sizes[i] < needed)
        inputs[i].fail("has " + std::to_string(sizes[i]) + " elements, must have " +
                       std::to_string(needed));
    }
    put(op["output"], all);
  }

  void check_moving(const Entry& op, const std::string& kind) {
    const auto inputs = op["inputs"].list(1, kMoving.at(kind));
    std::vector<uint64_t> sizes;
    for (const Entry& input : inputs) sizes.push_back(size_of(input));
    const auto tensor = tensors_.find(op["output"].text());
    if (tensor == tensors_.end()) op["output"].fail("has no place");
    const auto at_least = [&](size_t input, Wide needed) {
      if (sizes[input] < needed)
        inputs[input].fail("has " + std::to_string(sizes[input]) + " elements, must have " +
                           std::to_string(static_cast<uint64_t>(needed)));
    };
    Wide out = tensor->second->elements();
    if (op.has("axis")) {
      const auto axis = op["axis"].list(3, 3);
      Wide n[3];
      for (size_t i = 0; i < 3; ++i) n[i] = axis[i].number(1, kMostRows);
      const Wide all = n[0] * n[1] * n[2];
      if (inputs.size() < (kind == "Gather" || kind == "ScatterAdd" ? 2u : 1u))
        op.fail("has no indices");
      if (kind == "Expand") at_least(0, n[0] * n[2]), out = all;
      if (kind.starts_with("Reduce")) at_least(0, all), out = n[0] * n[2];
      if (kind == "Gather") at_least(0, all), out = n[0] * sizes[1] * n[2];
      if (kind == "ScatterAdd") at_least(0, n[0] * sizes[1] * n[2]), out = all;
      for (size_t i = 1; i < inputs.size(); ++i)
        if (tensors_.at(inputs[i].text())->kind != "index") inputs[i].fail("has no indices");
    } else if (op.has("copies")) {
      for (const Entry& copy : op["copies"].list(1, GRAPH_MAX_COPIES)) check_copy(copy, out);
    } else if (kind.starts_with("LayerNorm")) {
      if (sizes[0] % out != 0) inputs[0].fail("has no rows of the result");
      at_least(inputs.size() - 1, sizes[0]);
    } else if (kind == "View") {
      at_least(0, out);
    } else {
      op.fail("has no 'axis' and no 'copies'");
    }
    put(op["output"], out);
  }
  void check_copy(const Entry& copy, Wide out) const {
    const auto number = [&](const char* key, uint64_t low) {
      return Wide{copy[key].number(low, UINT32_MAX)};
    };
    const Wide rows = number("rows", 1) - 1, bytes = number("row_bytes", 2);
    const auto end = [&](const char* offset, const char* pitch) {
      return copy[offset].number(0, kMostBytes) + rows * number(pitch, 2) + bytes;
    };
    if (end("to_offset", "out_pitch") > 2 * out) copy.fail("writes behind the result");
    if (!copy["from"].text().empty() &&
        end("from_offset", "in_pitch") > Wide{2} * size_of(copy["from"]))
      copy.fail("reads behind its operand");
  }

  std::map<std::string, const GraphTensor*> tensors_;
  std::map<std::string, uint64_t> elements_;  // By name, of tensors and of values that were fused.
};

// Its weight stands before it.
void read_master(const Entry& one, const GraphPlan& plan, GraphTensor& master) {
  const std::string name = one["of"].text();
  const auto weight = std::find_if(plan.tensors.begin(), plan.tensors.end(),
                                   [&](const GraphTensor& of) { return of.name == name; });
  if (weight == plan.tensors.end() || weight->kind != "weight")
    one["of"].fail("is '" + name + "', which is no weight");
  if (master.rows != weight->rows || master.columns != 2 * weight->columns)
    one.fail("has not one FP32 for each element of '" + name + "'");
  master.master_of = static_cast<size_t>(weight - plan.tensors.begin());
}

void read_tensors(const Entry& root, GraphPlan& plan) {
  std::map<std::string, bool> names;
  for (const Entry& one : root["tensors"].list(1)) {
    GraphTensor tensor;
    tensor.name = one["name"].text();
    tensor.kind = one["kind"].one_of(
        {"input", "weight", "master", "index", "constant", "words", "lists", "value", "gradient"});
    tensor.rows = one["rows"].number(1, kMostRows);
    tensor.columns = one["columns"].number(1, kMostRows);
    tensor.in_gradients = one["space"].one_of({"arena", "gradients"}) == "gradients";
    tensor.offset = one["offset"].number(0, kMostBytes);
    if (tensor.kind == "words") {
      for (const Entry& word : one["values"].list(OPS_ROWS_WORDS, OPS_ROWS_WORDS))
        tensor.words.push_back(word.real());
      if (tensor.elements() != 2 * tensor.words.size()) one.fail("has another number of values");
    } else {
      tensor.value = one["value"].real();
    }
    if (tensor.kind == "index") {
      tensor.extent = one["extent"].number(1, kMostRows);
      if (tensor.elements() % 2 != 0) one.fail("has half an index");
    }
    const uint64_t space = tensor.in_gradients ? plan.gradient_bytes : plan.arena_bytes;
    if (tensor.offset % 2 != 0 || tensor.offset + 2 * tensor.elements() > space)
      one.fail("('" + tensor.name + "') does not lie in its space of " + std::to_string(space) +
               " bytes");
    if (!names.emplace(tensor.name, true).second)
      one.fail("has the name '" + tensor.name + "' of another");
    if (tensor.kind == "master") read_master(one, plan, tensor);
    plan.tensors.push_back(std::move(tensor));
  }
}

uint32_t narrow(const Entry& one, uint64_t value) {
  if (value > UINT32_MAX) one.fail("has more elements than a launch takes");
  return static_cast<uint32_t>(value);
}

// An operator that sums, repeats or moves rows of `in`.
void read_moving(const Entry& one, const std::string& kind, const GraphTensor& in,
                 const GraphTensor& out, graph_operator_t& op) {
  uint64_t before = 1, extent = in.elements() / out.elements(), after = out.elements();
  if (one.has("axis")) {
    const auto axis = one["axis"].list(3, 3);
    before = axis[0].number(1, kMostRows);
    extent = axis[1].number(1, kMostRows);
    after = axis[2].number(1, kMostRows);
  }
  const auto shape = [&](uint64_t rows, uint64_t columns) {
    op.rows = narrow(one, rows);
    op.columns = narrow(one, 2 * columns) / 2;
  };
  if (kind == "LayerNormGammaGrad") {
    op.form = GRAPH_NORM_SUMS;
    shape(extent, after);
  } else if (kind.starts_with("Reduce") || kind == "LayerNormBetaGrad") {
    op.form = after == 1 ? GRAPH_SUM_COLUMNS : before != 1 ? GRAPH_SUM_GROUPS : GRAPH_SUM_ROWS;
    after == 1 ? shape(before, extent) : before != 1 ? shape(before, after) : shape(extent, after);
    if (op.form == GRAPH_SUM_GROUPS) op.period = narrow(one, extent * 2 * after) / (2 * after);
    if (after == 1 && extent > uint64_t{OPS_SUM_LONG_PIECE} / 4 * OPS_SUM_LONG_PIECE / 2)
      one.fail("has rows longer than the kernel library sums");
  } else if (kind == "Expand") {
    op.form = GRAPH_EACH;
    op.kernel = "expand";
    after == 1 ? shape(before, extent) : shape(before * extent, after);
    op.second = after == 1 ? OPS_EACH_COLUMN : before == 1 ? OPS_EACH_ROW : OPS_EACH_GROUP;
    op.period = static_cast<uint32_t>(extent);
    op.in[1] = op.in[0];
  } else if (one.has("copies")) {
    op.form = GRAPH_COPIES;
  } else {
    op.form = kind == "Gather" ? GRAPH_GATHER : GRAPH_SCATTER;
    if (kind == "ScatterAdd") {
      const uint64_t rows = in.elements() / before / after;
      shape(rows, after);
      op.period = narrow(one, before);
      op.in[0].pitch = before == 1 ? 0 : narrow(one, 2 * rows * after);
      op.out.pitch = before == 1 ? 0 : narrow(one, 2 * extent * after);
      if (before != 1) (void)narrow(one, 8 * (rows + 1) * after);  // Parts of sums.
      return;
    }
    if (before != 1 && 2 * after > OPS_GATHER_COLUMNS_PIECE)
      one.fail(
          "takes rows along an axis behind others; the kernel library takes columns of at most " +
          std::to_string(OPS_GATHER_COLUMNS_PIECE) + " bytes");
    if (before != 1) {
      shape(out.elements() / before / after, after);
      op.period = narrow(one, before);
      op.in[0].pitch = narrow(one, 2 * extent * after);
      return;
    }
    shape(out.elements() / after, after);
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
  const std::vector<Entry> inputs = one["inputs"].list(1, GRAPH_MAX_COPIES);
  const size_t count = inputs.size();
  const auto place = [&](const Entry& name) {
    const GraphTensor& of = tensor(name);
    return of.offset + (of.in_gradients ? plan.arena_bytes : 0);
  };
  for (size_t i = 0; i < std::min<size_t>(count, 3); ++i) op.in[i].place = place(inputs[i]);
  op.out.place = place(one["output"]);
  for (const Entry& name : one["words"].list(0, 1)) {
    const GraphTensor& words = tensor(name);
    if (words.kind != "words") name.fail("is '" + words.name + "', which has no words");
    op.words = place(name);
    op.has_factor = words.words[OPS_ROWS_FACTOR] != 1;
  }
  const std::string kind = one["kind"].text();
  if (kind == "MatMul") {
    const Entry shape = one["matmul"];
    const auto side = [&](const char* key) {
      return static_cast<uint32_t>(shape[key].number(1, kMostRows));
    };
    op.inner = side("inner");
    op.gemm = {OPS_FP16, side("m"), side("n"), side("k"), side("outer") * op.inner, 0, 0};
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
    // A row of ones times a matrix: sums over its rows, which a loop kernel has as a product.
    const GraphTensor& a = tensor(inputs[0]);
    if (a.kind == "constant" && a.value == 1 && op.gemm.m == 1 && op.gemm.batch == 1 &&
        count == 2 && op.gemm.layout == 0 && op.activation == OPS_GEMM_NO_ACTIVATION &&
        op.in[1].pitch == 2 * op.gemm.n) {
      op.form = GRAPH_SUM_ROWS;
      op.in[0] = op.in[1];
      op.rows = op.gemm.k;
      op.columns = op.gemm.n;
    }
    return op;
  }
  const GraphTensor& out = tensor(one["output"]);
  if (kMoving.contains(kind)) {
    read_moving(one, kind, tensor(inputs[0]), out, op);
    return op;
  }
  const uint64_t elements = out.elements();
  if (Operators::has_master(one)) {
    if (one["words"].list().empty()) one.fail("has no rate");
    op.form = GRAPH_UPDATE;
    op.rows = 1;
    op.columns = narrow(one, elements);
    return op;
  }
  op.form = kLibrary.at(kind).form;
  op.kernel = kLibrary.at(kind).name;
  op.rows = static_cast<uint32_t>(out.rows);
  op.columns = static_cast<uint32_t>(out.columns);
  if (kind == "LayerNormGrad") std::swap(op.in[1], op.in[2]);  // The library has dy before gamma.
  const std::string second = one.has("second") ? one["second"].text() : "rows";
  const uint64_t others = count > 1 ? tensor(inputs[1]).elements() : elements;
  if (kRepeated.contains(kind) && (second != "rows" || others != elements)) {
    op.form = GRAPH_EACH;
    op.kernel = kRepeated.at(kind);
    op.second = static_cast<uint32_t>(std::find(kSeconds.begin(), kSeconds.end(), second) -
                                      kSeconds.begin());
    op.period = static_cast<uint32_t>(others / out.columns);
  } else if (kind == "Rope") {
    const auto axis = one["axis"].list(3, 3);
    op.columns = static_cast<uint32_t>(axis[2].number(2, OPS_EACH_PIECE / 2));
    if (op.columns % 2 != 0 || elements % op.columns != 0)
      one.fail("has no heads of an even length");
    op.rows = static_cast<uint32_t>(elements / op.columns);
    op.second = OPS_EACH_GROUP;
    op.period = static_cast<uint32_t>(axis[1].number(1, kMostRows));
    if (attribute(one, "inverse", 0) != 0) op.kernel = "rope_back";
  } else if (kind == "Pow" && attribute(one, "exponent", 1) != 2) {
    one.fail("has an exponent of " + std::to_string(attribute(one, "exponent", 1)) +
             "; the kernel library has 2");
  } else if (op.form == GRAPH_EACH) {
    if (kind == "Sqrt") op.has_factor = 1;
    if (elements > UINT32_MAX / 2) one.fail("has more elements than a launch takes");
    op.rows = op.period = 1;
    op.columns = static_cast<uint32_t>(elements);
  }
  if (kind == "Pow") op.in[1] = op.in[0];
  return op;
}

const GraphTensor& tensor_of(const Entry& name, const GraphPlan& plan) {
  for (const GraphTensor& tensor : plan.tensors)
    if (tensor.name == name.text()) return tensor;
  name.fail("is '" + name.text() + "', which is no tensor");
}

void read_copies(const Entry& one, GraphPlan& plan) {
  const auto number = [](const Entry& value) {
    return static_cast<uint32_t>(value.number(1, UINT32_MAX));
  };
  const auto place = [&](const Entry& name) {
    const GraphTensor& of = tensor_of(name, plan);
    return of.offset + (of.in_gradients ? plan.arena_bytes : 0);
  };
  for (const Entry& copy : one["copies"].list()) {
    const bool is_fill = copy["from"].text().empty();
    plan.copies.back().push_back(
        {.from = is_fill ? 0 : place(copy["from"]) + copy["from_offset"].number(0, kMostBytes),
         .to = place(one["output"]) + copy["to_offset"].number(0, kMostBytes),
         .is_fill = is_fill,
         .rows = number(copy["rows"]),
         .row_bytes = number(copy["row_bytes"]),
         .in_pitch = number(copy["in_pitch"]),
         .out_pitch = number(copy["out_pitch"])});
  }
  plan.operators.back().copies = plan.copies.back().data();
  plan.operators.back().copy_count = static_cast<uint32_t>(plan.copies.back().size());
}

// Of a slice of what rows are added to.
uint64_t scatter_rows(const graph_operator_t& op, const GraphTensor& out) {
  return out.elements() / op.columns / op.period;
}

void read_lists(const Entry& one, GraphPlan& plan) {
  const GraphTensor& lists = tensor_of(one["lists"], plan);
  graph_operator_t& op = plan.operators.back();
  const uint64_t count = op.rows, rows = scatter_rows(op, tensor_of(one["output"], plan));
  // As emit.py has it: sorted rows, segments of the first launch, of the second.
  const uint64_t sorted = (count + 1) / 2 * 8, first = 16 * (rows + count / 32 + 1);
  if (lists.kind != "lists" || 2 * lists.elements() < sorted + first + 16 * (count / 64 + 1))
    one["lists"].fail("is '" + lists.name + "', which has no room for lists");
  op.list = lists.offset;
  op.first = op.list + sorted;
  op.second_list = op.first + first;
}

void read_blocks(const Entry& one, GraphPlan& plan) {
  const GraphTensor& made = tensor_of(one["output"], plan);
  const uint64_t count = (made.rows + LOOP_BLOCK_ROWS - 1) / LOOP_BLOCK_ROWS;
  if (count > LOOP_MAX_BLOCKS) one["first_block"].fail("is of a result that has no words");
  const uint64_t first = one["first_block"].number(0, LOOP_MAX_BLOCKS - count);
  plan.blocks.push_back({static_cast<uint32_t>(plan.launches.size() - 1),
                         static_cast<uint32_t>(first), static_cast<uint32_t>(count),
                         kElementBytes * made.elements()});
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
    if (plan.operators.back().form == GRAPH_UPDATE) plan.with_master.push_back(op);
    plan.copies.emplace_back();
    if (one.has("copies")) read_copies(one, plan);
    if (one.has("lists")) read_lists(one, plan);
    if (one.has("first_block")) read_blocks(one, plan);
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

void make_lists(GraphPlan& plan,
                const std::function<uint32_t(const GraphTensor& tensor, uint64_t i)>& content) {
  const auto named = [&](const std::string& name) -> GraphTensor& {
    return *std::find_if(plan.tensors.begin(), plan.tensors.end(),
                         [&](const GraphTensor& one) { return one.name == name; });
  };
  const boost::json::array& launches = plan.root.at("launches").as_array();
  for (size_t i = 0; i < launches.size(); ++i) {
    if (plan.launches[i] != "ScatterAdd") continue;
    const boost::json::value& one = launches[i];
    graph_operator_t& op = plan.operators[i];
    const GraphTensor& index = named(one.at("inputs").at(1).as_string().c_str());
    GraphTensor& lists = named(one.at("lists").as_string().c_str());
    const uint32_t rows =
        static_cast<uint32_t>(scatter_rows(op, named(one.at("output").as_string().c_str())));
    std::vector<uint32_t> offsets(rows + 1), sorted(op.rows);
    std::vector<std::vector<uint32_t>> of(rows);
    for (uint32_t row = 0; row < op.rows; ++row) of[content(index, row)].push_back(row);
    for (uint32_t row = 0; row < rows; ++row) {
      std::copy(of[row].begin(), of[row].end(), sorted.begin() + offsets[row]);
      offsets[row + 1] = offsets[row] + static_cast<uint32_t>(of[row].size());
    }
    const ops_bag_cut_t cut = ops_bag_cut(offsets.data(), rows, nullptr, nullptr);
    std::vector<ops_index_segment_t> first(cut.first), second(cut.second);
    (void)ops_bag_cut(offsets.data(), rows, first.data(), second.data());
    op.first_count = cut.first;
    op.second_count = cut.second;
    lists.data.assign(lists.elements(), 0);
    const auto put = [&](uint64_t place, const void* from, uint64_t bytes) {
      std::memcpy(reinterpret_cast<uint8_t*>(lists.data.data()) + place - op.list, from, bytes);
    };
    put(op.list, sorted.data(), 4 * sorted.size());
    put(op.first, first.data(), sizeof(ops_index_segment_t) * first.size());
    if (!second.empty())
      put(op.second_list, second.data(), sizeof(ops_index_segment_t) * second.size());
  }
}

std::optional<QueueWord> GraphPlan::word_at(uint64_t place) const {
  for (const GraphQueue& one : queue) {
    const uint64_t word = place - one.edge.words;
    if (word >= one.edge.entries * uint64_t{TILE_QUEUE_WORDS_BYTES}) continue;
    const bool is_free = word % TILE_QUEUE_WORDS_BYTES != 0;
    return QueueWord{one.name, one.edge.entries,
                     static_cast<uint32_t>(word / TILE_QUEUE_WORDS_BYTES),
                     is_free ? one.edge.readers : one.edge.writers, is_free};
  }
  return std::nullopt;
}

std::string GraphPlan::tensors_at(bool in_gradients, uint64_t offset) const {
  std::string names;
  for (const GraphTensor& tensor : tensors) {
    if (tensor.in_gradients == in_gradients &&
        offset - tensor.offset < kElementBytes * tensor.elements())
      names += (names.empty() ? "tensor " : " or ") + tensor.name;
  }
  return names;
}

std::string GraphPlan::stage_at(uint64_t place) const {
  for (size_t i = 0; i < stages.size(); ++i)
    for (size_t s = 0; s < stages[i].size(); ++s)
      if (stages[i][s].arguments.clocks == place) return stage_names[i][s];
  return "";
}

GraphPlan load_graph_plan(const std::string& file, const std::string& graph) {
  boost::system::error_code error;
  const std::string text = read_file(file);
  const json::value value = json::parse(text, error);
  if (error || !value.is_object())
    throw UserError(file + ": is no plan of sw/compiler/compile.py: no JSON object");
  const PlanSubject subject{graph.empty() ? file : graph, !graph.empty()};
  const Entry root(subject, value, "");
  GraphPlan plan;
  plan.name = root["name"].text();
  plan.sha256 = sha256_hex(text.data(), text.size());
  plan.no_loop = root["no_loop"].text();
  plan.arena_bytes = root["arena_bytes"].number(0, kMostBytes);
  plan.gradient_bytes = root["gradient_bytes"].number(0, kMostBytes);
  read_tensors(root, plan);
  for (const Entry& name : root["results"].list(1)) plan.results.insert(tensor_of(name, plan).name);
  read_launches(root, plan);
  if (root.has("groups")) read_groups(root["groups"], plan);
  if (root.has("fused")) read_fused(root["fused"], plan);
  plan.no_pipelines = root.has("no_pipelines") ? root["no_pipelines"].text() : "";
  Operators operators(plan);
  for (const Entry& op : root["ops"].list(1)) {
    operators.check(op);
    if (op["kind"].text() != "MatMul") continue;
    double flop = 2e-9;
    for (const char* key : {"m", "n", "k", "outer", "inner"}) flop *= op["matmul"][key].real();
    plan.gflop += flop;
  }
  plan.ops = value.at("ops").as_array();
  plan.root = value.as_object();
  return plan;
}

}  // namespace stretto
