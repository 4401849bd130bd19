// SPDX-License-Identifier: Apache-2.0
// timeline.json: the Chrome trace format, for Perfetto or chrome://tracing. Written while the run
// goes on; past the size cap only the count of what was left out is kept, and the file stays
// readable. After a kill, too: readers of this format accept a missing "]".
//
// Partitions run at once on several threads, so each draws into a page of its own; flush() appends
// the pages in the order of GPUs. Equal runs give equal files, whatever the threads.
#ifndef STRETTO_PLATFORM_RESULTS_TIMELINE_H_
#define STRETTO_PLATFORM_RESULTS_TIMELINE_H_

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "models/common/component.h"

namespace stretto {

class Timeline final {
 public:
  // REQUIRES: page() is asked for less than `gpus`.
  Timeline(const std::string& file, uint64_t max_bytes, unsigned gpus);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Where GPU `gpu` draws. A page is used by one thread at a time.
  TraceSink& page(unsigned gpu) { return pages_[gpu]; }
  // Call while no partition runs.
  void flush();
  // Closes the file; throws UserError if it could not be written in full.
  void close();

 private:
  struct Event {
    bool is_span;
    std::string track;
    std::string name;  // Of a span.
    Time begin;
    uint64_t end_or_value;
  };
  class Page final : public TraceSink {
   public:
    void span(const std::string& track, const std::string& name, Time begin, Time end) override {
      events.push_back({true, track, name, begin, end});
    }
    void counter(const std::string& track, Time at, uint64_t value) override {
      events.push_back({false, track, "", at, value});
    }
    std::vector<Event> events;
  };
  struct Track {
    unsigned process;
    unsigned thread;
  };
  void add(const Event& event);
  Track track_of(const std::string& track);
  void write(const std::string& text);

  std::string name_;
  std::FILE* file_ = nullptr;
  std::vector<Page> pages_;
  uint64_t bytes_ = 0;
  uint64_t max_bytes_;
  uint64_t dropped_ = 0;
  int failure_ = 0;                            // errno of the first write that failed.
  std::map<std::string, unsigned> processes_;  // "gpu0" -> pid.
  std::map<std::string, Track> tracks_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RESULTS_TIMELINE_H_
