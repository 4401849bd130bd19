// SPDX-License-Identifier: Apache-2.0
// The memory side of the Tracker: joined updates of the channels wait here for their bank, triggers
// leave, spill accesses go to memory and come back.
//
// Bank FIFOs are unbounded (high-water mark is a statistic), so a channel never waits for the
// Tracker; spill accesses are ordinary communication requests, so they wait for nothing that waits
// for the Tracker. A step is one memory clock; clocks at which nothing can happen are left out
// (Tracker::step's idle contract).
#ifndef STRETTO_MODELS_HBM_TRACKER_PORT_H_
#define STRETTO_MODELS_HBM_TRACKER_PORT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/hbm/dram_scheduler.h"
#include "models/hbm/segment_queue.h"
#include "models/reference/block_host.h"
#include "models/reference/tracker_if.h"
#include "sw/include/regs/tracker_file.h"

namespace stretto {

// The two ways out of the port, both called inside step().
class TrackerPortClient {
 public:
  virtual ~TrackerPortClient() = default;
  virtual void on_tracker_trigger(uint64_t cycle, bool event, uint16_t wg_id, uint8_t wf_id,
                                  uint64_t address) = 0;
  // Answered by respond().
  virtual void on_spill(uint64_t cycle, bool write, uint32_t index, uint64_t data) = 0;
};

class TrackerPort {
 public:
  struct Counters {
    uint64_t updates = 0;     // Joined updates taken by the Tracker.
    uint64_t half_words = 0;  // In them.
    uint64_t triggers = 0;
    uint64_t events = 0;  // Of them, those for the grid scheduler instead of the DMA engine.
    uint64_t spill_writes = 0;
    uint64_t spill_reads = 0;
    uint64_t fifo_high_water = 0;
  };

  // `tracker` may be null: then no access may be tracked.
  TrackerPort(std::unique_ptr<Tracker> tracker, TrackerPortClient& client)
      : tracker_(std::move(tracker)), client_(client) {}

  bool present() const { return tracker_.present(); }
  void push(const TrackerUpdate& update) {
    GrowingRing<TrackerUpdate>& fifo = fifos_[update.wg_id % kTrackerBanks];
    fifo.push(update);
    if (fifo.size() > counters_.fifo_high_water) counters_.fifo_high_water = fifo.size();
  }
  // A spill access is done at `cycle`. `data` is the entry that was read; 0 for a write.
  void respond(uint64_t cycle, bool write, uint32_t index, uint64_t data);
  // One clock. `reg` is taken by this very clock.
  uint64_t step(uint64_t cycle, const RegisterPort& reg = {});
  // The first cycle after `cycle` at which a step is needed; kNoCycle if none.
  uint64_t next(uint64_t cycle) const;

  // Empty also without a Tracker.
  std::optional<TrackerSnapshot> state() const { return tracker_.snapshot(); }

  const Counters& counters() const { return counters_; }
  uint64_t waiting() const;  // Joined updates in the FIFOs.
  // A line for each wavefront tile that has some of its updates, and not all: of a deadlock.
  std::vector<std::string> incomplete() const;
  uint64_t spills_outstanding() const { return spills_outstanding_; }

 private:
  static constexpr size_t kWavefronts = size_t{1} << kTrackerWfBits;

  struct Response {
    uint64_t cycle;
    uint64_t sequence;
    uint64_t data;
    uint32_t index;
    bool write;
  };
  static bool later(const Response& a, const Response& b) {
    return a.cycle != b.cycle ? a.cycle > b.cycle : a.sequence > b.sequence;
  }

  uint32_t& half_words_of(uint32_t wg_id, uint32_t wf_id);
  void note_write(const RegisterPort& reg);
  // Updates that complete a wavefront tile; 0: it is not tracked.
  uint32_t threshold_of(uint32_t wg_id, uint32_t wf_id) const;

  ClockedBlock<Tracker> tracker_;
  TrackerPortClient& client_;
  std::array<GrowingRing<TrackerUpdate>, kTrackerBanks> fifos_;
  std::vector<Response> responses_;  // Heap: earliest first.
  uint64_t response_sequence_ = 0;
  uint64_t spills_outstanding_ = 0;
  TrackerOutputs out_;
  Counters counters_;
  // What a report needs; the Tracker itself may be RTL that shows nothing.
  TrackerRegisters registers_;
  std::vector<uint32_t> half_words_;  // Since the last trigger, by wg_id * 8 + wf_id.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HBM_TRACKER_PORT_H_
