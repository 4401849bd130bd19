// SPDX-License-Identifier: Apache-2.0
// Question: does a switch add what its latency and its contention say and nothing else? GPUs with
// one link into a switch (router, test memory, requester each). Expected times are closed forms: N
// bytes on an idle path take floor(wire bytes / bandwidth) once, the first link packet (payload and
// header) once more before the switch may forward it, two link latencies and the switch's; an
// output shared by k inputs gives each 1/k; a stopped receiver stops its output alone until the
// sender's credit at the switch is used up, then all of the sender.
#include "models/fabric/switch.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

// PCIe 3.0 x16 as in v100-pcie.yaml, with a round rate: 16 B a nanosecond.
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
  return link;
}

struct Bench {
  explicit Bench(unsigned gpus, LinkSpec link = pcie(), SwitchSpec spec = {},
                 ConductorSpec sim = {}) {
    conductor = std::make_unique<Conductor>("conductor", sim, link.latency_ns * kNanosecond);
    for (unsigned i = 0; i < gpus; ++i) {
      gpu.push_back(std::make_unique<Gpu>(("gpu" + std::to_string(i)).c_str(), *conductor, i,
                                          pcie_switched(i, gpus, link)));
    }
    partition = std::make_unique<Partition>("switch", *conductor, kSwitchNode);
    crossbar = std::make_unique<Switch>("crossbar", spec, switch_of(gpus, link, false), *partition);
    partition->add("crossbar", *crossbar);
  }
  void run() { REQUIRE(conductor->run() == Conductor::Outcome::quiet); }
  // The names of the laws that are violated.
  std::vector<std::string> violated() {
    AuditSink sink;
    std::vector<const Router*> routers;
    std::vector<const LinkPort*> ends;
    for (auto& each : gpu) {
      each->partition.audit(sink);
      routers.push_back(&each->router);
      ends.push_back(&each->router.port(0));
    }
    partition->audit(sink);
    audit_links(routers, crossbar->bytes_kept(), sink);
    audit_switch(*crossbar, "switch", ends, sink);
    std::vector<std::string> names;
    for (const AuditResult& result : sink.all()) {
      if (!result.holds) names.push_back(result.law);
    }
    return names;
  }
  void write(unsigned from, unsigned to, uint64_t offset, std::vector<uint8_t>& data, Time at = 0) {
    Requester& requester = gpu[from]->first;
    requester.send(requester.make(Operation::write, address_in(to, offset), data), at);
  }
  const std::vector<TestMemory::Seen>& seen(unsigned at) { return gpu[at]->memory.log; }

  std::unique_ptr<Conductor> conductor;
  std::vector<std::unique_ptr<Gpu>> gpu;
  std::unique_ptr<Partition> partition;
  std::unique_ptr<Switch> crossbar;
};

// From the head at the receiver of a packet's tail: the test memory's 1 B a picosecond and 100 ns.
Time memory_time(uint64_t bytes) { return bytes * kPicosecond + 100 * kNanosecond; }

constexpr Time kPath = (300 + 150 + 300) * kNanosecond;  // Two hops and the switch.

TEST_CASE(
    "a burst goes over an idle switch in its wire time, one link packet, two hops and the switch") {
  Bench bench(2);
  std::vector<uint8_t> data = pattern(4'096);
  bench.write(0, 1, 0x1000, data);
  bench.run();
  // 32 packets of 128 + 24 B at 16 B/ns are 304 ns, one is 9.5 ns.
  REQUIRE(bench.seen(1).size() == 1);
  CHECK(bench.seen(1)[0].at ==
        304 * kNanosecond + 9'500 * kPicosecond + kPath + memory_time(4'096));
  CHECK(bench.crossbar->wire(1).bytes() == 32 * 152);
  std::vector<uint8_t> there(4'096);
  bench.gpu[1]->memory.image.read(0x1000, there.data(), there.size());
  CHECK(there == data);
  CHECK(bench.violated().empty());
}

TEST_CASE("one byte less than a link packet more saves a header") {
  Bench bench(2);
  std::vector<uint8_t> data = pattern(256);
  std::vector<uint8_t> more = pattern(264);
  bench.write(0, 1, 0, data);
  bench.write(0, 1, 0x1000, more);
  bench.run();
  CHECK(bench.gpu[0]->router.port(0).wire().bytes() == 256 + 2 * 24 + 264 + 3 * 24);
}

TEST_CASE("each row of a tile has its own headers") {
  Bench bench(2);
  std::vector<uint8_t> data = pattern(4 * 160);
  Requester& requester = bench.gpu[0]->first;
  PooledPayload& payload = requester.make(Operation::write, address_in(1, 0), data);
  payload.extension.rows = 4;
  payload.extension.row_bytes = 160;
  payload.extension.pitch = 1024;
  requester.send(payload);
  bench.run();
  CHECK(bench.gpu[0]->router.port(0).wire().bytes() == 4 * (160 + 2 * 24));
  CHECK(bench.seen(1).size() == 4);
}

TEST_CASE("a link without max_payload_bytes is store-and-forward") {
  LinkSpec link = pcie();
  link.max_payload_bytes = 0;
  link.header_bytes = 0;
  Bench bench(2, link);
  std::vector<uint8_t> data = pattern(3'200);
  bench.write(0, 1, 0, data);
  bench.run();
  CHECK(bench.seen(1)[0].at == 2 * 200 * kNanosecond + kPath + memory_time(3'200));
}

TEST_CASE("a megabyte over the switch lasts as long as one wire, to the femtosecond") {
  Bench bench(2);
  std::vector<uint8_t> data = pattern(4'096);
  for (unsigned i = 0; i < 256; ++i) bench.write(0, 1, i * 4'096, data);
  bench.run();
  const uint64_t wire = uint64_t{256} * 32 * 152;
  CHECK(bench.seen(1).back().at ==
        wire * 1'000'000'000 / 16'000 + 9'500 * kPicosecond + kPath + memory_time(4'096));
  CHECK(bench.crossbar->counters(1).credit_stall == 0);
  CHECK(bench.violated().empty());
}

TEST_CASE("three inputs share an output packet by packet, whoever came first") {
  Bench bench(4);
  std::vector<uint8_t> data = pattern(4'096);
  for (unsigned i = 0; i < 32; ++i) {
    for (unsigned from = 0; from < 3; ++from)
      bench.write(from, 3, (from * 32 + i) * 4'096, data, from * kNanosecond);
  }
  bench.run();
  const std::vector<TestMemory::Seen>& seen = bench.seen(3);
  REQUIRE(seen.size() == 96);
  bool in_turns = true;
  for (unsigned i = 0; i < 96; ++i)
    in_turns = in_turns && (seen[i].address & STRETTO_OFFSET_MASK) / 4'096 / 32 == i % 3;
  CHECK(in_turns);
  // The output never rests: 96 bursts of 304 ns after the first packet of the first.
  CHECK(seen.back().at ==
        96 * 304 * kNanosecond + 9'500 * kPicosecond + kPath + memory_time(4'096));
  CHECK(bench.violated().empty());
}

TEST_CASE("a busy output does not hold packets of the same input for others") {
  Bench bench(4);
  std::vector<uint8_t> data = pattern(4'096);
  // GPU 1 keeps the output to GPU 3 busy; GPU 0 sends one burst there and then one to GPU 2.
  for (unsigned i = 0; i < 8; ++i) bench.write(1, 3, i * 4'096, data);
  bench.write(0, 3, 0x100000, data, 10 * kNanosecond);
  bench.write(0, 2, 0, data, 11 * kNanosecond);
  bench.run();
  // The second of GPU 0's bursts, sent 304 ns after the first, arrives as if alone.
  CHECK(bench.seen(2)[0].at == 10 * kNanosecond + (304 + 304) * kNanosecond + 9'500 * kPicosecond +
                                   kPath + memory_time(4'096));
  CHECK(bench.violated().empty());
}

TEST_CASE(
    "an overloaded output stops its senders, also for others, when their buffer at the switch is "
    "full") {
  LinkSpec link = pcie();
  Bench bench(4, link);
  std::vector<uint8_t> data = pattern(16'384);
  // Two senders overload the output to GPU 3: they fill their 64 KiB at the switch; a burst of GPU
  // 0 to GPU 2 behind its own 12 waits for them, though its output is idle.
  for (unsigned i = 0; i < 12; ++i) {
    bench.write(0, 3, i * 0x10000, data);
    bench.write(1, 3, 0x1000000 + i * 0x10000, data);
  }
  bench.write(0, 2, 0, data, kNanosecond);
  bench.run();
  const Time burst = 128 * 152 * kNanosecond / 16;
  CHECK(bench.gpu[0]->router.port(0).counters().credit_stall > 0);
  CHECK(bench.crossbar->counters(0).buffered_high_water == 65'536);
  // Alone it would be there after 13 bursts.
  CHECK(bench.seen(2)[0].at > 16 * burst);
  CHECK(bench.violated().empty());
}

TEST_CASE("a flag does not pass data of its sender in the switch") {
  Bench bench(2);
  std::vector<uint8_t> data = pattern(65'536);
  std::vector<uint8_t> flag(8, 1);
  bench.write(0, 1, 0, data);
  bench.write(0, 1, 0x100000, flag);
  bench.run();
  REQUIRE(bench.seen(1).size() == 2);
  CHECK((bench.seen(1)[1].address & STRETTO_OFFSET_MASK) == 0x100000);
  CHECK(bench.seen(1)[1].at >= bench.seen(1)[0].at + 100 * kNanosecond);
}

TEST_CASE("a read over a switch takes both ways, its data one wire time") {
  Bench bench(2);
  const std::vector<uint8_t> there = pattern(4'096);
  bench.gpu[1]->memory.image.write(0x1000, there.data(), there.size());
  std::vector<uint8_t> data(4'096);
  Requester& requester = bench.gpu[0]->first;
  requester.send(requester.make(Operation::read, address_in(1, 0x1000), data));
  bench.run();
  CHECK(data == there);
  // Requests: 8 headers of 24 B, 12 ns; the switch forwards when it has one, 1.5 ns. Data: 32
  // packets of 128 + 20 B, 296 ns, one 9.25 ns.
  const Time request = 12 * kNanosecond + 1'500 * kPicosecond + kPath;
  const Time answer = 296 * kNanosecond + 9'250 * kPicosecond + kPath;
  CHECK(requester.answered == std::vector<Time>{request + memory_time(4'096) + answer});
  CHECK(bench.violated().empty());
}

TEST_CASE("a packet lost in the switch breaks the laws of packets and bytes") {
  SwitchSpec spec;
  spec.fault_drop_packet = 2;
  Bench bench(2, pcie(), spec);
  std::vector<uint8_t> data = pattern(4'096);
  for (unsigned i = 0; i < 3; ++i) bench.write(0, 1, i * 4'096, data);
  bench.run();
  CHECK(bench.violated() == std::vector<std::string>{"switch packets in = out",
                                                     "switch bytes in = out",
                                                     "link bytes sent = received"});
}

TEST_CASE("a credit that the switch loses breaks the law of credits") {
  LinkSpec link = pcie();
  link.fault_lose_credit = 3;
  Bench bench(2, link);
  std::vector<uint8_t> data = pattern(4'096);
  for (unsigned i = 0; i < 3; ++i) bench.write(0, 1, i * 4'096, data);
  bench.run();
  // One at GPU 0, whose third came from the switch, one at the switch, whose third came from GPU 1.
  CHECK(bench.violated() == std::vector<std::string>{"credits all home", "credits all home"});
}

TEST_CASE("a switch without credit says so in a deadlock report") {
  LinkSpec link = pcie();
  link.fault_lose_credit = 1;
  Bench bench(3, link);
  std::vector<uint8_t> data = pattern(65'536);
  bench.write(0, 2, 0, data);
  bench.write(1, 2, 0x100000, data);
  CHECK_THROWS_WITH(
      bench.conductor->run(),
      Catch::Contains(
          "switch.crossbar: port2 to node 3: 1 packets wait (credit 0 of 65536 B free)"));
}

// GPU `gpu` asks the switch to add what `senders` send to [0, 1 MiB) of its memory, as firmware does.
void ask(Bench& bench, unsigned gpu, uint64_t senders) {
  static std::vector<std::vector<uint8_t>> words;  // Live until they have left.
  Gpu& one = *bench.gpu[gpu];
  one.access(tlm::TLM_WRITE_COMMAND, LINK_ROUTE_OFFSET_AT(STRETTO_NODE_SWITCH),
             LINK_ROUTE_VALID_MASK);
  const uint64_t at = uint64_t{STRETTO_NODE_SWITCH} << STRETTO_NODE_SHIFT;
  words.reserve(64);
  for (const auto& [offset, value] :
       {std::pair{SWITCH_ADD_BASE_OFFSET_AT(gpu), address_in(gpu, 0)},
        std::pair{SWITCH_ADD_LENGTH_OFFSET_AT(gpu), uint64_t{1} << 20},
        std::pair{SWITCH_ADD_PARTS_OFFSET_AT(gpu), senders}}) {
    std::vector<uint8_t>& word = words.emplace_back(8);
    std::memcpy(word.data(), &value, 8);
    one.first.send(one.first.make(Operation::write, at + offset, word));
  }
}

void update(Bench& bench, unsigned from, unsigned to, uint64_t offset, std::vector<uint8_t>& data,
            Time at) {
  Requester& requester = bench.gpu[from]->first;
  PooledPayload& payload = requester.make(Operation::update, address_in(to, offset), data);
  payload.extension.element = ElementType::int32;
  payload.extension.tracked = true;
  requester.send(payload, at);
}

SwitchSpec that_adds() {
  SwitchSpec spec;
  spec.add_bytes = 65'536;
  return spec;
}

TEST_CASE("of what three GPUs add to a fourth one sum arrives, a switch latency after the last",
          "[T3-SW-01]") {
  Bench bench(4, pcie(), that_adds());
  ask(bench, 3, 3);
  std::vector<uint8_t> data = pattern(4'096);
  for (unsigned from = 0; from < 3; ++from)
    update(bench, from, 3, 0x1000, data, (2 + from) * kMicrosecond);
  bench.run();
  REQUIRE(bench.seen(3).size() == 1);
  // A burst, 304 ns, once into the switch and once out of it.
  CHECK(bench.seen(3)[0].at ==
        4 * kMicrosecond + 2 * 304 * kNanosecond + kPath + memory_time(4'096));
  CHECK(bench.seen(3)[0].extension.parts == 3);
  CHECK(bench.crossbar->counters(3).bytes_out == 4'096);
  CHECK(bench.crossbar->bytes_kept() == 2 * 4'096 + 3 * 8);
  for (size_t i = 0; i < data.size(); i += 4) {
    uint32_t once, sum;
    std::memcpy(&once, data.data() + i, 4);
    bench.gpu[3]->memory.image.read(0x1000 + i, reinterpret_cast<uint8_t*>(&sum), 4);
    CHECK(sum == 3 * once);
  }
  CHECK(bench.violated().empty());
}

TEST_CASE("a flag does not pass a sum that has data of its sender", "[T3-SW-01]") {
  Bench bench(4, pcie(), that_adds());
  ask(bench, 3, 3);
  std::vector<uint8_t> data = pattern(4'096), flag(8, 1);
  update(bench, 0, 3, 0x1000, data, 2 * kMicrosecond);
  update(bench, 1, 3, 0x2000, data, 2 * kMicrosecond);
  bench.write(0, 3, 0x200000, flag, 2 * kMicrosecond);
  bench.run();
  const std::vector<TestMemory::Seen>& seen = bench.seen(3);
  REQUIRE(seen.size() == 3);
  CHECK((seen[0].address & STRETTO_OFFSET_MASK) == 0x1000);
  CHECK(seen[0].extension.parts == 1);
  CHECK((seen[1].address & STRETTO_OFFSET_MASK) == 0x200000);
  CHECK(seen[1].at < 5 * kMicrosecond);
  CHECK(seen[2].at > 20 * kMicrosecond);  // What waits for others leaves at last.
  CHECK(bench.violated().empty());
}

TEST_CASE("a GPU has no say in what is added on the way to others", "[T3-SW-01]") {
  Bench bench(4, pcie(), that_adds());
  ask(bench, 3, 3);
  std::vector<uint8_t> word(8, 0), data = pattern(4'096);
  bench.gpu[0]->access(tlm::TLM_WRITE_COMMAND, LINK_ROUTE_OFFSET_AT(STRETTO_NODE_SWITCH),
                       LINK_ROUTE_VALID_MASK);
  Requester& requester = bench.gpu[0]->second;
  requester.send(requester.make(Operation::write,
                                (uint64_t{STRETTO_NODE_SWITCH} << STRETTO_NODE_SHIFT) +
                                    SWITCH_ADD_PARTS_OFFSET_AT(3),
                                word),
                 kMicrosecond);
  for (unsigned from = 0; from < 3; ++from) update(bench, from, 3, 0x1000, data, 2 * kMicrosecond);
  bench.run();
  CHECK(bench.seen(3).size() == 1);
  CHECK(bench.violated() == std::vector<std::string>{"switch packets in = out",
                                                     "switch bytes in = out",
                                                     "link bytes sent = received"});
}

std::string traffic(const ConductorSpec& sim) {
  return test::in_child([&] {
    Bench bench(4, pcie(), {}, sim);
    std::vector<uint8_t> data = pattern(8'192);
    for (unsigned i = 0; i < 400; ++i)
      bench.write(i % 4, (i % 4 + 1 + i / 4 % 3) % 4, i * 8'192, data, i * 31 * kNanosecond);
    bench.run();
    std::string digests = bench.partition->digest().hex();
    for (auto& gpu : bench.gpu) digests += gpu->partition.digest().hex();
    return digests;
  });
}

TEST_CASE("switched traffic is the same for any window and any number of threads") {
  ConductorSpec sim;
  sim.threads = 1;
  const std::string expected = traffic(sim);
  CHECK(expected.size() == 5 * 64);
  sim.window_ns = 33;
  CHECK(traffic(sim) == expected);
  sim.window_ns = 0;
  sim.threads = 3;
  CHECK(traffic(sim) == expected);
}

}  // namespace
}  // namespace stretto
