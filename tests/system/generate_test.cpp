// SPDX-License-Identifier: Apache-2.0
// Question: in the generation phase of inference (T3 7.3), a few rows a GEMM, is the GEMM bound by
// reads of weights, each made once, and does T3 still hide the all-reduce's first half, which latency
// bounds? On t3/mtnlg-fc2-generate, GPU 0 of 32: 160 tiles of 16 rows on 80 units, 5 a chunk.
// Data by tiles of 16 rows: t3/small and t3/direct-small with fewer rows, ragged in all sizes.
#include <catch2/catch.hpp>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

const std::string kGenerate =
    "t3/mtnlg-fc2-generate --impl all=model --set sim.mirror=true --mode ";
constexpr uint64_t kM = 16, kN = 20480, kK = 2560, kRanks = 32;

double gemm_us(const std::string& more) {
  return double(run_correctly(kGenerate + "gemm " + more).number("time_ns.gemm")) / 1000;
}

// From the last work-group of the GEMM to the first of the all-gather, in ns.
double exposed_ns(const RunResult& run) {
  const std::string front_end = "statistics.gpu0.compute.front_end.";
  return double(run.number(front_end + "first_dispatch.ag") -
                run.number(front_end + "last_end.gemm")) /
         1e6;
}

}  // namespace

TEST_CASE("the GEMM of a few tokens reads all weights once, and memory bounds it", "[T3-GEN-01]") {
  const auto run = run_correctly(kGenerate + "gemm");
  const uint64_t weights = 2 * kN * kK;
  CHECK(run.number("dram_bytes.gemm_read") == weights + 2 * kM * kK);
  // 1.024 TB/s (Table 1).
  const double us = double(run.number("time_ns.gemm")) / 1000;
  CHECK(double(weights) / us > 0.65 * 1.024e6);
}

TEST_CASE(
    "the GEMM of a few tokens takes twice as long with half the memory, as long with half the "
    "tensor rate",
    "[.long][T3-GEN-01]") {
  const double us = gemm_us("");
  CHECK(gemm_us("--set hbm.channels=16") > 1.7 * us);
  CHECK(gemm_us("--set gpu.tensor_fma_per_cycle=256") < 1.1 * us);
}

TEST_CASE("the reduce-scatter of a few tokens, a matter of latency, hides behind their GEMM",
          "[.long][T3-GEN-01]") {
  const auto fused = run_correctly(kGenerate + "t3"),
             sequential = run_correctly(kGenerate + "sequential");
  const uint64_t array = 2 * kM * kN;
  CHECK(fused.number("dram_bytes.rs_read") == array / kRanks * (kRanks - 2));
  CHECK(fused.number("dram_bytes.rs_write") == array / kRanks * (kRanks - 2));
  CHECK(fused.number("dram_bytes.gemm_read") == sequential.number("dram_bytes.gemm_read"));
  // 31 steps of at least a link's latency (Table 1: 500 ns), and hardly any bytes: 635 KB take 8.5 us.
  CHECK(sequential.number("time_ns.rs") > 31 * 500);
  CHECK(sequential.number("time_ns.rs") > 4 * 8466);
  CHECK(exposed_ns(fused) < exposed_ns(sequential) / 2);
  const std::string gpu = "statistics.gpu0.";
  CHECK(fused.number(gpu + "hbm.first_access.rs") <
        fused.number(gpu + "compute.front_end.last_end.gemm"));
}

TEST_CASE("tiles of 16 rows carry real numbers in every mode, down to one row", "[T3-GEN-01]") {
  const std::string shape = " --data real --set software.tile_m=16 --set sub_layer.m=";
  for (const std::string mode : {"sequential", "t3", "t3-mca"}) {
    const auto run = run_correctly("t3/small --impl all=model --mode " + mode + shape + "23");
    CHECK(run.number("check.elements") == 4 * 23 * 530);
  }
  for (const std::string mode : {"t3", "direct"})
    run_correctly("t3/direct-small --impl all=model --mode " + mode + shape + "1");
  run_correctly(
      "t3/deliver-small --mode t3 --impl all=model --set software.tile_m=16 "
      "--set delivered_gemm.m=60");
  // The last of 4 x 5 tiles has 7 rows: 8 wavefronts of two rows, of which 4 have any.
  const auto rtl = run_correctly(
      "t3/small --mode t3-mca --set software.tile_m=16 "
      "--set sub_layer.m=55");
  CHECK(rtl.text("digest") == run_correctly("t3/small --mode t3-mca --impl all=model "
                                            "--set software.tile_m=16 --set sub_layer.m=55")
                                  .text("digest"));
}
