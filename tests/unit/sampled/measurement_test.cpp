// SPDX-License-Identifier: Apache-2.0
// Question: which work-groups that were simulated make a kernel's times, and how? State space: waves x
// company x ends.
#include <catch2/catch.hpp>

#include "models/sampled/measurement.h"

using namespace stretto;

namespace {

constexpr Time kTime = 40 * kMicrosecond;

// A body that took so long, beside so many of its unit on average, itself included.
MeasuredBody body(Time time, uint64_t company, bool first = false, Time behind = kNever,
                  Time refill = kNanosecond) {
  return {time, time * company, time * 4 * company, time * company, first, behind, refill};
}
MeasuredBody left_over(Time time) {
  MeasuredBody one = body(time, 2);
  one.is_left_over = true;
  return one;
}

Measurement measurement() {
  return Measurement(100, 0, [] { return BodyDemand(); });
}

}  // namespace

TEST_CASE("what is left over at the end of a launch does not count, as it has less company") {
  Measurement all = measurement();
  for (int i = 0; i < 8; ++i) all.body("k", 20, 0, body(kTime, 8, true));
  for (int i = 0; i < 8; ++i) all.body("k", 20, 0, body(2 * kTime, 6));
  for (int i = 0; i < 4; ++i) all.body("k", 20, 0, left_over(kTime / 2));
  const BodyTimes times = all.kernel("k");
  CHECK(times.groups == 20);
  CHECK(times.launches.at(0).first.count == 8);
  CHECK(times.launches.at(0).rest.count == 8);
  CHECK(times.launches.at(0).rest.at.front() == 2 * kTime);
  CHECK(times.points.at(0).time == kTime * 3 / 2);
  CHECK(times.points.at(0).residency_milli == 6666);  // By time.
}

TEST_CASE("of a launch that was measured in part what is left over does not count either") {
  MeasuredLaunch part(2, 0);
  const auto first = part.begin();
  part.end(first, body(kTime, 2, true), 0);
  const auto second = part.begin(), third = part.begin();
  part.end(second, body(kTime, 2), 0);
  part.end(third, left_over(kTime / 2), 0);
  REQUIRE(part.passes());
  Measurement all = measurement();
  all.part("k", 100, 0, part);
  CHECK(all.kernel("k").launches.at(0).rest.at.front() == kTime);
  CHECK(all.kernel("k").launches.at(0).rest.count == 99);
}

TEST_CASE("how many end together counts by wave") {
  Measurement all = measurement();
  for (int i = 0; i < 8; ++i)
    all.body("k", 16, 0,
             body(kTime + i * kMicrosecond, 8, true, i % 4 == 0 ? 2 * kNanosecond : kNanosecond));
  for (int i = 0; i < 8; ++i) all.body("k", 16, 0, body(kTime, 8, false, i == 0 ? 0 : kNever));
  const BodyTimes times = all.kernel("k");
  // Of 8 in 40 us one in 5,000 is within a nanosecond of another by chance, in 7 us one in 880.
  CHECK(times.launches.at(0).first.joined_ppm == Approx(750'000).margin(500));
  CHECK(times.launches.at(0).rest.joined_ppm == Approx(125'000).margin(200));
}

TEST_CASE("what ends together by chance does not count") {
  // Within a tenth of their time beside 8: 1 - exp(-0.8) = 55.1 % of all. Of the others half: 77.5 %.
  const auto joined = [](int of_1000, bool first, Time spread) {
    Measurement all = measurement();
    for (int i = 0; i < 1000; ++i)
      all.body("k", 1000, 0,
               body(kTime - spread / 2 + spread * static_cast<Time>(i) / 999, 8, first,
                    i < of_1000 ? 0 : kTime, kTime / 10));
    const LaunchTimes launch = all.kernel("k").launches.at(0);
    return (first ? launch.first : launch.rest).joined_ppm;
  };
  CHECK(joined(400, false, 0) == 0);
  CHECK(joined(551, false, 0) < 2'000);
  CHECK(joined(775, false, 0) == Approx(500'000).margin(3'000));
  CHECK(joined(1000, false, 0) > 999'000);
  // A first wave begins together: its ends come over the times that it takes, here as much as their mean, then a
  // tenth of it, in which all are within a tenth of a time of each other.
  CHECK(joined(551, true, kTime) < 2'000);
  CHECK(joined(775, true, kTime) == Approx(500'000).margin(15'000));
  CHECK(joined(999, true, kTime / 10) == 0);
}
