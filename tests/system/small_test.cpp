// SPDX-License-Identifier: Apache-2.0
// The quick workload through the executable, in every mode: every element right, no law violated,
// traffic as the closed forms say (derived_traffic_in_chunks of t3.yaml), the same digest from the
// three implementations.
#include <algorithm>
#include <map>

#include <catch2/catch.hpp>

#include "sw/include/regs/mca_bank.h"
#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

void expect_correct_run(const std::string& workload, const std::string& mode, uint64_t elements) {
  const RunResult run = run_correctly(workload + " --mode " + mode);
  CHECK(run.number("check.elements") == elements);
  CHECK(run.text("digest").size() == 64);
}

constexpr uint64_t kElements = 330 * 530;

}  // namespace

TEST_CASE("small, sequential") { expect_correct_run("t3/small", "sequential", 4 * kElements); }
TEST_CASE("small, t3") { expect_correct_run("t3/small", "t3", 4 * kElements); }
TEST_CASE("small, t3-mca") { expect_correct_run("t3/small", "t3-mca", 4 * kElements); }
TEST_CASE("small, gemm") { expect_correct_run("t3/small", "gemm", 4 * kElements); }
TEST_CASE("small, rs", "[T3-BASE-05]") { expect_correct_run("t3/small", "rs", kElements); }
TEST_CASE("small, rs-nmc") { expect_correct_run("t3/small", "rs-nmc", kElements); }
TEST_CASE("small, ag") { expect_correct_run("t3/small", "ag", 4 * kElements); }

// Provenance is no value of a tile: what is not worked out are products and sums of numbers.
TEST_CASE("small, without values of tiles: stamps are as right, in the same time") {
  for (const char* mode : {"t3", "t3-mca", "gemm", "rs-nmc", "ag"}) {
    const std::string run = std::string("t3/small --impl all=model --mode ") + mode;
    const RunResult with = run_correctly(run),
                    without = run_correctly(run + " --set gpu.tile_values=false");
    CHECK(with.number("check.elements") == without.number("check.elements"));
    CHECK(with.text("digest") == without.text("digest"));
  }
}

// Where waiting could close a circle first: a miss at a time, none merged, a sector to memory.
TEST_CASE("small, with an entry, a merge and a place a slice, blocks and models in lockstep") {
  const std::string tiny =
      " --impl all=lockstep --set l2.miss_entries=1 --set l2.merges=1 "
      "--set l2.memory_queue_sectors=1";
  for (const char* mode : {"sequential", "t3-mca"})
    expect_correct_run("t3/small" + tiny, mode, 4 * kElements);
}

TEST_CASE("every policy of the arbiters can be chosen, and a mode is its policy", "[T3-MCA-08]") {
  const auto digest = [](const std::string& more) {
    return run_correctly("t3/small --impl all=model " + more).text("digest");
  };
  std::map<std::string, std::string> digests;
  for (const stretto::RegisterValue& policy : stretto::kMcaControlPolicyValues)
    digests[policy.name] =
        digest("--mode t3 --set software.mca_policy=" + std::string(policy.name));
  CHECK(digests.at("round_robin") == digest("--mode t3"));
  CHECK(digests.at("communication_aware") == digest("--mode t3-mca"));
  CHECK(digest("--mode t3-mca --set software.mca_policy=compute_exclusive") ==
        digests.at("compute_exclusive"));
  // What the paper rejects holds communication back while a kernel runs.
  CHECK(digests.at("compute_exclusive") != digests.at("compute_first_no_limit"));
}

TEST_CASE("a run whose data are wrong has failed, in its results too") {
  const Scratch scratch;
  const Finished run = run_stretto(
      "run t3/small --mode t3 --impl all=model --set software.gemm=gemm_skip_step --out " +
      scratch.path + "/r");
  INFO(run.output);
  CHECK(run.status == 1);
  const boost::json::value root = stats(scratch.path + "/r");
  CHECK(root.at("status").as_string() == "failed");
  CHECK(root.at("message").as_string().starts_with("wrong data: rank"));
  CHECK(root.at("check").at("mismatches").to_number<uint64_t>() > 0);
}

TEST_CASE("ragged real data, all in one row of GPUs") {
  expect_correct_run("t3/ragged-a", "t3", 3 * 850 * 300);
}
TEST_CASE("ragged real data, backward layout") {
  expect_correct_run("t3/ragged-b", "t3-mca", 4 * 200 * 600);
}
TEST_CASE("ragged real data, one row and one column past a tile") {
  expect_correct_run("t3/ragged-c", "t3", 5 * 641 * 257);
}
TEST_CASE("ragged real data, sequential") {
  expect_correct_run("t3/ragged-c", "sequential", 5 * 641 * 257);
}

// 8 x 3 and 3 x 8 tiles over five GPUs, so that chunks begin anywhere in a strip of 8.
TEST_CASE("ragged real data in strips of eight, and in rows", "[T3-U20]") {
  for (const char* order : {"strips", "rows"}) {
    for (const char* shape : {" --set sub_layer.m=987 --set sub_layer.n=300",
                              " --set sub_layer.m=300 --set sub_layer.n=987"}) {
      const std::string set = std::string(shape) + " --set sub_layer.tile_order=" + order;
      expect_correct_run("t3/ragged-c" + set, "t3-mca", 5 * 987 * 300);
      if (order == std::string("rows"))  // Strips are the default elsewhere.
        expect_correct_run("t3/ragged-c" + set, "sequential", 5 * 987 * 300);
    }
  }
}

TEST_CASE("a kernel that takes its tiles in another order than their maps is found out") {
  const Scratch scratch;
  const std::string run =
      "run t3/ragged-c --impl all=model --set software.gemm=gemm_other_order "
      "--out " +
      scratch.path + "/r";
  const Finished sequential = run_stretto(run + " --mode sequential");  // Every tile is computed.
  INFO(sequential.output);
  CHECK(sequential.status == 0);
  const Finished fused = run_stretto(run + " --mode t3");
  INFO(fused.output);
  CHECK(fused.status == 1);
  CHECK(fused.says("repeated trigger"));  // Of the id whose stores went elsewhere.
}

TEST_CASE("small, on GPUs behind one PCIe switch") {
  expect_correct_run("t3/small --machine v100-pcie", "t3-mca", 4 * kElements);
}
TEST_CASE("small, on GPUs around an NVSwitch") {
  expect_correct_run("t3/small --machine a100-nvswitch", "sequential", 4 * kElements);
}

TEST_CASE("a machine with a switch has the same digest whatever way it is run") {
  const auto digest = [](const std::string& more) {
    return run_correctly("t3/small --machine v100-pcie --mode t3 --impl all=model " + more)
        .text("digest");
  };
  const std::string first = digest("");
  CHECK(digest("--set sim.threads=1") == first);
  CHECK(digest("--set sim.window_ns=77") == first);
  CHECK(digest("--set sim.reverse_elaboration=true") == first);
}

// In the gate tests/determinism.sh does the same.
TEST_CASE("the same digest from RTL, models and lockstep, with every way to run it", "[.long]") {
  const auto digest = [](const std::string& more) {
    return run_correctly("t3/small --mode t3-mca " + more).text("digest");
  };
  const std::string rtl = digest("");
  CHECK(digest("--impl all=model") == rtl);
  CHECK(digest("--impl all=lockstep") == rtl);
  CHECK(digest("--timeline") == rtl);
  CHECK(digest("--impl all=model --set sim.sleep=false") == rtl);
  CHECK(digest("--impl all=model --set sim.reverse_elaboration=true") == rtl);
  CHECK(digest("--impl all=model --set sim.threads=1") == rtl);
  CHECK(digest("--impl all=model --seed 2") != rtl);
}

TEST_CASE("the window changes no statistic and no use, threads change no byte of the timeline") {
  const Scratch scratch;
  const auto outcome = [&](const std::string& more) {
    REQUIRE(run_stretto("run t3/small --mode t3-mca --impl all=model --timeline --out " +
                        scratch.path + "/r " + more)
                .status == 0);
    std::ifstream stream(scratch.path + "/r/timeline.json");
    std::ostringstream timeline;
    timeline << stream.rdbuf();
    const auto all = stats(scratch.path + "/r");
    return std::pair(std::pair(all.at("statistics"), all.at("utilisation")), timeline.str());
  };
  const auto one = outcome("--set sim.threads=1");
  CHECK(outcome("--set sim.window_ns=1").first == one.first);
  for (const char* threads : {"2", "3"}) {
    const auto other = outcome(std::string("--set sim.threads=") + threads);
    CHECK(other.first == one.first);
    CHECK(other.second == one.second);
  }
}

TEST_CASE("modes move exactly the bytes of the closed forms",
          "[T3-BASE-04][T3-BASE-06][T3-BASE-07][T3-FUSE-02][T3-FUSE-03][T3-NMC-06]") {
  // 3 x 5 tiles in both orders, and 4 x 3, a strip of four rows.
  struct Case {
    const char* set;
    uint64_t array;
  };
  const auto [set, kArray] =
      GENERATE(Case{"", 330 * 544 * 2}, Case{" --set sub_layer.tile_order=rows", 330 * 544 * 2},
               Case{" --set sub_layer.m=500 --set sub_layer.n=320", 500 * 320 * 2});
  INFO(set);
  const auto sequential = run_correctly(std::string("t3/aligned --mode sequential") + set);
  const auto t3 = run_correctly(std::string("t3/aligned --mode t3") + set);
  // Sums over four ranks, N = 4: each chunk takes every part once a round, so chunk sizes add up to
  // the array.
  CHECK(sequential.number("dram_bytes.rs_read") == 7 * kArray);  // 2N - 1.
  CHECK(t3.number("dram_bytes.rs_read") == 2 * kArray);          // N - 2.
  CHECK(sequential.number("dram_bytes.gemm_write") + sequential.number("dram_bytes.rs_write") ==
        8 * kArray);  // 2N.
  CHECK(t3.number("dram_bytes.gemm_write") + t3.number("dram_bytes.rs_write") ==
        6 * kArray);  // 2N - 2.
  CHECK(t3.number("dram_bytes.init_write") >= 4 * kArray);
  CHECK(sequential.number("dram_bytes.init_write") <
        4 * kArray / 50);  // No array: only the flags of the ring kernels.
  CHECK(sequential.number("dram_bytes.ag_read") == t3.number("dram_bytes.ag_read"));  // T3-R69.
  CHECK(sequential.number("dram_bytes.ag_write") == t3.number("dram_bytes.ag_write"));
  CHECK(t3.number("dram_bytes.ag_read") == 3 * kArray);  // N - 1 chunks a rank.
  CHECK(t3.number("dram_bytes.ag_write") == 3 * kArray);
}
