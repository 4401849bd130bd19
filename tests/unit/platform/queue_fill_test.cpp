// SPDX-License-Identifier: Apache-2.0
// What the timeline shows of a queue: entries that all writers have filled and not all readers freed.
#include <catch2/catch.hpp>

#include <utility>
#include <vector>

#include "platform/machine/queue_fill.h"

namespace stretto {
namespace {

struct Sink final : TraceSink {
  void span(const std::string&, const std::string&, Time, Time, const TraceDetail&) override {}
  void counter(const std::string& track, Time at, uint64_t value) override {
    tracks.push_back(track);
    samples.emplace_back(at, value);
  }
  std::vector<std::string> tracks;
  std::vector<std::pair<Time, uint64_t>> samples;
};

// Entry e of a queue of two: full at 256 e, by two writers; free 128 behind it, by three readers.
std::optional<QueueWord> words(uint64_t offset) {
  if (offset >= 512) return std::nullopt;
  const bool is_free = offset % 256 != 0;
  return QueueWord{"h", 2, static_cast<uint32_t>(offset / 256), is_free ? 3u : 2u, is_free};
}

TEST_CASE("an entry is filled by its last writer and freed by its last reader") {
  Sink sink;
  QueueFill fill("gpu1", words, sink);
  fill.add(0, 10);
  CHECK(sink.samples.empty());
  fill.add(0, 11);
  fill.add(256, 12);
  fill.add(256, 13);
  for (Time at = 20; at < 23; ++at) fill.add(128, at);
  fill.add(4096, 30);  // Of no queue.
  CHECK(sink.samples == std::vector<std::pair<Time, uint64_t>>{{11, 1}, {13, 2}, {22, 1}});
  for (const std::string& track : sink.tracks) CHECK(track == "gpu1/queue h, filled of 2");
}

TEST_CASE("words count on from round to round, and times do not run back") {
  Sink sink;
  QueueFill fill("gpu0", words, sink);
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < 2; ++i) fill.add(0, 100 * round + 50);
    for (unsigned i = 0; i < 3; ++i) fill.add(128, 100 * round + 40);
  }
  CHECK(sink.samples == std::vector<std::pair<Time, uint64_t>>{
                            {50, 1}, {50, 0}, {150, 1}, {150, 0}, {250, 1}, {250, 0}});
}

}  // namespace
}  // namespace stretto
