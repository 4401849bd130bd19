// SPDX-License-Identifier: Apache-2.0
// Question: can a host program move data between memories of GPUs and its own with the verbs library
// alone, over rings in host memory that the NIC reads over PCIe, and does it hear of what goes wrong?
// A host, two GPUs (a router and a test memory each) and two NICs on one PCIe switch, the NICs joined
// by a network link: NIC 0 plays the server of GPU 0, NIC 1 that of GPU 1, and one program both.
#include "sw/net/verbs.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "models/fabric/switch.h"
#include "models/host/host.h"
#include "models/nic/nic.h"
#include "tests/unit/fabric/link_bench.h"
#include "tests/unit/nic/verbs_ops.h"

namespace stretto {
namespace {

using test::Gpu;
using test::ops_of;
using test::pattern;

constexpr uint64_t kHost = uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT;
constexpr uint64_t kMemory = 0x100000;  // Of GPUs and host, registered,
constexpr uint64_t kBytes = 0x40000;    // so many bytes.
constexpr unsigned kPorts = 5;          // GPUs 0 and 1, NICs 2 and 3, host 4.

LinkSpec pcie() {
  LinkSpec link = pcie_defaults();
  link.latency_ns = 300;
  link.max_payload_bytes = 256;
  return link;
}
uint8_t node_at(unsigned port) {
  constexpr uint8_t kNodes[kPorts] = {1, 2, STRETTO_NODE_NIC, STRETTO_NODE_NIC + 1, kHostNode};
  return kNodes[port];
}
// What an end of the switch sees: one link, which leads to all others.
RouterSpec end_of(unsigned port) {
  RouterSpec spec{{{kSwitchNode, static_cast<uint8_t>(port), pcie()}}, {}};
  for (unsigned other = 0; other < kPorts; ++other) {
    if (other != port) spec.routes.emplace_back(node_at(other), 0);
  }
  return spec;
}

struct NicEnd : sc_core::sc_module {
  NicEnd(sc_core::sc_module_name name, Conductor& conductor, unsigned server, const NicSpec& spec)
      : sc_module(name),
        partition("partition", conductor, node_at(2 + server)),
        router("router", end_of(2 + server), 1, partition),
        nic("nic", spec, PortSpec{node_at(3 - server), 1, network_defaults()}, 1, partition) {
    connect_checked(nic.bus.socket, router.egress[0], partition.queue());
    connect_checked(router.doorbell, nic.aperture, partition.queue());
    connect_checked(router.memory, nic.nothing, partition.queue());
    partition.add("router", router);
    partition.add("nic", nic);
  }
  Partition partition;
  Router router;
  Nic nic;
};

// The library's side of one server.
struct Verbs {
  stretto_nic_t nic;
  stretto_nic_queue_t queue;
  stretto_nic_pair_t pair;
  uint32_t gpu_key = 0;
  uint32_t host_key = 0;

  void start(const stretto_host_ops_t& ops, unsigned server) {
    const uint64_t base = kHost + 0x10000 + 0x8000 * server;
    const uint32_t all = STRETTO_NIC_LOCAL_WRITE | STRETTO_NIC_REMOTE_READ |
                         STRETTO_NIC_REMOTE_WRITE | STRETTO_NIC_REMOTE_ATOMIC;
    REQUIRE(stretto_nic_init(&nic, &ops, server, base) == STRETTO_NIC_RESULT_OK);
    REQUIRE(stretto_nic_queue_init(&queue, &nic, 3, base + 0x1000, 6) == STRETTO_NIC_RESULT_OK);
    REQUIRE(stretto_nic_pair_init(&pair, &nic, 7, base + 0x2000, base + 0x3000, 4, &queue, 2) ==
            STRETTO_NIC_RESULT_OK);
    REQUIRE(stretto_nic_connect(&pair, 1 - server, 7) == STRETTO_NIC_RESULT_OK);
    REQUIRE(stretto_nic_register(&nic, 0, test::address_in(server, kMemory), kBytes, all,
                                 &gpu_key) == STRETTO_NIC_RESULT_OK);
    REQUIRE(stretto_nic_register(&nic, 1, kHost + kMemory * (server + 1), kBytes, all, &host_key) ==
            STRETTO_NIC_RESULT_OK);
  }
  stretto_nic_completion_t wait() {
    stretto_nic_completion_t completion;
    stretto_nic_wait(&queue, &completion);
    return completion;
  }
  // Posts it and waits for its end.
  stretto_nic_completion_t run(const stretto_nic_work_entry_t& entry) {
    REQUIRE(stretto_nic_post(&pair, &entry) == STRETTO_NIC_RESULT_OK);
    return wait();
  }
};

struct Bench {
  explicit Bench(const NicSpec& target = {}) {
    conductor = std::make_unique<Conductor>("conductor", ConductorSpec{}, 100 * kNanosecond);
    for (unsigned i = 0; i < 2; ++i) {
      gpu.push_back(
          std::make_unique<Gpu>(("gpu" + std::to_string(i)).c_str(), *conductor, i, end_of(i)));
      nic.push_back(std::make_unique<NicEnd>(("nic" + std::to_string(i)).c_str(), *conductor, i,
                                             i == 1 ? target : NicSpec{}));
    }
    RouterSpec ports;
    for (unsigned i = 0; i < kPorts; ++i) {
      ports.ports.push_back({node_at(i), 0, pcie()});
      ports.routes.emplace_back(node_at(i), static_cast<uint8_t>(i));
    }
    partition = std::make_unique<Partition>("switch", *conductor, kSwitchNode);
    crossbar = std::make_unique<Switch>("crossbar", SwitchSpec{}, ports, *partition);
    partition->add("crossbar", *crossbar);
    host = std::make_unique<Host>("host", HostSpec{}, end_of(4), *conductor);
  }
  // Both servers are started, then `program` runs.
  void run(std::function<void(HostCore&, Verbs&, Verbs&)> program) {
    host->add_program("program", [program](HostCore& core) {
      const stretto_host_ops_t ops = ops_of(core);
      Verbs sides[2];
      for (unsigned i = 0; i < 2; ++i) sides[i].start(ops, i);
      core.charge_ns(5'000);  // Until NIC 1 has its registers.
      program(core, sides[0], sides[1]);
    });
    REQUIRE(conductor->run() == Conductor::Outcome::finished);
  }
  std::vector<uint8_t> in_gpu(unsigned which, uint64_t offset, uint64_t count) {
    std::vector<uint8_t> data(count);
    gpu[which]->memory.image.read(kMemory + offset, data.data(), count);
    return data;
  }
  std::vector<std::string> violated() {
    AuditSink sink;
    for (auto& each : gpu) each->partition.audit(sink);
    for (auto& each : nic) each->partition.audit(sink);
    partition->audit(sink);
    host->audit(sink);
    audit_pcie(*host, *crossbar, sink);
    audit_network({&nic[0]->nic, &nic[1]->nic}, sink);
    std::vector<std::string> names;
    for (const AuditResult& result : sink.all()) {
      if (!result.holds) names.push_back(result.where + ": " + result.law);
    }
    return names;
  }
  std::unique_ptr<Conductor> conductor;
  std::vector<std::unique_ptr<Gpu>> gpu;
  std::vector<std::unique_ptr<NicEnd>> nic;
  std::unique_ptr<Partition> partition;
  std::unique_ptr<Switch> crossbar;
  std::unique_ptr<Host> host;
};

const std::vector<std::string> kNone;

stretto_nic_work_entry_t entry_of(uint8_t opcode, uint64_t local, uint32_t local_key,
                                  uint64_t remote, uint32_t remote_key, uint32_t bytes,
                                  uint64_t id = 1) {
  stretto_nic_work_entry_t entry{};
  entry.opcode = opcode;
  entry.id = id;
  entry.local_address = local;
  entry.local_key = local_key;
  entry.remote_address = remote;
  entry.remote_key = remote_key;
  entry.length = bytes;
  return entry;
}

TEST_CASE("data go from GPU to GPU, from host to GPU and back to the host") {
  Bench bench;
  const auto data = pattern(20'000);
  bench.gpu[0]->memory.image.write(kMemory, data.data(), data.size());
  bool came_back = false;
  bench.run([&](HostCore& core, Verbs& left, Verbs& right) {
    const uint64_t gpu0 = test::address_in(0, kMemory), gpu1 = test::address_in(1, kMemory);
    CHECK(left.run(entry_of(STRETTO_NIC_PUT, gpu0, left.gpu_key, gpu1, right.gpu_key, 20'000))
              .status == STRETTO_NIC_OK);
    // Host memory of server 0 to GPU 1; both over PCIe reads of the host.
    core.store_bytes(kHost + kMemory, data.data() + 1'000, 9'000);
    CHECK(left.run(entry_of(STRETTO_NIC_PUT, kHost + kMemory, left.host_key, gpu1 + 0x10000,
                            right.gpu_key, 9'000))
              .status == STRETTO_NIC_OK);
    // And from GPU 1 into host memory of server 0: the completion comes behind the data.
    CHECK(left.run(entry_of(STRETTO_NIC_GET, kHost + kMemory + 0x10000, left.host_key,
                            gpu1 + 0x10000, right.gpu_key, 9'000))
              .bytes == 9'000);
    std::vector<uint8_t> back(9'000);
    core.read(kHost + kMemory + 0x10000, back.data(), back.size());
    came_back = std::equal(back.begin(), back.end(), data.begin() + 1'000);
  });
  CHECK(came_back);
  CHECK((bench.in_gpu(1, 0, 20'000) == data));
  CHECK((bench.in_gpu(1, 0x10000, 9'000) ==
         std::vector<uint8_t>(data.begin() + 1'000, data.begin() + 10'000)));
  CHECK(bench.violated() == kNone);
}

TEST_CASE("an inline put from a ring in host memory takes what its ways and stages add up to",
          "[CN-Q-10]") {
  Bench bench;
  Time begin = 0;
  bench.run([&](HostCore& core, Verbs& left, Verbs& right) {
    auto entry = entry_of(STRETTO_NIC_PUT, 0, 0, test::address_in(1, kMemory), right.gpu_key, 8);
    entry.flags = STRETTO_NIC_INLINE;
    begin = core.now();
    left.run(entry);
  });
  // Two hops of 300 ns and the switch's 150; a packet of B bytes takes B / 16 ns on each wire.
  const auto way = [](uint64_t bytes) { return 750 * kNanosecond + 2 * bytes * 62'500; };
  const Time stored = begin + 25 * kNanosecond;
  const Time rung = stored + 26 * kNanosecond + way(8 + 24);  // The root complex's next edge.
  const Time asked = rung + 50 * kNanosecond + way(24);
  const Time entry_there = asked + 91 * kNanosecond + way(64 + 20);  // read_ns, and an edge.
  const Time sent = entry_there + 50 * kNanosecond;
  const Time arrived = sent + (100 + 4) * kNanosecond + 50 * kNanosecond;  // 50 B at 12.5 B/ns.
  CHECK(bench.gpu[1]->memory.log.at(0).at ==
        arrived + way(8 + 24) + 100 * kNanosecond + 8 * kPicosecond);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("atomics add in the peer's GPU and in its host memory") {
  Bench bench;
  bench.run([&](HostCore& core, Verbs& left, Verbs& right) {
    const uint64_t result = kHost + kMemory;
    for (uint64_t i = 0; i < 3; ++i) {
      auto add = entry_of(STRETTO_NIC_FETCH_ADD, result, left.host_key,
                          test::address_in(1, kMemory + 64), right.gpu_key, 8);
      add.operand = 5;
      CHECK(left.run(add).value == 5 * i);
      CHECK(core.load(result) == 5 * i);
      add.remote_address = kHost + 2 * kMemory + 64;
      add.remote_key = right.host_key;
      CHECK(left.run(add).value == 5 * i);
    }
    CHECK(core.load(kHost + 2 * kMemory + 64) == 15);
  });
  CHECK(bench.in_gpu(1, 64, 1)[0] == 15);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a send ends in the receive entry that the peer posted") {
  Bench bench;
  bench.run([&](HostCore& core, Verbs& left, Verbs& right) {
    stretto_nic_work_entry_t receive{};
    receive.id = 9;
    receive.local_address = kHost + 2 * kMemory;
    receive.local_key = right.host_key;
    receive.length = 256;
    CHECK(stretto_nic_post_receive(&right.pair, &receive) == STRETTO_NIC_RESULT_OK);
    core.charge_ns(5'000);
    core.store(kHost + kMemory, 0x1234);
    CHECK(left.run(entry_of(STRETTO_NIC_SEND, kHost + kMemory, left.host_key, 0, 0, 200)).status ==
          STRETTO_NIC_OK);
    const auto received = right.wait();
    CHECK(received.id == 9);
    CHECK(received.bytes == 200);
    CHECK(core.load(kHost + 2 * kMemory) == 0x1234);
  });
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a full ring refuses a post, and 200 operations go through rings of 16") {
  Bench bench;
  bench.run([&](HostCore& core, Verbs& left, Verbs& right) {
    uint64_t posted = 0, ended = 0;
    bool was_full = false;
    bool in_order = true;
    while (ended < 200) {
      auto entry = entry_of(STRETTO_NIC_PUT, 0, 0, test::address_in(1, kMemory + 8 * posted),
                            right.gpu_key, 8, posted);
      entry.flags = STRETTO_NIC_INLINE;
      entry.operand = posted + 1;
      if (posted < 200 && stretto_nic_post(&left.pair, &entry) == STRETTO_NIC_RESULT_OK) {
        ++posted;
        continue;
      }
      was_full = was_full || posted < 200;
      stretto_nic_completion_t completion;
      if (stretto_nic_poll(&left.queue, &completion) == STRETTO_NIC_RESULT_EMPTY) {
        core.charge_ns(100);
        continue;
      }
      in_order = in_order && completion.id == ended++;
    }
    CHECK(was_full);
    CHECK(in_order);
  });
  CHECK(bench.in_gpu(1, 8 * 199, 1)[0] == 200);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a key of a registration that has ended is refused, its successor's works") {
  Bench bench;
  bench.run([&](HostCore& core, Verbs& left, Verbs& right) {
    const uint64_t there = test::address_in(1, kMemory);
    const uint32_t stale = right.gpu_key;
    CHECK(stretto_nic_register(&right.nic, 0, there, kBytes, STRETTO_NIC_REMOTE_WRITE,
                               &right.gpu_key) == STRETTO_NIC_RESULT_ARGUMENT);
    CHECK(stretto_nic_deregister(&right.nic, 0) == STRETTO_NIC_RESULT_OK);
    CHECK(stretto_nic_register(&right.nic, 0, there, kBytes, STRETTO_NIC_REMOTE_WRITE,
                               &right.gpu_key) == STRETTO_NIC_RESULT_OK);
    CHECK(right.gpu_key != stale);
    core.charge_ns(5'000);
    auto entry = entry_of(STRETTO_NIC_PUT, 0, 0, there, stale, 8);
    entry.flags = STRETTO_NIC_INLINE;
    entry.operand = 1;
    const auto refused = left.run(entry);
    CHECK(refused.status == STRETTO_NIC_REMOTE_ACCESS);
    CHECK(std::string(stretto_nic_status_text(refused.status)) == "remote key does not allow it");
    entry.remote_key = right.gpu_key;
    CHECK(left.run(entry).status == STRETTO_NIC_FLUSHED);
    // Both ends begin anew.
    CHECK(stretto_nic_connect(&right.pair, 0, 7) == STRETTO_NIC_RESULT_OK);
    CHECK(stretto_nic_connect(&left.pair, 1, 7) == STRETTO_NIC_RESULT_OK);
    core.charge_ns(5'000);
    CHECK(left.run(entry).status == STRETTO_NIC_OK);
  });
  CHECK(bench.in_gpu(1, 0, 1)[0] == 1);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a lost packet is sent again, the program sees nothing of it") {
  NicSpec spec;
  spec.fault_lose_packet = 3;
  Bench bench(spec);
  const auto data = pattern(20'000);
  bench.gpu[0]->memory.image.write(kMemory, data.data(), data.size());
  bench.run([&](HostCore&, Verbs& left, Verbs& right) {
    CHECK(left.run(entry_of(STRETTO_NIC_PUT, test::address_in(0, kMemory), left.gpu_key,
                            test::address_in(1, kMemory), right.gpu_key, 20'000))
              .status == STRETTO_NIC_OK);
  });
  CHECK((bench.in_gpu(1, 0, 20'000) == data));
  CHECK(bench.nic[1]->nic.counters().packets_lost == 1);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a server that is down ends operations to it within time-out x retries") {
  NicSpec spec;
  spec.fault_down_at_ns = 1;
  Bench bench(spec);
  Time took = 0;
  bench.run([&](HostCore& core, Verbs& left, Verbs& right) {
    const Time begin = core.now();
    CHECK(left.run(entry_of(STRETTO_NIC_PUT, test::address_in(0, kMemory), left.gpu_key,
                            test::address_in(1, kMemory), right.gpu_key, 64))
              .status == STRETTO_NIC_RETRIES_EXCEEDED);
    took = core.now() - begin;
  });
  const Time limit = spec.acknowledge_timeout_ns * spec.retries * kNanosecond;
  CHECK(took > limit);
  CHECK(took < limit + 10 * kMicrosecond);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("arguments that name nothing are refused and write nothing") {
  Bench bench;
  bench.run([&](HostCore& core, Verbs& left, Verbs&) {
    const stretto_host_ops_t ops = ops_of(core);
    stretto_nic_t nic;
    stretto_nic_queue_t queue;
    stretto_nic_pair_t pair;
    uint32_t key = 0;
    const auto bad = STRETTO_NIC_RESULT_ARGUMENT;
    const Time begin = core.now();
    CHECK(stretto_nic_init(&nic, &ops, 96, kHost) == bad);
    CHECK(stretto_nic_init(&nic, &ops, 32, kHost) == bad);
    CHECK(stretto_nic_init(&nic, &ops, 0, 8) == bad);  // No memory's node.
    CHECK(stretto_nic_init(&nic, &ops, 0, uint64_t{STRETTO_NODE_NIC} << STRETTO_NODE_SHIFT) == bad);
    CHECK(stretto_nic_register(&left.nic, 256, kHost, 8, 0, &key) == bad);
    CHECK(stretto_nic_register(&left.nic, 5, kHost, 0, 0, &key) == bad);
    CHECK(stretto_nic_register(&left.nic, 5, kHost, 8, 16, &key) == bad);
    CHECK(stretto_nic_register(&left.nic, 5, kHost + 8, STRETTO_OFFSET_MASK, 0, &key) == bad);
    CHECK(stretto_nic_deregister(&left.nic, 5) == bad);
    CHECK(stretto_nic_queue_init(&queue, &left.nic, 64, kHost, 4) == bad);
    CHECK(stretto_nic_queue_init(&queue, &left.nic, 1, kHost + 8, 4) == bad);
    CHECK(stretto_nic_queue_init(&queue, &left.nic, 1, kHost, 16) == bad);
    CHECK(stretto_nic_pair_init(&pair, &left.nic, 256, kHost, kHost, 4, &left.queue, 0) == bad);
    CHECK(stretto_nic_pair_init(&pair, &left.nic, 1, kHost, kHost, 4, &left.queue, 64) == bad);
    CHECK(stretto_nic_pair_init(&pair, &left.nic, 1, test::address_in(0, 0), kHost, 4, &left.queue,
                                0) == bad);
    CHECK(stretto_nic_connect(&left.pair, 1, 256) == bad);
    CHECK(core.now() == begin);
    CHECK(std::string(stretto_nic_status_text(99)) == "unknown status");
  });
}

}  // namespace
}  // namespace stretto
