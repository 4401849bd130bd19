// SPDX-License-Identifier: Apache-2.0
// Question: does functional coverage tell a bin that nothing hit, and a rule without bin?
#include "tests/support/coverage_bins.h"

#include <catch2/catch.hpp>
#include <fstream>

using stretto::test::CoverageBins;
using stretto::test::coverification_cycles;

TEST_CASE("a bin that nothing hit is named") {
  CoverageBins bins("tiny");
  CHECK(bins.empty() == "no bins");
  uint64_t& once = bins.bin("R1: once");
  for (int i = 0; i < 100; ++i) bins.bin("R2: never " + std::to_string(i)) += i != 42;
  once += true;
  CHECK(bins.empty() == "R2: never 42\n");
}

TEST_CASE("a bin needs a rule and a name of its own") {
  CoverageBins bins("tiny");
  bins.bin("R1: grant");
  CHECK_THROWS_AS(bins.bin("R1: grant"), std::invalid_argument);
  CHECK_THROWS_AS(bins.bin("grant"), std::invalid_argument);
}

TEST_CASE("a rule that no bin is named after is found") {
  const std::string readme = STRETTO_BUILD_DIR "/coverage_bins_test.md";
  std::ofstream(readme) << "# Tiny\n- **R1** One.\n- **T12** Two\n  lines.\n- **bold** no rule.\n";
  CoverageBins bins("tiny");
  bins.bin("R1: grant");
  CHECK(bins.rules_without_bin(readme) == "T12 ");
  bins.bin("T12: trigger");
  CHECK(bins.rules_without_bin(readme) == "");
  CHECK(bins.rules_without_bin("no_such_file") == "no_such_file has no rules");
}

TEST_CASE("the number of random clocks comes from the environment") {
  unsetenv("STRETTO_COVERIFICATION_CYCLES");
  CHECK(coverification_cycles() == 100'000);
  setenv("STRETTO_COVERIFICATION_CYCLES", "10000000", 1);
  CHECK(coverification_cycles() == 10'000'000);
  setenv("STRETTO_COVERIFICATION_CYCLES", "many", 1);
  CHECK_THROWS_AS(coverification_cycles(), std::invalid_argument);
}
