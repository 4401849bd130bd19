// SPDX-License-Identifier: Apache-2.0
// Workloads of kind loaded: many work-groups of a server use the memory of another one at a time, and
// the service of their queues is what they wait for. Others may stream through the L2 meanwhile.
#ifndef STRETTO_PLATFORM_KINDS_LOADED_LOADED_KIND_H_
#define STRETTO_PLATFORM_KINDS_LOADED_LOADED_KIND_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

enum class LoadedOperation { get, put, none };

class LoadedKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  LoadedOperation operation = LoadedOperation::get;
  uint32_t work_groups = 480;
  uint32_t bytes = 8;
  uint32_t rounds = 4;       // Of each work-group, one after the other.
  uint32_t messages = 0;     // Then so many that nobody waits for, and a quiet.
  uint32_t poll_rounds = 4;  // CN-U06.
  uint32_t threads = 2;      // CN-U07.
  uint32_t streaming = 0;    // Work-groups beside them (Fig 7).
  uint32_t stream_kib = 1024;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_LOADED_LOADED_KIND_H_
