// SPDX-License-Identifier: Apache-2.0
// The table of silicon: every value of the file has a row and a rule, every simulation that a rule
// names is there, and verdicts follow from tolerances. Expected values are those of silicon.yaml.
#include <catch2/catch.hpp>

#include <boost/json.hpp>

#include <algorithm>
#include <set>

#include "platform/reproduce/silicon/silicon_targets.h"

namespace stretto {
namespace {

const std::vector<SiliconValue>& values() {
  static const std::vector<SiliconValue> all = silicon_values();
  return all;
}

const SiliconValue& value(const std::string& id, const std::string& key) {
  const auto found = std::find_if(values().begin(), values().end(), [&](const SiliconValue& v) {
    return v.id == id && v.key == key;
  });
  REQUIRE(found != values().end());
  return *found;
}

SiliconRow row(const std::string& id, const std::string& key, const SiliconJobs& jobs) {
  return measure_silicon(value(id, key), jobs);
}

// A latency in clocks, on the machine that a hit on an A100 is measured on.
SiliconJobs hit(double clocks) { return {{"l2-a100", {{"hit_clocks", clocks}}}}; }

TEST_CASE("every value of silicon.yaml has a row with a verdict, and every reason is said") {
  std::set<std::string> ids;
  for (const SiliconValue& one : values()) {
    ids.insert(one.id);
    INFO(one.id << " " << one.key);
    const SiliconRow row = measure_silicon(one, {});
    CHECK_FALSE(row.is_judged());  // There are no simulations.
    if (row.verdict.rfind("not judged: needs ", 0) == 0) continue;
    const std::set<std::string> others{"input", "not modelled", "not run"};
    CHECK(others.count(row.verdict) == 1);
    CHECK_FALSE(row.note.empty());
    CHECK(row.note != "no rule for it");
  }
  CHECK(ids.size() == 96);
  CHECK(values().size() == 385);
}

TEST_CASE("every simulation that a row needs is one of the campaign, and each is needed") {
  std::set<std::string> there, needed;
  for (const CampaignRun& run : silicon_simulations()) there.insert(run.folder);
  CHECK(there.size() == silicon_simulations().size());
  for (const SiliconValue& one : values()) {
    for (const std::string& folder : simulations_of(one)) {
      INFO(one.id << " " << one.key << " needs " << folder);
      CHECK(there.count(folder) == 1);
      CHECK(one.low.has_value());
      needed.insert(folder);
    }
  }
  CHECK(needed == there);
}

TEST_CASE("a measured value within its tolerance is within, one beyond it is outside") {
  // SI-MEM-02: 205.6 clocks, latencies 5 %: 195.32 to 215.88.
  const char* const key = "L2 (250 kB-16.6 MB)";
  CHECK(row("SI-MEM-02", key, hit(195.4)).verdict == "within");
  CHECK(row("SI-MEM-02", key, hit(215.8)).verdict == "within");
  CHECK(row("SI-MEM-02", key, hit(195.2)).verdict == "outside");
  CHECK(row("SI-MEM-02", key, hit(216.0)).verdict == "outside");
  CHECK(row("SI-MEM-02", key, hit(308.4)).ratio() == Approx(1.5));
  CHECK(row("SI-MEM-02", key, hit(308.4)).error_percent() == Approx(50));
}

TEST_CASE("without its simulation, or with one that was cut short, a value is not judged") {
  const char* const key = "L2 (250 kB-16.6 MB)";
  CHECK(row("SI-MEM-02", key, {}).verdict == "not judged: needs l2-a100");
  CHECK(row("SI-MEM-02", key, {{"l2-a100", {}}}).verdict == "not judged: needs all of l2-a100");
  CHECK_FALSE(row("SI-MEM-02", key, {}).measured);
}

TEST_CASE("a range is met inside it and judged from its nearest bound") {
  // SI-MEM-06: 400 to 440 clocks, 5 %.
  const auto latency = [](double clocks) {
    return row("SI-MEM-06", "HBM latency clocks", {{"l2-v100", {{"miss_clocks", clocks}}}});
  };
  CHECK(latency(420).ratio() == 1);
  CHECK(latency(440).verdict == "within");
  CHECK(latency(461).verdict == "within");
  CHECK(latency(463).verdict == "outside");
  CHECK(latency(463).ratio() == Approx(463.0 / 440));
  CHECK(latency(379).verdict == "outside");
}

TEST_CASE("what sets a parameter is shown and not judged") {
  const SiliconRow input =
      row("SI-MEM-01", "L2 (250 kB-5.8 MB)", {{"l2-v100", {{"hit_clocks", 999.0}}}});
  CHECK(input.verdict == "input");
  CHECK(*input.measured == 999);
}

TEST_CASE(
    "sizes of a collective are judged as the file's head says, those of a launch alone are not") {
  // SI-NCCL-01: 60.32 us at 512 KiB, 30 %; 74.78 us at 1 MiB, 25 %; 226 us at 16 MiB, 15 %.
  const boost::json::object sizes = boost::json::parse(R"({"sizes": [
      {"size_bytes": 65536, "out_of_place": {"time_us": 50.0, "busbw_gb_s": 2.0}},
      {"size_bytes": 524288, "out_of_place": {"time_us": 78.0, "busbw_gb_s": 11.0}},
      {"size_bytes": 1048576, "out_of_place": {"time_us": 92.0, "busbw_gb_s": 20.0}},
      {"size_bytes": 16777216, "out_of_place": {"time_us": 270.0, "busbw_gb_s": 109.0}}]})")
                                        .as_object();
  const SiliconJobs jobs{{"one-thread/all_reduce", sizes}, {"all-reduce", sizes}};
  CHECK(row("SI-NCCL-01", "1048576", jobs).verdict == "within");
  CHECK(row("SI-NCCL-01", "16777216", jobs).verdict == "outside");
  CHECK(row("SI-NCCL-01", "524288", jobs).verdict == "within");
  CHECK(row("SI-NCCL-01", "2097152", jobs).verdict ==
        "not judged: needs all of one-thread/all_reduce");
  CHECK(row("SI-NCCL-01", "65536", jobs).verdict == "input");
  CHECK(row("SI-NCCL-01", "65536", jobs).measured == 50.0);
  CHECK(row("SI-NCCL-01", "1024", jobs).verdict == "input");
  CHECK(row("SI-NCCL-01", "1073741824", jobs).verdict == "not run");
}

TEST_CASE("twelve layers of BERT take twelve times the nine kernels of one") {
  // 8 x 128 tokens, hidden 768, 12 heads; adding and layer norm come twice.
  boost::json::array kernels;
  double us = 1;
  for (const auto& [name, shape] :
       {std::pair("gemm", "1024x2304x768:bias"), std::pair("attention", "96x128x128x64"),
        std::pair("gemm", "1024x768x768:bias"), std::pair("gemm", "1024x3072x768:bias:gelu"),
        std::pair("gemm", "1024x768x3072:bias"), std::pair("add", "786432"),
        std::pair("layer_norm", "1024x768")}) {
    kernels.push_back({{"operator", name}, {"shape", shape}, {"turn_us", us}});
    us *= 2;
  }
  const SiliconRow layer = row("SI-OP-01", "b8 s128", {{"bert-a100", {{"operators", kernels}}}});
  CHECK(*layer.measured == Approx(12 * (31 + 2 * 32 + 2 * 64) / 1000.0));
  CHECK(layer.tolerance_percent == 30);
}

TEST_CASE("errors are those of judged values, by area, with median and 90 percent") {
  // SI-MEM-02 at 205.6, SI-MEM-05 at 210, SI-ATOM-06 at 146 ns.
  SiliconJobs jobs = hit(226.16);  // 10 % and 7.695 %.
  jobs["l2-a100"]["hit_ns"] = 146.0;
  std::vector<SiliconRow> rows;
  for (const SiliconValue& one : values()) rows.push_back(measure_silicon(one, jobs));
  const SiliconErrors memory = errors_of(rows, "memory"), all = errors_of(rows);
  CHECK(memory.judged == 2);
  CHECK(memory.within == 0);
  CHECK(memory.median_percent == Approx((10 + 7.6952) / 2).epsilon(0.001));
  CHECK(all.judged == 3);
  CHECK(all.within == 1);
  CHECK(all.median_percent == Approx(7.6952).epsilon(0.001));
  CHECK(all.ninety_percent == Approx(7.6952 + 0.8 * (10 - 7.6952)).epsilon(0.001));
  CHECK(errors_of(rows, "gemm").judged == 0);
}

}  // namespace
}  // namespace stretto
