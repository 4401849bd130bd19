// SPDX-License-Identifier: Apache-2.0
// Workloads of kind graph: an operator graph, compiled into a loop kernel by sw/compiler, on every
// GPU (data-parallel), for several iterations. The host programs are sw/apps/graph/graph.c.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_KIND_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_KIND_H_

#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

class GraphKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  void resolve(const std::string& file) override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  std::string plan;  // A shipped graph, or a file with a slash in its name, without .json or .elf.
  uint32_t iterations = 2;
  bool baseline = false;     // The first one reduces after back-propagation.
  uint32_t compute = 0;      // Work-groups that compute; 0 = what the compute units hold.
  uint32_t comm_groups = 2;  // ... that reduce gradients.
  bool by_rows = false;      // Loop kernels: tiles wait for the rows that they read.
  bool races = false;        // Loop kernels: tensors are watched by the race law.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_KIND_H_
