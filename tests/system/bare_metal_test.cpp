// SPDX-License-Identifier: Apache-2.0
// `stretto run --firmware ELF` runs any bare-metal program at its own addresses until it writes to
// `tohost`: 1 passes, anything else names the test that failed. The instruction tests of the ISS
// run here on the command processor with caches and two harts.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

void passes(const std::string& elf) {
  const Finished run = run_stretto("run --firmware " STRETTO_BUILD_DIR + elf, "timeout 60");
  INFO(elf << " -> " << run.status << ": " << run.output);
  CHECK(run.status == 0);
}

}  // namespace

TEST_CASE("instruction tests pass on the command processor") {
  for (const char* name : {"alu", "atomic", "compressed", "control", "machine", "iss_bench_loop"}) {
    passes(std::string("/tests/unit/riscv/") + name + ".elf");
  }
}

TEST_CASE("a failing program ends with 1 and the number of its test") {
  const Finished run = run_stretto(
      "run --firmware " STRETTO_BUILD_DIR "/tests/unit/riscv/failing.elf", "timeout 60");
  CHECK(run.status == 1);
  CHECK(run.lines() == 1);
  CHECK(run.says("test 3 failed"));
}

TEST_CASE("a program that ends with a word whose low half is 0 has failed") {
  const Finished run =
      run_stretto("run --firmware " STRETTO_BUILD_DIR "/tests/unit/riscv/high.elf", "timeout 60");
  INFO(run.output);
  CHECK(run.status == 1);
  CHECK(run.says("the program wrote 4294967296 to tohost"));
}

// By the program's own clock, of 2 GHz (asm/acquire_load.S); the L2 answers after 150 of the GPU's 1.5 GHz.
TEST_CASE(
    "an acquire and a load cost a command processor 157 clocks of its GPU, three more or less",
    "[CN-CP-03]") {
  const auto clocks_of_gpu = [](const std::string& rest) {
    const Finished run = run_stretto("run --firmware " STRETTO_BUILD_DIR
                                     "/tests/unit/riscv/acquire_load.elf --machine compnet --set "
                                     "gpus=1 --set servers=1 " +
                                     rest);
    INFO(run.output);
    const size_t at = run.output.find("test ");
    REQUIRE(at != std::string::npos);
    return std::stod(run.output.substr(at + 5)) * 1.5 / 2;
  };
  const double clocks = clocks_of_gpu("");
  CHECK(clocks == Approx(157).margin(3));
  CHECK(clocks_of_gpu("--set l2.request_cycles=150") - clocks == Approx(75).margin(1));
}

TEST_CASE("the firmware's self-test passes: console, timer, traps, harts, memory") {
  passes("/sw/firmware/selftest.elf");
}

TEST_CASE("the CoreMark-like benchmark ends with its checksum") {
  const Finished run = run_stretto(
      "run --firmware " STRETTO_BUILD_DIR "/sw/firmware/coremark_like.elf", "timeout 60");
  INFO(run.output);
  CHECK(run.status == 0);
  CHECK(run.says("instructions, checksum 0x47c7"));
}
