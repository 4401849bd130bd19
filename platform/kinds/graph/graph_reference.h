// SPDX-License-Identifier: Apache-2.0
// An operator graph worked out in double precision, every tensor rounded to FP16 when it is
// written: what the loop kernel's results are compared with. Shares no code with the machine's
// arithmetic.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_REFERENCE_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_REFERENCE_H_

#include <boost/json/value.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sw/apps/graph.h"

namespace stretto {

// A tensor of the plan that sw/compiler writes.
struct GraphTensor {
  std::string name;
  std::string kind;  // input, weight, constant, value, gradient.
  uint64_t rows = 0;
  uint64_t columns = 0;
  bool in_gradients = false;  // Space: gradients, else the arena.
  uint64_t offset = 0;
  double value = 0;  // Of a constant.
  uint64_t elements() const { return rows * columns; }
};

// Of a pipeline; what goes through it is named after the tensor that it stands for.
struct GraphQueue {
  std::string name;
  size_t group;
  stage_edge_t edge;
};

struct GraphPlan {
  std::string name;
  uint64_t arena_bytes = 0;
  uint64_t gradient_bytes = 0;
  std::vector<GraphTensor> tensors;
  boost::json::array ops;
  // Of each operator that is run; what was fused into another is not.
  std::vector<std::string> launches;        // Kind,
  std::vector<std::string> outputs;         // what it makes,
  std::vector<graph_operator_t> operators;  // and what else a launch needs.
  std::vector<graph_bucket_t> buckets;
  // kitsune: operators that are one pipeline, in ascending order; `stage` points into stages.
  std::vector<graph_group_t> groups;
  std::vector<std::vector<graph_stage_t>> stages;
  std::vector<std::vector<std::string>> stage_names;
  std::vector<GraphQueue> queue;
  std::set<std::string> inside;  // Outputs that no stage writes to memory.
  graph_queues_t queues{};
  double gflop = 0;  // Of all products.
};

// Throws UserError naming `file`.
GraphPlan load_graph_plan(const std::string& file);

// FP16 bits <-> number, by Eigen.
double number_from_fp16(uint16_t bits);
uint16_t fp16_of_number(double value);

// What input and weight tensors hold before the first iteration: small random numbers, inputs
// another for each rank.
uint16_t graph_content(uint64_t seed, const GraphTensor& tensor, size_t index, uint32_t rank,
                       uint64_t element);

class GraphReference {
 public:
  GraphReference(const GraphPlan& plan, uint32_t ranks, uint64_t seed);
  void run(uint32_t iterations);
  // Elements of a tensor as they stand; a constant has none.
  const std::vector<double>& tensor(uint32_t rank, size_t index) const {
    return data_[rank][index];
  }
  // What errors of a tensor are to be measured by: its largest element or, where products cancel,
  // the largest sum of their magnitudes over the root of their number, as independent errors add
  // up.
  double magnitude(uint32_t rank, size_t index) const;

 private:
  void matmul(uint32_t rank, const boost::json::object& op);
  void rows(uint32_t rank, const boost::json::object& op);
  void all_reduce(const boost::json::object& op);
  std::vector<double>& of(uint32_t rank, const boost::json::value& name);

  const GraphPlan& plan_;
  std::map<std::string, size_t> index_;
  std::vector<std::vector<std::vector<double>>> data_;  // By rank and tensor.
  std::map<std::string, double> products_;  // Largest of the sums of magnitudes, over all ranks.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_REFERENCE_H_
