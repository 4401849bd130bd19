// SPDX-License-Identifier: Apache-2.0
// Workloads of kind tile_queue: producers and consumers on units of their own, in pairs, over queues
// in pinned lines of the L2 (sw/include/tile_queue.h). Payloads of many sizes; all pairs at a time,
// and one alone. The consumers check every element. `cost`: all pairs without queues, too.
#ifndef STRETTO_PLATFORM_KINDS_TILE_QUEUE_TILE_QUEUE_KIND_H_
#define STRETTO_PLATFORM_KINDS_TILE_QUEUE_TILE_QUEUE_KIND_H_

#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

class TileQueueKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  // Payloads that a queue moves for a line of the table.
  uint32_t payloads_of(uint32_t payload_bytes) const;

  uint32_t pairs = 54;
  uint32_t depth = 2;
  uint32_t min_bytes = 1024;
  uint32_t max_bytes = 1 << 20;
  uint32_t payloads = 128;
  uint32_t queue_bytes = 8 << 20;
  bool pinned = true;
  bool cost = false;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TILE_QUEUE_TILE_QUEUE_KIND_H_
