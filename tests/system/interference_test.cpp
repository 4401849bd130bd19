// SPDX-License-Identifier: Apache-2.0
// Question: do a kernel and an all-gather that run beside each other both end with the right data,
// and does what they cost each other show? Through the executable.
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

constexpr const char* kWorkload =
    "machine: v100-pcie\nset: {gpus: 2}\nmodes: [l2-mmio, l2-gdma, issue-mmio, issue-gdma]\n"
    "interference: {gather_bytes: 1048576, l2_rounds: 10, issue_rounds: 700}\n";

}  // namespace

TEST_CASE("a kernel and an all-gather beside each other") {
  std::vector<double> l2_alone;
  for (const char* mode : {"l2-mmio", "l2-gdma", "issue-mmio"}) {
    const Scratch scratch;
    const Finished finished = run_stretto("run " + scratch.file("w.yaml", kWorkload) + " --mode " +
                                          mode + " --out " + scratch.path + "/r");
    INFO(mode << "\n" << finished.output);
    REQUIRE(finished.status == 0);
    const auto root = stats(scratch.path + "/r");
    CHECK(root.at("check").at("elements").to_number<uint64_t>() == 2 * 1048576 / 8);
    const auto& job = root.at("job").as_object();
    // Nobody is faster for company; a kernel never takes longer than both one after the other.
    const auto us = [&](const char* key) { return job.at(key).to_number<double>(); };
    CHECK(us("kernel_both_us") > 0.98 * us("kernel_alone_us"));
    CHECK(us("gather_both_us") > 0.98 * us("gather_alone_us"));
    CHECK(us("kernel_both_us") < 1.05 * (us("kernel_alone_us") + us("gather_alone_us")));
    // The wire: half of the array comes from the other GPU, at 15.75 GB/s at most.
    CHECK(us("gather_alone_us") > 1048576 / 2 / 15.75e3);
    if (mode[0] == 'l') l2_alone.push_back(us("kernel_alone_us"));
  }
  // The kernel's reads are cached whatever the engine.
  REQUIRE(l2_alone.size() == 2);
  CHECK(l2_alone[1] == Approx(l2_alone[0]).epsilon(0.02));
}

TEST_CASE("where the kernel suffers less the all-gather suffers more", "[GD-MMIO-04]") {
  // A kernel with few work-groups leaves room, one that waits for units of its own takes it.
  const auto slowdown = [](const char* work_groups) {
    const Scratch scratch;
    const Finished finished = run_stretto("run " + scratch.file("w.yaml", kWorkload) +
                                          " --set interference.work_groups=" + work_groups +
                                          " --out " + scratch.path + "/r");
    INFO(finished.output);
    REQUIRE(finished.status == 0);
    const auto root = stats(scratch.path + "/r");
    const auto of = [&](const char* key) { return root.at("job").at(key).to_number<double>(); };
    return std::pair(of("kernel_slowdown"), of("gather_slowdown"));
  };
  const auto [kernel_of_few, gather_of_few] = slowdown("40");
  const auto [kernel_of_many, gather_of_many] = slowdown("640");
  CHECK(kernel_of_few > 1.02);
  CHECK(kernel_of_few > kernel_of_many + 0.02);
  CHECK(gather_of_many > gather_of_few + 0.2);
  CHECK(gather_of_few > 1.05);
}

TEST_CASE("what cannot be run side by side is said before") {
  const Scratch scratch;
  const std::string file = scratch.file("w.yaml", kWorkload);
  for (const auto& [rest, says] :
       {std::pair("--set gpus=1", "needs 2 GPUs"), std::pair("--set gpus=3", "multiple of 4096"),
        std::pair("--set sim.mirror=true", "sim.mirror")}) {
    const Finished finished = run_stretto("run " + file + " " + rest);
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.says(says));
  }
}
