// SPDX-License-Identifier: Apache-2.0
// Question: does `stretto run --waves` show what the RTL did, when it did it, without changing it,
// and is the file there however the run ends? The numbers in the waves are counted and compared
// with the statistics of the run.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>

#include "platform/config/options.h"
#include "tests/support/fst_file.h"
#include "tests/system/process.h"

using namespace stretto::test;
using Catch::Matchers::Contains;
using stretto::block_names;

namespace {

const std::string kSmall = "run t3/small --mode t3-mca ";

uint64_t statistic(const std::string& folder, const char* path) {
  return stats(folder).at("statistics").at(path).to_number<uint64_t>();
}

// In how many clocks the output is high after the edge.
uint64_t clocks_with(const FstFile& fst, const std::string& block, const std::string& output) {
  const std::vector<FstFile::Change>& changes = fst.changes(block + "." + output);
  uint64_t count = 0;
  size_t next = 0;
  bool high = false;
  for (const uint64_t edge : fst.rises(block + ".clk_i")) {
    for (; next < changes.size() && changes[next].time <= edge; ++next)
      high = changes[next].value == "1";
    count += high ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("waves hold every grant and every trigger of the run and change nothing") {
  const Scratch scratch;
  const std::string with = scratch.path + "/with", without = scratch.path + "/without";
  REQUIRE(run_stretto(kSmall + "--out " + without).status == 0);
  const Finished run =
      run_stretto(kSmall + "--waves mca,tracker,gpu1.grid_scheduler,gpu3.tracker --out " + with);
  INFO(run.output);
  REQUIRE(run.status == 0);
  CHECK(run.says("waves.fst"));
  CHECK(stats(with).at("digest") == stats(without).at("digest"));

  const FstFile fst(with + "/waves.fst");
  uint64_t compute = 0, communication = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const std::string mca = "gpu0.mca[" + std::to_string(i) + "]";
    compute += clocks_with(fst, mca, "grant_compute_o");
    communication += clocks_with(fst, mca, "grant_comm_o");
  }
  CHECK(compute == statistic(with, "gpu0.hbm.mca.grants_compute"));
  CHECK(communication == statistic(with, "gpu0.hbm.mca.grants_communication"));
  CHECK(clocks_with(fst, "gpu0.tracker", "trigger_valid_o") ==
        statistic(with, "gpu0.hbm.tracker.triggers"));
  CHECK(clocks_with(fst, "gpu3.tracker", "trigger_valid_o") ==
        statistic(with, "gpu3.hbm.tracker.triggers"));
  CHECK(clocks_with(fst, "gpu1.grid_scheduler", "dispatch_valid_o") ==
        statistic(with, "gpu1.compute.front_end.dispatched"));
  CHECK_FALSE(fst.has("gpu0.grid_scheduler.clk_i"));
  CHECK_FALSE(fst.has("gpu1.tracker.clk_i"));
}

TEST_CASE("a window is cut at machine time and a lockstep block can be looked at") {
  constexpr uint64_t kPsAUs = 1'000'000;
  const Scratch scratch;
  const auto edges_of = [&](const std::string& blocks, const std::string& folder) {
    const Finished run = run_stretto(kSmall + "--impl all=lockstep --waves " + blocks + " --out " +
                                     scratch.path + folder);
    INFO(run.output);
    REQUIRE(run.status == 0);
    return FstFile(scratch.path + folder + "/waves.fst");
  };
  // Of the whole run, from the middle of the Tracker's work on: when that is, firmware and kernels decide.
  const std::vector<uint64_t> all = edges_of("tracker", "/all").rises("gpu0.tracker.clk_i");
  REQUIRE(all.size() > 100);
  const uint64_t from_us = all[all.size() / 2] / kPsAUs, from = from_us * kPsAUs;
  std::vector<uint64_t> expected;
  std::copy_if(all.begin(), all.end(), std::back_inserter(expected),
               [&](uint64_t edge) { return edge > from && edge < from + kPsAUs; });
  const FstFile cut = edges_of(
      "tracker@" + std::to_string(from_us) + "us.." + std::to_string(from_us + 1) + "us", "/cut");
  CHECK(cut.begin() == from);
  CHECK(cut.end() == from + kPsAUs);
  std::vector<uint64_t> seen = cut.rises("gpu0.tracker.clk_i");
  std::erase(seen, from);  // The first value of a file is no edge of its own.
  CHECK(seen == expected);
  for (const uint64_t edge : expected)
    REQUIRE(edge % 1000 == 0);  // 1 GHz: nobody reads a register of the Tracker here.
}

TEST_CASE("a killed run leaves the sections that were closed") {
  const Scratch scratch;
  const std::string file = scratch.path + "/r/waves.fst";
  const Finished started = run_command(
      "{ " STRETTO_BUILD_DIR
      "/stretto run t3/tnlg-fc2-tp8 --mode t3-mca --waves mca[0] --time-limit 60 --out " +
      scratch.path + "/r >/dev/null 2>&1 & echo $!; }");
  const pid_t run = std::stoi(started.output);
  const auto seen = [&] {
    try {
      return FstFile(file).rises("gpu0.mca[0].clk_i").size();
    } catch (const std::runtime_error&) {
      return size_t{0};  // No section yet.
    }
  };
  for (int i = 0; i < 600 && seen() < 10; ++i) usleep(100'000);
  REQUIRE(kill(run, SIGKILL) == 0);
  usleep(100'000);
  CHECK(std::filesystem::exists(file + ".hier"));
  CHECK(seen() >= 10);
}

TEST_CASE("an interrupted run, a time limit and a failed check leave a finished file") {
  const auto complete = [](const std::string& folder) {
    const FstFile fst(folder + "/waves.fst");
    return fst.end() > 0 && !std::filesystem::exists(folder + "/waves.fst.hier");
  };
  const Scratch scratch;
  const std::string big = "run t3/tnlg-fc2-tp8 --mode t3-mca --waves mca[0],grid_scheduler --out ";
  const Finished late = run_stretto(big + scratch.path + "/late --time-limit 2");
  INFO(late.output);
  CHECK(late.status == 124);
  CHECK(complete(scratch.path + "/late"));
  const Finished stopped = run_stretto(big + scratch.path + "/stopped", "timeout -s INT 3");
  INFO(stopped.output);
  CHECK(complete(scratch.path + "/stopped"));
  const Finished failed =
      run_stretto(kSmall + "--set fault.mca_inverted=true --impl mca=lockstep --waves mca --out " +
                  scratch.path + "/failed");
  INFO(failed.output);
  CHECK(failed.status == 1);
  CHECK(complete(scratch.path + "/failed"));
}

TEST_CASE("bad requests are refused in one line before anything runs") {
  const Scratch scratch;
  const auto refusal = [&](const std::string& arguments) {
    const Finished run = run_stretto(kSmall + "--out " + scratch.path + "/r " + arguments);
    CHECK(run.status == 2);
    CHECK(run.lines() == 1);
    return run.output;
  };
  CHECK_THAT(refusal("--waves mcb"), Contains("no block 'mcb'"));
  CHECK_THAT(refusal("--waves mca@1us"), Contains("FROM..TO"));
  CHECK_THAT(refusal("--waves gpu4.mca"), Contains("GPU 0..3"));
  CHECK_THAT(refusal("--waves mca[32]"), Contains("0..31"));
  CHECK_THAT(refusal("--waves ''"), Contains("must not be empty"));
  CHECK_THAT(refusal("--waves mca --impl mca=model"), Contains("no RTL to look at"));
  CHECK_THAT(refusal("--waves mca --waves-limit 0"), Contains("1..65536"));
  CHECK_THAT(refusal("--waves-limit 1"), Contains("there is no --waves"));
}

TEST_CASE("a file that reaches its limit ends there and can be read") {
  const Scratch scratch;
  const Finished run =
      run_stretto(kSmall + "--waves gpu*.all --waves-limit 1 --out " + scratch.path + "/r");
  INFO(run.output);
  REQUIRE(run.status == 0);
  CHECK(run.says("reached --waves-limit 1 MiB"));
  const std::string file = scratch.path + "/r/waves.fst";
  // The limit, the names, and one section of at most an eighth.
  CHECK(std::filesystem::file_size(file) < (uint64_t{5} << 20) / 4);
  const FstFile fst(file);
  CHECK(fst.end() > fst.begin());
  CHECK_FALSE(fst.rises("gpu0.grid_scheduler.clk_i").empty());
}

TEST_CASE("without the traced executable the message says how to build it") {
  const Scratch scratch;
  std::filesystem::create_symlink(STRETTO_BUILD_DIR "/sw", scratch.path + "/sw");
  std::filesystem::copy(STRETTO_BUILD_DIR "/stretto", scratch.path + "/stretto");
  const Finished run =
      run_command(scratch.path + "/stretto " + kSmall + "--waves mca --out " + scratch.path + "/r");
  CHECK(run.status == 2);
  CHECK_THAT(run.output, Contains("ninja -C") && Contains("stretto_checked"));
}

TEST_CASE("the save files name signals that exist") {
  const Scratch scratch;
  const Finished run = run_stretto(kSmall + "--waves all@0us..1us --out " + scratch.path + "/r");
  INFO(run.output);
  REQUIRE(run.status == 0);
  const FstFile fst(scratch.path + "/r/waves.fst");
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("waves")) {
    if (entry.path().extension() != ".gtkw") continue;
    ++files;
    size_t names = 0;
    std::ifstream stream(entry.path());
    for (std::string line; std::getline(stream, line);) {
      if (line.rfind("+{", 0) == 0) line = line.substr(line.find("} ") + 2);  // +{alias} name
      if (line.rfind("^1 ", 0) == 0) CHECK(std::filesystem::exists(line.substr(3)));
      if (line.rfind("gpu0.", 0) != 0) continue;
      INFO(entry.path().string() + ": " + line);
      CHECK(fst.has(line));
      ++names;
    }
    CHECK(names > 10);
    // A save file shows the block whose name it has.
    CHECK(std::find(block_names().begin(), block_names().end(), entry.path().stem().string()) !=
          block_names().end());
  }
  CHECK(files >= 3);
}
