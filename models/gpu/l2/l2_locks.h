// SPDX-License-Identifier: Apache-2.0
// L2Locks: which lines of the L2 are locked, for how long, and by whom. Two kinds, apart:
//   until read   a store that announces something keeps its sector in the cache until a hart has
//                accessed it (ComP-Net 4.2.3). Everyone may read and write the sector meanwhile.
//   exclusive    a hart's read-modify-write, from its locked read to its write (ComP-Net 4.2.2).
//                Others wait; L2Cache keeps who does.
// L2Cache (l2_locking.cpp) keeps locked lines out of the choice of victims; here is no tag.
//
// Invariants
//  1 A lock until read is of a sector, so the other sector of its line frees nothing. It ends once:
//    accessed, expired `limit_clocks` after the last store that asked for it, or forgotten.
//  2 A line is exclusive to one hart, and the write comes from the hart that read.
//  3 Expiry is exact though nothing happens at it: it is looked at before every access that could
//    see a difference.
#ifndef STRETTO_MODELS_GPU_L2_L2_LOCKS_H_
#define STRETTO_MODELS_GPU_L2_L2_LOCKS_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/common/component.h"

namespace stretto {

class L2Locks {
 public:
  // Who asked for a lock until read.
  struct Holder {
    uint16_t unit = 0;  // Compute unit.
    uint32_t wg_id = 0;
  };
  struct Exclusive {
    uint64_t line;
    uint16_t hart;
    uint64_t since;  // Clock.
  };
  struct Counters {
    uint64_t set = 0;        // Locks until read: sectors,
    uint64_t accessed = 0;   // how they ended,
    uint64_t expired = 0;    //
    uint64_t forgotten = 0;  //
    uint64_t renewed = 0;    // and stores to sectors that were locked.
    uint64_t refused = 0;    // Stores that found too many ways of their set locked.
    uint64_t clocks = 0;     // From set to accessed, all together,
    uint64_t most_clocks = 0;
    std::array<uint64_t, 64> by_time{};  // Locks accessed, in steps of kTimeStep.
    uint64_t most_lines = 0;
    uint64_t taken = 0;  // Exclusive ones.
    uint64_t given_back = 0;
  };
  static constexpr uint64_t kTimeStep = 128;  // Clocks.
  // The line has no lock of this kind any more.
  using OnFree = std::function<void(uint64_t line)>;

  L2Locks(uint64_t limit_clocks, OnFree on_free)
      : limit_clocks_(limit_clocks), on_free_(std::move(on_free)) {}

  // Until read. `clock` never goes back.
  bool any() const { return !lines_.empty(); }
  bool holds(uint64_t line) const { return lines_.count(line) != 0; }
  size_t lines() const { return lines_.size(); }
  // The sector of the line becomes locked, or is for another `limit_clocks`.
  void set(uint64_t line, unsigned sector, uint64_t clock, const Holder& by);
  void refuse() { ++counters_.refused; }
  // A hart has accessed these sectors (two bits).
  void accessed(uint64_t line, unsigned sectors, uint64_t clock);
  void expire(uint64_t clock) {
    while (!ends_.empty() && ends_.front().clock <= clock) expire_first();
  }
  // The cache forgets what it holds.
  void forget();

  // Exclusive.
  const std::vector<Exclusive>& exclusive() const { return exclusive_; }
  void take(uint64_t line, uint16_t hart, uint64_t clock);
  // Throws CheckError if the line is not this hart's.
  void give_back(uint64_t line, uint16_t hart);

  const Counters& counters() const { return counters_; }
  void report(StatisticSink& sink) const;
  void audit(AuditSink& sink, uint64_t clock) const;

 private:
  struct Lock {
    uint64_t since = 0;
    uint64_t serial = 0;  // Of its end in ends_; 0: none.
    Holder by;
  };
  struct Line {
    Lock sector[2];
  };
  struct End {
    uint64_t clock;
    uint64_t line;
    unsigned sector;
    uint64_t serial;
  };
  using Lines = std::map<uint64_t, Line>;
  void expire_first();
  void end(Lines::iterator line, unsigned sector);

  const uint64_t limit_clocks_;
  const OnFree on_free_;
  Lines lines_;
  std::deque<End> ends_;  // In order of their clocks; one whose serial is not its lock's is void.
  uint64_t serial_ = 0;
  std::vector<Exclusive> exclusive_;
  Counters counters_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_L2_L2_LOCKS_H_
