// SPDX-License-Identifier: Apache-2.0
// What operators and pipelines of a launched graph took in its last iteration, on rank 0: as JSON, as tables, and as the
// profile that the compiler reads in its second pass.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_REPORT_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_REPORT_H_

#include <boost/json.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/config/machine_spec.h"
#include "platform/jobs/job.h"
#include "platform/kinds/graph/graph_plan.h"
#include "platform/kinds/graph/stage_clocks.h"

namespace stretto {

struct GraphTimes {
  const GraphPlan& plan;
  const MachineSpec& spec;
  size_t groups = 0;         // Of the plan, that ran as pipelines,
  size_t fused = 0;          // as fused kernels.
  std::vector<double> ends;  // Of operators, us from the iteration's begin on.
  // At the iteration's begin and at the operators' ends.
  const std::vector<GpuActivity>& activity;
  // The first `count` clocks that work-groups of a stage have left in memory.
  std::function<std::vector<uint64_t>(const stage_arguments_t& stage, size_t count)> clocks;
};

class GraphReport {
 public:
  explicit GraphReport(GraphTimes times) : t_(std::move(times)) {}

  // Operators that are kernels of their own, and fused groups: from the end of the one before to its end, and how much of
  // each peak it used then. Shares of units' loads and stores are of what their ports carry.
  boost::json::array operators() const;
  // What work-groups of stages noted, means; and how fast tiles went through, as it was and as it was predicted.
  boost::json::array pipelines() const;
  // Without the machine; of a plan that has a hash.
  boost::json::object profile() const;
  std::string operator_table() const;
  std::string pipeline_table() const;

 private:
  bool is_in_pipeline(size_t op) const;
  const graph_fused_t* fused_of(size_t op) const;  // Null: none.
  double us_of(const graph_group_t& group) const;
  std::vector<StageClocks> stage_clocks(const graph_group_t& group) const;
  boost::json::array stages_of(size_t group) const;

  GraphTimes t_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_REPORT_H_
