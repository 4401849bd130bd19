// SPDX-License-Identifier: Apache-2.0
// A user's operator graph as workload: the compiler (sw/compiler) plans it before the run.
#ifndef STRETTO_PLATFORM_RUN_PLAN_GRAPH_H_
#define STRETTO_PLATFORM_RUN_PLAN_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "platform/base/held_signals.h"
#include "platform/config/options.h"
#include "platform/run/run.h"

namespace stretto {

struct PlanOptions {
  std::vector<std::string> profiles;  // Files that earlier runs have written.
  bool training = false;
};

// The plan of options.workload, if that is a graph: `plan` in the folder of its results, or of a dry run in one that goes
// with this object. Completes `options` by its place and the mode. Signals that end a run wait as long as this lives.
class PlannedGraph {
 public:
  // Throws UserError with what the compiler has to say, or if another process writes into the folder; Interrupted by a
  // signal. Then the folder is as it was.
  PlannedGraph(RunOptions& options, const PlanOptions& how);

  // The folder of results, which has the new plan; earlier results are set aside. None without a plan.
  std::unique_ptr<RunFolder> take_folder() { return std::move(folder_); }

 private:
  // A folder that goes.
  struct Scratch {
    std::string path;
    ~Scratch();
  };

  std::unique_ptr<HeldSignals> held_;  // Outlives the others.
  std::unique_ptr<RunFolder> folder_;
  Scratch scratch_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RUN_PLAN_GRAPH_H_
