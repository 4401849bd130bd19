// SPDX-License-Identifier: Apache-2.0
// The DRAM queue of one channel and its FR-FCFS scheduler: banks with open rows, row and column
// commands, refresh.
//
// Each cycle at most one column command (the oldest atom whose row is open and whose timing allows
// it) and one row command (for the oldest atom that needs one; a row is closed only when no atom in
// the queue wants it). Direction, under `watermark`: see choose_direction(). At a refresh's due
// time no further command starts (single_bank: in its bank, they take turns); banks are precharged
// together as soon as they may be, then refreshed.
//
// Atoms sit in age order at bit positions 0 (oldest) .. size - 1 of 64-bit masks, so that "the
// oldest that ..." is a count of trailing zeros. Removal shifts the masks down.
// Invariants
//  1 tick(t) changes nothing when t < next(t'), t' the last tick: cycles between may be left out.
//  2 An atom is issued once, an atomic one as a read and as a write, and never while it is not
//    eligible.
//  3 Refresh actions happen at their own cycle, also when nobody ticked then (no command came
//    between). While the queue is empty they are made up for by the next push().
#ifndef STRETTO_MODELS_HBM_DRAM_SCHEDULER_H_
#define STRETTO_MODELS_HBM_DRAM_SCHEDULER_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>

#include "models/hbm/hbm_spec.h"
#include "models/hbm/timing_table.h"

namespace stretto {

// Sees every command; a checker or a trace. Precharge-all before a refresh shows as one precharge a
// bank.
class CommandObserver {
 public:
  virtual ~CommandObserver() = default;
  virtual void on_command(unsigned channel, uint64_t cycle, DramCommand command, unsigned bank,
                          uint32_t row) = 0;
  // `count` refreshes of a channel at rest, one every `interval` cycles from `cycle` on, of one bank
  // after the other from `bank` on, or of all. To be overridden by who need not see each of them.
  virtual void on_idle_refreshes(unsigned channel, uint64_t cycle, uint64_t interval,
                                 uint64_t count, DramCommand command, unsigned bank) {
    for (uint64_t i = 0; i < count; ++i)
      on_command(channel, cycle + i * interval, command, bank_in_turn(command, bank, i), 0);
  }

 protected:
  static unsigned bank_in_turn(DramCommand command, unsigned first, uint64_t number) {
    return command == DramCommand::refresh_bank
               ? static_cast<unsigned>((first + number) % kHbmBanks)
               : first;
  }
};

class DramScheduler {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};
  // watermark: a write that is oldest this many cycles begins a batch.
  static constexpr uint64_t kFrontLimit = 1000;

  struct Counters {
    std::array<uint64_t, kDramCommands> commands{};
    uint64_t row_misses = 0;     // Activations of a bank that refresh or reset had closed.
    uint64_t row_conflicts = 0;  // Activations after another row was closed for it.
    uint64_t last_column = 0;    // Cycle of the last column command.
  };

  // `table` is that of `set` and outlives this; `observer` may be null.
  DramScheduler(unsigned channel, const HbmSpec& spec, const TimingSet& set,
                const TimingTable& table, CommandObserver* observer);

  unsigned size() const { return size_; }
  // REQUIRES: position < size().
  uint32_t id_at(unsigned position) const { return queue_[position].id; }
  bool full() const { return size_ == depth_; }
  // Atoms of the direction that is not served now; 0 under `mixed`.
  unsigned parked() const {
    return watermark_ ? static_cast<unsigned>(std::popcount(masks_[kEligible] & ~masks_[kActive]))
                      : 0;
  }
  // REQUIRES: !full(); `command` is read, write or update; id < 2^28. An atom that is not eligible
  // waits for make_eligible(). `atomic`, of a read: when it has been issued the atom stays, as a
  // write that waits for make_eligible().
  void push(uint64_t cycle, uint32_t id, unsigned bank, uint32_t row, DramCommand command,
            bool eligible, bool atomic);
  void make_eligible(uint64_t cycle, uint32_t id);
  // Runs one cycle; the id of the atom whose column command was issued, or kNone.
  uint32_t tick(uint64_t cycle);
  // The first cycle after `cycle` at which tick() may do something for the atoms queued; kNoCycle
  // if none is.
  uint64_t next(uint64_t cycle) const {
    if (size_ == 0) return kNoCycle;
    uint64_t at = blocked_ ? refresh_next_ : std::min({column_next_, row_next_, refresh_next_});
    if (watermark_ && !draining_ && (masks_[kRead] & 1) == 0)
      at = std::min(at, front_since_ + kFrontLimit);
    return std::max(at, cycle + 1);
  }
  // The atom that is likely to be issued next, or kNone; for prefetching.
  uint32_t likely_next() const {
    const uint64_t hits = masks_[kHit] & masks_[kActive];
    return hits == 0 ? kNone : queue_[std::countr_zero(hits)].id;
  }
  // What tick() reads first.
  void prefetch() const {
    for (unsigned i = 0; i < kMasks; i += 8) __builtin_prefetch(&masks_[i], 1);
    __builtin_prefetch(&queue_, 1);
    __builtin_prefetch(&open_, 1);
    __builtin_prefetch(&refresh_next_, 1);
    timing_.prefetch();
  }
  const Counters& counters() const { return counters_; }
  // Of one bank or of all.
  DramCommand refresh_command() const {
    return single_bank_ ? DramCommand::refresh_bank : DramCommand::refresh;
  }
  // Refreshes until `cycle`, those of a channel asleep included.
  uint64_t refreshes(uint64_t cycle) const;
  // Likewise precharges.
  uint64_t precharges(uint64_t cycle) const;
  DramCommand last_command() const { return last_command_; }

 private:
  enum class RefreshPhase : uint8_t { waiting, precharge, refresh };
  // Rows of masks_; the first are "queued for bank b".
  enum Mask : unsigned {
    kRead = kHbmBanks,
    kUpdate,
    kHit,
    kEligible,
    kActive,
    kAtomic,              // Reads that become writes.
    kMasks = kAtomic + 3  // Whole vectors.
  };
  struct Queued {
    uint32_t row;
    uint32_t id : 28;
    uint32_t bank : 4;
  };

  uint32_t& wanted(DramCommand command) { return wanted_[static_cast<unsigned>(command)]; }
  void want(DramCommand command, unsigned bank, bool wants) {
    wanted(command) = (wanted(command) & ~(1u << bank)) | uint32_t{wants} << bank;
  }
  uint64_t earliest(DramCommand command) { return timing_.earliest(command, wanted(command)); }
  // The positions (bits) of atoms for `banks` (bits).
  uint64_t of_banks(uint32_t banks) const {
    uint64_t positions = 0;
    for (unsigned bank = 0; bank < kHbmBanks; ++bank)
      positions |= masks_[bank] & -uint64_t{banks >> bank & 1};
    return positions;
  }
  uint32_t issue_column(uint64_t cycle);
  void issue_row(uint64_t cycle);
  void open_or_close(uint64_t cycle, unsigned bank, uint32_t row);
  void remove(unsigned position);
  void update_bank(unsigned bank);
  void update_all_banks();
  void choose_direction(uint64_t cycle);
  void refresh_action(uint64_t cycle);
  void skip_idle_refreshes(uint64_t cycle);
  // Of an empty queue, up to `cycle`.
  void make_up_refreshes(uint64_t cycle);
  void close_for_refresh(uint64_t cycle, uint32_t banks);
  void command(uint64_t cycle, DramCommand command, unsigned bank, uint32_t row) {
    timing_.issue(command, bank, cycle);
    ++counters_.commands[static_cast<unsigned>(command)];
    if (observer_ != nullptr) observer_->on_command(channel_, cycle, command, bank, row);
  }

  TimingState timing_;
  CommandObserver* observer_;
  const unsigned channel_;
  const unsigned depth_;
  const bool watermark_;
  const unsigned write_high_;
  const unsigned write_low_;
  const bool single_bank_;
  const uint64_t refresh_interval_;  // From one refresh command to the next; 0: off.

  unsigned size_ = 0;
  std::array<uint64_t, kMasks> masks_{};
  std::array<Queued, 64> queue_{};

  std::array<uint32_t, kHbmBanks> open_row_{};
  uint32_t open_ = 0;            // Bit b: a row of bank b is open.
  uint32_t closed_by_atom_ = 0;  // Bit b: closed to make room for another row.
  // Banks (bits) with active atoms, by the command that such an atom waits for: `activate` of closed
  // ones, `precharge` of open ones where none hits, `read` and `write` (or update) of the hits.
  std::array<uint32_t, 4> wanted_{};
  uint64_t column_next_ = kNoCycle;  // No column command is possible before (lower bound).
  uint64_t row_next_ = kNoCycle;
  unsigned writes_ = 0;
  bool draining_ = false;
  uint64_t front_since_ = 0;  // Cycle at which the oldest atom became the oldest.

  RefreshPhase refresh_phase_ = RefreshPhase::waiting;
  // From a refresh's due time until it is issued: all banks, or those of the bits.
  bool blocked_ = false;
  uint32_t blocked_banks_ = 0;
  unsigned refresh_bank_ = 0;    // Whose turn it is.
  uint64_t row_bus_ = kNoCycle;  // Cycle of the last row command for a refresh.
  uint64_t refresh_due_ = kNoCycle;
  uint64_t refresh_next_ = kNoCycle;
  DramCommand last_command_ = DramCommand::read;
  Counters counters_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HBM_DRAM_SCHEDULER_H_
