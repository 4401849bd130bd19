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
    heap_.push_back({at, (uint64_t{handler.source_id()} << 48) | (sequence_++ & 0xFFFF'FFFF'FFFF),
                     &handler, tag});
    std::push_heap(heap_.begin(), heap_.end(), Later());
  }

  // Runs every event with time < end, then sets now() to end.
  void run_until(Time end) {
    const uint64_t before = executed_;
    while (!heap_.empty() && heap_.front().time < end) {
      std::pop_heap(heap_.begin(), heap_.end(), Later());
      const Entry entry = heap_.back();
      heap_.pop_back();
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
  struct Later {  // An object, so that it is inlined.
    bool operator()(const Entry& a, const Entry& b) const {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };

  std::vector<Entry> heap_;
  Time now_ = 0;
  Time last_event_ = 0;
  uint64_t sequence_ = 0;
  uint64_t executed_ = 0;
  uint16_t sources_ = 0;
};

inline EventHandler::EventHandler(EventQueue& queue) : source_id_(queue.next_source_id()) {}

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_EVENT_QUEUE_H_
