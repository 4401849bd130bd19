// SPDX-License-Identifier: Apache-2.0
// Workloads of kind open_shmem: programs over OpenSHMEM as users write them, and what they must
// leave.
#ifndef STRETTO_PLATFORM_KINDS_OPEN_SHMEM_OPEN_SHMEM_KIND_H_
#define STRETTO_PLATFORM_KINDS_OPEN_SHMEM_OPEN_SHMEM_KIND_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

// Kernels of sw/kernels/open_shmem.c.
enum class OpenShmemProgram { tokens, histogram, halo, ticket_lock, all_to_all, collectives };

class OpenShmemKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  OpenShmemProgram program = OpenShmemProgram::tokens;
  uint32_t work_groups = 3;
  uint32_t rounds = 5;
  uint32_t poll_rounds = 4;  // CN-U06.
  uint32_t threads = 2;      // CN-U07.
  std::string kernels;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_OPEN_SHMEM_OPEN_SHMEM_KIND_H_
