// SPDX-License-Identifier: Apache-2.0
// Question: do the GEMM's own stores make the whole reduce-scatter where all GPUs are linked (T3
// 7.1): right sums in any order, no access of a collective, the bytes of the closed forms, every link
// used by every stage? On t3/direct-small (3 x 5 tiles over 4 GPUs, chunks of 3 or 4) and t3/direct
// (16 stages).
//
// Closed forms, C the bytes of the output, over N GPUs: each GPU adds N parts to its own chunk, N C
// in all, none of them by a collective; of its C each GPU sends all but its own chunk, (N - 1) C in
// all, which is what a ring sends, too.
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/support/expectations.h"

using namespace stretto::test;

namespace {

// From the first work-group of any GPU to the last update that arrives, in ns.
double fused_ns(const RunResult& run) {
  uint64_t begin = UINT64_MAX, end = 0;
  for (unsigned gpu = 0; gpu < 4; ++gpu) {
    const std::string at = "statistics.gpu" + std::to_string(gpu);
    const std::string rs = at + ".hbm.last_access.rs";
    begin = std::min(begin, run.number(at + ".compute.front_end.first_dispatch.gemm"));
    end = std::max(end, run.number(at + ".hbm.last_access.gemm"));
    if (run.has(rs)) end = std::max(end, run.number(rs));
  }
  return double(end - begin) / 1e6;
}

}  // namespace

TEST_CASE("stores alone reduce and scatter real numbers, whatever the order, also of 3 and 7 GPUs",
          "[T3-DIRECT-01]") {
  const auto four = run_correctly("t3/direct-small --mode direct");
  CHECK(four.number("check.elements") == 4 * 330 * 530);
  CHECK(four.real("check.max_error") > 0);
  CHECK(four.real("check.max_error") <= 1);
  // 7 of 15 tiles' GPUs have 2 tiles, one has 3; 3 GPUs are a ring that links all.
  const auto seven = run_correctly("t3/direct-small --mode direct --impl all=model --set gpus=7");
  CHECK(seven.number("check.elements") == 7 * 330 * 530);
  const auto three = run_correctly(
      "t3/direct-small --mode direct --impl all=model --set gpus=3 --set topology=ring "
      "--set sub_layer.tile_order=rows");
  CHECK(three.number("check.elements") == 3 * 330 * 530);
  const auto alone = run_correctly("t3/direct-small --mode direct --impl all=model --set gpus=1");
  CHECK(alone.number("check.elements") == 330 * 530);
}

TEST_CASE("no byte is read or written by a reduce-scatter, and links carry what a ring sends",
          "[T3-DIRECT-02]") {
  // Rows of whole atoms.
  const std::string shape =
      "t3/direct-small --data stamp --impl all=model --set sub_layer.n=544 --mode ";
  constexpr uint64_t kArray = 330 * 544 * 2;
  const auto direct = run_correctly(shape + "direct"), ring = run_correctly(shape + "t3");
  CHECK(direct.number("dram_bytes.rs_read") == 0);
  CHECK(direct.number("dram_bytes.rs_write") == 0);
  CHECK(direct.number("dram_bytes.gemm_write") == 4 * kArray);  // N.
  CHECK(ring.number("dram_bytes.rs_read") == 2 * kArray);       // N - 2.
  CHECK(direct.number("link_bytes") == ring.number("link_bytes"));
  CHECK(direct.number("dram_bytes.ag_read") == ring.number("dram_bytes.ag_read"));
  CHECK(direct.number("dram_bytes.ag_write") == ring.number("dram_bytes.ag_write"));
  // A trigger a wavefront tile of the own chunk, after N updates of each element. Of 3 tile rows the
  // last has 74 rows, so 5 of 8 wavefronts.
  CHECK(direct.number("tracker.triggers") == 5 * (8 + 8 + 5));
}

TEST_CASE("every stage is sliced over all links, so that three of them take a third of the time",
          "[.long][T3-DIRECT-01]") {
  // Hardly any products: what counts is the time that 8 MB x 3/4 take on a link of 75 GB/s: 84 us
  // in a ring, which sends all of it over one; 28 us over three.
  const std::string shape = "t3/direct --impl all=model --set sub_layer.k=32 --mode ";
  const auto direct = run_correctly(shape + "direct"), ring = run_correctly(shape + "t3");
  CHECK(fused_ns(ring) > 84'000);
  CHECK(fused_ns(direct) < fused_ns(ring) * 6 / 10);
  // Where the GEMM is long, both hide behind it.
  const auto hidden = run_correctly("t3/direct --impl all=model --mode direct");
  const auto gemm = run_correctly("t3/direct --impl all=model --mode gemm");
  CHECK(fused_ns(hidden) < gemm.number("time_ns.gemm") * 115 / 100);
}

TEST_CASE("a direct run has the same digest from RTL, models and lockstep, sleeping or not",
          "[.long]") {
  expect_same_digest("t3/direct-small --mode direct");
}

TEST_CASE("an update too few or twice and a Tracker that is not programmed are found out",
          "[T3-DIRECT-01]") {
  const std::string direct = "t3/direct-small --data stamp --mode direct --impl all=model ";
  expect_found(direct + "--set hbm.fault.drop_update=100", "wrong data: rank");
  expect_found(direct + "--set hbm.fault.double_update=100", "wrong data: rank");
  expect_found(direct + "--firmware " STRETTO_BUILD_DIR "/sw/firmware/main_no_tracker.elf",
               "wavefront tiles triggered");
}

TEST_CASE("what a direct reduce-scatter cannot do is refused in one line") {
  expect_refused("t3/direct --mode direct --set topology=ring", "need topology=fully_connected");
  expect_refused("t3/direct --mode direct --set gpus=17", "count 16 for tiles of 128 rows");
  expect_refused("t3/direct --mode direct --set gpus=9 --set software.tile_m=256",
                 "count 8 for tiles of 256 rows");
  expect_refused("t3/direct --mode direct --set topology=ring --set gpus=3 --set sim.mirror=true",
                 "cannot be mirrored");
  expect_refused("t3/direct --mode direct --set software.split_k=2 --set software.gemm=gemm_split",
                 "needs mode t3 or t3-mca");
}
