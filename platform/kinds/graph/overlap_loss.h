// SPDX-License-Identifier: Apache-2.0
// What operators lose beside reductions, where they run beside them: the share of the time inside
// the reductions in which they got no further than they would have alone.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_OVERLAP_LOSS_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_OVERLAP_LOSS_H_

#include <algorithm>
#include <utility>
#include <vector>

namespace stretto {

// `ends` and `alone`: when each operator ended, from the begin of its iteration on; each begins when
// the one before ends. `windows`: begin and end of reductions in the iteration of `ends`, none
// inside another. What lies behind the last operator does not count. 0 where nothing overlaps.
inline double overlap_loss(const std::vector<double>& ends, const std::vector<double>& alone,
                           const std::vector<std::pair<double, double>>& windows) {
  double together = 0, done = 0, begin = 0, begin_alone = 0;
  for (size_t i = 0; i < std::min(ends.size(), alone.size()); ++i) {
    for (const auto& [from, to] : windows) {
      const double inside = std::min(to, ends[i]) - std::max(from, begin);
      if (inside <= 0) continue;
      together += inside;
      done += inside * (alone[i] - begin_alone) / (ends[i] - begin);
    }
    begin = ends[i];
    begin_alone = alone[i];
  }
  return together > 0 ? 1 - done / together : 0;
}

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_OVERLAP_LOSS_H_
