// SPDX-License-Identifier: Apache-2.0
// Question: do the firmware's functions for the grid scheduler, its model, the front end and the
// compute units stop, resume, gate and pipeline kernels so that each work-group runs exactly once?
// The firmware's C code is compiled for the host; its register accesses go to the machine.
#include <catch2/catch.hpp>

#include "tests/unit/gpu/machine_mmio.h"
#include "tests/unit/gpu/program.h"

using namespace stretto;
using namespace stretto::test;

namespace {

constexpr uint64_t kOut = kNode + 0x200000;

// Work-groups add one to a word of their own; most of them take some time before.
Program counting() {
  Program p;
  p.csr(1, TILE_CSR_WG_ID).constant(6, 300).addi(6, 6, -1).bnez(6, -1);
  p.constant(10, kOut).slli(7, 1, 3).add(10, 10, 7).ld(5, 10).addi(5, 5, 1).sd(5, 10).end();
  return p;
}

struct Bench {
  explicit Bench(unsigned workgroups) : program(counting()) {
    machine_of_test = &machine;
    machine.map(kOut, 0x10000, AllocationClass::uncached);
    program.put_into(machine);
    context = program.launch();
    context.registers_bytes = 128 * 1024;
    context.lds_bytes = 0;
    context.workgroups = workgroups;
    job.launch.registers_bytes = context.registers_bytes;
    job.launch.wavefronts = context.wavefronts;
    job.launch.grid = job.launch.count = workgroups;
    const unit_limits_t limits = {4, 256 * 1024, 96 * 1024, 64, 32};
    REQUIRE(grid_scheduler_init(&scheduler, &limits) == STRETTO_OK);
  }
  ~Bench() { machine_of_test = nullptr; }

  void start(unsigned slot) {
    machine.set_context(context, slot);
    job.slot = slot;
    REQUIRE(grid_control_launch(&scheduler, &job) == STRETTO_OK);
  }
  // The Tracker's.
  void event(uint16_t id) { machine.gpu.front_end.on_trigger(machine.queue.now(), id, 0, 0); }
  uint64_t strays() { return machine.read(GPU_COUNT_STRAY_EVENTS_OFFSET); }
  uint64_t ran(unsigned id) { return machine.value_at<uint64_t>(kOut + 8 * id); }
  uint64_t ran_in_all() {
    uint64_t sum = 0;
    for (unsigned id = 0; id < job.launch.grid; ++id) sum += ran(id);
    return sum;
  }

  GpuMachine machine;
  Program program;
  Launch context;
  grid_scheduler_t scheduler{};
  grid_job_t job{};
};

}  // namespace

TEST_CASE("a kernel that is stopped with a drain and resumed runs each work-group once") {
  Bench b(40);
  b.job.launch.start = 33;
  b.start(2);
  b.machine.run(20 * kNanosecond);  // Eight work-groups are on units and have not begun.
  REQUIRE(grid_control_preempt(&b.scheduler, 2, true) == STRETTO_OK);
  b.machine.run();
  REQUIRE(grid_scheduler_done(&b.scheduler) == 4);
  grid_report_t report;
  REQUIRE(grid_control_report(&b.scheduler, 2, &report) == STRETTO_OK);
  REQUIRE(report.preempted);
  REQUIRE(report.resident == 0);
  REQUIRE(report.undispatched > 0);
  std::vector<uint32_t> returned;
  uint32_t slot = 0;
  uint32_t id = 0;
  while (grid_control_take_returned(&b.scheduler, &slot, &id)) {
    REQUIRE(slot == 2);
    returned.push_back(id);
  }
  REQUIRE_FALSE(returned.empty());
  REQUIRE(b.ran_in_all() + returned.size() + report.undispatched == 40);
  grid_scheduler_release(&b.scheduler, 4);
  b.job.skip = 40 - report.undispatched;
  b.start(2);
  b.machine.run();
  b.job.skip = b.job.launch.start = 0;
  b.job.launch.count = 1;
  for (const uint32_t again : returned) {
    b.job.launch.first = again;
    b.start(3);
    b.machine.run();
    grid_scheduler_release(&b.scheduler, 8);
  }
  for (unsigned i = 0; i < 40; ++i) REQUIRE(b.ran(i) == 1);
  REQUIRE(b.machine.read_scheduler(GRID_SCHEDULER_DRAINED_OFFSET) == returned.size());
}

TEST_CASE("a kernel that is stopped while it runs finishes what has begun") {
  Bench b(40);
  b.start(0);
  b.machine.queue.run_until(200 * kNanosecond);  // To that time, whatever happens then.
  REQUIRE(grid_control_preempt(&b.scheduler, 0, true) == STRETTO_OK);
  b.machine.run();
  uint32_t slot = 0;
  uint32_t id = 0;
  REQUIRE_FALSE(grid_control_take_returned(&b.scheduler, &slot, &id));
  grid_report_t report;
  REQUIRE(grid_control_report(&b.scheduler, 0, &report) == STRETTO_OK);
  REQUIRE(b.ran_in_all() == 40 - report.undispatched);
  REQUIRE(report.undispatched > 0);
}

TEST_CASE("held work-groups of a synchronous stage come back, too") {
  GpuSpec spec = GpuMachine::small();
  spec.stage_mode = StageMode::synchronous;
  GpuMachine machine(spec);
  machine_of_test = &machine;
  machine.map(kOut, 0x10000, AllocationClass::uncached);
  const Program p = counting();
  p.put_into(machine);
  Launch launch = p.launch();
  launch.registers_bytes = 128 * 1024;
  launch.lds_bytes = 0;
  launch.workgroups = 40;
  machine.launch(launch, 0);
  for (Time limit = 0; machine.read(GPU_COUNT_RETIRED_OFFSET) == 0; limit += 10 * kNanosecond)
    machine.run(limit);
  const grid_scheduler_t scheduler = {STRETTO_GRID_SCHEDULER_BASE};
  REQUIRE(grid_control_preempt(&scheduler, 0, true) == STRETTO_OK);
  machine.run();
  grid_report_t report;
  REQUIRE(grid_control_report(&scheduler, 0, &report) == STRETTO_OK);
  REQUIRE(report.state == GRID_SCHEDULER_SLOT_STATE_STATE_DONE);
  REQUIRE(machine.gpu.waiting_on().empty());
  machine_of_test = nullptr;
}

TEST_CASE("a kernel that is stopped before its first work-group never begins for the memory") {
  Bench b(4);
  unsigned told = 0;
  KernelEvents events;
  events.kernel_start = events.kernel_end = [&](Time) { ++told; };
  b.machine.gpu.front_end.set_kernel_events(events);
  b.job.batch = 1;
  b.start(0);
  b.machine.run();
  REQUIRE(grid_control_preempt(&b.scheduler, 0, false) == STRETTO_OK);
  b.machine.run();
  REQUIRE(grid_scheduler_done(&b.scheduler) == 1);
  REQUIRE(told == 0);
  REQUIRE(b.machine.gpu.waiting_on().empty());
}

TEST_CASE("gated work-groups run when their gate opens, by event or by register") {
  Bench b(12);
  b.machine.write(GPU_EVENT_MAP_OFFSET, 1 | uint64_t{3} << 32);  // An event a gate.
  b.job.batch = 4;
  b.start(1);
  b.machine.run();
  REQUIRE(b.ran_in_all() == 0);
  b.event(1);  // Not their turn yet.
  b.machine.run();
  REQUIRE(b.ran_in_all() == 0);
  grid_control_open_gate(&b.scheduler, 0);
  b.machine.run();
  REQUIRE(b.ran_in_all() == 8);
  b.event(2);
  b.machine.run();
  for (unsigned i = 0; i < 12; ++i) REQUIRE(b.ran(i) == 1);
  REQUIRE(grid_scheduler_done(&b.scheduler) == 2);
}

TEST_CASE(
    "a gate opens with the last event of its ids, and a closed one is named with what it waits "
    "for",
    "[T3-AGC-02]") {
  Bench b(12);
  b.machine.write(GPU_EVENT_MAP_OFFSET,
                  2 | uint64_t{5} << 32);  // Gates 0 and 1 of two ids, gate 2 of one.
  b.job.batch = 4;
  b.start(1);
  b.event(0);
  b.event(3);
  b.machine.run();
  REQUIRE(b.ran_in_all() == 0);
  const std::vector<std::string> lines = b.machine.gpu.front_end.waiting_on();
  REQUIRE(lines.size() == 2);
  REQUIRE_THAT(
      lines[1],
      Catch::Contains("waits for gate 0 (1 of 2 events have come), 12 work-groups not placed"));
  b.event(1);
  b.machine.run();
  REQUIRE(b.ran_in_all() == 4);
  b.event(4);
  b.event(2);
  b.machine.run();
  REQUIRE(b.ran_in_all() == 12);
  REQUIRE(b.strays() == 0);
}

TEST_CASE("an event too many, or of an id without a gate, opens nothing and is a violated law") {
  Bench b(2);
  b.machine.write(GPU_EVENT_MAP_OFFSET, 1 | uint64_t{2} << 32);
  b.job.batch = 1;
  b.start(0);
  b.event(2);
  REQUIRE(b.strays() == 1);
  b.event(0);
  b.event(0);
  REQUIRE(b.strays() == 2);
  b.machine.write(GPU_EVENT_MAP_OFFSET, 1 | uint64_t{2000} << 32);  // More than there are gates.
  b.event(1024);
  REQUIRE(b.strays() == 3);
  b.machine.run();
  REQUIRE(b.ran_in_all() == 1);
  AuditSink audit;
  b.machine.gpu.front_end.audit(audit);
  REQUIRE(std::any_of(audit.all().begin(), audit.all().end(), [](const AuditResult& one) {
    return one.law == "scheduling events that no gate waits for = 0" && !one.holds;
  }));
}

TEST_CASE("a pipeline starts when all of it fits, and one that never fits is refused") {
  Bench b(4);
  b.start(0);  // Half of the units' room for a while.
  grid_job_t jobs[2] = {b.job, b.job};
  jobs[0].slot = 5;
  jobs[1].slot = 6;
  b.machine.set_context(b.context, 5);
  b.machine.set_context(b.context, 6);
  REQUIRE(grid_control_launch_pipeline(&b.scheduler, jobs, 2) == STRETTO_OK);
  b.machine.run();
  REQUIRE(b.machine.read_scheduler(GRID_SCHEDULER_FINISHED_OFFSET) == 12);
  REQUIRE(grid_scheduler_done(&b.scheduler) == 0x61);
  grid_scheduler_release(&b.scheduler, 0x61);
  jobs[1].launch.grid = jobs[1].launch.count = 5;  // Nine, and there is room for eight.
  REQUIRE(grid_control_launch_pipeline(&b.scheduler, jobs, 2) == STRETTO_OK);
  b.machine.run();
  REQUIRE(b.machine.read_scheduler(GRID_SCHEDULER_FINISHED_OFFSET) == 12);
  grid_report_t report;
  REQUIRE(grid_control_report(&b.scheduler, 5, &report) == STRETTO_OK);
  REQUIRE(report.state == GRID_SCHEDULER_SLOT_STATE_STATE_REFUSED);
  REQUIRE(report.reason == GRID_SCHEDULER_SLOT_STATE_REASON_NEVER_FITS);
  REQUIRE(b.machine.gpu.waiting_on().empty());
}

TEST_CASE("a pipeline with a member that cannot run is not launched") {
  Bench b(2);
  b.machine.set_context(b.context, 1);
  Launch broken = b.context;
  broken.entry = 2;
  b.machine.set_context(broken, 2);
  grid_job_t jobs[2] = {b.job, b.job};
  jobs[0].slot = 1;
  jobs[1].slot = 2;
  REQUIRE(grid_control_launch_pipeline(&b.scheduler, jobs, 2) == STRETTO_OK);
  b.machine.run();
  REQUIRE(b.machine.gpu.front_end.fault_count() == 1);
  REQUIRE(b.ran_in_all() == 0);
  REQUIRE(b.machine.read_scheduler(GRID_SCHEDULER_PIPELINE_OFFSET) == 0);
  REQUIRE(b.machine.gpu.waiting_on().empty());
}
