// SPDX-License-Identifier: Apache-2.0
// Question: does the law of contention give back what was measured, and share what is short? Expected
// numbers are worked out by hand from the demands in this file.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "models/sampled/body_law.h"
#include "tests/support/seeded_rng.h"

using namespace stretto;

namespace {

constexpr BodyRates kRates{.clock_mhz = 1000,
                           .issue_ports = 4,
                           .units = 4,
                           .l2_bytes_per_us = 1'000'000,
                           .hbm_bytes_per_us = 500'000};

BodyTimes times(std::vector<BodyPoint> points, BodyDemand demand) {
  BodyTimes one;
  one.points = std::move(points);
  one.demand = demand;
  std::vector<Time> all(100, one.points.front().time);
  one.launches.push_back({0, TimeDistribution::of(all), {}});
  return one;
}

bool near(uint64_t value, double wanted) {
  return std::abs(static_cast<double>(value) / static_cast<double>(kOne) - wanted) < 1e-3;
}

}  // namespace

TEST_CASE("who needs less than an equal share has what it needs, the others share the rest") {
  const Sharer all[] = {{1, 100}, {2, 300}, {0, 7}};
  REQUIRE(equal_share(all, 3, 700) == ~uint64_t{0});
  REQUIRE(equal_share(all, 3, 500) == 200);
  REQUIRE(equal_share(all, 3, 240) == 80);
}

namespace {

// A law of a kernel whose work-groups use tensor pipe, SIMT pipe and issue slots so much of their time.
struct Kernel {
  explicit Kernel(double tensor, double simt = 0, double issue = 0)
      : of(times({{0, 1, 1000, 1000, 10 * kMicrosecond}},
                 {static_cast<uint64_t>(10'000 * tensor), static_cast<uint64_t>(10'000 * simt),
                  static_cast<uint64_t>(40'000 * issue)})),
        law(of, kRates, kRates.hbm_bytes_per_us) {}
  BodyTimes of;
  BodyLaw law;
};

// How much longer than alone customers of a part take who share it in turns, for exponential times, by
// events. `load` of each one's time alone is the part's.
std::vector<double> in_turns(const std::vector<double>& load, test::Rng& rng) {
  const auto exponential = [&](double mean) {
    return -mean * std::log(1 - static_cast<double>(rng.below(1'000'000)) / 1e6);
  };
  struct Customer {
    bool asks = false;
    double left = 0, cycles = 0;  // Of what it asks for, or is away; how often it has been served.
  };
  std::vector<Customer> all(load.size());
  double now = 0;
  for (unsigned i = 0; i < 400'000; ++i) {
    const auto asking = static_cast<double>(
        std::count_if(all.begin(), all.end(), [](const Customer& one) { return one.asks; }));
    const auto until = [&](const Customer& one) { return one.asks ? one.left * asking : one.left; };
    Customer& next = *std::min_element(
        all.begin(), all.end(), [&](const auto& a, const auto& b) { return until(a) < until(b); });
    const double step = until(next);
    now += step;
    for (Customer& one : all) one.left -= one.asks ? step / asking : step;
    const double mean = load[static_cast<size_t>(&next - all.data())];
    next.cycles += next.asks ? 1 : 0;
    next.asks = !next.asks;
    next.left = exponential(next.asks ? mean : 1 - mean);
  }
  std::vector<double> longer;
  for (const Customer& one : all) longer.push_back(now / one.cycles);
  return longer;
}

}  // namespace

TEST_CASE("bodies of one kernel take as long as its busiest part has them wait") {
  const Kernel kernel(0.75, 0.5, 0.25);
  for (const uint64_t count : {1u, 2u, 4u, 16u, 40u}) {
    Company all{count, &kernel.law};
    lengthen_on_unit(&all, 1);
    REQUIRE(near(all.stretch, std::max(1.0, 0.75 * static_cast<double>(count))));
  }
}

TEST_CASE("a body that needs little of a busy part waits behind all others each time") {
  // Exact for one and one, and for many; in between the law counts too few of the own kind.
  test::Rng rng(71);
  struct Mix {
    uint64_t heavy;
    double load;
    uint64_t light;
    double little, within;
  };
  for (const Mix& mix :
       {Mix{15, 1, 1, 0.1, 0.04}, Mix{15, 0.9, 4, 0.3, 0.04}, Mix{8, 1, 8, 0.05, 0.05},
        Mix{4, 1, 2, 0.5, 0.06}, Mix{1, 0.6, 1, 0.45, 0.04}, Mix{1, 1, 1, 0.1, 0.04}}) {
    const Kernel heavy(mix.load), light(mix.little);
    Company all[] = {{mix.heavy, &heavy.law}, {mix.light, &light.law}};
    lengthen_on_unit(all, 2);
    std::vector<double> load(mix.heavy, mix.load);
    load.insert(load.end(), mix.light, mix.little);
    const std::vector<double> longer = in_turns(load, rng);
    INFO(mix.heavy << " of " << mix.load << " beside " << mix.light << " of " << mix.little);
    const auto mean = [&](size_t first, size_t end) {
      return std::accumulate(longer.begin() + static_cast<long>(first),
                             longer.begin() + static_cast<long>(end), 0.0) /
             static_cast<double>(end - first);
    };
    const double got_heavy = static_cast<double>(all[0].stretch) / static_cast<double>(kOne),
                 got_light = static_cast<double>(all[1].stretch) / static_cast<double>(kOne);
    CHECK(got_heavy == Approx(mean(0, mix.heavy)).epsilon(mix.within));
    CHECK(got_light == Approx(mean(mix.heavy, longer.size())).epsilon(mix.within));
  }
}

TEST_CASE("waits at different parts of the unit add up") {
  // One of 0.5 at both parts finds 8 at each: 1 + 0.5 * 8 + 0.5 * 8. The others leave it its 0.5 / 9 of
  // their part and have the rest.
  const Kernel tensor(1), simt(0, 1), both(0.5, 0.5);
  Company all[] = {{8, &tensor.law}, {8, &simt.law}, {1, &both.law}};
  lengthen_on_unit(all, 3);
  CHECK(near(all[0].stretch / 10, 0.8 / (1 - 0.5 / 9)));
  CHECK(near(all[1].stretch / 10, 0.8 / (1 - 0.5 / 9)));
  CHECK(near(all[2].stretch / 10, 0.9));
}

TEST_CASE("of no part of a unit more is used than there is, and nobody is faster than alone") {
  test::Rng rng(72);
  for (unsigned round = 0; round < 2'000; ++round) {
    std::vector<Kernel> kernels;
    std::vector<Company> all;
    const auto part = [&] {
      return rng.chance(1, 3) ? 0 : static_cast<double>(rng.below(1001)) / 1000;
    };
    for (unsigned i = 0, count = static_cast<unsigned>(rng.between(1, 5)); i < count; ++i)
      kernels.emplace_back(part(), part(), part());
    for (const Kernel& kernel : kernels) all.push_back({rng.between(1, 32), &kernel.law});
    lengthen_on_unit(all.data(), static_cast<unsigned>(all.size()));
    std::array<double, kUnitParts> used{};
    double least = 1e9;
    for (const Company& one : all) {
      const double stretch = static_cast<double>(one.stretch);
      least = std::min(least, stretch / static_cast<double>(kOne));
      for (unsigned i = 0; i < kUnitParts; ++i)
        used[i] += static_cast<double>(one.count * one.law->load[i]) / stretch;
    }
    const double most = *std::max_element(used.begin(), used.end());
    REQUIRE(least >= 1);
    REQUIRE(most <= 1 + 1e-4);
  }
}

TEST_CASE("load by a body is the part's clocks over the body's, alone") {
  // 10 us are 10,000 clocks; 4 issue ports.
  const BodyTimes kernel = times({{0, 1, 1000, 1000, 10 * kMicrosecond}}, {7500, 1000, 20'000});
  const BodyLaw law(kernel, kRates, kRates.hbm_bytes_per_us);
  REQUIRE(law.alone == 10 * kMicrosecond);
  REQUIRE(near(law.load[kPartTensor], 0.75));
  REQUIRE(near(law.load[kPartSimt], 0.1));
  REQUIRE(near(law.load[kPartIssue], 0.5));
}

TEST_CASE("what shares of a unit do not explain is a factor by residency") {
  // Two with 0.75 of the tensor pipe take 1.5 times as long; measured were 1.8 times.
  const BodyTimes kernel =
      times({{100, 0, 2000, 8000, 18 * kMicrosecond}, {0, 1, 1000, 1000, 10 * kMicrosecond}},
            {7500, 0, 0});
  const BodyLaw law(kernel, kRates, kRates.hbm_bytes_per_us);
  REQUIRE(near(law.factor[1], 1.0));
  REQUIRE(near(law.factor[2], 1.2));
  REQUIRE(near(law.factor[5], 1.2));
}

TEST_CASE("of points at one residency that with all that fit stands") {
  // A grid that half of the units' room holds, too.
  const BodyTimes kernel = times({{100, 0, 2000, 8000, 12 * kMicrosecond},
                                  {50, 0, 2010, 8100, 40 * kMicrosecond},
                                  {0, 1, 1000, 1000, 10 * kMicrosecond}},
                                 {});
  const BodyLaw law(kernel, kRates, kRates.hbm_bytes_per_us);
  REQUIRE(near(law.factor[2], 1.2));
}

TEST_CASE("a factor between two residencies that were measured lies between theirs") {
  const BodyTimes kernel =
      times({{100, 0, 5000, 20'000, 14 * kMicrosecond}, {0, 1, 1000, 1000, 10 * kMicrosecond}}, {});
  const BodyLaw law(kernel, kRates, kRates.hbm_bytes_per_us);
  REQUIRE(near(law.factor[3], 1.2));
}

TEST_CASE("of a kernel that the memory bounds all time is the memory's") {
  // Eight of 1 MB in 10 us ask for 800,000 B/us of 500,000; they took 20 us, not 16.
  const BodyTimes kernel =
      times({{100, 0, 2000, 8000, 20 * kMicrosecond}, {0, 1, 1000, 1000, 10 * kMicrosecond}},
            {0, 0, 0, 0, 600'000, 400'000});
  const BodyLaw law(kernel, kRates, 500'000);
  REQUIRE(near(law.factor[2], 1.0));
  // Eight of them then stretch by 2: each asks for 125,000 B/us.
  REQUIRE(law.bytes[kPartHbm][2] / 1000 == 125'000);
  REQUIRE(law.bytes[kPartHbm][1] / 1000 == 100'000);
}

TEST_CASE("the memory's limit is the most that a kernel of the table had, at least half the pins") {
  BodyTable table;
  REQUIRE(kRates.hbm_limit(table) == 250'000);
  table.kernels["a"] = times({{100, 0, 2000, 8000, 20 * kMicrosecond}}, {0, 0, 0, 0, 1'000'000, 0});
  REQUIRE(kRates.hbm_limit(table) == 400'000);
  table.kernels["b"] = times({{100, 0, 2000, 8000, 2 * kMicrosecond}}, {0, 0, 0, 0, 1'000'000, 0});
  REQUIRE(kRates.hbm_limit(table) == 500'000);
}

TEST_CASE("the n-th launch takes times of the n-th measured, later ones of one but the first") {
  BodyTimes kernel = times({{100, 0, 1000, 4000, 10 * kMicrosecond}}, {});
  for (const Time time : {4, 1}) {
    std::vector<Time> all(100, time * kMicrosecond);
    kernel.launches.push_back({0, TimeDistribution::of(all), {}});
  }
  // 10, 4 and 1 us are 5 on average; alone a body takes 10.
  const BodyLaw law(kernel, kRates, kRates.hbm_bytes_per_us);
  REQUIRE(law.draw(0, 7, true, Correction::all, 1).time == 20 * kMicrosecond);
  REQUIRE(law.draw(1, 7, true, Correction::all, 1).time == 8 * kMicrosecond);
  REQUIRE(law.draw(2, 7, true, Correction::all, 1).time == 2 * kMicrosecond);
  for (uint64_t which = 0; which < 8; ++which)
    REQUIRE(law.draw(3 + which, which, true, Correction::all, 1).time ==
            (which % 2 == 0 ? 8 : 2) * kMicrosecond);
}

TEST_CASE("times that are drawn are corrected by launch, where it is by itself") {
  BodyTimes kernel = times({{100, 0, 1000, 4000, 10 * kMicrosecond}}, {});
  kernel.launches.resize(3, kernel.launches[0]);
  kernel.launches[1].correction_ppm = 1'500'000;
  kernel.launches[2].correction_ppm = 900'000;
  const BodyLaw law(kernel, kRates, kRates.hbm_bytes_per_us);
  REQUIRE(law.draw(0, 7, true, Correction::all, 1).time == 10 * kMicrosecond);
  REQUIRE(law.draw(1, 7, true, Correction::all, 1).time == 15 * kMicrosecond);
  REQUIRE(law.draw(2, 7, true, Correction::all, 1).time == 9 * kMicrosecond);
  REQUIRE(law.draw(1, 7, true, Correction::longer, 1).time == 15 * kMicrosecond);
  REQUIRE(law.draw(2, 7, true, Correction::longer, 1).time == 10 * kMicrosecond);
  REQUIRE(law.draw(1, 7, true, Correction::none, 1).time == 10 * kMicrosecond);
  REQUIRE(law.draw(2, 7, true, Correction::none, 1).time == 10 * kMicrosecond);
}

TEST_CASE("numbers of a launch lie one in each equal part") {
  constexpr uint64_t kCount = 60;
  for (const uint64_t hash : {hash_of(1, 2, 3, 4), hash_of(5, 6, 7, 8), uint64_t{0}}) {
    std::vector<unsigned> parts(kCount);
    const Strata strata(kCount, hash);
    for (uint64_t i = 0; i < kCount; ++i)
      ++parts[static_cast<uint64_t>(Wide{strata.at(i)} * kCount >> 64)];
    for (const unsigned count : parts) REQUIRE(count == 1);
  }
}

TEST_CASE("a body that joins others ends with the nearest that it could end with") {
  const DrawnTime drawn{.time = 100, .least = 80, .most = 130, .joins = true};
  const auto need = [&](std::vector<std::pair<Time, Time>> others) {  // Left, since.
    std::sort(others.begin(), others.end());
    std::set<Time> needs;  // Whatever the order.
    do {
      JoinedEnd end(drawn, 7);
      for (const auto& [left, since] : others) end.see(left, since);
      needs.insert(end.need());
    } while (std::next_permutation(others.begin(), others.end()));
    REQUIRE(needs.size() == 1);
    return *needs.begin();
  };
  CHECK(need({}) == 100);
  CHECK(need({{79, 1}, {131, 1}}) == 100);  // Such bodies take neither.
  CHECK(need({{80, 1}, {130, 1}}) == 80);
  CHECK(need({{85, 1}, {111, 1}, {130, 1}}) == 111);
  CHECK(need({{90, 1}, {110, 1}}) == 90);   // The earlier of two.
  CHECK(need({{99, 7}, {120, 6}}) == 120);  // One begins in this instant, too.
}

TEST_CASE("a number that is drawn depends on seed, kernel, launch and work-group") {
  const uint64_t one = hash_of(1, 2, 3, 4);
  REQUIRE(one == hash_of(1, 2, 3, 4));
  REQUIRE(one != hash_of(2, 2, 3, 4));
  REQUIRE(one != hash_of(1, 3, 3, 4));
  REQUIRE(one != hash_of(1, 2, 4, 4));
  REQUIRE(one != hash_of(1, 2, 3, 5));
}
