// SPDX-License-Identifier: Apache-2.0
// Question: does the grid scheduler, RTL and reference model clock by clock equal, do what each
// rule of its README says? State space: slot states x use of the units x candidates x pipeline;
// parameters: needs, ranges, starts, priorities, number of units. Random traffic:
// grid_scheduler_random_test.cpp.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/coverification/grid_scheduler_bench.h"

namespace stretto {
namespace {

using test::Gpu;
using test::Kernel;
using test::kernel;
using test::Needs;
using test::WorkGroup;

TEST_CASE("work-groups go round the units and leave in staggered order without changing their ids",
          "[KT-BSP-04]") {
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
  Kernel k = kernel({}, 80);
  g.launch(0, k);
  CHECK(g.placed.empty());
  g.step();
  CHECK(g.placed.empty());
  g.steps(80);
  CHECK(g.placed.size() == 80);
}

TEST_CASE("each of the four resources limits a unit", "[KT-SCHED-05]") {
  struct Row {
    Needs needs;
    unsigned fit;
  };
  // Units with 256 KiB, 96 KiB, 64 wavefronts, 5 work-groups.
  for (const Row& row :
       {Row{{100, 1, 1}, 2}, Row{{1, 32, 1}, 3}, Row{{1, 1, 16}, 4}, Row{{1, 1, 1}, 5}}) {
    Gpu g;
    g.configure(3, 256, 96, 64, 5);
    Kernel k = kernel(row.needs, 100);
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
  Kernel k = kernel({}, 3);
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

TEST_CASE("as many kernels run at a time as there are slots, alone or as one pipeline") {
  for (const bool pipeline : {false, true}) {
    Gpu g;
    g.write(GRID_SCHEDULER_IRQ_ENABLE_OFFSET, uint64_t{1} << (kGridSlots - 1));
    for (unsigned slot = 0; slot < kGridSlots; ++slot) {
      Kernel k = kernel({1 + slot, 1, 1}, 3);
      k.first = 100 * slot;
      k.grid = k.first + 3;
      k.needs.priority = slot % 4;
      if (pipeline)
        g.fill(slot, k);
      else
        g.launch(slot, k);
    }
    if (pipeline) g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0xffffffff);
    g.steps(800);
    REQUIRE(g.placed.size() == 3 * kGridSlots);
    for (const WorkGroup& wg : g.placed) CHECK(wg.id / 100 == wg.slot);
    CHECK(g.read(GRID_SCHEDULER_STATUS_OFFSET) == 0xffffffff);
    while (!g.resident.empty()) {
      CHECK_FALSE(g.out.irq);
      g.end(0);
      g.step();
    }
    CHECK(g.out.irq);
    CHECK(g.dones.size() == kGridSlots);
    CHECK(g.read(GRID_SCHEDULER_DONE_OFFSET) == 0xffffffff);
    g.write(GRID_SCHEDULER_DONE_OFFSET, 0xffffffff);
    CHECK_FALSE(g.out.irq);
    CHECK(g.state(kGridSlots - 1) == GRID_SCHEDULER_SLOT_STATE_STATE_FREE);
  }
}

TEST_CASE("one kernel begins and another one ends in one clock") {
  for (unsigned clocks = 0; clocks < 4; ++clocks) {
    Gpu g;
    g.launch(5, kernel({}, 1));
    g.steps(6);
    bool together = false;
    g.observe = [&] {
      if (!g.out.kernel_start || !g.out.kernel_done) return;
      together = true;
      CHECK(g.out.start_slot == 3);
      CHECK(g.out.done_slot == 5);
      CHECK(g.out.first_wg_done);
    };
    g.launch(3, kernel({}, 1));
    g.steps(clocks);
    g.end(0);
    g.steps(6);
    CHECK(together == (clocks == 1));  // The end's own clock is the second.
    CHECK(g.starts == std::vector<unsigned>{5, 3});
    CHECK(g.dones == std::vector<unsigned>{5});
  }
}

TEST_CASE("a launch that could never be placed is refused and raises done") {
  Kernel good = kernel({10, 10, 1}, 10);
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
  Kernel low = kernel({1, 1, 8}, 100);
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
  Kernel big = kernel({200, 10, 8}, 10);
  Kernel small = kernel({50, 10, 8}, 2);
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
  Kernel k = kernel({1, 1, 8}, 2);
  g.launch(0, k);
  g.steps(5);
  REQUIRE(g.placed.size() == 1);
  g.hand_back(0);
  g.steps(5);
  CHECK(g.placed.size() == 2);
  CHECK(g.read(GRID_SCHEDULER_DRAINED_OFFSET) == 1);
  CHECK(g.read(GRID_SCHEDULER_FINISHED_OFFSET) == 0);
  CHECK(g.first_dones.empty());
}

TEST_CASE("in order of launch a kernel waits until all of the one before is placed",
          "[KT-BSP-02]") {
  Gpu g;
  g.configure(2, 256, 96, 64, 32);
  g.write(GRID_SCHEDULER_POLICY_OFFSET, GRID_SCHEDULER_POLICY_ORDER_LAUNCH);
  Kernel big = kernel({200, 10, 8}, 3);
  Kernel small = kernel({50, 10, 8}, 2);
  g.launch(3, big);
  g.launch(1, small);
  g.steps(10);
  CHECK(g.placed.size() == 2);  // KT-BSP-02: the small ones would fit.
  g.end(0);
  g.steps(10);
  CHECK(g.placed.size() == 5);
  CHECK(g.placed[2].slot == 3);
}

constexpr uint64_t kStrict = STRETTO_FIELD(GRID_SCHEDULER_POLICY_PRIORITY, 1);

// A unit holds one large work-group or eight small ones, which end one by one.
TEST_CASE("with strict priority, small kernels do not starve a large one of higher priority") {
  for (const uint64_t policy : {uint64_t{0}, kStrict}) {
    Gpu g;
    g.configure(1, 256, 96, 8, 32);
    g.write(GRID_SCHEDULER_POLICY_OFFSET, policy);
    g.launch(0, kernel({1, 1, 1, 0, 0}, 100));
    g.launch(1, kernel({1, 1, 1, 1, 2}, 1));
    g.steps(20);
    REQUIRE(g.placed.size() == 8);
    g.launch(2, kernel({1, 1, 8, 1, 3}, 1));
    g.steps(20);
    CHECK(g.out.idle);  // Who is held back costs nothing.
    unsigned ends = 0;
    for (; ends < 60 && g.placed.back().slot != 2; ++ends) {
      g.end(0);
      g.steps(12);
    }
    CHECK(ends == (policy == kStrict ? 8 : 60));
  }
}

// A small work-group on each of two units, so that a large one of slot 5 finds no room.
void hold_with_large(Gpu& g, const Kernel& large) {
  g.configure(2, 256, 96, 8, 32);
  g.write(GRID_SCHEDULER_POLICY_OFFSET, kStrict);
  g.launch(0, kernel({1, 1, 1}, 2));
  g.steps(10);
  g.launch(5, large);
  g.launch(3, kernel({1, 1, 1}, 1));
  g.steps(20);
  REQUIRE(g.placed.size() == 2);
  CHECK(g.out.idle);
}
unsigned placed_of(const Gpu& g, unsigned slot) {
  return static_cast<unsigned>(std::count_if(g.placed.begin(), g.placed.end(),
                                             [&](const WorkGroup& wg) { return wg.slot == slot; }));
}

TEST_CASE(
    "with strict priority, who is stopped, meets a gate or has placed all holds back nobody") {
  const Kernel large = kernel({1, 1, 8, 0, 1}, 1);
  Kernel gated = large;
  gated.batch = 1;
  struct Row {
    Kernel large;
    std::function<void(Gpu&)> release;
    unsigned placed_of_large;
  };
  for (const Row& row :
       {Row{large, [](Gpu& g) { g.preempt(5); }, 0}, Row{gated, [](Gpu& g) { g.end(0); }, 0},
        Row{large, [](Gpu& g) { g.end(0); }, 1},
        Row{large, [](Gpu& g) { g.write(GRID_SCHEDULER_POLICY_OFFSET, 0); }, 0}}) {
    Gpu g;
    hold_with_large(g, row.large);
    row.release(g);
    g.steps(20);
    CHECK(placed_of(g, 5) == row.placed_of_large);
    CHECK(placed_of(g, 3) == 1);
  }
}

TEST_CASE("with strict priority, a pipeline waits for a kernel above it that finds no room") {
  for (const unsigned priority : {0u, 1u, 2u, 3u}) {
    Gpu g;
    hold_with_large(g, kernel({1, 1, 8, 0, 2}, 1));
    const Kernel stage = kernel({1, 1, 1, 0, priority}, 2);
    g.fill(1, stage);
    g.fill(2, stage);
    g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x06);
    g.steps(60);
    CHECK(g.out.idle);
    CHECK(placed_of(g, 1) + placed_of(g, 2) == (priority < 2 ? 0 : 4));
    g.preempt(5);
    g.steps(60);
    CHECK(placed_of(g, 1) + placed_of(g, 2) == 4);
  }
}

TEST_CASE("two arbiters pair the classes on units, one arbiter does not", "[KT-SCHED-04]") {
  for (const bool two : {false, true}) {
    Gpu g;
    g.configure(4, 256, 96, 64, 32);
    g.write(GRID_SCHEDULER_POLICY_OFFSET,
            two ? STRETTO_FIELD(GRID_SCHEDULER_POLICY_ARBITERS, 1) : 0);
    Kernel simt = kernel({8, 8, 4}, 2);
    Kernel tensor = simt;
    tensor.needs.tensor = 1;
    g.fill(0, simt);
    g.fill(1, tensor);
    g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x03);
    g.steps(60);
    REQUIRE(g.placed.size() == 4);
    unsigned pairs = 0;  // KT-R82.
    for (const WorkGroup& a : g.placed) {
      for (const WorkGroup& b : g.placed) pairs += a.cu == b.cu && a.slot == 0 && b.slot == 1;
    }
    CHECK(pairs == (two ? 2 : 0));
  }
}

TEST_CASE("two arbiters each walk the units on their own and take turns") {
  Gpu g;
  g.configure(4, 256, 96, 64, 32);
  g.write(GRID_SCHEDULER_POLICY_OFFSET, STRETTO_FIELD(GRID_SCHEDULER_POLICY_ARBITERS, 1));
  Kernel simt = kernel({1, 1, 1}, 30);
  Kernel tensor = simt;
  tensor.needs.tensor = 1;
  g.launch(0, simt);
  g.launch(5, tensor);
  g.steps(70);
  REQUIRE(g.placed.size() == 60);
  unsigned next[2] = {0, 0};
  for (size_t i = 0; i < g.placed.size(); ++i) {
    const unsigned slot = g.placed[i].slot;
    CHECK(g.placed[i].cu == next[slot == 5]++ % 4);
    if (i > 8 && i < 50) CHECK(g.placed[i].slot != g.placed[i - 1].slot);
  }
}

TEST_CASE("a pipeline is placed as one, after waiting until all of it fits", "[KT-SCHED-01]") {
  Gpu g;
  g.configure(2, 256, 96, 16, 32);
  Kernel filler = kernel({1, 1, 8}, 1);
  g.launch(7, filler);
  g.steps(6);
  REQUIRE(g.placed.size() == 1);
  Kernel stage = filler;
  stage.count = stage.grid = 2;
  g.fill(2, stage);
  g.fill(4, stage);
  g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x14);
  g.steps(40);
  CHECK(g.placed.size() == 1);  // Three of the four would fit.
  CHECK(g.out.idle);
  CHECK(g.read(GRID_SCHEDULER_PIPELINE_OFFSET) == 0x14);
  CHECK((g.slot_state(4) & GRID_SCHEDULER_SLOT_STATE_PIPELINE_MASK) != 0);
  g.end(0);
  g.steps(40);
  REQUIRE(g.placed.size() == 5);
  for (size_t i = 1; i < 5; ++i) CHECK(g.placed[i].slot == (i < 3 ? 2 : 4));
  CHECK(g.read(GRID_SCHEDULER_PIPELINE_OFFSET) == 0);
}

TEST_CASE("a pipeline that can never be placed is refused as a whole, with the reason") {
  Kernel good = kernel({10, 10, 8}, 2);
  std::vector<std::pair<Kernel, uint64_t>> rows(5, {good, 0});
  rows[0].first.needs.lds_kib = 97;
  rows[0].second = GRID_SCHEDULER_SLOT_STATE_REASON_NEEDS;
  rows[1].first.start = 2;
  rows[1].second = GRID_SCHEDULER_SLOT_STATE_REASON_RANGE;
  rows[2].first.batch = 1;
  rows[2].second = GRID_SCHEDULER_SLOT_STATE_REASON_GATES;
  rows[3].first.count = rows[3].first.grid = 511;
  rows[3].second = GRID_SCHEDULER_SLOT_STATE_REASON_TOO_MANY;
  rows[4].first.count = rows[4].first.grid = 15;  // Two units of 8 work-groups have room for 14.
  rows[4].second = GRID_SCHEDULER_SLOT_STATE_REASON_NEVER_FITS;
  for (const auto& [bad, reason] : rows) {
    Gpu g;
    g.configure(2, 256, 96, 64, 32);
    g.fill(1, good);
    g.fill(6, bad);
    g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x42);
    g.steps(1200);
    CHECK(g.refused == 0x42);
    CHECK(g.placed.empty());
    for (const unsigned slot : {1u, 6u}) {
      CHECK(g.state(slot) == GRID_SCHEDULER_SLOT_STATE_STATE_REFUSED);
      CHECK(g.reason(slot) == reason);
    }
    CHECK(g.read(GRID_SCHEDULER_DONE_OFFSET) == 0x42);
  }
}

TEST_CASE("a pipeline that just fits the empty units is placed") {
  Gpu g;
  g.configure(2, 256, 96, 64, 32);
  Kernel stage = kernel({10, 10, 8}, 8);
  g.fill(0, stage);
  g.fill(1, stage);
  g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x03);
  g.steps(150);
  CHECK(g.placed.size() == 16);
}

// Four slots that two units take with one arbiter, and not with two: SIMT and TENSOR then meet on
// unit 0, and two large ones remain.
void launch_tight_pipeline(Gpu& g) {
  for (unsigned slot = 0; slot < 4; ++slot) {
    g.fill(slot, kernel({1, 1, slot < 2 ? 4u : 12u, slot == 1}, 1));
  }
  g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x0f);
}
constexpr uint64_t kTwoArbiters = STRETTO_FIELD(GRID_SCHEDULER_POLICY_ARBITERS, 1);

TEST_CASE("a pipeline is tried with the arbiters of its launch, whatever policy is written then") {
  for (unsigned clocks = 0; clocks < 40; ++clocks) {
    Gpu g;
    g.configure(2, 256, 96, 16, 32);
    launch_tight_pipeline(g);
    g.steps(clocks);
    g.write(GRID_SCHEDULER_POLICY_OFFSET, kTwoArbiters);
    g.steps(60);
    CHECK(g.refused == 0);
    CHECK(g.placed.size() == 4);
  }
  Gpu g;
  g.configure(2, 256, 96, 16, 32);
  g.write(GRID_SCHEDULER_POLICY_OFFSET, kTwoArbiters);
  launch_tight_pipeline(g);
  g.steps(60);
  CHECK(g.refused == 0x0f);
}

TEST_CASE("a pipeline that waits fits the empty machine whatever policy was written meanwhile") {
  Gpu g;
  g.configure(2, 256, 96, 16, 32);
  g.launch(7, kernel({1, 1, 8}, 1));
  g.steps(6);
  REQUIRE(g.placed.size() == 1);
  launch_tight_pipeline(g);
  g.steps(40);
  CHECK(g.placed.size() == 1);
  g.write(GRID_SCHEDULER_POLICY_OFFSET, kTwoArbiters);
  g.end(0);
  g.steps(40);
  CHECK(g.placed.size() == 5);
}

TEST_CASE("a pipeline of all the work-groups that a pipeline may have is placed, one more is not") {
  for (const unsigned more : {0u, 1u}) {
    Gpu g;
    g.configure(160, 256, 96, 64, 32);
    g.fill(1, kernel({1, 1, 1}, kGridPipelineEntries - 12));
    g.fill(2, kernel({1, 1, 1}, 12 + more));
    g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x06);
    g.steps(3 * kGridPipelineEntries + 100);
    CHECK(g.refused == (more == 0 ? 0 : 0x06));
    CHECK(g.placed.size() == (more == 0 ? kGridPipelineEntries : 0));
  }
}

TEST_CASE("a kernel launched while a pipeline is checked is no part of the pipeline") {
  Gpu g;
  g.configure(160, 256, 96, 64, 32);
  for (const unsigned slot : {1u, 2u}) {
    g.fill(slot, kernel({1, 1, 8}, kGridPipelineEntries / 2));
  }
  g.fill(3, kernel({1, 1, 8}, 1));
  g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x06);
  g.step();
  g.write(Gpu::at(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, 3), GRID_SCHEDULER_SLOT_CONTROL_LAUNCH_MASK);
  g.steps(3 * kGridPipelineEntries + 100);
  CHECK(g.refused == 0);
  CHECK(g.placed.size() == kGridPipelineEntries + 1);
}

TEST_CASE("a slot whose work-groups end while its pipeline is being placed can be launched again") {
  Gpu g;
  Kernel k;
  k.needs = {1, 1, 1};
  g.fill(0, k);
  k.count = k.grid = 80;
  g.fill(1, k);
  g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x03);
  while (g.placed.empty()) g.step();
  g.end(0);
  g.step();
  CHECK(g.dones == std::vector<unsigned>{0});
  g.write(GRID_SCHEDULER_DONE_OFFSET, 0x01);
  k.count = k.grid = 0;  // Refused, and no other with it.
  g.launch(0, k);
  CHECK(g.refused == 0x01);
  g.steps(100);
  CHECK(g.placed.size() == 81);
}

TEST_CASE("a second pipeline, or one with a slot in use, is refused as busy") {
  Gpu g;
  g.configure(1, 256, 96, 8, 32);
  Kernel k = kernel({1, 1, 8}, 1);
  g.launch(0, k);
  g.steps(5);
  for (const unsigned slot : {1u, 2u, 3u}) g.fill(slot, k);
  g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x02);
  g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x04);
  g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x09);
  g.step();
  CHECK(g.refused == 0x0c);
  CHECK(g.reason(2) == GRID_SCHEDULER_SLOT_STATE_REASON_BUSY);
  CHECK(g.reason(3) == GRID_SCHEDULER_SLOT_STATE_REASON_BUSY);
  CHECK(g.state(0) == GRID_SCHEDULER_SLOT_STATE_STATE_RUNNING);
}

TEST_CASE("a waiting pipeline holds back lower priorities and no others") {
  for (const unsigned priority : {0u, 1u}) {
    Gpu g;
    g.configure(2, 256, 96, 16, 32);
    Kernel k = kernel({1, 1, 8}, 1);
    g.launch(0, k);
    g.steps(5);
    k.needs.priority = priority;
    k.count = k.grid = 4;
    g.fill(1, k);
    g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x02);
    g.steps(30);
    k.needs.priority = 0;
    k.count = k.grid = 1;
    g.launch(2, k);
    g.steps(30);
    CHECK(g.placed.size() == (priority == 0 ? 2 : 1));
  }
}

TEST_CASE("a preempted kernel places nothing more, and a launch with skip resumes it") {
  Gpu g;
  g.configure(2, 256, 96, 16, 32);
  Kernel k;
  k.needs = {1, 1, 8};
  k.first = 20;
  k.count = 10;
  k.grid = 30;
  k.start = 7;
  g.launch(3, k);
  g.steps(10);
  REQUIRE(g.placed.size() == 4);
  g.preempt(3);
  CHECK_FALSE(g.out.preempt_valid);
  g.end(0);
  g.steps(10);
  CHECK(g.placed.size() == 4);
  CHECK(g.dones.empty());
  for (int i = 0; i < 3; ++i) {
    g.end(0);
    g.step();
  }
  CHECK(g.dones == std::vector<unsigned>{3});
  const uint64_t state = g.slot_state(3);
  CHECK(STRETTO_FIELD_GET(state, GRID_SCHEDULER_SLOT_STATE_STATE) ==
        GRID_SCHEDULER_SLOT_STATE_STATE_DONE);
  CHECK(STRETTO_FIELD_GET(state, GRID_SCHEDULER_SLOT_STATE_PREEMPTED) == 1);
  CHECK(STRETTO_FIELD_GET(state, GRID_SCHEDULER_SLOT_STATE_UNDISPATCHED) == 6);
  g.write(GRID_SCHEDULER_DONE_OFFSET, 0x08);
  k.skip = 10 - 6;
  g.launch(3, k);
  for (int i = 0; i < 40; ++i) {
    if (!g.resident.empty() && i % 4 == 0) g.end(0);
    g.step();
  }
  REQUIRE(g.placed.size() == 10);
  for (unsigned i = 0; i < 10; ++i) CHECK(g.placed[i].id == 20 + (7 + i) % 10);
}

TEST_CASE("drained work-groups are reported by id, and the units are asked for them") {
  Gpu g;
  Kernel k = kernel({}, 4);
  g.launch(1, k);
  g.steps(10);
  g.preempt(1, true);
  CHECK(g.out.preempt_valid);
  CHECK(g.out.preempt_slot == 1);
  g.hand_back(2);
  g.step();
  g.hand_back(0);
  g.step();
  for (const uint64_t id : {2u, 0u}) {
    CHECK(g.read(GRID_SCHEDULER_RETURNED_OFFSET) ==
          (GRID_SCHEDULER_RETURNED_VALID_MASK | uint64_t{1} << 32 | id));
    g.write(GRID_SCHEDULER_RETURNED_TAKE_OFFSET, 0);
  }
  CHECK(g.read(GRID_SCHEDULER_RETURNED_OFFSET) == 0);
}

TEST_CASE("a preempted kernel without work-groups on units ends at once") {
  Gpu g;
  Kernel k;
  k.batch = 1;
  g.launch(1, k);
  g.steps(5);
  CHECK((g.slot_state(1) & GRID_SCHEDULER_SLOT_STATE_CLOSED_MASK) != 0);
  g.preempt(1);
  g.steps(2);
  CHECK(g.dones == std::vector<unsigned>{1});
  CHECK(g.placed.empty());
}

TEST_CASE("a stopped member stops the pipeline that waits") {
  Gpu g;
  g.configure(1, 256, 96, 8, 32);
  Kernel k;
  k.needs = {1, 1, 8};
  g.launch(0, k);
  g.steps(5);
  k.needs.wavefronts = 4;
  g.fill(1, k);
  g.fill(2, k);
  g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 0x06);
  g.steps(30);
  g.preempt(2);
  g.steps(10);
  CHECK(g.dones.size() == 2);
  CHECK(g.read(GRID_SCHEDULER_PIPELINE_OFFSET) == 0);
  CHECK(g.placed.size() == 1);
}

TEST_CASE("a stopped kernel is over while work-groups of others leave in each clock") {
  Gpu g;
  g.launch(0, kernel({}, 200));
  Kernel gated;
  gated.batch = 1;
  g.launch(1, gated);
  g.steps(100);
  g.end(0);  // The first one is a report of its own.
  g.step();
  g.end(0);
  g.preempt(1);
  for (unsigned i = 0; i < 3; ++i) {
    g.end(0);
    g.step();
  }
  CHECK(g.dones == std::vector<unsigned>{1});
}

// Seven kernels of one work-group end in seven clocks, in which five kernels and the pipeline are stopped. So their
// reports come one after the other in the clocks behind.
TEST_CASE("a pipeline that was stopped holds back nobody, even if its end is reported later") {
  Gpu g;
  g.configure(1, 256, 96, 16, 32);
  for (unsigned slot = 10; slot < 17; ++slot) g.launch(slot, kernel({}, 1));
  Kernel gated;
  gated.batch = 1;
  for (unsigned slot = 1; slot < 6; ++slot) g.launch(slot, gated);
  g.steps(20);
  g.fill(20, kernel({1, 1, 8, 0, 1}, 2));
  g.write(GRID_SCHEDULER_PIPELINE_OFFSET, 1 << 20);
  g.steps(30);
  g.launch(0, kernel({}, 3));
  g.steps(30);
  CHECK(g.placed.size() == 7);
  for (const unsigned slot : {20u, 1u, 2u, 3u, 4u, 5u}) {
    g.end(0);
    g.preempt(slot);
  }
  g.steps(20);
  CHECK(g.placed.size() == 10);
  CHECK(std::vector(g.dones.end() - 6, g.dones.end()) == std::vector<unsigned>{1, 2, 3, 4, 5, 20});
}

TEST_CASE("a gated work-group waits for its own gate, in the slot's order") {
  Gpu g;
  Kernel k;
  k.first = 8;
  k.count = 6;
  k.grid = 14;
  k.start = 3;
  k.batch = 2;  // Positions 3, 4 5, 0 1, 2 wait for the gates 1, 2, 0, 1.
  g.launch(0, k);
  g.steps(10);
  CHECK(g.placed.empty());
  CHECK(g.out.idle);
  g.in.event_valid = true;
  g.in.event_gate = 2;
  g.steps(10);
  CHECK(g.placed.empty());
  g.write(GRID_SCHEDULER_GATE_SET_OFFSET, 1);
  g.steps(10);
  CHECK(g.placed.size() == 3);
  g.in.event_valid = true;
  g.in.event_gate = 0;
  g.steps(10);
  REQUIRE(g.placed.size() == 6);
  for (unsigned i = 0; i < 6; ++i) CHECK(g.placed[i].id == 8 + (3 + i) % 6);
}

TEST_CASE("every gate can be opened by an event and by firmware, and opens no other one") {
  for (const bool event : {false, true}) {
    Gpu g;
    Kernel k = kernel({}, kGridGates);
    k.batch = 1;
    k.start = 500;  // Position p waits for gate p: 500, 501, ..., 1023, 0, ..., 499.
    g.configure(160, 256, 96, 64, 32);
    g.launch(0, k);
    g.steps(10);
    for (unsigned i = 0; i < kGridGates; ++i) {
      CHECK(g.placed.size() == i);
      const auto gate = static_cast<uint16_t>((500 + i) % kGridGates);
      if (event) {
        g.in.event_valid = true;
        g.in.event_gate = gate;
      } else {
        g.in.reg = {true, false, GRID_SCHEDULER_GATE_SET_OFFSET, gate};
      }
      g.steps(5);
    }
    REQUIRE(g.placed.size() == kGridGates);
    CHECK(g.placed.back().id == 499);
  }
}

TEST_CASE("gates that were opened before the launch count until they are closed") {
  for (const bool close : {false, true}) {
    Gpu g;
    g.write(GRID_SCHEDULER_GATE_SET_OFFSET, 5);
    if (close) g.write(GRID_SCHEDULER_GATE_CLEAR_OFFSET, 0);
    Kernel k = kernel({}, 6);
    k.start = 5;
    k.batch = 1;
    g.launch(0, k);
    g.steps(10);
    CHECK(g.placed.size() == (close ? 0 : 1));
  }
}

TEST_CASE("the use of a unit can be read") {
  Gpu g;
  Kernel k = kernel({100, 20, 3}, 82);
  g.launch(0, k);
  g.steps(90);
  CHECK(g.read(static_cast<uint16_t>(GRID_SCHEDULER_UNIT_USE_OFFSET_AT(1))) ==
        (200 | uint64_t{40} << 16 | uint64_t{6} << 32 | uint64_t{2} << 48));
  CHECK(g.read(static_cast<uint16_t>(GRID_SCHEDULER_UNIT_USE_OFFSET_AT(2))) ==
        (100 | uint64_t{20} << 16 | uint64_t{3} << 32 | uint64_t{1} << 48));
  CHECK(g.read(static_cast<uint16_t>(GRID_SCHEDULER_UNIT_USE_OFFSET_AT(80))) == 0);
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
