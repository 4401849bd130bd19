// SPDX-License-Identifier: Apache-2.0
// Whatever a user gets wrong ends in one clear line and the right exit status, and nothing is lost:
// unknown keys, wrong types, ranges, names, ELFs, folders, signals, time limits (issue "Bad
// input").
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

// One line, exit 2, and the line says what it must.
void bad(const std::string& arguments, const std::vector<std::string>& says) {
  const Finished run = run_stretto(arguments);
  INFO(arguments << " -> " << run.status << ": " << run.output);
  CHECK(run.status == 2);
  // The console of the command processors is the machine's; what stretto says is one line.
  size_t own = run.lines();
  for (size_t at = run.output.find("firmware: "); at != std::string::npos;
       at = run.output.find("firmware: ", at + 1))
    --own;
  CHECK(own == 1);
  for (const std::string& text : says) CHECK(run.says(text));
}

const std::string kShort = "run t3/small --mode gemm --impl all=model ";

}  // namespace

TEST_CASE("an unknown parameter names itself and its nearest neighbours") {
  bad(kShort + "--set hbm.chanels=4",
      {"--set hbm.chanels=4", "unknown parameter 'hbm.chanels'", "hbm.channels"});
}

TEST_CASE("a wrong type and a value out of range name what is allowed") {
  bad(kShort + "--set gpus=few", {"gpus = 'few'", "1..32"});
  bad(kShort + "--set gpus=33", {"gpus = '33'", "1..32"});
  bad(kShort + "--set gpus", {"must be path.to.key=value"});
}

TEST_CASE("a wrong key in a machine file is named with file and line") {
  const Scratch scratch;
  const std::string file = scratch.file("mine.yaml", "extends: t3\ngpu:\n  cu: 3\n");
  bad(kShort + "--machine " + file, {"mine.yaml:3", "gpu.cu", "gpu.cus"});
}

TEST_CASE("unknown workloads, machines, modes, blocks, commands and options are named") {
  bad("run t3/smal", {"t3/smal", "t3/small"});
  bad("run t3/small --machine t4", {"t4", "t3"});
  bad("run t3/small --mode fast", {"fast", "sequential"});
  bad("run t3/small --impl nic=rtl", {"nic"});
  bad("run t3/small --impl mca=fpga", {"rtl|model|lockstep"});
  bad("rn t3/small", {"rn", "run"});
  bad("run t3/small --fast", {"--fast"});
  bad("run t3/small --data random", {"stamp or real"});
  bad("list planets", {"planets"});
  bad("reproduce t5", {"t5"});
  bad("reproduce t3 --machines ,", {"--machines", "at least one"});
  bad("report /nowhere", {"/nowhere/stats.json"});
}

TEST_CASE("a firmware that is missing, truncated, empty or for another machine is named") {
  const Scratch scratch;
  bad("run --firmware " + scratch.path + "/none.elf", {"none.elf"});
  bad("run --firmware " + scratch.file("empty.elf", ""), {"empty.elf"});
  bad("run --firmware " + scratch.file("text.elf", std::string(4096, 'x')), {"text.elf"});
  bad("run --firmware /bin/true", {"/bin/true"});
  std::ifstream stream(STRETTO_BUILD_DIR "/sw/firmware/main.elf", std::ios::binary);
  std::ostringstream whole;
  whole << stream.rdbuf();
  if (whole.str().size() > 2000) {
    bad("run --firmware " + scratch.file("half.elf", whole.str().substr(0, whole.str().size() / 2)),
        {"half.elf"});
  }
}

TEST_CASE(
    "a kernel that no compute unit can hold, a file that is no kernel and too little memory are "
    "named") {
  bad(kShort + "--set gpu.registers_bytes=65536", {"kernel needs more than a compute unit has"});
  bad(kShort + "--set software.gemm=nothing", {"nothing.elf"});
  bad(kShort + "--set software.gemm=/bin/true", {"not for RISC-V"});
  bad("run t3/tnlg-fc2-tp8 --impl all=model --set sim.mirror=true --set software.memory_gib=1 "
      "--data real",
      {"sim.mirror"});
}

TEST_CASE("an output folder that cannot be written ends the run before it begins") {
  bad(kShort + "--out /proc/nothing", {"/proc/nothing"});
  const Scratch scratch;
  bad(kShort + "--out " + scratch.file("file", "in the way") + "/deeper", {"file/deeper"});
}

TEST_CASE("a full disk is one line and exit 2") {
  const Scratch scratch;
  const std::string small = scratch.path + "/small";
  std::filesystem::create_directories(small);
  // Needs a file system of its own; without the right to mount, the size limit of the shell stands
  // in for it.
  const Finished run = run_stretto(kShort + "--out " + small, "ulimit -f 1; trap '' XFSZ; exec");
  INFO(run.output);
  CHECK(run.status == 2);
  CHECK(run.says(small));
  CHECK_FALSE(std::filesystem::exists(small + "/stats.json"));
}

TEST_CASE("SIGINT in mid-run leaves complete results") {
  const Scratch scratch;
  const Finished run =
      run_stretto("run t3/mega-fc1-tp8 --impl all=model --timeline --out " + scratch.path + "/cut",
                  "timeout -s INT 3");
  INFO(run.output);
  const boost::json::value root = stats(scratch.path + "/cut");
  CHECK(root.at("status").as_string() == "interrupted");
  CHECK(root.at("statistics").as_object().size() > 0);
  std::ifstream timeline(scratch.path + "/cut/timeline.json");
  std::ostringstream text;
  text << timeline.rdbuf();
  CHECK_NOTHROW(boost::json::parse(text.str()));
}

TEST_CASE("the time limit ends a run with 124 and results") {
  const Scratch scratch;
  const Finished run = run_stretto("run t3/mega-fc1-tp8 --impl all=model --time-limit 2 --out " +
                                   scratch.path + "/cut");
  CHECK(run.status == 124);
  CHECK(stats(scratch.path + "/cut").at("status").as_string() == "time limit");
}

TEST_CASE("help and version are everywhere and succeed") {
  for (const char* arguments :
       {"--help", "--version", "run --help", "reproduce --help", "list --help", "report --help",
        "compare --help", "list machines", "list workloads", "list blocks", "list parameters"}) {
    const Finished run = run_stretto(arguments);
    INFO(arguments);
    CHECK(run.status == 0);
    CHECK(run.output.size() > 8);
  }
}
