// SPDX-License-Identifier: Apache-2.0
// What is in a folder of results belongs to one run that was carried out: a refused run changes
// nothing, files of an earlier run do not stay beside those of a later one, two workload files have
// two folders, and where there is no room for all files the small ones are written.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

const std::string kShort = "run t3/small --mode gemm --impl all=model ";
const std::string kWorkload = "modes: [gemm]\nsub_layer: {m: 64, n: 64, k: 64}\n";

std::string text_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("a refused run leaves the results of an earlier one as they are") {
  const Scratch scratch;
  const std::string out = scratch.path + "/r";
  REQUIRE(run_stretto(kShort + "--timeline --out " + out).status == 0);
  const auto files = files_in(out);
  const std::string before = text_of(out + "/stats.json");
  // Refused while the machine is described, and by the driver in the middle of the run.
  for (const char* wrong : {"--set gpus=0", "--set gpu.registers_bytes=4096",
                            "--timeline --set gpu.registers_bytes=4096"}) {
    const Finished refused = run_stretto(kShort + wrong + " --out " + out);
    INFO(wrong << ": " << refused.output);
    CHECK(refused.status == 2);
    CHECK(files_in(out) == files);
    CHECK(text_of(out + "/stats.json") == before);
  }
}

TEST_CASE("a run that did not end does not say that what it did not check is right") {
  const Scratch scratch;
  const Finished finished =
      run_stretto("run t3/small --time-limit 0.01 --out " + scratch.path + "/r");
  INFO(finished.output);
  CHECK(finished.status == 124);
  CHECK(finished.says("check       not made: the run did not end"));
  CHECK(finished.says("audit       not made: the run did not end"));
  CHECK(!finished.says("mismatches"));
}

TEST_CASE("files of an earlier run do not stay beside those of a later one") {
  const Scratch scratch;
  const std::string out = scratch.path + "/r";
  std::filesystem::create_directory(out);
  for (const char* name : {"waves.fst", "waves.fst.hier", "timeline.json"})
    scratch.file(std::string("r/") + name, "old");
  REQUIRE(run_stretto(kShort + "--out " + out).status == 0);
  CHECK(files_in(out) == std::vector<std::string>{"machine.yaml", "stats.csv", "stats.json"});
}

TEST_CASE("results that a killed run has set aside are shown, and come back") {
  const Scratch scratch;
  const std::string out = scratch.path + "/r";
  REQUIRE(run_stretto(kShort + "--timeline --out " + out).status == 0);
  const auto files = files_in(out);
  const std::string before = text_of(out + "/stats.json");
  REQUIRE(run_stretto("run t3/mega-fc1-tp8 --impl all=model --timeline --out " + out,
                      "timeout -s KILL 3")
              .status == 137);
  CHECK_FALSE(std::filesystem::exists(out + "/stats.json"));
  for (const std::string& command : {"report " + out, "compare " + out + " " + out}) {
    const Finished shown = run_stretto(command);
    INFO(shown.output);
    CHECK(shown.status == 0);
    CHECK(shown.says("a later run has no results"));
    CHECK(shown.says("t3/small"));
  }
  // Refused: the folder is as the first run has left it.
  CHECK(run_stretto(kShort + "--set gpu.registers_bytes=4096 --out " + out).status == 2);
  CHECK(files_in(out) == files);
  CHECK(text_of(out + "/stats.json") == before);
}

TEST_CASE("workload files of one name have a folder each") {
  const Scratch scratch;
  for (const char* folder : {"a", "b", "here"})
    std::filesystem::create_directory(scratch.path + "/" + folder);
  for (const char* file : {"a/same.yaml", "b/same.yaml", "here/same.yaml"})
    scratch.file(file, kWorkload);
  const std::string inside = "cd " + scratch.path + "/here; ";
  for (const char* file : {"../a/same.yaml", "../b/same.yaml", "same.yaml", "./same.yaml"})
    REQUIRE(run_stretto(std::string("run --impl all=model ") + file, inside).status == 0);
  const std::string results = scratch.path + "/here/results/";
  CHECK(std::filesystem::exists(results + "same.yaml/gemm/stats.json"));
  CHECK(
      std::filesystem::exists(results + "outside" + scratch.path + "/a/same.yaml/gemm/stats.json"));
  CHECK(
      std::filesystem::exists(results + "outside" + scratch.path + "/b/same.yaml/gemm/stats.json"));
  CHECK(files_in(results) == std::vector<std::string>{"outside", "same.yaml"});
}

TEST_CASE("results on another machine have a folder of their own") {
  const Scratch scratch;
  scratch.file("mine.yaml", "extends: t3\ngpu: {cus: 40}\n");
  const std::string inside = "cd " + scratch.path + "; ";
  for (const char* machine : {"", "--machine t3-2x-cu", "--machine mine.yaml"})
    REQUIRE(run_stretto(kShort + machine, inside).status == 0);
  CHECK(files_in(scratch.path + "/results/t3/small") ==
        std::vector<std::string>{"gemm", "gemm@mine.yaml", "gemm@t3-2x-cu"});
}

TEST_CASE("a graph and its training have a folder each") {
  const Scratch scratch;
  const std::string inside = "cd " + scratch.path + "; ";
  for (const char* what : {"", " --training"})
    REQUIRE(run_stretto(std::string("run nerf:rows=1 --mode bsp --impl all=model") + what, inside)
                .status == 0);
  CHECK(files_in(scratch.path + "/results/nerf:rows=1") ==
        std::vector<std::string>{"bsp", "bsp-training"});
}

TEST_CASE("a machine file that a workload names lies beside the workload") {
  const Scratch scratch;
  scratch.file("base.yaml", "extends: t3\ngpus: 3\n");
  scratch.file("mine.yaml", "extends: base.yaml\n");
  const std::string workload = scratch.file("w.yaml", "machine: mine.yaml\n" + kWorkload);
  const Finished run =
      run_stretto("run --impl all=model " + workload + " --out " + scratch.path + "/r");
  INFO(run.output);
  CHECK(run.status == 0);
  CHECK(run.says("3 GPUs"));
}

TEST_CASE("on a full disk statistics are written and the timeline is not") {
  const Scratch scratch;
  const std::string disk = scratch.path + "/disk", plenty = scratch.path + "/plenty";
  const std::string run_into = "run t3/small --mode t3-mca --impl all=model --timeline --out ";
  REQUIRE(run_stretto(run_into + plenty).status == 0);
  std::filesystem::create_directory(disk);
  uint64_t small = 0;
  for (const char* name : {"machine.yaml", "stats.csv", "stats.json"})
    small += (std::filesystem::file_size(plenty + "/" + name) / 4096 + 1) * 4;
  const uint64_t timeline = std::filesystem::file_size(plenty + "/timeline.json") / 1024;
  const uint64_t other = timeline / 2;
  // The file system is seen by this command only, which copies what the run left.
  const Finished run =
      run_command("unshare -rm sh -c 'mount -t tmpfs -o size=" + std::to_string(small + other) +
                  "k none " + disk + " && " STRETTO_BUILD_DIR "/stretto " + run_into + disk +
                  "; status=$?; cp -r " + disk + " " + scratch.path + "/copy; exit $status'");
  INFO(run.output);
  CHECK(run.status == 2);
  CHECK(run.says("stretto: the disk is full: timeline and waves were removed for stats.json"));
  CHECK(stats(scratch.path + "/copy").at("status").as_string() == "complete");
  CHECK(files_in(scratch.path + "/copy") ==
        std::vector<std::string>{"machine.yaml", "stats.csv", "stats.json"});
}
