// SPDX-License-Identifier: Apache-2.0
// Question: does the access layer of the request ring write what the ring's README asks for, in its
// order, and refuse what it must without a write? State space: one call on a fresh device;
// parameters: each guard once. Expected numbers are worked out by hand from request_ring.yaml.
#include <string>

#include "sw/firmware/hal/request_ring.h"
#include "sw/include/regs/request_ring_regs.h"
#include "tests/unit/sw/hal/hal_test.h"

namespace {

constexpr uint64_t kBase = STRETTO_REQUEST_RING_BASE;
constexpr uint64_t kHere = uint64_t{3} << STRETTO_NODE_SHIFT;
constexpr uint64_t kThere = uint64_t{4} << STRETTO_NODE_SHIFT;

request_ring_t fresh() {
  request_ring_t ring;
  REQUIRE(request_ring_init(&ring) == STRETTO_OK);
  return ring;
}

}  // namespace

TEST_CASE("the ring is stopped and emptied before it is programmed, and started last") {
  MockMmio mmio;
  const request_ring_t ring = fresh();
  mmio.expect_read(kBase + REQUEST_RING_STATUS_OFFSET, 0);
  mmio.expect_write(kBase + REQUEST_RING_CONTROL_OFFSET, 0);
  mmio.expect_write(kBase + REQUEST_RING_CLEAR_OFFSET, 1);
  mmio.expect_write(kBase + REQUEST_RING_NODE_OFFSET, 3);
  mmio.expect_write(kBase + REQUEST_RING_REPLICA_ADDRESS_OFFSET, kHere + 0x1000);
  mmio.expect_write(kBase + REQUEST_RING_SC_BASE_OFFSET, kHere + 0x2000);
  mmio.expect_write(kBase + REQUEST_RING_ERROR_OFFSET, 7);
  mmio.expect_write(kBase + REQUEST_RING_IRQ_ENABLE_OFFSET, 7);
  mmio.expect_write(kBase + REQUEST_RING_CONTROL_OFFSET, 0x1005);  // Enable, replica, batch 16.
  CHECK(request_ring_start(&ring, 3, kHere + 0x1000, kHere + 0x2000, 16) == STRETTO_OK);
}

TEST_CASE("a busy ring is not started again") {
  MockMmio mmio;
  const request_ring_t ring = fresh();
  mmio.expect_read(kBase + REQUEST_RING_STATUS_OFFSET, 1);
  CHECK(request_ring_start(&ring, 3, kHere, kHere, 16) == STRETTO_ERROR_STATE);
}

TEST_CASE("a ring that cannot be is refused without a write") {
  MockMmio mmio;
  const request_ring_t ring = fresh();
  CHECK(request_ring_init(nullptr) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_start(nullptr, 3, kHere, kHere, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_start(&ring, 0, kHere, kHere, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_start(&ring, 65, kHere, kHere, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_start(&ring, 3, kHere + 4, kHere, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_start(&ring, 3, kHere, kHere + 1, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_start(&ring, 3, kHere, kHere, 256) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("a connection gets its flags before it is valid") {
  MockMmio mmio;
  const request_ring_t ring = fresh();
  mmio.expect_read(kBase + 0x410 + 2 * 32, 5);  // Nothing in flight, 5 completed.
  mmio.expect_write(kBase + 0x408 + 2 * 32, kThere + 0x800);
  mmio.expect_write(kBase + 0x400 + 2 * 32, 0x431);  // Node 4, limit 3, valid.
  CHECK(request_ring_set_connection(&ring, 2, 4, kThere + 0x800, 3) == STRETTO_OK);
}

TEST_CASE("a connection that does not exist or works is refused without a write") {
  MockMmio mmio;
  const request_ring_t ring = fresh();
  CHECK(request_ring_set_connection(nullptr, 0, 4, kThere, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_set_connection(&ring, 16, 4, kThere, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_set_connection(&ring, 0, 0, kThere, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_set_connection(&ring, 0, 65, kThere, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_set_connection(&ring, 0, 4, kThere + 2, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_set_connection(&ring, 0, 4, kThere, 16) == STRETTO_ERROR_ARGUMENT);
  mmio.expect_read(kBase + 0x410, uint64_t{1} << 32);
  CHECK(request_ring_set_connection(&ring, 0, 4, kThere, 0) == STRETTO_ERROR_STATE);
}

TEST_CASE("a buffer is invalid while it changes") {
  MockMmio mmio;
  const request_ring_t ring = fresh();
  mmio.expect_write(kBase + 0x1008 + 7 * 16, 0);
  mmio.expect_write(kBase + 0x1000 + 7 * 16, kHere + 0x5000);
  // Valid, readable, unit 2^6, 64 units.
  mmio.expect_write(kBase + 0x1008 + 7 * 16, 0x90000000 | 6 << 20 | 64);
  const request_ring_buffer_t what = {kHere + 0x5000, 4096, 6, true, false};
  CHECK(request_ring_set_buffer(&ring, 7, &what) == STRETTO_OK);
}

TEST_CASE("a buffer is back when the ring has finished what passed the check before") {
  MockMmio mmio;
  const request_ring_t ring = fresh();
  mmio.expect_write(kBase + 0x1008, 0);
  mmio.expect_read(kBase + REQUEST_RING_STATUS_OFFSET, 1);
  mmio.expect_read(kBase + REQUEST_RING_STATUS_OFFSET, 1);
  mmio.expect_read(kBase + REQUEST_RING_STATUS_OFFSET, 0);
  const request_ring_buffer_t nothing = {0, 0, 0, false, false};
  CHECK(request_ring_set_buffer(&ring, 0, &nothing) == STRETTO_OK);
}

TEST_CASE("a ring that stays busy is told when a buffer is taken back") {
  MockMmio mmio;
  const request_ring_t ring = fresh();
  mmio.expect_write(kBase + 0x1008, 0);
  for (int i = 0; i < 1000; ++i) mmio.expect_read(kBase + REQUEST_RING_STATUS_OFFSET, 1);
  const request_ring_buffer_t nothing = {0, 0, 0, false, false};
  CHECK(request_ring_set_buffer(&ring, 0, &nothing) == STRETTO_ERROR_STATE);
}

TEST_CASE("a buffer that cannot be is refused without a write") {
  MockMmio mmio;
  const request_ring_t ring = fresh();
  const request_ring_buffer_t good = {kHere, 64, 6, true, true};
  const request_ring_buffer_t unit = {kHere, 1 << 18, 18, true, true};
  const request_ring_buffer_t part = {kHere, 65, 6, true, true};
  const request_ring_buffer_t large = {kHere, (uint64_t{1} << 23) + 64, 6, true, true};
  CHECK(request_ring_set_buffer(nullptr, 0, &good) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_set_buffer(&ring, 0, nullptr) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_set_buffer(&ring, 256, &good) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_set_buffer(&ring, 0, &unit) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_set_buffer(&ring, 0, &part) == STRETTO_ERROR_ARGUMENT);
  CHECK(request_ring_set_buffer(&ring, 0, &large) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("an error is read whole before it is acknowledged") {
  MockMmio mmio;
  const request_ring_t ring = fresh();
  mmio.expect_read(kBase + REQUEST_RING_ERROR_OFFSET, 3);
  mmio.expect_read(kBase + REQUEST_RING_ERROR_FIRST_OFFSET, 8 | 256);
  mmio.expect_read(kBase + REQUEST_RING_ERROR_REQUEST_OFFSET, 0x1234);
  mmio.expect_write(kBase + REQUEST_RING_ERROR_OFFSET, 3);
  request_ring_error_t error;
  REQUIRE(request_ring_take_error(&ring, &error));
  CHECK(error.request == 0x1234);
  CHECK(std::string(request_ring_error_name(&error)) == "source buffer is not registered");
  mmio.expect_read(kBase + REQUEST_RING_ERROR_OFFSET, 0);
  CHECK_FALSE(request_ring_take_error(&ring, &error));
}

TEST_CASE("every reason has a name of its own") {
  std::string names;
  for (uint32_t bit = 0; bit < 11; ++bit) {
    const request_ring_error_t error = {1, 0, 1u << bit, 0};
    const std::string name = request_ring_error_name(&error);
    CHECK(names.find("|" + name + "|") == std::string::npos);
    names += "|" + name + "|";
  }
  const request_ring_error_t dropped = {2, 1, 0, 0}, failed = {4, 2, 0, 0};
  CHECK(std::string(request_ring_error_name(&dropped)).find("dropped") == 0);
  CHECK(std::string(request_ring_error_name(&failed)).find("failed") != std::string::npos);
}
