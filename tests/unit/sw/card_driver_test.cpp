// SPDX-License-Identifier: Apache-2.0
// Question: does the host's side of a DMA card program it in the order that leaves no half-started
// request, by single 8-byte writes to its node, refuse what is no GPU memory before anything is
// written, and tell errors in words?
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "sw/driver/card.h"
#include "sw/include/formats/card.h"
#include "sw/include/regs/card_regs.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/request_ring_regs.h"
#include "tests/unit/sw/fake_gpu_host.h"

using stretto::test::FakeGpuHost;

namespace {

constexpr uint32_t kGpu = 2;
constexpr uint64_t kNode = uint64_t{STRETTO_NODE_CARD + kGpu} << STRETTO_NODE_SHIFT;
constexpr uint64_t kRing = kNode + STRETTO_DOORBELL_APERTURE;
const uint64_t kReport = FakeGpuHost::host(0x5000);

struct Card {
  FakeGpuHost host;
  stretto_host_ops_t ops = host.ops();
  stretto_card_t card;
  Card() { REQUIRE(stretto_card_init(&card, &ops, kGpu, kReport) == STRETTO_OK); }
  // Place of the first write to a register of the ring; -1 if there is none.
  int place(uint64_t offset) const {
    const auto found = std::find_if(host.writes.begin(), host.writes.end(),
                                    [&](const auto& one) { return one.first == kRing + offset; });
    return found == host.writes.end() ? -1 : static_cast<int>(found - host.writes.begin());
  }
};

uint64_t here(uint64_t offset) { return stretto_gpu_address(kGpu, offset); }
uint64_t peer(uint64_t offset) { return stretto_gpu_address(5, offset); }

}  // namespace

TEST_CASE("a card is stopped first and enabled last, by writes of 8 bytes to its own node") {
  Card c;
  REQUIRE(stretto_card_start(&c.card, here(0x100), here(0x1000), 8) == STRETTO_OK);
  CHECK(c.place(REQUEST_RING_CONTROL_OFFSET) == 0);
  CHECK(c.place(REQUEST_RING_CLEAR_OFFSET) == 1);
  CHECK(c.host.writes.back().first == kRing + REQUEST_RING_CONTROL_OFFSET);
  for (const auto& [address, bytes] : c.host.writes) {
    CHECK(bytes == 8);
    CHECK(address >> STRETTO_NODE_SHIFT == STRETTO_NODE_CARD + kGpu);
  }
  CHECK(c.host.read64(kRing + REQUEST_RING_NODE_OFFSET) == kGpu + 1);
  CHECK(c.host.read64(kRing + REQUEST_RING_REPLICA_ADDRESS_OFFSET) == here(0x100));
  CHECK(c.host.read64(kRing + REQUEST_RING_SC_BASE_OFFSET) == here(0x1000));
  CHECK(c.host.read64(kNode + STRETTO_CARD_REGISTERS + CARD_REPORT_OFFSET) == kReport);
  CHECK((c.host.read64(kRing + REQUEST_RING_CONTROL_OFFSET) & REQUEST_RING_CONTROL_ENABLE_MASK) !=
        0);
  CHECK(stretto_card_window(&c.card) == kNode + STRETTO_SEND_APERTURE);
}

TEST_CASE("a connection and a buffer become valid with their last write") {
  Card c;
  REQUIRE(stretto_card_connect(&c.card, 3, 5, peer(0x2000), 4) == STRETTO_OK);
  CHECK(c.place(REQUEST_RING_CONNECTION_RC_BASE_OFFSET_AT(3)) <
        c.place(REQUEST_RING_CONNECTION_CONFIG_OFFSET_AT(3)));
  const uint64_t config = c.host.read64(kRing + REQUEST_RING_CONNECTION_CONFIG_OFFSET_AT(3));
  CHECK(STRETTO_FIELD_GET(config, REQUEST_RING_CONNECTION_CONFIG_NODE) == 6);
  CHECK(STRETTO_FIELD_GET(config, REQUEST_RING_CONNECTION_CONFIG_LIMIT) == 4);

  const stretto_ring_export_t buffer{peer(0x10000), 1 << 20, 6, STRETTO_RING_WRITABLE};
  REQUIRE(stretto_card_register(&c.card, 9, &buffer) == STRETTO_OK);
  const uint64_t place = kRing + REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(9);
  CHECK(c.host.writes.back().first == place);
  CHECK(STRETTO_FIELD_GET(c.host.read64(place), REQUEST_RING_BUFFER_CONFIG_UNITS) == 1 << 14);
  CHECK((c.host.read64(place) & REQUEST_RING_BUFFER_CONFIG_WRITABLE_MASK) != 0);
  CHECK((c.host.read64(place) & REQUEST_RING_BUFFER_CONFIG_READABLE_MASK) == 0);
  REQUIRE(stretto_card_unregister(&c.card, 9) == STRETTO_OK);
  CHECK(c.host.read64(place) == 0);
}

TEST_CASE("what cannot be is refused before anything is written") {
  Card c;
  stretto_card_t other;
  CHECK(stretto_card_init(&other, &c.ops, STRETTO_MAX_GPUS, kReport) == STRETTO_ERROR_ARGUMENT);
  CHECK(stretto_card_init(&other, &c.ops, 0, here(0)) == STRETTO_ERROR_ARGUMENT);
  CHECK(stretto_card_start(&c.card, here(0x101), here(0x1000), 8) == STRETTO_ERROR_ARGUMENT);
  CHECK(stretto_card_start(&c.card, here(0x100), here(0x1000), 256) == STRETTO_ERROR_ARGUMENT);
  CHECK(stretto_card_start(&c.card, peer(0x100), here(0x1000), 8) == STRETTO_ERROR_UNMAPPED);
  CHECK(stretto_card_start(&c.card, here(0x100), peer(0x1000), 8) == STRETTO_ERROR_UNMAPPED);
  CHECK(stretto_card_connect(&c.card, STRETTO_SEND_CONNECTIONS, 5, peer(0), 0) ==
        STRETTO_ERROR_ARGUMENT);
  CHECK(stretto_card_connect(&c.card, 0, kGpu, here(0), 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(stretto_card_connect(&c.card, 0, 5, peer(0), 16) == STRETTO_ERROR_ARGUMENT);
  CHECK(stretto_card_connect(&c.card, 0, 5, here(0), 0) == STRETTO_ERROR_UNMAPPED);
  stretto_ring_export_t buffer{here(0x10000), 1 << 20, 6, STRETTO_RING_READABLE};
  CHECK(stretto_card_register(&c.card, STRETTO_SEND_BUFFERS, &buffer) == STRETTO_ERROR_ARGUMENT);
  buffer.bytes = 100;  // No multiple of its unit.
  CHECK(stretto_card_register(&c.card, 1, &buffer) == STRETTO_ERROR_ARGUMENT);
  buffer = {here(STRETTO_GPU_MEMORY_LIMIT - 64), 128, 6, STRETTO_RING_READABLE};
  CHECK(stretto_card_register(&c.card, 1, &buffer) == STRETTO_ERROR_UNMAPPED);
  buffer.base = FakeGpuHost::host(0);
  CHECK(stretto_card_register(&c.card, 1, &buffer) == STRETTO_ERROR_UNMAPPED);
  CHECK(stretto_card_unregister(&c.card, STRETTO_SEND_BUFFERS) == STRETTO_ERROR_ARGUMENT);
  CHECK(c.host.writes.empty());
}

TEST_CASE("a collective engine is given the number of peers, at most the connections of a ring",
          "[GD-FUTURE-02]") {
  Card c;
  REQUIRE(stretto_card_collective(&c.card, 7) == STRETTO_OK);
  CHECK(c.host.writes.size() == 1);
  CHECK(c.host.read64(kNode + STRETTO_CARD_REGISTERS + CARD_PEERS_OFFSET) == 7);
  REQUIRE(stretto_card_collective(&c.card, 0) == STRETTO_OK);
  CHECK(c.host.read64(kNode + STRETTO_CARD_REGISTERS + CARD_PEERS_OFFSET) == 0);
  CHECK(stretto_card_collective(&c.card, STRETTO_SEND_CONNECTIONS) == STRETTO_OK);
  CHECK(stretto_card_collective(&c.card, STRETTO_SEND_CONNECTIONS + 1) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("a reported error is told with its request and its reason") {
  Card c;
  char line[256];
  c.host.words[kReport + STRETTO_CARD_REPORT_REQUEST] =
      stretto_send_request(STRETTO_SR_WRITE, 9, 3, 1, 0, 1, 0);
  c.host.words[kReport + STRETTO_CARD_REPORT_REASON] = STRETTO_CARD_REPORT_VALID | 1u << 3;
  REQUIRE(stretto_card_wait_error(&c.card, line, sizeof line) != nullptr);
  CHECK_THAT(std::string(line),
             Catch::Contains("card of gpu 2") &&
                 Catch::Contains("buffer 9 -> 3, connection 1): source buffer is not registered"));
  c.host.words[kReport + STRETTO_CARD_REPORT_REASON] =
      STRETTO_CARD_REPORT_VALID |
      STRETTO_FIELD(REQUEST_RING_ERROR_FIRST_KIND, REQUEST_RING_ERROR_FIRST_KIND_TRANSFER);
  CHECK_THAT(std::string(stretto_card_wait_error(&c.card, line, sizeof line)),
             Catch::Contains("its transfer failed"));
}

TEST_CASE("who waits for errors can be told to stop") {
  Card c;
  char line[64];
  stretto_card_stop_waiting(&c.card);
  CHECK(stretto_card_wait_error(&c.card, line, sizeof line) == nullptr);
}
