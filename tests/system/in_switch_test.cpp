// SPDX-License-Identifier: Apache-2.0
// Question: does a switch that adds do what near-bank ALUs do for a direct reduce-scatter (T3 7.4):
// right sums of real numbers, one update where N - 1 would come, whatever the table of sums holds?
// On t3/switch-small (3 x 5 tiles over 4 GPUs, chunks of 3 or 4) and t3/switch (16 stages).
//
// Closed forms, C the bytes of the output, over N GPUs: N - 1 parts of each chunk come to the switch,
// (N - 1) C in all; C leave it; memory adds these and the own parts, 2 C.
#include <catch2/catch.hpp>

#include <string>

#include "tests/support/expectations.h"

using namespace stretto::test;

namespace {

uint64_t of_ports(const RunResult& run, const std::string& what, unsigned gpus = 4) {
  uint64_t sum = 0;
  for (unsigned port = 0; port < gpus; ++port) {
    sum += run.number("statistics.switch.crossbar.port" + std::to_string(port) + ".adder." + what);
  }
  return sum;
}

}  // namespace

TEST_CASE("real numbers are added in the switch, in any order, also of 3 and 7 GPUs",
          "[T3-SW-01]") {
  const auto four = run_correctly("t3/switch-small --mode direct");
  CHECK(four.number("check.elements") == 4 * 330 * 530);
  CHECK(four.real("check.max_error") > 0);
  CHECK(four.real("check.max_error") <= 1);
  CHECK(of_ports(four, "parts") > of_ports(four, "sums"));
  // Without near-bank ALUs, too: what is left for memory is one atomic an element.
  run_correctly("t3/switch-small --mode direct --impl all=model --set hbm.updates=controller");
  for (const unsigned gpus : {2u, 3u, 7u}) {
    const auto other = run_correctly("t3/switch-small --mode direct --impl all=model --set gpus=" +
                                     std::to_string(gpus));
    CHECK(other.number("check.elements") == uint64_t{gpus} * 330 * 530);
    CHECK((of_ports(other, "parts", gpus) > 0) == (gpus > 2));  // Of two one alone sends.
  }
}

TEST_CASE("of N - 1 parts of each element one sum arrives, and memory adds twice", "[T3-SW-01]") {
  // Rows of whole atoms.
  const std::string shape =
      "t3/switch-small --data stamp --impl all=model --set sub_layer.n=544 --mode direct";
  constexpr uint64_t kArray = 330 * 544 * 2;
  const auto adds = run_correctly(shape);
  const auto passes = run_correctly(shape + " --set switch.add_bytes=0");
  CHECK(of_ports(adds, "part_bytes") == 3 * kArray);
  CHECK(of_ports(adds, "sum_bytes") == kArray);
  CHECK(of_ports(adds, "early") == 0);
  CHECK(adds.number("dram_bytes.gemm_write") == 2 * kArray);
  CHECK(passes.number("dram_bytes.gemm_write") == 4 * kArray);
  CHECK(adds.number("dram_bytes.rs_read") == 0);
  CHECK(adds.number("dram_bytes.rs_write") == 0);
  // The Tracker has counted all parts: of 3 tile rows the last has 74 rows, so 5 of 8 wavefronts.
  CHECK(adds.number("tracker.triggers") == 5 * (8 + 8 + 5));
  // What comes over the link of each GPU is less by N - 2 parts of its chunk.
  for (unsigned gpu = 0; gpu < 4; ++gpu) {
    const std::string port = "statistics.switch.crossbar.port" + std::to_string(gpu);
    const uint64_t sums = adds.number(port + ".adder.sum_bytes");
    CHECK(adds.number(port + ".adder.part_bytes") == 3 * sums);
    CHECK(passes.number(port + ".bytes_out") - adds.number(port + ".bytes_out") == 2 * sums);
  }
}

TEST_CASE("sums that leave early are right, too, and only cost bytes", "[T3-SW-01]") {
  const std::string shape = "t3/switch --impl all=model --mode direct";
  const auto all = run_correctly(shape);
  CHECK(of_ports(all, "sum_bytes") < of_ports(all, "part_bytes") * 2 / 3);
  const auto small = run_correctly(shape + " --set switch.add_bytes=65536");
  CHECK(of_ports(small, "early") > 0);
  CHECK(of_ports(small, "sum_bytes") > of_ports(all, "sum_bytes"));
  const auto hasty = run_correctly(shape + " --set switch.add_hold_ns=100");
  CHECK(of_ports(hasty, "early") > 0);
  // The same parts, in sums or not.
  CHECK(of_ports(small, "part_bytes") == of_ports(all, "part_bytes"));
  CHECK(of_ports(hasty, "part_bytes") == of_ports(all, "part_bytes"));
  CHECK(small.number("tracker.triggers") == all.number("tracker.triggers"));
}

TEST_CASE("a run with sums in the switch has the same digest from RTL, models and lockstep",
          "[.long]") {
  expect_same_digest("t3/switch-small --mode direct");
}

TEST_CASE("an addition left out in the switch is found out", "[T3-SW-01]") {
  const std::string direct = "t3/switch-small --data stamp --mode direct --impl all=model ";
  expect_found(direct + "--set switch.fault.skip_addition=3", "wrong data: rank");
  expect_found(direct + "--set switch.fault.drop_packet=100", "wavefront tiles triggered");
}
