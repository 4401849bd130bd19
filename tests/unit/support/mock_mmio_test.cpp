// SPDX-License-Identifier: Apache-2.0
// Question: does MockMmio notice every way in which accesses can differ from what was expected?
// The ways: missing, extra, other order, other address, other size, other value, read for write.

#include "tests/support/mock_mmio.h"

using stretto::test::MockMmio;

TEST_CASE("accesses as expected pass and reads return what the test says") {
  MockMmio mmio;
  mmio.expect_write(0x100, 5);
  mmio.expect_read(0x108, 42);
  mock_mmio_write(0x100, 8, 5);
  CHECK(mock_mmio_read(0x108, 8) == 42);
}

TEST_CASE("an unexpected access is named") {
  MockMmio mmio;
  mock_mmio_write(0x100, 8, 5);
  CHECK(mmio.take_difference() == "access 1: unexpected write of 8 bytes at 0x100, value 0x5");
}

TEST_CASE("a wrong order, value, size or direction is named by the first access that differs") {
  struct Row {
    uint64_t address;
    unsigned bytes;
    bool is_write;
    uint64_t value;
  };
  const Row rows[] = {
      {0x108, 8, true, 5}, {0x100, 4, true, 5}, {0x100, 8, true, 6}, {0x100, 8, false, 5}};
  for (const Row& row : rows) {
    MockMmio mmio;
    mmio.expect_write(0x100, 5);
    if (row.is_write) {
      mock_mmio_write(row.address, row.bytes, row.value);
    } else {
      mock_mmio_read(row.address, row.bytes);
    }
    mock_mmio_write(0x200, 8, 1);
    const auto difference = mmio.take_difference();
    REQUIRE(difference.has_value());
    CHECK(difference->rfind("access 1: expected write of 8 bytes at 0x100, value 0x5, got ", 0) ==
          0);
  }
}

TEST_CASE("a missing access fails the test", "[!shouldfail]") {
  MockMmio mmio;
  mmio.expect_write(0x100, 5);
}
