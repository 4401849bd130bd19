// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_fused.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <map>

namespace stretto {

namespace {

class Fused {
 public:
  Fused(const PlanEntry& entry, GraphPlan& plan) : entry_(entry), plan_(plan) {
    fused_.first_op = number("first", 0, plan.launches.size() - 1);
    fused_.ops = number("ops", 2, plan.launches.size() - fused_.first_op);
    rows_ = number("rows", 1, kMostRows);
  }

  void read() {
    const GraphTensor &in = tensor(entry_["input"]), &out = tensor(entry_["output"]);
    for (const PlanEntry& name : {entry_["input"], entry_["output"]})
      if (tensor(name).rows != rows_)
        name.fail(fmt::format("has {} rows, the group {}", tensor(name).rows, rows_));
    fused_arguments_t& g = fused_.op.chain;
    g = {.in = place(in),
         .out = place(out),
         .keep = GRAPH_NOWHERE,
         .gamma = GRAPH_NOWHERE,
         .beta = GRAPH_NOWHERE,
         .epsilon = GRAPH_NOWHERE,
         .in_pitch = pitch(in),
         .out_pitch = pitch(out),
         .rows = rows_,
         .products = 0,
         .blocks = 1,
         .has_norm = 0,
         .tile_rows = FUSED_TILE_ROWS,
         .reserved = 0,
         .product = {}};
    uint64_t columns = in.columns;
    const auto products = entry_["products"].list(1, FUSED_MOST_PRODUCTS);
    for (const PlanEntry& one : products) {
      if (g.products != 0 && columns > FUSED_MOST_COLUMNS)
        one.fail(
            fmt::format("takes {} columns out of LDS, at most {}", columns, FUSED_MOST_COLUMNS));
      g.product[g.products++] = product(one, columns);
      if (g.products != products.size() && g.product[g.products - 1].activation > STAGE_GELU)
        one["activation"].fail("is none that a tile in LDS can have");
    }
    if (columns != out.columns)
      entry_["output"].fail(
          fmt::format("has {} columns, the last product {}", out.columns, columns));
    if (entry_.has("norm")) norm(entry_["norm"], columns);
    if (entry_["kernel"].one_of({"product", "chain"}) == "product")
      library_product(place(out));
    else
      fused_.op.form = GRAPH_CHAIN;
    if (entry_.has("addend")) addend(entry_["addend"], out);
    if (entry_.has("keep")) keep(entry_["keep"], out);
    for (uint32_t op = fused_.first_op; op + 1 < fused_.first_op + fused_.ops; ++op)
      if (plan_.outputs[op] != kept_) plan_.inside_fused.insert(plan_.outputs[op]);
    if (plan_.outputs[fused_.first_op + fused_.ops - 1] != out.name)
      entry_["output"].fail("is not that of the last operator");
    plan_.fused.push_back(fused_);
    plan_.fused_bytes.push_back(entry_["dram_bytes"].number(0, kMostBytes));
  }

 private:
  uint32_t number(const char* key, uint64_t low, uint64_t high) const {
    return static_cast<uint32_t>(entry_[key].number(low, high));
  }
  const GraphTensor& tensor(const PlanEntry& name) const {
    for (const GraphTensor& one : plan_.tensors)
      if (one.name == name.text()) return one;
    name.fail("is '" + name.text() + "', which is no tensor");
  }
  uint64_t place(const GraphTensor& of) const {
    return of.offset + (of.in_gradients ? plan_.arena_bytes : 0);
  }
  static uint32_t pitch(const GraphTensor& of) {
    return static_cast<uint32_t>(of.columns) * kElementBytes;
  }
  // Of `columns` elements.
  uint64_t vector(const PlanEntry& name, uint64_t columns) const {
    if (tensor(name).elements() != columns) name.fail("has not an element for each column");
    return place(tensor(name));
  }

  // Of rows of `columns` elements, which becomes its result's.
  fused_product_t product(const PlanEntry& one, uint64_t& columns) const {
    const GraphTensor& weights = tensor(one["weights"]);
    const bool is_transposed = one["transpose_b"].number(0, 1) != 0;
    const uint64_t k = is_transposed ? weights.columns : weights.rows;
    if (k != columns)
      one["weights"].fail(fmt::format("has {} rows for a left side of {} columns", k, columns));
    columns = is_transposed ? weights.rows : weights.columns;
    const std::string activation = one["activation"].one_of(kActivations);
    return {
        .weights = place(weights),
        .bias = one.has("bias") ? vector(one["bias"], columns) : GRAPH_NOWHERE,
        .ldb = pitch(weights),
        .layout = is_transposed ? GEMM_B_NK : 0,
        .k = static_cast<uint32_t>(k),
        .n = static_cast<uint32_t>(columns),
        .activation = static_cast<uint32_t>(
            std::find(kActivations.begin(), kActivations.end(), activation) - kActivations.begin()),
        .reserved = 0};
  }

  void norm(const PlanEntry& one, uint64_t columns) {
    fused_arguments_t& g = fused_.op.chain;
    const GraphTensor& words = tensor(one["words"]);
    if (words.kind != "words") one["words"].fail("is '" + words.name + "', which has no words");
    const uint32_t most = g.products == 1 ? FUSED_NORM_COLUMNS : FUSED_MOST_COLUMNS;
    if (columns > most) one.fail(fmt::format("is of {} columns, at most {}", columns, most));
    if (g.product[g.products - 1].activation != STAGE_NO_ACTIVATION)
      one.fail("follows an activation");
    g.has_norm = 1;
    g.gamma = vector(one["gamma"], columns);
    g.beta = vector(one["beta"], columns);
    g.epsilon = place(words) + OPS_ROWS_EPSILON * sizeof(float);
  }

  // The library's product with an epilogue.
  void library_product(uint64_t out) {
    const fused_arguments_t chain = fused_.op.chain;
    if (chain.products != 1 || chain.has_norm != 0 ||
        plan_.operators[fused_.first_op].form != GRAPH_PRODUCT)
      entry_["kernel"].fail("is a product alone");
    fused_.op = plan_.operators[fused_.first_op];
    fused_.op.chain = chain;
    fused_.op.out.place = out;
    if (chain.product[0].activation > STAGE_GELU) entry_["kernel"].fail("has no such activation");
    fused_.op.activation = chain.product[0].activation == STAGE_RELU   ? OPS_GEMM_RELU
                           : chain.product[0].activation == STAGE_GELU ? OPS_GEMM_GELU
                                                                       : OPS_GEMM_NO_ACTIVATION;
  }

  void keep(const PlanEntry& name, const GraphTensor& out) {
    if (fused_.op.form != GRAPH_CHAIN) name.fail("is of a product with an epilogue of the library");
    if (tensor(name).rows != out.rows || tensor(name).columns != out.columns)
      name.fail("has another shape than the result");
    fused_.op.chain.keep = place(tensor(name));
    kept_ = name.text();
  }
  void addend(const PlanEntry& name, const GraphTensor& out) {
    if (fused_.op.form != GRAPH_PRODUCT || fused_.op.activation != OPS_GEMM_NO_ACTIVATION)
      name.fail("follows no product alone");
    if (tensor(name).elements() != out.elements()) name.fail("has other elements than the result");
    fused_.op.addend = place(tensor(name));
    fused_.op.gemm.has_addend = 1;
  }

  const PlanEntry& entry_;
  GraphPlan& plan_;
  graph_fused_t fused_{};
  uint32_t rows_ = 0;
  std::string kept_;  // Result of the last product that goes to memory, too.
};

}  // namespace

void read_fused(const PlanEntry& groups, GraphPlan& plan) {
  uint64_t next = 0;
  for (const PlanEntry& one : groups.list()) {
    if (one["first"].number(0, plan.launches.size()) < next)
      one["first"].fail("is in the group before");
    Fused(one, plan).read();
    next = plan.fused.back().first_op + plan.fused.back().ops;
  }
}

namespace {

// Elements by their place: what several operators of a group read is one operand.
class Operands {
 public:
  void add(uint64_t place, uint64_t elements) {
    uint64_t& most = elements_[place];
    most = std::max(most, elements);
  }
  void add_weights(const graph_fused_t& fused) {
    for (uint32_t i = 0; i < fused.op.chain.products; ++i)
      add(fused.op.chain.product[i].weights,
          fused.op.chain.product[i].k * uint64_t{fused.op.chain.product[i].n});
  }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const auto& [place, elements] : elements_) sum += elements;
    return kElementBytes * sum;
  }

 private:
  std::map<uint64_t, uint64_t> elements_;
};

}  // namespace

uint64_t fused_weights(const graph_fused_t& fused) {
  Operands weights;
  weights.add_weights(fused);
  return weights.bytes();
}

uint64_t fused_reads(const graph_fused_t& fused) {
  const fused_arguments_t& g = fused.op.chain;
  const uint64_t columns = g.product[g.products - 1].n;
  Operands operands;
  operands.add(g.in, uint64_t{g.rows} * g.product[0].k);
  operands.add_weights(fused);
  for (uint32_t i = 0; i < g.products; ++i)
    if (g.product[i].bias != GRAPH_NOWHERE) operands.add(g.product[i].bias, g.product[i].n);
  for (const uint64_t place : {g.gamma, g.beta})
    if (g.has_norm != 0) operands.add(place, columns);
  if (fused.op.gemm.has_addend != 0) operands.add(fused.op.addend, g.rows * columns);
  return operands.bytes();
}

uint64_t fused_most_reads(const graph_fused_t& fused) {
  const fused_product_t& product = fused.op.chain.product[0];
  const uint64_t columns = fused.op.form == GRAPH_PRODUCT
                               ? (product.n + fused.op.choice.tile_n - 1) / fused.op.choice.tile_n
                               : fused.op.chain.blocks;
  const uint64_t rows = kElementBytes * fused.op.chain.rows * product.k;
  return fused_reads(fused) + (columns - 1) * rows;
}

uint64_t fused_writes(const graph_fused_t& fused) {
  const fused_arguments_t& g = fused.op.chain;
  const uint64_t results = g.keep != GRAPH_NOWHERE ? 2 : 1;
  return results * kElementBytes * g.rows * g.product[g.products - 1].n;
}

boost::json::object fused_json(const GraphPlan& plan) {
  uint64_t operators = 0;
  for (const graph_fused_t& fused : plan.fused) operators += fused.ops;
  return {{"kernels", plan.fused.size()},
          {"operators", operators},
          {"alone", plan.root.at("not_fused")}};
}

std::string fused_text(const GraphPlan& plan) {
  const boost::json::object about = fused_json(plan);
  const boost::json::array& alone = about.at("alone").as_array();
  std::string text =
      fmt::format("  {} fused kernels of {} operators; {} planned groups are none as a whole\n",
                  plan.fused.size(), about.at("operators").to_number<uint64_t>(), alone.size());
  for (const boost::json::value& one : alone)
    text += fmt::format("  group {}: {}\n", one.at("name").as_string().c_str(),
                        one.at("why").as_string().c_str());
  return text;
}

}  // namespace stretto
