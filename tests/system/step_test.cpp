// SPDX-License-Identifier: Apache-2.0
// Question: does a result depend on how many instructions of a wavefront are simulated at a time? It
// is the simulator's number, not the machine's. Nothing may: times, bytes, digest, checks and all
// statistics of every component. One instruction at a time is the reference that a closed form cannot
// blur; 4,096 is more than most wavefronts run between two instructions that others see.
#include <catch2/catch.hpp>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

void expect_equal_results(const std::string& run) {
  const auto result_of = [&](unsigned instructions) {
    return run_correctly(
        run + " --impl all=model --set gpu.step_instructions=" + std::to_string(instructions));
  };
  const RunResult one = result_of(1);
  for (const unsigned instructions : {7u, 64u, 4096u}) {
    const RunResult many = result_of(instructions);
    INFO(run << ", " << instructions << " instructions at a time");
    for (const char* key : {"time_ns", "dram_bytes", "link_bytes", "digest", "statistics"})
      CHECK(many.at(key) == one.at(key));
    if (one.has("job")) CHECK(many.at("job") == one.at("job"));
  }
}

}  // namespace

TEST_CASE("a GEMM with its collective, whatever the step") {
  expect_equal_results("t3/small --mode t3-mca");
}
TEST_CASE("L2 slices that stop, whatever the step") {
  expect_equal_results(
      "t3/small --mode t3-mca --set l2.miss_entries=2 --set l2.merges=2 "
      "--set l2.memory_queue_sectors=2");
}
TEST_CASE("kernels of a network, whatever the step") { expect_equal_results("graph/mlp"); }
TEST_CASE("copies by loads and stores, whatever the step") {
  expect_equal_results(
      "collectives/all_reduce --mode mmio --set gpus=2 --set collective.max_bytes=16384");
}
TEST_CASE("long runs beside copies on the same units, whatever the step", "[.long]") {
  expect_equal_results(
      "gpu-driven/interference --mode issue-mmio --set gpus=2 "
      "--set interference.gather_bytes=65536 --set interference.min_gather_bytes=0 "
      "--set interference.min_kernel_percent=100");
}
