// SPDX-License-Identifier: Apache-2.0
// Question: do locked lines stay in the L2 until a hart has accessed them, and no longer, and does
// no other line starve for them? State space: which sector, who accesses it, how many ways of a set
// are locked or pinned, when a lock ends; read-modify-writes of harts beside it. Single cases on one
// set of four ways; then 10^6 random accesses, each compared with lists of lines that know nothing
// of tags. ComP-Net 4.2.2, 4.2.3.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include <list>

#include "models/common/error.h"
#include "tests/support/seeded_rng.h"
#include "tests/unit/gpu/l2_bench.h"

namespace stretto::test {
namespace {

constexpr unsigned kWays = 4, kSets = 2;  // Sets of a bank.
constexpr uint64_t kLimit = 20'000;
constexpr uint64_t kToBank = 105, kHit = 212;
constexpr unsigned kHart = L2Bench::kHart;

L2Spec locking(uint32_t lock_ways = kWays - 1) {
  L2Spec spec;
  spec.bytes = 64 * 1024;
  spec.ways = kWays;
  spec.lock_ways = lock_ways;
  spec.lock_limit_cycles = kLimit;
  return spec;
}

// Line i of the set that line 0 is in.
uint64_t line_of_set(unsigned i) {
  uint64_t line = 0;
  for (unsigned found = 0;; line += 2) {
    if (channel_of(line * 128) == 0 && set_in_bank(line, kSets) == 0 && found++ == i) return line;
  }
}
uint64_t address_of(unsigned i) { return line_of_set(i) * 128; }

struct LocksBench : L2Bench {
  explicit LocksBench(const L2Spec& spec = locking()) : L2Bench("bench", spec, 2) {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  uint64_t lock(uint64_t address) {
    return alone(
        {1, 0, true, address, 8, AllocationClass::cached, nullptr, Operation::locked_store, true});
  }
  uint64_t load(uint64_t address, unsigned port = 0) {
    return alone({port, 0, false, address, 64});
  }
  uint64_t store(uint64_t address, unsigned port = 0) {
    return alone({port, 0, true, address, 64});
  }
  void locked_read(uint64_t address, unsigned hart = 0) {
    alone({kHart + hart, 0, false, address, 8, AllocationClass::cached, nullptr,
           Operation::locked_read});
  }
  void unlocking_write(uint64_t address, unsigned hart = 0) {
    alone({kHart + hart, 0, true, address, 8, AllocationClass::cached, nullptr,
           Operation::unlocking_write});
  }
  // Lines of the set from number `from` on.
  void stream(unsigned from = 20, unsigned count = 8) {
    for (unsigned i = from; i < from + count; ++i) load(address_of(i));
  }
  bool is_here(uint64_t address) { return load(address) == kHit; }
  const L2Locks::Counters& locks() const { return l2.locks().counters(); }
};

TEST_CASE("a locked line outlives what streams through its set, until a hart has read it",
          "[CN-LOCK-01][CN-LOCK-02]") {
  LocksBench bench;
  bench.lock(address_of(0));
  bench.stream();
  CHECK(bench.is_here(address_of(0)));
  CHECK(bench.is_here(address_of(0)));  // Not by the unit's load.
  CHECK(bench.load(address_of(0), kHart) == kHit);
  bench.stream();
  CHECK_FALSE(bench.is_here(address_of(0)));
  CHECK(bench.locks().set == 1);
  CHECK(bench.locks().accessed == 1);
  CHECK(bench.broken_laws().empty());
}

TEST_CASE(
    "a hart's store ends a lock as well as its load, its access to the other sector does not") {
  LocksBench bench;
  bench.lock(address_of(0) + 64);
  bench.load(address_of(0), kHart);
  bench.stream();
  CHECK(bench.load(address_of(0) + 64) == kHit);
  bench.store(address_of(0) + 64, kHart);
  bench.stream();
  CHECK_FALSE(bench.is_here(address_of(0) + 64));
}

TEST_CASE("entries that share a line do not free each other", "[CN-LOCK-01]") {
  LocksBench bench;
  bench.lock(address_of(0));
  bench.lock(address_of(0) + 64);
  bench.load(address_of(0), kHart);
  bench.stream();
  CHECK(bench.load(address_of(0) + 64) == kHit);
  bench.load(address_of(0) + 64, kHart);
  CHECK(bench.locks().accessed == 2);
  CHECK(bench.l2.locks().lines() == 0);
}

TEST_CASE("what a hart stores and loads for itself is not locked: streams take it",
          "[CN-LOCK-03]") {
  LocksBench bench;
  bench.store(address_of(0), kHart);
  bench.load(address_of(1), kHart);
  bench.stream();
  CHECK_FALSE(bench.is_here(address_of(0)));
  CHECK_FALSE(bench.is_here(address_of(1)));
  CHECK(bench.locks().set == 0);
}

TEST_CASE("one way of a set is never locked: what comes beyond is an ordinary store") {
  LocksBench bench;
  for (unsigned i = 0; i < kWays + 1; ++i) bench.lock(address_of(i));
  CHECK(bench.locks().set == kWays - 1);
  CHECK(bench.locks().refused == 2);
  bench.stream();
  for (unsigned i = 0; i < kWays - 1; ++i) CHECK(bench.is_here(address_of(i)));
  CHECK_FALSE(bench.is_here(address_of(kWays - 1)));
  CHECK(bench.l2.counters().unallocated == 0);
}

TEST_CASE("l2.lock_ways bounds the locked lines of a set, 0 locks nothing") {
  LocksBench one(locking(1));
  for (unsigned i = 0; i < 2; ++i) one.lock(address_of(i));
  CHECK(one.locks().set == 1);
  one.stream();
  CHECK(one.is_here(address_of(0)));
  CHECK_FALSE(one.is_here(address_of(1)));
}

TEST_CASE("without l2.lock_ways a store locks nothing, and takes the same time") {
  LocksBench bench(locking(0));
  CHECK(bench.lock(address_of(0)) == bench.store(address_of(0)));
  bench.stream();
  CHECK_FALSE(bench.is_here(address_of(0)));
  CHECK(bench.locks().set + bench.locks().refused == 0);
}

TEST_CASE("a lock ends at its limit if no hart has come, not a clock before") {
  for (const uint64_t late : {uint64_t{0}, uint64_t{1}}) {
    L2Locks locks(kLimit, [](uint64_t) {});
    locks.set(5, 0, 1000, {});
    locks.expire(1000 + kLimit - 1 + late);
    CHECK(locks.any() == (late == 0));
    CHECK(locks.counters().expired == late);
  }
}

TEST_CASE("a store to a locked sector gives it its time anew, and is no other lock") {
  L2Locks locks(kLimit, [](uint64_t) {});
  locks.set(5, 0, 1000, {});
  locks.set(5, 0, 3000, {});
  locks.expire(3000 + kLimit - 1);
  CHECK(locks.any());
  locks.expire(3000 + kLimit);
  CHECK_FALSE(locks.any());
  CHECK(locks.counters().set == 1);
  CHECK(locks.counters().renewed == 1);
  CHECK(locks.counters().expired == 1);
}

TEST_CASE("what has expired makes room before the next victim is chosen") {
  LocksBench bench;
  bench.lock(address_of(0));
  bench.run_to(bench.clock() + kLimit);
  bench.stream();
  CHECK_FALSE(bench.is_here(address_of(0)));
  CHECK(bench.locks().expired == 1);
  CHECK(bench.broken_laws().empty());
}

TEST_CASE("the time of a lock is that from its store to the hart's load") {
  LocksBench bench;
  const uint64_t begin = bench.clock() + 1000;
  bench.call({1, begin, true, address_of(0), 8, AllocationClass::cached, nullptr,
              Operation::locked_store, true},
             0);
  bench.call({kHart, begin + 1234, false, address_of(0), 64}, 1);
  bench.run();
  CHECK(bench.locks().clocks == 1234);
  CHECK(bench.locks().most_clocks == 1234);
}

TEST_CASE("an acquire of system scope forgets locks with what the cache holds") {
  LocksBench bench;
  bench.lock(address_of(0));
  bench.l2.invalidate();
  CHECK(bench.locks().forgotten == 1);
  bench.stream();
  CHECK_FALSE(bench.is_here(address_of(0)));
  CHECK(bench.broken_laws().empty());
}

TEST_CASE("a lock that is left at the end breaks a law, which names who set it and where") {
  LocksBench bench;
  bench.lock(address_of(2) + 64);
  const std::string where = fmt::format("{:#x}", address_of(2) + 64);
  CHECK(bench.broken_laws() ==
        std::vector<std::string>{"L2 line locks set = ended: no hart has accessed sector " + where +
                                 ", locked by compute unit 1, work-group 0"});
}

TEST_CASE("pinned and locked lines leave a way of their set, and both stay") {
  LocksBench bench;
  bench.l2.pin(0, address_of(0), 128);
  bench.l2.pin(1, address_of(1), 128);
  bench.l2.set_persist_ways(2);
  bench.load(address_of(0));
  bench.load(address_of(1));
  bench.lock(address_of(2));
  bench.lock(address_of(3));
  CHECK(bench.locks().set == 1);
  CHECK(bench.locks().refused == 1);
  bench.stream();
  for (unsigned i = 0; i < 3; ++i) CHECK(bench.is_here(address_of(i)));
  // Of a pinned line that is locked, too, the pin stays.
  bench.load(address_of(2), kHart);
  bench.lock(address_of(1));
  bench.load(address_of(1), kHart);
  bench.stream();
  CHECK(bench.is_here(address_of(1)));
  // An end of all pins keeps the locked line.
  bench.lock(address_of(1));
  bench.l2.pin(0, 0, 0);
  bench.l2.pin(1, 0, 0);
  bench.stream();
  CHECK(bench.is_here(address_of(1)));
  CHECK_FALSE(bench.is_here(address_of(0)));
  bench.load(address_of(1), kHart);
}

TEST_CASE("fills that are under way in a set leave pinned lines their ways") {
  LocksBench bench;
  bench.l2.pin(0, address_of(0), 128);
  bench.l2.pin(1, address_of(1), 128);
  bench.l2.set_persist_ways(2);
  for (unsigned i = 0; i < 3 * kWays; ++i) bench.call({0, 1000, false, address_of(20 + i), 64}, i);
  bench.run_to(1100);  // The memory takes 300 ns.
  bench.call({0, 1105, true, address_of(99), 64}, 99);
  bench.call({1, 1110, true, address_of(0), 64}, 100);
  bench.call({1, 1110, false, address_of(1), 64}, 101);
  bench.run();
  CHECK(bench.l2.counters().unallocated == 3 * kWays - (kWays - 2) + 1);
  CHECK(bench.l2.counters().fetched_past ==
        3 * kWays - (kWays - 2));  // The store is written around.
  CHECK(bench.l2.counters().pinned == 2);
  CHECK(bench.l2.counters().pinned_evictions == 0);
  CHECK(bench.is_here(address_of(0)));
  CHECK(bench.is_here(address_of(1)));
}

TEST_CASE("dirty sectors of a range that was pinned leave as such, not as results") {
  LocksBench bench;
  bench.l2.pin(0, address_of(0), 128);
  bench.l2.set_persist_ways(2);
  bench.store(address_of(0));
  bench.store(address_of(1));
  CHECK(bench.l2.dirty_sectors() == 1);
  bench.l2.pin(0, 0, 0);
  CHECK(bench.l2.dirty_sectors() == 1);
  bench.stream();
  CHECK(bench.l2.dirty_sectors() == 0);
  CHECK(bench.l2.counters().unpinned_write_backs == 1);
  CHECK(bench.l2.counters().pinned_evictions == 0);
  CHECK(bench.l2.total(bench.l2.counters().write_backs) == 2);
}

TEST_CASE("the line of a read-modify-write stays until its write", "[CN-RMW-02]") {
  LocksBench bench;
  bench.locked_read(address_of(0));
  bench.stream();
  const uint64_t evictions = bench.l2.counters().evictions;
  bench.unlocking_write(address_of(0));
  CHECK(bench.l2.counters().evictions == evictions);  // It needed no way.
  CHECK(bench.is_here(address_of(0)));
  bench.stream();
  CHECK_FALSE(bench.is_here(address_of(0)));
  CHECK(bench.broken_laws().empty());
}

TEST_CASE("a lock until read and a read-modify-write of its line end each by itself") {
  LocksBench bench;
  bench.lock(address_of(0) + 64);
  bench.locked_read(address_of(0));
  bench.unlocking_write(address_of(0));
  bench.stream();
  CHECK(bench.load(address_of(0) + 64) == kHit);
  CHECK(bench.l2.locks().lines() == 1);
  bench.load(address_of(0) + 64, kHart);
}

TEST_CASE("a read-modify-write that another hart ends is an error, and one that nobody began") {
  LocksBench bench;
  bench.locked_read(0x4000, 0);
  CHECK_THROWS_WITH(bench.unlocking_write(0x4000, 1),
                    "L2: hart 1 ends the read-modify-write of line 0x4000, which hart 0 has begun");
  bench.unlocking_write(0x4000, 0);
  CHECK_THROWS_WITH(bench.unlocking_write(0x4000, 0),
                    "L2: hart 0 ends the read-modify-write of line 0x4000, which nobody has begun");
}

TEST_CASE("a hart that never ends its read-modify-write is named to who waits for it") {
  LocksBench bench(locking(0));
  bench.locked_read(0x4000, 1);
  bench.call({0, bench.clock() + 10, false, 0x4000, 64}, 7);
  bench.run();
  CHECK(bench.ended.count(7) == 0);
  REQUIRE(bench.l2.waiting_on().size() == 1);
  CHECK(bench.l2.waiting_on()[0] == "L2: 1 requests wait for a line that hart 1 has locked");
  CHECK(bench.broken_laws().size() == 2);  // Requests and responses, too.
  const uint64_t begin = bench.clock();
  CHECK_THROWS_WITH(
      [&] {
        bench.call({1, begin + 2'000'000, false, 0x4040, 64}, 8);
        bench.run();
      }(),
      Catch::StartsWith("gpu0: L2 line 0x4000 is locked by hart 1 for ") &&
          Catch::EndsWith("the write of its read-modify-write has not come, and 2 accesses wait"));
}

TEST_CASE("bounds of locks that leave no way are refused") {
  CHECK(locking(kWays).check() ==
        "l2.lock_ways = 4 leaves no way of l2.ways = 4 to other lines: at most 3");
  CHECK(locking(kWays - 1).check().empty());
}

// Lines in the order of their last use, and what is locked.
class Lists {
 public:
  struct Counts {
    uint64_t hits = 0, misses = 0, evictions = 0, write_backs = 0, set = 0, accessed = 0,
             renewed = 0, refused = 0, clocks = 0;
    bool operator==(const Counts&) const = default;
  };
  Counts counts;
  uint64_t expired = 0, forgotten = 0;

  void load(uint64_t line, unsigned mask, uint64_t now) {
    Entry& entry = use(line, now);
    for (const unsigned bit : {1u, 2u}) {
      if ((mask & bit) != 0) ++((entry.valid & bit) != 0 ? counts.hits : counts.misses);
    }
    entry.valid |= mask;
  }
  void store(uint64_t line, unsigned mask, uint64_t now) {
    Entry& entry = use(line, now);
    entry.valid |= mask;
    entry.dirty |= mask;
  }
  void lock(uint64_t line, unsigned sector, uint64_t now) {
    store(line, 1u << sector, now);
    Entry& entry = use(line, now);
    unsigned locked = 0, kept = 0;
    for (const Entry& other : sets_[key(line)]) {
      locked += &other != &entry && other.is_locked();
      kept += &other != &entry && (other.is_locked() || other.exclusive);
    }
    const bool may =
        entry.is_locked() || (locked < kWays - 1 && (entry.exclusive || kept < kWays - 1));
    if (!may) {
      ++counts.refused;
    } else if (entry.until[sector] != 0) {
      ++counts.renewed;
    } else {
      ++counts.set;
      entry.since[sector] = now;
    }
    if (may) entry.until[sector] = now + kLimit;
  }
  void hart(uint64_t line, unsigned sector, bool stores, uint64_t now) {
    stores ? store(line, 1u << sector, now) : load(line, 1u << sector, now);
    free(use(line, now), sector, now);
  }
  // `done`: when what it loads is there.
  void begin(uint64_t line, unsigned sector, uint64_t now, uint64_t done) {
    load(line, 1u << sector, now);
    expire(done);
    unsigned kept = 0;
    for (const Entry& other : sets_[key(line)])
      kept += other.line != line && (other.is_locked() || other.exclusive);
    Entry& entry = use(line, done);
    entry.exclusive = entry.is_locked() || kept < kWays - 1;
    free(entry, sector, done);
  }
  void end(uint64_t line, unsigned sector, uint64_t now) {
    hart(line, sector, true, now);
    use(line, now).exclusive = false;
  }
  void write_back() {
    for_all([](Entry& entry) { entry.dirty = 0; });
  }
  void invalidate(uint64_t now) {
    expire(now);
    for_all([&](Entry& entry) {
      for (uint64_t& until : entry.until) forgotten += std::exchange(until, 0) != 0;
    });
    for (auto& [key, entries] : sets_) {
      entries.remove_if([](Entry& entry) {
        if (!entry.exclusive) entry.valid = entry.dirty;
        return entry.valid == 0;
      });
    }
  }
  void expire(uint64_t now) {
    for_all([&](Entry& entry) {
      for (uint64_t& until : entry.until) {
        if (until == 0 || until > now) continue;
        until = 0;
        ++expired;
      }
    });
  }

 private:
  struct Entry {
    uint64_t line;
    unsigned valid = 0, dirty = 0;  // Sectors.
    uint64_t until[2] = {}, since[2] = {};
    bool exclusive = false;
    bool is_locked() const { return (until[0] | until[1]) != 0; }
  };
  void free(Entry& entry, unsigned sector, uint64_t now) {
    if (entry.until[sector] == 0) return;
    ++counts.accessed;
    counts.clocks += now - entry.since[sector];
    entry.until[sector] = 0;
  }
  using Key = std::array<uint64_t, 3>;
  static Key key(uint64_t line) {
    return {channel_of(line * 128), line % 2, set_in_bank(line, kSets)};
  }
  template <class F>
  void for_all(F f) {
    for (auto& [key, entries] : sets_)
      for (Entry& entry : entries) f(entry);
  }
  Entry& use(uint64_t line, uint64_t now) {
    std::list<Entry>& set = sets_[key(line)];
    expire(now);
    auto entry = set.begin();
    while (entry != set.end() && entry->line != line) ++entry;
    if (entry != set.end()) {
      set.splice(set.begin(), set, entry);
      return set.front();
    }
    if (set.size() == kWays) {
      auto victim = std::prev(set.end());
      while (victim->is_locked() || victim->exclusive) --victim;
      ++counts.evictions;
      counts.write_backs += static_cast<uint64_t>(std::popcount(victim->dirty));
      set.erase(victim);
    }
    set.push_front({line});
    return set.front();
  }

  std::map<Key, std::list<Entry>> sets_;
};

TEST_CASE("a million random accesses do what lists of lines say") {
  LocksBench bench;
  Lists lists;
  Rng rng(17);
  // Twelve lines of each of six sets.
  std::vector<uint64_t> lines;
  for (unsigned i = 0; i < 12; ++i) {
    for (const uint64_t other : {0, 1, 2, 3, 64, 65}) lines.push_back(line_of_set(i) ^ other);
  }
  std::optional<uint64_t> held;  // Sector of a read-modify-write.
  uint64_t written_back = 0;
  for (unsigned step = 0; step < 1'000'000; ++step) {
    const uint64_t line = lines[rng.below(lines.size())];
    const unsigned sector = static_cast<unsigned>(rng.below(2));
    const uint64_t address = line * 128 + 64 * sector;
    if (rng.chance(1, 400)) bench.run_to(bench.clock() + rng.below(2 * kLimit));
    const uint64_t now = bench.clock() + 1000 + kToBank;
    if (held && rng.chance(1, 3)) {
      bench.unlocking_write(*held * 64);
      lists.end(*held / 2, *held % 2, now);
      held.reset();
    } else if (held && *held / 2 == line) {
      continue;  // It would wait.
    } else if (const uint64_t what = rng.below(16); what < 4) {
      bench.load(address);
      lists.load(line, 1u << sector, now);
    } else if (what < 6) {
      bench.alone({0, 0, false, line * 128, 128});
      lists.load(line, 3, now);
    } else if (what < 8) {
      bench.store(address);
      lists.store(line, 1u << sector, now);
    } else if (what < 12) {
      bench.lock(address);
      lists.lock(line, sector, now);
    } else if (what < 15) {
      const bool stores = rng.chance(1, 4);
      stores ? bench.store(address, kHart) : bench.load(address, kHart);
      lists.hart(line, sector, stores, now);
    } else if (!held) {
      bench.locked_read(address);
      lists.begin(line, sector, now, bench.clock_of_last_event());
      held = 2 * line + sector;
    }
    if (rng.chance(1, 5000)) {
      const uint64_t before = bench.l2.total(bench.l2.counters().write_backs);
      bench.l2.write_back();
      bench.run();
      written_back += bench.l2.total(bench.l2.counters().write_backs) - before;
      lists.write_back();
    }
    if (rng.chance(1, 5000)) {
      lists.invalidate(bench.clock());
      bench.l2.invalidate();
      CAPTURE(step);
      REQUIRE(bench.l2.locks().lines() == 0);
      REQUIRE(bench.locks().expired == lists.expired);
      REQUIRE(bench.locks().forgotten == lists.forgotten);
    }
    const L2Counters& of = bench.l2.counters();
    const Lists::Counts counts{.hits = bench.l2.total(of.hits),
                               .misses = bench.l2.total(of.misses),
                               .evictions = of.evictions,
                               .write_backs = bench.l2.total(of.write_backs) - written_back,
                               .set = bench.locks().set,
                               .accessed = bench.locks().accessed,
                               .renewed = bench.locks().renewed,
                               .refused = bench.locks().refused,
                               .clocks = bench.locks().clocks};
    if (counts == lists.counts) continue;
    CAPTURE(step, line, sector, counts.hits, lists.counts.hits, counts.misses, lists.counts.misses,
            counts.evictions, lists.counts.evictions, counts.write_backs, lists.counts.write_backs,
            counts.set, lists.counts.set, counts.accessed, lists.counts.accessed, counts.refused,
            lists.counts.refused, counts.clocks, lists.counts.clocks);
    FAIL("the L2 and the lists differ");
  }
  CHECK(lists.counts.set > 50'000);
  CHECK(lists.counts.refused > 1'000);
  CHECK(lists.counts.renewed > 5'000);
  CHECK(lists.expired > 500);
  CHECK(lists.forgotten > 100);
  CHECK(bench.l2.counters().unallocated == 0);
}

}  // namespace
}  // namespace stretto::test
