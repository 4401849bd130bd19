// SPDX-License-Identifier: Apache-2.0
// Question: does a link move N bytes in the time that bandwidth, latency and credits give, every
// byte once and to the right place? Two or three GPUs, each a router, a test memory and a test
// requester. Expected times are closed forms: N bytes last N / bandwidth; with C bytes of credit
// and a round trip R (latency, memory, latency) throughput is at most C / (C / bandwidth of one
// packet + R) per round.
#include "models/fabric/router.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "sw/include/formats/address_map.h"
#include "sw/include/regs/link_regs.h"
#include "tests/unit/common/in_child.h"
#include "tests/unit/fabric/link_bench.h"

namespace stretto {
namespace {

using test::address_in;
using test::Gpu;
using test::pattern;
using test::Requester;
using test::TestMemory;

struct Bench {
  explicit Bench(unsigned gpus = 2, LinkSpec link = {}, bool ring_of_gpus = true,
                 ConductorSpec sim = {}) {
    conductor = std::make_unique<Conductor>("conductor", sim, link.latency_ns * kNanosecond);
    for (unsigned i = 0; i < gpus; ++i) {
      gpu.push_back(std::make_unique<Gpu>(("gpu" + std::to_string(i)).c_str(), *conductor, i,
                                          ring_of_gpus
                                              ? ring(i, gpus, link, pcie_defaults())
                                              : fully_connected(i, gpus, link, pcie_defaults())));
    }
  }
  void run() { REQUIRE(conductor->run() == Conductor::Outcome::quiet); }
  void check_audit(size_t violations = 0) {
    AuditSink sink;
    std::vector<const Router*> routers;
    for (auto& each : gpu) {
      each->partition.audit(sink);
      routers.push_back(&each->router);
    }
    audit_links(routers, 0, sink);
    size_t broken = 0;
    for (const AuditResult& result : sink.all()) broken += result.holds ? 0 : 1;
    CHECK(sink.all().size() > 1);
    CHECK(broken == violations);
  }
  std::unique_ptr<Conductor> conductor;
  std::vector<std::unique_ptr<Gpu>> gpu;
};

TEST_CASE("a packet arrives after serialisation and latency and its bytes are there",
          "[T3-SIM-03]") {
  Bench bench;
  std::vector<uint8_t> data = pattern(7500);
  Gpu& sender = *bench.gpu[0];
  sender.first.send(sender.first.make(Operation::write, address_in(1, 0x1000), data));
  bench.run();
  CHECK(sender.first.accepted);
  // 7500 B at 75 GB/s = 100 ns; then 500 ns; then the test memory's 7.5 ns and 100 ns.
  const std::vector<TestMemory::Seen>& seen = bench.gpu[1]->memory.log;
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].at == 707'500 * kPicosecond);
  CHECK(seen[0].extension.stream == Stream::communication);
  CHECK(seen[0].extension.engine == Engine::link);
  CHECK(sender.first.answered == std::vector<Time>{0});
  std::vector<uint8_t> there(7500);
  bench.gpu[1]->memory.image.read(0x1000, there.data(), there.size());
  CHECK(there == data);
  bench.check_audit();
}

TEST_CASE("ten megabytes last as long as the bandwidth says, to the femtosecond", "[T3-SIM-03]") {
  Bench bench;
  std::vector<uint8_t> data = pattern(8192);
  Gpu& sender = *bench.gpu[0];
  const unsigned packets = 1280;
  for (unsigned i = 0; i < packets; ++i) {
    sender.first.send(sender.first.make(Operation::write, address_in(1, i * 8192), data));
  }
  bench.run();
  const uint64_t bytes = uint64_t{packets} * 8192;
  // floor(N / 75 GB/s) + latency + the memory's time for the last packet.
  const Time expected =
      bytes * 1'000'000'000 / 75'000 + 500 * kNanosecond + 8'192 * kPicosecond + 100 * kNanosecond;
  CHECK(bench.gpu[1]->memory.log.back().at == expected);
  CHECK(sender.router.port(0).wire().busy() == bytes * 1'000'000'000 / 75'000);
  CHECK(sender.router.port(0).counters().credit_stall == 0);
  bench.check_audit();
}

// PCIe 3.0 x16 with a round rate: packets of 128 + 24 B at 16 B a nanosecond, an Ack and a
// flow-control update of 8 B each for 3 x (128 + 28) B.
LinkSpec pcie_with_dllps() {
  LinkSpec link = pcie_defaults();
  link.credit_bytes = 1 << 20;
  link.max_payload_bytes = 128;
  link.dllp_bytes = 8;
  link.dllp_interval_bytes = 468;
  return link;
}
constexpr unsigned kBursts = 1'000;
constexpr uint64_t kBurst = 4'096, kBurstOnWire = 32 * 152;

// GPUs 0 .. senders - 1 of two send a thousand bursts each over the one link between them.
void expect_share(unsigned senders) {
  Bench bench(2, pcie_with_dllps(), false);
  std::vector<uint8_t> data = pattern(kBurst);
  for (unsigned from = 0; from < senders; ++from) {
    Requester& requester = bench.gpu[from]->first;
    for (unsigned i = 0; i < kBursts; ++i)
      requester.send(requester.make(Operation::write, address_in(1 - from, i * kBurst), data));
  }
  bench.run();
  const LinkWire& wire = bench.gpu[0]->router.port(0).wire();
  const LinkWire& other = bench.gpu[1]->router.port(0).wire();
  const uint64_t packets = kBursts * kBurstOnWire;
  // Not answered when the last burst left: what was on its way, a latency and two bursts.
  const uint64_t most = packets / 468 * 16;
  const uint64_t least = most - (600 * 16 + 2 * kBurstOnWire) / 468 * 16 - 16;
  CHECK(wire.answer_bytes() <= (senders == 2 ? most : 0));
  CHECK(wire.answer_bytes() >= (senders == 2 ? least : 0));
  CHECK(other.answer_bytes() <= most);
  CHECK(other.answer_bytes() >= least);
  CHECK(wire.bytes() == packets + wire.answer_bytes());
  // The wire was never idle: 468 of 484 bytes are packets if both send.
  CHECK(bench.gpu[1]->memory.log.back().at == wire.bytes() * 1'000'000'000 / 16'000 +
                                                  600 * kNanosecond + kBurst * kPicosecond +
                                                  100 * kNanosecond);
  bench.check_audit();
}

TEST_CASE("answers to packets cost traffic the other way their share") { expect_share(2); }
TEST_CASE("traffic one way loses nothing to the answers") { expect_share(1); }

// NVLink: flits of 16 B, a header each packet and each response. Of its rate it carries 94.12 % one
// way and 88.9 % both ways with 256 B, 80 and 66.7 % with 64 B (WikiChip, NVLink, Packet).
void expect_efficiency(uint32_t payload, unsigned senders, double share, Engine engine) {
  LinkSpec link{.bandwidth_mb_s = 16'000,
                .latency_ns = 200,
                .credit_bytes = 1 << 20,
                .header_bytes = 16,
                .max_payload_bytes = 256,
                .response_bytes = 16};
  if (engine == Engine::wavefront) link.store_payload_bytes = payload;
  Bench bench(2, link, false);
  std::vector<uint8_t> data = pattern(engine == Engine::wavefront ? kBurst : payload);
  const uint64_t bytes = kBursts * kBurst;
  for (unsigned from = 0; from < senders; ++from) {
    Requester& requester = bench.gpu[from]->first;
    for (uint64_t at = 0; at < bytes; at += data.size()) {
      PooledPayload& write = requester.make(Operation::write, address_in(1 - from, at), data);
      write.extension.engine = engine;
      requester.send(write);
    }
  }
  bench.run();
  const double ns = static_cast<double>(bench.gpu[1]->memory.log.back().at) / kNanosecond;
  CHECK(static_cast<double>(bytes) / ns / 16 == Approx(share).epsilon(0.002));
  const uint64_t responses = bytes / payload * 16;
  const uint64_t sent = bench.gpu[1]->router.port(0).wire().answer_bytes();
  CHECK(sent <= responses);
  CHECK(sent >= responses * 99 / 100);
  bench.check_audit();
}

TEST_CASE("packets of 256 B have 94.1 % of a link with flits") {
  expect_efficiency(256, 1, 0.9412, Engine::dma);
}
TEST_CASE("packets of 256 B have 88.9 % of a link with flits both ways") {
  expect_efficiency(256, 2, 0.889, Engine::dma);
}
TEST_CASE("packets of 64 B have 80 % of a link with flits") {
  expect_efficiency(64, 1, 0.8, Engine::dma);
}
TEST_CASE("packets of 64 B have 66.7 % of a link with flits both ways") {
  expect_efficiency(64, 2, 0.667, Engine::dma);
}
// 128 of 144 and of 160 B.
TEST_CASE("what compute units store leaves in packets of 128 B") {
  expect_efficiency(128, 1, 0.889, Engine::wavefront);
}
TEST_CASE("what compute units store leaves in packets of 128 B both ways") {
  expect_efficiency(128, 2, 0.8, Engine::wavefront);
}

TEST_CASE("an answer to packets that is lost breaks the law of answers") {
  LinkSpec link = pcie_with_dllps();
  link.fault_lose_answer = 3;
  Bench bench(2, link, false);
  std::vector<uint8_t> data = pattern(kBurst);
  for (unsigned i = 0; i < 5; ++i)
    bench.gpu[0]->first.send(
        bench.gpu[0]->first.make(Operation::write, address_in(1, i * kBurst), data));
  bench.run();
  bench.check_audit(1);
}

TEST_CASE("too little credit stretches a transfer to one window a round trip") {
  LinkSpec link;
  link.credit_bytes = 65'536;
  Bench bench(2, link);
  std::vector<uint8_t> data = pattern(65'536);
  Gpu& sender = *bench.gpu[0];
  for (unsigned i = 0; i < 3; ++i)
    sender.first.send(sender.first.make(Operation::write, address_in(1, i * 65'536), data));
  bench.run();
  // Each packet needs all the credit: serialise, 500 ns, memory 65.536 ns + 100 ns, 500 ns back,
  // then the next.
  const Time serialise = uint64_t{65'536} * 1'000'000'000 / 75'000;
  const Time memory = 65'536 * kPicosecond + 100 * kNanosecond;
  const Time round = serialise + 500 * kNanosecond + memory + 500 * kNanosecond;
  CHECK(bench.gpu[1]->memory.log.back().at == 2 * round + serialise + 500 * kNanosecond + memory);
  CHECK(sender.router.port(0).counters().credit_stall == 2 * (round - serialise));
  bench.check_audit();
}

TEST_CASE("credits return when the memory has taken a packet in, not when it is written") {
  LinkSpec link;
  link.credit_bytes = 65'536;
  Bench bench(2, link);
  bench.gpu[1]->memory.admissions = &bench.gpu[1]->router;
  std::vector<uint8_t> data = pattern(65'536);
  Gpu& sender = *bench.gpu[0];
  for (unsigned i = 0; i < 3; ++i)
    sender.first.send(sender.first.make(Operation::write, address_in(1, i * 65'536), data));
  bench.run();
  // As above without the memory's time in a round.
  const Time serialise = uint64_t{65'536} * 1'000'000'000 / 75'000;
  const Time memory = 65'536 * kPicosecond + 100 * kNanosecond;
  const Time round = serialise + 2 * 500 * kNanosecond;
  CHECK(bench.gpu[1]->memory.log.back().at == 2 * round + serialise + 500 * kNanosecond + memory);
  bench.check_audit();
}

TEST_CASE("requests are answered when the send buffer takes them") {
  LinkSpec link;
  link.egress_bytes = 15'000;
  Bench bench(2, link);
  std::vector<uint8_t> data = pattern(7'500);
  Gpu& sender = *bench.gpu[0];
  for (unsigned i = 0; i < 4; ++i)
    sender.first.send(sender.first.make(Operation::write, address_in(1, i * 8192), data));
  bench.run();
  const Time packet = 100 * kNanosecond;
  CHECK(sender.first.answered == std::vector<Time>{0, 0, packet, 2 * packet});
}

TEST_CASE("requesters share a link in the order of arrival") {
  Bench bench;
  std::vector<uint8_t> data = pattern(64);
  Gpu& sender = *bench.gpu[0];
  for (unsigned i = 0; i < 4; ++i) {
    Requester& from = i % 2 == 0 ? sender.second : sender.first;
    from.send(from.make(Operation::write, address_in(1, i * 64), data), 0, i * kNanosecond);
  }
  bench.run();
  std::vector<uint64_t> order;
  for (const TestMemory::Seen& seen : bench.gpu[1]->memory.log)
    order.push_back(seen.address & STRETTO_OFFSET_MASK);
  CHECK(order == std::vector<uint64_t>{0, 64, 128, 192});
}

TEST_CASE("a two-dimensional update arrives row by row with its ids") {
  Bench bench;
  std::vector<uint8_t> data = pattern(32 * 256);
  Gpu& sender = *bench.gpu[0];
  PooledPayload& payload = sender.first.make(Operation::update, address_in(1, 0x40), data);
  payload.extension.rows = 32;
  payload.extension.row_bytes = 256;
  payload.extension.pitch = 8512;
  payload.extension.tracked = true;
  payload.extension.wg_id = 4711;
  payload.extension.wf_id = 3;
  payload.extension.element = ElementType::bf16;
  payload.extension.account = 13;
  sender.first.send(payload);
  bench.run();
  const std::vector<TestMemory::Seen>& seen = bench.gpu[1]->memory.log;
  REQUIRE(seen.size() == 32);
  bool same = true;
  for (unsigned row = 0; row < 32; ++row) {
    const StrettoExtension& extension = seen[row].extension;
    same = same && seen[row].address == address_in(1, 0x40 + row * 8512) && seen[row].bytes == 256;
    same = same && extension.tracked && extension.wg_id == 4711 && extension.wf_id == 3;
    same =
        same && extension.operation == Operation::update && extension.element == ElementType::bf16;
    same = same && extension.account == 13 && extension.rows == 1;
  }
  CHECK(same);
  std::vector<uint8_t> there(256);
  bench.gpu[1]->memory.image.read(0x40 + 31 * 8512, there.data(), 256);
  CHECK(std::equal(there.begin(), there.end(), data.begin() + 31 * 256));
  bench.check_audit();
}

TEST_CASE("a flag does not pass the data before it") {
  Bench bench;
  std::vector<uint8_t> data = pattern(65'536);
  std::vector<uint8_t> flag(8, 1);
  Gpu& sender = *bench.gpu[0];
  sender.first.send(sender.first.make(Operation::write, address_in(1, 0), data));
  sender.first.send(sender.first.make(Operation::locked_store, address_in(1, 0x100000), flag));
  bench.run();
  const std::vector<TestMemory::Seen>& seen = bench.gpu[1]->memory.log;
  REQUIRE(seen.size() == 2);
  CHECK((seen[1].address & STRETTO_OFFSET_MASK) == 0x100000);
  // The flag arrived 0.1 ns after the data but was held until they were written (165.536 ns later).
  CHECK(seen[1].at >= seen[0].at + 100 * kNanosecond);
}

TEST_CASE("a doorbell rings at the receiver after the data before it") {
  Bench bench;
  std::vector<uint8_t> data = pattern(64);
  std::vector<uint8_t> index(8, 0);
  index[0] = 42;
  Gpu& sender = *bench.gpu[0];
  sender.first.send(sender.first.make(Operation::write, address_in(1, 0x10000), data));
  sender.first.send(
      sender.first.make(Operation::write, address_in(1, STRETTO_DOORBELL_APERTURE + 8 * 3), index));
  bench.run();
  CHECK(bench.gpu[1]->bells.rung == std::vector<std::pair<uint64_t, uint64_t>>{{24, 42}});
  CHECK(bench.gpu[1]->memory.log.size() == 1);
  bench.check_audit();
}

TEST_CASE("bad requests are answered with errors and send nothing") {
  Bench bench(4);
  std::vector<uint8_t> data = pattern(64);
  std::vector<uint8_t> huge = pattern(65'537);
  Requester& requester = bench.gpu[0]->first;
  requester.send(
      requester.make(Operation::write, address_in(2, 0), data));  // No direct way in a ring of 4.
  requester.send(requester.make(Operation::write, address_in(0, 0), data));  // The own node.
  requester.send(
      requester.make(Operation::read, uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT, data));
  requester.send(requester.make(Operation::fill, address_in(1, 0), data));
  requester.send(requester.make(Operation::write, address_in(1, 0), huge));
  bench.run();
  CHECK(requester.status == std::vector<tlm::tlm_response_status>{
                                tlm::TLM_ADDRESS_ERROR_RESPONSE, tlm::TLM_ADDRESS_ERROR_RESPONSE,
                                tlm::TLM_COMMAND_ERROR_RESPONSE, tlm::TLM_COMMAND_ERROR_RESPONSE,
                                tlm::TLM_BURST_ERROR_RESPONSE});
  CHECK(bench.gpu[0]->router.bytes_sent() == 0);
  CHECK(bench.gpu[0]->read_register(LINK_DROPPED_OFFSET) == 2);
}

// Reads

TEST_CASE("a read brings its bytes after two latencies, the peer's memory and the wire") {
  Bench bench;
  const std::vector<uint8_t> there = pattern(7'500);
  bench.gpu[1]->memory.image.write(0x1000, there.data(), there.size());
  std::vector<uint8_t> data(7'500);
  Gpu& reader = *bench.gpu[0];
  reader.first.send(reader.first.make(Operation::read, address_in(1, 0x1000), data));
  bench.run();
  CHECK(data == there);
  CHECK(reader.first.status == std::vector<tlm::tlm_response_status>{tlm::TLM_OK_RESPONSE});
  // No header: the request takes no time on the wire. 500 ns; memory 7.5 and 100 ns; 7500 B at 75
  // GB/s; 500 ns.
  CHECK(reader.first.answered == std::vector<Time>{1'207'500 * kPicosecond});
  CHECK(bench.gpu[1]->memory.log[0].extension.stream == Stream::communication);
  bench.check_audit();
}

LinkSpec pcie_like() {
  LinkSpec link;
  link.bandwidth_mb_s = 16'000;
  link.latency_ns = 300;
  link.header_bytes = 24;
  link.max_payload_bytes = 128;
  link.completion_header_bytes = 20;
  link.max_read_request_bytes = 512;
  link.read_tags = 16;
  return link;
}

TEST_CASE(
    "a read takes a header each request, its data one each packet, on the wire of their "
    "direction") {
  Bench bench(2, pcie_like());
  std::vector<uint8_t> data(4'096);
  Gpu& reader = *bench.gpu[0];
  reader.first.send(reader.first.make(Operation::read, address_in(1, 0), data));
  bench.run();
  CHECK(reader.router.port(0).wire().bytes() == 8 * 24);
  CHECK(bench.gpu[1]->router.port(1).wire().bytes() == 32 * (128 + 20));
  // 12 ns of requests at 16 B/ns, 296 ns of data.
  const Time memory = 4'096 * kPicosecond + 100 * kNanosecond;
  CHECK(reader.first.answered == std::vector<Time>{(12 + 300 + 296 + 300) * kNanosecond + memory});
}

TEST_CASE("reads beyond the tags wait until data are back, and writes pass them") {
  Bench bench(2, pcie_like());
  std::vector<std::vector<uint8_t>> data(
      3, std::vector<uint8_t>(8'192));  // 16 requests each: all tags.
  std::vector<uint8_t> written = pattern(64);
  Gpu& reader = *bench.gpu[0];
  for (auto& each : data)
    reader.first.send(reader.first.make(Operation::read, address_in(1, 0), each));
  reader.second.send(reader.second.make(Operation::write, address_in(1, 0x10000), written));
  bench.run();
  const Time memory = 8'192 * kPicosecond + 100 * kNanosecond;
  const Time round = (24 + 300 + 592 + 300) * kNanosecond + memory;
  REQUIRE(reader.first.answered.size() == 3);
  CHECK(reader.first.answered[0] == round);
  // The write went out behind the first read and is long done.
  CHECK(reader.first.answered[1] == 2 * round);
  CHECK(reader.first.answered[2] == 3 * round);
  CHECK(reader.second.answered == std::vector<Time>{0});
  CHECK(reader.router.port(0).counters().tags_high_water == 16);
  bench.check_audit();
}

TEST_CASE("a two-dimensional read comes back dense") {
  Bench bench;
  const std::vector<uint8_t> there = pattern(4 * 1'024);
  bench.gpu[1]->memory.image.write(0, there.data(), there.size());
  std::vector<uint8_t> data(4 * 64);
  Gpu& reader = *bench.gpu[0];
  PooledPayload& payload = reader.first.make(Operation::read, address_in(1, 0x20), data);
  payload.extension.rows = 4;
  payload.extension.row_bytes = 64;
  payload.extension.pitch = 1'024;
  reader.first.send(payload);
  bench.run();
  bool same = true;
  for (unsigned row = 0; row < 4; ++row) {
    same = same && std::equal(data.begin() + row * 64, data.begin() + row * 64 + 64,
                              there.begin() + 0x20 + row * 1'024);
  }
  CHECK(same);
  CHECK(bench.gpu[1]->memory.log.size() == 4);
}

TEST_CASE("a read does not pass writes before it, nor a flag that waits for them") {
  Bench bench;
  std::vector<uint8_t> data = pattern(65'536);
  std::vector<uint8_t> flag(8, 9);
  std::vector<uint8_t> seen(8);
  Gpu& both = *bench.gpu[0];
  both.first.send(both.first.make(Operation::write, address_in(1, 0), data));
  both.first.send(both.first.make(Operation::write, address_in(1, 0x20000), flag));
  both.second.send(both.second.make(Operation::read, address_in(1, 0x20000), seen), kNanosecond);
  bench.run();
  CHECK(seen == flag);
  bench.check_audit();
}

TEST_CASE("what is not there to read is answered with an error and leaves nothing behind") {
  Bench bench;
  bench.gpu[1]->memory.refuse_from = 0x1000;
  std::vector<uint8_t> data(64, 3);
  Requester& requester = bench.gpu[0]->first;
  requester.send(requester.make(Operation::read, address_in(1, 0x1000), data));
  requester.send(requester.make(Operation::read, address_in(1, STRETTO_DOORBELL_APERTURE), data));
  bench.run();
  CHECK(requester.status ==
        std::vector<tlm::tlm_response_status>(2, tlm::TLM_GENERIC_ERROR_RESPONSE));
  CHECK(data == std::vector<uint8_t>(64, 3));
  bench.check_audit();
}

TEST_CASE("an answer that is lost breaks the law of reads") {
  LinkSpec link;
  link.fault_lose_completion = 2;
  Bench bench(2, link);
  std::vector<uint8_t> data(64);
  std::vector<uint8_t> more(64);
  Requester& requester = bench.gpu[0]->first;
  requester.send(requester.make(Operation::read, address_in(1, 0), data));
  requester.send(requester.make(Operation::read, address_in(1, 0), more));
  CHECK_THROWS_WITH(
      bench.conductor->run(),
      Catch::Contains(
          "gpu0.router: port0 to node 2: 1 read requests wait for their data, 0 reads for a tag"));
  bench.check_audit(1);
}

TEST_CASE(
    "everybody reads from and writes to everybody at once, with credit for one packet, and it "
    "ends") {
  LinkSpec link = pcie_like();
  link.credit_bytes = 65'536;
  link.read_tags = 64;
  Bench bench(4, link, false);
  std::vector<uint8_t> written = pattern(65'536);
  std::vector<std::vector<uint8_t>> read(12 * 4, std::vector<uint8_t>(65'536));
  unsigned next = 0;
  for (unsigned from = 0; from < 4; ++from) {
    for (unsigned to = 0; to < 4; ++to) {
      if (from == to) continue;
      const std::vector<uint8_t> there = pattern(65'536);
      if (from == 0 || to == 0) bench.gpu[to]->memory.image.write(0, there.data(), there.size());
      for (unsigned i = 0; i < 4; ++i) {
        Gpu& gpu = *bench.gpu[from];
        gpu.first.send(
            gpu.first.make(Operation::write, address_in(to, 0x100000 * (1 + from)), written));
        gpu.second.send(gpu.second.make(Operation::read, address_in(to, 0), read[next++]));
      }
    }
  }
  bench.run();
  for (auto& gpu : bench.gpu) CHECK(gpu->second.answered.size() == 12);
  CHECK(read[0] == written);
  bench.check_audit();
}

TEST_CASE("firmware can change a route") {
  Bench bench(4);
  Gpu& sender = *bench.gpu[0];
  sender.first.call(0, [&] {
    CHECK(sender.read_register(LINK_ROUTE_OFFSET + 8 * 4) ==
          LINK_ROUTE_VALID_MASK);  // Left: port 0.
    CHECK(sender.read_register(LINK_ROUTE_OFFSET + 8 * 2) ==
          (LINK_ROUTE_VALID_MASK | 1));  // Right: port 1.
    CHECK(sender.read_register(LINK_PEER_OFFSET) == 4);
    CHECK(sender.read_register(LINK_LINKS_OFFSET) == 3);
    sender.access(tlm::TLM_WRITE_COMMAND, LINK_ROUTE_OFFSET + 8 * 4, 0);
  });
  std::vector<uint8_t> data = pattern(64);
  sender.first.send(sender.first.make(Operation::write, address_in(3, 0), data));
  bench.run();
  CHECK(sender.first.status ==
        std::vector<tlm::tlm_response_status>{tlm::TLM_ADDRESS_ERROR_RESPONSE});
}

TEST_CASE("in a fully connected machine everybody reaches everybody") {
  Bench bench(4, {}, false);
  std::vector<uint8_t> data = pattern(64);
  for (unsigned from = 0; from < 4; ++from) {
    for (unsigned to = 0; to < 4; ++to) {
      if (from == to) continue;
      Requester& requester = bench.gpu[from]->first;
      requester.send(requester.make(Operation::write, address_in(to, from * 64), data));
    }
  }
  bench.run();
  for (unsigned to = 0; to < 4; ++to) CHECK(bench.gpu[to]->memory.log.size() == 3);
  bench.check_audit();
}

TEST_CASE("a lost credit breaks the law of credits") {
  LinkSpec link;
  link.fault_lose_credit = 2;
  Bench bench(2, link);
  std::vector<uint8_t> data = pattern(64);
  Requester& requester = bench.gpu[0]->first;
  for (unsigned i = 0; i < 3; ++i)
    requester.send(requester.make(Operation::write, address_in(1, i * 64), data));
  bench.run();
  bench.check_audit(1);
}

TEST_CASE("a row that memory refuses breaks the law of written bytes") {
  Bench bench;
  bench.gpu[1]->memory.refuse_from = 0x1000;
  std::vector<uint8_t> data = pattern(64);
  Requester& requester = bench.gpu[0]->first;
  requester.send(requester.make(Operation::write, address_in(1, 0x2000), data));
  bench.run();
  bench.check_audit(1);
}

TEST_CASE("a link without credit says so in a deadlock report") {
  LinkSpec link;
  link.credit_bytes = 65'536;
  link.fault_lose_credit = 1;
  Bench bench(2, link);
  std::vector<uint8_t> data = pattern(65'536);
  Requester& requester = bench.gpu[0]->first;
  for (unsigned i = 0; i < 4; ++i)
    requester.send(requester.make(Operation::write, address_in(1, 0), data));
  CHECK_THROWS_WITH(
      bench.conductor->run(),
      Catch::Contains(
          "gpu0.router: port0 to node 2: 3 packets wait for credit (0 of 65536 B free)"));
}

TEST_CASE("a mirror brings back what was sent, renamed, at the time a neighbour's would come",
          "[T3-SIM-02]") {
  Conductor conductor("conductor", {}, 500 * kNanosecond);
  Gpu gpu("gpu0", conductor, 0, mirrored_ring(8, {}, pcie_defaults()));
  gpu.router.set_mirror([](Packet&& packet, std::vector<Packet>& out) {
    packet.wg_id += 100;
    packet.address += 0x100000;
    out.push_back(std::move(packet));
  });
  std::vector<uint8_t> data = pattern(7'500);
  PooledPayload& payload = gpu.first.make(Operation::update, address_in(7, 0x40), data);
  payload.extension.tracked = true;
  payload.extension.wg_id = 5;
  gpu.first.send(payload);
  REQUIRE(conductor.run() == Conductor::Outcome::quiet);
  REQUIRE(gpu.memory.log.size() == 1);
  CHECK(gpu.memory.log[0].extension.wg_id == 105);
  CHECK(gpu.memory.log[0].extension.unit == 1);  // Came in from the right.
  CHECK(gpu.memory.log[0].address == address_in(0, 0x100040));
  CHECK(gpu.memory.log[0].at == 707'500 * kPicosecond);
  CHECK(gpu.router.port(0).credits() == 131'072);
}

std::string traffic(const ConductorSpec& sim) {
  return test::in_child([&] {
    Bench bench(4, {}, true, sim);
    std::vector<uint8_t> data = pattern(8'192);
    for (unsigned i = 0; i < 400; ++i) {
      Requester& requester = bench.gpu[i % 4]->first;
      const unsigned to = (i % 4 + (i / 4 % 2 == 0 ? 1 : 3)) % 4;
      requester.send(requester.make(Operation::write, address_in(to, i * 8'192), data),
                     i * 31 * kNanosecond);
    }
    bench.run();
    std::string digests;
    for (auto& gpu : bench.gpu) digests += gpu->partition.digest().hex();
    return digests;
  });
}

TEST_CASE("traffic is the same for any window and any number of threads") {
  ConductorSpec sim;
  sim.threads = 1;
  const std::string expected = traffic(sim);
  CHECK(expected.size() == 4 * 64);
  sim.window_ns = 33;
  CHECK(traffic(sim) == expected);
  sim.window_ns = 0;
  sim.threads = 2;
  CHECK(traffic(sim) == expected);
}

}  // namespace
}  // namespace stretto
