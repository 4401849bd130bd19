// SPDX-License-Identifier: Apache-2.0
// Question: does a co-verification test that fails leave what one needs: cycle, signal, both
// values, the last 20 inputs, the seed, and an FST file of the clocks before? Asked of
// broken_on_purpose.
#include <sys/wait.h>
#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/support/block_waves.h"
#include "tests/support/fst_file.h"

namespace stretto {
namespace {

constexpr uint64_t kWrongCycle = 5000;  // As in broken_on_purpose.cpp.
constexpr uint64_t kPicosecondsACycle = 1000;

struct Failure {
  std::string text;
  std::string file;
};

Failure run(const std::string& test_case) {
  Failure failure;
  failure.file = STRETTO_BUILD_DIR "/waves/broken_on_purpose." + test_case + ".fst";
  std::filesystem::remove(failure.file);
  const std::string command = STRETTO_BUILD_DIR "/tests/broken_on_purpose '" + test_case + "' 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> part;
  while (fgets(part.data(), part.size(), pipe) != nullptr) failure.text += part.data();
  const int status = pclose(pipe);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) != 0);
  return failure;
}

TEST_CASE(
    "a lockstep mismatch of any block tells cycle, signal, values and inputs, and leaves waves") {
  struct Row {
    const char* block;
    const char* signal;
    const char* values;
  };
  for (const Row& row : {Row{"mca", "threshold", "rtl 0x0, model 0x1"},
                         Row{"tracker", "trigger_wg_id", "rtl 0x0, model 0x1"},
                         Row{"grid_scheduler", "irq", "rtl 0x0, model 0x1"},
                         Row{"request_ring", "issue_tag", "rtl 0x0, model 0x1"}}) {
    const std::string block = row.block;
    const Failure failure = run(block);
    CAPTURE(failure.text);
    CHECK_THAT(failure.text, Catch::Contains("repeat with STRETTO_SEED="));
    // Catch breaks lines.
    std::string words;
    for (const char c : failure.text) {
      const char one = c == '\n' ? ' ' : c;
      if (one != ' ' || words.empty() || words.back() != ' ') words += one;
    }
    CHECK_THAT(words, Catch::Contains("lockstep: " + block + " " + block +
                                      ", cycle 5000: " + row.signal + ": " + row.values));
    CHECK_THAT(words, Catch::Contains("cycle 4981: "));
    CHECK_THAT(words, !Catch::Contains("cycle 4980: "));
    CHECK_THAT(failure.text, Catch::Contains(failure.file + ", cycle n at n mod 2^32 ns"));

    const test::FstFile waves(failure.file);
    const std::string clock = "gpu0." + block + ".clk_i";
    REQUIRE(waves.has(clock));
    CHECK(waves.rises(clock).size() >= test::kWaveClocks - 1);
    CHECK(waves.rises(clock).back() == kWrongCycle * kPicosecondsACycle);
    CHECK(waves.begin() >= (kWrongCycle - test::kWaveClocks) * kPicosecondsACycle);
    // The signal is there, and the address of the register that each clock reads moves.
    const auto changes = [&](const std::string& begin) {
      const auto name = waves.names().lower_bound("gpu0." + block + "." + begin);
      REQUIRE(name->first.find(begin) != std::string::npos);
      return waves.changes(name->first).size();
    };
    CHECK(changes(std::string(row.signal) + "_o") >= 1);
    CHECK(changes("reg_addr_i") > 100);
  }
}

}  // namespace
}  // namespace stretto
