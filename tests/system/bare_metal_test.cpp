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
