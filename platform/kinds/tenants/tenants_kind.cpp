// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tenants/tenants_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <charconv>
#include <cmath>
#include <sstream>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "platform/base/installation.h"
#include "platform/jobs/contents.h"
#include "platform/jobs/operands.h"
#include "platform/jobs/server_report.h"
#include "platform/jobs/workload.h"
#include "platform/kinds/tenants/tenant_modes.h"
#include "platform/kinds/tenants/tenant_plan.h"
#include "platform/kinds/tenants/tenants_job.h"

namespace stretto {

namespace {

// Uniform in (0, 1], number `index`.
double uniform(uint64_t seed, uint64_t index) {
  return (static_cast<double>(content_word(seed, 0x7E4A, index) >> 11) + 1) * 0x1p-53;
}

constexpr double kBeyond = 1e19;                     // ns; what does not fit 64 bits.
constexpr uint64_t kLongestSpanUs = 10'000'000'000;  // The machine's clock ends at 18,446 s.

// A line of a file as one can read it.
std::string shown(std::string line) {
  constexpr size_t kMost = 40;
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
  return line.size() <= kMost ? line : line.substr(0, kMost) + "...";
}

std::vector<uint64_t> read_trace(const std::string& file) {
  std::istringstream lines(read_file(file));
  std::vector<uint64_t> times;
  std::string line;
  for (uint32_t number = 1; std::getline(lines, line); ++number) {
    boost::trim(line);
    if (line.empty() || line[0] == '#') continue;
    uint64_t us = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), us);
    if (error != std::errc() || end != line.data() + line.size() || us > kLongestSpanUs)
      throw UserError(fmt::format("{}:{}: '{}' is no time in whole microseconds, 0 to {}", file,
                                  number, shown(line), kLongestSpanUs));
    if (!times.empty() && us * 1000 < times.back())
      throw UserError(
          fmt::format("{}:{}: {} us is before the line above: arrivals ascend", file, number, us));
    times.push_back(us * 1000);
  }
  if (times.empty()) throw UserError(file + ": has no arrival");
  return times;
}

// On and off: bursts of geometric length, requests in equal distances, exponential pauses; the mean
// interval is that of the kind.
std::vector<uint64_t> bursts(const TenantsKind& kind, uint64_t seed) {
  std::vector<uint64_t> times;
  const auto inside = static_cast<double>(kind.burst_interval_ns);
  const double pause =
      (static_cast<double>(kind.interval_ns) - inside) * kind.burst_requests + inside;
  double at = 0;
  for (uint64_t i = 0; times.size() < kind.requests; i += 2) {
    times.push_back(static_cast<uint64_t>(std::min(at, kBeyond)));
    const bool ends = uniform(seed, i) * kind.burst_requests <= 1;
    at += ends ? -std::log(uniform(seed, i + 1)) * pause : inside;
  }
  return times;
}

// Percent of the mean rate, of equal parts of time. Throws UserError.
std::vector<uint64_t> levels_of(const TenantsKind& kind) {
  std::vector<uint64_t> levels;
  std::vector<std::string> parts;
  if (!kind.load_profile.empty()) boost::split(parts, kind.load_profile, boost::is_any_of(","));
  for (std::string& part : parts) {
    boost::trim(part);
    uint64_t level = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), level);
    if (error != std::errc() || end != part.data() + part.size() || level == 0 || level > 10000)
      throw UserError(
          fmt::format("tenants.load_profile: '{}' is no percentage, 1 to 10000", shown(part)));
    levels.push_back(level);
  }
  return levels;
}

// Arrivals of a level load, as they come when load goes up and down: what would have come in a share of the time comes
// when as large a share of the load has been.
std::vector<uint64_t> shaped(const TenantsKind& kind, std::vector<uint64_t> times) {
  const std::vector<uint64_t> levels = levels_of(kind);
  if (levels.empty()) return times;
  double sum = 0;
  for (const uint64_t level : levels) sum += static_cast<double>(level);
  const auto span = static_cast<double>(kind.time_ns);
  for (uint64_t& time : times) {
    double left = static_cast<double>(time) / span * sum;
    double part = 0;
    for (const uint64_t level : levels) {
      const double here = std::min(left, static_cast<double>(level));
      part += here / static_cast<double>(level);
      left -= here;
      if (left <= 0) break;
    }
    // Behind the span all is level again.
    time =
        static_cast<uint64_t>(part / static_cast<double>(levels.size()) * span + left / sum * span);
  }
  return times;
}

std::vector<uint64_t> within_span(const TenantsKind& kind, std::vector<uint64_t> times) {
  if (!times.empty() && times.back() / 1000 > kLongestSpanUs)
    throw UserError(fmt::format("tenants.interval_ns={}: {} arrivals take {:.0f} s; allowed are {}",
                                kind.interval_ns, times.size(),
                                static_cast<double>(times.back()) / 1e9, kLongestSpanUs / 1000000));
  return times;
}

std::vector<std::string> names_of(const std::string& list) {
  std::vector<std::string> names;
  boost::split(names, list, boost::is_any_of(","));
  for (std::string& name : names) boost::trim(name);
  if (list.empty()) names.clear();
  return names;
}

}  // namespace

std::vector<uint64_t> poisson_arrivals(uint64_t interval_ns, uint32_t count, uint64_t seed) {
  std::vector<uint64_t> times;
  double at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    at -= std::log(uniform(seed, i)) * static_cast<double>(interval_ns);
    times.push_back(static_cast<uint64_t>(std::min(at, kBeyond)));
  }
  return times;
}

std::vector<uint64_t> arrivals_of(const TenantsKind& kind, uint64_t seed) {
  switch (kind.arrivals) {
    case Arrivals::back_to_back: return {};
    case Arrivals::bursts: return within_span(kind, shaped(kind, bursts(kind, seed)));
    case Arrivals::trace: {
      std::vector<uint64_t> times = read_trace(kind.trace);
      if (times.size() < kind.requests)
        throw UserError(fmt::format("{}: has {} arrivals, tenants.requests is {}", kind.trace,
                                    times.size(), kind.requests));
      times.resize(kind.requests);
      return times;
    }
    case Arrivals::poisson: break;
  }
  return within_span(kind, shaped(kind, poisson_arrivals(kind.interval_ns, kind.requests, seed)));
}

TenantsKind::TenantsKind() : policy(default_policy()), rate(rate_policy_defaults()) {}

void TenantsKind::resolve(const std::string& workload) {
  for (std::string* name : {&high, &trace}) *name = stretto::beside(workload, *name);
  std::vector<std::string> names = names_of(best_effort);
  for (std::string& name : names) name = stretto::beside(workload, name);
  best_effort = fmt::format("{}", fmt::join(names, ","));
}

void TenantsKind::describe(ParameterSet& set) {
  set.text("kernels", kernels,
           "Kernels of a request, one behind the other: a line each, [TIMES] OPERATOR [host_ns=N]; "
           "operators as in roofline.operators, and count:WORK_GROUPSxROUNDS; # begins a comment. "
           "host_ns: what the client computes before each launch.");
  set.number("least_times", least_times, 1, 1'000'000,
             "A line of kernels counts so often at least: for tenants.profiles, which need many "
             "launches of each.");
  set.number("most_times", most_times, 0, 1'000'000,
             "A line of kernels counts so often at most, in each request; 0 = as it says. For "
             "stretto characterise, which needs few launches of each.");
  set.text("high", high, "Workload with the kernels of the high-priority client.");
  set.text("best_effort", best_effort,
           "Workloads with the kernels of best-effort clients, with commas between; one may come "
           "again.");
  set.number("requests", requests, 1, 1'000'000,
             "Of the first client, at most; the others end with it.");
  set.number(
      "time_ns", time_ns, 0, 1'000'000'000'000,
      "So long after its begin the first client begins no further request; 0 = no matter when.");
  set.number("least_requests", least_requests, 1, 1'000'000,
             "Of the first client, whatever tenants.time_ns says.");
  set.number("host_ns", host_ns, 0, 1'000'000'000,
             "What the first client computes before each launch, on top of its lines' host_ns: how "
             "far it is bound by the GPU.");
  set.number("lead", lead, 0, 1'000'000,
             "Requests that each best-effort client ends before the first client begins: time to "
             "measure its kernels (TL-U14).");
  set.choice("arrivals", arrivals,
             {{"back_to_back", Arrivals::back_to_back},
              {"poisson", Arrivals::poisson},
              {"bursts", Arrivals::bursts},
              {"trace", Arrivals::trace}},
             "Of the first client's requests; a request begins when it has arrived and the one "
             "before it has ended.");
  set.number("interval_ns", interval_ns, 0, 1'000'000'000'000,
             "Mean time between arrivals, poisson and bursts.");
  set.number("burst_requests", burst_requests, 1, 1'000'000, "Mean requests of a burst.");
  set.number("burst_interval_ns", burst_interval_ns, 0, 1'000'000'000'000,
             "Between arrivals of a burst.");
  set.text("trace", trace, "File of arrivals: whole microseconds, ascending, a line each.");
  set.text(
      "load_profile", load_profile,
      "Of poisson and bursts, how load goes up and down: percent of the mean rate in equal parts "
      "of time_ns, with commas between; empty = level.");
  set.number(
      "windows", windows, 0, 1000,
      "Equal parts of time_ns, or of the first client's time, of which service times and the "
      "share of best effort are given, too (job.windows).");
  set.number("best_effort_interval_ns", best_effort_interval_ns, 0, 1'000'000'000'000,
             "Mean time between arrivals of requests of each best-effort client, poisson; 0 = back "
             "to back.");
  set.text("alone", alone,
           "Result folder of the same clients in mode ideal: throughput and p99 are given beside "
           "theirs alone, too.");
  set.text("profiles", profiles,
           "Modes tally and tally-stock-isa: result folder of the same mode on the same machine; "
           "kernels "
           "of which its profiler has measured all are not measured again.");
  set.number("launch_latency_ns", launch_latency_ns, 0, 1'000'000'000,
             "Law: so long after high priority has become active a best-effort kernel that was on "
             "its way may begin, and none later.");
  set.choice(
      "order", order, {{"in_turn", Order::in_turn}, {"launch", Order::launch}},
      "Modes without a server: kernels of one priority have their work-groups placed in turn, "
      "or all of the one that was launched first (TL-U08).");
  set.choice("priority", priority,
             {{"strict", Passing::strict}, {"work_conserving", Passing::work_conserving}},
             "Modes with stream priorities: where work-groups of high priority find no room, lower "
             "ones that do wait, as on published hardware, or are placed.");
  set.number("slice_ns", slice_ns, 1'000, 1'000'000'000'000,
             "Mode time-slicing: so long a client has the GPU while others want it, too; 2 ms is "
             "what the authors' run of it suggests (TL-U07).");
  describe_policy(policy, set);
  set.number("tgs_period_ns", rate.period_ns, 1'000, 1'000'000'000'000,
             "Mode tgs: work-groups of high priority are counted over so long; 5 s as published.");
  set.number("tgs_windows", rate.windows, 1, 1'000'000,
             "Of a period, in each of which best effort has its limit; 100 as published.");
  set.number("tgs_profile_periods", rate.profile_periods, 1, 1'000'000,
             "In which best effort waits at first; 5 as published.");
  set.number("tgs_tolerance", rate.tolerance, 1, 333,
             "Per mille by which the count may differ from its best; 30 as published.");
  set.number("tgs_initial_per_ms", rate.initial_per_ms, 1, 1'000'000'000,
             "First limit, work-groups a millisecond; 20,000 in 50 ms as published.");
  set.number("tgs_least_step_per_ms", rate.least_step_per_ms, 1, 1'000'000'000,
             "Least step of the limit, likewise; 1,000 in 50 ms as published.");
}

std::string TenantsKind::first_error() const {
  const bool has_lists = !high.empty() || !best_effort.empty();
  if (kernels.empty() && !has_lists) return "needs kernels, or high and best_effort";
  if (!kernels.empty() && has_lists) return "needs kernels, or high and best_effort, not both";
  if (kernels.empty() && high.empty()) return "needs high";
  const bool has_interval = arrivals == Arrivals::poisson || arrivals == Arrivals::bursts;
  if (has_interval && interval_ns == 0) return "needs interval_ns";
  if (arrivals == Arrivals::bursts && burst_interval_ns >= interval_ns)
    return "needs burst_interval_ns below interval_ns";
  if (arrivals == Arrivals::trace && trace.empty()) return "needs trace";
  if (!load_profile.empty() && (!has_interval || time_ns == 0))
    return "needs poisson or bursts and time_ns for load_profile";
  const std::vector<std::string> others = names_of(best_effort);
  if (std::find(others.begin(), others.end(), "") != others.end())
    return "needs a name between the commas of best_effort";
  if (others.size() + 1 > TALLY_CLIENTS)
    return fmt::format("needs at most {} clients", TALLY_CLIENTS);
  if (const char* const wrong_rate = rate_policy_error(&rate); wrong_rate != nullptr)
    return fmt::format("has no rate of tgs: {}", wrong_rate);
  const char* const wrong = tally_policy_error(&policy);
  return wrong == nullptr ? "" : fmt::format("has no policy: {}", wrong);
}

const KindInfo& TenantsKind::info() const {
  static const KindInfo info{
      .name = "tenants",
      .sentence = "Clients that share one GPU, one of them of high priority (Tally).",
      .accounts = 3,
      .modes = {{"ideal", "each client alone, one after the other"},
                {"time-slicing", "each client has the GPU in turn, whatever its priority"},
                {"mps", "all kernels when they come, work-groups in turn"},
                {"mps-priority",
                 "work-groups of high priority first, others when all of them are placed"},
                {"tgs", "a priority, and best effort at a rate that high priority does not feel"},
                {"no-scheduling", "Tally's server passes all kernels on"},
                {"no-transformation", "Tally's server holds best effort back, kernel by kernel"},
                {"tally", "best effort sliced or preemptive"},
                {"tally-stock-isa", "preemptive forms without tile.vote and tile.release"},
                {"tally-unmodified",
                 "the server has the command processor stop unmodified kernels, by packets"},
                {"tally-firmware", "the command processor schedules by itself, without a server"}}};
  return info;
}

std::map<std::string, uint64_t> TenantsKind::shape() const {
  return {{"clients", kernels.empty() ? names_of(best_effort).size() + 1 : 1},
          {"requests", requests}};
}

namespace {

// Name and text of each client's kernels, the first one first.
std::vector<TenantText> texts_of(const TenantsKind& kind, const JobRequest& request) {
  if (!kind.kernels.empty()) return {{request.workload, kind.kernels, "tenants.kernels"}};
  std::vector<TenantText> texts;
  std::vector<std::string> names = names_of(kind.best_effort);
  names.insert(names.begin(), kind.high);
  for (const std::string& name : names) {
    const char* const parameter = texts.empty() ? "tenants.high" : "tenants.best_effort";
    const Workload workload = [&] {
      try {
        return load_workload(name);
      } catch (const UserError& error) {
        throw UserError(fmt::format("{}: {}", parameter, error.what()));
      }
    }();
    const auto* const of_client = dynamic_cast<const TenantsKind*>(workload.kind.get());
    if (of_client == nullptr || of_client->kernels.empty())
      throw UserError(
          fmt::format("{}: {} is no workload of kind tenants with kernels", parameter, name));
    texts.push_back({name, of_client->kernels, workload.file + ": tenants.kernels"});
  }
  return texts;
}

}  // namespace

void TenantsKind::check(const JobRequest& request) const {
  const std::vector<TenantText> texts = texts_of(*this, request);
  arrivals_of(*this, request.seed);
  check_tenants(*this, request, texts);
}

uint32_t TenantsKind::accounts(const std::string& mode) const { return accounts_of_tenants(mode); }

std::vector<std::string> TenantsKind::claims(const JobRequest& request) const {
  const bool schedules = request.mode == "time-slicing" || request.mode == "tally-unmodified" ||
                         request.mode == "tally-firmware" ||
                         sets_policy(*this, tenant_mode(request.mode));
  return schedules ? std::vector<std::string>{kSchedule} : std::vector<std::string>{};
}

std::vector<std::string> TenantsKind::kernel_files(const JobRequest& request) const {
  return files_of_tenants(*this, request, texts_of(*this, request));
}

std::unique_ptr<Job> TenantsKind::make_job(const JobRequest& request, Memories memories) const {
  return make_tenants_job(*this, request, texts_of(*this, request), std::move(memories));
}

}  // namespace stretto
