// SPDX-License-Identifier: Apache-2.0
// Question: does the adder of a switch bring each part to memory once, whatever leaves when? State
// space: orders of parts of several senders, room in the table, times that sums wait, packets that
// follow. Expected: sums of integers, by a plain array; FP16 holds them exactly.
#include "models/fabric/switch_adder.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "models/common/arithmetic.h"
#include "tests/support/seeded_rng.h"

namespace stretto {
namespace {

constexpr uint64_t kBase = uint64_t{3} << 40 | 0x10000;
constexpr uint32_t kElements = 64;  // Of a part.
constexpr uint64_t kPart = 2 * kElements;
constexpr uint8_t kSenders = 3;

Packet part(uint64_t place, int value) {
  Packet packet;
  packet.operation = Operation::update;
  packet.address = kBase + place * kPart;
  packet.row_bytes = kPart;
  packet.tracked = true;
  packet.wg_id = static_cast<uint32_t>(place);
  packet.data.resize(kPart);
  for (uint32_t i = 0; i < kElements; ++i) {
    const uint16_t bits = fp16_from_fp32(static_cast<float>(value + int(i)));
    std::memcpy(packet.data.data() + 2 * i, &bits, 2);
  }
  return packet;
}

float element(const Packet& packet, uint32_t i) {
  uint16_t bits;
  std::memcpy(&bits, packet.data.data() + 2 * i, 2);
  return fp32_from_fp16(bits);
}

SwitchAdder adder_of(uint64_t places, Time hold = kMicrosecond) {
  SwitchAdder adder(places * kPart, hold, 0);
  adder.set_base(kBase, 0);
  adder.set_length(1 << 20, 0);
  adder.set_parts(kSenders, 0);
  return adder;
}

bool add(SwitchAdder& adder, uint64_t place, int value, uint8_t input, Time now = 0) {
  Packet packet = part(place, value);
  bool opened;
  return adder.add(packet, input, now, opened);
}

void expect_laws(const SwitchAdder& adder) {
  AuditSink sink;
  adder.audit(sink);
  for (const AuditResult& result : sink.all()) {
    INFO(result.law);
    CHECK(result.holds);
  }
}

TEST_CASE("a sum leaves when the last of its parts has come, and says how many are in it",
          "[T3-SW-01]") {
  SwitchAdder adder = adder_of(4);
  REQUIRE(add(adder, 0, 1, 0));
  REQUIRE(add(adder, 1, 100, 1));
  REQUIRE(add(adder, 0, 2, 2, 5));
  CHECK_FALSE(adder.is_leaving());
  REQUIRE(add(adder, 0, 4, 1, 7));
  REQUIRE(adder.is_leaving());
  CHECK(adder.next_since() == 7);
  const Packet sum = adder.take();
  CHECK(sum.parts == 3);
  CHECK(sum.address == kBase);
  for (uint32_t i = 0; i < kElements; ++i) CHECK(element(sum, i) == float(7 + 3 * i));
  CHECK(adder.counters().early == 0);
}

TEST_CASE("only updates of the range that was asked for are added", "[T3-SW-01]") {
  SwitchAdder adder = adder_of(4);
  Packet packet = part(0, 1);
  CHECK(adder.takes(packet));
  packet.operation = Operation::write;
  CHECK_FALSE(adder.takes(packet));
  packet = part(0, 1);
  packet.address = kBase - 2;
  CHECK_FALSE(adder.takes(packet));
  packet.address = kBase + (1 << 20);
  CHECK_FALSE(adder.takes(packet));
  adder.set_parts(1, 0);
  CHECK_FALSE(adder.takes(part(0, 1)));
  CHECK_FALSE(SwitchAdder(0, 1, 0).takes(part(0, 1)));
}

TEST_CASE("a full table lets its oldest sum go before the next begins, and never holds more",
          "[T3-SW-01]") {
  SwitchAdder adder = adder_of(2);
  REQUIRE(add(adder, 0, 1, 0));
  REQUIRE(add(adder, 1, 2, 0));
  CHECK_FALSE(add(adder, 2, 3, 0));  // Waits,
  REQUIRE(adder.is_leaving());
  REQUIRE(add(adder, 1, 4, 1));  // ... and who finds its sum does not.
  const Packet sum = adder.take();
  CHECK(sum.address == kBase);
  CHECK(sum.parts == 1);
  CHECK_FALSE(add(adder, 2, 3, 0));  // It is on the wire.
  adder.left(kPart);
  CHECK(add(adder, 2, 3, 0));
  CHECK(adder.counters().early == 1);
  CHECK(adder.counters().waits == 2);
  CHECK(adder.counters().high_water == 2 * kPart);
}

TEST_CASE(
    "sums leave after a time, before what follows from their sender, and when others are asked",
    "[T3-SW-01]") {
  SwitchAdder adder = adder_of(8, 100);
  REQUIRE(add(adder, 0, 1, 0, 10));
  REQUIRE(add(adder, 1, 1, 1, 11));
  adder.expire(109);
  CHECK_FALSE(adder.is_leaving());
  adder.expire(110);
  REQUIRE(adder.is_leaving());
  CHECK(adder.take().address == kBase);
  CHECK_FALSE(adder.push_out(0, 111));  // Nothing of this sender.
  CHECK(adder.push_out(1, 111));
  CHECK(adder.take().address == kBase + kPart);
  CHECK_FALSE(adder.push_out(1, 111));
  REQUIRE(add(adder, 2, 1, 1, 112));
  adder.set_parts(0, 113);
  REQUIRE(adder.is_leaving());
  adder.take();
  for (int i = 0; i < 3; ++i) adder.left(kPart);
  expect_laws(adder);
}

TEST_CASE("whatever leaves when, memory gets each part once", "[T3-SW-01]") {
  test::Rng rng(test::seed());
  for (unsigned round = 0; round < 200; ++round) {
    const uint64_t places = 6;
    SwitchAdder adder = adder_of(1 + rng.below(places), 1 + rng.below(40));
    std::vector<float> memory(places * kElements), expected(places * kElements);
    std::vector<unsigned> parts(places);
    const auto deliver = [&] {
      const Packet sum = adder.take();
      const uint64_t place = (sum.address - kBase) / kPart;
      for (uint32_t i = 0; i < kElements; ++i) memory[place * kElements + i] += element(sum, i);
      parts[place] += sum.parts;
      adder.left(kPart);
    };
    // Each sender's parts in an order of its own.
    std::vector<std::vector<uint64_t>> order(kSenders);
    for (auto& of_sender : order) {
      for (uint64_t place = 0; place < places; ++place)
        of_sender.insert(of_sender.begin() + static_cast<long>(rng.below(place + 1)), place);
    }
    Time now = 0;
    for (unsigned left = kSenders * unsigned{places}; left > 0; ++now) {
      adder.expire(now);
      const auto sender = static_cast<uint8_t>(rng.below(kSenders));
      if (adder.is_leaving() && rng.below(2) == 0) deliver();
      if (rng.below(16) == 0) adder.push_out(sender, now);
      if (order[sender].empty()) continue;
      const uint64_t place = order[sender].back();
      const int value = static_cast<int>(rng.below(100));
      if (!add(adder, place, value, sender, now)) continue;
      order[sender].pop_back();
      --left;
      for (uint32_t i = 0; i < kElements; ++i)
        expected[place * kElements + i] += float(value + int(i));
    }
    adder.expire(now + 40);
    while (adder.is_leaving()) deliver();
    CHECK(memory == expected);
    CHECK(parts == std::vector<unsigned>(places, kSenders));
    expect_laws(adder);
  }
}

TEST_CASE("a part that is counted and not added is missing in the sum") {
  SwitchAdder adder(8 * kPart, kMicrosecond, 1);
  adder.set_base(kBase, 0);
  adder.set_length(1 << 20, 0);
  adder.set_parts(kSenders, 0);
  for (uint8_t i = 0; i < kSenders; ++i) REQUIRE(add(adder, 0, 1, i));
  CHECK(element(adder.take(), 0) == 2);
}

}  // namespace
}  // namespace stretto
