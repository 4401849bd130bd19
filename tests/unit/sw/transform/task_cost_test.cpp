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

struct Stops {
  double mean_ns = 0;  // From the stop that is asked for to the last exit.
  double rest_ns = 0;  // E[d^2] / 2 E[d].
  double way_ns = 0;   // Out, from the look at the flag that sees it.
};

// Times between two looks at the flag, in a run that is not stopped, and of a way out.
Stops expected_of_worker(TransformBench& b, const Launch& launch, const Grid& grid) {
  const auto looks = [&](stretto_task_control_t control) {
    b.set_control(control);
    b.machine.memory.accesses.clear();
    b.machine.memory.record = true;
    b.run_once(launch, grid, 1);
    b.machine.memory.record = false;
    std::vector<Time> at;
    for (const FixedMemory::Access& access : b.machine.memory.accesses)
      if (access.command == tlm::TLM_READ_COMMAND && (access.address & ~63ull) == kControl)
        at.push_back(access.at);
    return at;
  };
  Stops stops;
  const std::vector<Time> stopped = looks({0, 1});
  stops.way_ns = static_cast<double>(b.machine.queue.now() - stopped.front()) / kNanosecond;
  const std::vector<Time> at = looks({0, 0});
  REQUIRE(at.size() == grid.tasks() + 1);
  double sum = 0, squares = 0;
  for (size_t i = 1; i < at.size(); ++i) {
    const double d = static_cast<double>(at[i] - at[i - 1]) / kNanosecond;
    sum += d;
    squares += d * d;
  }
  stops.rest_ns = squares / 2 / sum;
  return stops;
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
  constexpr unsigned kStops = 240;
  const Grid grid = {40, 1, 1};
  TransformBench b;
  b.set_subject_arguments(1000);
  const Launch launch = b.load(transformed("lasts"), "lasts", kOther);
  Stops stops = expected_of_worker(b, launch, grid);
  const Time span = b.last_time;
  for (unsigned i = 0; i < kStops; ++i) {
    b.set_control({0, 0});
    // Spread over the middle of the run: eight turns of four lengths.
    const Time delay = span / 10 + span * 8 / 10 * i / kStops;
    stops.mean_ns += static_cast<double>(b.stop_once(launch, grid, 1, delay)) / kNanosecond;
    REQUIRE(b.control().next < grid.tasks());
  }
  stops.mean_ns /= kStops;
  WARN("from the flag to the last exit " << stops.mean_ns << " ns: rest of a task " << stops.rest_ns
                                         << " ns, way out " << stops.way_ns << " ns");
  REQUIRE(std::abs(stops.mean_ns / (stops.rest_ns + stops.way_ns) - 1) < 0.05);
}
