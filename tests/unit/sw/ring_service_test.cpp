// SPDX-License-Identifier: Apache-2.0
// Question: do the packets of the request ring reach it only with memory that is where it must be,
// and does its interrupt end the run with the request's name? State space: one call on a fresh
// device; each guard once.
#include "tests/unit/sw/fake_device.h"

#include <catch2/catch.hpp>

#include "sw/firmware/services/ring_service.h"
#include "sw/include/formats/send_request.h"
#include "sw/include/regs/request_ring_regs.h"

using stretto::test::FakeDevice;

namespace {

constexpr uint64_t kOwn = uint64_t{2} << STRETTO_NODE_SHIFT;  // GPU 1.
constexpr uint64_t kPeer = uint64_t{1} << STRETTO_NODE_SHIFT;
constexpr uint64_t kHost = uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT;
constexpr uint64_t kControl = STRETTO_REQUEST_RING_BASE + REQUEST_RING_CONTROL_OFFSET;

struct Service {
  FakeDevice device;
  shared_t shared{};
  trigger_service_t trigger{};
  Service() {
    shared.gpu_id = 1;
    REQUIRE(trigger_service_init(&trigger, &shared) == STRETTO_OK);
    device.writes.clear();
  }
};

stretto_ring_config_t good_config() {
  stretto_ring_config_t config{};
  config.replica = kOwn + 0x1000;
  config.sc_base = kOwn + 0x2000;
  config.batch = 8;
  return config;
}

}  // namespace

TEST_CASE("a started ring has its window in the range table and its line enabled") {
  Service s;
  const stretto_ring_config_t config = good_config();
  CHECK(ring_service_start(&s.trigger, &config) == STRETTO_OK);
  CHECK(s.device.word[kControl] == (5 | 8 << 8));
  CHECK(s.device.word[STRETTO_RANGE_TABLE_BASE + RANGE_TABLE_ENTRY_BASE_OFFSET] ==
        kOwn + STRETTO_SEND_APERTURE);
  CHECK((s.device.word[STRETTO_INTC_BASE + INTC_ENABLE_OFFSET_AT(COMPLETION_HART)] >>
             STRETTO_IRQ_REQUEST_RING &
         1) == 1);
  CHECK(ring_service_start(&s.trigger, &config) == STRETTO_OK);
  CHECK(s.trigger.ranges.used == 1);  // Not mapped twice.
}

TEST_CASE("a ring whose words lie elsewhere is refused") {
  Service s;
  stretto_ring_config_t config = good_config();
  config.replica = kPeer + 0x1000;
  CHECK(ring_service_start(&s.trigger, &config) == STRETTO_ERROR_UNMAPPED);
  config = good_config();
  config.sc_base = kOwn + STRETTO_GPU_MEMORY_LIMIT - 8;
  CHECK(ring_service_start(&s.trigger, &config) == STRETTO_ERROR_UNMAPPED);
  CHECK(s.device.writes.empty());
  s.trigger.runs = 1;
  config = good_config();
  CHECK(ring_service_start(&s.trigger, &config) == STRETTO_OK);
}

TEST_CASE("receive flags lie in the peer") {
  Service s;
  stretto_ring_connection_t connection{};
  connection.connection = 3;
  connection.peer = 0;
  connection.rc_base = kPeer + 0x3000;
  CHECK(ring_service_connection(&s.shared, &connection) == STRETTO_OK);
  connection.rc_base = kOwn + 0x3000;
  CHECK(ring_service_connection(&s.shared, &connection) == STRETTO_ERROR_UNMAPPED);
  connection.peer = 64;
  CHECK(ring_service_connection(&s.shared, &connection) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("buffers lie in one GPU's memory and carry known flags") {
  Service s;
  stretto_ring_buffer_t buffer{};
  buffer.base = kPeer + 0x10000;
  buffer.bytes = 4096;
  buffer.unit_shift = 6;
  CHECK(ring_service_buffer(STRETTO_RING_WRITABLE, &buffer) == STRETTO_OK);
  CHECK(ring_service_buffer(4, &buffer) == STRETTO_ERROR_ARGUMENT);
  buffer.base = kHost;
  CHECK(ring_service_buffer(STRETTO_RING_WRITABLE, &buffer) == STRETTO_ERROR_UNMAPPED);
  buffer.base = kPeer + STRETTO_GPU_MEMORY_LIMIT - 64;
  CHECK(ring_service_buffer(STRETTO_RING_WRITABLE, &buffer) == STRETTO_ERROR_UNMAPPED);
  buffer.base = 0;
  buffer.bytes = 0;  // Taken back.
  CHECK(ring_service_buffer(0, &buffer) == STRETTO_OK);
}

TEST_CASE("a refused request is printed with its fields and ends the run") {
  Service s;
  const uint64_t base = STRETTO_REQUEST_RING_BASE;
  s.device.word[base + REQUEST_RING_ERROR_OFFSET] = 1;
  s.device.word[base + REQUEST_RING_ERROR_FIRST_OFFSET] = 1u << 4;
  s.device.word[base + REQUEST_RING_ERROR_REQUEST_OFFSET] =
      stretto_send_request(STRETTO_SR_WRITE, 1, 200, 5, 10, 20, 0);
  CHECK_THROWS(ring_service_irq());
  CHECK_THAT(s.device.console,
             Catch::Contains("buffer 1 -> 200, connection 5, offset 10, length 20: destination "
                             "buffer is not registered"));
}

TEST_CASE("an interrupt without error is nothing") {
  Service s;
  CHECK_NOTHROW(ring_service_irq());
  CHECK(s.device.console.empty());
}
