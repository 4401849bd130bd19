// SPDX-License-Identifier: Apache-2.0
// Question: does the collective engine of a card make of each collective request what it asks for,
// in the order of the stores, a request a clock, and does it refuse rather than wrap? Alone, between
// a window and a ring that are played here. Parameters: peers (0, 1, 7, 16), ids (in their fields,
// one beyond), what is stored before, behind and at the same time.
#include "models/card/collective_engine.h"

#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/card/word_sender.h"
#include "models/common/partition.h"
#include "models/common/tlm_checker.h"
#include "sw/include/formats/send_request.h"

namespace stretto {
namespace {

constexpr Time kClock = 4 * kNanosecond;  // 250 MHz.
constexpr uint64_t kWindow = STRETTO_SEND_APERTURE;
constexpr uint8_t kAccount = 5;

struct Seen {
  uint64_t request;
  uint64_t address;
  Time at;  // When it is at the ring.
  uint8_t account;
};

struct Event : EventHandler {
  Event(EventQueue& queue, std::function<void(uint64_t tag)> does)
      : EventHandler(queue), call(std::move(does)) {}
  void on_event(uint64_t tag) override { call(tag); }
  std::function<void(uint64_t)> call;
};

// The engine's neighbours. The ring answers at once, or never.
struct Bench : sc_core::sc_module {
  Conductor conductor;
  Partition partition;
  CollectiveEngine engine;
  tlm_utils::simple_initiator_socket_optional<Bench, 32, StrettoProtocol> window;
  tlm_utils::simple_target_socket_optional<Bench, 32, StrettoProtocol> ring;
  WordSender stored;
  std::vector<uint64_t> to_store;
  std::vector<Seen> seen;
  std::vector<tlm::tlm_generic_payload*> taken;
  bool ring_takes = true;
  Event stores, answers, changes;

  explicit Bench(sc_core::sc_module_name name = "bench")
      : sc_module(name),
        conductor("conductor", {}, 300 * kNanosecond),
        partition("card0", conductor, 0x80),
        engine("engine", 250, partition.services()),
        window("window"),
        ring("ring"),
        stored(partition.services()),
        stores(partition.queue(),
               [this](uint64_t i) { stored.send(window, kWindow + 8 * i, to_store[i], kAccount); }),
        answers(partition.queue(), [this](uint64_t) { answer(); }),
        changes(partition.queue(), [this](uint64_t peers) { engine.set_peers(peers); }) {
    window.register_nb_transport_bw(this, &Bench::on_answer);
    ring.register_nb_transport_fw(this, &Bench::on_request);
    connect_checked(window, engine.requests, partition.queue());
    connect_checked(engine.stores, ring, partition.queue());
    partition.add("engine", engine);
  }

  void store(uint64_t request, Time at) {
    to_store.push_back(request);
    partition.queue().schedule(at, stores, to_store.size() - 1);
  }
  void answer() {
    for (tlm::tlm_generic_payload* payload : taken) {
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      payload->set_response_status(tlm::TLM_OK_RESPONSE);
      ring->nb_transport_bw(*payload, phase, delay);
    }
    taken.clear();
  }
  tlm::tlm_sync_enum on_answer(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                               sc_core::sc_time&) {
    return stored.on_taken(payload, phase);
  }
  tlm::tlm_sync_enum on_request(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
    uint64_t request;
    std::memcpy(&request, payload.get_data_ptr(), 8);
    const Time at = partition.queue().now() + time_of(delay);
    seen.push_back({request, payload.get_address(), at, extension_of(payload)->account});
    taken.push_back(&payload);
    if (ring_takes) partition.queue().schedule(at, answers, 0);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void run() { REQUIRE(conductor.run() == Conductor::Outcome::quiet); }

  std::vector<uint64_t> requests() const {
    std::vector<uint64_t> all;
    for (const Seen& one : seen) all.push_back(one.request);
    return all;
  }
  uint64_t counted(const std::string& what) const {
    StatisticSink sink;
    engine.report(sink);
    for (const Statistic& statistic : sink.all())
      if (statistic.path == what) return statistic.value;
    FAIL("no statistic " << what);
    return 0;
  }
  std::vector<std::string> violated() const {
    AuditSink sink;
    engine.audit(sink);
    std::vector<std::string> laws;
    for (const AuditResult& result : sink.all())
      if (!result.holds) laws.push_back(result.law);
    return laws;
  }
};

uint64_t plain(uint32_t source) {
  return stretto_send_request(STRETTO_SR_WRITE, source, 2, 3, 4, 5, STRETTO_SR_SC);
}
uint64_t collective(uint32_t source, uint32_t destination, uint32_t connection) {
  return stretto_send_request(STRETTO_SR_COLLECTIVE, source, destination, connection, 1000, 77,
                              STRETTO_SR_SC | STRETTO_SR_RC);
}
// What peer `peer` of it gets.
uint64_t write_to(uint32_t source, uint32_t destination, uint32_t connection, uint32_t peer) {
  return stretto_send_request(STRETTO_SR_WRITE, source + peer, destination + peer,
                              connection + peer, 1000, 77, STRETTO_SR_SC | STRETTO_SR_RC);
}

}  // namespace

TEST_CASE("a collective request becomes a write to each peer, with ids and connections counted up",
          "[GD-FUTURE-02]") {
  Bench bench;
  bench.engine.set_peers(7);
  bench.store(collective(10, 40, 2), 100 * kNanosecond);
  bench.run();
  REQUIRE(bench.seen.size() == 7);
  for (uint32_t peer = 0; peer < 7; ++peer) {
    INFO("peer " << peer);
    CHECK(bench.seen[peer].request == write_to(10, 40, 2, peer));
    CHECK(bench.seen[peer].address == kWindow);
    CHECK(bench.seen[peer].account == kAccount);
    // The edge at which it was stored, then one a clock: the ring samples each at the edge behind.
    const Time edge = 100 * kNanosecond + peer * kClock;
    CHECK(bench.seen[peer].at > edge);
    CHECK(bench.seen[peer].at < edge + kClock);
  }
  CHECK(bench.counted("collective") == 1);
  CHECK(bench.counted("made") == 7);
  CHECK(bench.stored.taken() == 1);
  CHECK(bench.violated() == std::vector<std::string>());
}

TEST_CASE("requests leave in the order of the stores, collective and plain, one a clock") {
  Bench bench;
  bench.engine.set_peers(2);
  const std::vector<uint64_t> stores{plain(1), collective(10, 40, 0), plain(2),
                                     plain(3), collective(20, 50, 4), collective(30, 60, 6)};
  // All at once, in the middle of a clock.
  for (const uint64_t store : stores) bench.store(store, 101 * kNanosecond);
  bench.run();
  CHECK(bench.requests() == std::vector<uint64_t>{plain(1), write_to(10, 40, 0, 0),
                                                  write_to(10, 40, 0, 1), plain(2), plain(3),
                                                  write_to(20, 50, 4, 0), write_to(20, 50, 4, 1),
                                                  write_to(30, 60, 6, 0), write_to(30, 60, 6, 1)});
  for (size_t i = 0; i < bench.seen.size(); ++i)
    CHECK(bench.seen[i].at == 104 * kNanosecond + i * kClock + kClock / 2);
  CHECK(bench.counted("plain") == 3);
  CHECK(bench.counted("most_waiting") == 6);
  CHECK(bench.stored.taken() == 6);
  CHECK(bench.violated() == std::vector<std::string>());
}

TEST_CASE("a store that comes at the edge behind another leaves at that edge") {
  Bench bench;
  bench.engine.set_peers(1);
  bench.store(collective(10, 40, 2), 100 * kNanosecond);
  bench.store(plain(1), 104 * kNanosecond);
  bench.run();
  CHECK(bench.requests() == std::vector<uint64_t>{write_to(10, 40, 2, 0), plain(1)});
  CHECK(bench.seen[1].at - bench.seen[0].at == kClock);
}

TEST_CASE("an engine that is off leaves the opcode to the ring, which refuses it") {
  Bench bench;
  bench.store(collective(10, 40, 2), 100 * kNanosecond);
  bench.run();
  CHECK(bench.requests() == std::vector<uint64_t>{collective(10, 40, 2)});
  CHECK(bench.counted("collective") == 0);
  CHECK(bench.counted("plain") == 1);
  CHECK(bench.violated() == std::vector<std::string>());
}

TEST_CASE("the peers of a collective request are those at the time of its store") {
  Bench bench;
  bench.engine.set_peers(16);
  bench.store(collective(10, 40, 0), 100 * kNanosecond);
  // The write of the register, while the requests are made.
  bench.partition.queue().schedule(110 * kNanosecond, bench.changes, 1);
  bench.store(collective(50, 80, 0), 120 * kNanosecond);
  bench.run();
  REQUIRE(bench.seen.size() == 17);
  CHECK(bench.seen[15].request == write_to(10, 40, 0, 15));
  CHECK(bench.seen[16].request == write_to(50, 80, 0, 0));
  CHECK(bench.violated() == std::vector<std::string>());
}

TEST_CASE("ids that would leave their fields are refused as they came, each ticket once") {
  const uint64_t source = collective(254, 0, 0), destination = collective(0, 254, 0),
                 connection = collective(0, 0, 126);
  Bench bench;
  bench.engine.set_peers(4);
  bench.store(source, 100 * kNanosecond);
  bench.store(destination, 200 * kNanosecond);
  bench.store(connection, 300 * kNanosecond);
  bench.run();
  CHECK(bench.requests() == std::vector<uint64_t>{write_to(254, 0, 0, 0), write_to(254, 0, 0, 1),
                                                  source, source, write_to(0, 254, 0, 0),
                                                  write_to(0, 254, 0, 1), destination, destination,
                                                  write_to(0, 0, 126, 0), write_to(0, 0, 126, 1),
                                                  connection, connection});
  CHECK(bench.counted("beyond") == 6);
  CHECK(bench.violated() == std::vector<std::string>());
}

TEST_CASE("a request that the ring never takes breaks a law") {
  Bench bench;
  bench.ring_takes = false;
  bench.store(plain(1), 100 * kNanosecond);
  bench.run();
  CHECK(bench.violated() ==
        std::vector<std::string>{"requests that the engine made = taken by the ring"});
}

}  // namespace stretto
