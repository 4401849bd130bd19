// SPDX-License-Identifier: Apache-2.0
// Question: does an L2 of two partitions read far lines over its link and then keep them, does it drop
// what is written at home, and is there one order of what is done to a line? Times by hand: an idle
// hit takes 105 + 2 + 105 clocks, a miss 420 (300 ns at 1.4 GHz) more, a way over the link 50. Random
// accesses one by one against a model of lists, which knows nothing of tags.
#include <catch2/catch.hpp>

#include <array>
#include <list>

#include "models/common/error.h"
#include "tests/support/seeded_rng.h"
#include "tests/unit/gpu/l2_bench.h"

using namespace stretto;
using namespace stretto::test;

namespace {

constexpr uint64_t kHit = 212, kMiss = 420, kLink = 100;

unsigned home_of(uint64_t address) { return channel_of(address) / 16; }
constexpr uint64_t kFirst = 0;          // A line of channel 0,
constexpr uint64_t kSecond = 16 * 256;  // and one of channel 16.

L2Spec halves(uint32_t kib = 256) {
  L2Spec spec;
  spec.bytes = kib * 1024;
  spec.partitions = 2;
  spec.partition_link_cycles = kLink;
  return spec;
}

uint64_t load(L2Bench& bench, unsigned port, uint64_t address, uint32_t bytes = 64) {
  return bench.alone({port, 0, false, address, bytes});
}
uint64_t store(L2Bench& bench, unsigned port, uint64_t address, uint32_t bytes = 64) {
  return bench.alone({port, 0, true, address, bytes});
}

bool breaks(const L2Bench& bench, const std::string& law) {
  const std::vector<std::string> laws = bench.broken_laws();
  return std::find(laws.begin(), laws.end(), law) != laws.end();
}

// What is where, as lists from the line used last to that used first.
class Lists {
 public:
  explicit Lists(unsigned sets_a_bank) : sets_(sets_a_bank) {}

  uint64_t load(unsigned side, uint64_t line, unsigned mask) {
    const uint64_t bank = 2 * count(mask);
    Entry& here = use(side, line);
    const unsigned lacks = mask & ~here.valid;
    if (home(line) == side) {
      here.valid |= mask;
      return kHit - 2 + bank + (lacks != 0 ? kMiss : 0);
    }
    if (lacks == 0) return kHit - 2 + bank;
    Entry& there = use(home(line), line);
    const bool misses = (lacks & ~there.valid) != 0;
    there.valid |= lacks;
    here.valid |= lacks;  // A list keeps its entries where they are.
    return kHit - 2 + bank + kLink + 2 * count(lacks) + (misses ? kMiss : 0);
  }
  uint64_t store(unsigned side, uint64_t line, unsigned mask) {
    Entry& there = use(home(line), line);
    there.valid |= mask;
    there.dirty |= mask;
    drop(line, mask);
    return kHit - 2 + 2 * count(mask) + (home(line) == side ? 0 : kLink);
  }
  void write_back() {
    for (auto& [key, entries] : sets_of_)
      for (Entry& entry : entries) entry.dirty = 0;
  }
  void invalidate() {
    for (auto& [key, entries] : sets_of_) {
      entries.remove_if([](Entry& entry) { return (entry.valid = entry.dirty) == 0; });
    }
  }

 private:
  struct Entry {
    uint64_t line;
    unsigned valid = 0, dirty = 0;  // Sectors.
  };
  using Key = std::array<uint64_t, 4>;
  static uint64_t count(unsigned mask) { return mask == 3 ? 2 : 1; }
  static unsigned home(uint64_t line) { return home_of(line * 128); }
  // A copy lies where the line would lie if its channel were one of this side.
  Key key(unsigned side, uint64_t line) const {
    return {side, channel_of(line * 128) % 16, line % 2, set_in_bank(line, sets_)};
  }
  Entry& use(unsigned side, uint64_t line) {
    std::list<Entry>& set = sets_of_[key(side, line)];
    for (auto entry = set.begin(); entry != set.end(); ++entry) {
      if (entry->line != line) continue;
      set.splice(set.begin(), set, entry);
      return set.front();
    }
    if (set.size() == 16) {
      const uint64_t gone = set.back().line;
      set.pop_back();
      if (home(gone) == side) drop(gone, 3);
    }
    set.push_front({line});
    return set.front();
  }
  void drop(uint64_t line, unsigned mask) {
    std::list<Entry>& set = sets_of_[key(1 - home(line), line)];
    for (auto entry = set.begin(); entry != set.end(); ++entry) {
      if (entry->line != line) continue;
      entry->valid &= ~mask;
      if (entry->valid == 0) set.erase(entry);
      return;
    }
  }

  const uint64_t sets_;
  std::map<Key, std::list<Entry>> sets_of_;
};

}  // namespace

TEST_CASE("a far line costs the link once, and hits beside its reader from then on") {
  L2Bench bench("bench", halves(), 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  REQUIRE(home_of(kFirst) == 0);
  REQUIRE(home_of(kSecond) == 1);
  CHECK(load(bench, 0, kFirst) == kHit + kMiss);
  CHECK(load(bench, 0, kFirst) == kHit);
  CHECK(load(bench, 0, kSecond) == kHit + kLink + 2 + kMiss);
  CHECK(load(bench, 0, kSecond) == kHit);
  CHECK(load(bench, 1, kSecond) == kHit);  // Its home has it, too.
  CHECK(load(bench, 1, kFirst) == kHit + kLink + 2);
  CHECK(load(bench, 1, kFirst) == kHit);
  CHECK(bench.l2.total(bench.l2.counters().misses) == 2);
  CHECK(bench.broken_laws().empty());
}

TEST_CASE("requests of one side for a far line on its way share one trip") {
  L2Bench bench("bench", halves(), 4);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const uint64_t begin = bench.clock() + 1000;
  bench.call({2, begin, false, kFirst, 64}, 0);
  bench.call({3, begin + 10, false, kFirst, 64}, 1);
  bench.run();
  CHECK(bench.ended[0] == begin + kHit + kLink + 2 + kMiss);
  CHECK(bench.ended[1] == bench.ended[0]);
  CHECK(bench.l2.total(bench.l2.counters().merges) == 1);
}

TEST_CASE("what is written at home is dropped on the other side, sector by sector") {
  L2Bench bench("bench", halves(), 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  store(bench, 0, kFirst, 128);
  CHECK(load(bench, 1, kFirst, 128) == kHit + 2 + kLink + 4);
  CHECK(store(bench, 0, kFirst) == kHit);
  CHECK(load(bench, 1, kFirst + 64) == kHit);
  CHECK(load(bench, 1, kFirst) == kHit + kLink + 2);
  CHECK(bench.broken_laws().empty());
}

TEST_CASE("a far writer drops the copy of its own side") {
  L2Bench bench("bench", halves(), 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  store(bench, 0, kFirst);
  load(bench, 1, kFirst);
  CHECK(store(bench, 1, kFirst) == kHit + kLink);
  CHECK(load(bench, 1, kFirst) == kHit + kLink + 2);
}

TEST_CASE("a copy that is written at home while it is on its way does not stay") {
  L2Bench bench("bench", halves(), 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  store(bench, 0, kFirst);
  const uint64_t begin = bench.clock() + 1000;
  bench.call({1, begin, false, kFirst, 64}, 0);      // At home at 105 + 2 + 50, back 52 later.
  bench.call({0, begin + 70, true, kFirst, 64}, 1);  // At home at 175.
  bench.run();
  CHECK(bench.ended[0] == begin + kHit + kLink + 2);
  CHECK(load(bench, 1, kFirst) == kHit + kLink + 2);
  CHECK(load(bench, 1, kFirst) == kHit);
}

TEST_CASE("atomics of both sides take effect in the order in which they come to the line's home") {
  L2Bench bench("bench", halves(), 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const uint64_t begin = bench.clock() + 1000;
  uint64_t far = 1, near = 10, later = 100;
  bench.call({1, begin, false, kFirst, 8, AllocationClass::cached, &far}, 0);  // There at 155,
  bench.call({0, begin + 40, false, kFirst, 8, AllocationClass::cached, &near}, 1);   // at 145,
  bench.call({0, begin + 60, false, kFirst, 8, AllocationClass::cached, &later}, 2);  // at 165.
  bench.run();
  CHECK(near == 0);
  CHECK(far == 10);
  CHECK(later == 11);
  CHECK(bench.ended[0] - begin > kHit + kLink);
  CHECK(bench.l2.counters().atomics == 3);
  CHECK(bench.broken_laws().empty());
}

TEST_CASE("pieces past the cache go over the link to the memory of their home") {
  L2Bench bench("bench", halves(), 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const auto past = [&](unsigned port, bool stores) {
    return bench.alone({port, 0, stores, kFirst, 64, AllocationClass::uncached});
  };
  for (const bool stores : {false, true}) CHECK(past(1, stores) == past(0, stores) + kLink);
}

TEST_CASE("a lane carries what its width allows") {
  L2Spec spec = halves();
  spec.partition_link_bytes_per_cycle = 4;
  L2Bench bench("bench", spec, 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  store(bench, 0, kFirst);
  CHECK(load(bench, 1, kFirst) == kHit + kLink + 2 + 16);  // 64 B back.
  CHECK(store(bench, 1, kFirst) == kHit + kLink + 16);     // And there.
}

TEST_CASE("what both sides read takes room twice") {
  // 96 KiB stay on both sides of 128 KiB each, 160 KiB do not, and one partition has both.
  L2Spec one = halves();
  one.partitions = 1;
  L2Bench fits("fits", halves(), 2), exceeds("exceeds", halves(), 2),
      undivided("undivided", one, 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const auto misses_of_third_round = [](L2Bench& bench, uint64_t bytes) {
    uint64_t before = 0;
    for (unsigned round = 0; round < 3; ++round) {
      before = bench.l2.total(bench.l2.counters().misses);
      for (uint64_t at = 0; at < bytes; at += 4096)
        for (const unsigned port : {0u, 1u}) load(bench, port, at, 4096);
    }
    return bench.l2.total(bench.l2.counters().misses) - before;
  };
  CHECK(misses_of_third_round(fits, 96 * 1024) == 0);
  CHECK(misses_of_third_round(exceeds, 160 * 1024) >= 160 * 1024 / 64 / 2);
  CHECK(misses_of_third_round(undivided, 160 * 1024) == 0);
}

TEST_CASE("equal bytes of both sides move equally fast in any pieces") {
  constexpr unsigned kPorts = 80;
  constexpr uint64_t kEach = 128 * 1024, kFootprint = 1024 * 1024;
  L2Bench bench("bench", halves(16384), kPorts);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (const unsigned port : {0u, kPorts - 1})
    for (uint64_t at = 0; at < kFootprint; at += 4096) load(bench, port, at, 4096);
  double least = 1e9, most = 0;
  for (const uint32_t piece : {256u, 1024u, 4096u, 8192u}) {
    std::vector<uint64_t> asked(kPorts, 0);
    uint64_t id = 0;
    Rng rng(7);
    const auto next = [&](unsigned port, uint64_t clock) {
      if (asked[port] == kEach) return;
      asked[port] += piece;
      bench.call({port, clock, false, rng.below(kFootprint / piece) * piece, piece}, id++);
    };
    const uint64_t begin = bench.clock() + 1000;
    bench.ended.clear();
    bench.on_answer = next;
    for (unsigned port = 0; port < kPorts; ++port)
      for (uint32_t under_way = 0; under_way < 32768; under_way += piece) next(port, begin);
    bench.run();
    bench.on_answer = nullptr;
    uint64_t end = begin;
    for (const auto& [number, clock] : bench.ended) end = std::max(end, clock);
    const double rate = static_cast<double>(kPorts * kEach) / static_cast<double>(end - begin);
    CAPTURE(piece, rate);
    CHECK(rate <= 64 * 32);
    CHECK(rate >= 0.8 * 64 * 32);
    least = std::min(least, rate);
    most = std::max(most, rate);
  }
  CHECK(most <= 1.1 * least);
  CHECK(bench.broken_laws().empty());
}

TEST_CASE("copies are not pinned, their lines at home are") {
  L2Bench bench("bench", halves(), 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.l2.set_persist_ways(4);
  bench.l2.pin(0, 0, 8192);
  for (const unsigned port : {0u, 1u}) load(bench, port, 0, 8192);
  CHECK(bench.l2.counters().pinned == 64);
  bench.l2.pin(0, 0, 0);  // And what is here when a range is pinned.
  bench.l2.pin(0, 0, 8192);
  CHECK(bench.broken_laws().empty());
}

TEST_CASE("the coherence law holds for readers of copies") {
  L2Bench bench("bench", halves(), 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  load(bench, 1, kFirst);
  StrettoExtension dma;
  dma.engine = Engine::dma;
  dma.operation = Operation::write;
  bench.l2.passes(dma, kFirst, 64);
  CHECK_THROWS_AS(load(bench, 1, kFirst), CheckError);
}

TEST_CASE("random accesses take the time that lists of lines say") {
  L2Bench bench("bench", halves(), 4);  // 2 sets a bank.
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Lists lists(2);
  Rng rng(5);
  uint64_t far = 0;
  for (unsigned step = 0; step < 30'000; ++step) {
    // Twice what it holds, half of it in an eighth, so that sets overflow and lines are shared.
    const uint64_t line = rng.below(rng.chance(1, 2) ? 4096 : 512);
    const unsigned mask = 1 + static_cast<unsigned>(rng.below(3));
    const unsigned port = static_cast<unsigned>(rng.below(4)), side = port / 2;
    const uint64_t address = line * 128 + (mask == 2 ? 64 : 0);
    const uint32_t bytes = mask == 3 ? 128 : 64;
    const bool stores = rng.chance(1, 4);
    const uint64_t expected = stores ? lists.store(side, line, mask) : lists.load(side, line, mask);
    const uint64_t took =
        stores ? store(bench, port, address, bytes) : load(bench, port, address, bytes);
    CAPTURE(step, line, mask, port, stores);
    REQUIRE(took == expected);
    far += home_of(address) != side;
    if (rng.chance(1, 2000)) {
      bench.l2.write_back();
      bench.run();
      lists.write_back();
    }
    if (rng.chance(1, 2000)) {
      bench.l2.invalidate();
      lists.invalidate();
    }
    if (step % 1000 == 0) bench.ended.clear();
  }
  CHECK(far > 10'000);
  CHECK(bench.broken_laws().empty());
}

TEST_CASE("the laws of the link fire while something is on its way") {
  L2Bench bench("bench", halves(), 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  store(bench, 0, kFirst);
  const uint64_t begin = bench.clock() + 1000;
  bench.call({1, begin, false, kFirst, 64}, 0);
  bench.run_to(begin + 170);
  CHECK(breaks(bench, "L2 sectors asked of the other partition = sectors that came"));
  CHECK(breaks(bench, "L2 requests between partitions all there"));
  bench.run();
  CHECK(bench.broken_laws().empty());
}

TEST_CASE("a copy that outlives its line is a violated law") {
  L2Spec spec = halves();
  spec.fault_keep_copies = true;
  L2Bench bench("bench", spec, 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  load(bench, 1, kFirst);
  // 17 more lines of channel 0 in each of its sets.
  for (uint64_t at = 256; at < 2'000'000; at += 256)
    if (channel_of(at) == 0) load(bench, 0, at);
  CHECK(breaks(bench, "L2 copies that their home does not have"));
}

TEST_CASE("partitions without a link are refused") {
  L2Spec spec = halves();
  spec.partition_link_cycles = 0;
  CHECK(spec.check() == "l2.partitions = 2 needs l2.partition_link_cycles of at least 2");
}
