// SPDX-License-Identifier: Apache-2.0
// Question: does the range table answer for exactly the bytes that were programmed? State space:
// one-dimensional and two-dimensional entries, nested, overlapping, cleared, bad; addresses at and
// one beyond every edge.
#include <catch2/catch.hpp>

#include "models/gpu/base/range_table.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/range_table_regs.h"

using namespace stretto;

namespace {

struct Table {
  RangeTable table{"table"};
  void program(unsigned i, uint64_t base, uint64_t row_bytes, uint64_t rows = 1, uint64_t pitch = 0,
               uint64_t flags = 0) {
    table.write_register(RANGE_TABLE_ENTRY_BASE_OFFSET_AT(i), base);
    table.write_register(RANGE_TABLE_ENTRY_PITCH_OFFSET_AT(i), pitch);
    table.write_register(RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET_AT(i), row_bytes);
    table.write_register(RANGE_TABLE_ENTRY_ROWS_OFFSET_AT(i), rows);
    table.write_register(RANGE_TABLE_ENTRY_FLAGS_OFFSET_AT(i),
                         flags | RANGE_TABLE_ENTRY_FLAGS_VALID_MASK);
  }
  uint64_t status() { return table.read_register(RANGE_TABLE_STATUS_OFFSET); }
};

}  // namespace

TEST_CASE("an interval holds its first and last byte and no other") {
  Table bench;
  RangeTable& table = bench.table;
  bench.program(3, 0x1000, 0x100);
  REQUIRE(table.find(0x1000, 1) != nullptr);
  REQUIRE(table.find(0x10FF, 1) != nullptr);
  REQUIRE(table.find(0x1000, 0x100) != nullptr);
  REQUIRE(table.find(0x0FFF, 1) == nullptr);
  REQUIRE(table.find(0x1100, 1) == nullptr);
  REQUIRE(table.find(0x10FF, 2) == nullptr);
  REQUIRE(table.find(0x1000, 0x101) == nullptr);
}

TEST_CASE("a two-dimensional entry holds its rows and not what lies between") {
  Table bench;
  RangeTable& table = bench.table;
  bench.program(0, 0x1000, 0x40, 4, 0x100);
  REQUIRE(table.find(0x1300, 0x40) != nullptr);
  REQUIRE(table.find(0x1040, 1) == nullptr);
  REQUIRE(table.find(0x10C0, 0x40) == nullptr);
  REQUIRE(table.find(0x1400, 1) == nullptr);
  REQUIRE(table.find(0x1020, 0x21) == nullptr);
  REQUIRE(table.find_tile(0x1010, 4, 0x100, 0x30) != nullptr);
  REQUIRE(table.find_tile(0x1010, 4, 0x100, 0x31) == nullptr);
  REQUIRE(table.find_tile(0x1010, 5, 0x100, 0x30) == nullptr);
}

TEST_CASE("the highest index wins") {
  Table bench;
  RangeTable& table = bench.table;
  bench.program(0, 0x0, 0x10000);
  REQUIRE(table.find(0x2000, 8) == &table.entry(0));
  bench.program(7, 0x2000, 0x100);
  REQUIRE(table.find(0x2000, 8) == &table.entry(7));
  REQUIRE(table.find(0x2100, 8) == &table.entry(0));
  REQUIRE(table.find_tile(0x2080, 3, 0x40, 0x10) ==
          nullptr);  // Rows in two entries: the caller splits.
  REQUIRE((bench.status() & RANGE_TABLE_STATUS_OVERLAP_MASK) == 0);
  table.write_register(RANGE_TABLE_CLEAR_OFFSET, STRETTO_FIELD(RANGE_TABLE_CLEAR_ONE, 1) | 7);
  REQUIRE(table.find(0x2000, 8) == &table.entry(0));
  REQUIRE(table.read_register(RANGE_TABLE_COUNT_OFFSET) == 1);
  table.write_register(RANGE_TABLE_CLEAR_OFFSET, RANGE_TABLE_CLEAR_ALL_MASK);
  REQUIRE(table.find(0x2000, 8) == nullptr);
}

TEST_CASE("entries that overlap without nesting are reported") {
  Table bench;
  RangeTable& table = bench.table;
  bench.program(0, 0x1000, 0x100);
  bench.program(1, 0x1080, 0x100);
  REQUIRE((bench.status() & RANGE_TABLE_STATUS_OVERLAP_MASK) != 0);
  REQUIRE(STRETTO_FIELD_GET(bench.status(), RANGE_TABLE_STATUS_INDEX) == 1);
  REQUIRE(STRETTO_FIELD_GET(bench.status(), RANGE_TABLE_STATUS_OTHER) == 0);
  table.write_register(RANGE_TABLE_STATUS_OFFSET, RANGE_TABLE_STATUS_OVERLAP_MASK);
  REQUIRE(bench.status() == 0);
}

TEST_CASE("interleaved column strips do not overlap") {
  Table bench;
  RangeTable& table = bench.table;
  bench.program(0, 0x1000, 0x80, 16, 0x200);
  bench.program(1, 0x1080, 0x80, 16, 0x200);
  bench.program(2, 0x1100, 0x100, 16, 0x200);
  REQUIRE(bench.status() == 0);
  REQUIRE(table.find(0x1000 + 5 * 0x200 + 0x90, 0x10) == &table.entry(1));
  bench.program(3, 0x1000 + 0x70, 0x20, 2, 0x200);
  REQUIRE((bench.status() & RANGE_TABLE_STATUS_OVERLAP_MASK) != 0);
}

TEST_CASE("bad contents are refused") {
  Table bench;
  RangeTable& table = bench.table;
  bench.program(9, 0x1000, 0);
  REQUIRE((bench.status() & RANGE_TABLE_STATUS_BAD_ENTRY_MASK) != 0);
  REQUIRE(STRETTO_FIELD_GET(bench.status(), RANGE_TABLE_STATUS_INDEX) == 9);
  bench.program(9, 0x1000, 0x100, 2, 0x80);
  bench.program(9, 0x1000, 0x100, 0, 0x100);
  bench.program(9, 0x1000, 0x100, 1, 0, STRETTO_FIELD(RANGE_TABLE_ENTRY_FLAGS_KIND, 3));
  REQUIRE(table.count() == 0);
  REQUIRE((table.read_register(RANGE_TABLE_ENTRY_FLAGS_OFFSET_AT(9)) & 1) == 0);
  REQUIRE(table.find(0x1000, 1) == nullptr);
}

TEST_CASE("an entry that is programmed again changes at its flags and not before") {
  Table bench;
  RangeTable& table = bench.table;
  bench.program(0, 0x1000, 0x100);
  table.write_register(RANGE_TABLE_ENTRY_BASE_OFFSET_AT(0), 0x8000);
  REQUIRE(table.find(0x1000, 1) != nullptr);
  bench.program(0, 0x8000, 0x100);
  REQUIRE(table.find(0x1000, 1) == nullptr);
  REQUIRE(table.find(0x8000, 1) != nullptr);
}
