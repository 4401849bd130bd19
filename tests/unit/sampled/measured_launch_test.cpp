// SPDX-License-Identifier: Apache-2.0
// Question: which bodies of a launch count, if only part of it is simulated? State space: phases x
// bodies that begin, end and begin again.
#include <catch2/catch.hpp>

#include <vector>

#include "models/sampled/measured_launch.h"

using namespace stretto;

namespace {

using Counts = MeasuredLaunch::Counts;
using Change = MeasuredLaunch::Change;

constexpr uint64_t kSettled = 1000;  // Bytes.

Change end(MeasuredLaunch& launch, Counts counts, Time time, uint64_t moved) {
  return launch.end(counts, {.time = time, .first = counts == Counts::first}, moved);
}

std::vector<Time> times(const std::vector<MeasuredBody>& bodies) {
  std::vector<Time> all;
  for (const MeasuredBody& one : bodies) all.push_back(one.time);
  return all;
}

}  // namespace

TEST_CASE(
    "bodies count by when they begin: first wave, before the L2 has turned over, then so many") {
  MeasuredLaunch launch(2, kSettled);
  CHECK(launch.begin() == Counts::first);
  CHECK(launch.begin() == Counts::first);
  CHECK(end(launch, Counts::first, 1, 400) == Change::none);
  CHECK(launch.begin() == Counts::early);
  CHECK(end(launch, Counts::first, 2, 999) == Change::none);
  CHECK(end(launch, Counts::early, 3, 1000) == Change::settles);
  CHECK(launch.begin() == Counts::noted);
  CHECK(launch.begin() == Counts::noted);
  CHECK(launch.begin() == Counts::behind);
  CHECK(end(launch, Counts::noted, 4, 1100) == Change::none);
  CHECK(end(launch, Counts::behind, 5, 1200) == Change::none);
  CHECK_FALSE(launch.passes());
  CHECK(end(launch, Counts::noted, 6, 1300) == Change::passes);
  CHECK(launch.passes());
  // Those that run on.
  CHECK(end(launch, Counts::behind, 7, 1400) == Change::none);
  CHECK(times(launch.first()) == std::vector<Time>{1, 2});
  CHECK(times(launch.rest()) == std::vector<Time>{4, 6});
}

TEST_CASE("a launch that ends before it passes counts whole") {
  MeasuredLaunch launch(2, kSettled);
  CHECK(launch.begin() == Counts::first);
  CHECK(end(launch, Counts::first, 1, 400) == Change::none);
  CHECK(launch.begin() == Counts::early);
  CHECK(end(launch, Counts::early, 2, 2000) == Change::settles);
  CHECK(launch.begin() == Counts::noted);
  CHECK(end(launch, Counts::noted, 3, 3000) == Change::none);
  CHECK_FALSE(launch.passes());
  CHECK(times(launch.rest()) == std::vector<Time>{3, 2});
}

TEST_CASE("without bytes to wait for bodies behind the first wave are noted at once") {
  MeasuredLaunch launch(1, 0);
  CHECK(launch.begin() == Counts::first);
  CHECK(end(launch, Counts::first, 1, 0) == Change::none);
  CHECK(launch.begin() == Counts::noted);
  CHECK(end(launch, Counts::noted, 2, 0) == Change::passes);
}

TEST_CASE("a body that is sent back is noted when it begins again") {
  MeasuredLaunch launch(1, 0);
  CHECK(launch.begin() == Counts::first);
  (void)end(launch, Counts::first, 1, 0);
  CHECK(launch.begin() == Counts::noted);
  launch.forget(Counts::noted);
  CHECK(launch.begin() == Counts::noted);
  CHECK(end(launch, Counts::noted, 2, 0) == Change::passes);
  CHECK(times(launch.rest()) == std::vector<Time>{2});
}
