// SPDX-License-Identifier: Apache-2.0
// Arrivals that a channel has not admitted yet, in the order (time, source, sequence). A sorted
// ring: arrivals come almost in order, so inserting from the back moves few.
#ifndef STRETTO_MODELS_HBM_SEGMENT_QUEUE_H_
#define STRETTO_MODELS_HBM_SEGMENT_QUEUE_H_

#include <cstdint>
#include <vector>

#include "models/common/event_queue.h"

namespace stretto {

// A contiguous part of a request inside one interleave block.
struct HbmSegment {
  Time time = 0;       // Of arrival.
  uint64_t order = 0;  // Source in [63:48], sequence below.
  uint64_t cycle = 0;  // First memory clock edge after `time`: it is seen from here on.
  uint64_t address = 0;
  uint32_t request = 0;
  uint32_t at = 0;  // Offset in the request's data.
  uint32_t bytes = 0;
};

class SegmentQueue {
 public:
  bool empty() const { return head_ == tail_; }
  uint64_t size() const { return tail_ - head_; }
  HbmSegment& front() { return ring_[head_ & mask_]; }
  const HbmSegment& front() const { return ring_[head_ & mask_]; }
  void pop() { ++head_; }
  void insert(const HbmSegment& segment) {
    if (size() > mask_) grow();
    uint64_t place = tail_++;
    for (; place != head_; --place) {
      const HbmSegment& before = ring_[(place - 1) & mask_];
      if (before.time < segment.time ||
          (before.time == segment.time && before.order < segment.order))
        break;
      ring_[place & mask_] = before;
    }
    ring_[place & mask_] = segment;
  }

 private:
  void grow() {
    std::vector<HbmSegment> larger(ring_.size() * 2);
    for (uint64_t i = head_; i != tail_; ++i) larger[i & (larger.size() - 1)] = ring_[i & mask_];
    ring_.swap(larger);
    mask_ = ring_.size() - 1;
  }

  std::vector<HbmSegment> ring_ = std::vector<HbmSegment>(16);
  uint64_t mask_ = 15;
  uint64_t head_ = 0;
  uint64_t tail_ = 0;
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
