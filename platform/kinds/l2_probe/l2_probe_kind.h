// SPDX-License-Identifier: Apache-2.0
// Workloads of kind l2_probe: what the L2 of one GPU does. Equal bytes in pieces of many sizes,
// read, written and mixed, against the peak of the banks; and a chain of loads, one at a time, that
// hit or miss.
#ifndef STRETTO_PLATFORM_KINDS_L2_PROBE_L2_PROBE_KIND_H_
#define STRETTO_PLATFORM_KINDS_L2_PROBE_L2_PROBE_KIND_H_

#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

class L2ProbeKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  uint32_t min_piece_bytes = 256;
  uint32_t max_piece_bytes = 8192;
  uint32_t unit_bytes = 256 * 1024;    // What a compute unit moves for a line of the table.
  uint32_t footprint_bytes = 1 << 20;  // Among which it moves them.
  uint32_t loads = 1024;               // Of a chain.
  uint32_t hit_bytes = 256 * 1024;     // Footprint of the chain that hits,
  uint64_t miss_bytes = 64 << 20;      // and of the one that misses: read once.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_L2_PROBE_L2_PROBE_KIND_H_
