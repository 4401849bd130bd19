// SPDX-License-Identifier: Apache-2.0
// Question: does the register access layer of the range table write the right values in the order
// that the device needs, and refuse what it must? State space: one call on a fresh device; each
// guard once. Expected numbers are worked out by hand in the comments.
#include "sw/firmware/hal/range_table.h"
#include "sw/include/regs/range_table_regs.h"
#include "tests/unit/sw/hal/hal_test.h"

TEST_CASE("a range entry becomes valid by its last write") {
  MockMmio mmio;
  range_table_t table = {STRETTO_RANGE_TABLE_BASE, 3, 0};
  const uint64_t base = STRETTO_RANGE_TABLE_BASE;
  mmio.expect_write(base + RANGE_TABLE_ENTRY_BASE_OFFSET_AT(3), 0x10000001000);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_PITCH_OFFSET_AT(3), 8512);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET_AT(3), 256);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_ROWS_OFFSET_AT(3), 128);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_PEER_BASE_OFFSET_AT(3), 0x20000001000);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_FLAGS_OFFSET_AT(3),
                    1 | 1 << 1 | 1 << 3 | 1 << 4 | 2 << 5);
  mmio.expect_read(base + RANGE_TABLE_STATUS_OFFSET, 0);
  const range_t range = {
      0x10000001000, 256,  8512,          128, RANGE_REMOTE, STRETTO_ALLOCATION_UNCACHED,
      true,          true, 0x20000001000, 0};
  CHECK(range_table_add(&table, &range) == STRETTO_OK);
  CHECK(table.used == 4);
}

TEST_CASE("a range that overlaps another is taken out again and reported") {
  MockMmio mmio;
  range_table_t table = {STRETTO_RANGE_TABLE_BASE, 0, 0};
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
                         false,         false, 0, 0};
  CHECK(range_table_add(&table, &range) == STRETTO_ERROR_OVERLAP);
  CHECK(table.used == 0);
}

TEST_CASE("what the table refuses is an argument that is wrong") {
  MockMmio mmio;
  const uint64_t base = STRETTO_RANGE_TABLE_BASE;
  range_table_t table = {base, 0, 0};
  mmio.expect_write(base + RANGE_TABLE_ENTRY_BASE_OFFSET, 0x10000001000);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_PITCH_OFFSET, 0);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET, 64);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_ROWS_OFFSET, 1);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_PEER_BASE_OFFSET, 0);
  mmio.expect_write(base + RANGE_TABLE_ENTRY_FLAGS_OFFSET, 1 | 3 << 5);
  mmio.expect_read(base + RANGE_TABLE_STATUS_OFFSET, RANGE_TABLE_STATUS_BAD_ENTRY_MASK);
  mmio.expect_write(base + RANGE_TABLE_STATUS_OFFSET, RANGE_TABLE_STATUS_BAD_ENTRY_MASK);
  mmio.expect_write(base + RANGE_TABLE_CLEAR_OFFSET, RANGE_TABLE_CLEAR_ONE_MASK);
  // A shared range of half a line.
  const range_t range = {0x10000001000, 64,    0, 1, RANGE_LOCAL, STRETTO_ALLOCATION_SHARED,
                         false,         false, 0, 0};
  CHECK(range_table_add(&table, &range) == STRETTO_ERROR_ARGUMENT);
  CHECK(table.used == 0);
}

TEST_CASE(
    "the last entry takes the place of one that is removed, and none is written for the last") {
  MockMmio mmio;
  const uint64_t base = STRETTO_RANGE_TABLE_BASE;
  range_table_t table = {base, 3, 3};
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
  range_table_t table = {STRETTO_RANGE_TABLE_BASE, 0, 0};
  const range_t good = {0x10000001000, 64,    64, 2, RANGE_LOCAL, STRETTO_ALLOCATION_CACHED,
                        false,         false, 0,  0};
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
  range.kind = 4;
  CHECK(range_table_add(&table, &range) == STRETTO_ERROR_ARGUMENT);
  table.used = RANGE_TABLE_ENTRY_BASE_COUNT;
  CHECK(range_table_add(&table, &good) == STRETTO_ERROR_TABLE_FULL);
  CHECK(range_table_truncate(&table, table.used + 1) == STRETTO_ERROR_ARGUMENT);
}
