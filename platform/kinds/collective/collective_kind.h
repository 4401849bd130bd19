// SPDX-License-Identifier: Apache-2.0
// Workloads of kind collective: one collective over a range of sizes, out of place and in place, as
// nccl-tests does it; the mode is the engine that moves the data. The host program of a thread is
// sw/apps/collective/timed_collective.c. Prints the table of nccl-tests.
//
// Every size has buffers of its own, so that all of them can be compared with the reference after
// the run: a source and a target, and one buffer for each call in place (which changes its source).
#ifndef STRETTO_PLATFORM_KINDS_COLLECTIVE_COLLECTIVE_KIND_H_
#define STRETTO_PLATFORM_KINDS_COLLECTIVE_COLLECTIVE_KIND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"
#include "platform/kinds/collective/collective_data.h"

namespace stretto {

enum class CollectivePlace : uint8_t { both, out, in };

class CollectiveKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  // Counts of the calls, from `counts` or from the sizes. REQUIRES: first_error() is empty.
  std::vector<uint64_t> calls(uint32_t ranks) const;
  // What nccl-tests calls the size of a count.
  uint64_t size_of(uint64_t count, uint32_t ranks) const;

  stretto_collective_op_t op = STRETTO_ALL_REDUCE;
  uint64_t min_bytes = 8;
  uint64_t max_bytes = uint64_t{64} << 20;
  uint32_t factor = 2;
  std::string counts;  // Instead of sizes.
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t reduction = ncclSum;
  uint32_t root = 0;
  CollectivePlace place = CollectivePlace::both;
  uint32_t warm_up = 1;
  uint32_t iterations = 4;
  uint32_t large_factor = 0;
  uint32_t gpus_per_thread = 1;
  bool blocking = false;
};

// The table of nccl-tests, of what details() gives.
std::string collective_table(const boost::json::object& details);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_COLLECTIVE_COLLECTIVE_KIND_H_
