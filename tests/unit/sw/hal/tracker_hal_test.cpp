// SPDX-License-Identifier: Apache-2.0
// Question: does the register access layer of the Tracker write the right values in the order that
// the device needs, and refuse what it must? State space: one call on a fresh device; each guard
// once. Parameters: output shapes of T3 (T-NLG FC-2: 8192 x 4256, tiles of 128 x 128) and ragged
// ones. Expected numbers are worked out by hand in the comments.
#include "sw/firmware/hal/tracker.h"
#include "sw/include/regs/tracker_regs.h"
#include "tests/unit/sw/hal/hal_test.h"

namespace {

tracker_output_t tnlg_output() { return {8192, 4256, 128, 128, 8, 2, 2, 0, 0}; }

tracker_t fresh_tracker() {
  tracker_t t;
  REQUIRE(tracker_init(&t) == STRETTO_OK);
  return t;
}

}  // namespace

TEST_CASE("the Tracker gets shape and thresholds of every tile class in half-words",
          "[T3-TRK-06][T3-TRK-07]") {
  MockMmio mmio;
  const tracker_t t = fresh_tracker();
  // 64 x 34 tiles (4256 = 33 * 128 + 32). ceil(2^24 / 34) = 493448.
  mmio.expect_write(t.base + TRACKER_TILES_OFFSET, 2176 | uint64_t{63 * 34} << 32);
  mmio.expect_write(t.base + TRACKER_STRIPS_OFFSET, 34 | uint64_t{493448} << 32);
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
  mmio.expect_write(t.base + TRACKER_STRIPS_OFFSET, 2 | uint64_t{1 << 23} << 32);
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
  const tracker_output_t output = {300, 200, 128, 128, 8, 2, 2, 0, 0};
  CHECK(tracker_configure(&t, &output) == STRETTO_OK);
}

TEST_CASE("strips give the Tracker their shape, and those down the columns exchange the edges",
          "[T3-U20]") {
  const tracker_t t = fresh_tracker();
  tracker_output_t output = tnlg_output();
  {
    MockMmio mmio;
    // Eight strips of 8 rows x 34 columns: the last begins at 7 * 272.
    mmio.expect_write(t.base + TRACKER_TILES_OFFSET, 2176 | uint64_t{1904} << 32);
    mmio.expect_write(t.base + TRACKER_STRIPS_OFFSET, 34 | 3 << 16 | uint64_t{493448} << 32);
    mmio.expect_write(t.base + TRACKER_UNTRACKED_OFFSET, 0);
    for (unsigned i = 0; i < 8; ++i)
      mmio.expect_write(t.base + TRACKER_THRESHOLD_OFFSET_AT(i),
                        (i / 2) % 2 == 0 ? 0x1000100010001000 : 0x0400040004000400);
    output.order = 3;
    CHECK(tracker_configure(&t, &output) == STRETTO_OK);
  }
  MockMmio mmio;
  // 17 strips of 2 columns x 64 rows; ceil(2^24 / 64) = 2^18. Their far edge is the right one.
  mmio.expect_write(t.base + TRACKER_TILES_OFFSET, 2176 | uint64_t{2048} << 32);
  mmio.expect_write(t.base + TRACKER_STRIPS_OFFSET, 64 | 1 << 16 | uint64_t{1 << 18} << 32);
  mmio.expect_write(t.base + TRACKER_UNTRACKED_OFFSET, 0);
  for (unsigned i = 0; i < 8; ++i)
    mmio.expect_write(t.base + TRACKER_THRESHOLD_OFFSET_AT(i),
                      i < 4 ? 0x1000100010001000 : 0x0400040004000400);
  output.order = 1 | 4;
  CHECK(tracker_configure(&t, &output) == STRETTO_OK);
  output.order = 2 | 4;  // 34 columns are no strips of 4.
  CHECK(tracker_configure(&t, &output) == STRETTO_ERROR_ARGUMENT);
  output.order = 8;
  CHECK(tracker_configure(&t, &output) == STRETTO_ERROR_ARGUMENT);
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

TEST_CASE("elements of 8 bits count as half-words at the Tracker, of 32 bits as two",
          "[T3-2XCU-02]") {
  for (const auto& [bytes, interior] :
       {std::pair(1u, 0x1000100010001000), std::pair(4u, 0x2000200020002000)}) {
    MockMmio mmio;
    const tracker_t t = fresh_tracker();
    // One tile of 128 x 128; what is left of the other classes is that of 128 rows and columns, too.
    mmio.expect_write(t.base + TRACKER_TILES_OFFSET, 1);
    mmio.expect_write(t.base + TRACKER_STRIPS_OFFSET, 1 | uint64_t{1 << 24} << 32);
    mmio.expect_write(t.base + TRACKER_UNTRACKED_OFFSET, 0);
    for (unsigned i = 0; i < 8; ++i)
      mmio.expect_write(t.base + TRACKER_THRESHOLD_OFFSET_AT(i), static_cast<uint64_t>(interior));
    const tracker_output_t output = {128, 128, 128, 128, 8, 2, bytes, 0, 0};
    CHECK(tracker_configure(&t, &output) == STRETTO_OK);
  }
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
