// SPDX-License-Identifier: Apache-2.0
// Question: does T3 work where links of a ring are unlike (T3 7.8), and is what cannot be hidden
// exposed? On t3/nodes-small (ragged, real numbers) and t3/nodes: 4 GPUs in 2 nodes, 2048 x 2048,
// 256 tiles, so that a chunk is a quarter of 8 MiB.
//
// Link arithmetic, not the code: in a ring each link carries N - 1 chunks. Between nodes a row of a
// tile, 128 x 2 B, is a packet with 42 B of InfiniBand's headers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "tests/support/expectations.h"

using namespace stretto::test;

namespace {

constexpr uint64_t kPayload = 3 * (2048 * 2048 * 2 / 4);
constexpr uint64_t kWire = kPayload / 256 * (256 + 42);

// What a link between nodes takes for its part of the reduce-scatter, in ns.
double link_ns(uint64_t mb_s) { return kWire * 1e3 / double(mb_s); }

RunResult run(const std::string& mode, uint64_t mb_s, const std::string& more = "") {
  return run_correctly("t3/nodes --impl all=model --set link_between_nodes.bandwidth_mb_s=" +
                       std::to_string(mb_s) + " --mode " + mode + more);
}

// From the first work-group of any GPU to the last update of any, in ns.
double fused_ns(const RunResult& run) {
  uint64_t begin = UINT64_MAX, end = 0;
  for (unsigned gpu = 0; gpu < 4; ++gpu) {
    const std::string at = "statistics.gpu" + std::to_string(gpu);
    begin = std::min(begin, run.number(at + ".compute.front_end.first_dispatch.gemm"));
    end = std::max(end, run.number(at + ".hbm.last_access.rs"));
  }
  return double(end - begin) / 1e6;
}

}  // namespace

TEST_CASE("data are right over unlike links, in each mode, also of a GPU a node and of three nodes",
          "[T3-MULTINODE-01]") {
  for (const char* mode : {"sequential", "t3", "t3-mca"}) {
    INFO(mode);
    const auto result = run_correctly(std::string("t3/nodes-small --mode ") + mode);
    CHECK(result.number("check.elements") == 4 * 330 * 530);
    const auto one_node = run_correctly(
        std::string("t3/nodes-small --impl all=model --set gpus_per_node=0 --mode ") + mode);
    CHECK(result.number("link_bytes") == one_node.number("link_bytes"));
  }
  run_correctly("t3/nodes-small --impl all=model --mode t3 --set gpus_per_node=1");
  run_correctly("t3/nodes-small --impl all=model --mode t3 --set gpus=6");
}

TEST_CASE("a reduce-scatter over nodes lasts as long as their link takes for its bytes, or longer",
          "[T3-MULTINODE-01]") {
  const auto gemm = run("gemm", 25'000);
  const double alone = double(gemm.number("time_ns.gemm"));
  REQUIRE(link_ns(25'000) > alone);  // Communication is what lasts.
  CHECK(double(run("rs", 25'000).number("time_ns.rs")) > link_ns(25'000));
  for (const char* mode : {"t3", "t3-mca"}) {
    INFO(mode);
    const double fused = fused_ns(run(mode, 25'000));
    CHECK(fused > link_ns(25'000));
    // Of GEMM and link one after the other at most the GEMM is hidden; most of it, as only what comes
    // before the first bytes on the link is not. Arbiters that hold communication back for the GEMM
    // hold back what the link waits for.
    const double hidden = alone + link_ns(25'000) - fused;
    CHECK(hidden <= alone);
    CHECK(hidden > (mode == std::string("t3") ? alone * 3 / 4 : 0));
  }
}

TEST_CASE("once the GEMM is hidden each further nanosecond of a link is exposed",
          "[.long][T3-MULTINODE-01]") {
  const double alone = double(run("gemm", 25'000).number("time_ns.gemm"));
  const double slow = fused_ns(run("t3", 25'000)), slower = fused_ns(run("t3", 12'500));
  CHECK(slower - slow == Approx(link_ns(12'500) - link_ns(25'000)).epsilon(0.05));
  // What is exposed: all but what hides behind the GEMM, which does not depend on the link.
  CHECK(slow - alone > 0);
  CHECK((slower - alone) - (slow - alone) == Approx(link_ns(25'000)).epsilon(0.05));
}
