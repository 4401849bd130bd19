// SPDX-License-Identifier: Apache-2.0
// Which results a campaign takes from its folder, and what it says of the others. Nothing is
// simulated: results are written as runs write them.
#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>

#include "models/common/error.h"
#include "platform/campaign/campaign.h"
#include "platform/campaign/job_pool.h"
#include "tests/unit/platform/result_folder.h"

namespace stretto {
namespace {

using test::edit;
using test::ResultFolder;

// One simulation of t3/small, its result as `change` leaves it.
struct Bench {
  ResultFolder scratch;
  ReproduceOptions options;
  std::string folder;
  std::string key;

  explicit Bench(const std::function<void(Results&)>& change = [](Results&) {}) {
    setenv("STRETTO_SW", STRETTO_BUILD_DIR "/sw", 1);
    options.name = "test";
    options.out = scratch.path;
    options.table_only = true;
    folder = scratch.result("case/t3", [&](Results& results) {
      results.workload = std::string("t3/small");
      results.mode = std::string("t3");
      change(results);
    });
    key = Campaign(options).add(run());
    write_atomically(folder + "/key", key);
  }
  static CampaignRun run() { return {"case/t3", "case t3", "t3/small", "t3", "", {}}; }
  // What a campaign says on standard error when it looks at the folder.
  bool takes_it() const {
    Campaign campaign(options);
    campaign.add(run());
    campaign.lock();
    CHECK(campaign.simulate() == 0);
    const bool has_result = campaign.result("case/t3") != nullptr;
    CHECK(campaign.missing_results() == (has_result ? "" : "1 of 1 simulations have no result"));
    return has_result;
  }
};

TEST_CASE("a complete result with its key is taken") {
  const Bench bench;
  CHECK(bench.takes_it());
  CHECK(bench.key.find("hbm.channels 32") != std::string::npos);
}

TEST_CASE("a result of another build or option is not taken") {
  const Bench bench;
  write_atomically(bench.folder + "/key", bench.key + "x");
  CHECK_FALSE(bench.takes_it());
  std::filesystem::remove(bench.folder + "/key");
  CHECK_FALSE(bench.takes_it());
}

TEST_CASE("a result whose last file found no room on the disk is not taken") {
  const Bench bench;
  std::filesystem::remove(bench.folder + "/stats.csv");
  CHECK_FALSE(bench.takes_it());
}

TEST_CASE("a result whose numbers were edited is not taken") {
  const Bench bench;
  edit(
      bench.folder, [](auto& root) { root["time_ns"].as_object()["total"] = 1; }, false);
  CHECK_FALSE(bench.takes_it());
}

TEST_CASE("a result without audit or check is not taken") {
  for (const char* key : {"audit", "check"}) {
    const Bench bench;
    edit(
        bench.folder, [&](auto& root) { root.erase(key); }, true);
    INFO(key);
    CHECK_FALSE(bench.takes_it());
  }
}

TEST_CASE("a result that failed its checks or was cut short is not taken") {
  CHECK_FALSE(Bench([](Results& r) { r.check.mismatches = 1; }).takes_it());
  CHECK_FALSE(Bench([](Results& r) { r.check.elements = 0; }).takes_it());
  CHECK_FALSE(Bench([](Results& r) { r.audit.push_back({"law", "", 1, 2, false}); }).takes_it());
  CHECK_FALSE(Bench([](Results& r) { r.status = RunStatus::time_limit; }).takes_it());
}

TEST_CASE("a result of another workload or mode is not taken, whatever its key says") {
  CHECK_FALSE(Bench([](Results& r) { r.mode = std::string("gemm"); }).takes_it());
  CHECK_FALSE(Bench([](Results& r) { r.workload = std::string("t3/other"); }).takes_it());
}

TEST_CASE("what is wrong with a simulation is said before the folder is made") {
  ReproduceOptions options;
  options.name = "test";
  options.out = "/nowhere/at/all";
  options.sets = {"hbm.chanels=3"};
  Campaign campaign(options);
  CHECK_THROWS_WITH(campaign.add(Bench::run()), Catch::Contains("hbm.channels"));
  options.table_only = true;
  CHECK_THROWS_WITH(campaign.lock(), Catch::Contains("no such folder"));
}

// So a reproduction that is interrupted has not lost the results that it had not come to.
TEST_CASE("what a simulation replaces is there until it begins") {
  const ResultFolder scratch;
  std::vector<ChildProcess> jobs(2);
  std::vector<bool> prepared(2, false);
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].command = {"/bin/sleep", "30"};
    jobs[i].log_file = scratch.path + "/log" + std::to_string(i);
    jobs[i].prepare = [&prepared, i] { prepared[i] = true; };
  }
  CHECK(run_jobs(jobs, 1, 1, [](const ChildProcess&) {}) == SIGALRM);
  CHECK(prepared[0]);
  CHECK_FALSE(prepared[1]);
}

TEST_CASE("the threads of a simulation are no part of its key") {
  const Bench bench;
  ReproduceOptions other = bench.options;
  other.sets = {"sim.threads=3"};
  CHECK(Campaign(other).add(Bench::run()) == bench.key);
  other.sets = {"hbm.dram_queue_atoms=32"};
  CHECK(Campaign(other).add(Bench::run()) != bench.key);
}

}  // namespace
}  // namespace stretto
