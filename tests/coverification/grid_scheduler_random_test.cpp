// SPDX-License-Identifier: Apache-2.0
// Question: do the grid scheduler's RTL and its reference model agree clock by clock under random
// traffic, and do ids, gates, pipelines and drains come out as the rules say? Firmware programs,
// launches, preempts, resumes and reads while work-groups end, come back and events arrive in any
// clock; resets fall in between. Bins say what must have happened.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <deque>
#include <iterator>
#include <string>

#include "sw/include/regs/grid_scheduler_file.h"
#include "tests/coverification/grid_scheduler_bench.h"
#include "tests/support/coverage_bins.h"
#include "tests/support/seeded_rng.h"

namespace stretto {
namespace {

using test::Gpu;
using test::Kernel;
using test::WorkGroup;

class Traffic {
 public:
  Traffic(uint64_t salt, bool resets) : rng_(salt), resets_(resets) {
    g_.observe = [this] { observe(); };
    for (unsigned address = 0; address < 0x10000; address += 8) {
      const Name name = GridSchedulerRegisters::find(static_cast<uint16_t>(address)).name;
      if (name == Name::none) continue;
      addresses_[static_cast<size_t>(name)].push_back(static_cast<uint16_t>(address));
    }
  }

  // At least so many clocks, and up to eight times as many until only the named bins are empty: a
  // seed in 300 needs more to have a pipeline wait for a higher priority.
  void run(uint64_t clocks, const std::string& unmet) {
    while (g_.clocks() < clocks || (g_.clocks() < 8 * clocks && bins_.empty() != unmet)) {
      disturb();
      if (rng_.chance(1, 1000)) quiet_ = true;
      if (quiet_) configure();
      if (rng_.chance(1, 300)) end_chance_ = quiet_ ? 16 : rng_.below(17);
      if (resets_ && rng_.chance(1, 4000)) reset();
      if (rng_.chance(1, 6)) {
        act();
      } else {
        g_.step();
      }
    }
  }
  const test::CoverageBins& bins() const { return bins_; }
  // Registers that were never written, those that may be with work-groups on units.
  unsigned unwritten() const {
    return static_cast<unsigned>(std::count(written_.begin(), written_.end(), 0));
  }

 private:
  using Name = GridSchedulerRegisters::Name;
  static constexpr size_t kRegisters = static_cast<size_t>(Name::none);

  enum class Use { free, single, pipeline };
  struct Slot {
    Use use = Use::free;
    unsigned next = 0;  // Place in the order of the next id.
    unsigned resident = 0;
    bool preempted = false;
    uint64_t preempted_at = 0;
    bool drain = false;
    bool over = false;  // Done or refused.
  };

  // What the units and the Tracker do in this clock.
  void disturb() {
    if (disturbed_) return;
    disturbed_ = true;
    if (!g_.resident.empty() && rng_.chance(end_chance_, 16)) {
      const size_t i = rng_.below(g_.resident.size());
      const unsigned slot = g_.resident[i].slot;
      if (slots_[slot].drain && g_.out.drained_ready && rng_.chance(1, 2)) {
        returned_.push_back(g_.resident[i]);
        g_.hand_back(i);
      } else {
        g_.end(i);
      }
      leaves_ = static_cast<int>(slot);
      --slots_[slot].resident;
      from_unit_ = g_.in.done_cu;
    }
    if (rng_.chance(1, 30)) {
      g_.in.event_valid = true;
      g_.in.event_gate = some_gate();
      if (g_.in.event_gate < open_.size()) opens_ = g_.in.event_gate;
    }
  }

  // Mostly one that a kernel waits for, or will.
  uint16_t some_gate() {
    const unsigned s = some_slot();
    const Kernel& k = g_.kernels[s];
    if (rng_.chance(1, 50)) return static_cast<uint16_t>(rng_.below(65536));
    if (slots_[s].use == Use::free || k.batch == 0 || k.count == 0 || rng_.chance(1, 4))
      return static_cast<uint16_t>(rng_.below(12));
    return static_cast<uint16_t>((k.start + slots_[s].next + rng_.below(3)) % k.count / k.batch);
  }

  unsigned some_slot() {
    return (first_slot_ + static_cast<unsigned>(rng_.below(slots_in_use_))) % kGridSlots;
  }
  // Few slots are launched often and have pipelines that fit; all of them meet in one clock.
  void choose_slots() {
    slots_in_use_ = rng_.chance(1, 3) ? kGridSlots : 8;
    first_slot_ = static_cast<unsigned>(rng_.below(kGridSlots));
  }

  // Every write and read is in a clock of its own, with disturbances.
  void write(uint16_t address, uint64_t data) {
    g_.write(address, data);
    disturb();
  }

  void configure() {
    if (!all_free()) return;
    quiet_ = false;
    choose_slots();
    ++written_[static_cast<size_t>(Name::cus)];
    ++written_[static_cast<size_t>(Name::capacity)];
    g_.configure(static_cast<unsigned>(rng_.chance(1, 4)   ? rng_.between(1, 160)
                                       : rng_.chance(1, 2) ? 160
                                                           : rng_.between(1, 6)),
                 static_cast<unsigned>(rng_.between(60, 1023)),
                 static_cast<unsigned>(rng_.between(60, 1023)),
                 static_cast<unsigned>(rng_.between(16, 255)),
                 static_cast<unsigned>(rng_.between(1, 63)));
    if (rng_.chance(1, 3)) launch_pipeline();  // It fits if it ever does.
  }

  void reset() {
    in_flight_reset_ += !g_.resident.empty();
    g_.reset();
    for (Slot& slot : slots_) slot = Slot();
    returned_.clear();
    open_.reset();
    opens_ = leaves_ = -1;
    disturbed_ = false;
    pipeline_ = 0;
    policy_ = 0;
    g_.in = GridSchedulerInputs();
  }

  Kernel random_kernel() {
    Kernel k;
    const unsigned most = rng_.chance(1, 3) ? 200 : 40;
    k.needs = {static_cast<unsigned>(rng_.below(most)), static_cast<unsigned>(rng_.below(most)),
               static_cast<unsigned>(rng_.between(1, 16)), static_cast<unsigned>(rng_.below(2)),
               static_cast<unsigned>(rng_.below(4))};
    k.count = static_cast<unsigned>(rng_.between(1, rng_.chance(1, 10) ? 700 : 24));
    k.first = static_cast<unsigned>(rng_.below(1000));
    k.grid = k.first + k.count + static_cast<unsigned>(rng_.below(3));
    k.start = static_cast<unsigned>(rng_.below(k.count));
    if (rng_.chance(1, 4)) k.skip = static_cast<unsigned>(rng_.below(k.count));
    if (rng_.chance(1, 5)) k.batch = static_cast<unsigned>(rng_.between(1, 4));
    if (k.batch != 0 && rng_.chance(1, 4)) {
      k.batch = 1;
      k.count = static_cast<unsigned>(rng_.between(600, kGridGates));
      k.grid = k.first + k.count;
      k.start = static_cast<unsigned>(rng_.between(500, k.count - 1));
      k.skip = 0;
    }
    if (rng_.chance(1, 12)) k.start = k.count + static_cast<unsigned>(rng_.below(2));
    return k;
  }

  void program(unsigned slot, const Kernel& k) {
    g_.kernels[slot] = k;
    for (const auto& [address, data] : Gpu::program(slot, k)) write(address, data);
    slots_[slot] = Slot();
    slots_[slot].next = k.skip;
  }

  void act() {
    const unsigned slot = some_slot();
    switch (quiet_ ? rng_.between(4, 8) : rng_.below(9)) {
      case 0:
      case 1:
      case 2:
        if (slots_[slot].use != Use::free) break;
        program(slot, random_kernel());
        slots_[slot].use = Use::single;
        staggered_ += g_.kernels[slot].start != 0;
        write(Gpu::at(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, slot), 1);
        return;
      case 3: launch_pipeline(); return;
      case 4:
        if (slots_[slot].use == Use::free || slots_[slot].over || slots_[slot].preempted ||
            !rng_.chance(1, quiet_                             ? 1
                            : waits(slot) && rng_.chance(1, 2) ? 3
                                                               : 12)) {
          break;
        }
        slots_[slot].preempted = true;
        slots_[slot].drain = rng_.chance(1, 2);
        preempts_waiting_ += waits(slot);
        slots_[slot].preempted_at = g_.clocks() + 1;
        g_.preempt(slot, slots_[slot].drain);
        disturb();
        return;
      case 5:
        if (rng_.chance(1, 4)) {
          write_policy(rng_.below(8));
        } else if (rng_.chance(1, 4)) {
          clear_gates(0);
        } else {
          set_gate(some_gate());
        }
        return;
      case 6: take_returned(); return;
      case 7: write_any(); return;
      default: release(); return;
    }
    const auto address = static_cast<uint16_t>(rng_.chance(1, 2)   ? rng_.below(16) * 8
                                               : rng_.chance(1, 4) ? 0x1000 + rng_.below(162) * 8
                                                                   : 0x800 + rng_.below(258) * 8);
    g_.in.reg = {false, true, address, 0};
    g_.step();
  }

  bool waits(unsigned slot) const { return (pipeline_ >> slot & 1) != 0 && !pipeline_begun_; }
  void write_policy(uint64_t data) {
    policy_ = data & 7;
    policy_in_wait_ += pipeline_ != 0 && !pipeline_begun_;
    write(GRID_SCHEDULER_POLICY_OFFSET, data);
  }
  void set_gate(uint64_t data) {
    // Seen by the clock after the write at the earliest.
    if ((data & 0xffff) < kGridGates) open_.set(data & 0xffff);
    write(GRID_SCHEDULER_GATE_SET_OFFSET, data);
  }
  void clear_gates(uint64_t data) {
    write(GRID_SCHEDULER_GATE_CLEAR_OFFSET, data);
    open_.reset();
  }

  // Each register of the block, with any value that firmware may write there now.
  void write_any() {
    const size_t which = rng_.below(kRegisters);
    const auto name = static_cast<Name>(which);
    const uint16_t address = addresses_[which][rng_.below(addresses_[which].size())];
    const unsigned s = GridSchedulerRegisters::find(address).index % kGridSlots;
    uint64_t data = rng_.next() & rng_.next();
    if (name == Name::cus || name == Name::capacity) {
      configure();
      return;
    }
    written_[which] += !g_.resident.empty();
    switch (name) {
      case Name::policy: write_policy(data); return;
      case Name::gate_set: set_gate(data); return;
      case Name::gate_clear: clear_gates(data); return;
      case Name::returned_take: take(data); return;
      case Name::done:
        // Those that are over are for release().
        for (unsigned i = 0; i < kGridSlots; ++i) data &= ~(uint64_t{slots_[i].over} << i);
        break;
      case Name::pipeline:
        for (unsigned i = 0; i < kGridSlots; ++i)
          data &= ~(uint64_t{slots_[i].use == Use::free} << i);
        break;
      case Name::slot_control:
        data &= slots_[s].use == Use::free ? ~uint64_t{GRID_SCHEDULER_SLOT_CONTROL_LAUNCH_MASK}
                                           : ~uint64_t{GRID_SCHEDULER_SLOT_CONTROL_PREEMPT_MASK};
        break;
      case Name::slot_skip:
      case Name::slot_gate:
        // They would stay for the next launch.
        if (slots_[s].use == Use::free) data = 0;
        break;
      default: break;
    }
    write(address, data);
  }
  bool all_free() const {
    return std::all_of(std::begin(slots_), std::end(slots_),
                       [](const Slot& slot) { return slot.use == Use::free; });
  }

  void launch_pipeline() {
    unsigned slots = 0;
    for (unsigned i = 0; i < slots_in_use_; ++i) {
      const unsigned s = (first_slot_ + i) % kGridSlots;
      if (slots_[s].use == Use::free && rng_.chance(1, 2)) slots |= 1u << s;
    }
    if (slots == 0) return;
    const bool busy = pipeline_ != 0;
    // Lower priorities wait with it then; a policy at random lasts for long, and may be another.
    if (rng_.chance(1, 4)) write_policy(rng_.below(4) | GRID_SCHEDULER_POLICY_PRIORITY_MASK);
    // Now and then as many work-groups as a pipeline may have, or one more.
    const unsigned room = g_.cus * std::min(g_.capacity.wavefronts, g_.capacity_work_groups);
    const bool full = room >= kGridPipelineEntries && rng_.chance(3, 4);
    const unsigned all = kGridPipelineEntries + rng_.chance(1, 8);
    unsigned rest = all;
    for (unsigned s = 0; s < kGridSlots; ++s) {
      if ((slots >> s & 1) == 0) continue;
      Kernel k = random_kernel();
      if (!rng_.chance(1, 10)) k.batch = 0;
      if (full) {
        const bool last = slots >> s == 1;
        k = test::kernel({1, 1, 1, k.needs.tensor, k.needs.priority},
                         last ? rest : static_cast<unsigned>(rng_.between(1, rest / 4)));
        rest -= k.count;
      }
      program(s, k);
      slots_[s].use = Use::pipeline;
    }
    if (!busy) {
      pipeline_ = slots;
      pipeline_full_ = full && all == kGridPipelineEntries;
    }
    pipeline_begun_ = false;
    if (rng_.chance(1, 3)) end_chance_ = 0;  // It waits until the block sleeps.
    write(GRID_SCHEDULER_PIPELINE_OFFSET, slots);
  }

  void take_returned() {
    const uint64_t value = g_.read(GRID_SCHEDULER_RETURNED_OFFSET);
    // What came back in the two clocks of the read is not yet in it.
    REQUIRE(STRETTO_FIELD_GET(value, GRID_SCHEDULER_RETURNED_LOST) == 0);
    if (STRETTO_FIELD_GET(value, GRID_SCHEDULER_RETURNED_VALID) == 0) return;
    REQUIRE(!returned_.empty());
    CHECK(STRETTO_FIELD_GET(value, GRID_SCHEDULER_RETURNED_ID) == returned_.front().id);
    CHECK(STRETTO_FIELD_GET(value, GRID_SCHEDULER_RETURNED_SLOT) == returned_.front().slot);
    ++taken_;
    take(0);
  }
  void take(uint64_t data) {
    // What comes back in this clock is not taken.
    if (returned_.size() > (g_.in.drained_valid ? 1 : 0)) returned_.pop_front();
    write(GRID_SCHEDULER_RETURNED_TAKE_OFFSET, data);
  }

  // Frees slots that are over, after a look at their report.
  void release() {
    for (unsigned s = 0; s < kGridSlots; ++s) {
      if (!slots_[s].over || rng_.chance(1, 3)) continue;
      const Slot& slot = slots_[s];
      const uint64_t state = g_.slot_state(s);
      const Kernel& k = g_.kernels[s];
      if (STRETTO_FIELD_GET(state, GRID_SCHEDULER_SLOT_STATE_STATE) ==
          GRID_SCHEDULER_SLOT_STATE_STATE_DONE) {
        CHECK(STRETTO_FIELD_GET(state, GRID_SCHEDULER_SLOT_STATE_UNDISPATCHED) ==
              k.count - slot.next);
        CHECK(STRETTO_FIELD_GET(state, GRID_SCHEDULER_SLOT_STATE_PREEMPTED) == slot.preempted);
        partial_ += slot.next != k.count && slot.next != k.skip;
      }
      refused_seen_ += STRETTO_FIELD_GET(state, GRID_SCHEDULER_SLOT_STATE_REASON) != 0;
      never_ += STRETTO_FIELD_GET(state, GRID_SCHEDULER_SLOT_STATE_REASON) ==
                GRID_SCHEDULER_SLOT_STATE_REASON_NEVER_FITS;
      write(GRID_SCHEDULER_DONE_OFFSET, 1u << s);
      slots_[s] = Slot();
    }
  }

  // After each clock: what came out, against the books.
  void observe() {
    const GridSchedulerOutputs& out = g_.out;
    if (out.dispatch_valid) dispatched();
    if (opens_ >= 0) open_.set(static_cast<size_t>(opens_));
    opens_ = -1;
    waited_pipeline_ += out.idle && pipeline_ != 0 && !pipeline_begun_;
    idle_with_work_ += out.idle && !g_.resident.empty();
    strict_holds_ += out.idle && (policy_ & 4) != 0 && holds_one_that_fits();
    strict_pipeline_ += out.idle && (policy_ & 4) != 0 && pipeline_is_outranked();
    first_ends_ += out.first_wg_done;
    start_and_end_ += out.kernel_start && out.kernel_done;
    same_unit_ += out.dispatch_valid && leaves_ >= 0 && out.dispatch_cu == from_unit_;
    for (unsigned s = 0; s < kGridSlots; ++s) {
      if ((out.refused >> s & 1) == 0) continue;
      REQUIRE(slots_[s].use != Use::free);
      REQUIRE(slots_[s].next == g_.kernels[s].skip);
      slots_[s].over = true;
      if (slots_[s].use == Use::pipeline && (pipeline_ >> s & 1) != 0) pipeline_ &= ~(1u << s);
    }
    if (out.kernel_done) {
      Slot& slot = slots_[out.done_slot];
      REQUIRE(slot.resident == 0);
      REQUIRE((slot.next == g_.kernels[out.done_slot].count || slot.preempted ||
               stopped_with_pipeline(out.done_slot)));
      slot.over = true;
      ++ended_kernels_;
      pipeline_ &= ~(1u << out.done_slot);
    }
    leaves_ = -1;
    disturbed_ = false;
  }

  // A slot has room for its next work-group, and one of higher priority has work.
  bool holds_one_that_fits() const {
    for (unsigned s = 0; s < kGridSlots; ++s)
      if (has_work(s) && g_.kernels[s].needs.priority < highest_with_work() && g_.has_room(s))
        return true;
    return false;
  }
  bool pipeline_is_outranked() const {
    if (pipeline_ == 0 || pipeline_begun_) return false;
    const auto lowest = static_cast<unsigned>(std::countr_zero(pipeline_));
    return g_.kernels[lowest].needs.priority < highest_with_work();
  }
  bool has_work(unsigned s) const {
    return slots_[s].use == Use::single && !slots_[s].over && !slots_[s].preempted &&
           slots_[s].next < g_.kernels[s].count && g_.kernels[s].batch == 0;
  }
  unsigned highest_with_work() const {
    unsigned highest = 0;
    for (unsigned s = 0; s < kGridSlots; ++s)
      if (has_work(s)) highest = std::max(highest, g_.kernels[s].needs.priority);
    return highest;
  }

  // One of its pipeline was preempted before anything was placed.
  bool stopped_with_pipeline(unsigned s) {
    if (slots_[s].use != Use::pipeline || slots_[s].next != g_.kernels[s].skip) return false;
    slots_[s].preempted = true;
    return true;
  }

  void dispatched() {
    const WorkGroup& wg = g_.placed.back();
    Slot& slot = slots_[wg.slot];
    const Kernel& k = g_.kernels[wg.slot];
    REQUIRE(slot.use != Use::free);
    REQUIRE(slot.next < k.count);
    REQUIRE(wg.id == k.first + (k.start + slot.next) % k.count);
    if (k.batch != 0) {
      REQUIRE(open_.test((wg.id - k.first) / k.batch));
      ++gated_;
      upper_gates_ += (wg.id - k.first) / k.batch > 511;
    }
    // Its write took one clock, and what was at the place stage then may still go.
    if (slot.preempted && slot.use == Use::single) REQUIRE(g_.clocks() <= slot.preempted_at);
    const bool mine = (pipeline_ >> wg.slot & 1) != 0;
    if (pipeline_begun_ && pipeline_ != 0) REQUIRE(mine);
    if (mine) {
      pipelines_ += !pipeline_begun_;
      full_pipelines_ += !pipeline_begun_ && pipeline_full_;
      pipeline_begun_ = true;
    }
    ++slot.next;
    ++slot.resident;
    resumed_ += k.skip != 0;
    last_unit_ += wg.cu == 159;
    two_arbiters_ += (policy_ & 2) != 0 && k.needs.tensor != 0;
    in_order_ += (policy_ & 1) != 0;
    for (unsigned s = 0; s < kGridSlots; ++s) {
      const bool waits =
          slots_[s].use == Use::single && !slots_[s].over && slots_[s].next < g_.kernels[s].count;
      lower_waits_ += waits && g_.kernels[s].needs.priority < k.needs.priority;
    }
    if (mine) {
      unsigned left = 0;
      for (unsigned s = 0; s < kGridSlots; ++s) {
        if ((pipeline_ >> s & 1) != 0) left += g_.kernels[s].count - slots_[s].next;
      }
      if (left == 0) {
        pipeline_ = 0;
        pipeline_begun_ = false;
      }
    }
  }

  Gpu g_;
  test::Rng rng_;
  bool resets_;
  Slot slots_[kGridSlots];
  std::deque<WorkGroup> returned_;
  std::bitset<kGridGates> open_;
  int opens_ = -1;   // Gate that this clock opens,
  int leaves_ = -1;  // slot that a work-group leaves,
  unsigned from_unit_ = 0;
  bool disturbed_ = false;  // The inputs of the next clock are set.
  unsigned pipeline_ = 0;   // Slots of the pipeline under way.
  bool pipeline_begun_ = false;
  bool pipeline_full_ = false;  // Of as many work-groups as one may have.
  unsigned policy_ = 0;
  uint64_t end_chance_ = 4;
  unsigned slots_in_use_ = 8, first_slot_ = 0;
  bool quiet_ = false;  // No launches until all slots are free: then other units.

  std::array<std::vector<uint16_t>, kRegisters> addresses_;  // Of each register,
  std::array<uint64_t, kRegisters> written_{};               // writes that met traffic.

  test::CoverageBins bins_{"grid_scheduler"};
  uint64_t& last_unit_ = bins_.bin("G1: a work-group went to the last unit");
  uint64_t& refused_seen_ = bins_.bin("G2: a launch was refused");
  uint64_t& staggered_ = bins_.bin("G3: a launch began within its range");
  uint64_t& same_unit_ = bins_.bin("G4: a unit got a work-group in the clock after one left it");
  uint64_t& in_flight_reset_ = bins_.bin("G5: a reset met resident work-groups");
  uint64_t& first_ends_ = bins_.bin("G6: the first work-group of a kernel ended");
  uint64_t& start_and_end_ = bins_.bin("G6: a kernel began and another one ended in one clock");
  uint64_t& ended_kernels_ = bins_.bin("G6: a kernel ended");
  uint64_t& lower_waits_ = bins_.bin("G7: a lower priority waited");
  uint64_t& idle_with_work_ = bins_.bin("G8: idle with work-groups on units");
  uint64_t& waited_pipeline_ = bins_.bin("G9: idle while a pipeline waits");
  uint64_t& two_arbiters_ = bins_.bin("S1: the second arbiter placed a work-group");
  uint64_t& in_order_ = bins_.bin("S2: a work-group was placed in order of launch");
  uint64_t& strict_holds_ = bins_.bin("S3: idle although a lower priority had room");
  uint64_t& strict_pipeline_ = bins_.bin("S3: idle while a pipeline waits for a higher priority");
  uint64_t& pipelines_ = bins_.bin("P1: a pipeline was placed");
  uint64_t& full_pipelines_ = bins_.bin("P1: a pipeline of 512 work-groups was placed");
  uint64_t& policy_in_wait_ = bins_.bin("P2: the policy was written while a pipeline waited");
  uint64_t& never_ = bins_.bin("P2: a pipeline could never be placed");
  uint64_t& preempts_waiting_ = bins_.bin("P3: one of a waiting pipeline was preempted");
  uint64_t& partial_ = bins_.bin("T1: a kernel was stopped with work-groups left");
  uint64_t& resumed_ = bins_.bin("T2: a work-group of a resumed kernel was placed");
  uint64_t& taken_ = bins_.bin("T3: firmware took a drained work-group");
  uint64_t& upper_gates_ = bins_.bin("E1: a work-group went through a gate above 511");
  uint64_t& gated_ = bins_.bin("E1: a gated work-group was placed");
};

TEST_CASE("random traffic matches the reference model and the rules, in every clock") {
  Traffic traffic(61, false);
  const std::string unmet = "G5: a reset met resident work-groups\n";  // Without resets.
  traffic.run(test::coverification_cycles(), unmet);
  CHECK(traffic.bins().empty() == unmet);
  traffic.bins().report();
}

TEST_CASE("random traffic with resets in mid-flight meets every bin") {
  Traffic traffic(62, true);
  traffic.run(test::coverification_cycles(), "");
  CHECK(traffic.bins().empty() == "");
  CHECK(traffic.unwritten() == 0);
  CHECK(traffic.bins().rules_without_bin(STRETTO_SOURCE_DIR "/rtl/grid_scheduler/README.md") == "");
  traffic.bins().report();
}

}  // namespace
}  // namespace stretto
