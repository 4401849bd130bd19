// SPDX-License-Identifier: Apache-2.0
// Workloads of kind interference: a kernel that loads one resource beside an all-gather, on every
// GPU (GPU-driven code execution, II-C): each alone, then both; what they cost each other, by their
// lengths.
#ifndef STRETTO_PLATFORM_KINDS_INTERFERENCE_INTERFERENCE_KIND_H_
#define STRETTO_PLATFORM_KINDS_INTERFERENCE_INTERFERENCE_KIND_H_

#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

class InterferenceKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::string work(const std::string& mode) const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  uint64_t gather_bytes = 64 << 20;  // Of the gathered array, at most;
  uint64_t min_gather_bytes = 0;     // at least, 0 = the same.
  uint32_t min_kernel_percent = 100;
  uint32_t max_kernel_percent = 100;  // Length of the kernel, of the all-gather's; each alone.
  uint64_t l2_bytes = 1 << 20;        // What load_l2 reads again and again.
  uint32_t work_groups = 0;           // Of the kernel; 0 = two a compute unit.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_INTERFERENCE_INTERFERENCE_KIND_H_
