// SPDX-License-Identifier: Apache-2.0
// The tags of the L2: set-associative, 128 B lines of two 64 B sectors, replacement, write-back
// state, kernel account.
//
// Invariants
//  1 Everything a lookup needs of a set lies in two host cache lines: 16 tags in the first, order
//    and state in the second.
//  2 Under lru `order` is a permutation of the ways, four bits each, most recently used lowest.
//    Under plru bit n is that of node n of a tree over 16 ways (root 1): set = the victim is to the
//    right. Under random it is not used.
//  3 A way with a pending sector, or a line that is kept (pinned, or locked), is never a victim; an
//    invalid way is taken before any valid one.
//
// Of two partitions the upper half of the channels, banks and sets is the second. A copy of a line
// lies in the other half, in the set at the same place, with kCopy in its state: never dirty or
// kept. A set and a tag name one line, since even and odd lines of a block have one home.
//
// The set of a line: bank = channel * banks per channel + low bits of the line's index inside its
// channel, set = the bits above, folded, so that power-of-two pitches spread. (T3-U19; the paper
// gives only size, ways unstated.)
#ifndef STRETTO_MODELS_GPU_L2_L2_TAGS_H_
#define STRETTO_MODELS_GPU_L2_L2_TAGS_H_

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "models/common/huge_allocator.h"
#include "models/common/prefetch.h"
#include "models/gpu/base/gpu_spec.h"
#include "models/hbm/address_mapping.h"
#include "sw/include/formats/machine_types.h"

namespace stretto {

class L2Tags {
 public:
  static constexpr unsigned kLineBits = 7;
  static constexpr unsigned kSectorBits = 6;
  static constexpr unsigned kSectorBytes = 64;
  static constexpr unsigned kMaxWays = 16;
  // Bits of a way's state; the sector masks are two bits wide.
  static constexpr unsigned kValidShift = 0, kDirtyShift = 2, kPendingShift = 4;
  static constexpr uint8_t kDirty = 0x0C, kPending = 0x30, kKept = 0x40, kCopy = 0x80;
  static constexpr uint32_t kNoTag = 0xFFFFFFFF;

  struct alignas(64) Set {
    uint32_t tag[kMaxWays];
    uint64_t order;
    uint64_t account;  // Account that dirtied the line, four bits a way.
    uint8_t state[kMaxWays];
    uint16_t fill[kMaxWays];  // Pending fill of the way (L2Cache's index).
  };
  static_assert(sizeof(Set) == 128);

  struct Place {
    uint32_t set;
    uint32_t bank;
  };

  L2Tags(const L2Spec& spec, const HbmAddressMapping& mapping)
      : mapping_(mapping),
        ways_(spec.ways),
        replacement_(spec.replacement),
        banks_per_channel_bits_(std::countr_zero(spec.banks / mapping.channels())),
        set_bits_(
            std::countr_zero(spec.bytes / (uint32_t{1} << kLineBits) / spec.ways / spec.banks)),
        block_lines_bits_(std::countr_zero(mapping.block_bytes()) - kLineBits),
        channel_bits_(std::countr_zero(mapping.channels())),
        partition_banks_(spec.partitions == 1 ? 0 : spec.banks / 2),
        partition_sets_(partition_banks_ << set_bits_),
        sets_(uint64_t{spec.banks} << set_bits_) {
    assert(spec.check().empty() && spec.banks % mapping.channels() == 0);
    assert(std::has_single_bit(spec.banks / mapping.channels()));
    for (Set& set : sets_) {
      for (uint32_t& tag : set.tag) tag = kNoTag;
      for (uint8_t& state : set.state) state = 0;
      for (uint16_t& fill : set.fill) fill = 0;
      set.account = 0;
      set.order = replacement_ == L2Replacement::lru ? 0xFEDCBA9876543210 : 0;
    }
  }

  // `line` is the address >> kLineBits.
  Place place_of(uint64_t line) const {
    const uint32_t channel = mapping_.channel_of(line << kLineBits);
    const uint64_t block = line >> block_lines_bits_ >> channel_bits_;
    const uint64_t local =
        block << block_lines_bits_ | (line & ((uint64_t{1} << block_lines_bits_) - 1));
    const uint32_t bank =
        channel << banks_per_channel_bits_ | (local & ((1u << banks_per_channel_bits_) - 1));
    const uint64_t rest = local >> banks_per_channel_bits_;
    const uint64_t folded = rest ^ (rest >> set_bits_) ^ (rest >> (2 * set_bits_));
    return {static_cast<uint32_t>(bank << set_bits_ | (folded & ((1u << set_bits_) - 1))), bank};
  }
  unsigned channel_of(uint64_t address) const { return mapping_.channel_of(address); }
  unsigned channels() const { return mapping_.channels(); }

  static uint32_t tag_of(uint64_t line) { return static_cast<uint32_t>(line >> 1); }
  // The line that (set, way) holds. REQUIRES: it holds one.
  uint64_t line_of(uint32_t set_index, unsigned way) const {
    const uint64_t even = uint64_t{sets_[set_index].tag[way]} << 1;
    return ((place_of(even).set ^ set_index) & ~partition_sets_) == 0 ? even : even | 1;
  }
  // Of two partitions: in which one a bank is, and where the other keeps a line with this home.
  unsigned partition_of(uint32_t bank) const { return (bank & partition_banks_) != 0 ? 1 : 0; }
  Place other_side(Place home) const {
    return {home.set ^ partition_sets_, home.bank ^ partition_banks_};
  }

  Set& set(uint32_t index) { return sets_[index]; }
  const Set& set(uint32_t index) const { return sets_[index]; }
  // Brings a set into the host's cache.
  void prefetch(uint32_t index) const { prefetch_lines(&sets_[index], sizeof(Set)); }
  uint32_t set_count() const { return static_cast<uint32_t>(sets_.size()); }
  unsigned ways() const { return ways_; }

  // The way that holds the tag, or -1.
  static int find(const Set& set, uint32_t tag) {
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
    const __m128i* tags = reinterpret_cast<const __m128i*>(set.tag);
    const __m128i a =
        _mm_packs_epi32(_mm_cmpeq_epi32(tags[0], wanted), _mm_cmpeq_epi32(tags[1], wanted));
    const __m128i b =
        _mm_packs_epi32(_mm_cmpeq_epi32(tags[2], wanted), _mm_cmpeq_epi32(tags[3], wanted));
    const int match = _mm_movemask_epi8(_mm_packs_epi16(a, b));
    return match == 0 ? -1 : std::countr_zero(static_cast<unsigned>(match));
#else
    for (unsigned way = 0; way < kMaxWays; ++way) {
      if (set.tag[way] == tag) return static_cast<int>(way);
    }
    return -1;
#endif
  }

  // Whether the set holds no line.
  static bool is_empty(const Set& set) {
    uint32_t all = kNoTag;  // All bits are set.
    for (const uint32_t tag : set.tag) all &= tag;
    return all == kNoTag;
  }
  static bool is_dirty(const Set& set) {
    uint64_t states[kMaxWays / 8];
    std::memcpy(states, set.state, sizeof states);
    return ((states[0] | states[1]) & 0x0101010101010101 * kDirty) != 0;
  }

  // Makes the way the most recently used one.
  void touch(Set& set, unsigned way) const {
    if (replacement_ != L2Replacement::lru) {
      if (replacement_ == L2Replacement::plru) touch_tree(set, way);
      return;
    }
    const uint64_t order = set.order;
    if ((order & 15) == way) return;
    constexpr uint64_t kOnes = 0x1111111111111111;
    const uint64_t differs = order ^ (kOnes * way);
    const uint64_t zero =
        (differs - kOnes) & ~differs & (kOnes << 3);  // The lowest marked nibble is exact.
    const unsigned at = static_cast<unsigned>(std::countr_zero(zero)) & ~3u;
    const uint64_t newer = order & ((uint64_t{1} << at) - 1);
    const uint64_t older =
        order & ~((uint64_t{1} << at << 4) - 1) & -static_cast<uint64_t>(at != 60);
    set.order = older | newer << 4 | way;
  }

  // The way to replace, or -1 if all are pending or kept.
  int victim(const Set& set) {
    const int invalid = find(set, kNoTag);
    if (invalid >= 0 && static_cast<unsigned>(invalid) < ways_) return invalid;
    if (replacement_ != L2Replacement::lru) {
      // The first from there on that may go.
      const unsigned first = replacement_ == L2Replacement::plru ? tree_victim(set) : draw();
      for (unsigned i = 0; i < ways_; ++i) {
        const unsigned way = (first + i) % ways_;
        if ((set.state[way] & (kPending | kKept)) == 0) return static_cast<int>(way);
      }
      return -1;
    }
    for (int at = static_cast<int>(4 * (ways_ - 1)); at >= 0; at -= 4) {
      const unsigned way = set.order >> at & 15;
      if ((set.state[way] & (kPending | kKept)) == 0) return static_cast<int>(way);
    }
    return -1;
  }

  static uint8_t account(const Set& set, unsigned way) {
    return static_cast<uint8_t>(set.account >> (4 * way) & 15);
  }
  static void set_account(Set& set, unsigned way, uint8_t account) {
    const uint64_t mask = uint64_t{15} << (4 * way);
    set.account = (set.account & ~mask) | uint64_t{account} << (4 * way);
  }

 private:
  static constexpr unsigned kLevels = 4;  // Of the tree.

  static void touch_tree(Set& set, unsigned way) {
    unsigned node = 1;
    for (unsigned level = kLevels; level-- > 0;) {
      const unsigned right = way >> level & 1;
      set.order = (set.order & ~(uint64_t{1} << node)) | uint64_t{right ^ 1} << node;
      node = 2 * node + right;
    }
  }
  unsigned tree_victim(const Set& set) const {
    unsigned node = 1, way = 0;
    for (unsigned level = kLevels; level-- > 0;) {
      // To the right only where a way is.
      const unsigned right = (way | 1u << level) < ways_ ? set.order >> node & 1 : 0;
      way |= right << level;
      node = 2 * node + right;
    }
    return way;
  }
  unsigned draw() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<unsigned>((random_ >> 32) % ways_);
  }

  HbmAddressMapping mapping_;
  unsigned ways_;
  L2Replacement replacement_;
  uint64_t random_ = 0x9E3779B97F4A7C15;
  unsigned banks_per_channel_bits_;
  unsigned set_bits_;
  unsigned block_lines_bits_;
  unsigned channel_bits_;
  uint32_t partition_banks_;  // Of two partitions, half of the banks and sets; else 0.
  uint32_t partition_sets_;
  std::vector<Set, HugeAllocator<Set>> sets_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_L2_L2_TAGS_H_
