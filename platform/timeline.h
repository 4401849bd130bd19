// SPDX-License-Identifier: Apache-2.0
// timeline.json: the Chrome trace format, for Perfetto or chrome://tracing. Streamed to the file as
// it happens; past the size cap only the count of what was left out is kept, and the file stays
// readable. After a kill, too: readers of this format accept a missing "]".
//
// May be called by several partitions at once. The order of events in the file is not part of any
// contract.
#ifndef STRETTO_PLATFORM_TIMELINE_H_
#define STRETTO_PLATFORM_TIMELINE_H_

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>

#include "models/common/component.h"

namespace stretto {

class Timeline final : public TraceSink {
 public:
  Timeline(const std::string& file, uint64_t max_bytes);
  ~Timeline() override;
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  void span(const std::string& track, const std::string& name, Time begin, Time end) override;
  void counter(const std::string& track, Time at, uint64_t value) override;
  // Closes the file; throws UserError if it could not be written in full.
  void close();

 private:
  struct Track {
    unsigned process;
    unsigned thread;
  };
  Track track_of(const std::string& track);
  void write(const std::string& text);

  std::mutex mutex_;
  std::string name_;
  std::FILE* file_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t max_bytes_;
  uint64_t dropped_ = 0;
  bool failed_ = false;
  std::map<std::string, unsigned> processes_;  // "gpu0" -> pid.
  std::map<std::string, Track> tracks_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_TIMELINE_H_
