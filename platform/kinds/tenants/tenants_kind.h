// SPDX-License-Identifier: Apache-2.0
// Workloads of kind tenants: clients that share one GPU, each a list of kernels that it launches again
// and again, under Tally and what it is compared with. A workload either has `kernels`, and is one
// client, or names such workloads as its clients.
#ifndef STRETTO_PLATFORM_KINDS_TENANTS_TENANTS_KIND_H_
#define STRETTO_PLATFORM_KINDS_TENANTS_TENANTS_KIND_H_

#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"
#include "sw/apps/tenants/rate_control.h"
#include "sw/tally/channel.h"
#include "sw/tally/policy.h"

namespace stretto {

// How requests of the first client come.
enum class Arrivals : uint8_t { back_to_back, poisson, bursts, trace };
// Of work-groups of kernels that have one priority.
enum class Order : uint8_t { in_turn, launch };
// Of work-groups of higher priority that find no room: whether lower ones pass them.
enum class Passing : uint8_t { strict, work_conserving };

class TenantsKind final : public WorkloadKind {
 public:
  TenantsKind();
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  void resolve(const std::string& workload) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  // Without a server no kernel has its account.
  uint32_t accounts(const std::string& mode) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  std::string kernels;          // Of a request; empty: clients are named.
  uint32_t least_times = 1;     // Of a line of `kernels` in a request.
  uint32_t most_times = 0;      // Likewise; 0: as it says.
  std::string high;             // Workload of the high-priority client,
  std::string best_effort;      // of the others, with commas between.
  uint32_t requests = 10;       // Of the first client, at most.
  uint64_t time_ns = 0;         // In which they begin; 0: no matter when.
  uint32_t least_requests = 1;  // That begin all the same.
  uint32_t host_ns = 0;  // The first client computes before each launch, on top of its lines.
  uint32_t lead = 0;     // Requests that best effort ends before the first client begins.
  Arrivals arrivals = Arrivals::back_to_back;
  uint64_t interval_ns = 0;        // Between arrivals, on average.
  uint32_t burst_requests = 10;    // Of a burst, on average,
  uint64_t burst_interval_ns = 0;  // and between two of it.
  std::string trace;
  // Of poisson and bursts: percent of the rate, of equal parts of time_ns; empty: level.
  std::string load_profile;
  uint32_t windows = 0;                  // Of figures over time.
  uint64_t best_effort_interval_ns = 0;  // Between arrivals of each other client; 0: back to back.
  std::string alone;     // Result folder of mode ideal; empty: nothing is normalised.
  std::string profiles;  // Result folder whose measurements are taken; empty: none.
  uint64_t launch_latency_ns = 20'000;
  Order order = Order::in_turn;  // Modes without a server.
  Passing priority = Passing::strict;
  uint64_t slice_ns = 2'000'000;  // Mode time-slicing.
  tally_policy_t policy;
  rate_policy_t rate;  // Mode tgs.
};

// Arrivals of the first client's requests from its begin on, ascending; empty: back to back. Throws
// UserError about the trace.
std::vector<uint64_t> arrivals_of(const TenantsKind& kind, uint64_t seed);
// `count` arrivals at random, on average every `interval_ns`.
std::vector<uint64_t> poisson_arrivals(uint64_t interval_ns, uint32_t count, uint64_t seed);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TENANTS_TENANTS_KIND_H_
