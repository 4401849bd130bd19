// SPDX-License-Identifier: Apache-2.0
// Question: do dependent kernels follow each other as fast as on silicon, whatever is dirty in the
// L2? Through the executable. SI-LAUNCH-01 (silicon.yaml, A100): kernels that scale 4,096 doubles
// take 2.7 us each in a stream with the best block size, 4.4 us with the worst.
#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

boost::json::object probe(const std::string& machine, const std::string& set = "") {
  const Scratch scratch;
  const Finished finished =
      run_stretto("run machine/launch --impl all=model --machine " + machine +
                  " --set launch_probe.launches=200 --set launch_probe.max_dirty_bytes=524288" +
                  set + " --out " + scratch.path + "/r");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  const auto root = stats(scratch.path + "/r");
  CHECK(root.at("check").at("mismatches").to_number<uint64_t>() == 0);
  CHECK(root.at("audit").at("violations").to_number<uint64_t>() == 0);
  return root.at("job").as_object();
}

double mean(const boost::json::value& times) { return times.at("mean").to_number<double>(); }

// `less`: share of a gap that the way of a packet's lines over the link between an L2's partitions takes more or less.
void expect_gaps(const boost::json::object& job, double less) {
  CHECK(mean(job.at("gap_us")) <= 2.2);
  CHECK(mean(job.at("launch_us")) ==
        Approx(mean(job.at("gap_us")) + mean(job.at("kernel_us"))).epsilon(0.01));
  // At system scope: more, the more is dirty.
  double released = 0, first = 0;
  for (const auto& line : job.at("lines").as_array()) {
    INFO(boost::json::serialize(line));
    if (line.at("scope").as_string() == "device") {
      CHECK(mean(line.at("gap_us")) <= 2.2);
    } else {
      CHECK(mean(line.at("gap_us")) > (1 - less) * released);
      released = mean(line.at("gap_us"));
      if (first == 0) first = released;
    }
  }
  CHECK(released > 1.05 * first);
  CHECK(job.at("lines").as_array().size() == 6);
}

}  // namespace

TEST_CASE("a tiny kernel follows another on an A100 as on silicon, whatever is dirty") {
  const auto job = probe("a100-nvswitch");
  CHECK(mean(job.at("launch_us")) == Approx(2.7).epsilon(0.3));
  expect_gaps(job, 0.05);
}

// A miss takes what it takes with two.
TEST_CASE("gaps at system scope grow with what is dirty where an L2 has one partition") {
  expect_gaps(probe("a100-nvswitch", " --set l2.partitions=1 --set l2.memory_cycles=294"), 0);
}

TEST_CASE("gaps of dependent kernels on a V100 do not depend on what is dirty") {
  expect_gaps(probe("v100-pcie"), 0);
}

TEST_CASE("what a probe that was cut short has not measured is absent, of 4 GiB too") {
  // Eight times 512 MiB are beyond 32 bits.
  const Scratch scratch;
  const Finished finished = run_stretto(
      "run machine/launch --impl all=model --machine t3 --set l2.bytes=536870912 --set "
      "launch_probe.dirty_bytes=536870912 --set launch_probe.max_dirty_bytes=536870912 --set "
      "launch_probe.launches=100000 --time-limit 1 --out " +
      scratch.path);
  INFO(finished.output);
  REQUIRE(finished.status == 124);
  const auto root = stats(scratch.path);
  const boost::json::object& job = root.at("job").as_object();
  for (const char* key : {"launch_us", "gap_us", "kernel_us"}) CHECK_FALSE(job.contains(key));
  REQUIRE(job.at("lines").as_array().size() == 4);
  for (const auto& line : job.at("lines").as_array())
    CHECK_FALSE(line.as_object().contains("gap_us"));
  CHECK_FALSE(finished.says("0.000 "));
}
