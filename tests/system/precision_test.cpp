// SPDX-License-Identifier: Apache-2.0
// Question: is a sub-layer of 8 bits right from operands to near-bank additions, and does precision
// scale compute and communication as T3 7.5 says: communication linearly, compute by the rate of the
// products, of which quadratically is one? On t3/small-fp8: 3 x 5 tiles over 4 GPUs, no extent a
// multiple of anything, rows of C of 531 bytes.
//
// Closed forms, over N GPUs, C the elements of the output and b the bytes of one. Links: N - 1 parts of
// C / N a GPU in the reduce-scatter and in the all-gather, 2 (N - 1) C b in all, and flags, which do
// not depend on b. Memory: all that gemm and rs move is b times a number of elements. Products: clocks
// of the tensor pipe at rate r are those of FP16 / r, of the same multiply-adds.
#include <catch2/catch.hpp>

#include "tests/support/expectations.h"

using namespace stretto::test;

namespace {

const std::string kSmall = "t3/small-fp8 --mode ";
constexpr uint64_t kElements = 331 * 531;

// Rows of whole atoms and whole native products in both formats; all of it in the L2.
const std::string kWhole =
    "t3/small-fp8 --data stamp --impl all=model --set sub_layer.m=256 --set sub_layer.n=512 "
    "--set sub_layer.k=256 ";
constexpr uint64_t kArray = 256 * 512;

RunResult in_fp16(const std::string& mode) {
  return run_correctly(kWhole + "--set sub_layer.element=fp16 --mode " + mode);
}
RunResult in_fp8(const std::string& mode, unsigned rate = 2) {
  return run_correctly(kWhole + "--set gpu.tensor_fp8_rate=" + std::to_string(rate) + " --mode " +
                       mode);
}

// Of all units of GPU 0.
uint64_t sum(const RunResult& run, const std::string& statistic) {
  uint64_t all = 0;
  for (unsigned unit = 0; unit < 80; ++unit)
    all += run.number("statistics.gpu0.compute.cu" + std::to_string(unit) + "." + statistic);
  return all;
}

}  // namespace

TEST_CASE("a sub-layer of FP8 is right in every mode, on RTL and of real numbers", "[T3-2XCU-02]") {
  for (const std::string mode : {"sequential", "t3", "t3-mca"}) {
    const auto run = run_correctly(kSmall + mode);
    CHECK(run.number("check.elements") == 4 * kElements);
    CHECK(run.real("check.max_error") > 0);
    CHECK(run.real("check.max_error") <= 1);
  }
  for (const std::string mode : {"gemm", "rs", "rs-nmc", "ag"})
    run_correctly(kSmall + mode + " --impl all=model");
}

TEST_CASE("FP8 is right for other GPUs, layouts, orders, tiles and sizes, too", "[T3-2XCU-02]") {
  const std::string model = " --impl all=model --set ";
  run_correctly(kSmall + "t3" + model + "gpus=2");
  run_correctly(kSmall + "t3" + model + "gpus=3 --set sub_layer.tile_order=rows");
  run_correctly(kSmall + "t3" + model + "gpus=1");
  run_correctly(kSmall + "t3-mca" + model + "sub_layer.a_k_contiguous=false");
  run_correctly(kSmall + "t3" + model + "sub_layer.b_k_contiguous=false --set sub_layer.k=64");
  run_correctly(kSmall + "t3" + model + "software.tile_m=256 --set sub_layer.n=1");
  run_correctly(kSmall + "sequential" + model + "software.tile_m=16 --set sub_layer.m=35");
  run_correctly(kSmall + "t3" + model + "hbm.updates=controller");
  run_correctly(kSmall + "t3 --data stamp" + model + "sub_layer.k=1");
  const auto direct = run_correctly(
      "t3/direct-small --mode direct --set sub_layer.element=e4m3 --set gpu.tensor_fp8_rate=2" +
      model + "sub_layer.n=531");
  CHECK(direct.real("check.max_error") > 0);
  CHECK(direct.real("check.max_error") <= 1);
}

TEST_CASE("half the bits are half the bytes, on links and in memory, to the byte", "[T3-2XCU-02]") {
  for (const std::string mode : {"t3", "sequential"}) {
    INFO(mode);
    const auto wide = in_fp16(mode), narrow = in_fp8(mode);
    CHECK(wide.number("link_bytes") - narrow.number("link_bytes") == 2 * 3 * kArray);
    for (const std::string account : {"gemm_read", "rs_read", "rs_write"}) {
      INFO(account);
      const uint64_t bytes = narrow.number("dram_bytes." + account);
      CHECK(bytes > 0);
      CHECK(wide.number("dram_bytes." + account) == 2 * bytes);
    }
  }
  // Each GPU: operands once; of the ring N - 2 chunks are sent from memory, N - 1 arrive.
  const auto t3 = in_fp8("t3");
  CHECK(t3.number("dram_bytes.gemm_read") == 4 * (256 * 256 + 512 * 256));
  CHECK(t3.number("dram_bytes.rs_read") == 2 * kArray);
  const auto link = in_fp8("rs");
  CHECK(in_fp16("rs").number("link_bytes") - link.number("link_bytes") == 3 * kArray);
}

TEST_CASE("products take a clock for as many of FP16 as the machine's rate says", "[T3-2XCU-02]") {
  const auto wide = in_fp16("gemm");
  const uint64_t busy = sum(wide, "tensor.busy_cycles"), products = sum(wide, "multiply_adds");
  CHECK(products == kArray * 256);
  for (const unsigned rate : {1, 2, 4}) {
    INFO(rate);
    const auto narrow = in_fp8("gemm", rate);
    CHECK(sum(narrow, "multiply_adds") == products);
    CHECK(sum(narrow, "tensor.busy_cycles") * rate == busy);
    CHECK(narrow.number("time_ns.gemm") < wide.number("time_ns.gemm"));
  }
}

TEST_CASE("a run in FP8 has the same digest from RTL, models and lockstep", "[.long][T3-2XCU-02]") {
  expect_same_digest(kSmall + "t3-mca");
}

TEST_CASE("files of kernels are taken as they are", "[T3-2XCU-02]") {
  const std::string folder = STRETTO_BUILD_DIR "/sw/kernels/";
  const std::string t3 = kSmall + "t3 --impl all=model";
  const RunResult own =
      run_correctly(t3 + " --set software.gemm=" + folder +
                    "gemm_e4m3.elf --set software.ring=" + folder + "ring_e4m3.elf");
  CHECK(own.text("digest") == run_correctly(t3).text("digest"));
}

TEST_CASE("wrong products, updates and kernels of FP8 are found", "[T3-2XCU-02]") {
  expect_found(kSmall + "t3 --impl all=model --set software.gemm=gemm_skip_step",
               "wrong data: rank");
  expect_found(kSmall + "t3 --impl all=model --set hbm.fault.drop_update=100", "written updates");
  expect_found(kSmall + "t3 --impl all=model --set gpu.fault.product_speed=2", "above");
}

TEST_CASE("FP8 that the machine or the data do not have is refused in one line", "[T3-2XCU-02]") {
  const std::string fp8 = "t3/small --set sub_layer.element=e4m3 ";
  expect_refused(fp8 + "--mode t3", "gpu.tensor_fp8_rate=2, as H100, or 4, by area");
  const std::string rate = "--set gpu.tensor_fp8_rate=2 ";
  expect_refused(fp8 + rate + "--mode t3", "needs gpu.stamp_limit=4");
  expect_refused(fp8 + rate + "--data real --mode t3 --set sub_layer.follow_on=true",
                 "needs sub_layer.element=fp16");
  expect_refused(
      "t3/small-split-k --mode t3 --set gpu.stamp_limit=4 --set sub_layer.element=e4m3 " + rate,
      "needs sub_layer.element=fp16");
  expect_refused("t3/small --mode t3 --set sub_layer.element=fp8", "allowed: choice fp16|e4m3");
}
