// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/kitsune/kitsune_vertical.h"

#include "platform/reproduce/kitsune/kitsune_gathered.h"

namespace stretto::kitsune {

namespace {

Gathered vertical_speedups(const Results& r, const Apps& of, std::string& alone) {
  return {of, [&](const std::string& app, std::string&) {
            const Speedup one = app_speedup(r, app, kKitsuneMachine, kVertical);
            if (!one.partly.empty())
              alone += fmt::format("{}{}: {}", alone.empty() ? "" : "; ", app, one.partly);
            return std::vector<double>{one.x};
          }};
}

}  // namespace

Measured vertical_geomean(const Results& r, const Target&) {
  std::string alone;
  const Gathered all = vertical_speedups(r, apps(false), alone);
  return one_of(all, geomean, alone);
}

// Of MeshGraphNets, and whether it is the best one.
Measured vertical_best(const Results& r, const Target&) {
  std::string alone;
  const Gathered all = vertical_speedups(r, apps(false), alone);
  Measured whole{.note = fmt::format(
                     "KT-D10: the plan's cut of NeRF, {:.1f} %, would alone be a gain of {:.2f} "
                     "where memory is what counts{}{}",
                     plan_of(r, "nerf", kVertical).cut_percent,
                     1 / (1 - plan_of(r, "nerf", kVertical).cut_percent / 100),
                     alone.empty() ? "" : "; ", alone)};
  if (!all.values.empty()) whole.value = *std::max_element(all.values.begin(), all.values.end());
  return all.finish(std::move(whole));
}

Measured vertical_training(const Results& r, const Target&) {
  std::string alone;
  Gathered all = vertical_speedups(r, apps(false), alone);
  const Gathered training = vertical_speedups(r, apps(true), alone);
  append(all, training);
  if (all.is_empty() || training.is_empty()) return all.finish({});
  const double of_inference = geomean(all.values), of_training = geomean(training.values);
  return trend_of(all, of_training, of_training < of_inference,
                  fmt::format("geometric means, training; inference {:.3g}{}{}", of_inference,
                              alone.empty() ? "" : "; ", alone));
}

// The least of all applications: Kitsune's speed-up over that of vertical fusion.
Measured above_vertical(const Results& r, const Target&) {
  const Gathered all(every_app(), [&](const std::string& app, std::string& partly) {
    const Speedup mine = app_speedup(r, app, kKitsuneMachine);
    partly = mine.partly;
    return std::vector<double>{mine.x / app_speedup(r, app, kKitsuneMachine, kVertical).x};
  });
  if (all.is_empty()) return all.finish({});
  const double least = *std::min_element(all.values.begin(), all.values.end());
  return trend_of(all, least, least > 1, "speed-up over vertical fusion, the least");
}

// Shares of time when both are low, as kernels and with fused groups.
Measured vertical_low(const Results& r, const Target&) {
  bool others = true, mgn = false;
  double fell = 0;
  const Gathered all(apps(false), [&](const std::string& app, std::string&) {
    const double before = run_of(r, app, kBsp).both_low, now = run_of(r, app, kVertical).both_low;
    if (app == "mgn") {
      mgn = now >= before;
    } else {
      others = others && now < before;
      fell = std::max(fell, before - now);
    }
    return std::vector<double>{before, now};
  });
  return trend_of(all, fell, others && mgn,
                  "points by which the share falls at most; each as kernels and with fused groups");
}

}  // namespace stretto::kitsune
