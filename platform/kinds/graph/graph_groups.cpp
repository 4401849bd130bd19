// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>

namespace stretto {

namespace {

constexpr uint64_t kMostEntries = 65536;
constexpr uint64_t kMostParts = 4096;
constexpr uint64_t kMostReaders = 16384;

enum class Form {
  linear,
  map,
  concat,
  norm,
  norm_grad,
  rms_norm,
  rope,
  expand,
  product_sums,
  row_sums,
  tree
};
struct StageKind {
  size_t inputs;
  Form form;
};
// Kernels of stages.elf, without stage_.
const std::map<std::string, StageKind> kStages{{"linear", {1, Form::linear}},
                                               {"map_copy", {1, Form::map}},
                                               {"map_relu", {1, Form::map}},
                                               {"map_gelu", {1, Form::map}},
                                               {"map_neg", {1, Form::map}},
                                               {"map_sigmoid", {1, Form::map}},
                                               {"map_tanh", {1, Form::map}},
                                               {"map_silu", {1, Form::map}},
                                               {"map_add", {2, Form::map}},
                                               {"map_mul", {2, Form::map}},
                                               {"map_sub", {2, Form::map}},
                                               {"map_div", {2, Form::map}},
                                               {"map_relu_grad", {2, Form::map}},
                                               {"map_gelu_grad", {2, Form::map}},
                                               {"map_sigmoid_grad", {2, Form::map}},
                                               {"map_tanh_grad", {2, Form::map}},
                                               {"map_silu_grad", {2, Form::map}},
                                               {"map_concat", {2, Form::concat}},
                                               {"map_layer_norm", {1, Form::norm}},
                                               {"map_layer_norm_grad", {2, Form::norm_grad}},
                                               {"map_rms_norm", {1, Form::rms_norm}},
                                               {"map_rope", {3, Form::rope}},
                                               {"map_rope_back", {3, Form::rope}},
                                               {"map_expand", {1, Form::expand}},
                                               {"fan_in_product", {2, Form::product_sums}},
                                               {"fan_in_sum", {1, Form::row_sums}},
                                               {"final", {1, Form::tree}}};
// What a norm's gradient leaves of all rows.
constexpr std::array<const char*, 2> kNormSums{"gamma_sums", "beta_sums"};

bool is_sum(Form form) { return form == Form::product_sums || form == Form::row_sums; }
bool has_parts(Form form) { return is_sum(form) || form == Form::linear; }

std::vector<std::string> stage_names() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kStages) names.push_back(name);
  return names;
}

uint64_t rounded(uint64_t bytes, uint64_t step) { return (bytes + step - 1) / step * step; }

struct Queue {
  uint32_t columns;
  uint32_t sums;  // Rows of FP32 in an entry; 0: it has tiles.
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
      const Form form = kStages.at(one["kernel"].one_of(stage_names())).form;
      set_writers(one["output"], writers_of(one, form));
      for (const char* key : kNormSums)
        if (one.has(key)) set_writers(one[key], STAGE_MAP_WAVEFRONTS);
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
    plan_.queues.payload_bytes = std::max(plan_.queues.payload_bytes, payload_bytes_);
    group_.stages = static_cast<uint32_t>(stages.size());
    group_.payload_bytes = payload_bytes_;
    plan_.groups.push_back(group_);
  }

 private:
  uint32_t number(const char* key, uint64_t low, uint64_t high) const {
    return static_cast<uint32_t>(entry_[key].number(low, high));
  }

  static uint64_t parts_of(const PlanEntry& one, Form form) {
    return has_parts(form) ? one["parts"].number(1, kMostParts) : 1;
  }
  static uint64_t writers_of(const PlanEntry& one, Form form) {
    return (form == Form::linear ? STAGE_STORING : STAGE_MAP_WAVEFRONTS) * parts_of(one, form);
  }

  // Wavefronts of a work-group that give back an entry of its input.
  static uint32_t readers_of(Form form, size_t input) {
    if (form == Form::linear) return input == 1 ? STAGE_STORING : 1;
    return is_sum(form) ? 1 : STAGE_MAP_WAVEFRONTS;
  }

  // Wavefronts that write a payload of the queue, if it is one.
  void set_writers(const PlanEntry& output, uint64_t writers) {
    if (!output.has("queue") || queues_.empty()) return;
    const uint64_t queue = output["queue"].number(0, queues_.size() - 1);
    queues_[queue].edge.writers = static_cast<uint16_t>(writers);
    plan_.queue[plan_.queue.size() - queues_.size() + queue].edge.writers =
        static_cast<uint16_t>(writers);
  }

  void read_queue(const PlanEntry& one) {
    Queue queue{};
    queue.columns = static_cast<uint32_t>(one["columns"].number(1, kMostRows));
    queue.sums = one.has("sums") ? static_cast<uint32_t>(one["sums"].number(1, kMostRows)) : 0;
    queue.edge.pitch = queue.columns * (queue.sums != 0 ? 2 : 1) * kElementBytes;
    queue.edge.entries = static_cast<uint32_t>(one["entries"].number(1, kMostEntries));
    queue.edge.readers = static_cast<uint16_t>(one["readers"].number(1, kMostReaders));
    const uint64_t entry_bytes =
        rounded(uint64_t{queue.sums != 0 ? queue.sums : tile_rows_} * queue.edge.pitch,
                TILE_QUEUE_LINE_BYTES);
    if (entry_bytes > UINT32_MAX) one.fail("has entries of more than 4 GiB");
    queue.edge.entry_bytes = static_cast<uint32_t>(entry_bytes);
    queue.edge.base = payload_bytes_;
    queue.edge.words = plan_.queues.word_bytes;
    payload_bytes_ += queue.edge.entries * entry_bytes;
    plan_.queues.word_bytes += uint64_t{queue.edge.entries} * TILE_QUEUE_WORDS_BYTES;
    queues_.push_back(queue);
    plan_.queue.push_back({one["tensor"].text(), plan_.groups.size(),
                           queue.sums != 0 ? queue.edge.entries : group_.tiles, queue.edge,
                           queue.sums != 0});
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
  // One row, or element, for all rows.
  stage_edge_t repeated(const PlanEntry& one, uint32_t& columns) const {
    const GraphTensor& of = tensor(one["tensor"]);
    columns = static_cast<uint32_t>(of.elements());
    if ((one["repeated"].one_of({"row", "one"}) == "one") != (columns == 1))
      one.fail("has " + std::to_string(columns) + " elements");
    stage_edge_t edge{};
    edge.base = place(of);
    return edge;
  }
  Queue& queue_of(const PlanEntry& one, bool has_sums) {
    if (queues_.empty()) one["queue"].fail("names a queue, and there is none");
    Queue& queue = queues_[one["queue"].number(0, queues_.size() - 1)];
    if ((queue.sums != 0) != has_sums)
      one["queue"].fail(has_sums ? "has no sums" : "has sums, and the stage takes tiles");
    return queue;
  }
  // `readers`: so many of each entry.
  stage_edge_t input(const PlanEntry& one, uint32_t readers, uint32_t& columns) {
    if (one.has("repeated")) return repeated(one, columns);
    if (!one.has("queue")) return memory(one["tensor"], columns);
    Queue& queue = queue_of(one, false);
    queue.readers += readers;
    columns = queue.columns;
    return queue.edge;
  }
  stage_edge_t output(const PlanEntry& one, uint32_t& columns) {
    if (!one.has("queue")) return memory(one["tensor"], columns);
    Queue& queue = queue_of(one, false);
    ++queue.writers;
    columns = queue.columns;
    return queue.edge;
  }

  graph_stage_t stage(const PlanEntry& one) {
    graph_stage_t stage{};
    const std::string kernel = one["kernel"].one_of(stage_names());
    const auto [count, form] = kStages.at(kernel);
    std::snprintf(stage.kernel, sizeof stage.kernel, "stage_%s", kernel.c_str());
    stage.is_tensor = form == Form::linear || form == Form::product_sums ? 1 : 0;
    stage.work_groups = static_cast<uint32_t>(one["work_groups"].number(1, kMostReaders));
    stage_arguments_t& g = stage.arguments;
    g.rows = rows_;
    g.tile_rows = tile_rows_;
    g.parts = static_cast<uint32_t>(parts_of(one, form));
    if (stage.work_groups % g.parts != 0)
      one["work_groups"].fail("are " + std::to_string(stage.work_groups) +
                              ", must be a multiple of " + std::to_string(g.parts) + " parts");
    const auto inputs = one["inputs"].list(count, count + (form == Form::linear ? 1 : 0));
    if (form == Form::tree)
      tree(one, inputs[0], stage);
    else
      for (size_t i = 0; i < inputs.size(); ++i) {
        g.in[i] = input(inputs[i], g.parts * readers_of(form, i), g.columns[i]);
      }
    if (is_sum(form)) sums(one, form, stage);
    if (form != Form::tree && !is_sum(form)) tiles(one, form, stage.work_groups, g);
    g.clocks = plan_.queues.word_bytes;
    plan_.queues.word_bytes +=
        rounded(uint64_t{stage.work_groups} * STAGE_CLOCKS * 8, TILE_QUEUE_LINE_BYTES);
    return stage;
  }

  // A stage that makes a tile of each.
  void tiles(const PlanEntry& one, Form form, uint32_t work_groups, stage_arguments_t& g) {
    uint32_t columns = 0, copied = 0;
    g.out = output(one["output"], columns);
    for (const PlanEntry& to : {one["output"], one})
      if (const char* key = to.has("tensor") ? "tensor" : "copy"; to.has(key))
        written_.insert(to[key].text());
    if (one.has("copy")) {
      const stage_edge_t copy = memory(one["copy"], copied);
      g.copy = copy.base;
      g.copy_pitch = copy.pitch;
      if (copied != columns) one["copy"].fail("is not as wide as the output");
    }
    if (form == Form::linear)
      linear(one, columns, g);
    else if (form == Form::rope)
      rope(one, columns, g);
    else if (form == Form::expand)
      expand(one, columns, g);
    else
      map(one, form, columns, g);
    if (form == Form::rms_norm) rms_norm(one, g);
    if (form == Form::norm || form == Form::norm_grad) norm(one, form, g);
    if (form == Form::norm_grad) norm_sums(one, work_groups, g);
  }

  // A stage of fan-in: sums of all rows.
  void sums(const PlanEntry& one, Form form, graph_stage_t& stage) {
    stage_arguments_t& g = stage.arguments;
    const bool is_product = form == Form::product_sums;
    const uint32_t parts = is_product ? STAGE_PRODUCT_PARTS(g.columns[0], g.columns[1])
                                      : STAGE_SUM_PARTS(g.columns[0]);
    const uint32_t columns = g.columns[is_product ? 1 : 0];
    const uint32_t rows = is_product ? g.columns[0] : STAGE_MAP_WAVEFRONTS;
    if (g.parts != parts) one["parts"].fail("must be " + std::to_string(parts));
    Queue& queue = queue_of(one["output"], true);
    ++queue.writers;
    if (queue.columns != columns || queue.sums != rows ||
        stage.work_groups != parts * queue.edge.entries)
      one["output"].fail(fmt::format(
          "must have {} rows of {} sums, and an entry for each of {} work-groups by {} parts", rows,
          columns, stage.work_groups, parts));
    g.out = queue.edge;
  }

  // The stage that adds the sums of one of those.
  void tree(const PlanEntry& one, const PlanEntry& from, graph_stage_t& stage) {
    stage_arguments_t& g = stage.arguments;
    Queue& queue = queue_of(from, true);
    queue.readers += stage.work_groups;
    const GraphTensor& out = tensor(one["output"]["tensor"]);
    g.in[0] = queue.edge;
    g.out.base = place(out);
    if (out.elements() > UINT32_MAX / 4) one["output"].fail("is too large");
    g.elements = static_cast<uint32_t>(out.elements());
    const uint64_t in_entry = uint64_t{queue.sums} * queue.columns;
    if (in_entry != g.elements &&
        (queue.sums != STAGE_MAP_WAVEFRONTS || queue.columns != g.elements))
      one["output"].fail("has other elements than there are sums");
    g.sections = static_cast<uint32_t>(in_entry / g.elements);
    if (uint64_t{g.sections} * queue.edge.entries > STAGE_MOST_SUMS)
      one.fail("adds more than " + std::to_string(STAGE_MOST_SUMS) + " sums");
    written_.insert(out.name);
  }

  void linear(const PlanEntry& one, uint32_t columns, stage_arguments_t& g) {
    const GraphTensor& weights = tensor(one["weights"]);
    const bool is_transposed = one["transpose_b"].number(0, 1) != 0;
    g.k = g.columns[0];
    g.n = columns;
    const uint64_t rows = is_transposed ? g.n : g.k, across = is_transposed ? g.k : g.n;
    if (weights.rows != rows || weights.columns != across)
      one["weights"].fail("is " + std::to_string(weights.rows) + " x " +
                          std::to_string(weights.columns) + ", must be " + std::to_string(rows) +
                          " x " + std::to_string(across));
    if (STAGE_BLOCKS(g.n) <= (g.parts - 1) * STAGE_PART_BLOCKS(g.n, g.parts))
      one["parts"].fail("leaves a part of " + std::to_string(g.n) + " columns none");
    g.weights = place(weights);
    g.ldb = static_cast<uint32_t>(weights.columns) * kElementBytes;
    g.layout = is_transposed ? GEMM_B_NK : 0;
    if (one.has("bias")) {
      g.bias = place(vector(one["bias"], g.n));
      g.has_bias = 1;
    }
    g.has_addend = g.columns[1] != 0 ? 1 : 0;
    if (g.has_addend != 0 && g.columns[1] != columns)
      one["inputs"].fail("are not as wide as the output");
    if (one.has("keep")) g.keep[0] = kept(one["keep"], columns);
    g.activation = static_cast<uint32_t>(std::find(kActivations.begin(), kActivations.end(),
                                                   one["activation"].one_of(kActivations)) -
                                         kActivations.begin());
  }

  // A tensor in memory beside the output.
  stage_edge_t kept(const PlanEntry& name, uint32_t columns) {
    uint32_t found = 0;
    const stage_edge_t edge = memory(name, found);
    if (found != columns) name.fail("must have " + std::to_string(columns) + " columns");
    written_.insert(name.text());
    return edge;
  }

  void rope(const PlanEntry& one, uint32_t columns, const stage_arguments_t& g) const {
    if (columns != g.columns[0] || g.columns[1] != g.columns[2] || columns % g.columns[1] != 0 ||
        g.columns[1] % 2 != 0 || g.columns[1] > STAGE_ROPE_COLUMNS)
      one.fail(
          fmt::format("has {} columns, and cosines and sines of {} and {}: must be heads of "
                      "as many, at most {}",
                      columns, g.columns[1], g.columns[2], STAGE_ROPE_COLUMNS));
  }

  void expand(const PlanEntry& one, uint32_t columns, stage_arguments_t& g) const {
    if (g.columns[0] != 1) one["inputs"].fail("have more than one column");
    g.n = columns;
    g.factor = word(one["words"], OPS_ROWS_FACTOR);
  }

  static void map(const PlanEntry& one, Form form, uint32_t columns, stage_arguments_t& g) {
    const std::string kernel = one["kernel"].text();
    const bool may_repeat =
        kernel == "map_add" || kernel == "map_sub" || kernel == "map_mul" || kernel == "map_div";
    const bool is_repeated = g.columns[1] != 0 && g.in[1].pitch == 0;
    if (may_repeat && (is_repeated || g.columns[1] == 1))
      g.second = !is_repeated ? STAGE_COLUMN : g.columns[1] == 1 ? STAGE_ONE : STAGE_ROW;
    const bool has_two = g.columns[1] != 0 && g.second < STAGE_COLUMN;
    if (columns != (form == Form::concat ? g.columns[0] + g.columns[1] : g.columns[0]) ||
        (has_two && form != Form::concat && g.columns[1] != g.columns[0]))
      one.fail("has operands of other widths");
  }

  void norm(const PlanEntry& one, Form form, stage_arguments_t& g) const {
    const uint32_t columns = g.columns[0];
    const uint32_t most =
        form == Form::norm ? STAGE_PIECE / kElementBytes : STAGE_NORM_GRAD_COLUMNS;
    if (columns > most)
      one.fail(fmt::format("has rows of {} elements, at most {} fit a stage", columns, most));
    g.weights = place(vector(one["gamma"], columns));
    g.has_bias = form == Form::norm ? 1 : 0;
    if (g.has_bias != 0) g.bias = place(vector(one["beta"], columns));
    g.epsilon = word(one["words"], OPS_ROWS_EPSILON);
    g.has_norm = 1;
  }

  void rms_norm(const PlanEntry& one, stage_arguments_t& g) {
    g.weights = place(vector(one["gamma"], g.columns[0]));
    g.factor = word(one["mean_words"], OPS_ROWS_FACTOR);
    g.epsilon = word(one["root_words"], OPS_ROWS_FACTOR);
    if (one.has("roots")) g.keep[0] = kept(one["roots"], 1);
    if (one.has("quotients")) g.keep[1] = kept(one["quotients"], g.columns[0]);
    g.has_norm = 1;
  }

  uint64_t word(const PlanEntry& name, uint32_t which) const {
    const GraphTensor& words = tensor(name);
    if (words.kind != "words") name.fail("is '" + words.name + "', which has no words");
    return place(words) + which * sizeof(float);
  }

  const GraphTensor& vector(const PlanEntry& name, uint32_t columns) const {
    const GraphTensor& of = tensor(name);
    if (of.elements() != columns) name.fail("has not an element for each column");
    return of;
  }

  // Of the gradient of a norm: a row of each wavefront.
  void norm_sums(const PlanEntry& one, uint32_t work_groups, stage_arguments_t& g) {
    for (size_t i = 0; i < kNormSums.size(); ++i) {
      if (!one.has(kNormSums[i])) continue;
      const PlanEntry to = one[kNormSums[i]];
      Queue& queue = queue_of(to, true);
      ++queue.writers;
      if (queue.columns != g.columns[0] || queue.sums != STAGE_MAP_WAVEFRONTS ||
          queue.edge.entries != work_groups)
        to.fail(fmt::format("must have {} rows of {} sums, and an entry for each of {} work-groups",
                            STAGE_MAP_WAVEFRONTS, g.columns[0], work_groups));
      g.sums[i] = queue.edge;
    }
  }

  const PlanEntry& entry_;
  GraphPlan& plan_;
  graph_group_t group_{};
  uint32_t rows_ = 0, tile_rows_ = 0;
  uint64_t payload_bytes_ = 0;
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
  plan.queues.word_bytes = rounded(plan.queues.word_bytes, 4096);
  for (size_t i = 0; i < plan.groups.size(); ++i) plan.groups[i].stage = plan.stages[i].data();
}

}  // namespace stretto
