// SPDX-License-Identifier: Apache-2.0
// Figures of a client's requests.
#ifndef STRETTO_PLATFORM_KINDS_TENANTS_TENANT_FIGURES_H_
#define STRETTO_PLATFORM_KINDS_TENANTS_TENANT_FIGURES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "platform/base/percentile.h"
#include "platform/kinds/tenants/tenant_time.h"
#include "sw/apps/tenants/tenant.h"

namespace stretto {

// Where 95 % of resamples with replacement have it (bootstrap of 1,000). Deterministic.
std::pair<double, double> bootstrap_interval(const std::vector<double>& values, double p);

// Requests of a client within a span of time: complete ones, and of those that its ends cut the share
// of their time; of the one that was cut short, `steps` of `step_count`.
double requests_within(const tenant_result_t& result, uint32_t step_count, HostSpan span);

// A part of the time in which the first client has requests.
struct TenantWindow {
  HostSpan span;
  uint32_t requests = 0;          // That arrived in it and were served.
  double p50_us = 0, p99_us = 0;  // Of their service times, if there are any.
  double best_effort_share = 0;   // Of the time: kernels of best effort were on the GPU.
};
// Equal ones; `first`: of the first client.
std::vector<TenantWindow> windows_of(HostSpan span, uint32_t count, const tenant_result_t& first,
                                     const std::vector<TenantMoment>& moments);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TENANTS_TENANT_FIGURES_H_
