// SPDX-License-Identifier: Apache-2.0
// Question: do a kernel and an all-gather that run beside each other both end with the right data,
// and does what they cost each other show? Through the executable.
#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

constexpr const char* kWorkload =
    "machine: v100-pcie\nset: {gpus: 2}\nmodes: [l2-mmio, l2-gdma, issue-mmio, issue-gdma]\n"
    "interference: {gather_bytes: 1048576}\n";

struct Line {
  boost::json::object values;
  double operator()(const char* key) const { return values.at(key).to_number<double>(); }
};

std::vector<Line> run_lines(const std::string& rest) {
  const Scratch scratch;
  const Finished finished = run_stretto("run " + scratch.file("w.yaml", kWorkload) + " " + rest +
                                        " --out " + scratch.path + "/r");
  INFO(rest << "\n" << finished.output);
  REQUIRE(finished.status == 0);
  const auto root = stats(scratch.path + "/r");
  CHECK(root.at("check").at("elements").to_number<uint64_t>() == 2 * 1048576 / 8);
  std::vector<Line> lines;
  for (const auto& line : root.at("job").at("lines").as_array())
    lines.push_back({line.as_object()});
  return lines;
}

}  // namespace

TEST_CASE("a kernel and an all-gather beside each other", "[.long]") {
  std::vector<double> l2_alone;
  for (const char* mode : {"l2-mmio", "l2-gdma", "issue-mmio"}) {
    INFO(mode);
    const std::vector<Line> lines = run_lines(std::string("--mode ") + mode);
    REQUIRE(lines.size() == 1);
    const Line& us = lines[0];
    // Equal lengths, each alone; a round of the kernel that reads takes 8 us.
    CHECK(std::abs(us("kernel_alone_us") - us("gather_alone_us")) < 5);
    // Nobody is faster for company; a kernel never takes longer than both one after the other.
    CHECK(us("kernel_both_us") > 0.98 * us("kernel_alone_us"));
    CHECK(us("gather_both_us") > 0.98 * us("gather_alone_us"));
    CHECK(us("kernel_both_us") < 1.05 * (us("kernel_alone_us") + us("gather_alone_us")));
    // The wire: half of the array comes from the other GPU, at 15.75 GB/s at most.
    CHECK(us("gather_alone_us") > 1048576 / 2 / 15.75e3);
    // Lost of the time in which both ran.
    const double together = std::min(us("kernel_both_us"), us("gather_both_us"));
    CHECK(us("kernel_lost_percent") ==
          Approx(100 * (us("kernel_both_us") - us("kernel_alone_us")) / together).margin(0.001));
    if (mode[0] == 'l') l2_alone.push_back(us("kernel_alone_us") / us("kernel_rounds"));
  }
  // The kernel's reads are cached whatever the engine.
  REQUIRE(l2_alone.size() == 2);
  CHECK(l2_alone[1] == Approx(l2_alone[0]).epsilon(0.05));
}

void expect_lengths(const Line& line) {
  INFO(boost::json::serialize(line.values));
  const double wanted = line("gather_alone_us") * line("kernel_percent") / 100;
  CHECK((line("kernel_rounds") == 1 || std::abs(line("kernel_alone_us") - wanted) < 2));
  CHECK(line("kernel_slowdown") > 0.999);
  CHECK(line("gather_slowdown") > 0.97);
  CHECK(line("gather_slowdown") <= 2.0);
}

TEST_CASE("an all-gather of any length keeps half of its rate beside a kernel that issues",
          "[.long][GD-MMIO-03]") {
  const std::vector<Line> lines = run_lines(
      "--mode issue-mmio --set interference.min_gather_bytes=262144 "
      "--set interference.min_kernel_percent=50 --set interference.max_kernel_percent=200");
  REQUIRE(lines.size() == 2 * 3);
  for (const Line& line : lines) expect_lengths(line);
}

TEST_CASE("a kernel that ends before its all-gather has begun loses nothing to it") {
  // One work-group, a round. The host takes some 20 us to start an all-gather.
  const Line line = run_lines(
                        "--set interference.work_groups=1 --set interference.l2_bytes=16384 "
                        "--set interference.min_kernel_percent=25 "
                        "--set interference.max_kernel_percent=25")
                        .at(0);
  CHECK(line("kernel_both_us") == Approx(line("kernel_alone_us")).epsilon(0.001));
}

// A load or store of a warp moves 512 B, so copying issues in 1 % of the clocks and has next to
// nothing to lose. With 16 B it issues 32 times as often.
TEST_CASE("both sides lose where both issue", "[GD-MMIO-03]") {
  const Line line = run_lines("--mode issue-mmio --set gpu.memory_instruction_bytes=16").at(0);
  expect_lengths(line);
  CHECK(line("kernel_slowdown") > 1.1);
  CHECK(line("gather_slowdown") > 1.2);
}

// One work-group a unit shares its ports with the copies. With every place for a wavefront taken the copies wait
// until the kernel ends. Of 16 units.
TEST_CASE("where the kernel suffers less the all-gather suffers more", "[GD-MMIO-04]") {
  const std::string run =
      "--mode issue-mmio --impl all=model --set gpu.cus=16 --set interference.work_groups=";
  const Line beside = run_lines(run + "16").at(0), full = run_lines(run + "128").at(0);
  CHECK(beside("kernel_slowdown") > full("kernel_slowdown") + 0.03);
  CHECK(full("gather_slowdown") > beside("gather_slowdown") + 0.3);
  CHECK(beside("gather_slowdown") > 1.005);
}

// Of one that reads the L2 it loses a lot, and less where its copies share units with it. How much depends on which
// round of the kernel they meet, by 1.27 to 1.37 of 640 work-groups: host programs that launch later by 1 us.
TEST_CASE("an all-gather loses most beside units that do nothing but read the L2",
          "[.long][GD-MMIO-04]") {
  const auto slowdown = [](const char* work_groups) {
    double sum = 0;
    for (const char* launch_ns : {"20200", "21200"})
      sum += run_lines(std::string("--mode l2-mmio --impl all=model --set "
                                   "interference.work_groups=") +
                       work_groups + " --set software.launch_ns=" + launch_ns)
                 .at(0)("gather_slowdown");
    return sum / 2;
  };
  const double one = slowdown("80"), full = slowdown("640");
  CHECK(one > full + 0.03);
  CHECK(full > 1.05);
}

TEST_CASE("what cannot be run side by side is said before") {
  const Scratch scratch;
  const std::string file = scratch.file("w.yaml", kWorkload);
  for (const auto& [rest, says] :
       {std::pair("--set gpus=1", "needs 2 GPUs"), std::pair("--set gpus=3", "multiple of 4096"),
        std::pair("--set interference.min_gather_bytes=2097152", "min_gather_bytes up to"),
        std::pair("--set sim.mirror=true", "sim.mirror")}) {
    const Finished finished = run_stretto("run " + file + " " + rest);
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.says(says));
  }
}
