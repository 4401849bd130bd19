// SPDX-License-Identifier: Apache-2.0
// A user's operator graph as workload: the compiler (sw/compiler) plans it before the run.
#ifndef STRETTO_PLATFORM_RUN_PLAN_GRAPH_H_
#define STRETTO_PLATFORM_RUN_PLAN_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "platform/base/atomic_file.h"
#include "platform/config/options.h"

namespace stretto {

struct PlanOptions {
  std::vector<std::string> profiles;  // Files that earlier runs have written.
  bool training = false;
};

// The plan of options.workload, if that is a graph: below the folder of its results, or of a dry run in one that goes
// with this object. Completes `options` by its place and the mode.
class PlannedGraph {
 public:
  // Throws UserError with what the compiler has to say, or if another process writes into the folder.
  PlannedGraph(RunOptions& options, const PlanOptions& how);
  ~PlannedGraph();
  PlannedGraph(const PlannedGraph&) = delete;
  PlannedGraph& operator=(const PlannedGraph&) = delete;

  // The folder of results, which nobody else has written into since before the plan was made. None without a plan.
  std::unique_ptr<OutputFolder> take_folder() { return std::move(folder_); }

 private:
  std::unique_ptr<OutputFolder> folder_;
  std::string scratch_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RUN_PLAN_GRAPH_H_
