// SPDX-License-Identifier: Apache-2.0
// L1Cache: a private, non-coherent, write-back cache with real bytes. What another agent writes to
// memory is not seen here until the line is dropped; what is written here is not seen there until
// it is written back.
//
// Invariants
//  1 A line is in at most one slot; a dirty byte is in a valid line.
//  2 Replacement is exact LRU inside a set, invalid slots first.
//  3 Only the dirty bytes of a line ever go back to memory, so neighbours in a line (false sharing)
//    survive.
// Lines are addressed by address >> kLineShift.
#ifndef STRETTO_MODELS_COMMON_L1_CACHE_H_
#define STRETTO_MODELS_COMMON_L1_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stretto {

class L1Cache {
 public:
  static constexpr unsigned kLineShift = 6;
  static constexpr unsigned kLineBytes = 1u << kLineShift;
  static constexpr uint32_t kMiss = ~0u;

  // REQUIRES: bytes / 64 / ways is a power of two.
  L1Cache(uint32_t bytes, uint32_t ways);

  // Slot of the line, now the most recently used of its set; or kMiss.
  uint32_t lookup(uint64_t line) {
    const uint64_t set = line & set_mask_;
    const uint32_t slot = recent_[set];
    return tags_[slot] == line ? slot : lookup_slow(line, set);
  }
  // Slot of the line without use, or kMiss.
  uint32_t find(uint64_t line) const;
  uint8_t* bytes(uint32_t slot) { return &bytes_[size_t{slot} << kLineShift]; }
  // `mask` has one bit a byte of the line.
  void mark_dirty(uint32_t slot, uint64_t mask) {
    if (dirty_[slot] == 0) ++dirty_lines_;
    dirty_[slot] |= mask;
  }
  uint64_t dirty(uint32_t slot) const { return dirty_[slot]; }
  void clean(uint32_t slot) {
    if (dirty_[slot] != 0) --dirty_lines_;
    dirty_[slot] = 0;
  }
  uint64_t line_of(uint32_t slot) const { return tags_[slot]; }
  bool valid(uint32_t slot) const { return tags_[slot] != kNoLine; }

  // The slot that the line will replace.
  uint32_t victim(uint64_t line) const;
  // Puts the line into the slot, clean and most recently used. REQUIRES: the slot is clean and of
  // the line's set.
  void install(uint32_t slot, uint64_t line);
  // REQUIRES: the slot is clean.
  void drop(uint32_t slot);
  // REQUIRES: no line is dirty.
  void drop_all();

  uint32_t slots() const { return static_cast<uint32_t>(tags_.size()); }
  uint32_t dirty_lines() const { return dirty_lines_; }

 private:
  static constexpr uint64_t kNoLine = ~uint64_t{0};
  uint32_t lookup_slow(uint64_t line, uint64_t set);

  uint32_t ways_;
  uint64_t set_mask_;
  std::vector<uint64_t> tags_;    // Line of each slot; a set's slots are adjacent.
  std::vector<uint64_t> stamps_;  // Time of last use that was not a repetition.
  std::vector<uint64_t> dirty_;   // One bit a byte.
  std::vector<uint32_t> recent_;  // Most recently used slot of each set.
  std::vector<uint8_t> bytes_;
  uint64_t clock_ = 0;
  uint32_t dirty_lines_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_L1_CACHE_H_
