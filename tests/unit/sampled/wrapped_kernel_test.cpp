// SPDX-License-Identifier: Apache-2.0
// Question: of kernels that sw/transform has rewritten, is everything around the body real when the
// body is sampled? Tasks are counted by the binary in the control block and by bodies that ran; faults
// in the binary must show. State space: forms x stops; faults: index not kept, task lost, flag ignored.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sw/transform/instruction.h"
#include "tests/unit/sampled/sampled_bench.h"
#include "tests/unit/sw/transform/bench.h"

using namespace stretto;
using namespace stretto::test;
using transform::Form;
using transform::Isa;

namespace {

constexpr const char* kSubject = "early_return";

struct Bench : TransformBench {
  Bench() : sampled(machine) {
    set_subject_arguments();
    original = load(read_kernel_file("transform_subjects"), kSubject, kCode);
    sampled.measure();
    run(original, grid);
    REQUIRE(machine.gpu.front_end.faults().empty());
    table = sampled.measured();
    REQUIRE(table.kernels.size() == 1);
    whole = last_time;
  }
  // From here on bodies are sampled.
  Launch rewritten(Form form, Isa isa = Isa::tile) {
    transform::Options options;
    options.form = form;
    options.isa = isa;
    options.kernel = kSubject;
    elf = transform::transform(read_kernel_file("transform_subjects"), options).elf;
    return loaded();
  }
  Launch loaded() {
    const Launch launch = load(elf, kSubject, kOther);
    sampled.sample(table);
    return launch;
  }
  uint64_t bodies() const { return sampled.statistic("bodies"); }

  SampledBench sampled;
  BodyTable table;
  Grid grid{kTasks, 1, 1};
  Launch original;
  Bytes elf;
  Time whole = 0;
};

// amoadd.d of the task index: rd t1, rs2 t3, rs1 t2.
bool takes_task(uint32_t word) { return (word & 0xF800707F) == 0x0000302F; }

}  // namespace

TEST_CASE("workers take each task once while bodies are sampled", "[TL-PTB-01]") {
  Bench b;
  const Launch launch = b.rewritten(Form::preempt);
  b.set_control({0, 0});
  b.run_once(launch, b.grid, 6);
  REQUIRE(b.bodies() == kTasks);
  REQUIRE(b.control().next == kTasks + 6);
  REQUIRE(b.machine.gpu.front_end.faults().empty());
  REQUIRE(b.sampled.violations() == 0);
}

TEST_CASE("workers that are stopped at any time and go on run each task once, sampled") {
  Bench b;
  const Launch launch = b.rewritten(Form::preempt);
  Rng rng(5);
  unsigned stopped = 0;
  for (unsigned trial = 1; trial <= 8; ++trial) {
    b.last_time = b.whole;
    stopped += b.run_workers(launch, b.grid, rng).stopped;
    REQUIRE(b.bodies() == trial * kTasks);
  }
  REQUIRE(stopped > 8);
  REQUIRE(b.sampled.violations() == 0);
}

TEST_CASE("workers of the stock ISA run each task once while bodies are sampled") {
  Bench b;
  const Launch launch = b.rewritten(Form::preempt, Isa::stock);
  b.set_control({0, 0});
  b.run_once(launch, b.grid, 5);
  REQUIRE(b.bodies() == kTasks);
  REQUIRE(b.machine.gpu.front_end.faults().empty());
}

TEST_CASE("slices run each work-group once while bodies are sampled", "[TL-SLICE-01]") {
  Bench b;
  const Launch launch = b.rewritten(Form::slice);
  Rng rng(3);
  REQUIRE(b.run_slices(launch, b.grid, rng) > 1);
  REQUIRE(b.bodies() == kTasks);
  REQUIRE(b.sampled.violations() == 0);
}

TEST_CASE("a sampled launch of workers takes as long as the simulated one") {
  Bench b;
  const Launch launch = b.rewritten(Form::preempt);
  b.sampled.measure();  // All of a rewritten kernel whose original was not measured is executed.
  b.set_control({0, 0});
  b.run_once(launch, b.grid, 4);
  REQUIRE(b.bodies() == 0);
  const Time full = b.last_time;
  b.sampled.sample(b.table);
  b.set_control({0, 0});
  b.run_once(launch, b.grid, 4);
  REQUIRE(b.last_time > full * 85 / 100);
  REQUIRE(b.last_time < full * 115 / 100);
}

TEST_CASE("workers take longer for a correction, and not less time") {
  Bench b;
  const Launch launch = b.rewritten(Form::preempt);
  const auto time = [&](uint64_t ppm) {
    BodyTable table = b.table;
    for (LaunchTimes& one : table.kernels.begin()->second.launches) one.correction_ppm = ppm;
    b.sampled.sample(table);
    b.set_control({0, 0});
    b.run_once(launch, b.grid, 4);
    return b.last_time;
  };
  const Time as_measured = time(1'000'000);
  // Each launch draws times of its own.
  CHECK(time(LaunchTimes::kLeastCorrection) > as_measured * 85 / 100);
  CHECK(time(1'500'000) > as_measured * 6 / 5);
}

TEST_CASE("a binary that does not keep the index shows: tasks run again", "[TL-PTB-04]") {
  Bench b;
  b.forgets_index = true;
  const Launch launch = b.rewritten(Form::preempt);
  b.last_time = b.whole;
  Rng rng(5);
  b.run_workers(launch, b.grid, rng);
  REQUIRE(b.bodies() > kTasks);
}

TEST_CASE("a binary that adds to the index twice shows: half of the tasks are lost") {
  Bench b;
  b.rewritten(Form::preempt);
  // addi t3, zero, 1 in front of the atomic becomes 2.
  size_t at = 0;
  for (; at + 8 <= b.elf.size(); at += 4) {
    uint32_t words[2];
    std::memcpy(words, b.elf.data() + at, 8);
    if (words[0] == transform::encode::addi(28, 0, 1) && takes_task(words[1])) break;
  }
  REQUIRE(at + 8 <= b.elf.size());
  const uint32_t two = transform::encode::addi(28, 0, 2);
  std::memcpy(b.elf.data() + at, &two, 4);
  const Launch launch = b.loaded();
  b.set_control({0, 0});
  b.run_once(launch, b.grid, 4);
  REQUIRE(b.bodies() == kTasks / 2);
}

TEST_CASE("a binary that ignores the flag shows: a stop does not end it", "[TL-PTB-03]") {
  Bench b;
  Launch launch = b.rewritten(Form::preempt);
  const auto bodies_after_flag = [&] {
    const uint64_t before = b.bodies();
    b.set_control({.next = 0, .preempt = 1});
    b.run_once(launch, b.grid, 4);
    return b.bodies() - before;
  };
  REQUIRE(bodies_after_flag() == 0);
  // The atomic of 64 bits becomes one of 32, which does not read the flag above the index.
  for (size_t at = 0; at + 8 <= b.elf.size(); at += 4) {
    uint32_t words[2];
    std::memcpy(words, b.elf.data() + at, 8);
    if (words[0] != transform::encode::addi(28, 0, 1) || !takes_task(words[1])) continue;
    const uint32_t narrow = words[1] & ~uint32_t{1 << 12};
    std::memcpy(b.elf.data() + at + 4, &narrow, 4);
  }
  launch = b.loaded();
  REQUIRE(bodies_after_flag() == kTasks);
}
