// SPDX-License-Identifier: Apache-2.0
// Servers for tests of the NIC: a memory (a GPU of the fabric's tests), whose requester plays the
// software, and a NIC on a PCIe link of its own; two of them back to back, or more on a switch.
// Server i: memory node i + 1, NIC 0xA0 + i.
#ifndef STRETTO_TESTS_UNIT_NIC_NIC_BENCH_H_
#define STRETTO_TESTS_UNIT_NIC_NIC_BENCH_H_

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/common/error.h"
#include "models/fabric/switch.h"
#include "models/nic/nic.h"
#include "sw/include/formats/nic.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/nic_regs.h"
#include "tests/unit/fabric/link_bench.h"

namespace stretto::test {

inline LinkSpec nic_pcie(uint32_t latency_ns = 300) {
  LinkSpec link;
  link.bandwidth_mb_s = 16'000;
  link.latency_ns = latency_ns;
  link.credit_bytes = 65'536;
  link.egress_bytes = 16'384;
  link.header_bytes = 24;
  link.max_payload_bytes = 256;
  link.completion_header_bytes = 20;
  link.max_read_request_bytes = 512;
  link.read_tags = 256;
  return link;
}

// Where things lie in each server.
inline constexpr uint64_t kSendRing = 0x1000, kReceiveRing = 0x3000, kCompletions = 0x5000,
                          kResults = 0x7000, kReleases = 0x8000, kSource = 0x100000,
                          kTarget = 0x1000000;
inline constexpr uint64_t kHeapBytes = 0x800000;  // Of source and of target.
inline constexpr uint32_t kRingEntries = 64;
// Regions of each server: one to read from, one for others, one for results.
inline constexpr uint32_t kSourceRegion = 1, kTargetRegion = 2, kResultRegion = 3;
inline constexpr uint16_t kPair = 5;  // Queue pair to the other server.

class Server final : public sc_core::sc_module {
 public:
  Server(sc_core::sc_module_name name, Conductor& conductor, unsigned index, const NicSpec& spec,
         const PortSpec& network, const LinkSpec& pcie)
      : sc_module(name),
        index(index),
        gpu("gpu", conductor, index, memory_wiring(index, pcie)),
        partition("partition", conductor, nic_node(index)),
        router("router", nic_wiring(index, pcie), 1, partition),
        nic("nic", spec, network, 1, partition) {
    const EventQueue& queue = partition.queue();
    connect_checked(nic.bus.socket, router.egress[0], queue);
    connect_checked(router.doorbell, nic.aperture, queue);
    connect_checked(router.memory, nic.nothing, queue);
    partition.add("router", router);
    partition.add("nic", nic);
  }
  static uint8_t nic_node(unsigned index) { return static_cast<uint8_t>(STRETTO_NODE_NIC + index); }
  static RouterSpec memory_wiring(unsigned index, const LinkSpec& pcie) {
    return {{{nic_node(index), 0, pcie}}, {{nic_node(index), 0}}};
  }
  static RouterSpec nic_wiring(unsigned index, const LinkSpec& pcie) {
    const uint8_t memory = static_cast<uint8_t>(index + 1);
    return {{{memory, 0, pcie}}, {{memory, 0}}};
  }

  uint64_t at(uint64_t offset) const { return address_in(index, offset); }

  // Software: posted writes to the NIC.
  void post(uint64_t offset, uint64_t value, Time when = 0) {
    words_.push_back(std::make_unique<std::vector<uint8_t>>(8));
    std::memcpy(words_.back()->data(), &value, 8);
    gpu.first.send(
        gpu.first.make(Operation::write, uint64_t{nic_node(index)} << STRETTO_NODE_SHIFT | offset,
                       *words_.back()),
        when);
  }
  void set(uint64_t offset, uint64_t value, Time when = 0) {
    post(STRETTO_NIC_REGISTERS + offset, value, when);
  }
  void region(uint32_t number, uint64_t base, uint64_t bytes, uint64_t access,
              uint64_t generation = 0, Time when = 0) {
    set(NIC_REGION_BASE_OFFSET_AT(number), base, when);
    set(NIC_REGION_BYTES_OFFSET_AT(number), bytes, when);
    set(NIC_REGION_CONFIG_OFFSET_AT(number),
        NIC_REGION_CONFIG_VALID_MASK | STRETTO_FIELD(NIC_REGION_CONFIG_ACCESS, access) |
            STRETTO_FIELD(NIC_REGION_CONFIG_GENERATION, generation),
        when);
  }
  void end_region(uint32_t number, Time when) { set(NIC_REGION_CONFIG_OFFSET_AT(number), 0, when); }
  void completion_queue(uint64_t entries_log2 = 6) {
    set(NIC_COMPLETION_BASE_OFFSET_AT(0), at(kCompletions));
    set(NIC_COMPLETION_CONFIG_OFFSET_AT(0),
        NIC_COMPLETION_CONFIG_VALID_MASK |
            STRETTO_FIELD(NIC_COMPLETION_CONFIG_ENTRIES_LOG2, entries_log2));
  }
  // All pairs of a server share the completion queue; rings lie one behind the other.
  void pair(unsigned peer_server, uint16_t number = kPair, uint16_t peer = kPair,
            uint64_t page = 0) {
    set(NIC_PAIR_SEND_BASE_OFFSET_AT(number), at(kSendRing));
    set(NIC_PAIR_RECEIVE_BASE_OFFSET_AT(number), at(kReceiveRing));
    set(NIC_PAIR_PEER_OFFSET_AT(number),
        STRETTO_FIELD(NIC_PAIR_PEER_QUEUE_PAIR, peer) |
            STRETTO_FIELD(NIC_PAIR_PEER_NODE, nic_node(peer_server)));
    set(NIC_PAIR_CONFIG_OFFSET_AT(number),
        NIC_PAIR_CONFIG_VALID_MASK | STRETTO_FIELD(NIC_PAIR_CONFIG_SEND_ENTRIES_LOG2, 6) |
            STRETTO_FIELD(NIC_PAIR_CONFIG_RECEIVE_ENTRIES_LOG2, 6) |
            STRETTO_FIELD(NIC_PAIR_CONFIG_PAGE, page));
  }
  void program(unsigned peer_server) {
    region(kSourceRegion, at(kSource), kHeapBytes, 0);
    region(kTargetRegion, at(kTarget), kHeapBytes,
           STRETTO_NIC_REMOTE_READ | STRETTO_NIC_REMOTE_WRITE | STRETTO_NIC_REMOTE_ATOMIC);
    region(kResultRegion, at(kResults), 0x1000, STRETTO_NIC_LOCAL_WRITE);
    completion_queue();
    pair(peer_server);
  }

  // Puts the entry into the ring and rings the doorbell at `when`.
  void send(const stretto_nic_work_entry_t& entry, Time when, uint16_t number = kPair,
            uint64_t page = 0) {
    enqueue(kSendRing, posted_++, entry);
    post(STRETTO_DOORBELL_APERTURE + page * STRETTO_NIC_PAGE_BYTES,
         stretto_nic_doorbell(STRETTO_NIC_DOORBELL_SEND, number, posted_), when);
  }
  void receive(const stretto_nic_work_entry_t& entry, Time when, uint16_t number = kPair) {
    enqueue(kReceiveRing, receives_++, entry);
    post(STRETTO_DOORBELL_APERTURE,
         stretto_nic_doorbell(STRETTO_NIC_DOORBELL_RECEIVE, number, receives_), when);
  }
  void enqueue(uint64_t ring, uint32_t index, const stretto_nic_work_entry_t& entry) {
    gpu.memory.image.write(ring + index % kRingEntries * sizeof entry,
                           reinterpret_cast<const uint8_t*>(&entry), sizeof entry);
  }

  void fill(uint64_t offset, const std::vector<uint8_t>& bytes) {
    gpu.memory.image.write(offset, bytes.data(), bytes.size());
  }
  std::vector<uint8_t> bytes(uint64_t offset, uint64_t count) {
    std::vector<uint8_t> data(count);
    gpu.memory.image.read(offset, data.data(), count);
    return data;
  }
  uint64_t word(uint64_t offset) {
    uint64_t value = 0;
    gpu.memory.image.read(offset, reinterpret_cast<uint8_t*>(&value), 8);
    return value;
  }
  stretto_nic_completion_t completion(uint32_t index) {
    stretto_nic_completion_t entry;
    gpu.memory.image.read(kCompletions + index * sizeof entry, reinterpret_cast<uint8_t*>(&entry),
                          sizeof entry);
    return entry;
  }
  uint64_t statistic(const std::string& path) const {
    StatisticSink sink;
    partition.report(sink);
    for (const Statistic& one : sink.all())
      if (one.path.ends_with(path)) return one.value;
    throw std::runtime_error("no statistic " + path);
  }
  // When something was written at or behind this offset, in order; `bytes`: of that size, 0 = any.
  std::vector<Time> writes_at(uint64_t from, uint64_t bytes = 0, uint64_t span = 0x1000) const {
    std::vector<Time> times;
    for (const TestMemory::Seen& seen : gpu.memory.log) {
      const uint64_t offset = seen.address & STRETTO_OFFSET_MASK;
      if (seen.extension.operation != Operation::read && offset >= from && offset < from + span &&
          (bytes == 0 || seen.bytes == bytes))
        times.push_back(seen.at);
    }
    return times;
  }

  const unsigned index;
  Gpu gpu;
  Partition partition;
  Router router;
  Nic nic;

 private:
  std::vector<std::unique_ptr<std::vector<uint8_t>>> words_;
  uint32_t posted_ = 0;
  uint32_t receives_ = 0;
};

// A put of `bytes` from the source of `from` to the target of `to`.
inline stretto_nic_work_entry_t put_entry(const Server& from, const Server& to, uint32_t bytes,
                                          uint64_t id = 1, uint64_t offset = 0) {
  stretto_nic_work_entry_t entry{};
  entry.opcode = STRETTO_NIC_PUT;
  entry.flags = STRETTO_NIC_SIGNALED;
  entry.id = id;
  entry.local_address = from.at(kSource + offset);
  entry.remote_address = to.at(kTarget + offset);
  entry.length = bytes;
  entry.local_key = stretto_nic_key(kSourceRegion, 0);
  entry.remote_key = stretto_nic_key(kTargetRegion, 0);
  return entry;
}

// Of an operation whose result lands in the results of `from`.
inline stretto_nic_work_entry_t result_entry(const Server& from, const Server& to, uint8_t opcode,
                                             uint32_t bytes, uint64_t id = 1, uint64_t offset = 0) {
  stretto_nic_work_entry_t entry = put_entry(from, to, bytes, id);
  entry.opcode = opcode;
  entry.local_address = from.at(kResults + offset);
  entry.local_key = stretto_nic_key(kResultRegion, 0);
  return entry;
}

// What changes no result.
struct HostOrder {
  bool last_server_first = false;
  ConductorSpec conductor = {.threads = 1};  // These partitions are too small for more.
};

class NicBench {
 public:
  // Faults of `spec`, and the latency of PCIe, are those of server `faulty` alone; `drop_packet` is
  // one of the switch, which there is from three servers on.
  explicit NicBench(const NicSpec& spec = {}, unsigned servers = 2, unsigned faulty = 1,
                    uint32_t pcie_ns = 300, uint64_t drop_packet = 0, const HostOrder& order = {}) {
    const LinkSpec network = network_defaults();
    conductor =
        std::make_unique<Conductor>("conductor", order.conductor, network.latency_ns * kNanosecond);
    server.resize(servers);
    for (unsigned made = 0; made < servers; ++made) {
      const unsigned i = order.last_server_first ? servers - 1 - made : made;
      const uint8_t peer = servers == 2 ? Server::nic_node(1 - i) : kSwitchNode;
      NicSpec one = spec;
      if (i != faulty) one.fault_lose_packet = one.fault_delay_packet = one.fault_down_at_ns = 0;
      server[i] = std::make_unique<Server>(
          ("server" + std::to_string(i)).c_str(), *conductor, i, one,
          PortSpec{peer, static_cast<uint8_t>(servers == 2 ? 1 : i), network},
          nic_pcie(i == faulty ? pcie_ns : 300));
    }
    if (servers == 2) return;
    RouterSpec ports;
    for (unsigned i = 0; i < servers; ++i) {
      ports.ports.push_back({Server::nic_node(i), 1, network});
      ports.routes.emplace_back(Server::nic_node(i), static_cast<uint8_t>(i));
    }
    switch_partition = std::make_unique<Partition>("switch", *conductor, kSwitchNode);
    SwitchSpec crossbar_spec;
    crossbar_spec.latency_ns = 0;
    crossbar_spec.fault_drop_packet = drop_packet;
    crossbar = std::make_unique<Switch>("crossbar", crossbar_spec, ports, *switch_partition);
    switch_partition->add("crossbar", *crossbar);
  }
  // Two servers, ready to talk to each other at kReady.
  void program() {
    server[0]->program(1);
    server[1]->program(0);
  }
  void run() {
    Conductor::Outcome outcome = Conductor::Outcome::stopped;
    try {
      outcome = conductor->run();
    } catch (const CheckError& error) {
      UNSCOPED_INFO(error.what());
    }
    if (outcome != Conductor::Outcome::quiet) CHECK(violated() == std::vector<std::string>{});
    REQUIRE(outcome == Conductor::Outcome::quiet);
  }
  // Laws that do not hold, each behind the component that breaks it.
  std::vector<std::string> violated() {
    AuditSink sink;
    std::vector<const Nic*> nics;
    for (const auto& each : server) {
      each->gpu.partition.audit(sink);
      each->partition.audit(sink);
      nics.push_back(&each->nic);
    }
    if (switch_partition) switch_partition->audit(sink);
    audit_network(nics, sink);
    std::vector<std::string> names;
    for (const AuditResult& result : sink.all()) {
      if (!result.holds) names.push_back(result.where + ": " + result.law);
    }
    return names;
  }
  Server& operator[](unsigned index) { return *server[index]; }

  std::unique_ptr<Conductor> conductor;
  std::vector<std::unique_ptr<Server>> server;
  std::unique_ptr<Partition> switch_partition;
  std::unique_ptr<Switch> crossbar;
};

inline constexpr Time kReady = 20 * kMicrosecond;  // All is programmed long before.
const std::vector<std::string> kNone;              // Violated laws.

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_NIC_NIC_BENCH_H_
