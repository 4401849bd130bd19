// SPDX-License-Identifier: Apache-2.0
// Arrivals that a channel has not admitted yet, in the order (time, source, sequence).
//
// A sorted list: arrivals come almost in order, so a place is found from the back in few steps. The
// nodes of all channels come from one pool, last freed first used: few arrivals wait at once, and
// their nodes stay in the host's cache.
#ifndef STRETTO_MODELS_HBM_SEGMENT_QUEUE_H_
#define STRETTO_MODELS_HBM_SEGMENT_QUEUE_H_

#include <cstdint>
#include <vector>

#include "models/common/event_queue.h"
#include "models/common/huge_allocator.h"
#include "models/hbm/timing_table.h"

namespace stretto {

// A contiguous part of a request inside one interleave block.
struct alignas(64) HbmSegment {
  Time time = 0;       // Of arrival.
  uint64_t order = 0;  // Source in [63:48], sequence below.
  uint64_t cycle = 0;  // First memory clock edge after `time`: it is seen from here on.
  uint64_t address = 0;
  uint32_t request = 0;
  uint32_t at = 0;  // Offset in the request's data.
  uint16_t bytes = 0;
  DramCommand command = DramCommand::read;
  bool tracked = false;
  bool reports = false;  // Its request counts it in `outside`.
  uint32_t before = 0;   // Neighbours in the queue, or SegmentPool::kNone.
  uint32_t after = 0;
};

class SegmentPool {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};
  uint32_t acquire() {
    if (free_.empty()) {
      nodes_.emplace_back();
      free_.reserve(nodes_.capacity());
      return static_cast<uint32_t>(nodes_.size()) - 1;
    }
    const uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void release(uint32_t index) { free_.push_back(index); }
  HbmSegment& operator[](uint32_t index) { return nodes_[index]; }

 private:
  std::vector<HbmSegment, HugeAllocator<HbmSegment>> nodes_;
  std::vector<uint32_t> free_;
};

class SegmentQueue {
 public:
  bool empty() const { return head_ == SegmentPool::kNone; }
  uint64_t size() const { return size_; }
  // When the first is seen. REQUIRES: !empty(), as for all below.
  uint64_t front_cycle() const { return front_cycle_; }
  HbmSegment& front(SegmentPool& pool) const { return pool[head_]; }
  void pop(SegmentPool& pool) {
    const uint32_t gone = head_;
    head_ = pool[gone].after;
    pool.release(gone);
    --size_;
    if (head_ == SegmentPool::kNone) {
      tail_ = SegmentPool::kNone;
    } else {
      HbmSegment& front = pool[head_];
      front.before = SegmentPool::kNone;
      front_cycle_ = front.cycle;
      if (front.after != SegmentPool::kNone) __builtin_prefetch(&pool[front.after], 1);
    }
  }
  // A segment in its place, of which the rest is to be filled in.
  HbmSegment& insert(SegmentPool& pool, Time time, uint64_t order, uint64_t cycle) {
    const uint32_t index = pool.acquire();
    HbmSegment& node = pool[index];
    node.time = time;
    node.order = order;
    node.cycle = cycle;
    node.before = tail_;
    const bool last = tail_time_ < time || (tail_time_ == time && tail_order_ < order);
    if (!last) {
      while (node.before != SegmentPool::kNone && later(pool[node.before], node)) {
        node.before = pool[node.before].before;
      }
    }
    uint32_t& from = node.before == SegmentPool::kNone ? head_ : pool[node.before].after;
    node.after = from;
    from = index;
    if (node.after == SegmentPool::kNone) {
      tail_ = index;
      tail_time_ = time;
      tail_order_ = order;
    } else {
      pool[node.after].before = index;
    }
    if (head_ == index) front_cycle_ = cycle;
    ++size_;
    return node;
  }
  void prefetch(SegmentPool& pool) const {  // What insert() reads.
    if (tail_ != SegmentPool::kNone) __builtin_prefetch(&pool[tail_], 1);
  }

 private:
  static bool later(const HbmSegment& a, const HbmSegment& b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }

  uint32_t head_ = SegmentPool::kNone;
  uint32_t tail_ = SegmentPool::kNone;
  uint64_t size_ = 0;
  uint64_t front_cycle_ = 0;
  Time tail_time_ = 0;  // Of the last, or of one that was: anything later comes last.
  uint64_t tail_order_ = 0;
};

// A first-in first-out ring of plain values that grows to its high-water mark and stays there.
template <class Value>
class GrowingRing {
 public:
  explicit GrowingRing(size_t capacity = 16)
      : ring_(capacity), mask_(capacity - 1) {}  // A power of two.
  bool empty() const { return head_ == tail_; }
  uint64_t size() const { return tail_ - head_; }
  const Value& front() const { return ring_[head_ & mask_]; }
  const Value& operator[](uint64_t i) const {
    return ring_[(head_ + i) & mask_];
  }  // REQUIRES: i < size().
  void pop() { ++head_; }
  void push(const Value& value) {
    if (size() > mask_) {
      std::vector<Value> larger(ring_.size() * 2);
      for (uint64_t i = head_; i != tail_; ++i) larger[i & (larger.size() - 1)] = ring_[i & mask_];
      ring_.swap(larger);
      mask_ = ring_.size() - 1;
    }
    ring_[tail_++ & mask_] = value;
  }

 private:
  std::vector<Value> ring_;
  uint64_t mask_;
  uint64_t head_ = 0;
  uint64_t tail_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HBM_SEGMENT_QUEUE_H_
