// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_groups.h"

#include <cstdio>
#include <map>
#include <set>

namespace stretto {

namespace {

constexpr uint32_t kElementBytes = 2;
constexpr uint64_t kMostEntries = 65536;

// Kernels of stages.elf, without stage_, and how many inputs they have.
const std::map<std::string, size_t> kStages{
    {"linear", 1},  {"map_copy", 1}, {"map_relu", 1},      {"map_gelu", 1},      {"map_add", 2},
    {"map_mul", 2}, {"map_sub", 2},  {"map_relu_grad", 2}, {"map_gelu_grad", 2}, {"map_concat", 2}};

std::vector<std::string> stage_names() {
  std::vector<std::string> names;
  for (const auto& [name, inputs] : kStages) names.push_back(name);
  return names;
}

uint64_t rounded(uint64_t bytes, uint64_t step) { return (bytes + step - 1) / step * step; }

struct Queue {
  uint32_t columns;
  stage_edge_t edge;
  uint32_t writers = 0, readers = 0;
};

class Group {
 public:
  Group(const PlanEntry& entry, GraphPlan& plan) : entry_(entry), plan_(plan) {
    group_.first_op = number("first", 0, plan.launches.size() - 1);
    group_.ops = number("ops", 1, plan.launches.size() - group_.first_op);
    rows_ = number("rows", 1, kMostRows);
    tile_rows_ = number("tile_rows", 1, STAGE_TILE_ROWS);
    group_.tiles = (rows_ + tile_rows_ - 1) / tile_rows_;
  }

  void read() {
    for (const PlanEntry& one : entry_["queues"].list(0, 4 * GRAPH_MAX_STAGES)) read_queue(one);
    for (const PlanEntry& one : entry_["stages"].list(1, GRAPH_MAX_STAGES)) {
      if (!one["output"].has("queue") || queues_.empty()) continue;
      const uint64_t queue = one["output"]["queue"].number(0, queues_.size() - 1);
      queues_[queue].edge.writers = one["kernel"].text() == "linear" ? STAGE_STORING : 1;
      plan_.queue[plan_.queue.size() - queues_.size() + queue].edge.writers =
          queues_[queue].edge.writers;
    }
    std::vector<graph_stage_t>& stages = plan_.stages.emplace_back();
    std::vector<std::string>& names = plan_.stage_names.emplace_back();
    for (const PlanEntry& one : entry_["stages"].list(1, GRAPH_MAX_STAGES)) {
      stages.push_back(stage(one));
      names.push_back(one["name"].text());
    }
    for (uint32_t op = group_.first_op; op < group_.first_op + group_.ops; ++op)
      if (!written_.contains(plan_.outputs[op])) plan_.inside.insert(plan_.outputs[op]);
    const auto queues = entry_["queues"].list();
    for (size_t i = 0; i < queues_.size(); ++i) {
      const Queue& queue = queues_[i];
      if (queue.writers != 1)
        queues[i].fail("is written by " + std::to_string(queue.writers) + " stages, must be one");
      if (queue.readers != queue.edge.readers)
        queues[i].fail("is read by " + std::to_string(queue.readers) + " stages and has readers " +
                       std::to_string(queue.edge.readers));
    }
    group_.stages = static_cast<uint32_t>(stages.size());
    plan_.groups.push_back(group_);
  }

 private:
  uint32_t number(const char* key, uint64_t low, uint64_t high) const {
    return static_cast<uint32_t>(entry_[key].number(low, high));
  }

  void read_queue(const PlanEntry& one) {
    Queue queue{};
    queue.columns = static_cast<uint32_t>(one["columns"].number(1, kMostRows));
    queue.edge.pitch = queue.columns * kElementBytes;
    queue.edge.entries = static_cast<uint32_t>(one["entries"].number(1, kMostEntries));
    queue.edge.readers = static_cast<uint16_t>(one["readers"].number(1, GRAPH_MAX_STAGES));
    queue.edge.entry_bytes = static_cast<uint32_t>(
        rounded(uint64_t{tile_rows_} * queue.edge.pitch, TILE_QUEUE_LINE_BYTES));
    queue.edge.base = plan_.queues.payload_bytes;
    queue.edge.words = plan_.queues.word_bytes;
    plan_.queues.payload_bytes += uint64_t{queue.edge.entries} * queue.edge.entry_bytes;
    plan_.queues.word_bytes += uint64_t{queue.edge.entries} * TILE_QUEUE_WORDS_BYTES;
    queues_.push_back(queue);
    plan_.queue.push_back({one["tensor"].text(), plan_.groups.size(), queue.edge});
  }

  const GraphTensor& tensor(const PlanEntry& name) const {
    for (const GraphTensor& one : plan_.tensors)
      if (one.name == name.text()) return one;
    name.fail("is '" + name.text() + "', which is no tensor");
  }
  uint64_t place(const GraphTensor& of) const {
    return of.offset + (of.in_gradients ? plan_.arena_bytes : 0);
  }
  // A tensor of the group's rows; `columns` gets how wide it is.
  stage_edge_t memory(const PlanEntry& name, uint32_t& columns) const {
    const GraphTensor& of = tensor(name);
    if (of.rows != rows_)
      name.fail("has " + std::to_string(of.rows) + " rows, the group " + std::to_string(rows_));
    columns = static_cast<uint32_t>(of.columns);
    stage_edge_t edge{};
    edge.base = place(of);
    edge.pitch = columns * kElementBytes;
    return edge;
  }
  stage_edge_t edge(const PlanEntry& one, bool is_read, uint32_t& columns) {
    if (!one.has("queue")) return memory(one["tensor"], columns);
    if (queues_.empty()) one["queue"].fail("names a queue, and there is none");
    Queue& queue = queues_[one["queue"].number(0, queues_.size() - 1)];
    ++(is_read ? queue.readers : queue.writers);
    columns = queue.columns;
    return queue.edge;
  }

  graph_stage_t stage(const PlanEntry& one) {
    graph_stage_t stage{};
    const std::string kernel = one["kernel"].one_of(stage_names());
    std::snprintf(stage.kernel, sizeof stage.kernel, "stage_%s", kernel.c_str());
    stage.is_tensor = kernel == "linear" ? 1 : 0;
    stage.work_groups = static_cast<uint32_t>(one["work_groups"].number(1, 65536));
    stage_arguments_t& g = stage.arguments;
    g.rows = rows_;
    g.tile_rows = tile_rows_;
    const auto inputs = one["inputs"].list(kStages.at(kernel), kStages.at(kernel));
    for (size_t i = 0; i < inputs.size(); ++i) g.in[i] = edge(inputs[i], true, g.columns[i]);
    uint32_t columns = 0, copied = 0;
    g.out = edge(one["output"], false, columns);
    for (const PlanEntry& to : {one["output"], one})
      if (const char* key = to.has("tensor") ? "tensor" : "copy"; to.has(key))
        written_.insert(to[key].text());
    if (one.has("copy")) {
      const stage_edge_t copy = memory(one["copy"], copied);
      g.copy = copy.base;
      g.copy_pitch = copy.pitch;
      if (copied != columns) one["copy"].fail("is not as wide as the output");
    }
    g.clocks = plan_.queues.word_bytes;
    plan_.queues.word_bytes +=
        rounded(uint64_t{stage.work_groups} * STAGE_CLOCKS * 8, TILE_QUEUE_LINE_BYTES);
    if (stage.is_tensor != 0)
      linear(one, columns, g);
    else
      map(one, kernel, columns, g);
    return stage;
  }

  void linear(const PlanEntry& one, uint32_t columns, stage_arguments_t& g) const {
    const GraphTensor& weights = tensor(one["weights"]);
    const bool is_transposed = one["transpose_b"].number(0, 1) != 0;
    g.k = g.columns[0];
    g.n = columns;
    const uint64_t rows = is_transposed ? g.n : g.k, across = is_transposed ? g.k : g.n;
    if (weights.rows != rows || weights.columns != across)
      one["weights"].fail("is " + std::to_string(weights.rows) + " x " +
                          std::to_string(weights.columns) + ", must be " + std::to_string(rows) +
                          " x " + std::to_string(across));
    g.weights = place(weights);
    g.ldb = static_cast<uint32_t>(weights.columns) * kElementBytes;
    g.layout = is_transposed ? GEMM_B_NK : 0;
    if (one.has("bias")) {
      const GraphTensor& bias = tensor(one["bias"]);
      if (bias.elements() != g.n) one["bias"].fail("has not an element for each column");
      g.bias = place(bias);
      g.has_bias = 1;
    }
    const std::string activation = one["activation"].one_of({"none", "relu", "gelu"});
    g.activation = activation == "relu"   ? STAGE_RELU
                   : activation == "gelu" ? STAGE_GELU
                                          : STAGE_NO_ACTIVATION;
  }

  static void map(const PlanEntry& one, const std::string& kernel, uint32_t columns,
                  const stage_arguments_t& g) {
    const bool is_concat = kernel == "map_concat", has_two = kStages.at(kernel) == 2;
    if (columns != (is_concat ? g.columns[0] + g.columns[1] : g.columns[0]) ||
        (has_two && !is_concat && g.columns[1] != g.columns[0]))
      one.fail("has operands of other widths");
    for (const uint32_t wide : g.columns)
      if (wide * kElementBytes > STAGE_PIECE)
        one.fail("has rows of " + std::to_string(wide) + " elements, at most " +
                 std::to_string(STAGE_PIECE / kElementBytes) + " fit a stage");
  }

  const PlanEntry& entry_;
  GraphPlan& plan_;
  graph_group_t group_{};
  uint32_t rows_ = 0, tile_rows_ = 0;
  std::vector<Queue> queues_;
  std::set<std::string> written_;  // In memory.
};

}  // namespace

void read_groups(const PlanEntry& groups, GraphPlan& plan) {
  uint64_t next = 0;
  for (const PlanEntry& one : groups.list()) {
    if (one["first"].number(0, plan.launches.size()) < next)
      one["first"].fail("is in the group before");
    Group group(one, plan);
    group.read();
    next = plan.groups.back().first_op + plan.groups.back().ops;
  }
  plan.queues.payload_bytes = rounded(plan.queues.payload_bytes, 4096);
  for (size_t i = 0; i < plan.groups.size(); ++i) plan.groups[i].stage = plan.stages[i].data();
}

}  // namespace stretto
