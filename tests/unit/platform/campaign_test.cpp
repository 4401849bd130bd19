// SPDX-License-Identifier: Apache-2.0
// Which results a campaign takes from its folder, and what it says of the others; pictures. Nothing
// is simulated: results are written as runs write them.
#include <catch2/catch.hpp>

#include <sys/resource.h>

#include <csignal>
#include <cstdlib>

#include "models/common/error.h"
#include "platform/campaign/campaign.h"
#include "platform/campaign/job_pool.h"
#include "platform/campaign/plot.h"
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

// A folder of results may be moved with the workloads that a campaign has written into it.
TEST_CASE("a workload file counts by its name and what it says, wherever it is") {
  setenv("STRETTO_SW", STRETTO_BUILD_DIR "/sw", 1);
  const ResultFolder scratch;
  ReproduceOptions options;
  options.name = "test";
  options.table_only = true;
  const auto key_of = [&](const std::string& folder, const std::string& gpus) {
    prepare_folder(scratch.path + "/" + folder);
    const std::string file = scratch.path + "/" + folder + "/mine.yaml";
    write_atomically(file, "machine: t3\nmodes: [t3]\nset: {gpus: " + gpus +
                               "}\nsub_layer: {m: 330, n: 530, k: 100}\n");
    return Campaign(options).add({"case", "case", file, "t3", "", {}});
  };
  const std::string key = key_of("one", "2");
  CHECK(key_of("other", "2") == key);
  CHECK(key_of("one", "4") != key);
  const std::string before = scratch.path + "/one", after = scratch.path + "/moved";
  key_of("one", "2");
  const std::string result = scratch.result("one/case", [&](Results& results) {
    results.workload = before + "/mine.yaml";
    results.mode = std::string("t3");
  });
  write_atomically(result + "/key", key);
  std::filesystem::rename(before, after);
  options.out = after;
  Campaign campaign(options);
  campaign.add({"case", "case", after + "/mine.yaml", "t3", "", {}});
  campaign.lock();
  CHECK(campaign.simulate() == 0);
  CHECK(campaign.result("case") != nullptr);
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

Plot line_of(int points) {
  Plot plot{.title = "a line", .x = "x", .y = "y", .lines = {{"one", {}}}};
  for (int x = 0; x < points; ++x) plot.lines[0].points.emplace_back(x, x % 17);
  return plot;
}

// No file of this process, or of one that it starts, may grow beyond `bytes`.
struct FileLimit {
  explicit FileLimit(rlim_t bytes) : signal(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &earlier);
    const rlimit limit{bytes, earlier.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &earlier);
    std::signal(SIGXFSZ, signal);
  }
  rlimit earlier{};
  void (*signal)(int);
};

TEST_CASE("a picture that finds no room is a user error, and no part of it stays") {
  const ResultFolder scratch;
  const std::string stem = scratch.path + "/a b'c";  // As gnuplot quotes it.
  write_plot(stem, line_of(20));
  CHECK(read_file(stem + ".svg").find("</svg>") != std::string::npos);
  CHECK(read_file(stem + ".png").find("IEND") != std::string::npos);
  const std::string earlier = read_file(stem + ".svg");
  {
    const FileLimit limit(8192);  // The script has less, the picture more.
    CHECK_THROWS_AS(write_plot(stem, line_of(200)), UserError);
  }
  CHECK(read_file(stem + ".svg") == earlier);
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(scratch.path))
    ++files;
  CHECK(files == 3);
}

TEST_CASE("without gnuplot there is the script, however long") {
  const ResultFolder scratch;
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  write_plot(scratch.path + "/long", line_of(100'000));
  setenv("PATH", path.c_str(), 1);
  CHECK(std::filesystem::file_size(scratch.path + "/long.gp") > 500'000);  // A pipe holds 64 KiB.
  CHECK_FALSE(std::filesystem::exists(scratch.path + "/long.svg"));
}

}  // namespace
}  // namespace stretto
