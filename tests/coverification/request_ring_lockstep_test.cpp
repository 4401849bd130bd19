// SPDX-License-Identifier: Apache-2.0
// Question: do the request ring's RTL and its reference model agree clock by clock, and do both
// keep the rules of rtl/request_ring/README.md? State space: ring level x requests in decode x
// transfers in flight a connection x completion order x pending flags x error state; parameters:
// limits 0..15, units 2^0..2^17, batches, both engines, back-pressure 0..all. The format of a
// request is GD-DMA-11 as sw/include/formats/send_request.h cuts it; ring depth 256 is GD-U02.
#include <catch2/catch.hpp>

#include <array>
#include <vector>

#include "tests/coverification/request_ring_bench.h"
#include "tests/coverification/request_ring_traffic.h"
#include "tests/support/coverage_bins.h"

namespace stretto {
namespace {

constexpr uint64_t kOwn = kRingOwnNode, kPeer = kRingPeerNode;
constexpr auto at = ring_address;

// Buffer 1 here and buffer 2 at the peer of 64 units of 16 bytes; connection 0 to the peer.
void program(RingBench& r) {
  r.write(REQUEST_RING_NODE_OFFSET, kOwn);
  r.write(REQUEST_RING_SC_BASE_OFFSET, at(kOwn, 0x8000));
  r.write(REQUEST_RING_REPLICA_ADDRESS_OFFSET, at(kOwn, 0x7000));
  r.set_buffer(1, {true, true, true, at(kOwn, 0x10000), 4, 64});
  r.set_buffer(2, {true, true, true, at(kPeer, 0x20000), 4, 64});
  r.set_connection(0, {true, 0, kPeer, at(kPeer, 0x9000)});
  r.control(true, false, true, 16);
}

uint64_t send(uint32_t offset = 0, uint32_t length = 1,
              uint64_t flags = STRETTO_SR_SC | STRETTO_SR_RC) {
  return stretto_send_request(STRETTO_SR_WRITE, 1, 2, 0, offset, length, flags);
}

TEST_CASE("a request becomes a transfer with the addresses of its buffers four clocks later",
          "[GD-DMA-04]") {
  RingBench r;
  program(r);
  const uint64_t pushed = r.cycle();
  r.push(send(3, 5));
  while (!r.out.issue_valid) r.step();
  CHECK(r.cycle() - 1 - pushed == 3);
  CHECK(r.out.issue_source == at(kOwn, 0x10000 + 3 * 16));
  CHECK(r.out.issue_destination == at(kPeer, 0x20000 + 3 * 16));
  CHECK(r.out.issue_bytes == 5 * 16);
  CHECK_FALSE(r.out.issue_read);
}

TEST_CASE("a completed transfer writes its send flag, then its receive flag, with its number",
          "[GD-DMA-09]") {
  RingBench r;
  program(r);
  r.push(send());
  r.push(send());
  std::vector<std::array<uint64_t, 3>> writes;
  for (int i = 0; i < 60; ++i) {
    r.step();
    if (r.out.write_valid)
      writes.push_back({r.out.write_kind, r.out.write_address, r.out.write_data});
  }
  std::erase_if(writes, [](const auto& w) { return w[0] == 0; });
  REQUIRE(writes.size() == 4);
  for (uint64_t n = 0; n < 2; ++n) {
    CHECK(writes[2 * n] == std::array<uint64_t, 3>{1, at(kOwn, 0x8000 + 8 * 1), n + 1});
    CHECK(writes[2 * n + 1] == std::array<uint64_t, 3>{2, at(kPeer, 0x9000 + 8 * 2), n + 1});
  }
  CHECK(r.read(REQUEST_RING_CONNECTION_STATE_OFFSET) == 2);
}

TEST_CASE("one request a clock is issued while the engine takes them", "[GD-DMA-07]") {
  RingBench r;
  program(r);
  r.latency_min = r.latency_max = 1;
  unsigned issued = 0;
  for (int i = 0; i < 100; ++i) {
    r.push(send(0, 1, 0));
    issued += r.out.issue_valid;
  }
  CHECK(issued == 97);
}

TEST_CASE("flags wait for the oldest transfer of the connection, not for other connections",
          "[GD-DMA-06]") {
  RingBench r;
  program(r);
  r.set_connection(1, {true, 0, kPeer, at(kPeer, 0xa000)});
  r.engine_stopped = true;
  r.push(send());
  r.push(send());
  r.push(stretto_send_request(STRETTO_SR_WRITE, 1, 2, 1, 0, 1, STRETTO_SR_RC));
  r.steps(10);
  r.complete(0, 1);
  r.steps(10);
  CHECK(r.flags == 0);
  r.complete(1, 0);
  r.steps(10);
  CHECK(r.flags == 1);
  r.complete(0, 0);
  r.steps(10);
  CHECK(r.flags == 5);
}

TEST_CASE("a connection at its limit holds what follows, and one below lets it go") {
  RingBench r;
  program(r);
  r.set_connection(0, {true, 3, kPeer, at(kPeer, 0x9000)});
  r.engine_stopped = true;
  for (int i = 0; i < 10; ++i) r.push(send());
  r.steps(20);
  CHECK(r.issues == 3);
  CHECK(r.out.idle);
  r.drain();
  CHECK(r.issues == 10);
}

struct Malformed {
  const char* what;
  uint64_t sr;
  uint64_t reason;
};

TEST_CASE("each kind of malformed request is refused with its reason and touches nothing") {
  const uint64_t w = STRETTO_SR_WRITE;
  const Malformed all[] = {
      {"all zero", 0, 1 | 4096},
      {"opcode 3", send() | 3, 1},
      {"reserved bit 61", send() | uint64_t{1} << 61, 2},
      {"reserved bit 63", send() | uint64_t{1} << 63, 2},
      {"connection not valid", stretto_send_request(w, 1, 2, 5, 0, 1, 0), 4},
      {"connection not built", stretto_send_request(w, 1, 2, 16, 0, 1, 0), 4},
      {"unknown source", stretto_send_request(w, 7, 2, 0, 0, 1, 0), 8},
      {"unknown destination", stretto_send_request(w, 1, 7, 0, 0, 1, 0), 16},
      {"source may not be read", stretto_send_request(w, 3, 2, 0, 0, 1, 0), 32},
      {"destination may not be written", stretto_send_request(w, 1, 4, 0, 0, 1, 0), 32},
      {"both local", stretto_send_request(w, 1, 1, 0, 0, 1, 0), 64},
      {"a read the wrong way round", stretto_send_request(STRETTO_SR_READ, 1, 2, 0, 0, 1, 0), 64},
      {"units differ", stretto_send_request(w, 1, 5, 0, 0, 1, 0), 128},
      {"a unit that does not exist", stretto_send_request(w, 6, 6, 1, 0, 1, 0), 128},
      {"no length", send(0, 0), 256},
      {"one unit too long", send(0, 65), 512 | 1024},
      {"one unit too far", send(64, 1), 512 | 1024},
      {"the largest offset and length", send(0x1ffff, 0x1ffff), 512 | 1024},
      {"beyond the destination only", stretto_send_request(w, 8, 2, 0, 1, 64, 0), 1024},
  };
  RingBench r;
  program(r);
  r.write(REQUEST_RING_IRQ_ENABLE_OFFSET, 1);
  r.set_buffer(3, {true, false, true, at(kOwn, 0x30000), 4, 64});
  r.set_buffer(4, {true, true, false, at(kPeer, 0x30000), 4, 64});
  r.set_buffer(5, {true, true, true, at(kPeer, 0x30000), 5, 64});
  r.set_buffer(6, {true, true, true, at(kOwn, 0x30000), 18, 64});
  r.set_buffer(8, {true, true, true, at(kOwn, 0x40000), 4, 65});
  r.set_connection(1, {true, 0, kOwn, at(kOwn, 0x9800)});
  for (const Malformed& m : all) {
    INFO(m.what);
    const uint64_t refused = r.read(REQUEST_RING_REFUSED_OFFSET);
    r.push(m.sr);
    r.steps(8);
    CHECK(r.out.irq);
    CHECK(r.read(REQUEST_RING_ERROR_OFFSET) == 1);
    // All zero also names buffer 0, which is not registered, and has no length.
    const uint64_t reason = m.sr == 0 ? (1 | 8 | 16 | 256) : m.reason;
    CHECK(r.read(REQUEST_RING_ERROR_FIRST_OFFSET) == reason);
    CHECK(r.read(REQUEST_RING_ERROR_REQUEST_OFFSET) == m.sr);
    CHECK(r.read(REQUEST_RING_REFUSED_OFFSET) == refused + 1);
    r.write(REQUEST_RING_ERROR_OFFSET, 7);
    CHECK_FALSE(r.out.irq);
  }
  CHECK(r.issues == 0);
  CHECK(r.flags == 0);
  r.push(send(0, 64));  // And the ring goes on, to the last unit.
  r.drain();
  CHECK(r.issues == 1);
}

TEST_CASE("the first error is kept until all are cleared") {
  RingBench r;
  program(r);
  r.push(send(0, 0));
  r.push(send() | 3);
  r.steps(8);
  CHECK(r.read(REQUEST_RING_ERROR_FIRST_OFFSET) == 256);
  CHECK(r.read(REQUEST_RING_ERROR_REQUEST_OFFSET) == send(0, 0));
  r.write(REQUEST_RING_ERROR_OFFSET, 1);
  r.push(send() | 3);
  r.steps(8);
  CHECK(r.read(REQUEST_RING_ERROR_FIRST_OFFSET) == 1);
}

TEST_CASE("the ring takes 256 requests and drops the 257th, which harms nothing") {
  RingBench r;
  program(r);
  r.write(REQUEST_RING_IRQ_ENABLE_OFFSET, 2);
  r.engine_stopped = true;
  // Eight in flight, one in s2, one in s1: they have left the ring.
  for (int i = 0; i < 8 + 2 + 256; ++i) r.push(send());
  r.steps(4);
  CHECK(r.level() == 256);
  CHECK(r.drops == 0);
  CHECK_FALSE(r.out.irq);
  r.push(send(7, 1));
  CHECK(r.drops == 1);
  CHECK(r.out.irq);
  CHECK(r.read(REQUEST_RING_DROPPED_OFFSET) == 1);
  CHECK(r.read(REQUEST_RING_ERROR_FIRST_OFFSET) == 1u << 16);
  CHECK(r.read(REQUEST_RING_ERROR_REQUEST_OFFSET) == send(7, 1));
  r.drain();
  CHECK(r.issues == 266);
  CHECK(r.read(REQUEST_RING_TAIL_OFFSET) == 266);
  CHECK(r.read(REQUEST_RING_HEAD_OFFSET) == 266);
}

TEST_CASE("the replica follows the head in batches, and at once when the ring is empty",
          "[GD-DMA-08]") {
  RingBench r;
  program(r);
  r.latency_min = r.latency_max = 1;
  r.control(true, false, true, 8);
  for (int i = 0; i < 64; ++i) r.push(send(0, 1, 0));
  r.drain();
  // The ring holds one request most of the time, so mostly every one is announced; but never more.
  CHECK(r.replicas <= 64);
  RingBench held;
  program(held);
  held.control(false, false, false, 8);
  held.control(true, false, false, 8);
  held.engine_stopped = true;
  for (int i = 0; i < 74; ++i) held.push(send(0, 1, 0));  // 64 stay in the ring.
  held.control(true, false, true, 8);
  held.steps(4);
  CHECK(held.replicas == 1);  // 10 behind.
  held.latency_min = held.latency_max = 1;
  held.drain();
  CHECK(held.replicas >= 8);
  CHECK(held.replicas <= 12);
}

TEST_CASE("a failed transfer writes no flag, is reported, and does not stop the connection") {
  RingBench r;
  program(r);
  r.write(REQUEST_RING_IRQ_ENABLE_OFFSET, 4);
  r.failures = 256;
  r.push(send());
  r.drain();
  CHECK(r.flags == 0);
  CHECK(r.out.irq);
  CHECK(r.read(REQUEST_RING_FAILED_OFFSET) == 1);
  CHECK(r.read(REQUEST_RING_ERROR_FIRST_OFFSET) == 2u << 16);
  CHECK(r.read(REQUEST_RING_ERROR_REQUEST_OFFSET) ==
        stretto_send_request(0, 1, 2, 0, 0, 0, STRETTO_SR_SC | STRETTO_SR_RC));
  r.failures = 0;
  r.push(send());
  r.drain();
  CHECK(r.flags == 2);
}

TEST_CASE("a completion for a tag that is not in flight is ignored") {
  RingBench r;
  program(r);
  for (const uint16_t tag : {uint16_t{0}, uint16_t{9}, uint16_t{0xff8}, uint16_t{0xfff}}) {
    r.in.done_valid = true;
    r.in.done_tag = tag;
    r.step();
    r.write(REQUEST_RING_SOFTWARE_DONE_OFFSET, tag);
  }
  r.steps(5);
  CHECK(r.out.idle);
  CHECK(r.read(REQUEST_RING_COMPLETED_OFFSET) == 0);
  CHECK((r.read(REQUEST_RING_STATUS_OFFSET) & 1) == 0);
}

TEST_CASE("software takes and completes transfers through the same ring, in any order") {
  RingBench r;
  program(r);
  r.write(REQUEST_RING_IRQ_ENABLE_OFFSET, 8);
  r.software_by_hand = r.engine_stopped = true;
  r.control(true, true, true, 16);
  for (uint32_t i = 0; i < 3; ++i)
    r.in = {}, r.in.sr_valid = true, r.in.sr_data = send(i, 2), r.step();
  std::vector<uint64_t> tags;
  for (uint32_t i = 0; i < 3; ++i) {
    r.steps(4);
    CHECK(r.out.irq);
    CHECK_FALSE(r.out.issue_valid);
    CHECK(r.read(REQUEST_RING_SOFTWARE_SOURCE_OFFSET) == at(kOwn, 0x10000 + i * 16));
    CHECK(r.read(REQUEST_RING_SOFTWARE_DESTINATION_OFFSET) == at(kPeer, 0x20000 + i * 16));
    const uint64_t what = r.read(REQUEST_RING_SOFTWARE_BYTES_OFFSET);
    CHECK(STRETTO_FIELD_GET(what, REQUEST_RING_SOFTWARE_BYTES_VALID) == 1);
    CHECK(STRETTO_FIELD_GET(what, REQUEST_RING_SOFTWARE_BYTES_BYTES) == 32);
    tags.push_back(STRETTO_FIELD_GET(what, REQUEST_RING_SOFTWARE_BYTES_TAG));
    r.write(REQUEST_RING_SOFTWARE_TAKE_OFFSET, 1);
  }
  r.steps(4);
  CHECK(r.read(REQUEST_RING_SOFTWARE_BYTES_OFFSET) == 0);
  CHECK_FALSE(r.out.irq);
  CHECK(r.read(REQUEST_RING_CONNECTION_STATE_OFFSET) == uint64_t{3} << 32);
  r.write(REQUEST_RING_SOFTWARE_DONE_OFFSET, tags[2]);
  r.write(REQUEST_RING_SOFTWARE_DONE_OFFSET, tags[0] | 1u << 16);  // Failed.
  r.steps(6);
  CHECK(r.read(REQUEST_RING_CONNECTION_STATE_OFFSET) == (1 | uint64_t{2} << 32));
  CHECK(r.read(REQUEST_RING_ERROR_OFFSET) == 4);
}

TEST_CASE("the engine changes only while nothing is under way") {
  RingBench r;
  program(r);
  r.engine_stopped = true;
  r.push(send());
  r.steps(6);
  r.control(true, true, true, 16);
  CHECK((r.read(REQUEST_RING_CONTROL_OFFSET) & 2) == 0);
  r.drain();
  r.control(true, true, true, 16);
  CHECK((r.read(REQUEST_RING_CONTROL_OFFSET) & 2) == 2);
}

TEST_CASE(
    "clear empties a stopped ring and starts the numbers anew, and waits for what is under way") {
  RingBench r;
  program(r);
  r.push(send());
  r.drain();
  r.engine_stopped = true;
  for (int i = 0; i < 12; ++i) r.push(send());
  r.steps(4);
  r.control(false, false, true, 16);
  r.write(REQUEST_RING_CLEAR_OFFSET, 1);  // Transfers are under way: no effect.
  CHECK(r.read(REQUEST_RING_TAIL_OFFSET) == 13);
  r.engine_stopped = false;
  r.steps(200);  // s1 and s2 go on, the ring does not.
  CHECK(r.level() == 2);
  r.write(REQUEST_RING_CLEAR_OFFSET, 1);
  CHECK(r.read(REQUEST_RING_TAIL_OFFSET) == 0);
  CHECK(r.read(REQUEST_RING_CONNECTION_STATE_OFFSET) == 0);
  r.control(true, false, true, 16);
  r.push(send());
  r.drain();
  CHECK(r.read(REQUEST_RING_CONNECTION_STATE_OFFSET) == 1);
}

TEST_CASE("reset in mid-flight leaves nothing behind") {
  RingBench r;
  program(r);
  r.engine_stopped = true;
  for (int i = 0; i < 50; ++i) r.push(send());
  r.reset();
  CHECK(r.step().idle);
  for (const auto& info :
       {REQUEST_RING_STATUS_OFFSET, REQUEST_RING_TAIL_OFFSET, REQUEST_RING_HEAD_OFFSET,
        REQUEST_RING_ISSUED_OFFSET, REQUEST_RING_CONNECTION_CONFIG_OFFSET,
        REQUEST_RING_CONNECTION_STATE_OFFSET, REQUEST_RING_ERROR_OFFSET}) {
    CHECK(r.read(static_cast<uint16_t>(info)) == 0);
  }
  CHECK(r.read(REQUEST_RING_CONTROL_OFFSET) == REQUEST_RING_CONTROL_RESET);
  program(r);
  r.engine_stopped = false;
  r.push(send());
  r.drain();
  CHECK(r.flags == 2);
}

TEST_CASE("request ring RTL, model and scoreboard agree in random traffic") {
  RingBench r(Impl::lockstep, 1);
  RingTraffic traffic{r};
  traffic.retable();
  const uint64_t cycles = test::coverification_cycles();
  uint64_t resets = 0;
  while (r.cycle() < cycles) {
    traffic.step();
    if (r.rng.chance(1, 4000)) {
      if (r.rng.chance(1, 3)) {
        r.reset();
        ++resets;
      } else {
        r.control(true, false, true, 16);
        r.drain();
        if (r.rng.chance(1, 2)) r.write(REQUEST_RING_CLEAR_OFFSET, 1);
      }
      traffic.retable();
    }
  }
  r.control(true, false, true, 16);
  r.drain();
  test::CoverageBins bins("request_ring");
  const auto bin = [&](const char* name, uint64_t hits) { bins.bin(name) = hits; };
  auto& seen = r.seen;
  bin("R1: a request entered the ring", r.pushes);
  bin("R1: the ring was full", seen["ring full"]);
  bin("R2: dropped by a full ring", seen["dropped: full"]);
  bin("R2: dropped by a disabled ring", seen["dropped: disabled"]);
  bin("R3: issued", r.issues);
  bin("R3: issued with the opcode read", seen["read"]);
  bin("R3: up to the last byte of its buffer", seen["to the last byte"]);
  const char* const reasons[] = {"opcode",
                                 "reserved bits",
                                 "connection",
                                 "source",
                                 "destination",
                                 "permission",
                                 "node",
                                 "units",
                                 "no length",
                                 "beyond the source",
                                 "beyond the destination"};
  for (unsigned i = 0; i < 11; ++i) {
    bins.bin(std::string("R3: refused only for ") + reasons[i]) =
        seen["refused: " + std::to_string(i)];
  }
  bin("R4: all slots of a connection in flight", seen["connection full"]);
  bin("R4: all slots of all connections in flight", seen["all connections full"]);
  bin("R4: a connection at its limit", seen["connection at its limit"]);
  bin("R5: a transfer waited for the engine", seen["issue stalled"]);
  bin("R5: a write waited for the memory", seen["write stalled"]);
  bin("R6: taken by software", seen["taken by software"]);
  bin("R6: completed by software", seen["done by software"]);
  bin("R6: completion out of order", seen["done out of order"]);
  bin("R6: send flag", seen["send flag"]);
  bin("R6: receive flag", seen["receive flag"]);
  bin("R7: replica written", r.replicas);
  bin("R7: replica stands for several requests", seen["replica coalesced"]);
  bin("R8: idle", seen["idle"]);
  bin("R9: a transfer failed", seen["transfer failed"]);
  bin("R9: the line was high", seen["irq"]);
  bin("R10: register write under traffic", seen["register write under traffic"]);
  bin("R10: reset in mid-flight", resets);
  bin("R10: clear", seen["clear"]);
  bins.report();
  CHECK(bins.empty() == "");
  CHECK(bins.rules_without_bin(STRETTO_SOURCE_DIR "/rtl/request_ring/README.md") == "");
}

TEST_CASE("clocks that idle allows to skip change nothing") {
  // Beside each other, with the same inputs; tags that are not in flight are ignored, so any will
  // do.
  const auto stepped = make_request_ring(Impl::lockstep, "stepped");
  const auto skipped = make_request_ring(Impl::lockstep, "skipped");
  test::Rng rng(3);
  RequestRingInputs in;
  RequestRingOutputs a, b;
  const auto both = [&] {
    ++in.cycle;
    a = stepped->step(in);
    b = skipped->step(in);
    REQUIRE(a == b);
  };
  const auto write = [&](uint64_t address, uint64_t data) {
    in.reg = {true, false, static_cast<uint16_t>(address), data};
    both();
    in.reg = {};
  };
  write(REQUEST_RING_NODE_OFFSET, kOwn);
  for (const auto& [id, node] : {std::pair{1, kOwn}, std::pair{2, kPeer}}) {
    write(REQUEST_RING_BUFFER_BASE_OFFSET_AT(id), at(node, 0x10000));
    write(REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(id),
          RingBench::config(RingBench::Buffer{true, true, true, 0, 4, 64}));
  }
  write(REQUEST_RING_CONNECTION_CONFIG_OFFSET,
        RingBench::config(RingBench::Connection{true, 0, kPeer, 0}));
  write(REQUEST_RING_CONTROL_OFFSET, 5 | 4 << 8);
  unsigned skips = 0;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t cycle = in.cycle;
    in = RequestRingInputs();
    in.cycle = cycle;
    in.issue_ready = !rng.chance(1, 4);
    in.write_ready = !rng.chance(1, 4);
    in.sr_valid = rng.chance(1, 3);
    in.sr_data = send(static_cast<uint32_t>(rng.below(66)), static_cast<uint32_t>(rng.below(4)));
    in.done_valid = rng.chance(1, 2);
    in.done_tag = static_cast<uint16_t>(rng.below(8));
    both();
    in.sr_valid = in.done_valid = false;
    for (uint64_t gap = rng.below(12); gap != 0; --gap) {
      if (!b.idle) {
        both();
        continue;
      }
      ++in.cycle;
      a = stepped->step(in);
      REQUIRE(a == b);
      ++skips;
    }
  }
  CHECK(skips > 10000);
}

TEST_CASE("lockstep reports the request ring's first difference") {
  // The RTL beside a model that does not hear one request.
  class Deaf final : public RequestRing {
   public:
    void reset() override { inner_->reset(); }
    RequestRingOutputs step(const RequestRingInputs& in) override {
      RequestRingInputs heard = in;
      if (in.cycle == 30) heard.sr_valid = false;
      return inner_->step(heard);
    }

   private:
    std::unique_ptr<RequestRing> inner_ = make_request_ring(Impl::model, "");
  };
  const auto ring = make_lockstep(make_request_ring(Impl::rtl, ""), std::make_unique<Deaf>(),
                                  "gpu0.request_ring");
  RequestRingInputs in;
  in.cycle = 29;
  in.reg = {true, false, REQUEST_RING_CONTROL_OFFSET, 1};
  ring->step(in);
  in = RequestRingInputs();
  in.cycle = 30;
  in.sr_valid = true;
  in.sr_data = 1;
  CHECK_THROWS_WITH(
      ring->step(in),
      Catch::Contains("request_ring gpu0.request_ring, cycle 30: idle: rtl 0x0, model 0x1") &&
          Catch::Contains("sr_data=0x1") && Catch::Contains("cycle 29: ") &&
          Catch::Contains("reg_we=0x1"));
}

}  // namespace
}  // namespace stretto
