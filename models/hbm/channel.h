// SPDX-License-Identifier: Apache-2.0
// One HBM channel in the order an atom lives: arrival -> compute or communication queue -> MCA
// grant -> DRAM queue (dram_scheduler.h) -> column command, where data moves and the atom ends. With
// hbm.updates=controller an update has two: it keeps its entry of the DRAM queue from the read to the
// write, and so its turn among accesses to its atom.
//
// One tick is one memory clock: DRAM commands, admission of arrivals (two a cycle and queue), one
// step of the MCA, whose grant moves a queue's head into the DRAM queue, where it can be issued
// from the next cycle on.
// Invariants
//  1 Accesses to one atom (64 B) of which at least one writes end in the order of their
//    admission, across both queues and the DRAM queue. An atom whose elder waits in the *other*
//    input queue is held beside the queues, so that it cannot fill the DRAM queue in front of the
//    elder it waits for.
//  2 The MCA's counts equal the queues: every push, grant, pop and parked write is told in its own
//    cycle.
//  3 A tick at which next() did not ask for one changes nothing.
#ifndef STRETTO_MODELS_HBM_CHANNEL_H_
#define STRETTO_MODELS_HBM_CHANNEL_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/common/queue_sink.h"
#include "models/hbm/data_path.h"
#include "models/hbm/dram_scheduler.h"
#include "models/hbm/request.h"
#include "models/hbm/segment_queue.h"
#include "models/hbm/tracker_port.h"
#include "models/reference/block_host.h"
#include "models/reference/mca_if.h"

namespace stretto {

// What the channels of one HBM share.
struct HbmCore {
  HbmCore(const HbmSpec& hbm_spec, MemoryImage& image, std::unique_ptr<Tracker> tracker,
          TrackerPortClient& client)
      : spec(hbm_spec),
        mapping(hbm_spec.mapping()),
        data(image, hbm_spec.fault_drop_update, hbm_spec.fault_double_update),
        tracker_port(std::move(tracker), client) {}
  const HbmSpec spec;
  const HbmAddressMapping mapping;
  DataPath data;
  TrackerPort tracker_port;
  HbmRequestPool requests;
  SegmentPool segments;
  QueueSink* queue_sink = nullptr;  // Hears of atoms that came by `channel`, if somebody does.
  std::vector<uint32_t> completed;  // Requests whose last atom ended in this tick; emptied by Hbm.
  std::vector<uint32_t> admitted;   // Requests of which an AdmissionSink hears, likewise.
  uint32_t drain_pulses = 0;        // Channels (bits) whose MCA pulsed drain_done in this tick.
  std::array<uint64_t, STRETTO_ACCOUNTS>
      first_cycle{};  // Of the first access on an account, plus one; 0 = none yet.
  std::array<uint64_t, STRETTO_ACCOUNTS> last_cycle{};
};

enum KernelPulse : uint8_t { kKernelStart = 1, kFirstWgDone = 2, kKernelEnd = 4 };

struct ChannelCounters {
  // [account][0 read, 1 write or update].
  std::array<std::array<uint64_t, 2>, STRETTO_ACCOUNTS> atoms{};
  std::array<std::array<uint64_t, 2>, STRETTO_ACCOUNTS> bytes{};
  uint64_t updates_received = 0;
  uint64_t tracked_half_words = 0;
  uint64_t busy_cycles = 0;     // The data bus is reserved.
  uint64_t waiting_cycles = 0;  // Atoms are there and the bus is not reserved.
  uint64_t idle_cycles = 0;
  uint64_t held_atoms = 0;     // Waited beside the queues for an elder.
  uint64_t ordered_atoms = 0;  // Waited in the DRAM queue for an elder.
  uint64_t atomics = 0;        // Updates that were read to be added to.
  uint64_t hazards = 0;        // Ended before a conflicting elder (only without same_atom_order).
  uint64_t ticks = 0;
  uint64_t mca_steps = 0;
  uint64_t compute_high_water = 0;
  uint64_t communication_high_water = 0;
  uint64_t staged_high_water = 0;
  uint64_t dram_high_water = 0;
  uint64_t dram_occupancy_sum = 0;  // At each push, for the mean seen by an arriving atom.
};

class HbmChannel {
 public:
  HbmChannel(unsigned index, HbmCore& core, const TimingSet& set, const TimingTable& table,
             std::unique_ptr<Mca> mca, CommandObserver* observer);

  // A segment that arrives in `stream`, of which the rest is to be filled in
  // (SegmentQueue::insert).
  HbmSegment& arrive(Stream stream, Time time, uint64_t order, uint64_t cycle) {
    SegmentQueue& queue = staged_[static_cast<unsigned>(stream)];
    HbmSegment& segment = queue.insert(core_.segments, time, order, cycle);
    if (queue.size() > counters_.staged_high_water) counters_.staged_high_water = queue.size();
    return segment;
  }
  void prefetch_arrival(Stream stream) const {
    staged_[static_cast<unsigned>(stream)].prefetch(core_.segments);
  }
  // One clock. `pulses`: the KernelPulse bits that the MCA sees at this clock.
  void tick(uint64_t cycle, unsigned pulses);
  // Brings into the host's cache what the next tick() needs.
  void prefetch() const {
    __builtin_prefetch(&staged_, 1);
    __builtin_prefetch(&mca_wake_, 1);
    scheduler_.prefetch();
  }
  // Bring into the host's cache what the ticks of a window need; each needs what the one before it
  // brought.
  void warm_state() const;
  void warm_atoms() const;
  void warm_requests();
  void warm_payloads();
  // The first cycle after `cycle` that needs a tick; kNoCycle if none.
  uint64_t next(uint64_t cycle) const;
  // A register access as one further clock of the MCA at `cycle`; returns reg_rdata after it.
  uint64_t step_registers(uint64_t cycle, const RegisterPort& reg);

  std::optional<McaSnapshot> mca_state() const { return mca_.snapshot(); }

  // Counters with the current interval closed at `cycle`.
  ChannelCounters counters(uint64_t cycle) const;
  const auto& bytes() const { return counters_.bytes; }  // As there.
  const DramScheduler& scheduler() const { return scheduler_; }
  // Atoms in the MCA's queue of `stream`.
  uint64_t queued(Stream stream) const { return queues_[static_cast<unsigned>(stream)].size(); }
  bool quiet() const { return live_ == 0 && staged_[0].empty() && staged_[1].empty(); }
  std::string waiting_on() const;  // REQUIRES: !quiet().
  uint64_t command_hash() const { return command_hash_; }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr unsigned kAdmissions = 2;  // A cycle and queue.
  static constexpr unsigned kBuckets = 256;
  enum class Where : uint8_t { compute, communication, held, dram };  // The first two equal Stream.

  // Atoms to the same 64 B are a list by age; the youngest one is in a bucket for them all.
  struct alignas(32) Atom {
    uint64_t address;
    uint32_t at;  // Offset in the request's data.
    uint32_t request;
    uint32_t older, younger;  // To the same 64 B, or kNone.
    uint32_t next;            // Of the youngest of its 64 B: the next one in the bucket.
    uint8_t bytes;
    DramCommand command;
    Where where;
    Stream stream : 6 = Stream::compute;
    bool sunk : 1 = false;    // HbmCore::queue_sink hears of it.
    bool atomic : 1 = false;  // An update that has not been read yet.
  };
  static_assert(sizeof(Atom) == 32);

  uint32_t& bucket_of(uint64_t address) {
    const uint64_t key = address / kAtomBytes;
    return buckets_[(key ^ key >> 7 ^ key >> 17) % kBuckets];
  }
  static bool same_atom(const Atom& a, const Atom& b) {
    return ((a.address ^ b.address) & ~uint64_t{63}) == 0;
  }
  // REQUIRES: both are to the same 64 B.
  static bool conflict(const Atom& a, const Atom& b) {
    return a.command != DramCommand::read || b.command != DramCommand::read;
  }
  static Where queue_of(Stream stream) { return static_cast<Where>(stream); }
  // X may not enter its queue while this elder is where it is.
  static bool holds(const Atom& elder, const Atom& x) {
    return elder.where == Where::held ||
           (elder.where != Where::dram && elder.where != queue_of(x.stream));
  }
  // Whether an elder of `atom` that conflicts with it has not ended.
  bool has_elder(const Atom& atom) const;
  bool is_held(const Atom& atom) const;

  template <class Action>
  void for_each_queued(Action action) const;  // action(id): in the DRAM queue and in the MCA's.
  void admit(uint64_t cycle, unsigned stream);
  void take_atom(uint64_t cycle, HbmSegment& segment, Stream stream);
  void count_update(const HbmRequest& request, const Atom& atom);
  void flush_join();
  void enqueue(uint32_t id);
  McaOutputs step_mca(uint64_t cycle, McaInputs& in);
  void grant(uint64_t cycle, Stream stream);
  void release_held(const Atom& elder);
  void book_column(uint64_t cycle, const Atom& atom, DramCommand command);
  void read_for_update(uint64_t cycle, uint32_t id);
  void end_atom(uint64_t cycle, uint32_t id);
  void link(uint32_t id);
  void unlink(uint64_t cycle, uint32_t id);

  HbmCore& core_;
  const unsigned index_;
  const unsigned input_depth_;
  const unsigned burst_cycles_;
  const unsigned read_latency_;
  const unsigned write_latency_;
  ClockedBlock<Mca> mca_;
  DramScheduler scheduler_;

  std::array<SegmentQueue, 2> staged_;           // By stream.
  std::array<GrowingRing<uint32_t>, 2> queues_;  // Atoms in the MCA's queues, by stream.
  std::array<uint32_t, 2> untold_{};  // Atoms in the queues that the MCA has not been told of.
  std::vector<Atom> atoms_;
  std::vector<uint32_t> free_atoms_;
  std::array<uint32_t, kBuckets> buckets_;  // First atom of each bucket, or kNone.
  uint32_t live_ = 0;
  uint32_t held_ = 0;  // Of them where they are held.
  // Updates that were read, and when they may be written: all take the same time.
  GrowingRing<std::pair<uint64_t, uint32_t>> added_;
  uint32_t coming_ = kNone;       // Whose request and bytes were last fetched ahead.
  uint64_t mca_wake_ = kNoCycle;  // The MCA needs its clocks from this cycle on.
  unsigned told_parked_ = 0;      // dram_parked of its last clock.
  TrackerUpdate join_;            // Successive updates of one (wg, wf).
  bool join_touched_ = false;
  uint64_t mark_ = 0;  // Cycles before are booked as busy, waiting or idle.
  uint64_t command_hash_ = 0;
  ChannelCounters counters_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HBM_CHANNEL_H_
