// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tenants/tenant_figures.h"

#include <algorithm>
#include <cmath>

#include "platform/jobs/contents.h"

namespace stretto {

std::pair<double, double> bootstrap_interval(const std::vector<double>& values, double p) {
  constexpr uint32_t kResamples = 1000;
  std::vector<double> found, sample(values.size());
  for (uint32_t turn = 0; turn < kResamples; ++turn) {
    for (size_t i = 0; i < values.size(); ++i)
      sample[i] = values[content_word(1, turn, i) % values.size()];
    std::sort(sample.begin(), sample.end());
    found.push_back(percentile(sample, p));
  }
  std::sort(found.begin(), found.end());
  return {percentile(found, 2.5), percentile(found, 97.5)};
}

double requests_within(const tenant_result_t& result, uint32_t step_count, HostSpan span) {
  const auto share = [&](uint64_t begin, uint64_t end) {
    const uint64_t from = std::max(begin, span.begin_ns), to = std::min(end, span.end_ns);
    if (from >= to) return 0.0;
    return static_cast<double>(to - from) / static_cast<double>(end - begin);
  };
  double sum = 0;
  for (uint32_t i = 0; i < result.requests; ++i)
    sum += share(result.request[i].begin_ns, result.request[i].end_ns);
  if (result.steps != 0)
    sum += share(result.cut_begin_ns, result.end_ns) * result.steps / step_count;
  return sum;
}

std::vector<TenantWindow> windows_of(HostSpan span, uint32_t count, const tenant_result_t& first,
                                     const std::vector<TenantMoment>& moments) {
  std::vector<TenantWindow> windows(count);
  const uint64_t length = span.end_ns - span.begin_ns;
  for (uint32_t i = 0; i < count; ++i) {
    TenantWindow& one = windows[i];
    one.span = {span.begin_ns + length * i / count, span.begin_ns + length * (i + 1) / count};
    std::vector<double> service;
    for (uint32_t k = 0; k < first.requests; ++k) {
      const tenant_request_t& request = first.request[k];
      if (request.arrival_ns < one.span.begin_ns || request.arrival_ns >= one.span.end_ns) continue;
      service.push_back(static_cast<double>(request.end_ns - request.begin_ns) / 1000);
    }
    one.requests = static_cast<uint32_t>(service.size());
    std::sort(service.begin(), service.end());
    if (!service.empty()) {
      one.p50_us = percentile(service, 50);
      one.p99_us = percentile(service, 99);
    }
    const TenantOwners owners = owners_of(moments, {}, {}, one.span);
    if (owners.span_ns != 0)
      one.best_effort_share = static_cast<double>(owners.best_effort_ns + owners.both_ns) /
                              static_cast<double>(owners.span_ns);
  }
  return windows;
}

}  // namespace stretto
