// SPDX-License-Identifier: Apache-2.0
// Tags of the caches between a core of the host and host memory: how long a load takes. Bytes are
// memory's own at once, as caches of one processor are coherent.
//
// Invariants
//  1 A line that a level holds was used or written since it was dropped there.
//  2 Replacement is LRU inside a set.
//  3 What others write leaves levels 1 and 2 and is in level 3 (Intel Data Direct I/O: devices write
//    into the last level).
#ifndef STRETTO_MODELS_HOST_LINE_CACHES_H_
#define STRETTO_MODELS_HOST_LINE_CACHES_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace stretto {

class LineTags {
 public:
  static constexpr unsigned kLineShift = 6;

  // REQUIRES: kib * 1024 / 64 / ways is a power of two.
  LineTags(uint32_t kib, uint32_t ways)
      : ways_(ways), sets_(uint64_t{kib} * 1024 / (uint64_t{ways} << kLineShift)) {}

  // Whether it holds the line, which is the most recently used of its set from now on.
  bool use(uint64_t line) {
    std::vector<uint64_t>& set = sets_[line & (sets_.size() - 1)];
    const auto found = std::find(set.begin(), set.end(), line);
    const bool hit = found != set.end();
    if (hit) set.erase(found);
    if (set.size() == ways_) set.pop_back();
    set.insert(set.begin(), line);
    return hit;
  }
  void drop(uint64_t line) { std::erase(sets_[line & (sets_.size() - 1)], line); }

 private:
  const uint32_t ways_;
  std::vector<std::vector<uint64_t>> sets_;  // Lines, most recently used first.
};

class LineCaches {
 public:
  enum Level : uint8_t { first, second, third, memory, levels };

  struct Size {
    uint32_t kib, ways;
  };
  explicit LineCaches(const std::array<Size, 3>& sizes)
      : tags_{LineTags(sizes[0].kib, sizes[0].ways), LineTags(sizes[1].kib, sizes[1].ways),
              LineTags(sizes[2].kib, sizes[2].ways)} {}

  // Where an access finds the bytes at `address`; they are in all levels then.
  Level use(uint64_t address) {
    const uint64_t line = address >> LineTags::kLineShift;
    Level found = memory;
    for (unsigned level = 3; level-- > 0;)
      if (tags_[level].use(line)) found = static_cast<Level>(level);
    return found;
  }
  // Another agent has written [address, address + bytes).
  void written(uint64_t address, uint64_t bytes) {
    const uint64_t last = (address + bytes - 1) >> LineTags::kLineShift;
    for (uint64_t line = address >> LineTags::kLineShift; line <= last; ++line) {
      tags_[first].drop(line);
      tags_[second].drop(line);
      tags_[third].use(line);
    }
  }

 private:
  std::array<LineTags, 3> tags_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HOST_LINE_CACHES_H_
