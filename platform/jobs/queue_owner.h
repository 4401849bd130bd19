// SPDX-License-Identifier: Apache-2.0
// A job whose kernels pass data to each other, through queues in pinned lines of the L2 or in memory. It
// names them for the race law (models/gpu/base/race_law.h), and is given what has passed through queues.
#ifndef STRETTO_PLATFORM_JOBS_QUEUE_OWNER_H_
#define STRETTO_PLATFORM_JOBS_QUEUE_OWNER_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sw/driver/l2_ways.h"
#include "sw/driver/stretto_driver.h"

namespace stretto {

// Of a range of memory, while it was pinned: bytes that wavefronts stored and loaded so far.
struct QueueTraffic {
  uint64_t written = 0;
  uint64_t read = 0;
};

// A word of a queue (sw/include/tile_queue.h).
struct QueueWord {
  std::string queue;  // Its name.
  uint32_t entries = 0;
  uint32_t entry = 0;  // That it is of.
  uint32_t adds = 0;   // That make an entry full, or free.
  bool is_free = false;
};

class QueueOwner {
 public:
  struct Meter {
    std::function<QueueTraffic(uint32_t rank, uint64_t offset, uint64_t bytes)> traffic;
    // Dirty sectors of pinned ranges that had to make room, so far.
    std::function<uint64_t(uint32_t rank)> evictions;
    // Sectors that found no way in the L2 and came from memory, so far: once for each who reads them.
    std::function<uint64_t(uint32_t rank)> fetched_past;
    // Bytes of sectors beside those that were written to memory so far, or are still to be.
    std::function<uint64_t(uint32_t rank)> left;
  };

  // Offsets in the GPU's memory.
  struct Range {
    uint64_t begin, bytes;
  };

  virtual ~QueueOwner() = default;
  // What is to be watched beside pinned lines.
  virtual std::vector<Range> watched(uint32_t rank) const {
    (void)rank;
    return {};
  }
  // "queue 3, entry 1", "tensor a"; "" where nothing is known.
  virtual std::string queue_at(uint32_t rank, uint64_t offset) const = 0;
  // The word there; nothing if there is none.
  virtual std::optional<QueueWord> word_at(uint32_t rank, uint64_t offset) const = 0;
  // The stage of a pipeline whose arguments lie there; "" if none's do.
  virtual std::string stage_at(uint32_t rank, uint64_t offset) const {
    (void)rank, (void)offset;
    return "";
  }
  // Before programs are added.
  void set_queue_meter(Meter meter) { meter_ = std::move(meter); }

 protected:
  const Meter& meter() const { return meter_; }
  // Whether all lines of pinned ranges have a way of their set for certain.
  static bool stay(const stretto_client_options_t& client, std::initializer_list<Range> ranges) {
    const uint64_t way = client.l2_way_bytes;
    if (way == 0) return false;
    uint64_t ways = 0;
    for (const Range& range : ranges)
      ways += stretto_l2_ways(range.begin, range.begin + range.bytes, way);
    return ways <= client.l2_persist_bytes / way;
  }

 private:
  Meter meter_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_QUEUE_OWNER_H_
