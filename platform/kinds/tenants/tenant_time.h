// SPDX-License-Identifier: Apache-2.0
// Whose time it was on a shared GPU: from kernels' begins and ends, and what the server has told.
#ifndef STRETTO_PLATFORM_KINDS_TENANTS_TENANT_TIME_H_
#define STRETTO_PLATFORM_KINDS_TENANTS_TENANT_TIME_H_

#include <cstdint>
#include <vector>

#include "platform/jobs/server_log.h"

namespace stretto {

// Best-effort kernels that began (`begins_ns`) more than `latency_ns` after high priority had become
// active, and while it was.
uint64_t late_begins(const std::vector<HostSpan>& active, const std::vector<uint64_t>& begins_ns,
                     uint64_t latency_ns);

// How long, of a span of time, the GPU worked for whom. The parts add up to the span.
struct TenantOwners {
  uint64_t span_ns = 0;
  uint64_t high_ns = 0;         // Kernels of the high-priority client alone,
  uint64_t best_effort_ns = 0;  // of best effort alone,
  uint64_t both_ns = 0;
  uint64_t draining_ns = 0;  // best effort that was told to stop, whoever else;
  uint64_t boundary_ns = 0;  // none, within a request of high priority;
  uint64_t idle_ns = 0;      // none at all.
  uint64_t sum_ns() const {
    return high_ns + best_effort_ns + both_ns + draining_ns + boundary_ns + idle_ns;
  }
};
// A kernel of high priority or of best effort has begun or ended on the GPU.
struct TenantMoment {
  uint64_t at_ns;
  bool high, ended;
};
// When kernels of high priority were on the GPU, or had been less than `rest_ns` ago. `moments` in the order
// of their times.
std::vector<HostSpan> high_kernel_spans(const std::vector<TenantMoment>& moments, uint64_t rest_ns);
TenantOwners owners_of(const std::vector<TenantMoment>& moments,
                       const std::vector<HostSpan>& draining, const std::vector<HostSpan>& requests,
                       HostSpan span);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TENANTS_TENANT_TIME_H_
