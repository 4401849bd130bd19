// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/kitsune/kitsune_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "platform/reproduce/kitsune/kitsune_gathered.h"
#include "platform/reproduce/kitsune/kitsune_vertical.h"

namespace stretto {

namespace {

using namespace kitsune;

constexpr double kKib = 1024;
constexpr double kClose = 0.25;  // Of a row of Table 2, figure by figure: as per-figure.
constexpr double kPoints = 3;    // Beside it: what a row is off at most, for its note.

// The queue.

const std::vector<QueueLine>& queue(const Results& r) {
  if (r.queue.empty()) throw MissingSimulations({kQueueFolder});
  return r.queue;
}
std::vector<QueueLine> lines(const Results& r, double least_kib, double most_kib) {
  std::vector<QueueLine> all;
  for (const QueueLine& line : queue(r))
    if (line.bytes >= least_kib * kKib && line.bytes <= most_kib * kKib) all.push_back(line);
  if (all.empty()) throw MissingSimulations({kQueueFolder + std::string(" of these payloads")});
  return all;
}
double peak_gb_s(const Results& r) {
  double most = 0;
  for (const QueueLine& line : lines(r, 128, 256)) most = std::max(most, line.all_gb_s);
  return most;
}
constexpr double kQueues = 54;

double atomics_rate(const Results& r) {
  if (r.atomics_per_s == 0) throw MissingSimulations({kAtomicsFolder});
  return r.atomics_per_s;
}

Measured atomics(const Results& r, const Target&) {
  return {.value = atomics_rate(r), .note = "additions that nobody waits for, of one work-group"};
}

// 17 atomics a payload: config.hardware.queue, derived from the printed bounds.
Measured atomics_bound(const Results& r, const Target&) {
  bool holds = true;
  std::string note;
  double most = 0;
  for (const QueueLine& line : lines(r, 64, 256)) {
    const double bound = line.bytes * atomics_rate(r) / 17 / 1e9;
    holds = holds && line.one_gb_s <= bound;
    most = std::max(most, line.one_gb_s);
    note += fmt::format("{}{:.0f} KiB {:.1f} of {:.0f}", note.empty() ? "" : ", ",
                        line.bytes / kKib, line.one_gb_s, bound);
  }
  return {.value = most, .holds = holds, .note = "a queue alone, GB/s, of its bound: " + note};
}

Measured beyond_l2(const Results& r, const Target& target) {
  const double beyond = lines(r, 512, 512).front().all_gb_s / 1000;
  return {.value = beyond,
          .holds = beyond < *target.value && beyond < peak_gb_s(r) / 1000,
          .note = "512 KiB, with what is pinned"};
}

Measured sync_small(const Results& r, const Target&) {
  const QueueLine one = lines(r, 1, 1).front();
  return {.value = 1 + one.cost_percent / 100,
          .note = "barriers and waits for a payload's own loads and stores remain without atomics"};
}

Measured sync_large(const Results& r, const Target& target) {
  double most = 0;
  for (const QueueLine& line : lines(r, 64, 1 << 20)) most = std::max(most, line.cost_percent);
  return {
      .value = most, .holds = most < *target.value, .note = "the most of all payloads from 64 KiB"};
}

Measured queue_trend(const Results& r, const Target&) {
  const std::vector<QueueLine>& all = queue(r);
  bool rises = true, falls = true, cheaper = true;
  for (size_t i = 1; i < all.size(); ++i) {
    const bool is_fitting = all[i].bytes <= 256 * kKib;
    if (is_fitting) rises = rises && all[i].all_gb_s >= 0.98 * all[i - 1].all_gb_s;
    if (all[i].bytes == 512 * kKib) falls = all[i].all_gb_s < all[i - 1].all_gb_s;
    cheaper = cheaper && all[i].cost_percent <= all[i - 1].cost_percent;
  }
  return {.value = peak_gb_s(r) / 1000,
          .holds = rises && falls && cheaper,
          .note = fmt::format("rises to 256 KiB: {}, falls beyond: {}, overhead falls: {}", rises,
                              falls, cheaper)};
}

// Speed-ups.

Gathered speedups(const Results& r, const Apps& of, const char* machine = kKitsuneMachine) {
  return {of, [&](const std::string& app, std::string& partly) {
            const Speedup one = app_speedup(r, app, machine);
            partly = one.partly;
            return std::vector<double>{one.x};
          }};
}
// What each baseline reaches of its roofline.
std::string baselines(const Results& r, const Apps& of, const char* machine = kKitsuneMachine) {
  std::string note;
  for (const std::string& app : of) {
    try {
      const double us = run_of(r, app, kBsp, machine).us;
      const KitsunePlan& plan = plan_of(r, app, kBsp);
      const KitsunePeaks& peaks = r.peaks.at(machine);
      const double percent = 100 * roofline_us(plan, peaks.hbm_gb_s, peaks.tensor_tflop_s) / us;
      note += fmt::format("{}{} {:.0f} %", note.empty() ? "baseline, of its roofline: " : ", ", app,
                          percent);
    } catch (const std::runtime_error&) {  // Said where the speed-up is.
    }
  }
  return note;
}
Gathered of_groups(const Results& r, const Apps& of) {
  return {of, [&](const std::string& app, std::string& partly) {
            std::vector<double> all;
            for (const Speedup& one : group_speedups(r, app, kKitsuneMachine)) all.push_back(one.x);
            partly = plan_of(r, app, kKitsune).not_run();
            return all;
          }};
}

Measured inference_range(const Results& r, const Target&) {
  // KT-D4: the lower end cannot be Llama's.
  const Apps of = without(apps(false), {"llama-context", "llama-token"});
  return range_of(speedups(r, of), baselines(r, of));
}
Measured training_range(const Results& r, const Target&) {
  return range_of(speedups(r, apps(true)), baselines(r, apps(true)));
}
Measured inference_geomean(const Results& r, const Target&) {
  return one_of(speedups(r, apps(false)), geomean, baselines(r, apps(false)));
}
Measured nerf_speedup(const Results& r, const Target&) {
  return one_of(speedups(r, {"nerf"}), mean, baselines(r, {"nerf"}));
}
Measured group_range(const Results& r, const Target&) {
  return range_of(of_groups(r, apps(false)), baselines(r, apps(false)));
}
Measured group_geomean(const Results& r, const Target&) {
  return one_of(of_groups(r, apps(false)), geomean, baselines(r, apps(false)));
}
Measured context_groups(const Results& r, const Target&) {
  return range_of(of_groups(r, {"llama-context"}), baselines(r, {"llama-context"}));
}

// Percent that twice the chip gains, of a mode, over inference or training.
Gathered gains(const Results& r, const char* mode, bool is_trained) {
  return {apps(is_trained), [&r, mode](const std::string& app, std::string& partly) {
            if (mode == std::string(kKitsune)) partly = plan_of(r, app, kKitsune).not_run();
            return std::vector<double>{run_of(r, app, mode).us /
                                       run_of(r, app, mode, kTwiceMachine).us};
          }};
}
Measured twice(const Results& r, const char* mode) {
  Gathered all = gains(r, mode, false);
  const Gathered training = gains(r, mode, true);
  Measured whole;
  if (!all.is_empty() && !training.is_empty())
    whole.range = {100 * (geomean(all.values) - 1), 100 * (geomean(training.values) - 1)};
  for (const auto part : {&Gathered::notes, &Gathered::not_run, &Gathered::needs})
    (all.*part).insert((all.*part).end(), (training.*part).begin(), (training.*part).end());
  return all.finish(std::move(whole));
}
Measured twice_kitsune(const Results& r, const Target&) { return twice(r, kKitsune); }
Measured twice_baseline(const Results& r, const Target&) {
  Measured whole = twice(r, kBsp);  // A range as printed, whichever is less.
  std::sort(whole.range.begin(), whole.range.end());
  return whole;
}

Measured lowest_is_context(const Results& r, const Target&) {
  const Gathered all = speedups(r, apps(false));
  const Gathered context = speedups(r, {"llama-context"});
  if (context.is_empty()) return all.finish({});
  const double least = *std::min_element(all.values.begin(), all.values.end());
  return trend_of(all, context.values.front(), context.values.front() <= least);
}

// Of rank: whether larger groups gain more.
Measured gain_by_size(const Results& r, const Target&) {
  std::vector<std::pair<double, double>> points;  // Operators, speed-up.
  const Gathered all(apps(false), [&](const std::string& app, std::string& partly) {
    std::vector<double> gained;
    for (const Speedup& one : group_speedups(r, app, kKitsuneMachine)) {
      points.emplace_back(one.operators, one.x);
      gained.push_back(one.x);
    }
    partly = plan_of(r, app, kKitsune).not_run();
    return gained;
  });
  // Pairs in the same order against those in the other (Kendall).
  int same = 0, pairs = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double sign =
          (points[i].first - points[j].first) * (points[i].second - points[j].second);
      if (sign != 0) ++pairs, same += sign > 0 ? 1 : -1;
    }
  }
  const double rank = pairs == 0 ? 0 : static_cast<double>(same) / pairs;
  return trend_of(all, rank, rank > 0, fmt::format("rank correlation of {} groups", points.size()));
}

// Shares of time.

using Share = double KitsuneRun::*;
Gathered shares(const Results& r, const Apps& of, const char* mode, Share share) {
  return {of, [&r, mode, share](const std::string& app, std::string& partly) {
            if (mode == std::string(kKitsune)) partly = plan_of(r, app, kKitsune).not_run();
            return std::vector<double>{run_of(r, app, mode).*share};
          }};
}
const char* const kWindows = "windows of 10 us";

Measured low_range(const Results& r, bool is_trained) {
  const Apps of = is_trained ? Apps{"nerf-training", "mgn-training", "graphcast-training"}
                             : Apps{"nerf", "mgn", "graphcast"};
  return range_of(shares(r, of, kBsp, &KitsuneRun::both_low), kWindows);
}
// One application each for inference and training.
Measured low_of(const Results& r, const char* inference, const char* training,
                std::string note = kWindows) {
  const Gathered all = shares(r, {inference, training}, kBsp, &KitsuneRun::both_low);
  Measured whole{.note = std::move(note)};
  whole.range = all.values;
  return all.finish(std::move(whole));
}
// The same application with fewer rows: time that is low against traffic that is cut (KT-D9).
Measured low_of_dlrm(const Results& r, const Target&) {
  std::string note = kWindows;
  for (const unsigned rows : kSweepRows) {
    const std::string app = sweep_name(rows);
    note += fmt::format("; {} rows: ", rows);
    try {
      note += fmt::format("both low {:.1f} %", run_of(r, app, kBsp).both_low);
    } catch (const std::runtime_error&) {
      note += "not run";
    }
    try {
      note += fmt::format(", cut by the plan {:.1f} %", plan_of(r, app, kKitsune).cut_percent);
    } catch (const std::runtime_error&) {
      note += ", not planned";
    }
  }
  return low_of(r, "dlrm", "dlrm-training", std::move(note));
}
// Of bsp and of pipelines, on the average.
Measured both_modes(const Results& r, bool is_trained, Share share, bool kitsune_first) {
  Gathered first = shares(r, apps(is_trained), kitsune_first ? kKitsune : kBsp, share);
  const Gathered second = shares(r, apps(is_trained), kitsune_first ? kBsp : kKitsune, share);
  Measured whole{.note = kWindows};
  if (!first.is_empty() && !second.is_empty())
    whole.range = {mean(first.values), mean(second.values)};
  append(first, second);
  return first.finish(std::move(whole));
}

// Plans.

// Of bytes that were simulated where both modes ran whole; else of the plan.
double cut_of(const Results& r, const std::string& app, std::string& how) {
  const KitsunePlan& plan = plan_of(r, app, kKitsune);
  try {
    if (!plan.not_run().empty()) throw NotRun("");
    const double cut =
        100 * (1 - run_of(r, app, kKitsune).dram_bytes / run_of(r, app, kBsp).dram_bytes);
    how = fmt::format("simulated, by the plan {:.2f}", plan.cut_percent);
    return cut;
  } catch (const std::runtime_error&) {
    how = "by the plan";
    return plan.cut_percent;
  }
}

Measured cut_range(const Results& r, bool is_trained) {
  // KT-D3: a token reads all weights whatever is fused, Table 2 has nearly nothing.
  std::string sources;
  const Gathered all(without(apps(is_trained), {"llama-token"}),
                     [&](const std::string& app, std::string&) {
                       std::string how;
                       const double cut = cut_of(r, app, how);
                       sources += fmt::format("{}{} {}", sources.empty() ? "" : ", ", app, how);
                       return std::vector<double>{cut};
                     });
  return range_of(all, sources);
}

Measured table_row(const Results& r, const Target& target) {
  std::string app;
  for (const KitsuneApp& one : kitsune_apps())
    if (one.id == target.id) app = one.name;
  const KitsunePlan &vertical = plan_of(r, app, kVertical), &mine = plan_of(r, app, kKitsune);
  std::string how;
  const double cut = cut_of(r, app, how);
  const std::map<std::string, double> here{
      {"ops", mine.operators},
      {"vertical_pct", vertical.coverage_percent},
      {"kitsune_pct", mine.coverage_percent},
      {"vertical_traffic_red", vertical.cut_percent},
      {"kitsune_traffic_red", cut},
  };
  bool holds = true;
  double points = 0;
  for (const auto& [key, value] : here) {
    const double wanted = target.row.at(key);
    holds = holds && std::abs(value / wanted - 1) <= kClose;
    if (key != "ops") points = std::max(points, std::abs(value - wanted));
  }
  const auto both = [&](const char* key) {
    return fmt::format("{:.4g} ({:g})", here.at(key), target.row.at(key));
  };
  return {.value = cut,
          .holds = holds,
          .note = fmt::format(
              "operators {}; vertical: in groups {} %, cut {} % by the plan; Kitsune: in groups {} "
              "%, cut {} % {}; off by at most {:.1f} points{}",
              both("ops"), both("vertical_pct"), both("vertical_traffic_red"), both("kitsune_pct"),
              both("kitsune_traffic_red"), how, points,
              points <= kPoints ? "" : fmt::format(", more than {:g}", kPoints))};
}

Measured coverage(const Results& r, const Target& target) {
  unsigned above = 0, all = 0;
  std::vector<double> inference, training;
  std::string note;
  for (const std::string& app : every_app()) {
    const double percent = plan_of(r, app, kKitsune).coverage_percent;
    ++all;
    above += percent > *target.value;
    const bool is_trained = app.find("training") != std::string::npos;
    (is_trained ? training : inference).push_back(percent);
    note += fmt::format("{}{} {:.0f}", note.empty() ? "" : ", ", app, percent);
  }
  return {
      .value = mean(inference),
      .holds = 2 * above > all && mean(inference) > mean(training),
      .note = fmt::format("{} of {} are above; mean {:.0f} in inference, {:.0f} in training: {}",
                          above, all, mean(inference), mean(training), note)};
}

Measured at_least_vertical(const Results& r, const Target&) {
  bool holds = true;
  std::string note;
  double least = 100;
  for (const std::string& app : every_app()) {
    const KitsunePlan &vertical = plan_of(r, app, kVertical), &mine = plan_of(r, app, kKitsune);
    const bool is_less = mine.coverage_percent < vertical.coverage_percent ||
                         mine.cut_percent < vertical.cut_percent;
    if (is_less) note += (note.empty() ? "" : ", ") + app;
    holds = holds && !is_less;
    least = std::min(least, mine.cut_percent - vertical.cut_percent);
  }
  return {.value = least,
          .holds = holds,
          .note = "by plans; points of the cut above vertical fusion, at least" +
                  (note.empty() ? "" : "; less: " + note)};
}

Measured nerf_vertical(const Results& r, const Target&) {
  const KitsunePlan &vertical = plan_of(r, "nerf", kVertical), &mine = plan_of(r, "nerf", kKitsune);
  size_t most = 0, products_here = 0;
  const auto products = [](const KitsunePlan& plan, const PlannedGroup& group) {
    size_t count = 0;
    for (const PlannedOperator& op : plan.list)
      count += op.is_product && std::find(group.operators.begin(), group.operators.end(),
                                          op.output) != group.operators.end();
    return count;
  };
  for (const PlannedGroup& group : vertical.groups)
    most = std::max(most, products(vertical, group));
  for (const PlannedGroup& group : mine.groups)
    products_here = std::max(products_here, products(mine, group));
  return {.value = static_cast<double>(most),
          .holds = most <= 1 && mine.coverage_percent == 100,
          .note = fmt::format("products in a vertically fused kernel, at most; {} in a pipeline, "
                              "which has {:.0f} % of the operators",
                              products_here, mine.coverage_percent)};
}

Measured threshold(const Results& r, const Target& target) {
  if (r.products_fused.empty()) throw MissingSimulations({"plans of widths"});
  double first = 0;
  std::string note;
  for (const auto& [width, is_fused] : r.products_fused) {
    if (!is_fused && first == 0) first = width;
    note += fmt::format("; {}: {}", width, is_fused ? "fused" : "not");
  }
  const auto at = r.products_fused.find(static_cast<unsigned>(*target.value));
  return {.value = first,
          .holds = at != r.products_fused.end() && !at->second,
          .note =
              "smallest width at which two products share no kernel; two tiles and the weights "
              "must fit (KT-U13), so it is less than what one tile of 192 KB gives" +
              note};
}

Measured context_share(const Results& r, const Target&) {
  return {.value = grouped_percent(r, "llama-context"),
          .note = "of the baseline's time, operators in groups of the plan"};
}

Measured most_of_time(const Results& r, const Target& target) {
  size_t above = 0, most_groups = 0;
  const Gathered all(apps(false), [&](const std::string& app, std::string&) {
    const double percent = grouped_percent(r, app);
    above += percent > *target.value;
    most_groups = std::max(most_groups, plan_of(r, app, kKitsune).groups.size());
    return std::vector<double>{percent};
  });
  const double middle = all.is_empty() ? 0 : mean(all.values);
  return trend_of(all, middle, 2 * above > all.values.size(),
                  fmt::format("mean of the baseline's time in groups of plans; {} of {} above, at "
                              "most {} groups",
                              above, all.values.size(), most_groups));
}

Measured backward_time(const Results& r, const Target&) {
  const Gathered all(apps(true), [&](const std::string& app, std::string&) {
    const KitsuneRun& run = run_of(r, app, kBsp);
    double of[2] = {0, 0};
    for (const PlannedOperator& op : plan_of(r, app, kBsp).list)
      of[op.is_backward] += run.time_of({op.output}).value_or(0);
    return std::vector<double>{of[1] / of[0]};
  });
  return one_of(all, mean, "baseline, mean");
}

Measured less_of_backward(const Results& r, const Target&) {
  bool holds = true;
  double dlrm = 0, least = 1e9;
  const Gathered all(apps(true), [&](const std::string& app, std::string&) {
    const double forward = grouped_percent(r, app, false), backward = grouped_percent(r, app, true);
    holds = holds && backward < forward;
    least = std::min(least, backward - forward);
    if (app == "dlrm-training") dlrm = backward - forward;
    return std::vector<double>{forward, backward};
  });
  return trend_of(all, dlrm, holds && dlrm <= least,
                  "points that DLRM's backward share is above its forward share; shares of the "
                  "baseline's time in groups of the plan, forward and backward");
}

Measured reductions(const Results& r, const Target&) {
  std::vector<double> gained;
  const Gathered all(apps(true), [&](const std::string& app, std::string& partly) {
    std::vector<double> here;
    for (const Speedup& one : group_speedups(r, app, kKitsuneMachine))
      if (one.has_fan_in) here.push_back(one.x);
    partly = plan_of(r, app, kKitsune).not_run();
    return here;
  });
  const double x = all.is_empty() ? 0 : geomean(all.values);
  return trend_of(all, x, x > 1, "geometric mean of pipelines with sums over rows");
}

struct Row {
  const char* id;
  std::set<KitsuneSource> sources;
  Measured (*recipe)(const Results&, const Target&);
};

const std::vector<Row>& recipes() {
  using enum KitsuneSource;
  using R = const Results&;
  using T = const Target&;
  const std::set<KitsuneSource> every_plan{inference_plans, training_plans};
  // clang-format off
  static const std::vector<Row> all{
      {"KT-R01", {inference},                 inference_range},
      {"KT-R02", {training},                  training_range},
      {"KT-R03", {inference},                 [](R r, T) { return cut_range(r, false); }},
      {"KT-R04", {training},                  [](R r, T) { return cut_range(r, true); }},
      {"KT-R05", {inference},                 inference_geomean},
      {"KT-R06", {inference},                 group_range},
      {"KT-R07", {inference},                 group_geomean},
      {"KT-R08", {inference_twice, training_twice}, twice_kitsune},
      {"KT-R09", {inference_twice, training_twice}, twice_baseline},
      {"KT-R10", {queue},                     atomics},
      {"KT-R11", {queue},                     atomics_bound},
      {"KT-R12", {queue},                     [](R r, T) { return Measured{
           .value = peak_gb_s(r) / 1000, .note = "the most of 128 and 256 KiB"}; }},
      {"KT-R13", {queue},                     [](R r, T) { return Measured{
           .value = peak_gb_s(r) / kQueues}; }},
      {"KT-R14", {queue},                     beyond_l2},
      {"KT-R15", {queue},                     sync_small},
      {"KT-R16", {queue},                     sync_large},
      {"KT-R17", {queue},                     queue_trend},
      {"KT-R20", {inference},                 [](R r, T) { return low_range(r, false); }},
      {"KT-R21", {training},                  [](R r, T) { return low_range(r, true); }},
      {"KT-R22", {inference, training, sweep}, low_of_dlrm},
      {"KT-R23", {inference, training},       [](R r, T) {
           return low_of(r, "llama-context", "llama-training"); }},
      {"KT-R24", {inference_vertical},        vertical_low},
      {"KT-R25", {inference},                 [](R r, T) {
           return both_modes(r, false, &KitsuneRun::both_low, false); }},
      {"KT-R26", {training},                  [](R r, T) {
           return both_modes(r, true, &KitsuneRun::both_low, false); }},
      {"KT-R27", {training},                  [](R r, T) {
           return both_modes(r, true, &KitsuneRun::only_dram_low, true); }},
      {"KT-R30", every_plan,                  coverage},
      {"KT-R31", {inference},                 table_row},
      {"KT-R32", {inference},                 table_row},
      {"KT-R33", {inference},                 table_row},
      {"KT-R34", {inference},                 table_row},
      {"KT-R35", {inference},                 table_row},
      {"KT-R36", {inference},                 table_row},
      {"KT-R37", {training},                  table_row},
      {"KT-R38", {training},                  table_row},
      {"KT-R39", {training},                  table_row},
      {"KT-R40", {training},                  table_row},
      {"KT-R41", {training},                  table_row},
      {"KT-R42", every_plan,                  at_least_vertical},
      {"KT-R50", {inference},                 nerf_speedup},
      {"KT-R51", {inference},                 context_groups},
      {"KT-R52", {inference},                 context_share},
      {"KT-R53", {inference},                 most_of_time},
      {"KT-R54", {inference},                 lowest_is_context},
      {"KT-R55", {inference},                 gain_by_size},
      {"KT-R56", {inference_plans},           nerf_vertical},
      {"KT-R60", {training},                  training_range},
      {"KT-R61", {training},                  backward_time},
      {"KT-R62", {training},                  less_of_backward},
      {"KT-R63", {training},                  reductions},
      {"KT-R70", {inference_vertical},        vertical_geomean},
      {"KT-R71", {inference_vertical},        vertical_best},
      {"KT-R72", {inference_vertical, training_vertical}, vertical_training},
      {"KT-R73", {inference, training, inference_vertical, training_vertical}, above_vertical},
      {"KT-R80", {},                          [](R, T) { return Measured{
           .not_judged = "effort of people; sw/kernels/stages/README.md says what changes"}; }},
      {"KT-R81", {widths},                    threshold},
      {"KT-R82", {},                          [](R, T) { return Measured{
           .not_run = "no counter of a run says which units hold both types; "
                      "grid_scheduler_lockstep_test compares the two policies"}; }},
      {"KT-R83", {},                          [](R, T) { return Measured{
           .not_judged = "of another version of the paper, not to be mixed with this one"}; }},
  };
  // clang-format on
  return all;
}

const Row* row_of(const std::string& id) {
  for (const Row& row : recipes())
    if (row.id == id) return &row;
  return nullptr;
}

}  // namespace

const std::vector<std::string>& kitsune_ids() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> all;
    for (const Row& row : recipes()) all.emplace_back(row.id);
    return all;
  }();
  return ids;
}

std::set<KitsuneSource> kitsune_sources(const std::string& id) {
  const Row* const row = row_of(id);
  return row == nullptr ? std::set<KitsuneSource>{} : row->sources;
}

Measured measure_kitsune(const Target& target, const KitsuneResults& results) {
  const Row* const row = row_of(target.id);
  if (row == nullptr) return {};
  try {
    return row->recipe(results, target);
  } catch (const NotRun& why) {
    return {.not_run = why.what()};
  } catch (const MissingSimulations& missing) {
    return {.needs = missing.what()};
  }
}

}  // namespace stretto
