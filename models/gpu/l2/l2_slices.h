// SPDX-License-Identifier: Apache-2.0
// The slices of an L2 with limits: a slice is a bank with its own misses and its own queue to
// memory. A line, or a piece that passes the cache, comes to its slice in the clock in which it is
// at the bank. While nothing blocks it is served at once. If the slice lacks something, it stops,
// with everything behind it, hits too, until a sector arrives or a place gets free:
//   an entry         for each sector fetched (l2.miss_entries), from the lookup until it arrives
//   a merge          for each further request of a sector on its way (l2.merges, the first included)
//   a place          for each atom sent, until the memory's arbiter has it (l2.memory_queue_sectors)
// A slice whose queue has a place serves one access with all that it sends: up to four sectors, a
// line's two and a victim's two.
//
// Invariants
//  1 A slice serves in order of arrival; at equal clocks in the order in which the ports are served.
//  2 What a slice waits for comes from memory alone. It never waits for another slice, a port, a
//    lock or a kernel boundary, and memory waits for no slice: so each stop ends.
//  3 Entries and places are all free at the end; no slice has more entries than its limit, nor, by
//    its accesses, more than three places above it.
//  4 What memory gives back acts from the next edge on, whatever order events of one time have.
#ifndef STRETTO_MODELS_GPU_L2_L2_SLICES_H_
#define STRETTO_MODELS_GPU_L2_L2_SLICES_H_

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "models/common/queue_sink.h"
#include "models/gpu/base/block_lists.h"
#include "models/gpu/l2/l2_cache.h"

namespace stretto {

class L2Slices final : public QueueSink, private EventHandler {
 public:
  explicit L2Slices(L2Cache& l2);

  // The lines in lookups_ are parts of `request`; the first sector is at its bank at clock
  // `at_bank`.
  void look_up(uint32_t request, bool store, uint64_t at_bank, uint64_t per_sector);
  // Likewise one line that the other partition asks for.
  void look_up_one(const L2Cache::Lookup& lookup, uint32_t request, uint64_t clock);
  // A piece, inside a line, that goes to memory past the tags.
  void pass(PooledPayload& piece, uint64_t clock);

  // A payload leaves for memory, or its answer has come and takes effect at `at`.
  void sent(const PooledPayload& payload);
  void answered(const PooledPayload& payload, Time at);
  void on_place_free(uint64_t offset) override;

  void report(StatisticSink& sink) const;
  void audit(AuditSink& sink) const;
  void waiting_on(std::vector<std::string>& lines) const;

 private:
  // Why a slice stops.
  enum class Stop : uint8_t { none, entries, merges, queue };
  struct Access {
    // Its mask: what is still to be served. Of a piece bank and set count.
    L2Cache::Lookup lookup;
    uint32_t request;  // Of a piece its index in pieces_.
    bool piece = false;
    bool store = false;
    bool far = false;  // Answered over the link between the partitions.
  };
  static_assert(sizeof(Access) == 32);
  struct Slice {
    std::deque<Access> waits;  // Behind what stopped it, which is the first.
    uint64_t stopped_at = 0;   // Clock.
    uint32_t entries = 0;
    uint32_t places = 0;
    Stop stop = Stop::none;
  };
  // What a slice gets back.
  struct Free {
    uint32_t slice;
    uint16_t entries;
    uint16_t places;
  };
  using Frees = BlockLists<Free, 64>;
  using Accesses = BlockLists<Access, 256>;
  // What happens in a clock.
  struct Clock {
    Frees::List frees;  // First.
    Accesses::List accesses;
    bool empty() const { return frees.empty() && accesses.empty(); }
  };

  void on_event(uint64_t clock) override;
  Clock& at(uint64_t clock);
  uint64_t not_past(uint64_t clock) const;
  void grow();
  void give_back(uint64_t offset, uint32_t entries, uint32_t places, Time when);
  void take_back(const Free& free);
  void come(Access& access, uint64_t clock);
  void add(const L2Cache::Lookup& lookup, uint32_t request, uint64_t clock, bool store, bool far);
  void fetch_ahead(const Access& access) const;
  void retry(Slice& slice, uint64_t clock);
  Stop serve(Slice& slice, Access& access, uint64_t clock);
  void send(Slice& slice);
  Stop missing(const Slice& slice, const L2Cache::Lookup& lookup);
  uint32_t slice_of(uint64_t offset) const;

  static constexpr size_t kFirstClocks = 1024;
  static constexpr uint64_t kAheadClocks = 4;  // What comes then is fetched into the host's cache.

  L2Cache& l2_;
  const L2Spec& spec_;
  std::vector<Slice> slices_;
  // By clock modulo their number, which is a power of two.
  std::vector<Clock> clocks_{kFirstClocks};
  Frees frees_;
  Accesses accesses_;
  std::vector<PooledPayload*> pieces_;
  std::vector<uint32_t> free_pieces_;
  uint64_t ahead_ = 0;             // What comes before this clock has been fetched ahead.
  uint64_t present_ = 0;           // A clock that has come: of the last event, or later.
  Time back_at_ = kNever;          // What give_back() was last asked,
  uint64_t back_clock_ = 0;        // and the clock that follows.
  std::vector<uint32_t> touched_;  // Slices that got something back in it.
  // Statistics.
  std::array<uint64_t, 4> stops_{};  // By reason.
  uint64_t stopped_clocks_ = 0;
  uint64_t waited_ = 0;
  uint32_t most_entries_ = 0;
  uint32_t most_merges_ = 0;
  uint32_t most_places_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_L2_L2_SLICES_H_
