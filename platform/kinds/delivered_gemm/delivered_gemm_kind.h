// SPDX-License-Identifier: Apache-2.0
// Workloads of kind delivered_gemm: a GEMM whose output is all-gathered (T3-AG), exchanged all to
// all, as by the experts of a mixture (T3-A2A), or sent to the next stage of a pipeline (T3-DPPP).
// The host program is sw/apps/overlap/delivered_gemm.c, over the driver.
#ifndef STRETTO_PLATFORM_KINDS_DELIVERED_GEMM_DELIVERED_GEMM_KIND_H_
#define STRETTO_PLATFORM_KINDS_DELIVERED_GEMM_DELIVERED_GEMM_KIND_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/gemm_job.h"
#include "platform/jobs/workload_kind.h"
#include "sw/apps/overlap/delivered_gemm.h"

namespace stretto {

class DeliveredGemmKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  GemmShape gemm;
  delivered_gemm_collective_t collective = DELIVERED_GEMM_ALL_GATHER;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_DELIVERED_GEMM_DELIVERED_GEMM_KIND_H_
