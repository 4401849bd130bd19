// SPDX-License-Identifier: Apache-2.0
// Question: are the random numbers of tests the same everywhere, and in range?
// Expected words: the reference C code of xoshiro256** and splitmix64 (Blackman and Vigna), seed 0.

#include "tests/support/seeded_rng.h"

#include <catch2/catch.hpp>

using stretto::test::Rng;

TEST_CASE("the sequence is that of xoshiro256** seeded by splitmix64") {
  Rng rng(0, 0);
  CHECK(rng.next() == 0x99ec5f36cb75f2b4ull);
  CHECK(rng.next() == 0xbf6e1f784956452aull);
  CHECK(rng.next() == 0x1a5f849d4933e6e0ull);
}

TEST_CASE("one seed gives one sequence and another salt another one") {
  Rng a(7, 1), b(7, 1), c(7, 2);
  const uint64_t first = a.next();
  CHECK(first == b.next());
  CHECK(first != c.next());
}

TEST_CASE("numbers stay in range and reach both ends") {
  Rng rng(1, 0);
  bool low = false, high = false;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = rng.between(3, 9);
    REQUIRE(value >= 3);
    REQUIRE(value <= 9);
    low |= value == 3;
    high |= value == 9;
  }
  CHECK(low);
  CHECK(high);
  CHECK(rng.below(1) == 0);
}
