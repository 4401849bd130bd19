// SPDX-License-Identifier: Apache-2.0
// Question: does the register access layer write the right values in the order that the devices
// need, and does it refuse what it must? State space: one call on a fresh device. Parameters: each
// guard once; output shapes of T3 (T-NLG FC-2: 8192 x 4256, tiles of 128 x 128) and ragged ones.
// Expected numbers are worked out by hand in the comments.
#include <string>

#include "sw/firmware/hal/dma.h"
#include "sw/firmware/hal/gpu.h"
#include "sw/firmware/hal/grid_control.h"
#include "sw/firmware/hal/grid_scheduler.h"
#include "sw/firmware/hal/intc.h"
#include "sw/firmware/hal/mca.h"
#include "sw/firmware/hal/range_table.h"
#include "sw/firmware/hal/tracker.h"
#include "sw/include/formats/code_object.h"
#include "sw/include/regs/cp_regs.h"
#include "sw/include/regs/dma_regs.h"
#include "sw/include/regs/gpu_regs.h"
#include "sw/include/regs/grid_scheduler_regs.h"
#include "sw/include/regs/hbm_regs.h"
#include "sw/include/regs/mca_regs.h"
#include "sw/include/regs/range_table_regs.h"
#include "sw/include/regs/tracker_regs.h"
#include "tests/support/mock_mmio.h"

using stretto::test::MockMmio;

// Only report.c needs it, which these tests never reach.
extern "C" [[noreturn]] void end_run(uint64_t tohost) { throw tohost; }

namespace {

constexpr uint64_t kMca = STRETTO_MCA_BASE + 63 * 0x400;

tracker_output_t tnlg_output() { return {8192, 4256, 128, 128, 8, 2, 2, 0}; }

tracker_t fresh_tracker() {
  tracker_t t;
  REQUIRE(tracker_init(&t) == STRETTO_OK);
  return t;
}

}  // namespace

TEST_CASE(
    "the arbiters get limit and starvation limit before the policy, through the broadcast window") {
  MockMmio mmio;
  mca_t mca;
  REQUIRE(mca_init(&mca) == STRETTO_OK);
  mmio.expect_write(kMca + MCA_THRESHOLD_OFFSET, 5);
  mmio.expect_write(kMca + MCA_STARVE_LIMIT_OFFSET, 1000);
  mmio.expect_write(kMca + MCA_CONTROL_OFFSET, 1);  // communication_aware, fixed
  const mca_policy_t policy = {MCA_CONTROL_POLICY_COMMUNICATION_AWARE, false, 5, 1000};
  CHECK(mca_configure(&mca, &policy) == STRETTO_OK);
}

TEST_CASE("an arbiter policy or limit that does not exist is refused without a write") {
  MockMmio mmio;
  mca_t mca;
  REQUIRE(mca_init(&mca) == STRETTO_OK);
  const mca_policy_t unknown = {MCA_CONTROL_POLICY_MAX + 1, false, 0, 0};
  const mca_policy_t too_large = {0, false, 128, 0};
  CHECK(mca_init(nullptr) == STRETTO_ERROR_ARGUMENT);
  CHECK(mca_configure(&mca, nullptr) == STRETTO_ERROR_ARGUMENT);
  CHECK(mca_configure(&mca, &unknown) == STRETTO_ERROR_ARGUMENT);
  CHECK(mca_configure(&mca, &too_large) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE(
    "T3-TRK-06, -07: the Tracker gets shape and thresholds of every tile class in half-words") {
  MockMmio mmio;
  const tracker_t t = fresh_tracker();
  // 64 x 34 tiles (4256 = 33 * 128 + 32). ceil(2^24 / 34) = 493448.
  mmio.expect_write(t.base + TRACKER_TILES_OFFSET, 2176 | uint64_t{63 * 34} << 32);
  mmio.expect_write(t.base + TRACKER_COLUMNS_OFFSET, 34 | uint64_t{493448} << 32);
  mmio.expect_write(t.base + TRACKER_UNTRACKED_OFFSET, 0);
  // 16 rows x 128 columns x 2 updates = 4096; right column 16 x 32 x 2 = 1024. 8192 = 64 * 128:
  // bottom tiles are whole.
  const uint64_t interior = 0x1000100010001000, right = 0x0400040004000400;
  for (unsigned i = 0; i < 8; ++i) {
    mmio.expect_write(t.base + TRACKER_THRESHOLD_OFFSET_AT(i), (i / 2) % 2 == 0 ? interior : right);
  }
  const tracker_output_t output = tnlg_output();
  CHECK(tracker_configure(&t, &output) == STRETTO_OK);
}

TEST_CASE("wavefronts without rows in the bottom tiles have threshold 0") {
  MockMmio mmio;
  const tracker_t t = fresh_tracker();
  // 300 x 200: 3 x 2 tiles; bottom tiles have 44 rows: wavefronts 0, 1 have 16, wavefront 2 has 12;
  // right tiles 72 columns.
  mmio.expect_write(t.base + TRACKER_TILES_OFFSET, 6 | uint64_t{4} << 32);
  mmio.expect_write(t.base + TRACKER_COLUMNS_OFFSET, 2 | uint64_t{1 << 23} << 32);
  mmio.expect_write(t.base + TRACKER_UNTRACKED_OFFSET, 0);
  const uint64_t expected[8] = {
      0x1000100010001000,
      0x1000100010001000,  // interior: 16 * 128 * 2
      0x0900090009000900,
      0x0900090009000900,  // right: 16 * 72 * 2 = 2304
      4096 | 4096ull << 16 | 12 * 128 * 2ull << 32,
      0,  // bottom
      2304 | 2304ull << 16 | 12 * 72 * 2ull << 32,
      0,  // corner
  };
  for (unsigned i = 0; i < 8; ++i)
    mmio.expect_write(t.base + TRACKER_THRESHOLD_OFFSET_AT(i), expected[i]);
  const tracker_output_t output = {300, 200, 128, 128, 8, 2, 2, 0};
  CHECK(tracker_configure(&t, &output) == STRETTO_OK);
}

TEST_CASE("the Tracker refuses outputs it cannot count, without a write") {
  MockMmio mmio;
  const tracker_t t = fresh_tracker();
  const auto refused = [&t](auto change) {
    tracker_output_t output = tnlg_output();
    change(output);
    return tracker_configure(&t, &output) == STRETTO_ERROR_ARGUMENT;
  };
  CHECK(refused([](tracker_output_t& o) { o.m = 0; }));
  CHECK(refused([](tracker_output_t& o) { o.n = 0; }));
  CHECK(refused([](tracker_output_t& o) { o.tile_n = 0; }));
  CHECK(refused([](tracker_output_t& o) { o.wavefronts = 9; }));
  CHECK(refused([](tracker_output_t& o) { o.wavefronts = 3; }));  // does not divide 128 rows
  CHECK(refused([](tracker_output_t& o) { o.updates = 0; }));
  CHECK(refused([](tracker_output_t& o) { o.updates = 17; }));  // 2048 * 17 > 32768
  CHECK(refused([](tracker_output_t& o) { o.element_bytes = 3; }));
  CHECK(refused([](tracker_output_t& o) { o.m = 128 * 2000; }));  // 68000 tiles
  CHECK(tracker_configure(&t, nullptr) == STRETTO_ERROR_ARGUMENT);
  CHECK(tracker_set_untracked(&t, 65536, 1) == STRETTO_ERROR_ARGUMENT);
  CHECK(tracker_set_events(&t, 65536, 1) == STRETTO_ERROR_ARGUMENT);
  CHECK(tracker_set_spill_table(&t, 32, 64) == STRETTO_ERROR_ARGUMENT);
  CHECK(tracker_start(&t, 9) == STRETTO_ERROR_ARGUMENT);
  CHECK(tracker_init(nullptr) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("a busy Tracker is not stopped, a quiet one is disabled before it is cleared") {
  const tracker_t t = fresh_tracker();
  {
    MockMmio mmio;
    mmio.expect_read(t.base + TRACKER_STATUS_OFFSET, 1);
    CHECK(tracker_stop(&t) == STRETTO_ERROR_STATE);
  }
  MockMmio mmio;
  mmio.expect_read(t.base + TRACKER_STATUS_OFFSET, 0);
  mmio.expect_write(t.base + TRACKER_CONTROL_OFFSET, 0);
  mmio.expect_write(t.base + TRACKER_CLEAR_OFFSET, 1);
  CHECK(tracker_stop(&t) == STRETTO_OK);
}

TEST_CASE("a range entry becomes valid by its last write") {
  MockMmio mmio;
  range_table_t table = {STRETTO_RANGE_TABLE_BASE, 3};
  const uint64_t base = STRETTO_RANGE_TABLE_BASE;
  mmio.expect_write(base + RANGE_TABLE_ENTRY_BASE_OFFSET_AT(3), 0x10000001000);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_PITCH_OFFSET_AT(3), 8512);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET_AT(3), 256);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_ROWS_OFFSET_AT(3), 128);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_PEER_BASE_OFFSET_AT(3), 0x20000001000);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_FLAGS_OFFSET_AT(3),
                    1 | 1 << 1 | 1 << 3 | 1 << 4 | 2 << 5);
  mmio.expect_read(base + RANGE_TABLE_STATUS_OFFSET, 0);
  const range_t range = {0x10000001000, 256,          8512,
                         128,           RANGE_REMOTE, STRETTO_ALLOCATION_UNCACHED,
                         true,          true,         0x20000001000};
  CHECK(range_table_add(&table, &range) == STRETTO_OK);
  CHECK(table.used == 4);
}

TEST_CASE("a range that overlaps another is taken out again and reported") {
  MockMmio mmio;
  range_table_t table = {STRETTO_RANGE_TABLE_BASE, 0};
  const uint64_t base = STRETTO_RANGE_TABLE_BASE;
  for (const uint64_t offset : {RANGE_TABLE_ENTRY_BASE_OFFSET, RANGE_TABLE_ENTRY_PITCH_OFFSET}) {
    mmio.expect_write(base + offset, offset == RANGE_TABLE_ENTRY_BASE_OFFSET ? 0x10000001000 : 0);
  }
  mmio.expect_write(base + RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET, 64);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_ROWS_OFFSET, 1);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_PEER_BASE_OFFSET, 0);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_FLAGS_OFFSET, 1);
  mmio.expect_read(base + RANGE_TABLE_STATUS_OFFSET, RANGE_TABLE_STATUS_OVERLAP_MASK);
  mmio.expect_write(base + RANGE_TABLE_STATUS_OFFSET, RANGE_TABLE_STATUS_OVERLAP_MASK);
  mmio.expect_write(base + RANGE_TABLE_CLEAR_OFFSET, RANGE_TABLE_CLEAR_ONE_MASK);
  const range_t range = {0x10000001000, 64,    0, 1, RANGE_LOCAL, STRETTO_ALLOCATION_CACHED,
                         false,         false, 0};
  CHECK(range_table_add(&table, &range) == STRETTO_ERROR_OVERLAP);
  CHECK(table.used == 0);
}

TEST_CASE(
    "the last entry takes the place of one that is removed, and none is written for the last") {
  MockMmio mmio;
  const uint64_t base = STRETTO_RANGE_TABLE_BASE;
  range_table_t table = {base, 3};
  mmio.expect_read(base + RANGE_TABLE_ENTRY_BASE_OFFSET_AT(0), 0x10000001000);
  mmio.expect_write(base + RANGE_TABLE_CLEAR_OFFSET, RANGE_TABLE_CLEAR_ONE_MASK);
  uint64_t value = 0x77;
  for (const uint64_t offset :
       {RANGE_TABLE_ENTRY_BASE_OFFSET, RANGE_TABLE_ENTRY_PITCH_OFFSET,
        RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET, RANGE_TABLE_ENTRY_ROWS_OFFSET,
        RANGE_TABLE_ENTRY_PEER_BASE_OFFSET, RANGE_TABLE_ENTRY_FLAGS_OFFSET}) {
    mmio.expect_read(base + offset + 2 * RANGE_TABLE_ENTRY_BASE_STRIDE, ++value);
    mmio.expect_write(base + offset, value);
  }
  mmio.expect_write(base + RANGE_TABLE_CLEAR_OFFSET, RANGE_TABLE_CLEAR_ONE_MASK | 2);
  CHECK(range_table_remove(&table, 0x10000001000) == STRETTO_OK);
  CHECK(table.used == 2);
  mmio.expect_read(base + RANGE_TABLE_ENTRY_BASE_OFFSET_AT(0), 0x78);
  mmio.expect_read(base + RANGE_TABLE_ENTRY_BASE_OFFSET_AT(1), 0x99);
  mmio.expect_write(base + RANGE_TABLE_CLEAR_OFFSET, RANGE_TABLE_CLEAR_ONE_MASK | 1);
  CHECK(range_table_remove(&table, 0x99) == STRETTO_OK);
  mmio.expect_read(base + RANGE_TABLE_ENTRY_BASE_OFFSET_AT(0), 0x78);
  CHECK(range_table_remove(&table, 0x99) == STRETTO_ERROR_UNMAPPED);
  CHECK(table.used == 1);
}

TEST_CASE(
    "a range without bytes, with overlapping rows, of no known kind, or beyond the table is "
    "refused") {
  MockMmio mmio;
  range_table_t table = {STRETTO_RANGE_TABLE_BASE, 0};
  const range_t good = {0x10000001000, 64,    64, 2, RANGE_LOCAL, STRETTO_ALLOCATION_CACHED,
                        false,         false, 0};
  range_t range = good;
  range.rows = 0;
  CHECK(range_table_add(&table, &range) == STRETTO_ERROR_ARGUMENT);
  range = good;
  range.row_bytes = 0;
  CHECK(range_table_add(&table, &range) == STRETTO_ERROR_ARGUMENT);
  range = good;
  range.pitch = 63;
  CHECK(range_table_add(&table, &range) == STRETTO_ERROR_ARGUMENT);
  range = good;
  range.kind = 3;
  CHECK(range_table_add(&table, &range) == STRETTO_ERROR_ARGUMENT);
  table.used = RANGE_TABLE_ENTRY_BASE_COUNT;
  CHECK(range_table_add(&table, &good) == STRETTO_ERROR_TABLE_FULL);
  CHECK(range_table_truncate(&table, table.used + 1) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("a DMA region becomes valid by its last write and is read back") {
  MockMmio mmio;
  const dma_t dma = {STRETTO_DMA_BASE};
  const auto at = [](uint64_t offset) { return STRETTO_DMA_BASE + offset + 2 * 128; };
  mmio.expect_write(at(DMA_REGION_RANGE_OFFSET), 272 | uint64_t{272} << 32);
  mmio.expect_write(at(DMA_REGION_BASE_OFFSET), 0x10000200000);
  mmio.expect_write(at(DMA_REGION_PEER_OFFSET), 0x80000200000);
  mmio.expect_write(at(DMA_REGION_PITCH_OFFSET), 8512);
  mmio.expect_write(at(DMA_REGION_SIZE_OFFSET), 8192 | uint64_t{4256} << 32);
  mmio.expect_write(at(DMA_REGION_TILE_OFFSET), 128 | 128 << 16 | uint64_t{34} << 32);
  mmio.expect_write(at(DMA_REGION_WAVEFRONTS_OFFSET), 8 | 16 << 16);
  const uint64_t control = 1 | 1 << 4 | 1 << 5 | 2 << 12 | 1 << 16;
  mmio.expect_write(at(DMA_REGION_CONTROL_OFFSET), control);
  mmio.expect_read(at(DMA_REGION_CONTROL_OFFSET), control);
  const dma_region_t region = {0x10000200000, 0x80000200000, 8512, 8192, 4256, 128,  128,  34, 8,
                               272,           272,           1,    0,    2,    true, false};
  CHECK(dma_set_region(&dma, 2, &region) == STRETTO_OK);
}

TEST_CASE("DMA regions and fills out of range are refused without a write") {
  MockMmio mmio;
  const dma_t dma = {STRETTO_DMA_BASE};
  const dma_region_t good = {0x10000200000, 0, 8512, 8192, 4256, 128,  128, 34, 8, 0,
                             272,           0, 0,    2,    true, false};
  const auto refused = [&](auto change) {
    dma_region_t region = good;
    change(region);
    return dma_set_region(&dma, 0, &region) == STRETTO_ERROR_ARGUMENT;
  };
  CHECK(dma_set_region(&dma, 128, &good) == STRETTO_ERROR_ARGUMENT);
  CHECK(refused([](dma_region_t& r) { r.tile_count = 0; }));
  CHECK(refused([](dma_region_t& r) { r.first_tile = 65535; }));
  CHECK(refused([](dma_region_t& r) { r.wavefronts = 0; }));
  CHECK(refused([](dma_region_t& r) { r.wavefronts = 5; }));
  CHECK(refused([](dma_region_t& r) { r.m = 0; }));
  CHECK(refused([](dma_region_t& r) { r.block_tiles = 65536; }));
  uint64_t id = 0;
  CHECK(dma_fill(&dma, 0x10000000000, 0, 0, 4, &id) == STRETTO_ERROR_ARGUMENT);
  CHECK(dma_fill(&dma, 0x10000000000, 12, 0, 4, &id) == STRETTO_ERROR_ARGUMENT);
  CHECK(dma_fill(&dma, 0x10000000004, 8, 0, 4, &id) == STRETTO_ERROR_ARGUMENT);
  CHECK(dma_fill(&dma, 0x10000000000, 8, 0, 4, nullptr) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("a fill into a full queue is held back") {
  MockMmio mmio;
  const dma_t dma = {STRETTO_DMA_BASE};
  mmio.expect_read(STRETTO_DMA_BASE + DMA_QUEUE_STATUS_OFFSET, 0);
  uint64_t id = 0;
  CHECK(dma_fill(&dma, 0x10000000000, 64, 0, 4, &id) == STRETTO_ERROR_TABLE_FULL);
}

TEST_CASE("an interrupt storm acknowledges each cause once") {
  MockMmio mmio;
  const dma_t dma = {STRETTO_DMA_BASE};
  mmio.expect_write(STRETTO_DMA_BASE + DMA_QUEUE_STATUS_OFFSET, 1);
  mmio.expect_read(STRETTO_DMA_BASE + DMA_REGION_DONE_OFFSET_AT(0), 0x11);
  mmio.expect_write(STRETTO_DMA_BASE + DMA_REGION_DONE_OFFSET_AT(0), 0x11);
  mmio.expect_read(STRETTO_DMA_BASE + DMA_REGION_DONE_OFFSET_AT(1), 0);
  uint64_t done[2] = {0x2, 0};
  dma_take_done(&dma, done);
  CHECK(done[0] == 0x13);
  CHECK(done[1] == 0);
}

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
  job = small_job(8);
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
  CHECK(grid_control_preempt(&scheduler, 8, false) == STRETTO_ERROR_ARGUMENT);
  CHECK(grid_control_report(&scheduler, 8, &report) == STRETTO_ERROR_ARGUMENT);
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
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_GATE_SET_OFFSET, 99);
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_GATE_CLEAR_OFFSET, 0);
  mmio.expect_read(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_UNIT_USE_OFFSET + 8 * 159,
                   200 | 40 << 16 | uint64_t{6} << 32 | uint64_t{2} << 48);
  grid_control_set_policy(&scheduler, true, false);
  grid_control_set_policy(&scheduler, true, true);
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
  mmio.expect_write(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_IRQ_ENABLE_OFFSET, 0xFF);
  grid_scheduler_t scheduler;
  const unit_limits_t limits = {80, 256 * 1024 + 1023, 96 * 1024, 64, 32};
  CHECK(grid_scheduler_init(&scheduler, &limits) == STRETTO_OK);
}

TEST_CASE("a fault is read completely before it is acknowledged") {
  MockMmio mmio;
  const gpu_t gpu = {STRETTO_GPU_BASE};
  mmio.expect_read(STRETTO_GPU_BASE + GPU_FAULT_STATUS_OFFSET, 1);
  mmio.expect_read(STRETTO_GPU_BASE + GPU_FAULT_KIND_OFFSET,
                   2 | 3 << 16 | uint64_t{17} << 24 | uint64_t{5} << 32);
  mmio.expect_read(STRETTO_GPU_BASE + GPU_FAULT_ADDRESS_OFFSET, 0xdead0);
  mmio.expect_read(STRETTO_GPU_BASE + GPU_FAULT_PC_OFFSET, 0x1000);
  mmio.expect_read(STRETTO_GPU_BASE + GPU_FAULT_WG_OFFSET, 99);
  mmio.expect_write(STRETTO_GPU_BASE + GPU_FAULT_STATUS_OFFSET, 1);
  gpu_fault_t fault;
  REQUIRE(gpu_take_fault(&gpu, &fault));
  CHECK(std::string(gpu_fault_name(fault.kind)) == "store to an unmapped address");
  CHECK(fault.slot == 3);
  CHECK(fault.cu == 17);
  CHECK(fault.wavefront == 5);
  CHECK(fault.address == 0xdead0);
  CHECK(fault.work_group == 99);
  CHECK(std::string(gpu_fault_name(200)) == "unknown");
}

TEST_CASE("a dispatch context with impossible fields is refused without a write") {
  MockMmio mmio;
  const gpu_t gpu = {STRETTO_GPU_BASE};
  gpu_context_t context = {};
  context.wavefronts = 8;
  context.grid = 1;
  CHECK(gpu_set_context(&gpu, 8, &context) == STRETTO_ERROR_ARGUMENT);
  context.wavefronts = 9;
  CHECK(gpu_set_context(&gpu, 0, &context) == STRETTO_ERROR_ARGUMENT);
  context.wavefronts = 8;
  context.account = 16;
  CHECK(gpu_set_context(&gpu, 0, &context) == STRETTO_ERROR_ARGUMENT);
  context.account = 1;
  context.grid = 0;
  CHECK(gpu_set_context(&gpu, 0, &context) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("a line of the interrupt controller is enabled beside the others") {
  MockMmio mmio;
  mmio.expect_read(STRETTO_INTC_BASE + INTC_ENABLE_OFFSET_AT(1), 1 << 2);
  mmio.expect_write(STRETTO_INTC_BASE + INTC_ENABLE_OFFSET_AT(1), 1 << 2 | 1 << 3);
  CHECK(intc_enable(1, STRETTO_IRQ_DMA) == STRETTO_OK);
  CHECK(intc_enable(INTC_ENABLE_COUNT, STRETTO_IRQ_DMA) == STRETTO_ERROR_ARGUMENT);
  CHECK(intc_enable(0, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(intc_enable(0, STRETTO_IRQ_COUNT) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("doorbells are acknowledged before their values are read") {
  MockMmio mmio;
  mmio.expect_read(STRETTO_DOORBELL_BASE + DOORBELL_PENDING_OFFSET, 0x5);
  mmio.expect_write(STRETTO_DOORBELL_BASE + DOORBELL_PENDING_OFFSET, 0x5);
  mmio.expect_read(STRETTO_DOORBELL_BASE + DOORBELL_VALUE_OFFSET_AT(2), 7);
  CHECK(doorbell_take_pending() == 0x5);
  CHECK(doorbell_value(2) == 7);
}
