// SPDX-License-Identifier: Apache-2.0
// Question: is edge k of a clock at floor(k * 10^15 / f), and is each instant given its cycle?
// State space: clocks whose period is whole, a fraction in lowest terms, or neither; instants on,
// before and behind edges; times of which the products fit 64 bits and of which they do not.
// Expected numbers: the definitions, in 128 bits.
#include <catch2/catch.hpp>

#include "models/common/clock_domain.h"
#include "tests/support/seeded_rng.h"

using namespace stretto;

namespace {

unsigned __int128 edge(uint64_t cycle, uint32_t mhz) {
  return static_cast<unsigned __int128>(cycle) * kMicrosecond / mhz;
}

}  // namespace

TEST_CASE("edges and cycles of a clock follow their definition") {
  test::Rng rng(7);
  for (const uint32_t mhz : {1u, 877u, 1000u, 1400u, 1410u, 1519u, 1530u, 99'991u, 100'000u}) {
    const ClockDomain clock(mhz);
    for (unsigned i = 0; i < 2000; ++i) {
      const uint64_t cycle = rng.below(uint64_t{1} << (1 + i % 43));
      if (edge(cycle + 1, mhz) > kNever / 2) continue;  // Half of all times that there are.
      const Time at = static_cast<Time>(edge(cycle, mhz));
      INFO(mhz << " MHz, cycle " << cycle);
      REQUIRE(clock.edge(cycle) == at);
      REQUIRE(clock.cycle_at(at) == cycle);
      REQUIRE(clock.cycle_from(at) == cycle);
      REQUIRE(clock.cycle_at(at + 1) == cycle);
      REQUIRE(clock.cycle_from(at + 1) == cycle + 1);
      REQUIRE(clock.cycle_at(static_cast<Time>(edge(cycle + 1, mhz) - 1)) == cycle);
      const Time next = static_cast<Time>(edge(cycle + 1, mhz));
      REQUIRE(clock.edge_after(at) == next);
      REQUIRE(clock.edge_at_or_after(at + 1) == next);
    }
  }
}
