// SPDX-License-Identifier: Apache-2.0
// Question: does the output of a GEMM reach other GPUs as it is made, gathered around a ring (T3-AG),
// exchanged all to all (T3-A2A) or sent to the next one (T3-DPPP), through maps, Tracker and DMA
// regions alone: right data, the bytes of the closed forms, a gain, an arrival that never comes named?
//
// Rows of A that a GPU does not have are NaN, so that nobody computes for others. Closed forms, C the
// bytes of an output, N GPUs. All-gather: C is stored once in all, and each chunk read, sent and
// written N - 1 times. All-to-all: each GPU stores C, of which N - 1 chunks lie at others; nothing is
// read, and nothing written but what the GEMM makes. Next: each GPU stores C at the next one.
#include <catch2/catch.hpp>

#include "tests/support/expectations.h"

using namespace stretto::test;

namespace {

uint64_t fused_ns(const RunResult& run) {
  return run.number("time_ns.total") - run.number("time_ns.setup");
}

}  // namespace

TEST_CASE("tiles of a producer go around the ring as they are complete, and all have all of them",
          "[T3-AG-01]") {
  // 8 row blocks, the last one clipped; rows of whole atoms.
  const std::string shape = "t3/deliver-small --set delivered_gemm.n=224 --impl all=model --mode ";
  constexpr uint64_t kArray = 970 * 224 * 2;
  const auto fused = run_correctly(shape + "t3"), sequential = run_correctly(shape + "sequential");
  CHECK(fused.number("check.elements") == 4 * 970 * 224);
  CHECK(sequential.number("check.elements") == 4 * 970 * 224);
  CHECK(fused.number("dram_bytes.gemm_write") == kArray);
  CHECK(fused.number("dram_bytes.move_read") == 3 * kArray);
  CHECK(fused.number("dram_bytes.move_write") == 3 * kArray);
  CHECK(fused.number("link_bytes") == 3 * kArray);
  // On each GPU all 8 x 2 tiles, made here or arrived; of the last row block 74 rows, 5 of 8
  // wavefronts.
  CHECK(fused.number("tracker.triggers") == 4 * 2 * (7 * 8 + 5));
  CHECK(fused_ns(fused) < fused_ns(sequential));
}

TEST_CASE("rows go straight to the GPU that they are for, which knows when all have come",
          "[T3-A2A-01]") {
  const std::string shape = "t3/experts-small --set delivered_gemm.n=224 --impl all=model --mode ";
  constexpr uint64_t kArray = 1024 * 224 * 2;
  const auto fused = run_correctly(shape + "t3"), sequential = run_correctly(shape + "sequential");
  CHECK(fused.number("check.elements") == 4 * 1024 * 224);
  CHECK(sequential.number("check.elements") == 4 * 1024 * 224);
  CHECK(fused.number("dram_bytes.gemm_write") == 4 * kArray);
  CHECK(fused.number("dram_bytes.move_read") == 0);
  CHECK(fused.number("dram_bytes.move_write") == 0);
  CHECK(fused.number("link_bytes") == 3 * kArray);
  CHECK(sequential.number("dram_bytes.move_read") == 3 * kArray);
  CHECK(sequential.number("dram_bytes.move_write") == 3 * kArray);
  CHECK(fused.number("tracker.triggers") == 4 * 8 * 2 * 8);  // GPUs, tiles, wavefronts.
  CHECK(fused_ns(fused) < fused_ns(sequential));
}

TEST_CASE("a stage of a pipeline has its input when the stage before it has made it",
          "[T3-DPPP-01]") {
  const std::string shape = "t3/pipeline-small --set delivered_gemm.n=224 --impl all=model --mode ";
  constexpr uint64_t kArray = 330 * 224 * 2;
  const auto fused = run_correctly(shape + "t3"), sequential = run_correctly(shape + "sequential");
  CHECK(fused.number("check.elements") == 4 * 330 * 224);
  CHECK(fused.number("dram_bytes.gemm_write") == 4 * kArray);
  CHECK(fused.number("dram_bytes.move_read") == 0);
  CHECK(fused.number("link_bytes") == 4 * kArray);
  CHECK(sequential.number("dram_bytes.move_read") == 4 * kArray);
  CHECK(sequential.number("dram_bytes.move_write") == 4 * kArray);
  CHECK(fused.number("tracker.triggers") == 4 * 2 * (2 * 8 + 5));  // As above, 3 row blocks.
  CHECK(fused_ns(fused) < fused_ns(sequential));
  for (const std::string mode : {" --mode t3", " --mode sequential"}) {
    run_correctly("t3/pipeline-small --impl all=model" + mode);
    run_correctly("t3/pipeline-small --impl all=model --set gpus=2 --set software.tile_m=256" +
                  mode);
    run_correctly("t3/pipeline-small --impl all=model --set gpus=1" + mode);
  }
  expect_same_digest("t3/pipeline-small --mode t3");
}

TEST_CASE("ragged columns, other tiles, more and fewer GPUs", "[T3-AG-01][T3-A2A-01]") {
  for (const std::string mode : {" --mode t3", " --mode sequential"}) {
    run_correctly("t3/deliver-small --impl all=model" + mode);
    run_correctly("t3/experts-small --impl all=model" + mode);
    run_correctly("t3/deliver-small --impl all=model --set gpus=2 --set software.tile_m=256" +
                  mode);
    run_correctly("t3/experts-small --impl all=model --set gpus=2 --set software.tile_m=256" +
                  mode);
    run_correctly("t3/experts-small --impl all=model --set gpus=8 --set delivered_gemm.n=70" +
                  mode);
    run_correctly("t3/deliver-small --impl all=model --set gpus=1" + mode);
    run_correctly("t3/experts-small --impl all=model --set gpus=1" + mode);
  }
}

TEST_CASE("gathered and exchanged outputs have the same digest from RTL, models and lockstep",
          "[.long]") {
  expect_same_digest("t3/deliver-small --mode t3");
  expect_same_digest("t3/experts-small --mode t3");
}

TEST_CASE("what never arrives is a deadlock that names the tiles", "[T3-AG-01][T3-A2A-01]") {
  for (const std::string workload : {"t3/deliver-small", "t3/experts-small"})
    expect_found(workload + " --mode t3 --impl all=model --firmware " STRETTO_BUILD_DIR
                            "/sw/firmware/main_no_tracker.elf",
                 "wavefront tiles triggered");
}

TEST_CASE("outputs that cannot be delivered are refused in one line") {
  expect_refused("t3/experts-small --set topology=ring", "need topology=fully_connected");
  expect_refused("t3/experts-small --set delivered_gemm.m=1000", "whole row blocks of 128");
  expect_refused("t3/deliver-small --set gpus=3", "which 3 GPUs cannot share evenly");
  expect_refused("t3/deliver-small --set gpus=16 --set delivered_gemm.m=2048",
                 "at most 8 are allowed");
  expect_refused("t3/deliver-small --set software.split_k=2", "needs kind sub_layer");
  expect_refused("t3/deliver-small --data stamp", "needs --data real");
}
