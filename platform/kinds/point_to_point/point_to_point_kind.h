// SPDX-License-Identifier: Apache-2.0
// Workloads of kind point_to_point: messages of rising size from GPU 0 to GPU 1 and back, the modes
// being what controls them. The host programs are sw/apps/collective/point_to_point.c, over the driver.
#ifndef STRETTO_PLATFORM_KINDS_POINT_TO_POINT_POINT_TO_POINT_KIND_H_
#define STRETTO_PLATFORM_KINDS_POINT_TO_POINT_POINT_TO_POINT_KIND_H_

#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"
#include "sw/apps/collective/point_to_point.h"

namespace stretto {

class PointToPointKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  uint64_t min_bytes = 1024;
  uint64_t max_bytes = 64 << 20;
  uint32_t factor = 4;
  uint32_t messages = 64;            // Of a rate, at most.
  uint64_t total_bytes = 32 << 20;   // Of a rate, about; but at least two messages.
  uint32_t rounds = 4;               // Of a latency,
  uint64_t latency_bytes = 1 << 20;  // which is measured up to this size.
  bool contiguous = false;           // Messages of a rate lie side by side.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_POINT_TO_POINT_POINT_TO_POINT_KIND_H_
