// SPDX-License-Identifier: Apache-2.0
#ifndef STRETTO_PLATFORM_BASE_PERCENTILE_H_
#define STRETTO_PLATFORM_BASE_PERCENTILE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace stretto {

// The p-th percentile by linear interpolation between order statistics. REQUIRES: values, sorted.
inline double percentile(const std::vector<double>& sorted, double p) {
  const double at = p / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(std::floor(at));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace stretto

#endif  // STRETTO_PLATFORM_BASE_PERCENTILE_H_
