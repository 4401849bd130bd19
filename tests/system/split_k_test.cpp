// SPDX-License-Identifier: Apache-2.0
// Question: does the fused reduce-scatter work when several work-groups add to one output tile
// (T3-SPLITK), through firmware, Tracker and DMA? With stamp data each work-group adds a share of a
// known whole number, so an update too many, missing, or sent on before all had come gives wrong
// data, in any order of additions.
//
// 3 x 5 tiles over 4 GPUs; GPU r stores chunk r + 1 straight to its neighbour, unsplit, and adds
// two work-groups' shares to each of the others.
#include <catch2/catch.hpp>

#include "tests/support/expectations.h"

using namespace stretto::test;

TEST_CASE("two work-groups a tile: right data, one trigger a tile, the local updates doubled",
          "[T3-SPLITK-01][T3-SPLITK-02]") {
  // Rows of whole atoms, so that bytes are exact.
  const std::string shape = "t3/aligned --impl all=model --mode t3 ";
  const auto whole = run_correctly(shape);
  const auto split =
      run_correctly(shape + "--set software.gemm=gemm_split --set software.split_k=2");
  CHECK(whole.number("check.elements") == 4 * 330 * 544);
  CHECK(split.number("check.elements") == 4 * 330 * 544);
  CHECK(split.number("tracker.triggers") == whole.number("tracker.triggers"));
  CHECK(split.number("link_bytes") == whole.number("link_bytes"));
  // Sums over four ranks: N - 1 arrays of local updates, N - 1 of arriving ones.
  constexpr uint64_t kArray = 330 * 544 * 2;
  const auto written = [](const RunResult& root) {
    return root.number("dram_bytes.gemm_write") + root.number("dram_bytes.rs_write");
  };
  CHECK(written(whole) == 6 * kArray);
  CHECK(written(split) == 9 * kArray);
  CHECK(split.number("dram_bytes.rs_read") == whole.number("dram_bytes.rs_read"));
}

TEST_CASE("split-K from RTL, models and lockstep, by seven parts, with the arbiter, on one GPU") {
  const std::string two = "t3/small-split-k --mode t3-mca ";
  const auto rtl = run_correctly(two);
  CHECK(rtl.number("check.elements") == 4 * 330 * 530);
  CHECK(run_correctly(two + "--impl all=lockstep").text("digest") == rtl.text("digest"));
  const auto seven = run_correctly("t3/small-split-k --impl all=model --set software.split_k=7");
  CHECK(seven.number("check.elements") == 4 * 330 * 530);
  const auto alone = run_correctly("t3/small-split-k --impl all=model --set gpus=1");
  CHECK(alone.number("check.elements") == 330 * 530);
}

TEST_CASE("what split-K cannot do is refused in one line") {
  expect_refused("t3/small-split-k --data real", "needs --data stamp");
  expect_refused("t3/small-split-k --set software.split_k=8", "more than 7, the K steps of 32");
  expect_refused("t3/small --mode sequential --set software.split_k=2", "needs mode t3 or t3-mca");
  expect_refused("t3/small-split-k --set software.gemm=gemm", "needs a kernel that splits K");
}
