// SPDX-License-Identifier: Apache-2.0
// L2Shared: the bytes that the L2 holds of ranges of class `shared`, apart from memory's image.
// What is written here is not in memory until it is written back; what others write to memory is
// not seen here until the line is forgotten.
//
// Invariants
//  1 A line has bytes here only while it is in the tags.
//  2 A dirty byte is a valid one. Bytes that are not valid here are memory's.
//  3 Only dirty bytes go to memory, so neighbours in a line (false sharing) survive.
//  4 Bytes of a write-back that memory has not taken yet are read from it, newest first.
//
// Lines are addressed by offset >> 7, as in the tags. Everything that costs something is behind
// empty(): ranges of other classes pay one comparison.
#ifndef STRETTO_MODELS_GPU_L2_L2_SHARED_H_
#define STRETTO_MODELS_GPU_L2_L2_SHARED_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory_resource>
#include <set>
#include <unordered_map>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "models/common/memory_image.h"

namespace stretto {

class L2Shared final : private MemoryWatcher {
 public:
  static constexpr unsigned kLineBits = 7, kLineBytes = 128, kSectorBytes = 64;
  static constexpr uint32_t kNone = ~uint32_t{0};

  struct Line {
    std::array<uint8_t, kLineBytes> bytes{};
    uint64_t valid[2] = {};  // One bit a byte, by sector.
    uint64_t dirty[2] = {};
  };
  // A line on its way to memory; it stays where it is until landed().
  struct WriteBack {
    uint64_t line;
    std::array<uint8_t, kLineBytes> bytes;
    std::array<uint8_t, kLineBytes> enable;
    std::vector<uint32_t> waits;  // Requests of the L2 that are complete after it.
  };

  explicit L2Shared(MemoryImage& memory) : memory_(memory) {}

  bool empty() const { return lines_.empty() && flying_.empty(); }
  bool holds(uint64_t line) const { return lines_.count(line) != 0; }
  // By address: what is done to them is done in an order that no table decides.
  std::vector<uint64_t> lines() const;
  const std::pmr::set<uint64_t>& dirty_lines() const { return dirty_lines_; }
  // Both sector masks, two bits.
  unsigned dirty(uint64_t line) const;
  unsigned dirty_in_full(uint64_t line) const;

  // The line is in the tags, its sectors `present` with it: what has no bytes yet takes memory's.
  void open(uint64_t line, unsigned present);
  // Sectors have come from memory: all bytes that are not dirty are memory's.
  void fetched(uint64_t line, unsigned sectors);
  // REQUIRES: open.
  void write(uint64_t line, unsigned first, unsigned last, const uint8_t* bytes);
  // What an access at the L2 sees. May cross lines.
  void read(uint64_t offset, uint8_t* bytes, uint64_t count) const;
  uint64_t word(uint64_t offset) const;
  bool holds_word(uint64_t offset) const;
  // The line is no longer in the tags. REQUIRES: not dirty.
  void drop(uint64_t line);
  // Forgets what is not dirty; the line stays.
  void forget(uint64_t line);

  // Takes the dirty bytes of the sectors for a write-back; kNone: none is dirty.
  uint32_t take(uint64_t line, unsigned sectors);
  WriteBack& write_back(uint32_t index) { return write_backs_[index]; }
  bool flies(uint64_t line) const { return flying_.count(line) != 0; }
  // `request` is complete after all write-backs that are under way; returns their number.
  uint32_t wait(uint32_t request);
  // Memory has taken it; returns who waited.
  std::vector<uint32_t> landed(uint32_t index);

  // One shot, as MemoryImage::watch(): when the 8 bytes as an access at the L2 sees them may have
  // changed.
  void watch(uint64_t offset, MemoryWatcher& watcher, uint64_t cookie);

 private:
  struct Watch {
    MemoryWatcher* watcher;
    uint64_t cookie;
  };
  void open(Line& here, uint64_t line, unsigned present) const;
  // Whether bytes first .. last are valid.
  static bool has(const Line& line, unsigned first, unsigned last);
  void from_memory(uint64_t line, uint8_t* bytes) const;
  void on_memory_change(uint64_t address, uint64_t cookie) override;
  void changed(uint64_t line) {
    if (!watches_.empty()) notify(line << kLineBits, kLineBytes);
  }
  void notify(uint64_t offset, uint64_t count);

  MemoryImage& memory_;
  std::pmr::unsynchronized_pool_resource pool_;  // Lines come and go with each fence.
  std::pmr::unordered_map<uint64_t, Line> lines_{&pool_};
  std::pmr::set<uint64_t> dirty_lines_{&pool_};
  std::deque<WriteBack> write_backs_;
  std::vector<uint32_t> free_;
  // Oldest first.
  std::pmr::unordered_map<uint64_t, boost::container::small_vector<uint32_t, 4>> flying_{&pool_};
  std::multimap<uint64_t, Watch> watches_;  // By word; memory_ is watched for each too.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_L2_L2_SHARED_H_
