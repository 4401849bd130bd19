// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/server_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "platform/base/percentile.h"
#include "platform/jobs/operands.h"

namespace stretto {

namespace json = boost::json;

namespace {

constexpr std::array kForms{"original", "slice", "preempt"};  // By STRETTO_FORM_*.

const char* form_name(uint32_t form) { return kForms.at(form); }

// How long the kernel has taken to leave the GPU, each time that it was told to.
json::array drains_of(const ServerLog& log, uint32_t client, const std::string& kernel) {
  json::array all;
  uint64_t stopped_ns = 0;
  for (const ServerRecord& one : log) {
    if (one.told.client != client || one.kernel != kernel) continue;
    if (one.told.kind == TALLY_STOPPED) stopped_ns = one.told.time_ns;
    if (one.told.kind != TALLY_ENDED || stopped_ns == 0) continue;
    all.push_back(one.told.time_ns - stopped_ns);
    stopped_ns = 0;
  }
  return all;
}

json::array chosen(const ServerLog& log) {
  json::array all;
  for (const ServerRecord& one : log) {
    const tally_record_t& r = one.told;
    if (r.kind != TALLY_CHOSEN) continue;
    all.push_back(json::object{{"client", r.client},
                               {"kernel", one.kernel},
                               {"work_groups", r.work_groups},
                               {"form", form_name(r.form)},
                               {"groups", r.groups},
                               {"original_ns", r.original_ns},
                               {"duration_ns", r.duration_ns},
                               {"turnaround_ns", r.turnaround_ns},
                               {"drain_ns", drains_of(log, r.client, one.kernel)}});
  }
  return all;
}

json::array measured(const ServerLog& log) {
  json::array all;
  for (const ServerRecord& one : log)
    if (one.told.kind == TALLY_MEASURED)
      all.push_back(json::object{{"key", fmt::format("{:016x}", one.told.key)},
                                 {"kernel", one.kernel},
                                 {"form", form_name(one.told.form)},
                                 {"groups", one.told.groups},
                                 {"duration_ns", one.told.duration_ns}});
  return all;
}

// Refused by the transformer and launched all the same, in no other form than its own.
std::vector<const ServerRecord*> refused_and_launched(const ServerLog& log) {
  std::map<std::pair<uint32_t, std::string>, bool> as_it_is;
  for (const ServerRecord& one : log)
    if (one.told.kind == TALLY_LAUNCHED) {
      bool& is = as_it_is.try_emplace({one.told.client, one.kernel}, true).first->second;
      is = is && one.told.form == STRETTO_FORM_ORIGINAL;
    }
  std::vector<const ServerRecord*> found;
  for (const ServerRecord& one : log) {
    if (one.told.kind != TALLY_REFUSED) continue;
    const auto launched = as_it_is.find({one.told.client, one.kernel});
    if (launched != as_it_is.end() && launched->second) found.push_back(&one);
  }
  return found;
}

// Each kernel once, and why.
std::set<std::pair<std::string, std::string>> untransformed(const ServerLog& log) {
  std::set<std::pair<std::string, std::string>> all;
  for (const ServerRecord* one : refused_and_launched(log)) all.emplace(one->kernel, one->text);
  return all;
}

// Kernels of which no measured form leaves the GPU within the threshold: a line each. The fallback was not
// measured: no turnaround of it is known.
std::vector<std::string> too_slow_to_stop(const tally_policy_t& policy, const ServerLog& log,
                                          size_t most) {
  const auto us = [](uint64_t ns) { return static_cast<double>(ns) / 1000; };
  std::vector<std::string> lines;
  size_t others = 0;
  for (const ServerRecord& one : log) {
    const tally_record_t& told = one.told;
    if (told.kind != TALLY_CHOSEN) continue;
    const bool is_fallback = told.turnaround_ns == 0;
    if (!is_fallback && told.turnaround_ns <= policy.turnaround_threshold_ns) continue;
    if (lines.size() == most) {
      ++others;
      continue;
    }
    const std::string how = is_fallback ? fmt::format("runs {} at a time", told.groups)
                                        : fmt::format("takes {:.1f} us", us(told.turnaround_ns));
    lines.push_back(fmt::format(
        "  {} of {} work-groups: no measured form leaves within {:.1f} us; {} ({})\n", one.kernel,
        told.work_groups, us(policy.turnaround_threshold_ns), how, form_name(told.form)));
  }
  if (others != 0)
    lines.push_back(fmt::format("  {} more are as slow to stop: chosen in stats.json\n", others));
  return lines;
}

}  // namespace

uint32_t form_of(const std::string& name) {
  return static_cast<uint32_t>(std::find(kForms.begin(), kForms.end(), name) - kForms.begin());
}

tally_policy_t default_policy() {
  tally_policy_t policy = tally_policy_defaults();
  policy.profile_iterations = 1;
  policy.profile_warm_up_iterations = 1;
  return policy;
}

void describe_policy(tally_policy_t& policy, ParameterSet& set) {
  set.number("turnaround_threshold_ns", policy.turnaround_threshold_ns, 1, 1'000'000'000'000,
             "Longest estimated time until best effort leaves the GPU (TL-SCHED-07).");
  set.number("min_idle_before_best_effort_ns", policy.min_idle_before_best_effort_ns, 0,
             1'000'000'000'000, "Best effort starts behind so long a rest (TL-SCHED-09).");
  set.number("idle_before_original_kernels_ns", policy.idle_before_original_kernels_ns, 0,
             1'000'000'000'000, "Behind so long a one kernels run unmodified (TL-SCHED-09).");
  set.number("ptb_max_threads_per_unit", policy.ptb_max_threads_per_unit, 32, 65536,
             "Of preemptive workers; a wavefront is 32 threads (TL-SCHED-10).");
  set.number("min_worker_blocks", policy.min_worker_blocks, 1, 65536,
             "Workers where no configuration is known or qualifies (TL-SCHED-10).");
  set.number("fallback_speed_threshold", policy.fallback_speed_threshold, 0, 1000,
             "Least speed of a configuration, per mille of the original's (TL-SCHED-11).");
  set.number("short_kernel_speed_threshold", policy.short_kernel_speed_threshold, 0, 1000,
             "Likewise of kernels shorter than the threshold (TL-SCHED-11).");
  set.number("preemption_estimate_divisor", policy.preemption_estimate_divisor, 1, 16,
             "Of the time of a task: a worker is met in its middle (TL-PROF-05).");
  set.number("profile_iterations", policy.profile_iterations, 1, 1000,
             "Measured runs of a configuration; 5 as published (TL-PROF-05).");
  set.number("profile_warm_up_iterations", policy.profile_warm_up_iterations, 0, 1000,
             "Runs of the original kernel before; 10 as published (TL-PROF-05).");
  set.choice("objective", policy.objective,
             {{"staged", TALLY_OBJECTIVE_STAGED}, {"fastest", TALLY_OBJECTIVE_FASTEST}},
             "Of the choice: the authors' code (TL-SCHED-11), or the text (TL-U13).");
}

void add_policy(std::map<std::string, std::string>& contents) {
  tally_policy_t policy = default_policy();
  ParameterSet set;
  describe_policy(policy, set);
  for (const Parameter& one : set.all()) contents[one.path] = "";
}

json::object server_details(const tally_server_parameters_t& server,
                            const tally_server_result_t& served, const ServerLog& log,
                            const ServerLaws& laws) {
  const ServerCounts counts = counts_of(log);
  json::array refused;
  for (const ServerRecord* one : refused_and_launched(log))
    refused.push_back(
        json::object{{"client", one->told.client}, {"kernel", one->kernel}, {"reason", one->text}});
  json::object all{{"launches", counts.launches},
                   {"originals", counts.originals},
                   {"preemptions", counts.preemptions},
                   {"relaunches", counts.relaunches},
                   {"slices", counts.slices},
                   {"tasks", counts.tasks},
                   {"refused_launches", served.refused_launches},
                   {"drain_ns", json::array(counts.drain_ns.begin(), counts.drain_ns.end())},
                   {"control_blocks_checked", laws.controls},
                   {"chosen", chosen(log)},
                   {"refused", std::move(refused)}};
  if (server.mode == TALLY_TRANSFORMED) {
    all["measured"] = measured(log);
    const auto names = still_measured(log);
    all["still_measured"] = json::array(names.begin(), names.end());
  }
  return all;
}

std::string server_text(const tally_server_parameters_t& server,
                        const tally_server_result_t& served, const ServerLog& log) {
  const ServerCounts c = counts_of(log);
  std::string text = fmt::format(
      "  best effort: {} kernels, {} as they are ({} refused), {} slices, {} tasks, {} "
      "preemptions, {} relaunches\n",
      c.launches, c.originals, served.refused_launches, c.slices, c.tasks, c.preemptions,
      c.relaunches);
  std::vector<double> drains(c.drain_ns.begin(), c.drain_ns.end());
  std::sort(drains.begin(), drains.end());
  if (!drains.empty())
    text += fmt::format("  draining: p50 {:.3f} us, p99 {:.3f} us, most {:.3f} us\n",
                        percentile(drains, 50) / 1000, percentile(drains, 99) / 1000,
                        drains.back() / 1000);
  if (server.mode == TALLY_TRANSFORMED)
    if (const auto names = still_measured(log); !names.empty())
      text +=
          fmt::format("  still measured, form and size not chosen: {} (more launches settle it)\n",
                      fmt::join(names, ", "));
  constexpr size_t kShown = 8;
  for (const std::string& line : too_slow_to_stop(server.policy, log, kShown)) text += line;
  size_t shown = 0;
  const auto all = untransformed(log);
  for (const auto& [kernel, why] : all) {
    if (shown++ == kShown) {
      text +=
          fmt::format("  {} more run as they are: refused in stats.json\n", all.size() - kShown);
      break;
    }
    text += fmt::format("  {} runs as it is: {}\n", kernel, why);
  }
  return text;
}

ServerLaws laws_of(const tally_server_parameters_t& server, const ServerLog& log,
                   MemoryImage& memory) {
  const auto word_at = [&memory](uint64_t address) {
    uint64_t word = 0;
    memory.read(offset_of(address), reinterpret_cast<uint8_t*>(&word), sizeof word);
    return word;
  };
  return laws_of(log, word_at, server.mode != TALLY_FORWARD);
}

void audit_server(const tally_server_parameters_t& server, const ServerLaws& laws,
                  AuditSink& sink) {
  sink.equal("work-groups that were not launched once", laws.ids, 0);
  sink.equal("kernels that have not ended", laws.unfinished, 0);
  sink.equal("task counters not in tasks .. tasks + workers", laws.counters, 0);
  sink.equal("flags that are up behind a resume", laws.flags, 0);
  sink.equal("high-priority kernels that were not launched as they are", laws.modified, 0);
  if (server.mode == TALLY_FORWARD) return;
  sink.equal("best-effort launches while another one was in flight", laws.overlapping, 0);
  sink.equal("best-effort launches while high priority was active", laws.early, 0);
}

}  // namespace stretto
