// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tenants/tenant_figures.h"

#include <algorithm>
#include <cmath>

#include "platform/jobs/contents.h"

namespace stretto {

double percentile(const std::vector<double>& sorted, double p) {
  const double at = p / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(std::floor(at));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

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

double requests_within(const tenant_result_t& result, uint32_t step_count, TenantSpan span) {
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

}  // namespace stretto
