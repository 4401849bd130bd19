// SPDX-License-Identifier: Apache-2.0
// Question: how long after the doorbell of high priority does the command processor stop best effort, and does
// this go on where it was? Best effort has many short work-groups, so that the last one that begins tells when
// the scheduler was told, to some nanoseconds; read from the timeline of a run.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

struct Span {
  double begin_us, end_us;
  std::string track, name;
};

std::vector<Span> spans_of(const std::string& folder) {
  std::ifstream stream(folder + "/timeline.json");
  std::stringstream text;
  text << stream.rdbuf();
  const boost::json::value root = boost::json::parse(text.str());
  const auto& events = root.is_array() ? root.as_array() : root.at("traceEvents").as_array();
  std::map<std::pair<int64_t, int64_t>, std::string> tracks;
  std::vector<Span> spans;
  const auto track_of = [](const boost::json::value& one) {
    return std::pair(one.at("pid").to_number<int64_t>(), one.at("tid").to_number<int64_t>());
  };
  for (const auto& one : events)
    if (one.at("ph").as_string() == "M" && one.at("name").as_string() == "thread_name")
      tracks[track_of(one)] = one.at("args").at("name").as_string().c_str();
  for (const auto& one : events) {
    if (one.at("ph").as_string() != "X") continue;
    const double begin = one.at("ts").to_number<double>();
    spans.push_back({begin, begin + one.at("dur").to_number<double>(), tracks[track_of(one)],
                     one.at("name").as_string().c_str()});
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin_us < b.begin_us; });
  return spans;
}

// A stop: the last work-group before it, and the first one behind it.
struct Stop {
  double at_us, woken_us, header_us;  // Before it: hart 0 woke, the packet's header came.
};

constexpr uint32_t kHighGroups = 8;

std::optional<uint32_t> best_effort_group(const Span& span) {
  const size_t at = span.name.find(" wg ");
  if (at == std::string::npos || span.track.rfind("cu", 0) != 0) return std::nullopt;
  const auto id = static_cast<uint32_t>(std::stoul(span.name.substr(at + 4)));
  return id < kHighGroups ? std::nullopt : std::optional(id);
}

std::vector<Stop> stops_of(const std::vector<Span>& spans) {
  std::vector<Stop> stops;
  double last_us = 0, woken_us = 0, header_us = 0, going_since_us = 0;
  Stop candidate{};
  uint32_t last = 0;
  for (const Span& one : spans) {
    if (const auto id = best_effort_group(one)) {
      // Behind a pause, and the next one of the same kernel: work-groups begin in the order of ids.
      // What had gone on just before the packet came has filled the units, and tells nothing.
      const bool is_pause = one.begin_us - last_us > 5;
      const bool tells =
          candidate.header_us > going_since_us || candidate.at_us - going_since_us > 1;
      if (is_pause && *id == last + 1 && tells) stops.push_back(candidate);
      if (is_pause) going_since_us = one.begin_us;
      last = *id;
      last_us = one.begin_us;
      candidate = {last_us, woken_us, header_us};
    } else if (one.track == "cp/hart0") {
      woken_us = one.begin_us;
    } else if (one.track.find(" in") != std::string::npos && one.name == "4 B") {
      header_us = one.end_us;  // The doorbell is next.
    }
  }
  return stops;
}

}  // namespace

TEST_CASE(
    "the command processor stops best effort within a microsecond, whatever it is doing, and it "
    "goes "
    "on behind that",
    "[TL-SCHED-03]") {
  const Scratch scratch;
  const std::string high = scratch.file("high.yaml",
                                        "tenants:\n  kernels: |\n    count:8x20\nmodes: [ideal]\n"),
                    best = scratch.file(
                        "best.yaml", "tenants:\n  kernels: |\n    count:1500x4\nmodes: [ideal]\n");
  const Finished finished = run_stretto(
      "run tally/small --mode tally-firmware --impl all=model --timeline --set tenants.high=" +
      high + " --set tenants.best_effort=" + best +
      " --set tenants.requests=80 --set tenants.interval_ns=43111 --out " + scratch.path + "/r");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  unsigned asleep = 0, awake = 0;
  double worst_us = 0;
  for (const Stop& stop : stops_of(spans_of(scratch.path + "/r"))) {
    INFO("stopped at " << stop.at_us << " us, hart 0 woken at " << stop.woken_us
                       << " us, header of the packet at " << stop.header_us << " us");
    CHECK(stop.at_us - stop.header_us <= 1);
    worst_us = std::max(worst_us, stop.at_us - stop.header_us);
    ++(stop.header_us > stop.woken_us ? awake : asleep);
  }
  WARN(asleep << " stops with hart 0 asleep, " << awake << " in the middle of something; "
              << worst_us << " us at most");
  CHECK(asleep > 0);
  CHECK(awake > 0);
}

namespace {

// From the begin of a request of the first client to its first work-group, of all requests, ascending.
std::vector<double> starts_of(const std::vector<Span>& spans, const std::string& folder,
                              bool has_others) {
  std::vector<double> begins, starts;
  for (const Span& span : spans)
    if (span.name.find("count wg ") != std::string::npos &&
        (!has_others || span.name.rfind("client0 ", 0) == 0))
      begins.push_back(span.begin_us);
  std::ifstream file(folder + "/requests.csv");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    unsigned client = 0, request = 0;
    double arrival_ns = 0, begin_ns = 0;
    REQUIRE(std::sscanf(line.c_str(), "0,%u,%u,%lf,%lf", &client, &request, &arrival_ns,
                        &begin_ns) == 4);
    const auto first = std::lower_bound(begins.begin(), begins.end(), begin_ns / 1000);
    if (client == 0 && first != begins.end()) starts.push_back(*first - begin_ns / 1000);
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

// From the doorbell to the first work-group of that kernel, of all that are launched alone, ascending.
std::vector<double> behind_doorbells(const std::vector<Span>& spans) {
  std::vector<double> delays;
  double rung_us = 0;
  for (const Span& span : spans) {
    if (span.track.find(" in") != std::string::npos && span.name == "4 B") rung_us = span.end_us;
    if (span.name.find("count wg ") == std::string::npos || rung_us == 0) continue;
    delays.push_back(span.begin_us - rung_us);
    rung_us = 0;
  }
  std::sort(delays.begin(), delays.end());
  return delays;
}

}  // namespace

// A packet takes hart 0 some 1.7 us; its first steps give way to a doorbell of higher priority, and
// what the driver is told behind it waits, too.
TEST_CASE(
    "with thirteen other queues full, high priority starts 2.5 us behind its doorbell at most") {
  const Scratch scratch;
  const std::string high =
      scratch.file("high.yaml", "tenants:\n  kernels: count:8x10\nmodes: [ideal]\n");
  scratch.file("low.yaml", "tenants:\n  kernels: 200 count:1x200\nmodes: [ideal]\n");
  std::string others = "low.yaml";
  for (unsigned i = 1; i < 13; ++i) others += ", low.yaml";
  const std::string shared =
      scratch.file("shared.yaml", "tenants:\n  high: high.yaml\n  best_effort: " + others +
                                      "\n  lead: 1\nmodes: [mps-priority]\n");
  const auto run = [&](const std::string& workload, const std::string& mode) {
    const std::string folder = scratch.path + "/" + mode;
    const Finished finished = run_stretto(
        "run " + workload + " --mode " + mode +
        " --machine a100-nvswitch --set gpus=1 --set gpu.cus=16 --impl all=model --timeline --set "
        "tenants.requests=40 --set tenants.arrivals=poisson --set tenants.interval_ns=60000 "
        "--out " +
        folder);
    INFO(finished.output);
    REQUIRE(finished.status == 0);
    return spans_of(folder);
  };
  const std::vector<Span> spans = run(high, "ideal");
  const std::vector<double> alone = starts_of(spans, scratch.path + "/ideal", false),
                            rung = behind_doorbells(spans),
                            beside = starts_of(run(shared, "mps-priority"),
                                               scratch.path + "/mps-priority", true);
  REQUIRE(alone.size() == 40);
  REQUIRE(rung.size() == 40);
  REQUIRE(beside.size() == 40);
  // What the host does before it rings takes the same time in each request, or longer beside others.
  const double before_us = alone.front() - rung.front();
  WARN("alone " << rung[20] << " us behind the doorbell, beside others " << beside[20] - before_us
                << ", at most " << beside.back() - before_us);
  CHECK(rung.back() <= 1.8);
  CHECK(beside.back() - before_us <= 2.5);
}
