// SPDX-License-Identifier: Apache-2.0
// Question: how long after the doorbell of high priority does the command processor stop best effort, and does
// this go on where it was? Best effort has many short work-groups, so that the last one that begins tells when
// the scheduler was told, to some nanoseconds; read from the timeline of a run.
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

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
  double last_us = 0, woken_us = 0, header_us = 0;
  Stop candidate{};
  uint32_t last = 0;
  for (const Span& one : spans) {
    if (const auto id = best_effort_group(one)) {
      // Behind a pause, and the next one of the same kernel: work-groups begin in the order of ids.
      if (one.begin_us - last_us > 5 && *id == last + 1) stops.push_back(candidate);
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
