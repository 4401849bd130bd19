// SPDX-License-Identifier: Apache-2.0
// Workloads of kind roofline: operators of the kernel library on one GPU, one after the other, and what share of the
// machine's peaks each reaches.
#ifndef STRETTO_PLATFORM_KINDS_ROOFLINE_ROOFLINE_KIND_H_
#define STRETTO_PLATFORM_KINDS_ROOFLINE_ROOFLINE_KIND_H_

#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

class RooflineKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override { return ""; }
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  std::string operators = "gemm:4096x4096x4096";
  uint32_t warm = 1;  // Launches of each before the one that is measured.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_ROOFLINE_ROOFLINE_KIND_H_
