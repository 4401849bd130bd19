// SPDX-License-Identifier: Apache-2.0
// How much of a GPU is in use, by windows of 10 us. Expected classes are those of Kitsune, 3: low is
// below 33 % of the peak. Peaks here: a part is fully used with 1,000 in a window.
#include <catch2/catch.hpp>

#include <random>

#include "platform/results/use_windows.h"

namespace stretto {
namespace {

constexpr Time kWindow = UseWindows::kWindow;

UseWindows windows() { return UseWindows({1000, 1000, 1000, 1000}); }
UseCounts counts(uint64_t tensor, uint64_t simt, uint64_t issue, uint64_t dram) {
  return {tensor, simt, issue, dram};
}

TEST_CASE("a window is low in what uses less than a third of its peak", "[KT-EVAL-03]") {
  UseWindows use = windows();
  use.read(1 * kWindow, counts(329, 100, 200, 329));  // Both low,
  use.read(2 * kWindow, counts(329, 431, 200, 329));  // DRAM alone: the SIMT pipes are used,
  use.read(3 * kWindow, counts(329, 431, 200, 660));  // the units alone,
  use.read(4 * kWindow, counts(329, 431, 531, 991));  // neither: issue is used.
  const UseOfSpan all = use.of(0, 4 * kWindow);
  CHECK(all.both_low == kWindow);
  CHECK(all.only_dram_low == kWindow);
  CHECK(all.only_sm_low == kWindow);
  CHECK(all.neither_low == kWindow);
  CHECK(all.sm == Approx((0.329 + 0.331 + 0 + 0.331) / 4));
  CHECK(all.dram == Approx(0.991 / 4));
  CHECK(use.of(kWindow, 2 * kWindow).only_dram_low == kWindow);
}

TEST_CASE("classes add up to the time of any span, windows to what was counted", "[KT-EVAL-03]") {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 50; ++round) {
    UseWindows use = windows();
    UseCounts so_far{};
    Time at = 0;
    for (unsigned i = 0; i < 30; ++i) {
      at = (i < 29 ? (i + 1) * kWindow : at + 1 + random() % kWindow);
      for (uint64_t& count : so_far) count += random() % 2000;
      use.read(at, so_far);
    }
    UseCounts sum{};
    for (const auto& [number, window] : use.windows())
      for (size_t part = 0; part < kUsedParts; ++part) sum[part] += window[part];
    CHECK(sum == so_far);
    const Time begin = random() % at, end = begin + random() % (at - begin + 1);
    CHECK(use.of(begin, end).time() == end - begin);
    CHECK(use.of(begin, 2 * at).time() == at - begin);  // As far as it was read.
    UseOfSpan twice = use.of(0, begin);
    twice.add(use.of(begin, end));
    CHECK(twice.time() == end);
  }
}

TEST_CASE("what is counted lies in the window before the reading") {
  UseWindows use = windows();
  use.read(kWindow, counts(0, 0, 0, 500));
  use.read(3 * kWindow, counts(0, 0, 0, 500));  // Nothing for two windows.
  use.read(3 * kWindow + kWindow / 2, counts(0, 0, 0, 700));
  REQUIRE(use.windows().size() == 2);
  CHECK(use.windows().at(0)[kUsedDram] == 500);
  CHECK(use.windows().at(3)[kUsedDram] == 200);
  CHECK(use.of(kWindow, 3 * kWindow).both_low == 2 * kWindow);
}

TEST_CASE("a span may contain more windows than a host has memory for") {
  constexpr Time kMinutes = Time{10'000'000} * 60 * kMicrosecond;
  UseWindows use = windows();
  use.read(kWindow, counts(0, 0, 0, 500));
  use.read(kMinutes, counts(0, 0, 0, 1000));
  const UseOfSpan all = use.of(0, kMinutes);
  CHECK(all.only_sm_low == 2 * kWindow);
  CHECK(all.both_low == kMinutes - 2 * kWindow);
  CHECK(all.dram == Approx(1000.0 / 1000 * kWindow / kMinutes));
}

TEST_CASE("a window that a span cuts is used within the span") {
  UseWindows use = windows();
  use.read(kWindow, counts(0, 0, 0, 300));
  CHECK(use.of(0, kWindow).both_low == kWindow);
  CHECK(use.of(kWindow / 2, kWindow).only_sm_low == kWindow / 2);  // 300 of 500.
}

}  // namespace
}  // namespace stretto
