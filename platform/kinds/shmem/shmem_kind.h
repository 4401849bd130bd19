// SPDX-License-Identifier: Apache-2.0
// Workloads of kind shmem: work-groups of several servers use the calls of sw/include/shmem.h, and
// what each must leave behind is checked.
#ifndef STRETTO_PLATFORM_KINDS_SHMEM_SHMEM_KIND_H_
#define STRETTO_PLATFORM_KINDS_SHMEM_SHMEM_KIND_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

// Kernels of sw/kernels/shmem_exchange.h.
enum class ShmemProgram { exchange, litmus, outside };

class ShmemKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  ShmemProgram program = ShmemProgram::exchange;
  uint32_t work_groups = 3;
  uint32_t bytes = 1000;
  uint32_t rounds = 70;      // More than a queue has entries.
  uint32_t poll_rounds = 4;  // CN-U06.
  uint32_t threads = 2;      // CN-U07.
  bool return_errors = false;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_SHMEM_SHMEM_KIND_H_
