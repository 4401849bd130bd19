// SPDX-License-Identifier: Apache-2.0
// Question: do the work-groups of a consumer start as the all-gathered rows arrive (T3-AGC),
// through the executable: right data, the same transfers as the sequential form, a gain that
// counters explain, a gate that never opens named?
//
// Rows that have not arrived hold NaN, so that a work-group that begins too early gives wrong data.
// Expected counts follow from the shape: 970 x 290 in tiles of 16 x 256 is 61 x 2 tiles, 8 row
// blocks, two of them a GPU.
#include <catch2/catch.hpp>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

uint64_t front_end(const RunResult& root, unsigned gpu, const std::string& name) {
  return root.number("statistics.gpu" + std::to_string(gpu) + ".compute.front_end." + name);
}

constexpr uint64_t kElements = 4 * 970 * 200;

}  // namespace

TEST_CASE("work-groups start as the rows they read arrive, and read what arrived",
          "[T3-AGC-01][T3-AGC-02]") {
  const auto gathered = run_correctly("t3/gather-small --mode t3-agc");
  const auto sequential = run_correctly("t3/gather-small --mode sequential");
  CHECK(gathered.number("check.elements") == kElements);
  CHECK(sequential.number("check.elements") == kElements);
  // Of 61 rows of tiles each GPU has 16, the last one 13; the others' raise an event each.
  for (unsigned gpu = 0; gpu < 4; ++gpu) {
    const uint64_t arriving = 2 * (61 - (gpu == 3 ? 13 : 16));
    CHECK(front_end(gathered, gpu, "events") == arriving);
    CHECK(front_end(gathered, gpu, "gates_opened") == 6);
    CHECK(front_end(gathered, gpu, "dispatched_before_last_event") >
          4);  // More than the own chunk.
    CHECK(front_end(sequential, gpu, "events") == 0);
  }
  // The same transfers in less time.
  CHECK(gathered.number("dram_bytes.ag_write") == sequential.number("dram_bytes.ag_write"));
  CHECK(gathered.number("link_bytes") == sequential.number("link_bytes"));
  CHECK(gathered.number("time_ns.total") < sequential.number("time_ns.total"));
}

TEST_CASE("the gather hides behind the consumer while that has work") {
  const auto gathered = run_correctly("t3/gather --mode t3-agc --impl all=model");
  const auto sequential = run_correctly("t3/gather --mode sequential --impl all=model");
  const auto time = [](const RunResult& root, const char* phase) {
    return root.number(std::string("time_ns.") + phase);
  };
  // 1024 x 512 x 2 bytes over a link of 75 GB/s are 14 us: what is saved, less than a tenth of it.
  CHECK(time(sequential, "total") - time(gathered, "total") > 12'600);
  CHECK(time(sequential, "total") - time(gathered, "total") < time(sequential, "ag"));
  // The consumer loses nothing: it takes as long as after the gather.
  CHECK(time(gathered, "gemm") < time(sequential, "gemm") * 102 / 100);
  for (unsigned gpu = 0; gpu < 4; ++gpu) {
    CHECK(front_end(gathered, gpu, "dispatched_before_last_event") >= 16);
    CHECK(front_end(sequential, gpu, "dispatched_before_last_event") == 0);
  }
}

TEST_CASE("gated runs have the same digest from RTL, models and lockstep", "[.long]") {
  const auto digest = [](const std::string& more) {
    return run_correctly("t3/gather-small --mode t3-agc " + more).text("digest");
  };
  const std::string rtl = digest("");
  CHECK(digest("--impl all=model") == rtl);
  CHECK(digest("--impl all=lockstep") == rtl);
  CHECK(digest("--impl all=model --set sim.sleep=false") == rtl);
}

TEST_CASE("a gate that never opens is a deadlock with its name and what it waits for") {
  const Scratch scratch;
  const Finished stuck =
      run_stretto("run t3/gather-small --mode t3-agc --impl all=model --firmware " STRETTO_BUILD_DIR
                  "/sw/firmware/main_no_tracker.elf --out " +
                  scratch.path + "/r");
  INFO(stuck.output);
  CHECK(stuck.status == 1);
  CHECK(stuck.says("deadlock"));
  // GPU 1 has row blocks 2 and 3, and asks for the next ones first.
  CHECK(
      stuck.says("gpu1.compute: kernel slot 0 waits for gate 4 (0 of 16 events have come), 12 "
                 "work-groups not placed"));
}

TEST_CASE("more row blocks than gates, GPUs without links and stamps are refused in one line") {
  const Scratch scratch;
  const auto refused = [&](const std::string& shape, const std::string& more,
                           const std::string& why) {
    const std::string file = scratch.file(
        "w.yaml", "machine: t3\nset: {gpus: 4, topology: fully_connected}\ngathered_gemm: {" +
                      shape + "}\ndata: real\nmodes: [t3-agc, sequential]\n");
    const Finished finished = run_stretto("run " + file + " --out " + scratch.path + "/r " + more);
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says(why));
  };
  refused("m: 131584, n: 128, k: 64", "",
          "needs 1028 gates, one a row block of 128, and a GPU has 1024");
  refused("m: 1024, n: 128, k: 64", "--set topology=ring", "need topology=fully_connected");
  refused("m: 1024, n: 128, k: 64", "--data stamp", "needs --data real");
  refused("m: 1024, n: 128, k: 64", "--set software.split_k=2", "needs kind sub_layer");
  refused("m: 1024, n: 128, k: 64", "--set gpus=3", "which 3 GPUs cannot share evenly");
  refused("m: 1024, n: 128", "", "gathered_gemm needs k");
}
