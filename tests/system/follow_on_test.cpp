// SPDX-License-Identifier: Apache-2.0
// Question: are dropout and residual, which follow an all-reduce, applied by memory to the reduced
// chunk before it is gathered (T3 7.6): right data, the bytes of the closed forms, less than a kernel
// moves that does all of the array on every GPU? On t3/follow-small (3 x 5 tiles over 4 GPUs).
//
// Closed forms, C the bytes of the output, over N GPUs. Memory: mask and residual of each chunk are
// read once and applied once, 2 C and 2 C in all. The kernel: each GPU reads C, mask and residual and
// writes C, 3 N C and N C.
#include <catch2/catch.hpp>

#include "tests/support/expectations.h"

using namespace stretto::test;

namespace {

// Rows of whole atoms.
const std::string kWhole = " --data stamp --impl all=model --set sub_layer.n=544";
constexpr uint64_t kArray = 330 * 544 * 2;

struct Bytes {
  uint64_t read, written;
};

// What the account of the collective moves more than without follow-on operations.
Bytes added(const std::string& mode) {
  const auto with = run_correctly("t3/follow-small --mode " + mode + kWhole);
  const auto without =
      run_correctly("t3/follow-small --set sub_layer.follow_on=false --mode " + mode + kWhole);
  CHECK(with.number("link_bytes") == without.number("link_bytes"));
  const auto more = [&](const std::string& key) { return with.number(key) - without.number(key); };
  return {more("dram_bytes.rs_read"), more("dram_bytes.rs_write")};
}

}  // namespace

TEST_CASE("memory multiplies and adds real numbers as a kernel would, in every order of tiles",
          "[T3-FOLLOW-01]") {
  for (const std::string mode : {"t3", "t3-mca", "sequential"}) {
    const auto run = run_correctly("t3/follow-small --impl all=model --mode " + mode);
    CHECK(run.number("check.elements") == 4 * 330 * 530);
    run_correctly(
        "t3/follow-small --impl all=model --set sub_layer.tile_order=rows --set gpus=3 "
        "--mode " +
        mode);
  }
  run_correctly("t3/follow-small --impl all=model --mode t3 --set gpus=1");
  run_correctly("t3/follow-small --impl all=model --mode t3 --set hbm.updates=controller");
  run_correctly(
      "t3/direct-small --impl all=model --mode direct --data stamp --set sub_layer.follow_on=true");
}

TEST_CASE("operands of the own chunk alone are read, and each is applied once", "[T3-FOLLOW-01]") {
  for (const std::string mode : {"t3", "t3-mca"}) {
    const Bytes memory = added(mode);
    CHECK(memory.read == 2 * kArray);
    CHECK(memory.written == 2 * kArray);
  }
  const Bytes kernel = added("sequential");
  CHECK(kernel.read == 3 * 4 * kArray);
  CHECK(kernel.written == 4 * kArray);
}

TEST_CASE("gradients of replicas are reduced by memory as they are made, and weights updated there",
          "[T3-DPPP-01][T3-FOLLOW-01]") {
  for (const std::string mode : {"t3", "t3-mca", "sequential"}) {
    const auto run = run_correctly("t3/weights-small --impl all=model --mode " + mode);
    CHECK(run.number("check.elements") == 4 * 330 * 530);
  }
}

TEST_CASE("near-memory reduction and arbitration lower the contention of data parallelism",
          "[.long][T3-DPPP-01]") {
  const std::string shape = "t3/weights --impl all=model --mode ";
  constexpr uint64_t kGradients = 2048 * 2048 * 2;
  const auto sequential = run_correctly(shape + "sequential"), t3 = run_correctly(shape + "t3"),
             mca = run_correctly(shape + "t3-mca");
  // A kernel of 4 ranks reads 1 + 2 (N - 1) chunks and writes N; memory is sent N - 2 and reads them.
  CHECK(sequential.number("dram_bytes.rs_read") == 7 * kGradients);
  CHECK(sequential.number("dram_bytes.rs_write") == 4 * kGradients);
  for (const RunResult* fused : {&t3, &mca}) {
    CHECK(fused->number("dram_bytes.rs_read") == 2 * kGradients);
    CHECK(fused->number("dram_bytes.rs_write") == 2 * kGradients);
  }
  CHECK(mca.number("time_ns.gemm") < t3.number("time_ns.gemm"));
}

TEST_CASE("a run with follow-on operations has the same digest from RTL, models and lockstep",
          "[.long]") {
  expect_same_digest("t3/follow-small --mode t3-mca");
}

TEST_CASE("an operand that is lost or applied twice is wrong data", "[T3-FOLLOW-01]") {
  // The reduction makes 4 updates an element at most; those behind its last are operands'.
  const std::string control = "t3/follow-small --impl all=model --mode t3 ";
  const std::string last =
      std::to_string(run_correctly(control).number("statistics.gpu0.hbm.updates_applied"));
  for (const std::string fault : {"drop", "double"})
    expect_found(control + "--set hbm.fault." + fault + "_update=" + last, "wrong data: rank");
}

TEST_CASE("follow-on operations where there is no sum are refused in one line") {
  expect_refused("t3/small --mode rs --set sub_layer.follow_on=true", "needs a whole sub-layer");
  expect_refused("t3/aligned --mode t3 --set sub_layer.follow_on=true --set sim.mirror=true",
                 "cannot be mirrored");
  expect_refused("t3/direct-small --mode direct --set sub_layer.follow_on=true",
                 "needs --data stamp");
}
