// SPDX-License-Identifier: Apache-2.0
// Workloads of kind one_sided: operations of one server on the memory of another, by size: latency
// with its parts, and rate.
#ifndef STRETTO_PLATFORM_KINDS_ONE_SIDED_ONE_SIDED_KIND_H_
#define STRETTO_PLATFORM_KINDS_ONE_SIDED_ONE_SIDED_KIND_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

enum class OneSidedOperation { get, put };
// Server 0 on server 1; each on the next one; all others on server 0.
enum class OneSidedPattern { pair, ring, incast };
enum class OneSidedMemory { gpu, host };

class OneSidedKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  OneSidedOperation operation = OneSidedOperation::get;
  OneSidedPattern pattern = OneSidedPattern::pair;
  OneSidedMemory memory = OneSidedMemory::gpu;
  uint32_t min_bytes = 8;
  uint32_t max_bytes = 4 << 20;
  uint32_t factor = 2;
  uint32_t rounds = 4;     // Of a latency.
  uint32_t warm_up = 0;    // Of these.
  uint32_t messages = 16;  // Of a rate.
  uint32_t window = 8;
  uint32_t total_bytes = 16 << 20;
  uint32_t poll_rounds = 4;  // CN-U06.
  uint32_t threads = 2;      // CN-U07.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_ONE_SIDED_ONE_SIDED_KIND_H_
