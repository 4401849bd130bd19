// SPDX-License-Identifier: Apache-2.0
// Question: do servers, each with GPUs, a host and a NIC on a PCIe switch of its own, share nothing
// but what their NICs say to each other at the network switch, and does a run with several hosts end,
// wait and fail as one? And do programs of the cluster library, one on the host of each server, find
// each other, whenever they come and whatever is lost?
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
#include "sw/net/cluster.h"
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
constexpr uint64_t kCluster = 0x1000000;  // What the library has of host memory.

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

// The program's side of one server: a cluster whose heaps lie in GPUs, and a region in each host.
struct Verbs {
  HostCore& core;
  const stretto_host_ops_t ops;
  const unsigned index;
  stretto_cluster_t cluster;
  uint32_t host_key = 0;  // Equal at all: each registers it as the first of its own.

  Verbs(HostCore& core, unsigned index, unsigned servers)
      : core(core), ops(ops_of(core)), index(index) {
    const uint32_t all = STRETTO_NIC_LOCAL_WRITE | STRETTO_NIC_REMOTE_READ |
                         STRETTO_NIC_REMOTE_WRITE | STRETTO_NIC_REMOTE_ATOMIC;
    const stretto_cluster_options_t options = {
        &ops, index, servers, kHost + kCluster, test::address_in(index, kHeap), kBytes};
    must(stretto_cluster_join(&cluster, &options));
    must(stretto_nic_register(&cluster.nic, STRETTO_CLUSTER_REGIONS, kHost + kHeap, kBytes, all,
                              &host_key));
    must(stretto_cluster_barrier(&cluster));
  }
  static void must(stretto_nic_result_t result) { REQUIRE(result == STRETTO_NIC_RESULT_OK); }

  stretto_nic_completion_t wait() {
    stretto_nic_completion_t completion;
    stretto_cluster_wait(&cluster, &completion);
    return completion;
  }
  // From the own GPU to that of server `to`.
  stretto_nic_work_entry_t put(unsigned to, uint32_t bytes, uint64_t from = 0,
                               uint64_t at = 0) const {
    stretto_nic_work_entry_t entry{};
    entry.opcode = STRETTO_NIC_PUT;
    entry.local_address = test::address_in(index, kHeap + from);
    entry.local_key = cluster.heap_key;
    entry.remote_address = stretto_cluster_at(&cluster, to, at);
    entry.remote_key = cluster.peer[to].heap_key;
    entry.length = bytes;
    return entry;
  }
  // Sets the flag of server `to`, when what was put before can be seen there.
  stretto_nic_work_entry_t flag(unsigned to, uint64_t value) const {
    stretto_nic_work_entry_t entry = put(to, 8);
    entry.flags = STRETTO_NIC_INLINE | STRETTO_NIC_FENCE;
    entry.remote_address = kFlag;
    entry.remote_key = host_key;
    entry.operand = value;
    return entry;
  }
  void post(unsigned to, const stretto_nic_work_entry_t& entry) {
    must(stretto_cluster_post(&cluster, to, &entry));
  }
};

struct Bench {
  // Faults of `spec` are those of server 1.
  explicit Bench(unsigned servers = 2, const NicSpec& spec = {}) {
    LinkSpec pcie = pcie_defaults();
    pcie.latency_ns = 300;
    pcie.max_payload_bytes = 256;
    const ClusterWiring wiring{servers, 1, pcie, network_defaults()};
    conductor =
        std::make_unique<Conductor>("conductor", ConductorSpec{.threads = 1}, 100 * kNanosecond);
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
  // Its program joins so late.
  void on(unsigned index, Program program, uint64_t late_ns = 0) {
    const unsigned servers = static_cast<unsigned>(server.size());
    raw(index, [index, servers, program, late_ns](HostCore& core) {
      core.charge_ns(late_ns);
      Verbs verbs(core, index, servers);
      program(verbs);
    });
  }
  void raw(unsigned index, HostCore::Program program) {
    server[index]->host.add_program("program" + std::to_string(index), program);
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

TEST_CASE("servers that join at different times find each other") {
  Bench bench(3);
  for (unsigned i = 0; i < 3; ++i) {
    bench.on(
        i,
        [i](Verbs& verbs) {
          verbs.post((i + 1) % 3, verbs.flag((i + 1) % 3, 7 + i));
          CHECK(verbs.wait().status == STRETTO_NIC_OK);
          Verbs::must(stretto_cluster_barrier(&verbs.cluster));
          CHECK(verbs.core.load(kFlag) == 7 + (i + 2) % 3);
        },
        100'000 * i);
  }
  bench.run();
  CHECK(bench.violated() == kNone);
}

TEST_CASE(
    "eight servers that join at once find each other: each says more than a block of datagrams") {
  Bench bench(8);
  for (unsigned i = 0; i < 8; ++i) bench.on(i, [](Verbs&) {});
  bench.run();
  for (const auto& each : bench.server) {
    CHECK(each->nic.counters().begun == each->nic.counters().ended);
    CHECK(each->nic.counters().not_ready == 0);
  }
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a server joins though its first packet is lost") {
  NicSpec spec;
  spec.fault_lose_packet = 1;
  Bench bench(2, spec);
  for (unsigned i = 0; i < 2; ++i)
    bench.on(
        i, [](Verbs&) {}, 10'000 * i);
  bench.run();
  CHECK(bench.server[1]->nic.counters().packets_lost == 1);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("nobody passes a barrier before the last has come") {
  Bench bench(4);
  Time first = ~Time{0};
  for (unsigned i = 0; i < 4; ++i) {
    bench.on(i, [i, &first](Verbs& verbs) {
      if (i == 2) verbs.core.charge_ns(500'000);
      const Time came = verbs.core.now();
      Verbs::must(stretto_cluster_barrier(&verbs.cluster));
      if (i == 2) {
        CHECK(first > came);
      } else {
        first = std::min(first, verbs.core.now());
      }
    });
  }
  bench.run();
}

TEST_CASE("a server that does not come to a barrier any more is named") {
  NicSpec spec;
  spec.fault_down_at_ns = 400'000;
  Bench bench(2, spec);
  bench.on(1, [](Verbs&) {});
  bench.on(0, [](Verbs& verbs) {
    verbs.core.charge_ns(500'000);
    CHECK(stretto_cluster_barrier(&verbs.cluster) == STRETTO_NIC_RESULT_FAILED);
    CHECK(std::string(verbs.cluster.error) ==
          "cluster: barrier 2: server 1: the peer does not answer");
  });
  bench.run();
}

TEST_CASE("a server that never joins is named") {
  Bench bench(3);
  for (const unsigned i : {0u, 2u}) {
    bench.raw(i, [i](HostCore& core) {
      const stretto_host_ops_t ops = ops_of(core);
      stretto_cluster_t cluster;
      const stretto_cluster_options_t options = {
          &ops, i, 3, kHost + kCluster, test::address_in(i, kHeap), kBytes};
      CHECK(stretto_cluster_join(&cluster, &options) == STRETTO_NIC_RESULT_FAILED);
      CHECK(std::string(cluster.error) == "cluster: server 1 does not join");
    });
  }
  bench.run();
}

TEST_CASE("a cluster of one server, or of which this one is none, is refused") {
  Bench bench;
  bench.raw(0, [](HostCore& core) {
    const stretto_host_ops_t ops = ops_of(core);
    stretto_cluster_t cluster;
    stretto_cluster_options_t options = {&ops,  0, 1, kHost + kCluster, test::address_in(0, kHeap),
                                         kBytes};
    CHECK(stretto_cluster_join(&cluster, &options) == STRETTO_NIC_RESULT_ARGUMENT);
    options.servers = 33;
    CHECK(stretto_cluster_join(&cluster, &options) == STRETTO_NIC_RESULT_ARGUMENT);
    options.servers = options.server = 2;
    CHECK(stretto_cluster_join(&cluster, &options) == STRETTO_NIC_RESULT_ARGUMENT);
    CHECK(std::string(cluster.error) == "cluster: 2 to 32 servers, and a server of them");
    options = {&ops, 0, 2, kHost + kCluster, test::address_in(0, kHeap), 0};
    CHECK(stretto_cluster_join(&cluster, &options) == STRETTO_NIC_RESULT_ARGUMENT);
  });
  bench.run();
}

}  // namespace
}  // namespace stretto
