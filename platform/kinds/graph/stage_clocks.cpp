// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/stage_clocks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sw/kernels/stages/stages.h"

namespace stretto {

namespace {

enum Clock : uint32_t { kBegin, kEnd, kWaitedIn, kWaitedOut };

uint64_t tiles_of(const StageClocks& stage, uint64_t work_group) {
  const uint64_t count = stage.work_groups() / stage.parts, first = work_group / stage.parts;
  return stage.tiles / count + (first < stage.tiles % count ? 1 : 0);
}

}  // namespace

uint64_t StageClocks::work_groups() const { return clocks.size() / STAGE_CLOCKS; }

uint64_t StageClocks::sum(uint32_t clock) const {
  uint64_t all = 0;
  for (uint64_t at = clock; at < clocks.size(); at += STAGE_CLOCKS) all += clocks[at];
  return all;
}

uint64_t StageClocks::whole() const { return sum(kEnd) - sum(kBegin); }

double StageClocks::shortest_wait() const {
  double least = std::numeric_limits<double>::infinity();
  for (uint64_t w = 0; w < work_groups(); ++w) {
    const double tiles = static_cast<double>(tiles_of(*this, w));
    const auto wait = [&](uint32_t clock, uint32_t queues) {
      if (queues == 0 || tiles == 0) return;
      const double all = static_cast<double>(clocks[STAGE_CLOCKS * w + clock]);
      least = std::min(least, all / (tiles * queues));
    };
    wait(kWaitedIn, queues_in);
    wait(kWaitedOut, queues_out);
  }
  return least;
}

double StageClocks::tile(double ready) const {
  double busy = 0;
  for (uint64_t w = 0; w < work_groups(); ++w) {
    const uint64_t* const at = &clocks[STAGE_CLOCKS * w];
    const double tiles = static_cast<double>(tiles_of(*this, w));
    const auto side = [&](uint64_t waited, uint32_t queues) {
      return std::max(0.0,
                      static_cast<double>(at[kEnd] - at[kBegin]) - static_cast<double>(waited)) +
             ready * queues * tiles;
    };
    const uint64_t multiplying = at[STAGE_MET_MULTIPLYING], storing = at[STAGE_MET_STORING];
    const double both = side(at[kWaitedIn] + at[kWaitedOut], queues_in + queues_out);
    if (multiplying + storing == 0)
      busy += both;
    else
      busy += std::max({side(at[kWaitedIn] + multiplying, queues_in),
                        side(at[kWaitedOut] + storing, queues_out), both,
                        static_cast<double>(at[STAGE_SHORTEST]) * tiles});
  }
  return tiles == 0 ? 0 : busy / tiles;
}

namespace {

// When a stage's work-groups have left the tile, which is the first one of each of them; 0: it is not.
uint64_t first_left(const StageClocks& stage, uint64_t tile) {
  if (tile >= stage.work_groups() / stage.parts) return 0;
  uint64_t last = 0;
  for (uint64_t w = tile * stage.parts; w < (tile + 1) * stage.parts; ++w)
    last = std::max(last, stage.clocks[STAGE_CLOCKS * w + STAGE_FIRST_LEFT]);
  return last;
}

}  // namespace

double first_clocks(const std::vector<StageClocks>& stages, size_t stage) {
  const StageClocks& of = stages[stage];
  double all = 0;
  uint64_t tiles = 0;
  for (uint64_t tile = 0; first_left(of, tile) != 0; ++tile) {
    uint64_t from = of.producers.empty() ? of.clocks[STAGE_CLOCKS * of.parts * tile + kBegin] : 0;
    bool is_first = true;
    for (const size_t producer : of.producers) {
      const uint64_t left = first_left(stages[producer], tile);
      is_first = is_first && left != 0;
      from = std::max(from, left);
    }
    if (!is_first) break;
    all += static_cast<double>(first_left(of, tile)) - static_cast<double>(from);
    ++tiles;
  }
  return tiles == 0 ? 0 : std::max(0.0, all / static_cast<double>(tiles));
}

double ready_clocks(const std::vector<StageClocks>& stages) {
  double least = std::numeric_limits<double>::infinity();
  for (const StageClocks& stage : stages) least = std::min(least, stage.shortest_wait());
  return std::isinf(least) ? 0 : least;
}

}  // namespace stretto
