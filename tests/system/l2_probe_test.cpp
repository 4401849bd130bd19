// SPDX-License-Identifier: Apache-2.0
// Question: does the L2 of shipped machines move equal bytes equally fast in pieces of any size, at
// the rate of its banks, and does a load that hits or misses take as long as on silicon
// (silicon.yaml)? Through the executable.
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

boost::json::object probe(const std::string& machine, const std::string& set) {
  const Scratch scratch;
  const Finished finished = run_stretto("run machine/l2 --impl all=model --machine " + machine +
                                        " --set gpus=1" + set + " --out " + scratch.path + "/r");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  const auto root = stats(scratch.path + "/r");
  CHECK(root.at("check").at("mismatches").to_number<uint64_t>() == 0);
  CHECK(root.at("audit").at("violations").to_number<uint64_t>() == 0);
  return root.at("job").as_object();
}

double number(const boost::json::object& object, const char* key) {
  return object.at(key).to_number<double>();
}

}  // namespace

TEST_CASE("equal bytes in any pieces, read, written and mixed, move at the rate of the banks") {
  const auto job = probe("t3", " --set l2_probe.loads=8 --set l2_probe.hit_bytes=4096");
  CHECK(number(job, "peak_gb_s") == Approx(64 * 32 * 1.4));
  double least = 1, most = 0;
  for (const auto& line : job.at("lines").as_array()) {
    const double share = number(line.as_object(), "share_of_peak");
    INFO(boost::json::serialize(line));
    CHECK(share <= 1);
    CHECK(share >= 0.85);
    least = std::min(least, share);
    most = std::max(most, share);
  }
  CHECK(job.at("lines").as_array().size() == 18);
  CHECK(most <= 1.1 * least);
}

// One load at a time. SI-MEM-01: 212.1 clocks of a hit, HBM 308 to 314 ns; SI-MEM-02: 205.6 clocks,
// HBM 514 to 552 clocks, 531 with 80 MB. The inputs of the machines come from there.
TEST_CASE("an idle hit and an idle miss take what they take on a V100 and on an A100") {
  const std::string few =
      " --set l2_probe.min_piece_bytes=8192 --set l2_probe.unit_bytes=131072 "
      "--set l2_probe.hit_bytes=65536 --set l2_probe.loads=512";
  const auto v100 = probe("v100-pcie", few);
  CHECK(number(v100, "hit_clocks") == Approx(212.1).epsilon(0.05));
  CHECK(number(v100, "miss_ns") == Approx(311).epsilon(0.05));
  const auto a100 = probe("a100-nvswitch", few);
  CHECK(number(a100, "hit_clocks") == Approx(205.6).epsilon(0.05));
  CHECK(number(a100, "miss_clocks") == Approx(531).epsilon(0.05));
  CHECK(number(a100, "atomics_per_us") > 0);
}

TEST_CASE("what a probe that was cut short has not measured is absent") {
  const Scratch scratch;
  const Finished finished = run_stretto(
      "run machine/l2 --impl all=model --set gpus=1 --set l2_probe.unit_bytes=67108864 "
      "--time-limit 1 --out " +
      scratch.path);
  INFO(finished.output);
  REQUIRE(finished.status == 124);
  CHECK(finished.says("         hit           -           -"));
  const auto root = stats(scratch.path);
  CHECK(root.at("job").at("lines").as_array().size() < 18);
  CHECK_FALSE(root.at("job").as_object().contains("hit_clocks"));
}
