// SPDX-License-Identifier: Apache-2.0
// Question: does the register access layer of the grid scheduler write the right values in the
// order that the device needs, and refuse what it must? State space: one call on a fresh device;
// each guard once. Expected numbers are worked out by hand in the comments.
#include "sw/firmware/hal/grid_control.h"
#include "sw/firmware/hal/grid_scheduler.h"
#include "sw/include/formats/code_object.h"
#include "sw/include/regs/grid_scheduler_regs.h"
#include "tests/unit/sw/hal/hal_test.h"

namespace {

grid_launch_t small_launch() {
  grid_launch_t launch = {};
  launch.registers_bytes = 1024;
  launch.wavefronts = 1;
  launch.grid = 10;
  launch.first = 2;
  launch.count = 8;
  launch.start = 7;
  return launch;
}

grid_job_t small_job(uint32_t slot) {
  grid_job_t job = {};
  job.slot = slot;
  job.launch = small_launch();
  return job;
}

}  // namespace

TEST_CASE("a launch programs needs in KiB rounded up, range and staggered order, then starts") {
  MockMmio mmio;
  const grid_scheduler_t scheduler = {STRETTO_GRID_SCHEDULER_BASE};
  const auto at = [](uint64_t offset) { return STRETTO_GRID_SCHEDULER_BASE + offset + 5 * 0x40; };
  mmio.expect_write(at(GRID_SCHEDULER_SLOT_NEEDS_OFFSET),
                    113 | 32 << 16 | uint64_t{8} << 32 | uint64_t{1} << 48);
  mmio.expect_write(at(GRID_SCHEDULER_SLOT_RANGE_OFFSET), uint64_t{2176} << 32);
  mmio.expect_write(at(GRID_SCHEDULER_SLOT_ORDER_OFFSET), 2176 | uint64_t{272} << 32);
  mmio.expect_write(at(GRID_SCHEDULER_SLOT_CONTROL_OFFSET), 1);
  grid_job_t job = {};
  job.slot = 5;
  job.launch.registers_bytes = 112 * 1024 + 1;
  job.launch.lds_bytes = 32 * 1024;
  job.launch.wavefronts = 8;
  job.launch.type = STRETTO_KERNEL_TENSOR;
  job.launch.grid = job.launch.count = 2176;
  job.launch.start = 272;
  CHECK(grid_control_launch(&scheduler, &job) == STRETTO_OK);
}

TEST_CASE("a launch outside of its grid is refused without a write") {
  MockMmio mmio;
  const grid_scheduler_t scheduler = {STRETTO_GRID_SCHEDULER_BASE};
  grid_job_t job = small_job(0);
  job.launch.count = 9;
  CHECK(grid_control_launch(&scheduler, &job) == STRETTO_ERROR_ARGUMENT);
  job = small_job(0);
  job.launch.count = 0;
  CHECK(grid_control_launch(&scheduler, &job) == STRETTO_ERROR_ARGUMENT);
  job = small_job(0);
  job.launch.type = 2;
  CHECK(grid_control_launch(&scheduler, &job) == STRETTO_ERROR_ARGUMENT);
  job = small_job(0);
  job.launch.start = 8;
  CHECK(grid_control_launch(&scheduler, &job) == STRETTO_ERROR_ARGUMENT);
  job = small_job(32);
  CHECK(grid_control_launch(&scheduler, &job) == STRETTO_ERROR_ARGUMENT);
  job = small_job(0);
  job.skip = 8;
  CHECK(grid_control_launch(&scheduler, &job) == STRETTO_ERROR_ARGUMENT);
  job = small_job(0);
  job.priority = 4;
  CHECK(grid_control_launch(&scheduler, &job) == STRETTO_ERROR_ARGUMENT);
  job = small_job(0);
  job.batch = 65536;
  CHECK(grid_control_launch(&scheduler, &job) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("a gated launch that resumes gives skip, gate and phase of its first position") {
  MockMmio mmio;
  const grid_scheduler_t scheduler = {STRETTO_GRID_SCHEDULER_BASE};
  grid_job_t job = small_job(0);
  job.skip = 6;  // Position (7 + 6) mod 8 = 5: the last one of gate 1.
  job.batch = 3;
  job.priority = 2;
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_NEEDS_OFFSET,
                    1 | uint64_t{1} << 32 | uint64_t{2} << 56);
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_RANGE_OFFSET,
                    2 | uint64_t{8} << 32);
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_ORDER_OFFSET,
                    10 | uint64_t{7} << 32);
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_SKIP_OFFSET, 6);
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_GATE_OFFSET,
                    3 | 1 << 16 | uint64_t{2} << 32);
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_CONTROL_OFFSET, 1);
  CHECK(grid_control_launch(&scheduler, &job) == STRETTO_OK);
}

TEST_CASE("a pipeline is programmed slot by slot and launched with one write") {
  MockMmio mmio;
  const grid_scheduler_t scheduler = {STRETTO_GRID_SCHEDULER_BASE};
  const grid_job_t jobs[2] = {small_job(6), small_job(1)};
  for (const uint64_t slot : {6, 1}) {
    const auto at = [slot](uint64_t offset) {
      return STRETTO_GRID_SCHEDULER_BASE + offset + slot * 0x40;
    };
    mmio.expect_write(at(GRID_SCHEDULER_SLOT_NEEDS_OFFSET), 1 | uint64_t{1} << 32);
    mmio.expect_write(at(GRID_SCHEDULER_SLOT_RANGE_OFFSET), 2 | uint64_t{8} << 32);
    mmio.expect_write(at(GRID_SCHEDULER_SLOT_ORDER_OFFSET), 10 | uint64_t{7} << 32);
  }
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_PIPELINE_OFFSET, 0x42);
  CHECK(grid_control_launch_pipeline(&scheduler, jobs, 2) == STRETTO_OK);
}

TEST_CASE("a pipeline with a slot given twice or a gated member is refused without a write") {
  MockMmio mmio;
  const grid_scheduler_t scheduler = {STRETTO_GRID_SCHEDULER_BASE};
  grid_job_t jobs[2] = {small_job(3), small_job(3)};
  CHECK(grid_control_launch_pipeline(&scheduler, jobs, 2) == STRETTO_ERROR_ARGUMENT);
  CHECK(grid_control_launch_pipeline(&scheduler, jobs, 0) == STRETTO_ERROR_ARGUMENT);
  jobs[1] = small_job(4);
  jobs[1].batch = 1;
  CHECK(grid_control_launch_pipeline(&scheduler, jobs, 2) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("preemption is one write, and the report says what was placed") {
  MockMmio mmio;
  const grid_scheduler_t scheduler = {STRETTO_GRID_SCHEDULER_BASE};
  const uint64_t slot = STRETTO_GRID_SCHEDULER_BASE + 2 * 0x40;
  mmio.expect_write(slot + GRID_SCHEDULER_SLOT_CONTROL_OFFSET, 2);
  mmio.expect_write(slot + GRID_SCHEDULER_SLOT_CONTROL_OFFSET, 6);
  mmio.expect_read(slot + GRID_SCHEDULER_SLOT_STATE_OFFSET,
                   2 | 1 << 2 | 5 << 16 | uint64_t{77} << 32);
  CHECK(grid_control_preempt(&scheduler, 2, false) == STRETTO_OK);
  CHECK(grid_control_preempt(&scheduler, 2, true) == STRETTO_OK);
  grid_report_t report;
  CHECK(grid_control_report(&scheduler, 2, &report) == STRETTO_OK);
  CHECK(report.state == GRID_SCHEDULER_SLOT_STATE_STATE_DONE);
  CHECK(report.reason == GRID_SCHEDULER_SLOT_STATE_REASON_NONE);
  CHECK(report.preempted);
  CHECK(report.resident == 5);
  CHECK(report.undispatched == 77);
  CHECK(grid_control_preempt(&scheduler, 32, false) == STRETTO_ERROR_ARGUMENT);
  CHECK(grid_control_report(&scheduler, 32, &report) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("returned work-groups are taken one by one") {
  MockMmio mmio;
  const grid_scheduler_t scheduler = {STRETTO_GRID_SCHEDULER_BASE};
  mmio.expect_read(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_RETURNED_OFFSET,
                   uint64_t{1} << 63 | uint64_t{5} << 32 | 1234);
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_RETURNED_TAKE_OFFSET, 0);
  mmio.expect_read(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_RETURNED_OFFSET, 0);
  uint32_t slot = 0;
  uint32_t id = 0;
  CHECK(grid_control_take_returned(&scheduler, &slot, &id));
  CHECK(slot == 5);
  CHECK(id == 1234);
  CHECK_FALSE(grid_control_take_returned(&scheduler, &slot, &id));
}

TEST_CASE("policy, gates and the use of a unit are one access each") {
  MockMmio mmio;
  const grid_scheduler_t scheduler = {STRETTO_GRID_SCHEDULER_BASE};
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_POLICY_OFFSET, 1);
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_POLICY_OFFSET, 3);
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_POLICY_OFFSET, 4);
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_GATE_SET_OFFSET, 99);
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_GATE_CLEAR_OFFSET, 0);
  mmio.expect_read(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_UNIT_USE_OFFSET + 8 * 159,
                   200 | 40 << 16 | uint64_t{6} << 32 | uint64_t{2} << 48);
  grid_control_set_policy(&scheduler, true, false, false);
  grid_control_set_policy(&scheduler, true, true, false);
  grid_control_set_policy(&scheduler, false, false, true);
  grid_control_open_gate(&scheduler, 99);
  grid_control_close_gates(&scheduler);
  unit_limits_t used;
  CHECK(grid_control_unit_use(&scheduler, 159, &used) == STRETTO_OK);
  CHECK(used.registers_bytes == 200 * 1024);
  CHECK(used.lds_bytes == 40 * 1024);
  CHECK(used.wavefronts == 6);
  CHECK(used.work_groups == 2);
  CHECK(grid_control_unit_use(&scheduler, 160, &used) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("the scheduler learns what a unit has, rounded down") {
  MockMmio mmio;
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_CUS_OFFSET, 80);
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_CAPACITY_OFFSET,
                    0x0020004000600100);
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_IRQ_ENABLE_OFFSET, 0xFFFFFFFF);
  grid_scheduler_t scheduler;
  const unit_limits_t limits = {80, 256 * 1024 + 1023, 96 * 1024, 64, 32};
  CHECK(grid_scheduler_init(&scheduler, &limits) == STRETTO_OK);
}
