// SPDX-License-Identifier: Apache-2.0
// Question: do the grid scheduler's RTL and its reference model agree where values are wide? Ids
// and counts of 32 bits, batches of thousands, needs up to the largest capacity, tens of thousands
// of work-groups on 160 units, every register address. Lockstep only; what the rules say
// grid_scheduler_random_test.cpp asks.
#include <catch2/catch.hpp>

#include <iterator>
#include <vector>

#include "platform/adapters/rtl_blocks.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/grid_scheduler_regs.h"
#include "tests/support/block_waves.h"
#include "tests/support/coverage_bins.h"
#include "tests/support/seeded_rng.h"

namespace stretto {
namespace {

struct WorkGroup {
  uint8_t cu, slot;
  uint32_t id;
};

class WideGpu {
 public:
  void run(uint64_t clocks) {
    while (cycle_ < clocks) {
      scheduler_->reset();
      resident_.clear();
      out_ = GridSchedulerOutputs();
      configure();
      for (uint64_t end = cycle_ + kEpoch; cycle_ < end;) {
        if (rng_.chance(1, 500)) end_chance_ = rng_.chance(1, 2) ? 0 : rng_.below(17);
        if (rng_.chance(1, 12)) {
          act();
        } else {
          step();
        }
      }
    }
  }

  uint64_t dispatched() const { return dispatched_; }

 private:
  static constexpr uint64_t kEpoch = 12'000;

  void step() {
    in_.cycle = cycle_++;
    if (!resident_.empty() && rng_.chance(end_chance_, 16)) leave();
    if (rng_.chance(1, 20)) {
      in_.event_valid = true;
      in_.event_gate = static_cast<uint16_t>(rng_.next() >> rng_.between(48, 63));
    }
    out_ = scheduler_->step(in_);
    in_ = GridSchedulerInputs();
    if (out_.dispatch_valid) {
      resident_.push_back({out_.dispatch_cu, out_.dispatch_slot, out_.dispatch_wg_id});
      ++dispatched_;
    }
  }
  void leave() {
    const size_t i = rng_.below(resident_.size());
    const WorkGroup wg = resident_[i];
    resident_[i] = resident_.back();
    resident_.pop_back();
    const bool drained = out_.drained_ready && rng_.chance(1, 4);
    in_.done_valid = !drained;
    in_.drained_valid = drained;
    in_.done_cu = wg.cu;
    in_.done_slot = wg.slot;
    in_.drained_wg_id = wg.id;
  }
  void write(unsigned address, uint64_t data) {
    in_.reg = {true, false, static_cast<uint16_t>(address), data};
    step();
  }
  // A value of any size below 2^bits.
  uint64_t some(unsigned bits) { return (rng_.next() >> (64 - bits)) >> rng_.below(bits); }

  void configure() {
    large_ = rng_.chance(1, 2);
    write(GRID_SCHEDULER_POLICY_OFFSET, rng_.below(8));
    write(GRID_SCHEDULER_CUS_OFFSET, rng_.chance(1, 2) ? 160 : rng_.below(256));
    write(GRID_SCHEDULER_CAPACITY_OFFSET,
          large_ ? ~uint64_t{0} : rng_.next() | 0x0010'0010'0080'0080);
  }
  static unsigned at(unsigned offset, unsigned slot) { return offset + slot * 0x40; }

  // Mostly launches that are not refused.
  void program(unsigned slot) {
    const uint64_t needs = rng_.next() & 0x0301'00ff'03ff'03ff;
    const uint64_t mask = large_ && rng_.chance(1, 2) ? 0x0301'0001'0000'0000
                          : rng_.chance(1, 2)         ? 0x0301'001f'001f'001f
                                                      : ~uint64_t{0};
    uint64_t count = 1 + some(32);
    const uint64_t first = some(32);
    uint64_t grid = first + count + some(8);
    if (grid >= uint64_t{1} << 32) {
      count = (uint64_t{1} << 32) - 1 - first;
      grid = first + count;
    }
    if (count == 0) count = 1;
    const uint64_t start = rng_.below(count), skip = rng_.chance(1, 2) ? rng_.below(count) : 0;
    write(at(GRID_SCHEDULER_SLOT_NEEDS_OFFSET, slot), (needs & mask) | uint64_t{1} << 32);
    write(at(GRID_SCHEDULER_SLOT_RANGE_OFFSET, slot), first | count << 32);
    write(at(GRID_SCHEDULER_SLOT_ORDER_OFFSET, slot), grid | start << 32);
    if (skip != 0) write(at(GRID_SCHEDULER_SLOT_SKIP_OFFSET, slot), skip);
    if (rng_.chance(1, 4)) {
      const uint64_t batch = some(16) | 1, position = (start + skip) % count;
      write(at(GRID_SCHEDULER_SLOT_GATE_OFFSET, slot),
            batch | (position / batch & 0xffff) << 16 | (position % batch) << 32);
    }
  }

  void act() {
    const auto slot = static_cast<unsigned>(rng_.below(kGridSlots));
    switch (rng_.below(16)) {
      case 0:
      case 1:
      case 2:
        program(slot);
        write(at(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, slot), 1);
        return;
      case 3:
        program(slot);
        write(GRID_SCHEDULER_PIPELINE_OFFSET,
              uint64_t{1} << slot | (rng_.chance(1, 3) ? rng_.next() & 0xffffffff : 0));
        return;
      case 4:
      case 5: write(at(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, slot), 2 | rng_.below(2) << 2); return;
      case 6:
      case 7: write(GRID_SCHEDULER_DONE_OFFSET, rng_.next()); return;
      case 8: write(GRID_SCHEDULER_IRQ_ENABLE_OFFSET, rng_.next()); return;
      case 9:
        write(rng_.chance(1, 8) ? GRID_SCHEDULER_GATE_CLEAR_OFFSET : GRID_SCHEDULER_GATE_SET_OFFSET,
              some(16));
        return;
      case 10:
        write(
            rng_.chance(1, 8) ? GRID_SCHEDULER_COUNTER_CLEAR_OFFSET : GRID_SCHEDULER_POLICY_OFFSET,
            rng_.next());
        return;
      case 11: write(GRID_SCHEDULER_RETURNED_TAKE_OFFSET, 0); return;
      default: break;
    }
    const uint64_t where[] = {rng_.below(16) * 8, 0x800 + rng_.below(256) * 8,
                              0x1000 + rng_.below(160) * 8, rng_.below(1 << 13) * 8};
    in_.reg = {false, true, static_cast<uint16_t>(where[rng_.below(std::size(where))]), 0};
    step();
  }

  std::unique_ptr<GridScheduler> scheduler_ = make_grid_scheduler(
      Impl::lockstep, "wide.grid_scheduler", test::wave_probe("grid_scheduler"));
  test::Rng rng_{73};
  GridSchedulerInputs in_;
  GridSchedulerOutputs out_;
  uint64_t cycle_ = 0, dispatched_ = 0;
  std::vector<WorkGroup> resident_;
  bool large_ = false;  // Units have as much as registers can say.
  uint64_t end_chance_ = 4;
};

TEST_CASE("grid scheduler RTL and model agree on wide values") {
  WideGpu gpu;
  gpu.run(test::coverification_cycles());
  CHECK(gpu.dispatched() > 1000);
}

}  // namespace
}  // namespace stretto
