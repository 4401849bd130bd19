// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_kind.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/common/error.h"
#include "platform/base/installation.h"
#include "platform/jobs/host_runtime.h"
#include "platform/jobs/operands.h"
#include "platform/jobs/send_mover.h"
#include "platform/jobs/workload.h"
#include "platform/kinds/graph/graph_job.h"
#include "platform/kinds/graph/graph_parameters.h"
#include "platform/kinds/graph/graph_plan.h"
#include "sw/apps/graph/graph.h"

namespace stretto {

namespace {

constexpr double kMaxReferenceGflop = 40;

}  // namespace

void GraphKind::describe(ParameterSet& set) {
  set.text("plan", plan,
           "What compile.py has written: a shipped graph, or a file with a slash in its name, "
           "without suffix.");
  set.number("iterations", iterations, 1, LOOP_MAX_ITERATIONS, "Times that the graph runs.");
  set.flag("baseline", baseline,
           "launched: the first of at least two iterations reduces after back-propagation, to tell "
           "what operators lose beside reductions.");
  set.number("compute", compute, 0, 4096,
             "Work-groups that compute; 0 = one a compute unit, less comm_groups.");
  set.number("comm_groups", comm_groups, 1, LOOP_MAX_COMM_GROUPS,
             "Work-groups that reduce gradients.");
  set.flag("by_rows", by_rows,
           "loop, loop-s: tiles wait for the rows that they read, not for whole operators "
           "(GD-LOOP-04).");
  set.flag(
      "races", races,
      "loop, loop-s on one GPU: a load of a tensor that no wait orders behind its store ends the "
      "run, also where the bytes are right; likewise a store behind loads. Times stay as they "
      "are.");
}

std::string GraphKind::first_error() const {
  if (plan.empty()) return "needs plan";
  return baseline && iterations < 2 ? "needs iterations of at least 2 for baseline" : "";
}

void GraphKind::resolve(const std::string& file) {
  constexpr const char* kSuffix = ".json";
  if (plan.find('/') == std::string::npos) return;  // A shipped one.
  plan = beside(file, plan + kSuffix);
  plan.erase(plan.size() - std::string(kSuffix).size());
  if (plan.find('/') == std::string::npos) plan.insert(0, "./");
}

const KindInfo& GraphKind::info() const {
  static const KindInfo info{
      .name = "graph",
      .sentence = "An operator graph, compiled by sw/compiler, on every GPU (data-parallel).",
      .accounts = 3,
      .modes =
          {{"loop", "one loop kernel a GPU, gradients by send requests to the ring on the die"},
           {"loop-s", "one loop kernel a GPU, gradients by send requests to a CPU thread"},
           {"launched",
            "kernels of the library an operator, gradients by ncclAllReduce of copy kernels in "
            "another stream"},
           {kBulkSynchronous, "launched, as pipelines are compared with it"},
           {"launched-after", "likewise, but no all-reduce before the end of back-propagation"},
           {"launched-gdma", "as launched, but the DMA engine moves gradients, asked by kernels"},
           {"kitsune", "likewise launched, groups of operators as spatial pipelines"},
           {"vertical", "likewise launched, groups of operators as one kernel each"}},
  };
  return info;
}

std::map<std::string, uint64_t> GraphKind::shape() const {
  return {{"iterations", iterations}, {"compute", compute}, {"comm_groups", comm_groups}};
}

void GraphKind::check(const JobRequest& request) const {
  const MachineSpec& spec = request.spec;
  const std::string who = request.subject();
  check_send_mover(request, graph_mode_name(GRAPH_LOOP_S));
  if (spec.software.send_threads != 1)
    throw UserError(who + ": software.send_threads are of workloads of kind point_to_point");
  const bool is_user_graph = is_graph_name(request.workload);
  const std::string file = stem_of(*this) + ".json";
  const std::string planned = is_user_graph ? request.workload : file;
  GraphPlan loaded = load_graph_plan(file, is_user_graph ? request.workload : "");
  graph_parameters_t p = parameters_of(*this, request, loaded, 0);
  if (p.compute == 0 || p.compute + p.comm_groups > spec.gpu.cus) {
    throw UserError(who + ": " + std::to_string(std::max(1u, p.compute)) + " + " +
                    std::to_string(p.comm_groups) +
                    " work-groups must be resident at once, gpu.cus is " +
                    std::to_string(spec.gpu.cus));
  }
  graph_plan_t place;
  (void)graph_plan(&p, &place);
  check_memory(request, place.memory, GRAPH_MODULE_BYTES + second_client_bytes(p),
               is_user_graph ? "the graph's tensors" : "the tensors of graph.plan");
  if (spec.gpu.tile_values && loaded.gflop * request.ranks() * iterations > kMaxReferenceGflop) {
    throw UserError(who + ": " + std::to_string(static_cast<uint64_t>(loaded.gflop)) +
                    " GFLOP an iteration are too many to be worked out; set gpu.tile_values=false, "
                    "then only time matters");
  }
  if (p.groups != 0) check_residency(who, loaded, spec.gpu);
  if (p.mode == GRAPH_KITSUNE && p.groups == 0)
    throw UserError(
        fmt::format("{}: {} has no pipeline that can be run: {}; --mode {} runs it", who, planned,
                    loaded.no_pipelines.empty() ? "none is planned" : loaded.no_pipelines,
                    is_user_graph ? kBulkSynchronous : "launched"));
  if (p.mode == GRAPH_VERTICAL && !loaded.root.contains("fused"))
    throw UserError(fmt::format("{}: {} has no fused groups; compile.py --mode vertical makes them",
                                who, file));
  if (is_launched(p.mode)) {
    if (by_rows || races)
      throw UserError(fmt::format("{}: graph.{} is of loop kernels: modes {} and {}", who,
                                  by_rows ? "by_rows" : "races", graph_mode_name(GRAPH_LOOP),
                                  graph_mode_name(GRAPH_LOOP_S)));
    return;
  }
  if (races && p.ranks > 1)
    throw UserError(
        who +
        ": graph.races is for gpus=1: an order that goes by way of another GPU is not followed");
  if (!loaded.no_loop.empty())
    throw UserError(fmt::format("{}: {} has no loop kernel: {}; --mode launched runs it", who, file,
                                loaded.no_loop));
  check_kernels(stem_of(*this) + ".elf", {"loop"});
  const std::vector<uint8_t> elf = kernel_file(stem_of(*this) + ".elf");
  const std::string mark = LOOP_PLAN_MARK + loaded.sha256;
  if (std::search(elf.begin(), elf.end(), mark.begin(), mark.end()) == elf.end())
    throw UserError(fmt::format(
        "{}: {}.elf is of another plan than {}.json beside it; let compile.py make both again", who,
        stem_of(*this), stem_of(*this)));
}

std::vector<std::string> GraphKind::claims(const JobRequest& request) const {
  const bool rings = request.mode == graph_mode_name(GRAPH_LOOP) ||
                     request.mode == graph_mode_name(GRAPH_LAUNCHED_GDMA);
  if (rings && request.ranks() > 1) return {kRequestRing};
  return request.mode == graph_mode_name(GRAPH_KITSUNE) ? std::vector<std::string>{kPersist}
                                                        : std::vector<std::string>{};
}

std::vector<std::string> GraphKind::kernel_files(const JobRequest& request) const {
  std::vector<std::string> files{stem_of(*this) + ".json"};
  if (!is_launched(mode_of(request.mode))) {
    files.push_back(stem_of(*this) + ".elf");
    return files;
  }
  for (int form = 0; form < GRAPH_LIBRARIES; ++form)
    files.push_back(kernel_path(graph_library(static_cast<graph_library_t>(form))));
  if (mode_of(request.mode) == GRAPH_KITSUNE) files.push_back(kernel_path("stages"));
  files.push_back(kernel_path("send"));
  files.push_back(kernel_path(request.spec.software.collective));
  return files;
}

std::unique_ptr<Job> GraphKind::make_job(const JobRequest& request, Memories memories) const {
  return make_graph_job(*this, request, std::move(memories));
}

}  // namespace stretto
