// SPDX-License-Identifier: Apache-2.0
// Question: do servers, each with GPUs, a host and a NIC on a PCIe switch of its own, share nothing
// but what their NICs say to each other at the network switch, and does a run with several hosts end,
// wait and fail as one? Programs run on the host of each server and use the verbs library; what they
// need to know of each other they are told by datagrams.
#include <catch2/catch.hpp>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/common/error.h"
#include "models/fabric/switch.h"
#include "models/host/host_group.h"
#include "models/nic/nic.h"
#include "sw/net/verbs.h"
#include "tests/unit/fabric/link_bench.h"
#include "tests/unit/nic/verbs_ops.h"

namespace stretto {
namespace {

using test::Gpu;
using test::ops_of;
using test::pattern;

constexpr uint64_t kHost = uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT;
constexpr uint64_t kBytes = 0x40000;  // Of each heap,
constexpr uint64_t kHeap = 0x100000;  // at this offset, in GPU and host.
constexpr uint64_t kFlag = kHost + kHeap + 0x20000;
constexpr uint64_t kTold = kHost + 0x40000;  // Where datagrams arrive, 64 bytes each.

struct Server : sc_core::sc_module {
  Server(sc_core::sc_module_name name, Conductor& conductor, const ClusterWiring& wiring,
         unsigned index, const NicSpec& spec)
      : sc_module(name),
        gpu("gpu", conductor, index, wiring.gpu(index, 0)),
        switch_partition("switch", conductor, static_cast<uint8_t>(kServerSwitchNode + index)),
        crossbar("crossbar", SwitchSpec{}, wiring.server_switch(index), switch_partition),
        nic_partition("nic", conductor, static_cast<uint8_t>(kNicNode + index)),
        router("router", wiring.nic(index), 1, nic_partition),
        nic("interface", spec, wiring.network_port(index), 1, nic_partition),
        host(("host" + std::to_string(index)).c_str(), HostSpec{}, wiring.host(index), conductor) {
    connect_checked(nic.bus.socket, router.egress[0], nic_partition.queue());
    connect_checked(router.doorbell, nic.aperture, nic_partition.queue());
    connect_checked(router.memory, nic.nothing, nic_partition.queue());
    switch_partition.add("crossbar", crossbar);
    nic_partition.add("router", router);
    nic_partition.add("nic", nic);
  }
  Gpu gpu;
  Partition switch_partition;
  Switch crossbar;
  Partition nic_partition;
  Router router;
  Nic nic;
  Host host;
};

// What a server tells the others.
struct Told {
  uint64_t server;
  uint32_t gpu_key, host_key;
};

// The library's side of one server, with a pair to each other server.
struct Verbs {
  HostCore& core;
  const stretto_host_ops_t ops;
  const unsigned index, servers;
  stretto_nic_t nic;
  stretto_nic_queue_t queue;
  stretto_nic_pair_t datagrams;
  std::vector<stretto_nic_pair_t> pairs;  // By server; the own one is not connected.
  std::vector<Told> told;

  Verbs(HostCore& core, unsigned index, unsigned servers)
      : core(core),
        ops(ops_of(core)),
        index(index),
        servers(servers),
        pairs(servers),
        told(servers) {
    const uint32_t all = STRETTO_NIC_LOCAL_WRITE | STRETTO_NIC_REMOTE_READ |
                         STRETTO_NIC_REMOTE_WRITE | STRETTO_NIC_REMOTE_ATOMIC;
    must(stretto_nic_init(&nic, &ops, index, kHost));
    must(stretto_nic_queue_init(&queue, &nic, 0, kHost + 0x8000, 9));
    Told& mine = told[index];
    mine.server = index;
    must(stretto_nic_register(&nic, 0, test::address_in(index, kHeap), kBytes, all, &mine.gpu_key));
    must(stretto_nic_register(&nic, 1, kHost + kHeap, kBytes, all, &mine.host_key));
    for (unsigned i = 0; i < servers; ++i) {
      const uint64_t rings = kHost + 0x10000 + 0x1000 * i;
      must(stretto_nic_pair_init(&pairs[i], &nic, 1 + i, rings, rings + 0x800, 4, &queue, 1));
      if (i != index) must(stretto_nic_connect(&pairs[i], i, 1 + index));
    }
    meet();
  }
  static void must(stretto_nic_result_t result) { REQUIRE(result == STRETTO_NIC_RESULT_OK); }

  // Every server sends its keys to every other one and takes theirs. A datagram that finds no receive
  // entry is lost: all servers start at one time here, and wait until each has posted its own.
  void meet() {
    uint32_t key = 0;
    must(
        stretto_nic_pair_init(&datagrams, &nic, 0, kHost + 0x30000, kHost + 0x31000, 6, &queue, 0));
    must(stretto_nic_connect(&datagrams, 0, 0));
    must(stretto_nic_register(&nic, 2, kTold, 0x1000, STRETTO_NIC_LOCAL_WRITE, &key));
    for (uint64_t i = 0; i < 32; ++i) {
      stretto_nic_work_entry_t receive{};
      receive.id = i;
      receive.local_address = kTold + 64 * i;
      receive.local_key = key;
      receive.length = 64;
      must(stretto_nic_post_receive(&datagrams, &receive));
    }
    core.charge_ns(20'000);
    uint64_t words[2];
    std::memcpy(words, &told[index], sizeof words);
    for (unsigned i = 0; i < servers; ++i) {
      if (i == index) continue;
      stretto_nic_work_entry_t entry{};
      entry.opcode = STRETTO_NIC_SEND;
      entry.flags = STRETTO_NIC_INLINE;
      entry.length = sizeof(Told);
      entry.peer_node = static_cast<uint8_t>(STRETTO_NODE_NIC + i);
      entry.operand = words[0];
      entry.compare = words[1];
      must(stretto_nic_post(&datagrams, &entry));
    }
    for (unsigned open = 2 * (servers - 1); open > 0; --open) {
      const auto done = wait();
      if (done.opcode != STRETTO_NIC_RECEIVE) continue;
      Told one;
      core.read(kTold + 64 * done.id, &one, sizeof one);
      REQUIRE(done.value == (uint64_t{STRETTO_NODE_NIC} + one.server) << 16);
      told[one.server] = one;
    }
  }
  stretto_nic_completion_t wait() {
    stretto_nic_completion_t completion;
    stretto_nic_wait(&queue, &completion);
    return completion;
  }
  // From the own GPU to that of server `to`.
  stretto_nic_work_entry_t put(unsigned to, uint32_t bytes, uint64_t from = 0,
                               uint64_t at = 0) const {
    stretto_nic_work_entry_t entry{};
    entry.opcode = STRETTO_NIC_PUT;
    entry.local_address = test::address_in(index, kHeap + from);
    entry.local_key = told[index].gpu_key;
    entry.remote_address = test::address_in(to, kHeap + at);
    entry.remote_key = told[to].gpu_key;
    entry.length = bytes;
    return entry;
  }
  // Sets the flag of server `to`, when what was put before can be seen there.
  stretto_nic_work_entry_t flag(unsigned to, uint64_t value) const {
    stretto_nic_work_entry_t entry = put(to, 8);
    entry.flags = STRETTO_NIC_INLINE | STRETTO_NIC_FENCE;
    entry.remote_address = kFlag;
    entry.remote_key = told[to].host_key;
    entry.operand = value;
    return entry;
  }
  void post(unsigned to, const stretto_nic_work_entry_t& entry) {
    must(stretto_nic_post(&pairs[to], &entry));
  }
};
static_assert(sizeof(Told) == STRETTO_NIC_INLINE_BYTES);

struct Bench {
  // Faults of `spec` are those of server 1.
  explicit Bench(unsigned servers = 2, const NicSpec& spec = {}) {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    LinkSpec pcie = pcie_defaults();
    pcie.latency_ns = 300;
    pcie.max_payload_bytes = 256;
    const ClusterWiring wiring{servers, 1, pcie, network_defaults()};
    conductor = std::make_unique<Conductor>("conductor", ConductorSpec{}, 100 * kNanosecond);
    for (unsigned i = 0; i < servers; ++i) {
      server.push_back(std::make_unique<Server>(("server" + std::to_string(i)).c_str(), *conductor,
                                                wiring, i, i == 1 ? spec : NicSpec{}));
    }
    network = std::make_unique<Partition>("network", *conductor, kSwitchNode);
    SwitchSpec star;
    star.latency_ns = 0;
    crossbar = std::make_unique<Switch>("crossbar", star, wiring.network_switch(), *network);
    network->add("crossbar", *crossbar);
    std::vector<Host*> hosts;
    for (const auto& each : server) hosts.push_back(&each->host);
    group = std::make_unique<HostGroup>(*conductor, hosts);
  }
  using Program = std::function<void(Verbs&)>;
  void on(unsigned index, Program program) {
    const unsigned servers = static_cast<unsigned>(server.size());
    server[index]->host.add_program("program" + std::to_string(index),
                                    [index, servers, program](HostCore& core) {
                                      Verbs verbs(core, index, servers);
                                      program(verbs);
                                    });
  }
  void run() { REQUIRE(conductor->run() == Conductor::Outcome::finished); }
  std::vector<uint8_t> in_gpu(unsigned which, uint64_t offset, uint64_t count) {
    std::vector<uint8_t> data(count);
    server[which]->gpu.memory.image.read(kHeap + offset, data.data(), count);
    return data;
  }
  void fill_gpu(unsigned which, const std::vector<uint8_t>& data) {
    server[which]->gpu.memory.image.write(kHeap, data.data(), data.size());
  }
  std::vector<std::string> violated() {
    AuditSink sink;
    std::vector<const Nic*> nics;
    for (const auto& each : server) {
      each->gpu.partition.audit(sink);
      each->switch_partition.audit(sink);
      each->nic_partition.audit(sink);
      each->host.audit(sink);
      audit_pcie(each->host, each->crossbar, sink);
      nics.push_back(&each->nic);
    }
    network->audit(sink);
    audit_network(nics, sink);
    std::vector<std::string> names;
    for (const AuditResult& result : sink.all()) {
      if (!result.holds) names.push_back(result.where + ": " + result.law);
    }
    return names;
  }
  std::unique_ptr<Conductor> conductor;
  std::vector<std::unique_ptr<Server>> server;
  std::unique_ptr<Partition> network;
  std::unique_ptr<Switch> crossbar;
  std::unique_ptr<HostGroup> group;
};

const std::vector<std::string> kNone;

TEST_CASE("each of four servers puts to the next one and finds what the one before it put") {
  Bench bench(4);
  for (unsigned i = 0; i < 4; ++i) {
    auto data = pattern(50'000);
    data[0] = static_cast<uint8_t>(i);
    bench.fill_gpu(i, data);
    bench.on(i, [i](Verbs& verbs) {
      const unsigned next = (i + 1) % 4;
      verbs.post(next, verbs.put(next, 50'000, 0, 0x20000));
      verbs.post(next, verbs.flag(next, 100 + i));
      CHECK(verbs.wait().status == STRETTO_NIC_OK);
      CHECK(verbs.wait().status == STRETTO_NIC_OK);
      verbs.core.wait_word(kFlag, HostCore::Condition::not_equal, 0);
      CHECK(verbs.core.load(kFlag) == 100 + (i + 3) % 4);
    });
  }
  bench.run();
  for (unsigned i = 0; i < 4; ++i) {
    auto data = pattern(50'000);
    data[0] = static_cast<uint8_t>((i + 3) % 4);
    CHECK((bench.in_gpu(i, 0x20000, 50'000) == data));
  }
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a GPU has no way to a GPU of another server, a host neither") {
  Bench bench;
  std::vector<uint8_t> data = pattern(64);
  test::Requester& requester = bench.server[0]->gpu.first;
  requester.send(requester.make(Operation::write, test::address_in(1, kHeap), data));
  std::string told;
  bench.on(1, [&](Verbs& verbs) {
    try {
      verbs.core.write(test::address_in(0, kHeap), data.data(), 64);
    } catch (const UserError& error) {
      told = error.what();
    }
  });
  bench.on(0, [](Verbs&) {});
  bench.run();
  CHECK(requester.status == std::vector<tlm::tlm_response_status>{tlm::TLM_ADDRESS_ERROR_RESPONSE});
  CHECK(told.find("which is in no GPU of this machine") != std::string::npos);
  CHECK((bench.in_gpu(1, 0, 64) == std::vector<uint8_t>(64)));
  CHECK((bench.in_gpu(0, 0, 64) == std::vector<uint8_t>(64)));
}

TEST_CASE("a key of another server's region is refused there") {
  Bench bench;
  bench.on(0, [](Verbs& verbs) {
    auto entry = verbs.put(1, 64);
    entry.remote_key += 1u << 24;
    verbs.post(1, entry);
    CHECK(verbs.wait().status == STRETTO_NIC_REMOTE_ACCESS);
  });
  bench.on(1, [](Verbs&) {});
  bench.fill_gpu(0, pattern(64));
  bench.run();
  CHECK((bench.in_gpu(1, 0, 64) == std::vector<uint8_t>(64)));
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a run ends when the programs of all hosts have") {
  Bench bench(3);
  for (unsigned i = 0; i < 3; ++i)
    bench.on(i, [i](Verbs& verbs) { verbs.core.charge_ns(i == 1 ? 3'000'000 : 0); });
  bench.run();
  CHECK(sc_core::sc_time_stamp() > sc_core::sc_time(3, sc_core::SC_MS));
}

TEST_CASE("a host that waits for ever is named") {
  Bench bench;
  bench.on(0, [](Verbs&) {});
  bench.on(1, [](Verbs& verbs) { verbs.core.wait_word(kFlag, HostCore::Condition::not_equal, 0); });
  std::string told;
  try {
    bench.conductor->run();
  } catch (const CheckError& error) {
    told = error.what();
  }
  CHECK(told.find("host1: program1 waits for the word at") != std::string::npos);
  CHECK(told.find("host0") == std::string::npos);
}

TEST_CASE("a server that goes down ends what goes to it, the others go on") {
  NicSpec spec;
  spec.fault_down_at_ns = 200'000;
  Bench bench(3, spec);
  bench.fill_gpu(0, pattern(1'000));
  bench.fill_gpu(2, pattern(1'000));
  Time took = 0;
  bench.on(1, [](Verbs&) {});
  bench.on(0, [&](Verbs& verbs) {
    verbs.core.charge_ns(300'000);
    const Time begin = verbs.core.now();
    verbs.post(1, verbs.put(1, 1'000));
    CHECK(verbs.wait().status == STRETTO_NIC_RETRIES_EXCEEDED);
    took = verbs.core.now() - begin;
    verbs.post(2, verbs.put(2, 1'000, 0, 0x20000));
    CHECK(verbs.wait().status == STRETTO_NIC_OK);
  });
  bench.on(2, [](Verbs& verbs) {
    verbs.core.charge_ns(300'000);
    verbs.post(0, verbs.put(0, 1'000, 0, 0x20000));
    CHECK(verbs.wait().status == STRETTO_NIC_OK);
  });
  bench.run();
  CHECK(took > spec.acknowledge_timeout_ns * spec.retries * kNanosecond);
  CHECK(took < spec.acknowledge_timeout_ns * spec.retries * kNanosecond + 10 * kMicrosecond);
  CHECK((bench.in_gpu(0, 0x20000, 1'000) == pattern(1'000)));
  CHECK((bench.in_gpu(2, 0x20000, 1'000) == pattern(1'000)));
  CHECK((bench.in_gpu(1, 0, 1'000) == std::vector<uint8_t>(1'000)));
  CHECK(bench.violated() == kNone);
}

}  // namespace
}  // namespace stretto
