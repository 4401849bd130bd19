// SPDX-License-Identifier: Apache-2.0
// Question: does each of many lists in one pool give its values back in their order, and does the
// pool use blocks again? State space: lists of none, one block, many; filled in turn; pushes onto
// others while one is emptied. Expected: vectors.
#include <catch2/catch.hpp>

#include <array>
#include <vector>

#include "models/gpu/base/block_lists.h"
#include "tests/support/seeded_rng.h"

using namespace stretto;

TEST_CASE("lists of one pool keep their values and their order") {
  using Lists = BlockLists<uint64_t, 64>;
  Lists lists;
  std::array<Lists::List, 8> here;
  std::array<std::vector<uint64_t>, 8> expected;
  test::Rng rng(3);
  for (uint64_t value = 0; value < 100'000; ++value) {
    const unsigned at = static_cast<unsigned>(rng.below(8)), beside = (at + 1) % 8;
    lists.push(here[at]) = value;
    expected[at].push_back(value);
    if (rng.below(50) != 0) continue;
    std::vector<uint64_t> seen;
    const Lists::List emptied = std::exchange(here[at], {});
    lists.for_each(emptied, [&](uint64_t other) { seen.push_back(other); });
    REQUIRE(seen == expected[at]);
    seen.clear();
    lists.empty(emptied, [&](uint64_t other) {
      seen.push_back(other);
      if (other % 16 != 0) return;
      lists.push(here[beside]) = other;
      expected[beside].push_back(other);
    });
    REQUIRE(seen == expected[at]);
    REQUIRE(here[at].empty());
    expected[at].clear();
  }
}

TEST_CASE("blocks of an emptied list are used again") {
  struct Big {
    uint64_t words[3];
  };
  using Lists = BlockLists<Big, 64>;  // Two a block.
  Lists lists;
  for (unsigned round = 0; round < 1000; ++round) {
    Lists::List list;
    for (uint64_t i = 0; i < 9; ++i) lists.push(list) = {{i, round, 0}};
    uint64_t next = 0;
    lists.empty(list, [&](const Big& big) {
      REQUIRE(big.words[0] == next++);
      REQUIRE(big.words[1] == round);
    });
    REQUIRE(next == 9);
    REQUIRE(lists.blocks() == 5);
  }
}
