// SPDX-License-Identifier: Apache-2.0
// Question: do the grid scheduler's RTL and its reference model agree clock by clock, and is every
// work-group placed exactly once, in staggered order, on a unit with room? State space: slot states
// x use of the units x candidates; parameters: needs, ranges, starts, priorities, number of units.
// The bench is the GPU: it keeps its own books of what is on each unit and ends work-groups at
// random.
#include <catch2/catch.hpp>

#include <set>
#include <vector>

#include "models/common/error.h"
#include "platform/adapters/rtl_blocks.h"
#include "sw/include/regs/grid_scheduler_regs.h"
#include "tests/support/seeded_rng.h"

namespace stretto {
namespace {

struct Needs {
  unsigned registers_kib = 0, lds_kib = 0, wavefronts = 1, tensor = 0, priority = 0;
};
struct Kernel {
  Needs needs;
  unsigned first = 0, count = 1, grid = 1, start = 0;
};
struct WorkGroup {
  unsigned cu, slot, id;
};

class Gpu {
 public:
  explicit Gpu(Impl impl = Impl::lockstep)
      : scheduler_(make_grid_scheduler(impl, "test.scheduler")) {}

  GridSchedulerInputs in;
  GridSchedulerOutputs out;
  std::vector<WorkGroup> resident;
  std::vector<WorkGroup> placed;
  std::vector<unsigned> starts, first_dones, dones;

  void step() {
    in.cycle = cycle_++;
    out = scheduler_->step(in);
    in = GridSchedulerInputs();
    if (out.kernel_start) starts.push_back(out.start_slot);
    if (out.first_wg_done) first_dones.push_back(out.done_slot);
    if (out.kernel_done) dones.push_back(out.done_slot);
    if (!out.dispatch_valid) return;
    resident.push_back({out.dispatch_cu, out.dispatch_slot, out.dispatch_wg_id});
    placed.push_back(resident.back());
    Needs sum;
    sum.wavefronts = 0;
    unsigned work_groups = 0;
    for (const WorkGroup& wg : resident) {
      if (wg.cu != out.dispatch_cu) continue;
      sum.registers_kib += kernels[wg.slot].needs.registers_kib;
      sum.lds_kib += kernels[wg.slot].needs.lds_kib;
      sum.wavefronts += kernels[wg.slot].needs.wavefronts;
      ++work_groups;
    }
    if (sum.registers_kib > capacity.registers_kib || sum.lds_kib > capacity.lds_kib ||
        sum.wavefronts > capacity.wavefronts || work_groups > capacity_work_groups ||
        out.dispatch_cu >= cus) {
      throw CheckError("a work-group was placed where there is no room");
    }
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
  void launch(unsigned slot, const Kernel& k) {
    kernels[slot] = k;
    const auto at = [slot](unsigned offset) { return static_cast<uint16_t>(offset + slot * 0x40); };
    write(at(GRID_SCHEDULER_SLOT_NEEDS_OFFSET),
          k.needs.registers_kib | uint64_t{k.needs.lds_kib} << 16 |
              uint64_t{k.needs.wavefronts} << 32 | uint64_t{k.needs.tensor} << 48 |
              uint64_t{k.needs.priority} << 56);
    write(at(GRID_SCHEDULER_SLOT_RANGE_OFFSET), k.first | uint64_t{k.count} << 32);
    write(at(GRID_SCHEDULER_SLOT_ORDER_OFFSET), k.grid | uint64_t{k.start} << 32);
    write(at(GRID_SCHEDULER_SLOT_CONTROL_OFFSET), 1);
  }
  // Lets work-group `i` of `resident` end with the next edge.
  void end(size_t i) {
    in.done_valid = true;
    in.done_cu = static_cast<uint8_t>(resident[i].cu);
    in.done_slot = static_cast<uint8_t>(resident[i].slot);
    resident.erase(resident.begin() + static_cast<long>(i));
  }
  uint64_t state(unsigned slot) {
    return read(static_cast<uint16_t>(GRID_SCHEDULER_SLOT_STATE_OFFSET_AT(slot))) &
           GRID_SCHEDULER_SLOT_STATE_STATE_MASK;
  }
  void reset() {
    scheduler_->reset();
    resident.clear();
    cus = 80;
    capacity = {256, 96, 64};
    capacity_work_groups = 32;
  }

  unsigned cus = 80;
  Needs capacity{256, 96, 64};
  unsigned capacity_work_groups = 32;
  Kernel kernels[kGridSlots];

 private:
  std::unique_ptr<GridScheduler> scheduler_;
  uint64_t cycle_ = 0;
};

TEST_CASE(
    "work-groups go round the units and leave in staggered order without changing their ids") {
  Gpu g;
  g.configure(4, 256, 96, 64, 32);
  Kernel k;
  k.needs = {64, 0, 8};
  k.first = 100;
  k.count = 10;
  k.grid = 110;
  k.start = 7;
  g.launch(2, k);
  g.steps(20);
  REQUIRE(g.placed.size() == 10);
  for (unsigned i = 0; i < 10; ++i) {
    CHECK(g.placed[i].id == 100 + (7 + i) % 10);
    CHECK(g.placed[i].cu == i % 4);
    CHECK(g.placed[i].slot == 2);
  }
  CHECK(g.starts == std::vector<unsigned>{2});
  CHECK(g.out.idle);
}

TEST_CASE("one work-group is placed a clock, the first two clocks after the launch") {
  Gpu g;
  Kernel k;
  k.count = k.grid = 80;
  g.launch(0, k);
  CHECK(g.placed.empty());
  g.step();
  CHECK(g.placed.empty());
  g.steps(80);
  CHECK(g.placed.size() == 80);
}

TEST_CASE("each of the four resources limits a unit") {
  struct Row {
    Needs needs;
    unsigned fit;
  };
  // Units with 256 KiB, 96 KiB, 64 wavefronts, 5 work-groups.
  for (const Row& row :
       {Row{{100, 1, 1}, 2}, Row{{1, 32, 1}, 3}, Row{{1, 1, 16}, 4}, Row{{1, 1, 1}, 5}}) {
    Gpu g;
    g.configure(3, 256, 96, 64, 5);
    Kernel k;
    k.needs = row.needs;
    k.count = k.grid = 100;
    g.launch(0, k);
    g.steps(60);
    CHECK(g.placed.size() == 3 * row.fit);
    CHECK(g.out.idle);
    g.end(0);
    g.steps(4);
    CHECK(g.placed.size() == 3 * row.fit + 1);
  }
}

TEST_CASE(
    "first_wg_done and kernel_done come with the edge that takes the first and the last end") {
  Gpu g;
  Kernel k;
  k.count = k.grid = 3;
  g.launch(1, k);
  g.write(GRID_SCHEDULER_IRQ_ENABLE_OFFSET, 0x02);
  g.steps(10);
  g.end(2);
  g.step();
  CHECK(g.out.first_wg_done);
  CHECK(g.out.done_slot == 1);
  g.end(0);
  g.step();
  CHECK_FALSE(g.out.first_wg_done);
  CHECK_FALSE(g.out.kernel_done);
  CHECK_FALSE(g.out.irq);
  g.end(0);
  g.step();
  CHECK(g.out.kernel_done);
  CHECK(g.out.irq);
  CHECK(g.state(1) == GRID_SCHEDULER_SLOT_STATE_STATE_DONE);
  g.write(GRID_SCHEDULER_DONE_OFFSET, 0xff);
  CHECK_FALSE(g.out.irq);
  CHECK(g.state(1) == GRID_SCHEDULER_SLOT_STATE_STATE_FREE);
}

TEST_CASE("a launch that could never be placed is refused and raises done") {
  Kernel good;
  good.needs = {10, 10, 1};
  good.count = good.grid = 10;
  std::vector<Kernel> bad(7, good);
  bad[0].needs.registers_kib = 257;
  bad[1].needs.lds_kib = 97;
  bad[2].needs.wavefronts = 65;
  bad[3].count = 0;
  bad[4].first = 1;
  bad[5].start = 10;
  bad[6].first = 0xffffffff;
  for (const Kernel& k : bad) {
    Gpu g;
    g.launch(3, k);
    CHECK(g.state(3) == GRID_SCHEDULER_SLOT_STATE_STATE_REFUSED);
    CHECK(g.read(GRID_SCHEDULER_DONE_OFFSET) == 0x08);
    g.write(GRID_SCHEDULER_DONE_OFFSET, 0x08);
    g.launch(3, good);
    g.steps(20);
    CHECK(g.placed.size() == 10);
  }
}

TEST_CASE("the higher priority is served first and equals take turns") {
  Gpu g;
  g.configure(1, 256, 96, 8, 32);
  Kernel low;
  low.needs = {1, 1, 8};
  low.count = low.grid = 100;
  g.launch(0, low);
  g.steps(4);  // Fills the unit.
  Kernel high = low;
  high.needs.priority = 2;
  g.launch(4, high);
  g.launch(5, high);
  g.placed.clear();
  for (int i = 0; i < 6; ++i) {
    g.end(0);
    g.steps(12);
  }
  REQUIRE(g.placed.size() == 6);
  CHECK(g.placed[0].slot != g.placed[1].slot);
  for (const WorkGroup& wg : g.placed) CHECK(wg.slot >= 4);
}

TEST_CASE("a small kernel runs beside a big one that does not fit") {
  Gpu g;
  g.configure(2, 256, 96, 64, 32);
  Kernel big;
  big.needs = {200, 10, 8};
  big.count = big.grid = 10;
  Kernel small;
  small.needs = {50, 10, 8};
  small.count = small.grid = 2;
  g.launch(0, big);
  g.steps(10);
  CHECK(g.placed.size() == 2);
  g.launch(1, small);
  g.steps(10);
  CHECK(g.placed.size() == 4);
}

TEST_CASE("a drained work-group frees its unit and is not counted as finished") {
  Gpu g;
  g.configure(1, 256, 96, 8, 32);
  Kernel k;
  k.needs = {1, 1, 8};
  k.count = k.grid = 2;
  g.launch(0, k);
  g.steps(5);
  REQUIRE(g.placed.size() == 1);
  g.end(0);
  g.in.done_valid = false;
  g.in.drained_valid = true;
  g.steps(5);
  CHECK(g.placed.size() == 2);
  CHECK(g.read(GRID_SCHEDULER_DRAINED_OFFSET) == 1);
  CHECK(g.read(GRID_SCHEDULER_FINISHED_OFFSET) == 0);
  CHECK(g.first_dones.empty());
}

// Random kernels on all slots; `checks` work-groups are seen exactly once a launch.
void random_run(uint64_t salt, unsigned clocks, bool resets) {
  test::print_seed();
  Gpu g;
  test::Rng rng(salt);
  std::multiset<unsigned> seen[kGridSlots];
  unsigned launched = 0;
  unsigned finished = 0;
  bool busy[kGridSlots] = {};
  unsigned end_chance = 4;
  for (unsigned i = 0; i < clocks; ++i) {
    if (resets && rng.chance(1, 5000)) {
      g.reset();
      for (auto& s : seen) s.clear();
      for (bool& b : busy) b = false;
    }
    if (rng.chance(1, 500)) {
      end_chance = static_cast<unsigned>(rng.below(17));
      bool any = false;
      for (const bool b : busy) any = any || b;
      if (!any) {
        g.configure(static_cast<unsigned>(rng.between(1, 160)),
                    static_cast<unsigned>(rng.between(60, 1023)),
                    static_cast<unsigned>(rng.between(60, 1023)),
                    static_cast<unsigned>(rng.between(16, 255)),
                    static_cast<unsigned>(rng.between(1, 63)));
      }
    }
    const auto slot = static_cast<unsigned>(rng.below(kGridSlots));
    if (!busy[slot] && rng.chance(1, 40)) {
      Kernel k;
      k.needs = {static_cast<unsigned>(rng.below(60)), static_cast<unsigned>(rng.below(60)),
                 static_cast<unsigned>(rng.between(1, 16)), static_cast<unsigned>(rng.below(2)),
                 static_cast<unsigned>(rng.below(4))};
      k.count = static_cast<unsigned>(rng.between(1, rng.chance(1, 5) ? 2000 : 50));
      k.first = static_cast<unsigned>(rng.below(1000));
      k.grid = k.first + k.count + static_cast<unsigned>(rng.below(3));
      k.start = static_cast<unsigned>(rng.below(k.count));
      const size_t before = g.placed.size();
      g.launch(slot, k);
      for (size_t p = before; p < g.placed.size(); ++p)
        seen[g.placed[p].slot].insert(g.placed[p].id);
      busy[slot] = true;
      ++launched;
    }
    if (!g.resident.empty() && rng.chance(end_chance, 16)) g.end(rng.below(g.resident.size()));
    if (rng.chance(1, 20)) {
      const auto address =
          static_cast<uint16_t>(rng.chance(1, 2) ? rng.below(10) * 8 : 0x200 + rng.below(64) * 8);
      g.in.reg = {false, true, address, 0};
    }
    const size_t before = g.placed.size();
    const size_t dones = g.dones.size();
    g.step();
    if (g.placed.size() != before) seen[g.placed.back().slot].insert(g.placed.back().id);
    if (g.dones.size() != dones) {
      const unsigned done = g.dones.back();
      const Kernel& k = g.kernels[done];
      std::multiset<unsigned> expected;
      for (unsigned n = 0; n < k.count; ++n) expected.insert(k.first + n);
      REQUIRE(seen[done] == expected);
      seen[done].clear();
      busy[done] = false;
      ++finished;
      const size_t mark = g.placed.size();
      g.write(GRID_SCHEDULER_DONE_OFFSET, 1u << done);
      for (size_t p = mark; p < g.placed.size(); ++p) seen[g.placed[p].slot].insert(g.placed[p].id);
    }
  }
  CHECK(launched > 20);
  CHECK(finished > 10);
}

TEST_CASE(
    "grid scheduler RTL and model agree in 100000 random clocks and place every work-group once") {
  random_run(61, 100000, false);
}

TEST_CASE("grid scheduler RTL and model agree with resets in mid-flight") {
  random_run(62, 30000, true);
}

// Flips one output in one clock.
class CorruptScheduler final : public GridScheduler {
 public:
  explicit CorruptScheduler(std::unique_ptr<GridScheduler> inner) : inner_(std::move(inner)) {}
  void reset() override { inner_->reset(); }
  GridSchedulerOutputs step(const GridSchedulerInputs& in) override {
    GridSchedulerOutputs out = inner_->step(in);
    if (in.cycle == 5) out.dispatch_cu ^= 4;
    return out;
  }

 private:
  std::unique_ptr<GridScheduler> inner_;
};

TEST_CASE("grid scheduler lockstep stops at a corrupted output") {
  const auto scheduler =
      make_lockstep(std::make_unique<CorruptScheduler>(make_grid_scheduler(Impl::rtl, "")),
                    make_grid_scheduler(Impl::model, ""), "gpu2.grid_scheduler");
  GridSchedulerInputs in;
  for (in.cycle = 0; in.cycle < 5; ++in.cycle) scheduler->step(in);
  CHECK_THROWS_WITH(scheduler->step(in),
                    Catch::Contains("lockstep: grid_scheduler gpu2.grid_scheduler, cycle 5: "
                                    "dispatch_cu: rtl 0x4, model 0x0"));
}

}  // namespace
}  // namespace stretto
