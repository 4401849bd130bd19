// SPDX-License-Identifier: Apache-2.0
// Question: do states of suspended bodies take the time that the port of their unit, and all units' share, leave them?
// Times are worked out by hand.
#include <catch2/catch.hpp>

#include <vector>

#include "models/sampled/state_flow.h"

using namespace stretto;

namespace {

constexpr Time kLatency = 100 * kNanosecond;

struct Bench {
  // A unit moves 50,000 bytes a us; all together `rate`.
  explicit Bench(uint64_t rate) : flow(queue, 4, 50'000, rate, kLatency) {}
  void move(unsigned unit, uint64_t bytes) {
    const size_t number = ends.size();
    ends.push_back(0);
    flow.move(unit, bytes, [this, number] { ends[number] = queue.now(); });
  }
  // In us, without the latency.
  double end(size_t number) const {
    return (static_cast<double>(ends[number]) - static_cast<double>(kLatency)) / kMicrosecond;
  }

  EventQueue queue;
  StateFlow flow;
  std::vector<Time> ends;
};

}  // namespace

TEST_CASE("a unit moves one state behind the other, at the rate of its port") {
  Bench b(1'000'000);
  b.move(2, 100'000);
  b.move(2, 50'000);
  b.queue.run_until(10 * kMicrosecond);
  CHECK(b.end(0) == Approx(2));
  CHECK(b.end(1) == Approx(3));
}

TEST_CASE("units share what all have in equal parts, and what one leaves") {
  Bench b(60'000);
  b.move(0, 60'000);
  b.move(1, 60'000);
  b.move(2, 30'000);
  // 20,000 a us each: the third is done at 1.5 us, the others have 30,000 left, and so many a us.
  b.queue.run_until(10 * kMicrosecond);
  CHECK(b.end(2) == Approx(1.5));
  CHECK(b.end(0) == Approx(2.5));
  CHECK(b.end(1) == Approx(2.5));
}

TEST_CASE("a state that comes later slows those on their way") {
  Bench b(60'000);
  b.move(0, 100'000);
  b.queue.run_until(1 * kMicrosecond);
  b.move(1, 30'000);
  // 50,000 until then, 30,000 a us for both, then 50,000 for the 20,000 that are left.
  b.queue.run_until(10 * kMicrosecond);
  CHECK(b.end(1) == Approx(2));
  CHECK(b.end(0) == Approx(2.4));
}

TEST_CASE("what is moved when nothing was for long starts then") {
  Bench b(60'000);
  b.move(0, 50'000);
  b.queue.run_until(5 * kMicrosecond);
  b.move(0, 50'000);
  b.queue.run_until(10 * kMicrosecond);
  CHECK(b.end(0) == Approx(1));
  CHECK(b.end(1) == Approx(6));
}
