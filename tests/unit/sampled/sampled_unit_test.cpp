// SPDX-License-Identifier: Apache-2.0
// Question: do bodies last as long as a table says, by what is resident, whatever the order of calls
// and windows; and does preemption stay what it is? State space: kernels side by side x residency x
// preemption. Tables are made up, so that expected times are worked out by hand.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <set>

#include "tests/unit/gpu/program.h"
#include "tests/unit/sampled/sampled_bench.h"

using namespace stretto;
using namespace stretto::test;

namespace {

constexpr Time kBody = 70 * kMicrosecond;  // 98,000 clocks of 1.4 GHz.

// A body of this time, alone or not, and what it uses.
BodyTimes constant(Time time, BodyDemand demand = {}) {
  BodyTimes one;
  one.points = {{100, 0, 1000, 4000, time}};
  std::vector<Time> all(64, time);
  one.launches.push_back({time, TimeDistribution::of(all), {}});
  one.demand = demand;
  return one;
}

GpuSpec slow_start(uint32_t cycles) {
  GpuSpec spec = GpuMachine::small();
  spec.start_cycles = cycles;
  return spec;
}

struct Bench {
  explicit Bench(uint32_t groups = 4, uint32_t start_cycles = 32)
      : machine(slow_start(start_cycles)), sampled(machine) {
    program.addi(1, 0, 0).end();
    program.put_into(machine);
    launch = program.launch();
    launch.workgroups = groups;
    launch.registers_bytes = 64 * 1024;  // Four on a unit.
    launch.lds_bytes = 0;
  }
  void sample(const BodyTimes& times, SampledSpec spec = {}) {
    BodyTable table;
    table.kernels[sampled.key_of(launch)] = times;
    sampled.sample(table, spec);
  }
  Time run() {
    machine.launch(launch);
    return machine.run();
  }

  GpuMachine machine;
  SampledBench sampled;
  Program program;
  Launch launch;
};

// Its work-groups execute 6,000 instructions, four on a unit at once.
void keep_busy(Bench& b) {
  Program busy;
  busy.constant(6, 3000).addi(6, 6, -1).bnez(6, -1).end();
  b.machine.load_words(busy.words);
  busy.put_into(b.machine);
  const uint32_t workgroups = b.launch.workgroups;
  b.launch = busy.launch();
  b.launch.workgroups = workgroups;
  b.launch.registers_bytes = 64 * 1024;
  b.launch.lds_bytes = 0;
}

// Within the clocks that dispatches and ends take.
bool lasts(Time time, Time wanted) { return time >= wanted && time < wanted + kMicrosecond / 5; }

}  // namespace

TEST_CASE("a body lasts as long as its table says") {
  Bench b;
  b.sample(constant(kBody));
  REQUIRE(lasts(b.run(), kBody));
  REQUIRE(b.sampled.statistic("bodies") == 4);
  REQUIRE(b.machine.gpu.instructions() == 0);
  REQUIRE(b.sampled.violations() == 0);
}

TEST_CASE("waves of a kernel follow each other") {
  Bench b(40);  // 16 at a time.
  b.sample(constant(kBody));
  const Time end = b.run();
  REQUIRE(end >= 3 * kBody);
  REQUIRE(end < 3 * kBody + kMicrosecond);
}

TEST_CASE("bodies that share a pipe take as long as it needs for all of them") {
  Bench b(16);  // Four on each unit, half of the tensor pipe each: twice the time.
  b.sample(constant(kBody, {.tensor_cycles = 49'000}));
  REQUIRE(lasts(b.run(), 2 * kBody));
  REQUIRE(b.sampled.violations() == 0);
}

TEST_CASE("the longer of a unit's and the memory's share counts") {
  // Four alone have 4 * 22.5 MB in 70 us, 1.286 MB/us of 0.45, the limit where nobody had more.
  Bench b(4);
  BodyTimes times = constant(kBody, {.hbm_read_bytes = 22'500'000});
  times.points.push_back({0, 1, 1000, 1000, kBody});
  times.points[0].groups_milli = 1000;
  b.sample(times);
  const Time end = b.run();
  REQUIRE(end > kBody * 285 / 100);
  REQUIRE(end < kBody * 290 / 100);
  REQUIRE(b.sampled.violations() == 0);
}

// Ends of two launches, one beside the other.
std::array<Time, 2> ends_of(BodyDemand first, BodyDemand other_demand, SampledSpec spec = {}) {
  Bench b(4);
  Program other;
  other.addi(2, 0, 0).addi(2, 0, 0).end();
  b.machine.load_words(other.words, kCode + 0x4000);
  b.launch.registers_bytes = 160 * 1024;  // One of each on each unit.
  Launch second = b.launch;
  second.registers_bytes = 64 * 1024;
  second.entry = second.code_base = kCode + 0x4000;
  BodyTable table;
  table.kernels[b.sampled.key_of(b.launch)] = constant(kBody, first);
  table.kernels[b.sampled.key_of(second)] = constant(kBody, other_demand);
  b.sampled.sample(table, spec);
  b.machine.launch(b.launch, 0);
  b.machine.launch(second, 1);
  Time first_end = 0, end = 0;
  b.machine.gpu.front_end.on_kernel([&](bool ended, uint8_t, Time at) {
    if (ended) (first_end == 0 ? first_end : end) = at;
  });
  b.machine.run();
  REQUIRE(b.sampled.violations() == 0);
  return {first_end, end};
}

TEST_CASE("a kernel that asks for little waits behind one that fills the pipe") {
  const auto [first, last] = ends_of({.tensor_cycles = 98'000}, {.tensor_cycles = 9'800});
  // For each tenth of its time that it uses the pipe it waits as long; the other one for a tenth.
  REQUIRE(lasts(first, kBody * 110 / 100));
  REQUIRE(lasts(last, kBody * 110 / 100));
}

TEST_CASE("what launches lengthen each other can be multiplied") {
  // All of the pipe for each: twice the time, and 250 % of what is beyond once.
  const BodyDemand pipe{.tensor_cycles = 98'000};
  const auto [first, last] = ends_of(pipe, pipe, {.contention_percent = 250});
  REQUIRE(lasts(first, kBody * 350 / 100));
  REQUIRE(lasts(last, kBody * 350 / 100));
}

// Each has 0.3 MB/us of the memory's 0.45: together 0.6, a third more time, and in steps of 1 %.
constexpr BodyDemand kTwoThirds{.hbm_read_bytes = 5'250'000};

TEST_CASE("launches lengthen each other by what they share of the memory") {
  REQUIRE(ends_of(kTwoThirds, kTwoThirds)[0] == Approx(kBody * 1.333).epsilon(0.02));
}
TEST_CASE("what launches lengthen each other by in the memory can be multiplied") {
  REQUIRE(ends_of(kTwoThirds, kTwoThirds, {.contention_percent = 250})[0] ==
          Approx(kBody * 1.833).epsilon(0.02));
}

TEST_CASE("a launch by itself takes what was measured, whatever launches lengthen each other") {
  Bench b(16);
  b.sample(constant(kBody, {.tensor_cycles = 49'000}), {.contention_percent = 250});
  REQUIRE(lasts(b.run(), 2 * kBody));
}

TEST_CASE(
    "bodies that work faster than they may break the laws, however short their share of a run") {
  Bench b(16);
  b.machine.queue.run_until(1'000 * kMicrosecond);  // Nothing, for long.
  b.sample(constant(kBody, {.tensor_cycles = 49'000}), {.fault_rate = 3});
  b.run();
  REQUIRE(b.sampled.violations() == 2 * b.machine.spec.cus);  // Peak and speed of each unit.
}

TEST_CASE("bodies that use nothing are no faster than alone either") {
  Bench b(16);
  b.sample(constant(kBody), {.fault_rate = 2});
  b.run();
  REQUIRE(b.sampled.violations() == b.machine.spec.cus);
}

TEST_CASE("a kernel without times in the table names its key") {
  Bench b;
  const std::string key = b.sampled.key_of(b.launch);
  b.sampled.sample({});
  b.machine.launch(b.launch);
  REQUIRE_THROWS_WITH(b.machine.run(), Catch::Matchers::Contains(key));
}

TEST_CASE("equal arguments at other addresses make the same kernel, other values another one") {
  Bench b;
  b.machine.map(kNode + 0x200000, 0x100000);
  const auto key = [&](uint64_t first, uint64_t second, uint64_t size) {
    const std::array<uint64_t, 3> arguments{first, second, size};
    b.machine.load_arguments(arguments);
    b.launch.kernarg_bytes = sizeof arguments;
    return b.sampled.key_of(b.launch);
  };
  const uint64_t at = kNode + 0x200000;
  const std::string one = key(at, at + 0x1000, 64);
  REQUIRE(key(at + 0x2000, at + 0x8000, 64) == one);
  REQUIRE(key(at, at, 64) != one);
  REQUIRE(key(at, at + 0x1010, 64) != one);
  REQUIRE(key(at, at + 0x1000, 65) != one);
  REQUIRE(key(kNode + 0x900000, at + 0x1000, 64) != one);
}

TEST_CASE("a kernel is the same wherever it is loaded") {
  Bench b;
  const std::string one = b.sampled.key_of(b.launch);
  b.machine.load_words(b.program.words, kCode + 0x100000);
  b.launch.entry += 0x100000;
  b.launch.code_base += 0x100000;
  REQUIRE(b.sampled.key_of(b.launch) == one);
}

TEST_CASE("work-groups that have not begun leave at once when their kernel is stopped") {
  Bench b(16, 10'000);
  b.sample(constant(kBody));
  b.machine.launch(b.launch);
  b.machine.queue.run_until(kMicrosecond);  // All are dispatched; a start takes 7 us.
  b.machine.write_scheduler(
      GRID_SCHEDULER_SLOT_CONTROL_OFFSET,
      GRID_SCHEDULER_SLOT_CONTROL_PREEMPT_MASK | GRID_SCHEDULER_SLOT_CONTROL_DRAIN_MASK);
  Time end = 0;
  b.machine.gpu.front_end.on_kernel([&](bool ended, uint8_t, Time at) { end = ended ? at : end; });
  b.machine.run();
  REQUIRE(end > kMicrosecond);
  REQUIRE(end < 2 * kMicrosecond);
  REQUIRE(b.machine.gpu.front_end.retired() == 0);
  REQUIRE(b.sampled.statistic("bodies") == 0);
  REQUIRE(b.sampled.violations() == 0);
}

TEST_CASE("work-groups that have begun run to their end when their kernel is stopped") {
  Bench b(40);
  b.sample(constant(kBody));
  b.machine.launch(b.launch);
  b.machine.queue.run_until(10 * kMicrosecond);
  b.machine.write_scheduler(GRID_SCHEDULER_SLOT_CONTROL_OFFSET,
                            GRID_SCHEDULER_SLOT_CONTROL_PREEMPT_MASK);
  REQUIRE(lasts(b.machine.run(), kBody));
  REQUIRE(b.sampled.statistic("bodies") == 16);
}

TEST_CASE("times do not depend on how far is simulated at a time") {
  Bench b(40);
  // Both shares change all the time; equal bodies, so that what is drawn decides nothing.
  b.sample(constant(kBody, {.tensor_cycles = 60'000, .hbm_read_bytes = 9'000'000}));
  const auto next_grid = [&b] {  // Where the grid of shares and that of the clock begin anew.
    constexpr Time kGrid = 320 * kNanosecond;
    b.machine.queue.run_until((b.machine.queue.now() / kGrid + 1) * kGrid);
  };
  const auto run = [&](Time window) {
    next_grid();
    const Time begin = b.machine.queue.now();
    b.machine.launch(b.launch);
    while (!b.machine.queue.empty()) b.machine.queue.run_until(b.machine.queue.now() + window);
    const Time end = b.machine.queue.last_event();
    b.machine.clear_done();
    b.machine.run();
    return end - begin;
  };
  const Time one = run(kMicrosecond / 7);
  REQUIRE(one > 3 * kBody);
  REQUIRE(run(3 * kMicrosecond) == one);
  REQUIRE(run(1'000 * kMicrosecond) == one);
  REQUIRE(b.sampled.statistic("rerated") > 3);
}

TEST_CASE("how often and how finely shares follow their demand hardly matters") {
  Bench b(40);  // Equal bodies: what is drawn, other times for each launch, decides nothing.
  const BodyTimes times = constant(kBody, {.tensor_cycles = 60'000, .hbm_read_bytes = 9'000'000});
  const auto run = [&](SampledSpec spec) {
    b.sample(times, spec);
    const Time begin = b.machine.queue.now();
    const Time end = b.run();
    REQUIRE(b.sampled.violations() == 0);
    b.machine.clear_done();
    b.machine.run();
    return end - begin;
  };
  const Time one = run({});
  REQUIRE(one > 3 * kBody);
  const auto is_near = [one](Time other, Time permille) {
    return (other > one ? other - one : one - other) <= one * permille / 1000;
  };
  REQUIRE(is_near(run({.settle_cycles = 1}), 1));
  REQUIRE(is_near(run({.settle_cycles = 1024}), 1));
  // A stretch is up to 1 / 2^(bits - 1) too large.
  REQUIRE(is_near(run({.share_bits = 20}), 8));
  REQUIRE(is_near(run({.share_bits = 10}), 8));
}

TEST_CASE("launches draw other times, equal seeds the same") {
  Bench b(16);
  std::vector<Time> all;
  for (Time i = 0; i < 64; ++i) all.push_back(kBody + i * kMicrosecond);
  BodyTimes times = constant(kBody);
  times.launches[0].first = TimeDistribution::of(all);
  const BodyLaw law(times, {}, 1);
  b.sample(times);
  SampledLaunch launch;
  launch.law = &law;
  launch.kind = SampledLaunch::Kind::wrapped;
  launch.kernel.number = 7;
  launch.number = 1;
  const Time one = b.sampled.gpu().draw(launch, 5, 0, 0, 1).time;
  REQUIRE(b.sampled.gpu().draw(launch, 5, 0, 0, 1).time == one);
  REQUIRE(b.sampled.gpu().draw(launch, 5, 0, 1, 1).time != one);
  launch.number = 2;
  REQUIRE(b.sampled.gpu().draw(launch, 5, 0, 0, 1).time != one);
  b.sample(times, {.seed = 2});
  launch.number = 1;
  REQUIRE(b.sampled.gpu().draw(launch, 5, 0, 0, 1).time != one);
}

TEST_CASE("bodies that a unit has at a time take one of each equal part of all times") {
  Bench b(16);
  std::vector<Time> all;
  for (Time i = 0; i <= 64; ++i) all.push_back(kBody + i * kMicrosecond);
  BodyTimes times = constant(kBody);
  times.launches[0].first = TimeDistribution::of(all);
  times.launches[0].first.joined_ppm = TimeDistribution::kAll / 4;
  const BodyLaw law(times, {}, 1);
  b.sample(times);
  SampledLaunch launch;
  launch.law = &law;
  launch.number = 1;
  launch.hash = 7;
  for (const auto kind : {SampledLaunch::Kind::wrapped, SampledLaunch::Kind::sampled}) {
    launch.kind = kind;
    launch.strata = Strata(1000, launch.hash);
    std::set<std::array<size_t, 4>> orders;
    unsigned joined = 0;
    for (uint16_t unit = 0; unit < 40; ++unit) {
      for (const uint64_t first : {0, 4}) {
        std::array<size_t, 4> parts{};
        for (uint64_t i = 0; i < 4; ++i) {
          const auto wg_id = static_cast<uint32_t>(8 * unit + first + i);
          const DrawnTime drawn = b.sampled.gpu().draw(launch, wg_id, unit, first + i, 4);
          parts[i] =
              static_cast<size_t>(4 * (drawn.time - drawn.least) / (drawn.most - drawn.least + 1));
          joined += drawn.joins ? 1 : 0;
        }
        orders.insert(parts);
        std::sort(parts.begin(), parts.end());
        REQUIRE(parts == std::array<size_t, 4>{0, 1, 2, 3});
      }
    }
    CHECK(orders.size() > 5);  // Which comes first is another one on each unit.
    CHECK(joined > 320 / 4 - 30);
    CHECK(joined < 320 / 4 + 30);
  }
}

TEST_CASE("a unit has as many at a time as fit, or as a small grid gives it") {
  Bench b;
  b.sample({});
  DispatchContext context;
  context.registers_bytes = 64 * 1024;  // Four fit.
  context.wavefronts = 1;
  SampledLaunch launch;
  const auto at_a_time = [&](uint64_t grid) {
    launch.kernel.grid = grid;
    return b.sampled.gpu().at_a_time(launch, context);
  };
  CHECK(at_a_time(1) == 1);
  CHECK(at_a_time(4) == 1);
  CHECK(at_a_time(5) == 2);
  CHECK(at_a_time(16) == 4);
  CHECK(at_a_time(17) == 4);
}

// When work-groups ended.
std::set<Time> ends(Bench& b) {
  std::set<Time> all;
  b.machine.launch(b.launch);
  for (uint64_t retired = 0; !b.machine.queue.empty();) {
    b.machine.queue.run_until(b.machine.queue.now() + kNanosecond);
    if (b.machine.gpu.front_end.retired() == retired) continue;
    retired = b.machine.gpu.front_end.retired();
    all.insert(b.machine.queue.now());
  }
  return all;
}

// Of four on each unit, which take 70 to 133 us.
BodyTimes spread_times(uint64_t joined_ppm) {
  BodyTimes times = constant(kBody);
  std::vector<Time> all;
  for (Time i = 0; i < 64; ++i) all.push_back(kBody + i * kMicrosecond);
  times.launches[0].first = TimeDistribution::of(all);
  times.launches[0].first.joined_ppm = joined_ppm;
  return times;
}

// A GPU is one a process.
size_t number_of_ends(uint64_t joined_ppm) {
  Bench b(16);
  b.sample(spread_times(joined_ppm));
  return ends(b).size();
}
TEST_CASE("bodies that ended together with none do so again") { CHECK(number_of_ends(0) == 16); }
TEST_CASE("bodies that all ended together on their unit do so again") {
  CHECK(number_of_ends(TimeDistribution::kAll) == 4);
}
TEST_CASE("bodies of which half ended together with another do so again") {
  const size_t number = number_of_ends(TimeDistribution::kAll / 2);
  CHECK(number > 4);
  CHECK(number < 16);
}

TEST_CASE("bodies join none that ends earlier or later than such bodies do") {
  Bench b(16);
  BodyTimes times = constant(kBody);
  times.launches[0].first.joined_ppm = TimeDistribution::kAll;
  // Dispatched one after another, all take the same: none ends where another does.
  b.sample(times);
  CHECK(ends(b).size() > 4);
}

TEST_CASE("what is measured is what the simulator takes, and sampled launches take it again") {
  Bench b(16);
  keep_busy(b);
  b.sampled.measure();
  const Time full = b.run();
  b.machine.clear_done();
  b.machine.run();
  const BodyTable table = b.sampled.measured();
  REQUIRE(table.kernels.size() == 1);
  const BodyTimes& times = table.kernels.begin()->second;
  REQUIRE(times.groups == 16);
  REQUIRE(times.launches.size() == 1);
  REQUIRE(times.points.at(0).residency_milli > 3900);
  REQUIRE(times.points.at(0).groups_milli > 15'500);
  REQUIRE(times.demand.issue_slots > 6000);
  REQUIRE(times.launch_time() > full * 95 / 100);
  b.sampled.sample(table);
  const Time begin = b.machine.queue.now();
  const Time sampled = b.run() - begin;
  REQUIRE(sampled > full * 99 / 100);
  REQUIRE(sampled < full * 101 / 100);
  REQUIRE(b.sampled.statistic("kernels_compared") == 1);
  REQUIRE(b.sampled.statistic("kernel_error_max") < 10'000);
}

TEST_CASE("which work-groups end together behind the first wave is measured") {
  Bench b(64);  // Four on each of four units, dispatched four clocks behind each other.
  keep_busy(b);
  b.sampled.measure();
  b.run();
  const LaunchTimes times = b.sampled.measured().kernels.begin()->second.launches.at(0);
  // Of each wave one ends first, the others behind it.
  CHECK(times.rest.count == 48);
  CHECK(times.rest.joined_ppm == Approx(750'000).margin(10'000));
  CHECK(times.first.joined_ppm == 0);
}

TEST_CASE("what is left over at the end of a launch does not count, wherever its units stand") {
  Bench b(16 + 2);  // Two have a unit each.
  keep_busy(b);
  b.sampled.measure();
  b.run();
  const BodyTimes times = b.sampled.measured().kernels.begin()->second;
  CHECK(times.groups == 18);
  CHECK(times.launches.at(0).first.count == 16);
  CHECK(times.launches.at(0).rest.count == 0);
}

TEST_CASE("company of another kernel leaves nothing over") {
  Bench b(32);
  keep_busy(b);
  b.launch.registers_bytes = 128 * 1024;  // Two on a unit, and of the other one four for a while.
  b.launch.workgroups = 32;
  Program other;
  other.constant(6, 3000).addi(6, 6, -1).bnez(6, -1).end();
  b.machine.load_words(other.words, kCode + 0x4000);
  Launch second = b.launch;
  second.workgroups = 16;
  second.registers_bytes = 32 * 1024;
  second.entry = second.code_base = kCode + 0x4000;
  b.sampled.measure();
  b.machine.launch(second, 1);
  b.machine.launch(b.launch, 0);
  b.machine.run();
  const BodyTable table = b.sampled.measured();
  const LaunchTimes times = table.kernels.at(b.sampled.key_of(b.launch)).launches.at(0);
  CHECK(times.first.count + times.rest.count >= 28);  // Of the last wave some are.
}

TEST_CASE("what runs where fewer fit is not left over while others wait") {
  Bench b(40);
  keep_busy(b);
  b.sampled.measure({.groups = 6});  // Two units have two, two have one.
  b.run();
  const LaunchTimes times = b.sampled.measured().kernels.begin()->second.launches.at(0);
  CHECK(times.first.count + times.rest.count >= 40 - 6);
}

TEST_CASE("launches by themselves say how bodies are corrected, and then take their time") {
  Bench b(16);
  BodyTimes times = constant(kBody);
  times.launches[0].time = kBody * 120 / 100;
  b.sample(times);
  b.run();
  const BodyTable corrected = b.sampled.gpu().corrected();
  const uint64_t ppm = corrected.kernels.begin()->second.launches[0].correction_ppm;
  REQUIRE(ppm > 1'195'000);
  REQUIRE(ppm <= 1'200'000);  // A launch lasts longer than its bodies.
  b.machine.clear_done();
  b.machine.run();
  b.sampled.sample(corrected);
  const Time begin = b.machine.queue.now();
  const Time time = b.run() - begin;
  REQUIRE(time > kBody * 119 / 100);
  REQUIRE(time < kBody * 121 / 100);
  REQUIRE(b.sampled.statistic("kernel_error_max") < 3'000);
  REQUIRE(b.sampled.gpu().corrected().kernels.begin()->second.launches[0].correction_ppm >= ppm);
  REQUIRE(b.sampled.violations() == 0);
}

TEST_CASE("corrections have limits") {
  Bench b(16);
  BodyTimes times = constant(kBody);
  times.launches[0].time = 5 * kBody;
  b.sample(times);
  b.run();
  REQUIRE(b.sampled.gpu().corrected().kernels.begin()->second.launches[0].correction_ppm ==
          2'000'000);
}

TEST_CASE("launches are compared with those whose times they take") {
  Bench b(16);
  BodyTimes times = constant(kBody);
  times.points[0].time = kBody * 3 / 4;  // Of both.
  times.launches.push_back(constant(kBody / 2).launches[0]);
  b.sample(times);
  b.run();
  for (int launch = 1; launch < 4; ++launch) {
    b.machine.clear_done();
    b.machine.run();
    b.run();
  }
  REQUIRE(b.sampled.statistic("kernels_compared") == 1);
  REQUIRE(b.sampled.statistic("kernel_error_max") < 10'000);
}

TEST_CASE("a measurement keeps to its residency and its work-groups on the GPU") {
  Bench b(16);
  b.sampled.measure({.residency_percent = 50});
  b.run();
  b.machine.clear_done();
  b.machine.run();
  REQUIRE(b.sampled.measured().kernels.begin()->second.points.at(0).residency_milli <= 2000);
  b.sampled.measure({.residency_percent = 0, .groups = 2});
  b.run();
  const BodyPoint point = b.sampled.measured().kernels.begin()->second.points.at(0);
  REQUIRE(point.residency_milli == 1000);
  REQUIRE(point.groups_milli <= 2000);
  REQUIRE(b.sampled.violations() == 0);
}

TEST_CASE("of a launch that the GPU does not hold a part is simulated, and stands for all of it") {
  Bench b(400);
  const auto measured = [&](SampledSpec spec) {
    b.sampled.measure(spec);
    b.run();
    b.machine.clear_done();
    CHECK(b.sampled.violations() == 0);
    return b.sampled.measured().kernels.begin()->second;
  };
  const BodyTimes all = measured({.residency_percent = 0, .groups = 2});
  CHECK(b.machine.gpu.instructions() == 3 * 400);
  const BodyTimes some = measured({.residency_percent = 0, .groups = 2, .waves = 3});
  CHECK(all.groups == 400);
  CHECK(some.groups == 2 + 3 * 2);  // The first wave and three more.
  CHECK(some.grid == 400);
  CHECK(some.launches.at(0).first.count == 2);
  CHECK(some.launches.at(0).rest.count == 398);
  CHECK(all.launches.at(0).time != 0);
  CHECK(some.launches.at(0).time == 0);
  // A fourth keeps those that are noted company; the other work-groups execute nothing.
  CHECK(b.machine.gpu.instructions() <= 3 * (400 + 2 + 2 * 4));
  CHECK(some.demand.issue_slots == all.demand.issue_slots);
  CHECK(some.points.at(0).time == all.points.at(0).time);
  CHECK(some.points.at(0).residency_milli == all.points.at(0).residency_milli);
  // Another launch of the kernel executes nothing, and changes nothing.
  b.run();
  CHECK(b.machine.gpu.instructions() <= 3 * (400 + 2 + 2 * 4));
  CHECK(b.sampled.statistic("bodies") == 0);
  CHECK(b.sampled.measured().kernels.begin()->second.groups == some.groups);
}

TEST_CASE("work-groups that are all resident are simulated, at each residency once") {
  Bench b(16);
  const auto measured = [&](uint32_t percent, uint32_t groups) {
    b.sampled.measure({.residency_percent = percent, .groups = groups, .waves = 1});
    b.run();
    b.machine.clear_done();
    CHECK(b.sampled.violations() == 0);
    const auto kernels = b.sampled.measured().kernels;
    return kernels.empty() ? 0 : kernels.begin()->second.groups;
  };
  CHECK(measured(100, 0) == 16);
  CHECK(measured(50, 0) == 16);
  CHECK(measured(0, 0) == 16);
  CHECK(measured(0, 2) == 16);
  b.launch.workgroups = 8;
  b.launch.registers_bytes = 128 * 1024;  // Two on a unit: half is one, which 0 % measures.
  CHECK(measured(100, 0) == 8);
  CHECK(measured(50, 0) == 0);
  CHECK(measured(0, 0) == 8);
  b.launch.workgroups = 4;
  b.launch.registers_bytes = 256 * 1024;
  CHECK(measured(100, 0) == 4);
  CHECK(measured(0, 0) == 0);
  CHECK(measured(0, 2) == 4);
}

TEST_CASE("a launch that is long beside what the L2 holds is simulated once") {
  Bench b(4);
  Program loop;
  loop.addi(1, 0, 1).slli(1, 1, 18).addi(1, 1, -1).bnez(1, -1).end();
  b.machine.load_words(loop.words, kCode + 0x4000);
  Launch longer = b.launch;
  longer.entry = longer.code_base = kCode + 0x4000;
  longer.code_bytes = 4 * loop.words.size();
  b.sampled.measure({.waves = 1});
  const auto executed = [&](const Launch& launch) {
    const uint64_t before = b.machine.gpu.instructions();
    const Time begin = b.machine.queue.now();
    b.machine.launch(launch);
    const Time end = b.machine.run();
    b.machine.clear_done();
    return std::pair(b.machine.gpu.instructions() - before, end - begin);
  };
  const auto [instructions, time] = executed(longer);
  // 16 MiB at 900 GB/s are 18.6 us.
  CHECK(time > 20 * 18'700 * kNanosecond);
  CHECK(instructions > 4 * 2 * (1 << 18));
  CHECK(executed(longer).first == 0);
  // The short one may differ from launch to launch.
  CHECK(executed(b.launch).first == 3 * 4);
  CHECK(executed(b.launch).first == 3 * 4);
}

TEST_CASE("launches beyond those that are measured take their times") {
  Bench b(16);
  b.sampled.measure({.launches = 2});
  for (unsigned i = 0; i < 5; ++i) {
    b.run();
    b.machine.clear_done();
    b.machine.run();
  }
  REQUIRE(b.sampled.measured().kernels.begin()->second.groups == 32);
  REQUIRE(b.sampled.statistic("bodies") == 48);
}

TEST_CASE("a suspended body goes on with what it had left", "[TL-BASE-01]") {
  Bench b;
  b.sample(constant(kBody));
  b.machine.write(GPU_CONTEXT_SAVE_BASE_OFFSET, kNode + 0x1000000);
  b.machine.write(GPU_CONTEXT_SAVE_BYTES_OFFSET, 0x100000);
  b.machine.launch(b.launch);
  b.machine.queue.run_until(kBody / 2);
  b.machine.write_scheduler(
      GRID_SCHEDULER_SLOT_CONTROL_OFFSET,
      GRID_SCHEDULER_SLOT_CONTROL_PREEMPT_MASK | GRID_SCHEDULER_SLOT_CONTROL_DRAIN_MASK);
  // 64.5 KiB at 32 bytes a clock.
  b.machine.run(kBody / 2 + 1400 * kNanosecond);
  CHECK(b.machine.read(GPU_COUNT_SUSPENDED_OFFSET) == 0);
  b.machine.run(kBody / 2 + 3 * kMicrosecond);
  CHECK(b.machine.read(GPU_COUNT_SUSPENDED_OFFSET) == 4);
  for (unsigned i = 0; i < 4; ++i) {
    CHECK((b.machine.read_scheduler(GRID_SCHEDULER_RETURNED_OFFSET) &
           GRID_SCHEDULER_RETURNED_VALID_MASK) != 0);
    b.machine.write_scheduler(GRID_SCHEDULER_RETURNED_TAKE_OFFSET, 0);
  }
  b.machine.clear_done();
  b.machine.run();
  const Time again = b.machine.queue.now();
  b.machine.write(GPU_CONTEXT_RESUME_OFFSET, 4);
  b.machine.launch(b.launch);
  const Time left = b.machine.run() - again;
  CHECK(left > kBody / 2);
  CHECK(left < kBody / 2 + 3 * kMicrosecond);
  CHECK(b.sampled.statistic("bodies") == 4);
  CHECK(b.sampled.violations() == 0);
}
