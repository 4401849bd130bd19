// SPDX-License-Identifier: Apache-2.0
// timeline.json: the Chrome trace format, for ui.perfetto.dev or chrome://tracing. Written while
// the run goes on. Past the size cap only the count of what was left out is kept, and the file
// stays readable. After a kill, too: readers of this format accept a missing "]".
//
// Invariants, which tests/support/timeline_check.py checks for any file:
//  1 Spans of one lane do not overlap. A track ("gpu0/dma") has as many lanes as needed.
//  2 A counter has its value from its time until its next sample.
//  3 An arrow ends at a span that begins no earlier than the one that it leaves.
//
// Partitions run at once on several threads, so each draws into a page of its own; flush() appends
// the pages in order. Equal runs give equal files, whatever the threads.
#ifndef STRETTO_PLATFORM_RESULTS_TIMELINE_H_
#define STRETTO_PLATFORM_RESULTS_TIMELINE_H_

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/common/component.h"

namespace stretto {

struct TimelineSpec {
  std::string file;
  uint64_t max_bytes = 0;
  Time from = 0;  // Only what touches [from, to] is drawn.
  Time to = kNever;
};

class Timeline final {
 public:
  // REQUIRES: page() is asked for less than `pages`.
  Timeline(TimelineSpec spec, unsigned pages);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Where partition `index` draws. A page is used by one thread at a time.
  TraceSink& page(unsigned index) { return pages_[index]; }
  // Names the kernel at an address of a page's GPU ("" = unknown); spans begin with it.
  void set_kernel_names(std::function<std::string(unsigned page, uint64_t code)> names) {
    kernel_names_ = std::move(names);
  }
  // Call while no partition runs.
  void flush();
  // Spans and samples that were drawn, and those that the size cap has left out.
  uint64_t drawn() const { return drawn_; }
  uint64_t left_out() const { return dropped_; }
  // Closes the file; throws UserError if it could not be written in full.
  void close();

 private:
  enum class Kind : uint8_t { span, counter };
  struct Event {
    Kind kind;
    std::string track;
    std::string name;  // Of a span.
    Time begin;
    uint64_t end_or_value;
    TraceDetail detail;
  };
  class Page final : public TraceSink {
   public:
    void span(const std::string& track, const std::string& name, Time begin, Time end,
              const TraceDetail& detail) override {
      events.push_back({Kind::span, track, name, begin, end, detail});
    }
    void counter(const std::string& track, Time at, uint64_t value) override {
      events.push_back({Kind::counter, track, "", at, value, {}});
    }
    std::vector<Event> events;
  };
  struct Lane {
    unsigned thread;
    Time end;  // Of its last span.
  };
  struct Track {
    unsigned process;
    std::vector<Lane> lanes;
  };

  void add(unsigned page, const Event& event);
  void add_span(unsigned page, const Event& event);
  void add_arrow(const std::string& place, const Event& event);
  unsigned process_of(const std::string& track);
  unsigned lane_for(const std::string& track, Time begin, Time end);
  void write(const std::string& text);

  const TimelineSpec spec_;
  std::FILE* file_ = nullptr;
  std::vector<Page> pages_;
  std::function<std::string(unsigned, uint64_t)> kernel_names_;
  uint64_t bytes_ = 0;
  uint64_t drawn_ = 0;
  uint64_t dropped_ = 0;
  int failure_ = 0;                            // errno of the first write that failed.
  unsigned threads_ = 0;                       // Given out.
  std::map<std::string, unsigned> processes_;  // "gpu0" -> pid.
  std::map<std::string, Track> tracks_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RESULTS_TIMELINE_H_
