// SPDX-License-Identifier: Apache-2.0
// The plan that sw/compiler writes beside a loop kernel: tensors, operators, launches, buckets.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_PLAN_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_PLAN_H_

#include <boost/json/value.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/jobs/queue_owner.h"
#include "sw/apps/graph/graph.h"

namespace stretto {

inline constexpr uint64_t kElementBytes = 2;  // FP16.
// By number, of stage_activation_t.
inline const std::vector<std::string> kActivations{"none",    "relu", "gelu",
                                                   "sigmoid", "tanh", "silu"};

struct GraphTensor {
  std::string name;
  std::string kind;  // input, weight, master, index, constant, words, lists, value, gradient.
  uint64_t rows = 0;
  uint64_t columns = 0;
  bool in_gradients = false;  // Space: gradients, else the arena.
  uint64_t offset = 0;
  double value = 0;            // Of a constant.
  std::vector<double> words;   // FP32, two elements each.
  uint64_t extent = 1;         // Of indices, whole numbers of two elements each: they are below it.
  std::vector<uint16_t> data;  // Of lists, that follow from indices: make_lists().
  size_t master_of = 0;        // Of a master, FP32 as two elements each: its weight's number.
  uint64_t elements() const { return rows * columns; }
};

// Of a pipeline; what goes through it is named after the tensor that it stands for.
struct GraphQueue {
  std::string name;
  size_t group;       // Of the plan.
  uint64_t payloads;  // Each time that the pipeline runs.
  stage_edge_t edge;
  bool has_sums;  // Else tiles.
};

// By rows: the words in which an operator of a loop kernel counts what it has made.
struct GraphBlocks {
  uint32_t op;
  uint32_t first, count;
  uint64_t bytes;  // Of the whole result.
};

struct GraphPlan {
  std::string name;
  std::string sha256;   // Of the file.
  std::string no_loop;  // Why no loop kernel can have an operator; empty: it can.
  uint64_t arena_bytes = 0;
  uint64_t gradient_bytes = 0;
  std::vector<GraphTensor> tensors;
  std::set<std::string> results;  // Tensors that a graph is run for, in memory whatever the mode.
  boost::json::object root;       // As it was read, and of it
  boost::json::array ops;         // all operators.
  // Of each operator that is run; what was fused into another is not.
  std::vector<std::string> launches;              // Kind,
  std::vector<std::string> outputs;               // what it makes,
  std::vector<graph_operator_t> operators;        // and what else a launch needs,
  std::vector<std::vector<graph_copy_t>> copies;  // copies of operators included.
  std::vector<size_t> with_master;                // Those that update a master.
  std::vector<graph_bucket_t> buckets;
  std::vector<GraphBlocks> blocks;
  std::string no_pipelines;  // Why none can be run; empty: none is planned.
  // kitsune: operators that are one pipeline, in ascending order; `stage` points into stages.
  std::vector<graph_group_t> groups;
  std::vector<std::vector<graph_stage_t>> stages;
  std::vector<std::vector<std::string>> stage_names;
  std::vector<GraphQueue> queue;
  std::set<std::string> inside;  // Outputs that no stage writes to memory.
  graph_queues_t queues{};
  // vertical: operators that are one kernel, likewise, and what stays inside of them.
  std::vector<graph_fused_t> fused;
  std::vector<uint64_t> fused_bytes;  // Of DRAM, by the compiler's closed form.
  std::set<std::string> inside_fused;
  double gflop = 0;  // Of all products.

  // By places in the words of all stages: a word of a queue, and the stage whose work-groups leave their clocks there.
  std::optional<QueueWord> word_at(uint64_t place) const;
  std::string stage_at(uint64_t place) const;
  // "tensor a", or all that lie there in turn: "tensor a or b"; "" if none does.
  std::string tensors_at(bool in_gradients, uint64_t offset) const;
};

// Where each ScatterAdd adds what, from the contents of its indices, in lists and operators. Indices are those of all
// ranks: `content` gives index `i` of a tensor.
void make_lists(GraphPlan& plan,
                const std::function<uint32_t(const GraphTensor& tensor, uint64_t i)>& content);

// Throws UserError naming `file`, or `graph` if the plan was made for this run.
GraphPlan load_graph_plan(const std::string& file, const std::string& graph = "");

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_PLAN_H_
