// SPDX-License-Identifier: Apache-2.0
// Workloads of kind exchange: every GPU gives a block to each other one, call after call, without a
// look at the host; the modes are what moves the blocks and how it is asked. The host program is
// sw/apps/collective/exchange.c.
#ifndef STRETTO_PLATFORM_KINDS_EXCHANGE_EXCHANGE_KIND_H_
#define STRETTO_PLATFORM_KINDS_EXCHANGE_EXCHANGE_KIND_H_

#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

enum class ExchangeOp : uint8_t { all_to_all, all_gather };

class ExchangeKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  std::vector<uint64_t> blocks() const;  // Their sizes.

  ExchangeOp op = ExchangeOp::all_to_all;
  uint64_t min_bytes = 64;
  uint64_t max_bytes = 64 << 10;
  uint32_t factor = 4;
  uint32_t calls = 16;
  uint32_t ahead = 1;
  uint32_t work_groups = 1;
  bool tickets_at_once = false;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_EXCHANGE_EXCHANGE_KIND_H_
