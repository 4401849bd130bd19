// SPDX-License-Identifier: Apache-2.0
// Question: do ports and banks of the L2 serve in the order of arrival, whatever the order of the
// calls and the size of the pieces? The calendar of a bank against a search clock by clock; L2s
// alone whose ports call in different orders; throughput of equal bytes in pieces of 256 B to 8 KB.
#include <catch2/catch.hpp>

#include <set>

#include "models/gpu/base/bank_calendar.h"
#include "tests/support/seeded_rng.h"
#include "tests/unit/gpu/l2_bench.h"

using namespace stretto;
using namespace stretto::test;

namespace {

// Every port keeps 32 KiB under way in pieces of `piece` bytes until `each` bytes a port have
// moved; `stores` of two are stores. Returns bytes a clock.
double throughput(L2Bench& bench, unsigned ports, uint32_t piece, unsigned stores) {
  constexpr uint64_t kEach = 256 * 1024, kFootprint = 1024 * 1024;
  std::vector<uint64_t> asked(ports, 0);
  uint64_t id = 0;
  Rng rng(7);
  const auto next = [&](unsigned port, uint64_t clock) {
    if (asked[port] == kEach) return;
    asked[port] += piece;
    const uint64_t address = rng.below(kFootprint / piece) * piece;
    const bool store = stores == 2 || (stores == 1 && rng.chance(1, 2));
    bench.call({port, clock, store, address, piece}, id++);
  };
  const uint64_t begin = bench.clock() + 1000;
  bench.on_answer = next;
  for (unsigned port = 0; port < ports; ++port) {
    for (uint32_t under_way = 0; under_way < 32768; under_way += piece) next(port, begin);
  }
  bench.run();
  bench.on_answer = nullptr;
  uint64_t end = begin;
  for (const auto& [number, clock] : bench.ended) end = std::max(end, clock);
  return static_cast<double>(ports * kEach) / static_cast<double>(end - begin);
}

}  // namespace

TEST_CASE("a bank gives each request the first free clocks from its arrival on") {
  // Beyond the 1024 clocks of its first storage; against a set of all taken clocks.
  Rng rng(11);
  BankCalendar calendar(2);
  std::array<std::set<uint64_t>, 2> taken;
  uint64_t now = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    if (rng.chance(1, 3)) now += rng.below(i % 1000 < 500 ? 10 : 200);
    calendar.set_now(now);
    const unsigned bank = static_cast<unsigned>(rng.below(2));
    const uint64_t at = now + rng.below(rng.chance(1, 20) ? 5000 : 300);
    const uint32_t count = static_cast<uint32_t>(1 + rng.below(8));
    uint64_t clock = at;
    for (uint32_t left = count; left > 0; ++clock) left -= taken[bank].insert(clock).second;
    REQUIRE(calendar.take(bank, at, count) == clock);
  }
  for (unsigned bank = 0; bank < 2; ++bank) REQUIRE(calendar.busy(bank) == taken[bank].size());
}

TEST_CASE("a load that arrives before the bytes of an earlier store is served before them") {
  L2Bench bench("bench", L2Spec{}, 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.warm(65536);
  const uint64_t begin = bench.clock() + 1000;
  // 8 KiB pass the store port in 256 clocks; its last line is at its bank 252 clocks after the first.
  bench.call({0, begin, true, 0, 8192}, 0);
  bench.call({1, begin + 20, false, 8192 - 128, 128}, 1);
  bench.run();
  REQUIRE(bench.ended[0] == begin + 105 + 252 + 4 + 105);
  REQUIRE(bench.ended[1] == begin + 20 + 105 + 4 + 105);
}

TEST_CASE("a port takes first what arrives first") {
  L2Bench bench("bench", L2Spec{}, 1);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.warm(65536);
  const uint64_t begin = bench.clock() + 1000;
  bench.call({0, begin + 5, false, 0, 4096}, 0);  // 64 clocks of the load port.
  bench.call({0, begin, false, 8192, 64}, 1);
  bench.run();
  REQUIRE(bench.ended[1] == begin + 105 + 2 + 105);
  REQUIRE(bench.ended[0] == begin + 5 + 105 + 62 + 4 + 105);
}

TEST_CASE("the order of the calls changes no time, hit or miss") {
  L2Spec spec;
  spec.bytes = 256 * 1024;  // So that it evicts.
  constexpr unsigned kPorts = 6;
  L2Bench rising("rising", spec, kPorts), falling("falling", spec, kPorts);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Rng rng(3);
  uint64_t id = 0;
  for (uint64_t step = 1; step < 2000; ++step) {
    const uint64_t clock = step * 20;
    // What units call within 32 clocks of run-ahead; at equal clocks of one port in order.
    std::vector<std::pair<L2Bench::Wanted, uint64_t>> calls;
    for (unsigned port = 0; port < kPorts; ++port) {
      if (rng.chance(1, 2)) continue;
      const uint32_t bytes = uint32_t{64} << rng.below(8);
      calls.push_back({{port, clock + rng.below(32), rng.chance(1, 3),
                        rng.below((512 * 1024) / bytes) * bytes, bytes},
                       id++});
    }
    for (L2Bench* bench : {&rising, &falling}) bench->run_to(clock);
    for (const auto& [wanted, number] : calls) rising.call(wanted, number);
    for (auto call = calls.rbegin(); call != calls.rend(); ++call)
      falling.call(call->first, call->second);
  }
  rising.run();
  falling.run();
  REQUIRE(rising.ended.size() == id);
  REQUIRE(rising.ended == falling.ended);
  REQUIRE(rising.l2.counters().hits == falling.l2.counters().hits);
  REQUIRE(rising.l2.counters().misses == falling.l2.counters().misses);
  REQUIRE(rising.l2.total(rising.l2.counters().write_backs) > 0);
  REQUIRE(rising.l2.counters().write_backs == falling.l2.counters().write_backs);
}

TEST_CASE("equal bytes move equally fast in any pieces, and mixed at no less than 85 percent") {
  constexpr unsigned kPorts = 80;
  L2Bench bench("bench", L2Spec{}, kPorts);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.warm(1024 * 1024);
  const double peak = 64 * 32;  // Banks, bytes a clock.
  double least = peak, most = 0;
  for (const unsigned stores : {0u, 1u, 2u}) {
    for (const uint32_t piece : {256u, 1024u, 4096u, 8192u}) {
      const double rate = throughput(bench, kPorts, piece, stores);
      CAPTURE(stores, piece, rate / peak);
      REQUIRE(rate <= peak);
      REQUIRE(rate >= 0.85 * peak);
      least = std::min(least, rate);
      most = std::max(most, rate);
    }
  }
  REQUIRE(most <= 1.1 * least);
  AuditSink sink;
  bench.l2.audit(sink);
  for (const AuditResult& result : sink.all()) REQUIRE(result.holds);
}

// A full set of 16 or 12 ways, used in their order.
static L2Tags::Set full_set(const L2Tags& tags) {
  L2Tags::Set set{};
  for (unsigned way = 0; way < L2Tags::kMaxWays; ++way) {
    set.tag[way] = way < tags.ways() ? way : L2Tags::kNoTag;
    if (way < tags.ways()) tags.touch(set, way);
  }
  return set;
}

static L2Tags tags_of(L2Replacement replacement, uint32_t ways) {
  L2Spec spec;
  spec.replacement = replacement;
  spec.ways = ways;
  spec.bytes = 128 * ways * spec.banks * 16;
  return L2Tags(spec, HbmAddressMapping(32, 256, 2048, true));
}

TEST_CASE("tree pseudo-LRU takes the way to which all bits point") {
  // By hand: root, halves, quarters, pairs point away from what was used.
  L2Tags tags = tags_of(L2Replacement::plru, 16);
  L2Tags::Set set = full_set(tags);
  for (const int expected : {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15}) {
    REQUIRE(tags.victim(set) == expected);
    tags.touch(set, static_cast<unsigned>(expected));
  }
  set.state[0] = L2Tags::kKept;
  REQUIRE(tags.victim(set) == 1);
  // Of 12 ways the right quarter of the right half is empty.
  L2Tags twelve = tags_of(L2Replacement::plru, 12);
  L2Tags::Set part = full_set(twelve);
  for (const int expected : {0, 8, 4, 10, 2, 9, 6, 11}) {
    REQUIRE(twelve.victim(part) == expected);
    twelve.touch(part, static_cast<unsigned>(expected));
  }
}

TEST_CASE("random replacement takes every way about equally often, and none that is pinned") {
  L2Tags tags = tags_of(L2Replacement::random, 10);
  L2Tags::Set set = full_set(tags);
  std::array<unsigned, 16> taken{};
  for (unsigned i = 0; i < 10'000; ++i) ++taken[static_cast<unsigned>(tags.victim(set))];
  for (unsigned way = 0; way < 10; ++way) {
    CHECK(taken[way] > 850);
    CHECK(taken[way] < 1150);
  }
  for (unsigned way = 0; way < 9; ++way) set.state[way] = L2Tags::kKept;
  REQUIRE(tags.victim(set) == 9);
  set.state[9] = L2Tags::kPending;
  REQUIRE(tags.victim(set) == -1);
}

// Eight loads of 8 KiB keep the load port busy for 1,024 clocks; the store port is free. Served at its arrival, the
// atomic's write took a clock of a bank that had passed, and the calendar grew until memory was full.
TEST_CASE("an atomic that waits behind loads at its port writes when it has got through") {
  L2Spec spec;
  spec.request_cycles = 0;
  L2Bench bench("bench", spec, 1);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.warm(65536);
  const uint64_t begin = bench.clock() + 1000;
  uint64_t adds = 1;
  for (unsigned i = 0; i < 8; ++i) bench.call({0, begin, false, i * 8192ull, 8192}, i);
  bench.call({0, begin + 1, false, 0, 8, AllocationClass::cached, &adds}, 8);
  bench.run();
  REQUIRE(bench.ended.size() == 9);
  CHECK(bench.ended[8] >= begin + 8 * 8192 / spec.cu_load_bytes_per_cycle);
  CHECK(bench.l2.counters().atomics == 1);
}
