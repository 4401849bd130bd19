// SPDX-License-Identifier: Apache-2.0
// The calendar of one partition: every timed action inside a partition (a GPU with its HBM, CP, DMA
// and link ends) runs from here, in an order that nothing outside the partition can change.
//
// Invariants
//  1 Events run in the order (time, source id, sequence). The source id is that of the handler,
//    given out in construction order inside the partition; the sequence counts schedule() calls of
//    this queue.
//  2 now() never goes back; an event is never scheduled before now() (asserted).
//  3 now() is the local time of the partition. SystemC starts a partition once a window (the
//    smallest link latency) and the partition then runs ahead through that window, so
//    sc_time_stamp() is the start of the window. In every TLM call inside a partition the annotated
//    delay counts from now() of that partition.
#ifndef STRETTO_MODELS_COMMON_EVENT_QUEUE_H_
#define STRETTO_MODELS_COMMON_EVENT_QUEUE_H_

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <vector>

namespace stretto {

using Time = uint64_t;  // Femtoseconds since elaboration (models/README.md, contract (a)).

inline constexpr Time kNever = std::numeric_limits<Time>::max();
inline constexpr Time kPicosecond = 1'000;
inline constexpr Time kNanosecond = 1'000'000;
inline constexpr Time kMicrosecond = 1'000'000'000;

class EventQueue;

// Something that can be scheduled. One object may be scheduled many times; `tag` says for what.
class EventHandler {
 public:
  explicit EventHandler(EventQueue& queue);
  EventHandler(const EventHandler&) = delete;
  EventHandler& operator=(const EventHandler&) = delete;
  virtual ~EventHandler() = default;
  virtual void on_event(uint64_t tag) = 0;
  uint16_t source_id() const { return source_id_; }

 private:
  uint16_t source_id_;
};

class EventQueue {
 public:
  EventQueue() = default;
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  Time now() const { return now_; }
  Time next_time() const { return heap_.empty() ? kNever : heap_.front().time; }
  bool empty() const { return heap_.empty(); }
  uint64_t executed() const { return executed_; }
  Time last_event() const { return last_event_; }

  // REQUIRES: at >= now().
  void schedule(Time at, EventHandler& handler, uint64_t tag = 0) {
    assert(at >= now_);
    heap_.emplace_back();
    rise(heap_.size() - 1,
         {at, (uint64_t{handler.source_id()} << 48) | (sequence_++ & 0xFFFF'FFFF'FFFF), &handler,
          tag});
  }

  // Runs every event with time < end, then sets now() to end.
  void run_until(Time end) {
    const uint64_t before = executed_;
    while (!heap_.empty() && heap_.front().time < end) {
      const Entry entry = heap_.front();
      const Entry last = heap_.back();
      heap_.pop_back();
      if (!heap_.empty()) sink(last);
      now_ = entry.time;
      ++executed_;
      entry.handler->on_event(entry.tag);
    }
    if (executed_ != before) last_event_ = now_;
    if (end > now_) now_ = end;
  }

  uint16_t next_source_id() { return sources_++; }

 private:
  struct Entry {
    Time time;
    uint64_t order;  // Source id in [63:48], sequence below.
    EventHandler* handler;
    uint64_t tag;
  };
  // Of each entry there are four below it, none of them earlier.
  static constexpr size_t kBelow = 4;
  static bool is_earlier(const Entry& a, const Entry& b) {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
  }
  // Puts `entry` at `place`, which is free, or above.
  void rise(size_t place, const Entry& entry) {
    while (place != 0 && is_earlier(entry, heap_[(place - 1) / kBelow])) {
      heap_[place] = heap_[(place - 1) / kBelow];
      place = (place - 1) / kBelow;
    }
    heap_[place] = entry;
  }
  // Puts `entry` at the top, which is free, or below.
  void sink(const Entry& entry) {
    const size_t size = heap_.size();
    size_t place = 0;
    for (size_t first = 1; first < size; first = kBelow * place + 1) {
      const size_t end = std::min(first + kBelow, size);
      size_t earliest = first;
      for (size_t i = first + 1; i < end; ++i)
        earliest = is_earlier(heap_[i], heap_[earliest]) ? i : earliest;
      if (!is_earlier(heap_[earliest], entry)) break;
      heap_[place] = heap_[earliest];
      place = earliest;
    }
    heap_[place] = entry;
  }

  std::vector<Entry> heap_;  // The earliest one first.
  Time now_ = 0;
  Time last_event_ = 0;
  uint64_t sequence_ = 0;
  uint64_t executed_ = 0;
  uint16_t sources_ = 0;
};

inline EventHandler::EventHandler(EventQueue& queue) : source_id_(queue.next_source_id()) {}

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_EVENT_QUEUE_H_
