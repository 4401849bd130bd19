// SPDX-License-Identifier: Apache-2.0
// Workloads of kind gathered_gemm: a tensor-parallel GEMM whose input is all-gathered (T3-AGC).
// Every GPU holds a chunk of A's rows, gets the others' and multiplies all of A with its own B. The
// host program is sw/apps/overlap/gathered_gemm.c.
//
// Real data only: memory of rows that have not arrived holds NaN, so a work-group that begins too
// early is found out.
#ifndef STRETTO_PLATFORM_KINDS_GATHERED_GEMM_GATHERED_GEMM_KIND_H_
#define STRETTO_PLATFORM_KINDS_GATHERED_GEMM_GATHERED_GEMM_KIND_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/gemm_job.h"
#include "platform/jobs/workload_kind.h"

namespace stretto {

class GatheredGemmKind final : public WorkloadKind {
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
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GATHERED_GEMM_GATHERED_GEMM_KIND_H_
