// SPDX-License-Identifier: Apache-2.0
// Workloads of kind all_reduce: the sum of an array over servers, at each (ComP-Net 5.4).
#ifndef STRETTO_PLATFORM_KINDS_ALL_REDUCE_ALL_REDUCE_KIND_H_
#define STRETTO_PLATFORM_KINDS_ALL_REDUCE_ALL_REDUCE_KIND_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

class AllReduceKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  uint32_t bytes = 64u << 20;
  uint32_t rings = 24;
  uint32_t piece_bytes = 65'536;
  uint32_t poll_rounds = 4;  // CN-U06.
  uint32_t threads = 2;      // CN-U07.
  std::string kernels;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_ALL_REDUCE_ALL_REDUCE_KIND_H_
