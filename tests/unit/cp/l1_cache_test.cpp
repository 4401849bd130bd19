// SPDX-License-Identifier: Apache-2.0
// Question: does the L1 replace like LRU and keep track of dirty bytes? State space: hit, miss in a
// set with and without a free slot, order of use; dirty masks. Reference: a list of lines by last
// use, kept per set.
#include "models/common/l1_cache.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <list>
#include <map>

#include "tests/support/seeded_rng.h"

using stretto::L1Cache;

TEST_CASE("the L1 keeps exactly the lines that an LRU list keeps, for any geometry") {
  for (const auto& [bytes, ways] :
       {std::pair<uint32_t, uint32_t>{1024, 1}, {1024, 16}, {4096, 4}, {32768, 8}}) {
    L1Cache cache(bytes, ways);
    const uint64_t sets = bytes / 64 / ways;
    std::map<uint64_t, std::list<uint64_t>> reference;  // Per set, most recent first.
    stretto::test::Rng rng(11, ways);
    for (int i = 0; i < 20000; ++i) {
      const uint64_t line = rng.below(3 * bytes / 64);
      std::list<uint64_t>& used = reference[line % sets];
      const auto held = std::find(used.begin(), used.end(), line);
      const uint32_t slot = cache.lookup(line);
      REQUIRE((slot != L1Cache::kMiss) == (held != used.end()));
      if (held != used.end()) {
        used.erase(held);
      } else {
        const uint32_t victim = cache.victim(line);
        REQUIRE(cache.valid(victim) == (used.size() == ways));
        if (used.size() == ways) {
          REQUIRE(cache.line_of(victim) == used.back());
          used.pop_back();
        }
        cache.drop(victim);
        cache.install(victim, line);
      }
      used.push_front(line);
    }
  }
}

TEST_CASE("dirty bytes are counted by line and forgotten when they are written back") {
  L1Cache cache(1024, 4);
  const uint32_t slot = cache.victim(5);
  cache.install(slot, 5);
  CHECK(cache.dirty_lines() == 0);
  cache.mark_dirty(slot, 0x0F);
  cache.mark_dirty(slot, 0xF000);
  CHECK(cache.dirty(slot) == 0xF00F);
  CHECK(cache.dirty_lines() == 1);
  cache.clean(slot);
  cache.clean(slot);
  CHECK(cache.dirty_lines() == 0);
  cache.drop_all();
  CHECK(cache.find(5) == L1Cache::kMiss);
}
