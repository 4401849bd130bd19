// SPDX-License-Identifier: Apache-2.0
// RaceLaw: a load of data that wavefronts pass to each other comes after the store that wrote them, and
// the next store after all loads. It holds in pinned lines of the L2 as soon as an atomic in one of
// them makes queues of them (sw/include/tile_queue.h), and where a job asks for it. Happens-before,
// with a vector clock each wavefront, in clocks of the GPU:
//
//   release  an atomic on a word of such a line publishes what its wavefront has completed or
//            acquired; its own stores are complete by then, the unit sees to it; loads need a wait
//   acquire  a load of the word, or an atomic, takes what was published there
//   barrier  all wavefronts of a work-group take what each has completed when it comes
//   end      what a work-group has done that has ended is ordered before all that follows
//
// Of two accesses to the same bytes by two wavefronts, one of them a store, the earlier must happen
// before the later. A breach ends the run and names line, queue, producer and consumer. Timing does
// not hide it: a missing barrier is found where the bytes happen to be right, and without values.
//
// Wavefronts of one GPU: an order that goes by way of another node is not followed. Where no range is
// watched units pay a comparison a request.
#ifndef STRETTO_MODELS_GPU_BASE_RACE_LAW_H_
#define STRETTO_MODELS_GPU_BASE_RACE_LAW_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <tlm>

#include "models/common/component.h"
#include "models/common/payload_extension.h"

namespace stretto {

class RaceLaw {
 public:
  using Cycle = uint64_t;
  static constexpr unsigned kWavefronts = 8;  // Of a work-group, at most.
  // A wavefront of the work-group in place `group` of a unit.
  struct Wavefront {
    uint16_t unit;
    uint8_t group;
    uint8_t id;
    uint8_t slot;  // Of the kernel.
    uint32_t wg_id;
  };
  // Offsets in the GPU's memory.
  struct Range {
    uint64_t base;
    uint64_t bytes;
  };

  explicit RaceLaw(unsigned gpu) : gpu_(gpu) {}

  // These ranges are pinned from now on, whole lines. Forgets all accesses, not what they moved.
  void watch(const std::vector<Range>& ranges);
  // These are watched, too, whatever is pinned, and from the first access on.
  void watch_always(const std::vector<Range>& ranges);
  bool watches() const { return !ranges_.empty(); }
  // What lies at an offset, and whose arguments do ("" = nobody knows), for reports.
  struct Names {
    std::function<std::string(uint64_t)> place, stage;
  };
  void set_names(Names names) { names_ = std::move(names); }
  std::string place_at(uint64_t offset) const { return names_.place ? names_.place(offset) : ""; }
  std::string stage_at(uint64_t offset) const { return names_.stage ? names_.stage(offset) : ""; }
  // Is told of each atomic on a watched line, in the order of their calls.
  void on_atomic(std::function<void(uint64_t offset, Cycle at)> listener) {
    atomics_ = std::move(listener);
  }

  // REQUIRES of all below: watches().
  // A request leaves its unit, and its answer is in the unit.
  void sent(const Wavefront& by, tlm::tlm_generic_payload& payload, Cycle at);
  void answered(const Wavefront& by, tlm::tlm_generic_payload& payload, Cycle at);
  // All are at a barrier since these clocks; 0: the wavefront has ended before.
  void barrier(uint16_t unit, uint8_t group, const std::array<Cycle, kWavefronts>& since);
  void ended(uint16_t unit, uint8_t group);

  // Bytes that tiles and scalars have moved through pinned ranges, whenever these were watched.
  struct Traffic {
    uint64_t written = 0;
    uint64_t read = 0;
  };
  Traffic traffic(uint64_t base, uint64_t bytes) const;
  void report(StatisticSink& sink) const;

 private:
  static constexpr Cycle kUnderWay = ~Cycle{0};
  static constexpr unsigned kLineBits = 7;
  // By thread (index of threads_): what it completed up to this clock happens before.
  using VectorClock = std::vector<Cycle>;
  struct Access {
    Cycle done;
    uint32_t thread;
    uint8_t first, last;  // Bytes of the line.
    bool store;
  };
  struct Line {
    uint64_t epoch = 0;  // Accesses of an earlier one are void.
    // One store and loads of a few readers lie here; a list elsewhere would be a cache miss more.
    boost::container::small_vector<Access, 4> accesses;
    uint32_t written = 0, read = 0;  // Bytes.
  };
  struct Watched {
    uint64_t first, end;  // Lines.
    std::vector<Line> lines;
    bool is_pinned;
  };
  // Bytes of ranges that were watched before, by first line.
  struct Moved {
    uint32_t written = 0, read = 0;
  };
  struct Group {
    uint32_t first_thread;
    VectorClock clock;                                // Of all its wavefronts,
    std::array<VectorClock, kWavefronts> own_clocks;  // and acquired by one since the last barrier.
  };
  struct Thread {
    Wavefront wavefront;
    bool has_ended;
  };

  static uint32_t key(uint16_t unit, uint8_t group) { return uint32_t{unit} << 8 | group; }
  static Cycle at(const VectorClock& clock, uint32_t thread) {
    return thread < clock.size() ? clock[thread] : 0;
  }
  static void raise(VectorClock& clock, uint32_t thread, Cycle to);
  static void join(VectorClock& clock, const VectorClock& other);
  Group& group_of(const Wavefront& by);
  bool touches(tlm::tlm_generic_payload& payload) const;
  // Calls f(range, number, line, first byte, last byte) for each watched line of each row.
  template <class F>
  void for_each_line(tlm::tlm_generic_payload& payload, const F& f);
  void add(uint64_t number, Line& line, const Group& group, unsigned id, const Access& access);
  std::string name_of(const Access& access) const;
  [[noreturn]] void breach(uint64_t number, const Access& earlier, const Access& later) const;

  const unsigned gpu_;
  Names names_;
  std::function<void(uint64_t, Cycle)> atomics_;
  std::vector<Watched> ranges_;
  std::vector<Range> always_;
  std::map<uint64_t, std::vector<Moved>> past_;
  bool has_queues_ = false;  // Or there are ranges that are always watched.
  uint64_t epoch_ = 1;       // Counts up when all work-groups that touched the lines have ended.
  std::unordered_map<uint32_t, Group> groups_;
  std::unordered_map<uint64_t, VectorClock> words_;  // By offset: what was released there.
  std::vector<Thread> threads_;
  uint64_t accesses_ = 0;  // That were compared with earlier ones.
  Traffic all_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_BASE_RACE_LAW_H_
