// SPDX-License-Identifier: Apache-2.0
// Many short lists of plain values that are filled at the back and emptied at once. Their blocks come
// from one pool, last freed first used: what is on the lists at a time is all that the host's cache
// has to hold, however many lists there are.
#ifndef STRETTO_MODELS_GPU_BASE_BLOCK_LISTS_H_
#define STRETTO_MODELS_GPU_BASE_BLOCK_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/huge_allocator.h"
#include "models/common/prefetch.h"

namespace stretto {

template <class Value, unsigned kBytes>
class BlockLists {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct List {
    uint32_t first = kNone;  // Blocks.
    uint32_t last = kNone;
    bool empty() const { return first == kNone; }
  };

  // The value at the back, to be filled in: written in place, it is written once.
  Value& push(List& list) {
    if (list.last == kNone || blocks_[list.last].count == kValues) {
      const uint32_t block = take();
      (list.empty() ? list.first : blocks_[list.last].next) = block;
      list.last = block;
    }
    Block& block = blocks_[list.last];
    return block.values[block.count++];
  }
  // Calls f(value) for each, in their order; f may push onto other lists. The list is no more then.
  template <class Action>
  void empty(const List& list, Action f) {
    for (uint32_t index = list.first; index != kNone;) {
      for (uint32_t i = 0; i < blocks_[index].count; ++i) {
        Value value = blocks_[index].values[i];
        f(value);
      }
      const uint32_t next = blocks_[index].next;
      free_.push_back(index);
      index = next;
    }
  }
  template <class Action>
  void for_each(const List& list, Action f) const {
    for (uint32_t index = list.first; index != kNone; index = blocks_[index].next) {
      const Block& block = blocks_[index];
      for (uint32_t i = 0; i < block.count; ++i) f(block.values[i]);
    }
  }
  size_t blocks() const { return blocks_.size(); }  // Of the pool.
  // Brings the first block into the host's cache.
  void prefetch(const List& list) const {
    if (!list.empty()) prefetch_lines(&blocks_[list.first], sizeof(Block));
  }

 private:
  static constexpr unsigned kValues = (kBytes - 8) / sizeof(Value);
  struct alignas(64) Block {
    uint32_t count;
    uint32_t next;
    Value values[kValues];
  };
  static_assert(sizeof(Block) == kBytes);

  uint32_t take() {
    if (free_.empty()) {
      blocks_.emplace_back();
      free_.push_back(static_cast<uint32_t>(blocks_.size() - 1));
    }
    const uint32_t index = free_.back();
    free_.pop_back();
    blocks_[index].count = 0;
    blocks_[index].next = kNone;
    return index;
  }

  std::vector<Block, HugeAllocator<Block>> blocks_;
  std::vector<uint32_t> free_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_BASE_BLOCK_LISTS_H_
