// SPDX-License-Identifier: Apache-2.0
// Cycle-exact reference model of the Tracker (rtl/tracker); rules T1..T10 are those of
// rtl/tracker/README.md.
//
// The structure is that of the RTL: four banks, each an input stage, a queue, a two-stage pipeline
// over the table, a buffer of waiting updates and a file of spill transactions; then two
// round-robin arbiters. Every member is a flip-flop or a memory of the RTL, and step() computes all
// of it from the state before the edge.
#ifndef STRETTO_MODELS_REFERENCE_TRACKER_MODEL_H_
#define STRETTO_MODELS_REFERENCE_TRACKER_MODEL_H_

#include <array>
#include <cstddef>

#include "models/reference/tracker_if.h"
#include "sw/include/regs/tracker_file.h"

namespace stretto {

// A ring buffer of at most `Depth` (a power of two) elements; the owner checks the room.
template <typename T, unsigned Depth>
class ModelFifo {
 public:
  unsigned size() const { return size_; }
  const T& front() const { return items_[head_]; }
  void push(const T& item) { items_[(head_ + size_++) % Depth] = item; }
  void pop() {
    head_ = (head_ + 1) % Depth;
    --size_;
  }

 private:
  std::array<T, Depth> items_{};
  unsigned head_ = 0;
  unsigned size_ = 0;
};

struct TrackerModelCounters {
  uint64_t updates = 0, half_words = 0, ignored = 0, triggers = 0, spills = 0, spill_reads = 0,
           refills = 0;
};

class TrackerBankModel {
 public:
  static constexpr unsigned kQueue = 4;     // Updates between input and table.
  static constexpr unsigned kWaiting = 8;   // Updates that wait for memory responses.
  static constexpr unsigned kEntries = 16;  // Spill transactions.
  static constexpr unsigned kTriggers = 4;  // Triggers on their way out.
  static constexpr unsigned kRows = kTrackerSets / kTrackerBanks;
  static constexpr unsigned kWays = kTrackerMaxWays;

  struct Trigger {
    uint16_t wg_id = 0;
    uint8_t wf_id = 0;
    uint64_t address = 0;
  };
  struct Response {
    uint32_t index = 0;
    uint64_t data = 0;
    bool write = false;
  };

  explicit TrackerBankModel(const TrackerRegisters& registers) : registers_(registers) {}
  TrackerBankModel(const TrackerBankModel&) = delete;
  TrackerBankModel& operator=(const TrackerBankModel&) = delete;

  void clear();  // Everything but the counters.

  // One edge. `update` is nullptr or a valid update that is ready() to be taken; `response` is
  // nullptr or one for this bank; take_trigger and take_request say that the arbiters take the
  // heads of the two output queues.
  void step(const TrackerUpdate* update, const Response* response, bool take_trigger,
            bool take_request);

  bool ready() const { return input_valid_ + queue_.size() < kQueue; }
  bool has_trigger() const { return triggers_.size() != 0; }
  const Trigger& trigger() const { return triggers_.front(); }
  bool has_request() const { return sends_.size() != 0; }
  bool request_write() const { return entry(sends_.front()).state == State::send_write; }
  uint32_t request_index() const {
    return uint32_t{entry(sends_.front()).wg_id} * 8 + entry(sends_.front()).wf_id;
  }
  uint64_t request_data() const { return request_write() ? entry(sends_.front()).data : 0; }
  bool idle() const {
    return !input_valid_ && !s1_.valid && !s2_.valid && !grew_ && triggers_.size() == 0 &&
           arrived_.size() == 0 && sends_.size() == 0 && retry_ == 0 &&
           (queue_.size() == 0 || waiting_.size() == kWaiting);
  }
  bool busy() const {
    return !idle() || queue_.size() != 0 || waiting_.size() != 0 || used_entries_ != 0;
  }
  bool grew() const { return grew_; }
  uint32_t live() const { return live_; }
  unsigned outstanding() const { return used_entries_; }
  TrackerModelCounters& counters() { return counters_; }
  const TrackerModelCounters& counters() const { return counters_; }

 private:
  enum class State : uint8_t {
    free,
    fill_write,
    send_write,
    wait_write,
    send_read,
    wait_read,
    arrived
  };

  struct Update {
    uint16_t wg_id = 0;
    uint8_t wf_id = 0;
    uint8_t tile_class = 0;
    uint16_t count = 0;
    uint16_t strip = 0;
    uint64_t address = 0;
  };
  struct Entry {
    State state = State::free;
    uint16_t wg_id = 0;
    uint8_t wf_id = 0;
    uint8_t tile_class = 0;
    uint8_t way = 0;
    uint64_t data = 0;
  };
  struct Stage1 {
    bool valid = false;
    bool refill = false;
    bool found = false;  // Of a refill: the entry was valid.
    uint8_t way = 0;     // Of a refill.
    uint8_t id = 0;      // Of a refill: its entry.
    Update update;
  };
  struct Stage2 {
    bool valid = false;
    bool fresh = false;  // The slot is new; its old content is a victim or nothing.
    bool check = false;  // Compare with the threshold (no refill pending).
    bool spill = false;  // Write the old content to entry `id`.
    uint8_t way = 0;
    uint8_t id = 0;
    uint16_t threshold = 0;
    Update update;
  };
  struct Slot {
    uint16_t count = 0;
    uint64_t address = 0;
  };

  static unsigned row_of(uint16_t wg_id) { return (wg_id >> 2) & (kRows - 1); }
  static uint16_t tag_of(const Update& u) {
    return static_cast<uint16_t>((u.wg_id >> 8) << 3 | u.wf_id);
  }
  const Entry& entry(unsigned id) const { return entries_[id]; }
  unsigned ways() const {  // That new tiles may take.
    const unsigned ways = registers_.control.ways;
    return ways == 0 || ways > kWays ? kWays : ways;
  }
  uint16_t threshold_of(const Update& u) const {
    const uint64_t row = registers_.threshold[u.tile_class * 2u + u.wf_id / 4u].bits();
    return static_cast<uint16_t>(row >> u.wf_id % 4u * 16);
  }
  bool conflict(uint16_t wg_id, uint8_t wf_id) const;
  unsigned free_entry(unsigned except) const;
  void occupy(unsigned id, State state, const Update& u, uint8_t way);
  void release(unsigned id);
  void stage2();
  bool stage1(Stage2& next, bool& event);

  const TrackerRegisters& registers_;

  bool input_valid_ = false;
  Update input_;
  ModelFifo<Update, kQueue> queue_;
  ModelFifo<Update, kWaiting> waiting_;
  unsigned retry_ = 0;  // Waiting updates to try again.
  Stage1 s1_;
  Stage2 s2_;
  ModelFifo<Trigger, kTriggers> triggers_;
  std::array<Entry, kEntries> entries_{};
  unsigned used_entries_ = 0;
  ModelFifo<uint8_t, kEntries> sends_;    // Entries to be sent, in order.
  ModelFifo<uint8_t, kEntries> arrived_;  // Entries whose read has been answered, in order.
  bool grew_ = false;                     // live_ grew at the last edge.
  uint32_t live_ = 0;
  TrackerModelCounters counters_;

  std::array<uint8_t, kRows> valid_{};     // One bit a way.
  std::array<uint8_t, kRows> pending_{};   // One bit a way: its refill has not been merged.
  std::array<uint8_t, kRows> oldest_{};    // Way from which allocation searches.
  std::array<uint16_t, kRows> spilled_{};  // Valid entries in memory.
  std::array<std::array<uint16_t, kWays>, kRows> tag_{};
  std::array<std::array<Slot, kWays>, kRows> slot_{};
};

class TrackerModel final : public Tracker {
 public:
  TrackerModel();
  void reset() override;
  TrackerOutputs step(const TrackerInputs& in) override;
  std::optional<TrackerSnapshot> snapshot() const override { return TrackerSnapshot{max_live_}; }

 private:
  void write(uint16_t address, uint64_t data);
  TrackerRegisters::Hardware hardware() const;
  uint32_t live() const;

  TrackerRegisters registers_;
  std::array<TrackerBankModel, kTrackerBanks> banks_;
  unsigned trigger_turn_ = 0;  // Bank with the highest priority of the trigger arbiter.
  unsigned request_turn_ = 0;
  bool clear_ = false;  // Empties the table at the next edge.
  bool counter_clear_ = false;
  bool read_pending_ = false;
  uint16_t read_address_ = 0;
  uint32_t max_live_ = 0;
  TrackerOutputs out_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_REFERENCE_TRACKER_MODEL_H_
