// SPDX-License-Identifier: Apache-2.0
// Workloads of kind jacobi: relaxation in two dimensions, split in one over servers (ComP-Net 5.3).
#ifndef STRETTO_PLATFORM_KINDS_JACOBI_JACOBI_KIND_H_
#define STRETTO_PLATFORM_KINDS_JACOBI_JACOBI_KIND_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"
#include "platform/kinds/jacobi/jacobi_grid.h"

namespace stretto {

class JacobiKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  JacobiShape grid_of(const JobRequest& request) const;
  // Bits of the residual below which it ends.
  uint32_t stop() const { return (127 - stop_log2) << 23; }

  uint32_t rows = 1024;
  uint32_t columns = 256;
  uint32_t iterations = 10;
  uint32_t stop_log2 = 127;
  uint32_t work_groups = 24;
  uint32_t poll_rounds = 4;  // CN-U06.
  uint32_t threads = 2;      // CN-U07.
  std::string kernels;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_JACOBI_JACOBI_KIND_H_
