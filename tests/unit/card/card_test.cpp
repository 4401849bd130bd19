// SPDX-License-Identifier: Apache-2.0
// Question: does a card behind a PCIe switch move what a GPU's send request names, at the time that
// wire, hops, memory and its own pipeline give, with flags behind the data, and does it say what is
// wrong? Two GPUs (router, test memory, requester) and a card made as
// platform/machine/card_node.cpp makes it, with the reference model of the ring. GPU 0 plays the
// host as well: it programs the card by posted writes. Link and switch as in switch_test.cpp: 16
// B/ns, 300 ns a hop, 150 ns.
#include "models/card/card_window.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "models/common/tlm_checker.h"
#include "models/dma/dma_engine.h"
#include "models/dma/request_ring_port.h"
#include "models/fabric/switch.h"
#include "models/reference/request_ring_model.h"
#include "sw/include/formats/card.h"
#include "sw/include/formats/send_request.h"
#include "sw/include/regs/card_regs.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/request_ring_regs.h"
#include "tests/unit/fabric/link_bench.h"

namespace stretto {
namespace {

using test::address_in;
using test::Gpu;
using test::pattern;
using test::Requester;
using test::TestMemory;

constexpr Time kPath = (300 + 150 + 300) * kNanosecond;
constexpr Time kClock = 4 * kNanosecond;  // 250 MHz.
constexpr Time kStart = 160 * kNanosecond;
constexpr uint64_t kCard = uint64_t{STRETTO_NODE_CARD} << STRETTO_NODE_SHIFT;
constexpr uint64_t kReplica = 0x100, kSent = 0x1000, kReceived = 0x2000, kReport = 0x3000;

LinkSpec pcie() {
  LinkSpec link;
  link.bandwidth_mb_s = 16'000;
  link.latency_ns = 300;
  link.credit_bytes = 65'536;
  link.egress_bytes = 16'384;
  link.header_bytes = 24;
  link.max_payload_bytes = 128;
  link.completion_header_bytes = 20;
  link.max_read_request_bytes = 512;
  link.read_tags = 256;
  return link;
}

DmaSpec engine() {
  DmaSpec dma;
  dma.burst_bytes = 512;
  dma.start_ns = kStart / kNanosecond;
  return dma;
}

struct Card : sc_core::sc_module {
  Card(sc_core::sc_module_name name, Conductor& conductor, unsigned gpus)
      : sc_module(name),
        partition("partition", conductor, STRETTO_NODE_CARD),
        dma("dma", engine(), partition.services()),
        router("router", card_port(0, gpus, pcie()), 3, partition),
        window("window", partition.services()),
        ring("ring", 250, partition.services(), std::make_unique<RequestRingModel>(), dma) {
    const EventQueue& queue = partition.queue();
    connect_checked(router.doorbell, window.aperture, queue);
    connect_checked(window.ring, ring.csr, queue);
    connect_checked(window.stores, ring.stores, queue);
    connect_checked(window.report_out, router.egress[2], queue);
    connect_checked(dma.egress, router.egress[0], queue);
    connect_checked(ring.egress, router.egress[1], queue);
    connect_checked(router.memory, window.nothing[0], queue);
    connect_checked(dma.memory, window.nothing[1], queue);
    connect_checked(ring.memory, window.nothing[2], queue);
    ring.set_interrupts(window);
    partition.add("dma", dma);
    partition.add("router", router);
    partition.add("window", window);
    partition.add("request_ring", ring);
  }
  Partition partition;
  DmaEngine dma;
  Router router;
  CardWindow window;
  RequestRingPort ring;
};

struct Bench {
  Bench() {
    conductor = std::make_unique<Conductor>("conductor", ConductorSpec{}, 300 * kNanosecond);
    for (unsigned i = 0; i < 2; ++i) {
      gpu.push_back(std::make_unique<Gpu>(("gpu" + std::to_string(i)).c_str(), *conductor, i,
                                          pcie_switched(i, 2, pcie(), 1)));
    }
    card = std::make_unique<Card>("card", *conductor, 2);
    partition = std::make_unique<Partition>("switch", *conductor, kSwitchNode);
    crossbar = std::make_unique<Switch>("crossbar", SwitchSpec{}, switch_of(2, pcie(), false, 1),
                                        *partition);
    partition->add("crossbar", *crossbar);
  }
  void post(uint64_t address, uint64_t value, Time at = 0) {
    words.push_back(std::make_unique<std::vector<uint8_t>>(8));
    std::memcpy(words.back()->data(), &value, 8);
    Requester& requester = gpu[0]->first;
    requester.send(requester.make(Operation::write, address, *words.back()), at);
  }
  void ring(uint64_t offset, uint64_t value) {
    post(kCard + STRETTO_DOORBELL_APERTURE + offset, value);
  }
  // Buffer 1: `bytes` of GPU 0 from 0x100000; 2: as many of GPU 1 from 0x200000. Units of 64 B.
  // Connection 0: to GPU 1.
  void program(uint64_t bytes) {
    ring(REQUEST_RING_NODE_OFFSET, 1);
    ring(REQUEST_RING_REPLICA_ADDRESS_OFFSET, address_in(0, kReplica));
    ring(REQUEST_RING_SC_BASE_OFFSET, address_in(0, kSent));
    ring(REQUEST_RING_IRQ_ENABLE_OFFSET, 7);
    post(kCard + STRETTO_CARD_REGISTERS + CARD_REPORT_OFFSET, address_in(1, kReport));
    ring(REQUEST_RING_CONNECTION_RC_BASE_OFFSET_AT(0), address_in(1, kReceived));
    ring(REQUEST_RING_CONNECTION_CONFIG_OFFSET_AT(0),
         REQUEST_RING_CONNECTION_CONFIG_VALID_MASK |
             STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_NODE, 2));
    for (unsigned id = 1; id <= 2; ++id) {
      ring(REQUEST_RING_BUFFER_BASE_OFFSET_AT(id), address_in(id - 1, id * 0x100000));
      ring(REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(id),
           REQUEST_RING_BUFFER_CONFIG_VALID_MASK |
               STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_UNITS, bytes / 64) |
               STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_UNIT, 6) |
               STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_READABLE, id == 1) |
               STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_WRITABLE, id == 2));
    }
    ring(REQUEST_RING_CONTROL_OFFSET, REQUEST_RING_CONTROL_ENABLE_MASK |
                                          REQUEST_RING_CONTROL_REPLICA_MASK |
                                          STRETTO_FIELD(REQUEST_RING_CONTROL_BATCH, 1));
    contents = pattern(bytes);
    gpu[0]->memory.image.write(0x100000, contents.data(), contents.size());
  }
  void request(uint64_t first, uint64_t units, Time at,
               uint64_t wish = STRETTO_SR_SC | STRETTO_SR_RC) {
    post(kCard + STRETTO_SEND_APERTURE,
         stretto_send_request(STRETTO_SR_WRITE, 1, 2, 0, static_cast<uint32_t>(first),
                              static_cast<uint32_t>(units), wish),
         at);
  }
  void run() { REQUIRE(conductor->run() == Conductor::Outcome::quiet); }
  bool arrived(uint64_t bytes) {
    std::vector<uint8_t> there(bytes);
    gpu[1]->memory.image.read(0x200000, there.data(), bytes);
    return std::equal(there.begin(), there.end(), contents.begin());
  }
  uint64_t word(unsigned at, uint64_t offset) {
    uint64_t value = 0;
    gpu[at]->memory.image.read(offset, reinterpret_cast<uint8_t*>(&value), 8);
    return value;
  }
  std::vector<std::string> violated() {
    AuditSink sink;
    std::vector<const Router*> routers{&gpu[0]->router, &gpu[1]->router, &card->router};
    for (auto& each : gpu) each->partition.audit(sink);
    card->partition.audit(sink);
    partition->audit(sink);
    audit_links(routers, 0, sink);
    std::vector<const LinkPort*> ends;
    for (const Router* const router : routers) ends.push_back(&router->port(0));
    audit_switch(*crossbar, "switch", ends, sink);
    std::vector<std::string> names;
    for (const AuditResult& result : sink.all()) {
      if (!result.holds) names.push_back(result.law);
    }
    return names;
  }

  std::unique_ptr<Conductor> conductor;
  std::vector<std::unique_ptr<Gpu>> gpu;
  std::unique_ptr<Card> card;
  std::unique_ptr<Partition> partition;
  std::unique_ptr<Switch> crossbar;
  std::vector<std::unique_ptr<std::vector<uint8_t>>> words;
  std::vector<uint8_t> contents;
};

constexpr Time kWhen =
    100 * kMicrosecond;  // When the requests are stored; the card is programmed long before.

TEST_CASE("a burst of a request arrives after store, ring, pipeline, read and write",
          "[GD-HW-01]") {
  Bench bench;
  bench.program(512);
  bench.request(0, 8, kWhen);
  bench.run();
  CHECK(bench.arrived(512));
  // The store: 8 + 24 B at 16 B/ns, in the switch and out.
  const Time stored = kWhen + 2 * 2 * kNanosecond + kPath;
  const Time issued = (stored + kClock - 1) / kClock * kClock +
                      4 * kClock;  // rtl/request_ring/README.md: 4 clocks.
  const Time memory = 512 * kPicosecond + 100 * kNanosecond;
  // The request of 24 B; data of 4 x (128 + 20) B; the write of 4 x (128 + 24) B. One packet of
  // each in the switch.
  const Time read =
      2 * 1'500 * kPicosecond + kPath + memory + (37'000 + 9'250) * kPicosecond + kPath;
  const Time written = (38'000 + 9'500) * kPicosecond + kPath + memory;
  const std::vector<TestMemory::Seen>& seen = bench.gpu[1]->memory.log;
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].at == issued + kStart + read + written);
  CHECK(seen[0].bytes == 512);
  CHECK(bench.violated().empty());
}

TEST_CASE("flags come behind the data, numbers at both ends, and the replica follows the head") {
  Bench bench;
  bench.program(65'536);
  for (unsigned i = 0; i < 4; ++i) bench.request(i * 256, 256, kWhen + i * kNanosecond);
  bench.run();
  CHECK(bench.arrived(65'536));
  CHECK(bench.word(0, kSent + 8 * 1) == 4);
  CHECK(bench.word(1, kReceived + 8 * 2) == 4);
  CHECK(bench.word(0, kReplica) == 4);
  const std::vector<TestMemory::Seen>& seen = bench.gpu[1]->memory.log;
  uint64_t bytes = 0;
  uint64_t flags = 0;
  bool behind = true;
  for (const TestMemory::Seen& one : seen) {
    if (one.bytes == 8) {
      behind = behind && bytes >= ++flags * 16'384;
    } else {
      bytes += one.bytes;
    }
  }
  CHECK(flags == 4);
  CHECK(behind);
  CHECK(bench.violated().empty());
}

TEST_CASE("requests overlap until the card's own wire is full of writes and read requests",
          "[GD-HW-02][GD-HW-03]") {
  Bench bench;
  constexpr uint64_t kBytes = 64 * 8'192;
  bench.program(kBytes);
  for (unsigned i = 0; i < 64; ++i) bench.request(i * 128, 128, kWhen + i * kNanosecond, 0);
  bench.run();
  CHECK(bench.arrived(kBytes));
  const std::vector<TestMemory::Seen>& seen = bench.gpu[1]->memory.log;
  const Time time = seen.back().at - seen.front().at;
  // Each 512 B: four packets of 152 B and a read request of 24 B on one wire; a native engine has
  // the writes alone. The rest is that reads come in bursts: they use a twentieth of the wire, less
  // than that is lost.
  const Time wire = kBytes / 512 * (4 * 152 + 24) * kNanosecond / 16;
  CHECK(time > wire * 99 / 100);
  CHECK(time < wire * 102 / 100);
  CHECK(bench.violated().empty());
}

TEST_CASE("a request that names no buffer moves nothing and is reported with its reason") {
  Bench bench;
  bench.program(512);
  const uint64_t bad = stretto_send_request(STRETTO_SR_WRITE, 9, 2, 0, 0, 1, STRETTO_SR_SC);
  bench.post(kCard + STRETTO_SEND_APERTURE, bad, kWhen);
  bench.run();
  CHECK(bench.word(1, kReport + STRETTO_CARD_REPORT_REQUEST) == bad);
  CHECK(bench.word(1, kReport + STRETTO_CARD_REPORT_REASON) ==
        (STRETTO_CARD_REPORT_VALID | 1u << 3));
  CHECK(bench.gpu[1]->memory.log.size() == 2);
  CHECK(bench.violated().empty());
}

TEST_CASE("a source that the GPU refuses to read is reported as a failed transfer") {
  Bench bench;
  bench.program(512);
  bench.gpu[0]->memory.refuse_from = 0x100000;
  bench.request(0, 8, kWhen);
  bench.run();
  CHECK((bench.word(1, kReport) & STRETTO_CARD_REPORT_VALID) != 0);
  CHECK(STRETTO_FIELD_GET(bench.word(1, kReport), REQUEST_RING_ERROR_FIRST_KIND) ==
        REQUEST_RING_ERROR_FIRST_KIND_TRANSFER);
  CHECK(bench.word(1, kReceived + 8 * 2) == 0);
  CHECK(bench.violated() == std::vector<std::string>{"DMA bytes that failed = 0"});
}

TEST_CASE("an access to nothing at the card breaks a law") {
  Bench bench;
  bench.post(kCard + 0x1000, 1);                            // Memory, which it has not.
  bench.post(kCard + STRETTO_SEND_APERTURE + 0x100000, 1);  // Behind the send window.
  bench.run();
  CHECK(bench.violated() == std::vector<std::string>{"received bytes = written bytes",
                                                     "accesses to nothing at the card = 0"});
}

TEST_CASE("a card without a collective engine has no register for its peers") {
  Bench bench;
  bench.post(kCard + STRETTO_CARD_REGISTERS + CARD_PEERS_OFFSET, 7);
  bench.run();
  CHECK(bench.violated() == std::vector<std::string>{"accesses to nothing at the card = 0"});
}

}  // namespace
}  // namespace stretto
