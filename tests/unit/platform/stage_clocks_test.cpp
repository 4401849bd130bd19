// SPDX-License-Identifier: Apache-2.0
// Question: is what a tile takes in a stage the time of its work-groups without waiting for others, and with what a
// wait for something that is there costs? Numbers are worked out by hand.
#include "platform/kinds/graph/stage_clocks.h"

#include <catch2/catch.hpp>

using namespace stretto;

namespace {

// Begin, end, waited for inputs, for room; the side that multiplies and those that store for each other.
std::vector<uint64_t> noted(uint64_t begin, uint64_t end, uint64_t in, uint64_t out,
                            uint64_t multiplying = 0, uint64_t storing = 0, uint64_t shortest = 0) {
  return {begin, end, in, out, multiplying, storing, shortest, 0};
}

}  // namespace

TEST_CASE("a stage that does one thing after the other has all of its waiting left out") {
  const StageClocks stage{10, 1, 1, 1, noted(100, 1100, 300, 200)};
  CHECK(stage.work_groups() == 1);
  CHECK(stage.whole() == 1000);
  CHECK(stage.sum(2) == 300);
  CHECK(stage.tile(0) == Approx(50));
  CHECK(stage.tile(20) == Approx(90));  // Two waits a tile.
}

TEST_CASE("of two sides that meet the one that takes longer counts") {
  // Works 500 clocks beside 150, then 0 beside 400, each with 20 of waiting a tile.
  std::vector<uint64_t> clocks = noted(0, 1000, 100, 600, 400, 250);
  const std::vector<uint64_t> other = noted(0, 1000, 600, 100, 400, 500);
  clocks.insert(clocks.end(), other.begin(), other.end());
  const StageClocks stage{5, 1, 1, 1, clocks};  // Three tiles and two.
  CHECK(stage.tile(20) == Approx((500 + 3 * 20 + 400 + 2 * 20) / 5.0));
}

TEST_CASE("two sides that wait for each other in turn take what neither waited for others") {
  // 400 clocks of waiting for others, which end at most so much earlier without it; 500 beside 450.
  const StageClocks stage{3, 1, 1, 1, noted(0, 1000, 100, 300, 400, 250)};
  CHECK(stage.tile(0) == Approx(600 / 3.0));
  CHECK(stage.tile(20) == Approx((600 + 2 * 3 * 20) / 3.0));
}

TEST_CASE("a tile takes no less than the shortest that came after another") {
  const StageClocks hidden{4, 1, 1, 1, noted(0, 1000, 300, 500, 500, 450, 150)};
  CHECK(hidden.tile(10) == Approx(150));  // Its sides say 60, both 70.
  const StageClocks seen{4, 1, 1, 1, noted(0, 1000, 300, 300, 100, 450, 150)};
  CHECK(seen.tile(10) == Approx(160));
}

TEST_CASE("of a stage whose parts are of different work-groups a tile takes the time of all") {
  // Two replicas of two parts, three tiles: two of the first, one of the second.
  std::vector<uint64_t> clocks;
  for (const uint64_t end : {500, 600, 250, 250}) {
    const std::vector<uint64_t> one = noted(0, end, 100, 0);
    clocks.insert(clocks.end(), one.begin(), one.end());
  }
  const StageClocks stage{3, 1, 0, 2, clocks};
  CHECK(stage.tile(10) == Approx((400 + 500 + 150 + 150 + 10 * (2 + 2 + 1 + 1)) / 3.0));
  CHECK(stage.shortest_wait() == Approx(50));
}

TEST_CASE("an edge in memory costs no wait, and waiting longer than its time none either") {
  const StageClocks first{4, 0, 1, 1, noted(0, 400, 0, 200)};
  CHECK(first.tile(10) == Approx(60));
  CHECK(first.shortest_wait() == Approx(50));
  const StageClocks never{4, 1, 0, 1, noted(0, 400, 500, 0)};
  CHECK(never.tile(10) == Approx(10));
}

TEST_CASE(
    "a stage adds to the way of first tiles what lies between when they leave it and those "
    "before") {
  // When the first tile of each work-group left.
  const auto leaving = [](uint64_t begin, std::vector<uint64_t> left) {
    std::vector<uint64_t> clocks;
    for (const uint64_t one : left) {
      const std::vector<uint64_t> mine = {begin, 9000, 0, 0, 0, 0, 0, one};
      clocks.insert(clocks.end(), mine.begin(), mine.end());
    }
    return clocks;
  };
  const StageClocks source{9, 0, 1, 1, leaving(100, {300, 340, 380})};
  const StageClocks halves{9, 1, 1, 2, leaving(100, {500, 510, 600, 590}), {0}};
  const StageClocks meets{9, 2, 0, 1, leaving(100, {900, 1000, 1100}), {0, 1}};
  const StageClocks last{9, 1, 0, 1, leaving(100, {0})};  // Begins behind all tiles.
  const std::vector<StageClocks> stages{source, halves, meets, last};
  CHECK(first_clocks(stages, 0) == Approx((200 + 240 + 280) / 3.0));
  // A tile has left when both parts have; the third one is no first tile of two work-groups' parts.
  CHECK(first_clocks(stages, 1) == Approx((210 + 260) / 2.0));
  CHECK(first_clocks(stages, 2) == Approx((390 + 400) / 2.0));
  CHECK(first_clocks(stages, 3) == 0);
}

TEST_CASE("a wait for what is there is the shortest of all stages") {
  const StageClocks slow{10, 2, 1, 1, noted(0, 9000, 8000, 500)},
      quick{10, 1, 0, 1, noted(0, 900, 350, 0)};
  CHECK(ready_clocks({slow, quick}) == Approx(35));
  CHECK(ready_clocks({slow}) == Approx(50));
  CHECK(ready_clocks({StageClocks{10, 0, 0, 1, noted(0, 900, 0, 0)}}) == 0);
}
