// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/kitsune/kitsune_results.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <set>
#include <sstream>

namespace stretto {

namespace json = boost::json;

namespace {

double number(const json::value& value) { return value.to_number<double>(); }
std::string text(const json::value& value) { return value.as_string().c_str(); }

std::vector<std::string> texts(const json::value& list) {
  std::vector<std::string> all;
  for (const json::value& one : list.as_array()) all.push_back(text(one));
  return all;
}

}  // namespace

const std::vector<KitsuneApp>& kitsune_apps() {
  static const std::vector<KitsuneApp> all{
      {"nerf", "nerf:", "KT-R34"},
      {"dlrm", "dlrm:", "KT-R31"},
      {"mgn", "mgn:", "KT-R33"},
      {"graphcast", "graphcast:", "KT-R32"},
      {"llama-context", "llama:", "KT-R35"},
      {"llama-token", "llama:tokens=1,cached=2048", "KT-R36"},
      {"nerf-training", "nerf:", "KT-R40", true},
      {"dlrm-training", "dlrm:", "KT-R37", true},
      {"mgn-training", "mgn:", "KT-R39", true},
      {"graphcast-training", "graphcast:", "KT-R38", true},
      {"llama-training", "llama:", "KT-R41", true},
  };
  return all;
}

size_t KitsunePlan::groups_run() const {
  return static_cast<size_t>(std::count_if(
      groups.begin(), groups.end(), [](const PlannedGroup& one) { return one.not_run.empty(); }));
}

std::string KitsunePlan::not_run() const {
  for (const PlannedGroup& one : groups)
    if (!one.not_run.empty())
      return fmt::format("{} of {} {}; {}: {}", groups_run(), groups.size(),
                         is_vertical ? "groups are fused" : "pipelines have stages", one.name,
                         one.not_run);
  return "";
}

KitsunePlan kitsune_plan(const json::value& plan, const std::string& printed) {
  KitsunePlan made;
  made.is_vertical = text(plan.at("mode")) == kVertical;
  const json::value& summary = plan.at("summary");
  made.operators = number(summary.at("operators"));
  made.grouped = number(summary.at("grouped"));
  made.coverage_percent = number(summary.at("coverage_percent"));
  made.cut_percent = number(summary.at("traffic_cut_percent"));
  for (const json::value& one : plan.at("operators").as_array()) {
    PlannedOperator op;
    op.output = text(one.at("output"));
    op.is_backward = text(one.at("pass")) == "backward";
    op.dram_bytes = number(one.at("dram_bytes"));
    if (const json::value* shape = one.as_object().if_contains("matmul")) {
      op.is_product = true;
      op.flop = 2;
      for (const char* size : {"m", "n", "k", "outer", "inner"}) op.flop *= number(shape->at(size));
    }
    made.list.push_back(std::move(op));
  }
  for (const json::value& step : plan.at("steps").as_array()) {
    if (text(step.at("kind")) == "kernel") continue;
    PlannedGroup group;
    group.name = text(step.at("name"));
    group.operators = texts(step.at("operators"));
    if (const json::value* stages = step.as_object().if_contains("stages"))
      for (const json::value& stage : stages->as_array())
        group.has_fan_in = group.has_fan_in || text(stage.at("role")) == "fan-in";
    const std::string says =
        made.is_vertical
            ? fmt::format("group {} is planned and is no kernel as a whole: ", group.name)
            : fmt::format("pipeline {} is planned and cannot be run: ", group.name);
    std::istringstream lines(printed);
    for (std::string line; std::getline(lines, line);)
      if (line.rfind(says, 0) == 0) group.not_run = line.substr(says.size());
    made.groups.push_back(std::move(group));
  }
  return made;
}

KitsuneRun kitsune_run(const json::value& stats) {
  KitsuneRun run;
  const json::value& job = stats.at("job");
  run.us = number(job.at("iteration_ns").as_array().back()) / 1000;
  for (const char* direction : {"compute_read", "compute_write"})
    run.dram_bytes += number(stats.at("dram_bytes").at(direction));
  for (const json::value& one : job.at("launches").as_array())
    run.outputs.push_back(text(one.at("output")));
  for (const json::value& end : job.at("op_end_us").as_array())
    run.op_end_us.push_back(number(end));
  run.outputs.resize(run.op_end_us.size());  // Updates of weights end behind them.
  const json::value& use = stats.at("utilisation");
  const auto percent = [&](const char* key) { return 100 * number(use.at(key)); };
  run.both_low = percent("both_low");
  run.only_sm_low = percent("only_sm_low");
  run.only_dram_low = percent("only_dram_low");
  run.neither_low = percent("neither_low");
  run.sm = percent("sm");
  run.dram = percent("dram");
  return run;
}

std::optional<double> KitsuneRun::time_of(const std::vector<std::string>& of) const {
  const std::set<std::string> wanted(of.begin(), of.end());
  size_t found = 0;
  double sum = 0, before = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (wanted.count(outputs[i]) != 0) {
      ++found;
      sum += op_end_us[i] - before;
    }
    before = op_end_us[i];
  }
  return found == wanted.size() && found != 0 ? std::optional(sum) : std::nullopt;
}

double roofline_us(const KitsunePlan& plan, double gb_s, double tflop_s) {
  double us = 0;
  for (const PlannedOperator& one : plan.list)
    us += std::max(one.dram_bytes / gb_s / 1e3, one.flop / tflop_s / 1e6);
  return us;
}

std::string plan_name(const std::string& app, const std::string& mode, const std::string& machine) {
  return fmt::format("plans/{}-{}@{}", app, mode, machine);
}
std::string run_folder(const std::string& app, const std::string& mode,
                       const std::string& machine) {
  return fmt::format("apps/{}/{}@{}", app, mode, machine);
}
std::string sweep_name(unsigned rows) { return fmt::format("dlrm-rows{}", rows); }

const KitsunePlan& plan_of(const KitsuneResults& r, const std::string& app,
                           const std::string& mode) {
  const std::string name = plan_name(app, mode, kKitsuneMachine);
  if (const auto found = r.plans.find(name); found != r.plans.end()) return found->second;
  if (const auto why = r.refused.find(name); why != r.refused.end())
    throw NotRun(fmt::format("{}: {}", app, why->second));
  throw MissingSimulations({name});
}

const KitsuneRun& run_of(const KitsuneResults& r, const std::string& app, const std::string& mode,
                         const std::string& machine) {
  const std::string folder = run_folder(app, mode, machine);
  if (mode == kKitsune)
    if (const auto balanced = r.runs.find(run_folder(app, kBalanced, machine));
        balanced != r.runs.end())
      return balanced->second;
  if (const auto found = r.runs.find(folder); found != r.runs.end()) return found->second;
  if (const auto why = r.refused.find(folder); why != r.refused.end())
    throw NotRun(fmt::format("{}: {}", app, why->second));
  throw MissingSimulations({folder});
}

Speedup app_speedup(const KitsuneResults& r, const std::string& app, const std::string& machine,
                    const std::string& mode) {
  const KitsuneRun &bsp = run_of(r, app, kBsp, machine), &mine = run_of(r, app, mode, machine);
  const KitsunePlan& plan = plan_of(r, app, kBsp);
  const KitsunePeaks& peaks = r.peaks.at(machine);
  Speedup one;
  one.name = app;
  one.x = bsp.us / mine.us;
  one.roofline_percent = 100 * roofline_us(plan, peaks.hbm_gb_s, peaks.tensor_tflop_s) / bsp.us;
  one.operators = plan.list.size();
  one.partly = plan_of(r, app, mode).not_run();
  return one;
}

std::vector<Speedup> group_speedups(const KitsuneResults& r, const std::string& app,
                                    const std::string& machine) {
  const KitsuneRun &bsp = run_of(r, app, kBsp, machine), &mine = run_of(r, app, kKitsune, machine);
  std::vector<Speedup> all;
  for (const PlannedGroup& group : plan_of(r, app, kKitsune).groups) {
    if (!group.not_run.empty()) continue;
    const std::optional<double> before = bsp.time_of(group.operators),
                                now = mine.time_of(group.operators);
    if (!before || !now || *now <= 0) continue;
    Speedup one;
    one.name = app + " " + group.name;
    one.x = *before / *now;
    one.operators = group.operators.size();
    one.has_fan_in = group.has_fan_in;
    all.push_back(std::move(one));
  }
  return all;
}

double grouped_percent(const KitsuneResults& r, const std::string& app,
                       std::optional<bool> is_backward) {
  const KitsuneRun& bsp = run_of(r, app, kBsp);
  const KitsunePlan& plan = plan_of(r, app, kKitsune);
  std::set<std::string> inside;
  for (const PlannedGroup& group : plan.groups)
    inside.insert(group.operators.begin(), group.operators.end());
  double grouped = 0, all = 0;
  for (const PlannedOperator& op : plan.list) {
    if (is_backward && op.is_backward != *is_backward) continue;
    const double us = bsp.time_of({op.output}).value_or(0);
    all += us;
    if (inside.count(op.output) != 0) grouped += us;
  }
  return all == 0 ? 0 : 100 * grouped / all;
}

}  // namespace stretto
