// SPDX-License-Identifier: Apache-2.0
// Workloads of kind launch_probe: what launches cost on one GPU. Many tiny kernels queued, each
// dependent on the one before; and the gap between two of which the first leaves bytes dirty in the
// L2.
#ifndef STRETTO_PLATFORM_KINDS_LAUNCH_PROBE_LAUNCH_PROBE_KIND_H_
#define STRETTO_PLATFORM_KINDS_LAUNCH_PROBE_LAUNCH_PROBE_KIND_H_

#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

class LaunchProbeKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  uint32_t launches = 2000;       // Tiny kernels in a row.
  uint32_t work_groups = 16;      // Of each: 16 x 2 KiB are 4,096 doubles.
  uint32_t pairs = 8;             // Of each number of dirty bytes.
  uint32_t dirty_bytes = 65'536;  // The least but 0,
  uint32_t max_dirty_bytes = 4 << 20;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_LAUNCH_PROBE_LAUNCH_PROBE_KIND_H_
