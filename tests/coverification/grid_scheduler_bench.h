// SPDX-License-Identifier: Apache-2.0
// The GPU around a grid scheduler under test: it keeps books of its own of what is on each unit,
// and throws when a work-group is placed where there is no room.
#ifndef STRETTO_TESTS_COVERIFICATION_GRID_SCHEDULER_BENCH_H_
#define STRETTO_TESTS_COVERIFICATION_GRID_SCHEDULER_BENCH_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "models/common/error.h"
#include "platform/adapters/rtl_blocks.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/grid_scheduler_regs.h"
#include "tests/support/block_waves.h"

namespace stretto::test {

struct Needs {
  unsigned registers_kib = 0, lds_kib = 0, wavefronts = 1, tensor = 0, priority = 0;
};
struct Kernel {
  Needs needs;
  unsigned first = 0, count = 1, grid = 1, start = 0;
  unsigned skip = 0;   // Placed by an earlier launch.
  unsigned batch = 0;  // Work-groups of one gate; 0: not gated.

  unsigned first_position() const { return (start + skip) % count; }
};
// All `count` work-groups of a grid.
inline Kernel kernel(const Needs& needs, unsigned count) {
  Kernel k;
  k.needs = needs;
  k.count = k.grid = count;
  return k;
}
struct WorkGroup {
  unsigned cu, slot, id;
};

class Gpu {
 public:
  explicit Gpu(Impl impl = Impl::lockstep)
      : scheduler_(make_grid_scheduler(impl, "test.scheduler", wave_probe("grid_scheduler"))) {}

  GridSchedulerInputs in;
  GridSchedulerOutputs out;
  std::vector<WorkGroup> resident;
  std::vector<WorkGroup> placed;
  std::vector<unsigned> starts, first_dones, dones;
  unsigned refused = 0;                   // One bit a slot, since the last reset.
  std::function<void()> observe = [] {};  // Called after each clock.

  uint64_t clocks() const { return cycle_; }

  void step() {
    in.cycle = cycle_++;
    out = scheduler_->step(in);
    scheduler_->snapshot();  // Lockstep compares the state inside, too.
    in = GridSchedulerInputs();
    if (out.kernel_start) starts.push_back(out.start_slot);
    if (out.first_wg_done) first_dones.push_back(out.done_slot);
    if (out.kernel_done) dones.push_back(out.done_slot);
    refused |= out.refused;
    if (out.dispatch_valid) book_dispatch();
    observe();
  }
  void steps(unsigned n) {
    while (n-- != 0) step();
  }
  void write(uint16_t address, uint64_t data) {
    in.reg = {true, false, address, data};
    step();
  }
  uint64_t read(uint16_t address) {
    in.reg = {false, true, address, 0};
    step();
    step();
    return out.reg_rdata;
  }
  void configure(unsigned units, unsigned registers_kib, unsigned lds_kib, unsigned wavefronts,
                 unsigned work_groups) {
    cus = units;
    capacity = {registers_kib, lds_kib, wavefronts};
    capacity_work_groups = work_groups;
    write(GRID_SCHEDULER_CUS_OFFSET, units);
    write(GRID_SCHEDULER_CAPACITY_OFFSET, registers_kib | uint64_t{lds_kib} << 16 |
                                              uint64_t{wavefronts} << 32 |
                                              uint64_t{work_groups} << 48);
  }
  static uint16_t at(unsigned offset, unsigned slot) {
    return static_cast<uint16_t>(offset + slot * 0x40);
  }
  // What firmware writes before a launch.
  static std::vector<std::pair<uint16_t, uint64_t>> program(unsigned slot, const Kernel& k) {
    std::vector<std::pair<uint16_t, uint64_t>> writes = {
        {at(GRID_SCHEDULER_SLOT_NEEDS_OFFSET, slot),
         k.needs.registers_kib | uint64_t{k.needs.lds_kib} << 16 |
             uint64_t{k.needs.wavefronts} << 32 | uint64_t{k.needs.tensor} << 48 |
             uint64_t{k.needs.priority} << 56},
        {at(GRID_SCHEDULER_SLOT_RANGE_OFFSET, slot), k.first | uint64_t{k.count} << 32},
        {at(GRID_SCHEDULER_SLOT_ORDER_OFFSET, slot), k.grid | uint64_t{k.start} << 32}};
    if (k.skip != 0) writes.push_back({at(GRID_SCHEDULER_SLOT_SKIP_OFFSET, slot), k.skip});
    if (k.batch != 0) {
      writes.push_back({at(GRID_SCHEDULER_SLOT_GATE_OFFSET, slot),
                        k.batch | uint64_t{k.first_position() / k.batch} << 16 |
                            uint64_t{k.first_position() % k.batch} << 32});
    }
    return writes;
  }
  void fill(unsigned slot, const Kernel& k) {
    kernels[slot] = k;
    for (const auto& [address, data] : program(slot, k)) write(address, data);
  }
  void launch(unsigned slot, const Kernel& k) {
    fill(slot, k);
    write(at(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, slot), GRID_SCHEDULER_SLOT_CONTROL_LAUNCH_MASK);
  }
  void preempt(unsigned slot, bool drain = false) {
    write(at(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, slot),
          GRID_SCHEDULER_SLOT_CONTROL_PREEMPT_MASK |
              (drain ? GRID_SCHEDULER_SLOT_CONTROL_DRAIN_MASK : 0));
  }
  // Lets work-group `i` of `resident` end with the next edge.
  void end(size_t i) {
    in.done_valid = true;
    in.done_cu = static_cast<uint8_t>(resident[i].cu);
    in.done_slot = static_cast<uint8_t>(resident[i].slot);
    in.drained_wg_id = resident[i].id;
    resident.erase(resident.begin() + static_cast<long>(i));
  }
  // The same, but it comes back undone.
  void hand_back(size_t i) {
    end(i);
    in.done_valid = false;
    in.drained_valid = true;
  }
  uint64_t slot_state(unsigned slot) {
    return read(static_cast<uint16_t>(GRID_SCHEDULER_SLOT_STATE_OFFSET_AT(slot)));
  }
  uint64_t state(unsigned slot) { return slot_state(slot) & GRID_SCHEDULER_SLOT_STATE_STATE_MASK; }
  uint64_t reason(unsigned slot) {
    return STRETTO_FIELD_GET(slot_state(slot), GRID_SCHEDULER_SLOT_STATE_REASON);
  }
  void reset() {
    scheduler_->reset();
    resident.clear();
    refused = 0;
    cus = 80;
    capacity = {256, 96, 64};
    capacity_work_groups = 32;
  }

  unsigned cus = 80;
  Needs capacity{256, 96, 64};
  unsigned capacity_work_groups = 32;
  Kernel kernels[kGridSlots];

  // Whether a work-group of the slot fits on some unit beside what is there.
  bool has_room(unsigned slot) const {
    for (unsigned cu = 0; cu < cus; ++cu)
      if (fits(cu, kernels[slot].needs, 1)) return true;
    return false;
  }

 private:
  // What is on the unit, and `more` work-groups with those needs.
  bool fits(unsigned cu, const Needs& needs, unsigned more) const {
    Needs sum{more * needs.registers_kib, more * needs.lds_kib, more * needs.wavefronts};
    unsigned work_groups = more;
    for (const WorkGroup& wg : resident) {
      if (wg.cu != cu) continue;
      sum.registers_kib += kernels[wg.slot].needs.registers_kib;
      sum.lds_kib += kernels[wg.slot].needs.lds_kib;
      sum.wavefronts += kernels[wg.slot].needs.wavefronts;
      ++work_groups;
    }
    return sum.registers_kib <= capacity.registers_kib && sum.lds_kib <= capacity.lds_kib &&
           sum.wavefronts <= capacity.wavefronts && work_groups <= capacity_work_groups;
  }
  void book_dispatch() {
    resident.push_back({out.dispatch_cu, out.dispatch_slot, out.dispatch_wg_id});
    placed.push_back(resident.back());
    if (out.dispatch_cu >= cus || !fits(out.dispatch_cu, {}, 0))
      throw CheckError("a work-group was placed where there is no room");
  }

  std::unique_ptr<GridScheduler> scheduler_;
  uint64_t cycle_ = 0;
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_COVERIFICATION_GRID_SCHEDULER_BENCH_H_
