// SPDX-License-Identifier: Apache-2.0
// Question: does a transformed kernel do what the original does, whatever slices, workers and stops?
// State space: tasks x wavefronts in them (return early, at barriers, at votes) x workers x when the
// flag rises. Each subject stands for one hazard (subjects.c). The reference is the original's run
// on the same machine; each law has a mutant of the binary, or of the host, that breaks it.
#include <catch2/catch.hpp>

#include "sw/include/tile.h"
#include "sw/kernels/kernel_arguments.h"
#include "tests/unit/sw/transform/bench.h"

using namespace stretto;
using namespace stretto::test;
using transform::Form;
using transform::Isa;

namespace {

constexpr uint32_t kNop = 0x00000013;

transform::Result transformed(const std::string& kernel, Form form, bool zero_private = false,
                              Isa isa = Isa::tile) {
  transform::Options options;
  options.form = form;
  options.isa = isa;
  options.kernel = kernel;
  options.zero_private = zero_private;
  return transform::transform(read_kernel_file("transform_subjects"), options);
}

// Changes words of the binary: the first stub that says `what`.
void sabotage(transform::Result& result, const std::string& what, uint32_t word) {
  transform::KernelElf elf(result.elf);
  for (const transform::Line& line : result.stubs) {
    if (line.what != what) continue;
    elf.patch(line.address, word);
    result.elf = elf.bytes();
    return;
  }
  FAIL("no stub: " << what);
}

void leave_out_unified_synchronisation(transform::Result& result) {
  constexpr uint32_t kBarrier = transform::encode::tile_control(TILE_CONTROL_BARRIER, 0, 0, 0);
  sabotage(result, "returned: 0; at a barrier: its stack", kBarrier);
  sabotage(result, "someone has not", kNop);
  transform::KernelElf elf(result.elf);
  for (const transform::Outcome& outcome : result.kernels)
    for (const transform::Patch& patch : outcome.patches)
      if (patch.before == kBarrier) elf.patch(patch.address, patch.before);
  result.elf = elf.bytes();
}

struct Subject : TransformBench {
  explicit Subject(const std::string& name, Grid of = {kTasks, 1, 1}) : kernel(name), grid(of) {
    set_subject_arguments();
    for (unsigned i = 0; i < 8192; ++i)
      machine.set_value<uint64_t>(kMarks + 8 * i, i * 0x9E3779B97F4A7C15);
    machine.set_value<uint64_t>(kFlag, 20);
    run(load(read_kernel_file("transform_subjects"), kernel, kCode), grid);
    expected = take_words(kOut, 8 * grid.tasks());
    REQUIRE(take_wrong_runs(grid.tasks()) == 0);
    REQUIRE(machine.gpu.front_end.faults().empty());
  }
  Launch of(const transform::Result& result) { return load(result.elf, kernel, kOther); }
  unsigned take_wrong_words() {
    const std::vector<uint64_t> found = take_words(kOut, 8 * grid.tasks());
    unsigned wrong = 0;
    for (size_t i = 0; i < found.size(); ++i) wrong += found[i] != expected[i];
    return wrong;
  }
  void require_right() {
    REQUIRE(machine.gpu.front_end.faults().empty());
    REQUIRE(take_wrong_runs(grid.tasks()) == 0);
    REQUIRE(take_wrong_words() == 0);
  }

  std::string kernel;
  Grid grid;
  std::vector<uint64_t> expected;
};

void require_equal_in_slices(const std::string& kernel, Grid grid = {kTasks, 1, 1}) {
  Subject s(kernel, grid);
  const Launch launch = s.of(transformed(kernel, Form::slice));
  Rng rng(7);
  for (unsigned trial = 0; trial < 5; ++trial) {
    s.run_slices(launch, grid, rng);
    s.require_right();
  }
}

void require_equal_with_preemption(const std::string& kernel, Grid grid = {kTasks, 1, 1},
                                   Isa isa = Isa::tile) {
  Subject s(kernel, grid);
  const Launch launch = s.of(transformed(kernel, Form::preempt, false, isa));
  const Time span = s.last_time;
  Rng rng(11);
  unsigned stopped = 0;
  for (unsigned trial = 0; trial < 12; ++trial) {
    s.last_time = span;
    stopped += s.run_workers(launch, grid, rng).stopped;
    s.require_right();
  }
  REQUIRE(stopped > 12);
}

}  // namespace

TEST_CASE("slices of a grid are launched one at a time and run each work-group once",
          "[TL-SLICE-01]") {
  Subject s("early_return");
  const Launch launch = s.of(transformed("early_return", Form::slice));
  Rng rng(3);
  REQUIRE(s.run_slices(launch, s.grid, rng) > 1);
  s.require_right();
}

TEST_CASE("a slice's work-groups see their ids of the whole grid", "[TL-SLICE-02]") {
  require_equal_in_slices("places", {5, 3, 4});
}
TEST_CASE("a sliced kernel with calls and a switch equals the original") {
  require_equal_in_slices("calls_twice");
}
TEST_CASE("a sliced kernel with votes equals the original") { require_equal_in_slices("votes"); }

TEST_CASE("a slice costs a launch and seven instructions a wavefront", "[TL-SLICE-03]") {
  const transform::Result result = transformed("early_return", Form::slice);
  constexpr size_t kFrameWords = sizeof(stretto_transformed_frame_t) / 4;  // In front of the entry.
  // csrw sp; csrr, ld first; csrr id; add; csrw task; jump to the body.
  REQUIRE(result.stubs.at(kFrameWords + 6).what == "body of early_return");
  for (const transform::Outcome& outcome : result.kernels)
    for (const transform::Patch& patch : outcome.patches) REQUIRE(patch.what == "id: the task");
}

TEST_CASE("workers take each task once, whenever they are stopped", "[TL-PTB-01]") {
  require_equal_with_preemption("calls_once");
}
TEST_CASE("ids of three dimensions come from the task and the original grid", "[TL-PTB-02]") {
  require_equal_with_preemption("places", {4, 5, 3});
}
TEST_CASE("a kernel whose functions end for two kernels equals the original") {
  require_equal_with_preemption("calls_twice");
}
TEST_CASE("wavefronts that return early are held until all have returned", "[TL-USYNC-02]") {
  require_equal_with_preemption("early_return");
}
TEST_CASE("votes of a kernel count those that have not returned") {
  require_equal_with_preemption("votes");
}
TEST_CASE("loops over memory whose bound lies in memory are transformed") {
  require_equal_with_preemption("walks");
}

TEST_CASE("the shipped GEMM in slices and by stopped workers equals the original, bit for bit") {
  constexpr uint64_t kA = kNode + 0x2000000, kB = kNode + 0x2200000, kC = kNode + 0x2400000;
  constexpr uint32_t kSize = 640, kDepth = 32;
  TransformBench b;
  for (const uint64_t base : {kA, kB, kC}) b.machine.map(base, 0x200000, AllocationClass::uncached);
  Rng rng(29);
  for (uint32_t i = 0; i < kSize * 64; ++i) {
    b.machine.set_value(kA + 2 * i, static_cast<uint16_t>(0x3400 + rng.below(0x1000)));
    b.machine.set_value(kB + 2 * i, static_cast<uint16_t>(0xB400 + rng.below(0x1000)));
  }
  stretto_gemm_arguments_t arguments{};
  arguments.a = kA;
  arguments.b = kB;
  arguments.c = kC;
  arguments.lda = arguments.ldb = 128;
  arguments.m = arguments.n = kSize;
  arguments.k = kDepth;
  arguments.layout = GEMM_B_NK;
  arguments.ldc = 2 * kSize;
  arguments.tiles_n = kSize / 128;
  b.set_arguments(arguments);
  const Bytes file = read_kernel_file("gemm");
  const Grid grid = {25, 1, 1};
  b.run(b.load(file, "gemm_128x128", kCode), grid);
  const Time span = b.last_time;
  const std::vector<uint64_t> expected = b.take_words(kC, kSize * kSize / 4);
  REQUIRE(expected.front() != 0);
  const Launch sliced =
      b.load(transform::transform(file, {Form::slice, Isa::tile, "gemm_128x128", false}).elf,
             "gemm_128x128", kOther);
  b.run_slices(sliced, grid, rng);
  REQUIRE(b.take_words(kC, kSize * kSize / 4) == expected);
  const Launch preemptive =
      b.load(transform::transform(file, {Form::preempt, Isa::tile, "", false}).elf, "gemm_128x128",
             kOther);
  unsigned stopped = 0;
  for (unsigned trial = 0; trial < 4; ++trial) {
    b.last_time = span;
    stopped += b.run_workers(preemptive, grid, rng).stopped;
    REQUIRE(b.take_words(kC, kSize * kSize / 4) == expected);
  }
  REQUIRE(stopped > 0);
  REQUIRE(b.machine.gpu.front_end.faults().empty());
}

TEST_CASE("workers leave before a task when the flag is up", "[TL-PTB-03]") {
  Subject s("early_return");
  transform::Result result = transformed("early_return", Form::preempt);
  s.set_control({0, 1});
  s.run_once(s.of(result), s.grid, 6);
  REQUIRE(s.control().next == 0);
  REQUIRE(s.take_wrong_runs(kTasks) == kTasks);
  // A kernel that does not look: its atomic returns 32 bits.
  sabotage(result, "next task; above its 32 bits: to stop?", 0x01C3A32F);
  s.set_control({0, 1});
  s.run_once(s.of(result), s.grid, 6);
  REQUIRE(s.control().next == kTasks + 6);
}

TEST_CASE("a worker that keeps a task which it does not run loses it") {
  transform::Result result = transformed("early_return", Form::preempt);
  sabotage(result, "to stop: the task goes back", kNop);
  Rng rng(5);
  ptrdiff_t lost = 0;
  // A flag that rises behind the last task loses none.
  for (int run = 0; run < 20 && lost == 0; ++run) {
    Subject s("early_return");
    s.run_workers(s.of(result), s.grid, rng);
    const std::vector<uint64_t> ran = s.take_words(kRan, kTasks);
    lost = std::count(ran.begin(), ran.end(), 0);
  }
  REQUIRE(lost > 0);
}

TEST_CASE("a flag that rises stops each worker after the task that it has begun", "[TL-PTB-05]") {
  Subject s("early_return");
  const Launch launch = s.of(transformed("early_return", Form::preempt));
  Rng rng(5);
  const Preemptions found = s.run_workers(launch, s.grid, rng);
  REQUIRE(found.stopped > 0);
  REQUIRE(s.control().next <= kTasks + 8);
  s.require_right();
}

TEST_CASE("the task index alone carries a kernel over its stops", "[TL-PTB-04]") {
  Subject s("early_return");
  const Launch launch = s.of(transformed("early_return", Form::preempt));
  for (const uint32_t next : {0, 1, 17, 59, 60}) {
    s.set_control({next, 0});
    s.run_once(launch, s.grid, 5);
    const std::vector<uint64_t> ran = s.take_words(kRan, kTasks);
    for (uint64_t id = 0; id < kTasks; ++id) REQUIRE((ran[id] != 0) == (id >= next));
  }
}

TEST_CASE("before it goes on, the host clears the flag alone", "[TL-PTB-07]") {
  Subject s("calls_once");
  const Launch launch = s.of(transformed("calls_once", Form::preempt));
  const Time span = s.last_time;
  Rng rng(13);
  REQUIRE(s.run_workers(launch, s.grid, rng).launches > 1);
  s.require_right();
  s.last_time = span;
  s.forgets_index = true;  // Tasks run again.
  s.run_workers(launch, s.grid, rng);
  REQUIRE(s.take_wrong_runs(kTasks) > 0);
}

TEST_CASE("with the stock ISA, early returns and barriers meet in memory") {
  require_equal_with_preemption("early_return", {kTasks, 1, 1}, Isa::stock);
}
TEST_CASE("with the stock ISA, a kernel with calls and a switch equals the original") {
  require_equal_with_preemption("calls_twice", {kTasks, 1, 1}, Isa::stock);
}
TEST_CASE("with the stock ISA, ids of three dimensions come from the task") {
  require_equal_with_preemption("places", {4, 5, 3}, Isa::stock);
}

TEST_CASE("with the stock ISA, a barrier that does not count its arrival makes results wrong") {
  Subject s("early_return");
  transform::Result result = transformed("early_return", Form::preempt, false, Isa::stock);
  sabotage(result, "someone has not", kNop);
  s.set_control({0, 0});
  s.run_once(s.of(result), s.grid, 5);
  REQUIRE(s.take_wrong_runs(kTasks) + s.take_wrong_words() > 0);
}

TEST_CASE("the stock ISA costs more for each task than votes") {
  Subject s("places", {kTasks, 1, 1});
  Time each[2];
  for (const Isa isa : {Isa::tile, Isa::stock}) {
    s.set_control({0, 0});
    s.run_once(s.of(transformed("places", Form::preempt, false, isa)), s.grid, 1);
    s.require_right();
    each[static_cast<unsigned>(isa)] = s.last_time / kTasks;
  }
  s.run(s.load(read_kernel_file("transform_subjects"), "places", kCode), {1, 1, 1});
  const Time alone = s.last_time;
  REQUIRE(each[0] > alone / 2);
  REQUIRE(each[1] > each[0]);
  WARN("a task: original launch " << alone / kNanosecond << " ns, votes " << each[0] / kNanosecond
                                  << " ns, stock " << each[1] / kNanosecond << " ns");
}

TEST_CASE("a preemptive kernel is one launch and costs time for each task", "[TL-PTB-06]") {
  Subject s("places", {kTasks, 1, 1});
  const Time original = s.last_time;
  s.set_control({0, 0});
  s.run_once(s.of(transformed("places", Form::preempt)), s.grid, 16);
  REQUIRE(s.control().next == kTasks + 16);
  REQUIRE(s.last_time > original);
  WARN("60 tasks: " << original / kNanosecond << " ns, by 16 workers " << s.last_time / kNanosecond
                    << " ns");
  s.require_right();
}

TEST_CASE("a kernel that takes a task twice is seen") {
  Subject s("early_return");
  transform::Result result = transformed("early_return", Form::preempt);
  sabotage(result, "which task", 0x00135313);  // srli t1, t1, 1
  s.set_control({0, 0});
  s.run_once(s.of(result), s.grid, 5);
  REQUIRE(s.take_wrong_runs(kTasks) > 0);
}

TEST_CASE("without unified synchronisation an early return makes results wrong", "[TL-USYNC-01]") {
  Subject s("early_return");
  transform::Result result = transformed("early_return", Form::preempt);
  leave_out_unified_synchronisation(result);
  s.set_control({0, 0});
  s.run_once(s.of(result), s.grid, 5);
  REQUIRE(s.take_wrong_runs(kTasks) + s.take_wrong_words() > 0);
}

TEST_CASE("tasks leave no tile behind") {
  Subject s("tiles_by_parity");
  Rng rng(17);
  s.run_workers(s.of(transformed("tiles_by_parity", Form::preempt)), s.grid, rng);
  s.require_right();
}

TEST_CASE("a worker that keeps its tiles finds no room") {
  Subject s("tiles_by_parity");
  transform::Result result = transformed("tiles_by_parity", Form::preempt);
  sabotage(result, "the task's tiles", kNop);
  s.set_control({0, 0});
  s.run_once(s.of(result), s.grid, 3);
  REQUIRE(s.has_fault(FaultKind::no_room));
}

TEST_CASE("private memory is zero for each task if that is asked for") {
  Subject s("private_sum");
  s.set_control({0, 0});
  s.run_once(s.of(transformed("private_sum", Form::preempt, true)), s.grid, 4);
  REQUIRE(s.take_wrong_runs(kTasks) == 0);
  for (const uint64_t word : s.take_words(kOut, 8 * kTasks)) REQUIRE(word == 0);
  // Else a task finds what the one before has left.
  s.set_control({0, 0});
  s.run_once(s.of(transformed("private_sum", Form::preempt)), s.grid, 4);
  const std::vector<uint64_t> words = s.take_words(kOut, 8 * kTasks);
  REQUIRE(std::count(words.begin(), words.end(), 0) < 8 * kTasks - 4 * (kTasks - 8));
}

TEST_CASE("private memory is zero for each work-group of a slice if that is asked for") {
  Subject s("private_sum");
  Rng rng(19);
  s.run_slices(s.of(transformed("private_sum", Form::slice, true)), s.grid, rng);
  REQUIRE(s.take_wrong_runs(kTasks) == 0);
  for (const uint64_t word : s.take_words(kOut, 8 * kTasks)) REQUIRE(word == 0);
}

TEST_CASE("a kernel that may run into rewritten code faults") {
  Subject s("early_return");
  const transform::Result result = transformed("calls_once", Form::preempt);
  for (const transform::Outcome& outcome : result.kernels)
    if (outcome.kernel == "calls_twice") REQUIRE(outcome.faults);
  s.run(s.load(result.elf, "calls_twice", kOther), s.grid);
  REQUIRE(s.has_fault(FaultKind::illegal_instruction));
}

TEST_CASE("a kernel of the same file that shares nothing runs as before") {
  Subject s("early_return");
  s.run(s.load(transformed("places", Form::preempt).elf, "early_return", kOther), s.grid);
  s.require_right();
}
