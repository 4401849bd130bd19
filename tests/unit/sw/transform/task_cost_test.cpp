// SPDX-License-Identifier: Apache-2.0
// Question: what does the code around a task cost, and how long after a stop is asked for has a
// kernel left? Memory of the bench is 300 ns away, the control block is uncached. A task of no
// instructions costs what its code around costs. A stop at a random moment waits for the rest of a
// task: on average E[d^2] / 2 E[d] of the times d between two looks at the flag, then for the way
// out.
#include <catch2/catch.hpp>

#include <cmath>

#include "tests/unit/sw/transform/bench.h"

using namespace stretto;
using namespace stretto::test;
using transform::Form;
using transform::Isa;

namespace {

Bytes transformed(const std::string& kernel, Isa isa = Isa::tile) {
  return transform::transform(read_kernel_file("transform_subjects"),
                              {Form::preempt, isa, kernel, false})
      .elf;
}

// Of one worker that is alone: the difference of two grids, so that the launch is not in it.
Time task_of_nothing(TransformBench& b, const Launch& launch) {
  Time at[2];
  for (const uint32_t tasks : {20u, 60u}) {
    b.set_control({0, 0});
    b.run_once(launch, {tasks, 1, 1}, 1);
    at[tasks == 60] = b.last_time;
  }
  return (at[1] - at[0]) / 40;
}

// When reads of the words from `base` on reach memory while `run` runs.
template <class Run>
std::vector<Time> reads_of(TransformBench& b, uint64_t base, uint64_t bytes, Run&& run) {
  b.machine.memory.accesses.clear();
  b.machine.memory.record = true;
  run();
  b.machine.memory.record = false;
  std::vector<Time> at;
  for (const FixedMemory::Access& access : b.machine.memory.accesses)
    if (access.command == tlm::TLM_READ_COMMAND && access.address - base < bytes)
      at.push_back(access.at);
  return at;
}

// What is left of a period at a random moment: E[d^2] / 2 E[d].
double rest_ns(const std::vector<Time>& at) {
  double sum = 0, squares = 0;
  for (size_t i = 1; i < at.size(); ++i) {
    const double d = static_cast<double>(at[i] - at[i - 1]) / kNanosecond;
    sum += d;
    squares += d * d;
  }
  return squares / 2 / sum;
}

constexpr unsigned kStops = 240;
constexpr Grid kGrid = {40, 1, 1};  // Tasks of four lengths in turn.

// Stops spread over the middle of a run, eight turns of the four lengths.
template <class Stop>
double mean_ns(Time span, Stop&& stop) {
  double sum = 0;
  for (unsigned i = 0; i < kStops; ++i)
    sum += static_cast<double>(stop(span / 10 + span * 8 / 10 * i / kStops)) / kNanosecond;
  return sum / kStops;
}

}  // namespace

TEST_CASE("the code around a task takes at most 0.6 us, of one access to memory") {
  TransformBench b;
  b.set_subject_arguments();
  const Time votes = task_of_nothing(b, b.load(transformed("nothing"), "nothing", kOther));
  const Time stock =
      task_of_nothing(b, b.load(transformed("nothing", Isa::stock), "nothing", kOther));
  WARN("a task: votes " << votes / kNanosecond << " ns, stock " << stock / kNanosecond << " ns");
  REQUIRE(votes <= 600 * kNanosecond);
  REQUIRE(votes > 300 * kNanosecond);  // Memory is that far.
  REQUIRE(stock > 2 * votes);
}

TEST_CASE("a stop waits for the rest of a task and the way out, on average over when it comes") {
  TransformBench b;
  b.set_subject_arguments(1000);
  const Launch launch = b.load(transformed("lasts"), "lasts", kOther);
  const auto run = [&] { b.run_once(launch, kGrid, 1); };
  b.set_control({0, 1});
  const std::vector<Time> look = reads_of(b, kControl, 64, run);
  const double way = static_cast<double>(b.machine.queue.now() - look.front()) / kNanosecond;
  b.set_control({0, 0});
  const std::vector<Time> looks = reads_of(b, kControl, 64, run);
  REQUIRE(looks.size() == kGrid.tasks() + 1);
  const double rest = rest_ns(looks);
  const double mean = mean_ns(b.last_time, [&](Time delay) {
    b.set_control({0, 0});
    const Time took = b.stop_once(launch, kGrid, 1, delay);
    REQUIRE(b.control().next < kGrid.tasks());
    return took;
  });
  WARN("from the flag to the last exit " << mean << " ns: rest of a task " << rest
                                         << " ns, way out " << way << " ns");
  REQUIRE(std::abs(mean / (rest + way) - 1) < 0.05);
}

TEST_CASE(
    "the grid scheduler stops a kernel that nobody rewrote when the rest of a work-group is done") {
  GpuSpec one = GpuMachine::small();
  one.cus = 1;
  TransformBench b(one);
  b.set_subject_arguments(1000);
  Launch launch = b.load(read_kernel_file("transform_subjects"), "lasts", kCode);
  launch.registers_bytes = one.registers_bytes;  // One work-group on the unit.
  const std::vector<Time> ends =
      reads_of(b, kRan, 8 * kGrid.tasks(), [&] { b.run(launch, kGrid); });
  REQUIRE(ends.size() == kGrid.tasks());
  const double rest = rest_ns(ends);
  const double mean =
      mean_ns(b.last_time, [&](Time delay) { return b.preempt_once(launch, kGrid, delay); });
  WARN("from the stop to the last exit " << mean << " ns: rest of a work-group " << rest << " ns");
  REQUIRE(std::abs(mean / rest - 1) < 0.05);
}
