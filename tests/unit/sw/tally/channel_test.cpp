// SPDX-License-Identifier: Apache-2.0
// Question: do messages cross the channel of a client whole, once and in order, whatever the ring's
// end cuts, and does neither side write over what the other has not read? Both ends run in one
// thread on bytes of memory; a wait that would never end throws.
#include "sw/tally/channel.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/seeded_rng.h"

namespace {

struct Memory {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(TALLY_CHANNEL_BYTES);
  uint64_t base = tally_channel_address(0, 0), sent_words = 0;
  stretto_host_ops_t ops{};

  Memory() {
    ops.context = this;
    ops.read = [](void* context, uint64_t address, void* data, uint64_t count) {
      std::memcpy(data, static_cast<Memory*>(context)->at(address, count), count);
    };
    ops.store_bytes = [](void* context, uint64_t address, const void* data, uint64_t count) {
      std::memcpy(static_cast<Memory*>(context)->at(address, count), data, count);
    };
    ops.store = [](void* context, uint64_t address, uint64_t value) {
      ++static_cast<Memory*>(context)->sent_words;
      std::memcpy(static_cast<Memory*>(context)->at(address, 8), &value, 8);
    };
    ops.wait = [](void* context, uint64_t address, stretto_wait_t condition, uint64_t value) {
      uint64_t word = 0;
      std::memcpy(&word, static_cast<Memory*>(context)->at(address, 8), 8);
      if (condition == STRETTO_WAIT_AT_LEAST ? word < value : word == value)
        throw std::runtime_error("would wait for ever");
      return word;
    };
  }
  uint8_t* at(uint64_t address, uint64_t count) {
    if (address < base || address - base + count > bytes.size())
      throw std::runtime_error("outside of the channel");
    return &bytes[address - base];
  }
};

struct Ends {
  Memory memory;
  tally_channel_t client = tally_attach(&memory.ops, memory.base, TALLY_BEST_EFFORT);
  tally_channel_t server = tally_accept(&memory.ops, memory.base);
  std::vector<uint8_t> payload = std::vector<uint8_t>(TALLY_PAYLOAD_BYTES);
  tally_state_t state = TALLY_ABSENT;

  bool receive(tally_message_t* message) {
    return tally_receive(&server, message, payload.data(), &state) != 0;
  }
  void answer(int64_t status = STRETTO_OK, const char* text = "") {
    tally_reply_t reply{};
    reply.status = status;
    reply.value[0] = server.answered;
    tally_answer(&server, &reply, text);
  }
};

tally_message_t message_of(uint32_t operation, uint32_t payload = 0) {
  tally_message_t message{};
  message.operation = operation;
  message.payload_bytes = payload;
  return message;
}

TEST_CASE("messages of any length arrive once and in order, and as many as were sent",
          "[TL-VIRT-03]") {
  Ends e;
  stretto::test::Rng rng(1);
  std::deque<std::vector<uint8_t>> on_the_way;
  uint64_t sent = 0, received = 0;
  tally_message_t got;
  while (received < 5'000) {
    if (sent < 5'000 && on_the_way.size() < 3 && rng.below(2) == 0) {
      std::vector<uint8_t> payload(rng.below(TALLY_PAYLOAD_BYTES + 1));
      for (uint8_t& byte : payload) byte = static_cast<uint8_t>(rng.next());
      tally_message_t message = message_of(TALLY_LAUNCH, static_cast<uint32_t>(payload.size()));
      message.words[5] = sent;
      CHECK(tally_send(&e.client, &message, payload.data()) == ++sent);
      on_the_way.push_back(std::move(payload));
    } else if (e.receive(&got)) {
      REQUIRE(!on_the_way.empty());
      REQUIRE(got.words[5] == received++);
      REQUIRE(got.payload_bytes == on_the_way.front().size());
      REQUIRE(std::memcmp(e.payload.data(), on_the_way.front().data(), got.payload_bytes) == 0);
      on_the_way.pop_front();
      e.answer();
    } else {
      REQUIRE(on_the_way.empty());
    }
  }
  CHECK(e.client.messages == e.server.messages);
  CHECK(e.client.bytes == e.server.bytes);
}

TEST_CASE("a client waits for room in the ring, and for answers that it has not had") {
  Ends e;
  const std::vector<uint8_t> payload(TALLY_PAYLOAD_BYTES);
  const tally_message_t large = message_of(TALLY_LAUNCH, TALLY_PAYLOAD_BYTES);
  tally_message_t got;
  for (int i = 0; i < 3; ++i) tally_send(&e.client, &large, payload.data());
  CHECK_THROWS_WITH(tally_send(&e.client, &large, payload.data()), "would wait for ever");
  REQUIRE(e.receive(&got));
  CHECK(tally_send(&e.client, &large, payload.data()) == 4);
  while (e.receive(&got)) continue;
  const tally_message_t small = message_of(TALLY_FREE);
  while (e.client.messages < TALLY_REPLIES) tally_send(&e.client, &small, nullptr);
  CHECK_THROWS_WITH(tally_send(&e.client, &small, nullptr), "would wait for ever");
  e.answer();
  CHECK(tally_send(&e.client, &small, nullptr) == TALLY_REPLIES + 1);
}

TEST_CASE("answers belong to their messages, and a refusal has a line") {
  Ends e;
  tally_message_t got;
  for (uint32_t i = 0; i < 3 * TALLY_REPLIES; ++i) {
    const tally_message_t message = message_of(TALLY_MALLOC);
    const uint64_t number = tally_send(&e.client, &message, nullptr);
    CHECK_THROWS_WITH(tally_wait_reply(&e.client, number), "would wait for ever");
    REQUIRE(e.receive(&got));
    e.answer(i == 70 ? STRETTO_ERROR_TABLE_FULL : STRETTO_OK, "no memory");
    const tally_reply_t reply = tally_wait_reply(&e.client, number);
    CHECK(reply.status == (i == 70 ? STRETTO_ERROR_TABLE_FULL : STRETTO_OK));
    CHECK(reply.value[0] == number - 1);
  }
  CHECK(std::string(reinterpret_cast<char*>(&e.memory.bytes[TALLY_ERROR_TEXT])) == "no memory");
}

TEST_CASE("of many answers the one that failed is found, and told once") {
  Ends e;
  tally_message_t got;
  const tally_message_t message = message_of(TALLY_LAUNCH);
  for (uint32_t i = 1; i <= 20; ++i) {
    tally_send(&e.client, &message, nullptr);
    if (i == 1) CHECK_THROWS_WITH(tally_wait_failed(&e.client, 0, 1), "would wait for ever");
    REQUIRE(e.receive(&got));
    e.answer(i == 7 ? STRETTO_ERROR_ARGUMENT : STRETTO_OK, "no");
  }
  CHECK(tally_wait_failed(&e.client, 0, 6) == 0);
  CHECK(tally_wait_failed(&e.client, 6, 20) == 7);
  CHECK(tally_wait_reply(&e.client, 7).status == STRETTO_ERROR_ARGUMENT);
  CHECK(tally_wait_failed(&e.client, 7, 20) == 0);
}

TEST_CASE("the server sees with the last message that its client has gone") {
  Ends e;
  tally_message_t got;
  const tally_message_t message = message_of(TALLY_FREE);
  tally_send(&e.client, &message, nullptr);
  tally_detach(&e.client);
  REQUIRE(e.receive(&got));
  REQUIRE_FALSE(e.receive(&got));
  CHECK(e.state == TALLY_GONE);
}

TEST_CASE("an event is asked for without a message, and its last record counts") {
  Ends e;
  const tally_message_t message = message_of(TALLY_EVENT_RECORD);
  const uint64_t first = tally_send(&e.client, &message, nullptr);
  const uint64_t second = tally_send(&e.client, &message, nullptr);
  const uint64_t words = e.memory.sent_words;
  CHECK(tally_event_query(&e.client, 200, first, nullptr) == 0);
  CHECK_THROWS_WITH(tally_event_wait(&e.client, 200, first), "would wait for ever");
  CHECK(e.client.messages == 2);
  CHECK(e.memory.sent_words == words);
  // Times are the GPU's, which writes them before the server knows.
  const auto gpu_notes = [&](uint64_t ns) {
    std::memcpy(e.memory.at(tally_event_time_address(&e.client, 200), 8), &ns, 8);
  };
  gpu_notes(1234);
  tally_event_done(&e.server, 200, first, STRETTO_OK);
  CHECK(tally_event_wait(&e.client, 200, first).time_ns == 1234);
  CHECK(tally_event_query(&e.client, 200, second, nullptr) == 0);
  gpu_notes(5678);
  tally_event_done(&e.server, 200, second, STRETTO_ERROR_FAULT);
  tally_event_t got;
  CHECK(tally_event_query(&e.client, 200, second, &got) == 1);
  CHECK(got.time_ns == 5678);
  CHECK(got.status == STRETTO_ERROR_FAULT);
}

TEST_CASE("a message that claims more payload than any has is taken without") {
  Ends e;
  tally_message_t message = message_of(TALLY_LAUNCH), got;
  tally_send(&e.client, &message, nullptr);
  const uint32_t most = UINT32_MAX;
  std::memcpy(&e.memory.bytes[TALLY_RING + offsetof(tally_message_t, payload_bytes)], &most, 4);
  REQUIRE(e.receive(&got));
  CHECK(got.payload_bytes == 0);
  CHECK(e.server.bytes == sizeof message);
}

}  // namespace
