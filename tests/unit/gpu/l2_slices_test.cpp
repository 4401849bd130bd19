// SPDX-License-Identifier: Apache-2.0
// Question: does a slice of an L2 with limits stop when it lacks an entry, a merge or a place in its
// queue to memory, with everything behind it and nothing beside it? Times by hand; an idle hit takes
// 105 + 2 + 105 clocks, a miss 420 (300 ns at 1.4 GHz) more. Does it always go on, whatever the
// order of the calls?
#include <catch2/catch.hpp>

#include "tests/support/seeded_rng.h"
#include "tests/unit/gpu/l2_bench.h"

using namespace stretto;
using namespace stretto::test;

namespace {

// Lines of the slice in which line 0 is: 64 banks, two a channel of 32, 256 B blocks whose channel
// is the XOR of all 5-bit pieces of the block number.
std::vector<uint64_t> lines_of_first_slice(size_t count) {
  std::vector<uint64_t> addresses;
  for (uint64_t block = 0; addresses.size() < count; ++block) {
    unsigned channel = 0;
    for (uint64_t rest = block; rest != 0; rest /= 32) channel ^= rest % 32;
    if (channel == 0) addresses.push_back(block * 256);
  }
  return addresses;
}

// Clocks from `begin` to the answer of each.
std::vector<uint64_t> answers(L2Bench& bench, const std::vector<L2Bench::Wanted>& calls) {
  const uint64_t begin = bench.clock() + 1000;
  for (size_t i = 0; i < calls.size(); ++i) {
    L2Bench::Wanted wanted = calls[i];
    wanted.clock += begin;
    bench.call(wanted, i);
  }
  bench.run();
  std::vector<uint64_t> clocks;
  for (size_t i = 0; i < calls.size(); ++i) clocks.push_back(bench.ended.at(i) - begin);
  return clocks;
}

void require_laws(const L2Bench& bench) {
  AuditSink sink;
  bench.l2.audit(sink);
  for (const AuditResult& result : sink.all()) {
    INFO(result.law << ": " << result.left << ", " << result.right);
    REQUIRE(result.holds);
  }
}

L2Spec tiny() {
  L2Spec spec;
  spec.bytes = 256 * 1024;
  spec.miss_entries = 1;
  spec.merges = 1;
  spec.memory_queue_sectors = 1;
  return spec;
}

// Loads, stores and both past the cache, of 64 B to 8 KiB, from six ports, 512 KiB in all; in the
// order of the ports or the other way round. Ends when all have been answered.
std::map<uint64_t, uint64_t> storm(L2Bench& bench, bool falling, uint64_t spacing) {
  constexpr unsigned kPorts = 6;
  Rng rng(3);
  uint64_t id = 0;
  for (uint64_t step = 1; step < 600; ++step) {
    const uint64_t clock = step * spacing;
    std::vector<std::pair<L2Bench::Wanted, uint64_t>> calls;
    for (unsigned port = 0; port < kPorts; ++port) {
      if (rng.chance(1, 2)) continue;
      const uint32_t bytes = uint32_t{64} << rng.below(8);
      const bool past = rng.chance(1, 4);  // Into memory that nobody caches.
      const uint64_t address = rng.below((512 * 1024) / bytes) * bytes + (past ? 1 << 24 : 0);
      calls.push_back({{port, clock + rng.below(32), rng.chance(1, 3), address, bytes,
                        past ? AllocationClass::uncached : AllocationClass::cached},
                       id++});
    }
    if (falling) std::reverse(calls.begin(), calls.end());
    bench.run_to(clock);
    for (const auto& [wanted, number] : calls) bench.call(wanted, number);
  }
  bench.run();
  REQUIRE(bench.ended.size() == id);
  return bench.ended;
}

}  // namespace

TEST_CASE("a miss without an entry stops its slice, with hits behind it and nothing beside it") {
  L2Spec spec;
  spec.miss_entries = 1;
  L2Bench bench("bench", spec, 4);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const std::vector<uint64_t> lines = lines_of_first_slice(3);
  bench.warm(128);                                    // lines[0]
  bench.call({0, bench.clock(), true, 4096, 64}, 0);  // Another slice.
  bench.run();
  const std::vector<uint64_t> clocks = answers(bench, {{0, 0, false, lines[1], 64},
                                                       {1, 10, false, lines[2], 64},
                                                       {2, 20, false, lines[0], 64},
                                                       {3, 20, false, 4096, 64}});
  // The first arrives at 105 + 2 + 420; the entry is free one clock later.
  CHECK(clocks[0] == 105 + 2 + 420 + 105);
  CHECK(clocks[1] == 528 + 2 + 420 + 105);
  CHECK(clocks[2] == 528 + 2 + 2 + 105);
  CHECK(clocks[3] == 20 + 105 + 2 + 105);
  require_laws(bench);
}

TEST_CASE("one request more than may be merged stops its slice until the sector is there") {
  L2Spec spec;
  spec.merges = 2;
  L2Bench bench("bench", spec, 5);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const std::vector<uint64_t> lines = lines_of_first_slice(2);
  const std::vector<uint64_t> clocks = answers(bench, {{0, 0, false, lines[0], 64},
                                                       {1, 10, false, lines[0], 64},
                                                       {2, 20, false, lines[0], 64},
                                                       {3, 30, false, lines[1], 64},
                                                       {4, 40, false, lines[0] + 64, 64}});
  CHECK(clocks[0] == 632);
  CHECK(clocks[1] == 632);
  CHECK(clocks[2] == 528 + 2 + 105);        // Now it hits.
  CHECK(clocks[3] == 528 + 4 + 420 + 105);  // Has waited behind it,
  CHECK(clocks[4] == 528 + 6 + 420 + 105);  // as this one, which wanted the other sector.
  CHECK(bench.l2.total(bench.l2.counters().merges) == 1);
  CHECK(bench.l2.total(bench.l2.counters().hits) == 1);
  require_laws(bench);
}

TEST_CASE("a full queue to memory stops its slice, hits and accesses past the cache, too") {
  L2Spec spec;
  spec.memory_queue_sectors = 1;
  L2Bench bench("bench", spec, 5, 100 * kNanosecond);  // 140 clocks.
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const std::vector<uint64_t> lines = lines_of_first_slice(4);
  bench.warm(128);
  const std::vector<uint64_t> clocks =
      answers(bench, {{0, 0, false, lines[1], 64},
                      {1, 10, false, lines[2], 64},
                      {2, 20, false, lines[0], 64},
                      {3, 30, false, lines[3], 64, AllocationClass::uncached},
                      {4, 30, false, 4096, 64, AllocationClass::uncached}});
  CHECK(clocks[0] == 105 + 2 + 420 + 105);
  CHECK(clocks[1] == 248 + 2 + 420 + 105);  // Leaves when the first has left the queue: 107 + 140.
  CHECK(clocks[2] == 391 + 2 + 105);        // 250 + 140.
  CHECK(clocks[3] == 391 + 420 + 105);      // The hit has sent nothing.
  CHECK(clocks[4] == 30 + 105 + 420 + 105);
  require_laws(bench);
}

TEST_CASE("a line of two sectors goes in parts where one entry is free") {
  L2Spec spec;
  spec.miss_entries = 1;
  L2Bench bench("bench", spec, 1);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const std::vector<uint64_t> clocks = answers(bench, {{0, 0, false, 0, 128}});
  CHECK(clocks[0] == 528 + 2 + 420 + 105);
  CHECK(bench.l2.total(bench.l2.counters().misses) == 2);
  require_laws(bench);
}

TEST_CASE("limits that nothing reaches change no time of an access alone") {
  L2Spec wide;
  wide.miss_entries = wide.merges = wide.memory_queue_sectors = 65535;
  L2Bench without("without", L2Spec{}, 1), with("with", wide, 1);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Rng rng(5);
  for (uint64_t id = 0; id < 500; ++id) {
    const uint32_t bytes = uint32_t{32} << rng.below(9);
    const bool past = rng.chance(1, 4), store = rng.chance(1, 3);
    const uint64_t address = rng.below((1024 * 1024) / bytes) * bytes + (past ? 1 << 24 : 0);
    std::array<uint64_t, 2> took{};
    for (L2Bench* bench : {&without, &with}) {
      const uint64_t begin = bench->clock() + 1000;
      bench->call({0, begin, store, address, bytes,
                   past ? AllocationClass::uncached : AllocationClass::cached},
                  id);
      bench->run();
      took[bench == &with ? 1 : 0] = bench->ended.at(id) - begin;
    }
    CAPTURE(id, bytes, past, store);
    // A piece past the cache is cut at its line; the second leaves with its own bytes.
    const uint64_t later = past && bytes >= 256 ? (store ? 4 : 2) : 0;
    CHECK(took[1] == took[0] + later);
  }
  CHECK(with.l2.counters().hits == without.l2.counters().hits);
  CHECK(with.l2.counters().misses == without.l2.counters().misses);
  CHECK(with.l2.total(with.l2.counters().hits) > 0);
  require_laws(with);
}

TEST_CASE("the order of the calls changes no time with limits, either") {
  L2Spec larger = tiny();
  larger.miss_entries = 4;
  larger.merges = 2;
  larger.memory_queue_sectors = 8;
  constexpr Time kInQueue = 50 * kNanosecond;
  L2Bench tiny_rising("tiny_rising", tiny(), 6, kInQueue);
  L2Bench tiny_falling("tiny_falling", tiny(), 6, kInQueue);
  L2Bench rising("rising", larger, 6, kInQueue), falling("falling", larger, 6, kInQueue);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const auto compare = [](L2Bench& a, L2Bench& b, uint64_t spacing) {
    CHECK(storm(a, false, spacing) == storm(b, true, spacing));
    CHECK(a.l2.counters().hits == b.l2.counters().hits);
    CHECK(a.l2.counters().merges == b.l2.counters().merges);
    CHECK(a.l2.counters().misses == b.l2.counters().misses);
    CHECK(a.l2.counters().write_backs == b.l2.counters().write_backs);
    CHECK(a.l2.total(a.l2.counters().write_backs) > 0);
  };
  compare(tiny_rising, tiny_falling, 400);
  compare(rising, falling, 60);
}

TEST_CASE("two partitions, too, whatever the order of the calls, and lanes of any width") {
  L2Spec halves = tiny();
  halves.miss_entries = 4;
  halves.merges = 2;
  halves.memory_queue_sectors = 8;
  halves.partitions = 2;
  halves.partition_link_cycles = 100;
  L2Spec narrow = halves;
  narrow.partition_link_bytes_per_cycle = 2;
  L2Bench rising("rising", halves, 6), falling("falling", halves, 6);
  L2Bench narrow_rising("narrow_rising", narrow, 6), narrow_falling("narrow_falling", narrow, 6);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const auto compare = [](L2Bench& a, L2Bench& b) {
    CHECK(storm(a, false, 60) == storm(b, true, 60));
    CHECK(a.l2.counters().hits == b.l2.counters().hits);
    CHECK(a.l2.counters().misses == b.l2.counters().misses);
    require_laws(a);
    require_laws(b);
  };
  compare(rising, falling);
  compare(narrow_rising, narrow_falling);
}

TEST_CASE("partitions that all wait for an entry, a merge and a place end, too") {
  L2Spec spec = tiny();
  spec.partitions = 2;
  spec.partition_link_cycles = 100;
  L2Bench bench("bench", spec, 6, 50 * kNanosecond);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  storm(bench, false, 1);
  bench.l2.write_back();
  bench.l2.invalidate();
  bench.run();
  require_laws(bench);
}

TEST_CASE("an entry, no merge and a place are enough to end, however much comes at once") {
  L2Bench bench("bench", tiny(), 6, 50 * kNanosecond);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  storm(bench, false, 1);
  CHECK(bench.l2.total(bench.l2.counters().write_backs) > 0);
  bench.l2.write_back();  // Beside slices at work.
  bench.run();
  CHECK(!bench.l2.write_back_busy());
  require_laws(bench);
}

TEST_CASE("what the memory refuses holds no place") {
  L2Spec spec;
  spec.memory_queue_sectors = 1;
  L2Bench bench("bench", spec, 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.refuse(true);
  const std::vector<uint64_t> lines = lines_of_first_slice(2);
  answers(bench, {{0, 0, false, lines[0], 64, AllocationClass::uncached},
                  {1, 1, false, lines[1], 64, AllocationClass::uncached}});
  require_laws(bench);
}
