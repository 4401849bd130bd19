// SPDX-License-Identifier: Apache-2.0
// Question: does host memory execute PCIe AtomicOps of GPUs behind a switch once, each at one time,
// and answer with what was there? Operations x 4 and 8 bytes; one alone (its time and wire bytes in
// closed form), many of three GPUs at once on one word; among posted writes; a program that waits for
// the word. PCIe: 16 GB/s, 300 ns, headers of 24 and 20 B; the switch 150 ns.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "models/fabric/switch.h"
#include "models/host/host.h"
#include "tests/support/atomic_rows.h"
#include "tests/unit/fabric/link_bench.h"

namespace stretto {
namespace {

using test::Gpu;
using test::kAtomicRows;
using test::kAtomicWas;

constexpr uint64_t kHostBase = uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT;
constexpr uint64_t kWord = kHostBase + 0x4000;

LinkSpec pcie() {
  LinkSpec link;
  link.bandwidth_mb_s = 16'000;
  link.latency_ns = 300;
  link.credit_bytes = 65'536;
  link.header_bytes = 24;
  link.max_payload_bytes = 128;
  link.completion_header_bytes = 20;
  link.max_read_request_bytes = 512;
  return link;
}

struct Bench {
  explicit Bench(LinkSpec link = pcie()) {
    constexpr unsigned kGpus = 3;
    conductor = std::make_unique<Conductor>("conductor", ConductorSpec{}, 300 * kNanosecond);
    for (unsigned i = 0; i < kGpus; ++i)
      gpu.push_back(std::make_unique<Gpu>(("gpu" + std::to_string(i)).c_str(), *conductor, i,
                                          pcie_switched(i, kGpus, link)));
    partition = std::make_unique<Partition>("switch", *conductor, kSwitchNode);
    crossbar = std::make_unique<Switch>("crossbar", SwitchSpec{}, switch_of(kGpus, link, true),
                                        *partition);
    partition->add("crossbar", *crossbar);
    host = std::make_unique<Host>("host", HostSpec{}, host_switched(kGpus, link), *conductor);
  }
  // Until the program on the host has ended.
  void run(const HostCore::Program& program) {
    host->add_program("rank0", program);
    REQUIRE(conductor->run() == Conductor::Outcome::finished);
  }
  void run() {
    run([](HostCore& core) { core.charge_ns(50'000); });
  }
  void send(unsigned from, AtomicOp op, uint64_t address, std::vector<uint8_t>& data, Time at = 0,
            uint64_t compare = 0) {
    PooledPayload& payload = gpu[from]->first.make(Operation::atomic, address, data);
    payload.extension.atomic_op = op;
    payload.extension.compare = compare;
    gpu[from]->first.send(payload, at);
  }
  uint64_t word(uint64_t address = kWord) {
    uint64_t value = 0;
    host->memory().read(address & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&value), 8);
    return value;
  }
  void set(uint64_t value, uint64_t address = kWord) {
    host->memory().write(address & STRETTO_OFFSET_MASK, reinterpret_cast<const uint8_t*>(&value),
                         8);
  }
  std::vector<std::string> violated() {
    AuditSink sink;
    for (auto& each : gpu) each->partition.audit(sink);
    partition->audit(sink);
    host->audit(sink);
    audit_pcie(*host, *crossbar, sink);
    std::vector<std::string> names;
    for (const AuditResult& result : sink.all())
      if (!result.holds) names.push_back(result.law);
    return names;
  }

  std::unique_ptr<Conductor> conductor;
  std::vector<std::unique_ptr<Gpu>> gpu;
  std::unique_ptr<Partition> partition;
  std::unique_ptr<Switch> crossbar;
  std::unique_ptr<Host> host;
};

std::vector<uint8_t> bytes_of(uint64_t value, unsigned bytes = 8) {
  std::vector<uint8_t> data(bytes);
  std::memcpy(data.data(), &value, bytes);
  return data;
}
uint64_t value_of(const std::vector<uint8_t>& data) {
  uint64_t value = 0;
  std::memcpy(&value, data.data(), data.size());
  return value;
}

TEST_CASE("host memory executes FetchAdd, Swap and CAS on 4 and 8 bytes") {
  Bench bench;
  std::vector<std::vector<uint8_t>> data;
  for (const auto& row : kAtomicRows) data.push_back(bytes_of(row.operand, row.bytes));
  for (size_t i = 0; i < data.size(); ++i) {
    bench.set(kAtomicWas, kWord + 8 * i);
    bench.send(0, kAtomicRows[i].op, kWord + 8 * i, data[i], 0, kAtomicRows[i].compare);
  }
  bench.run();
  for (size_t i = 0; i < data.size(); ++i) {
    INFO("row " << i);
    CHECK(value_of(data[i]) == kAtomicRows[i].found);
    CHECK(bench.word(kWord + 8 * i) == kAtomicRows[i].left);
  }
  CHECK(bench.violated().empty());
}

TEST_CASE("an atomic on host memory takes both ways, the switch and the host's time") {
  Bench bench;
  std::vector<uint8_t> one = bytes_of(1);
  bench.send(0, AtomicOp::add, kWord, one);
  bench.run();
  // 32 B are 2 ns on each of two wires, 28 B 1.75. The answer leaves at the first edge of 1 ns behind
  // read_ns (90).
  const Time path = (300 + 150 + 300) * kNanosecond;
  const Time leaves = 4 * kNanosecond + path + 91 * kNanosecond;
  CHECK(bench.gpu[0]->first.answered == std::vector<Time>{leaves + 2 * 1'750 * kPicosecond + path});
  CHECK(bench.gpu[0]->router.port(0).wire().bytes() == 32);
  CHECK(bench.crossbar->wire(0).bytes() == 28);
  CHECK(bench.violated().empty());
}

TEST_CASE("adds of three GPUs to one word of the host all count, and each finds another value") {
  Bench bench;
  constexpr unsigned kEach = 50;
  std::vector<std::vector<uint8_t>> data(3 * kEach, bytes_of(5));
  for (unsigned i = 0; i < data.size(); ++i)
    bench.send(i % 3, AtomicOp::add, kWord, data[i], i / 3 * kNanosecond);
  bench.run();
  CHECK(bench.word() == 5 * data.size());
  std::vector<uint64_t> found;
  for (const auto& each : data) found.push_back(value_of(each));
  std::sort(found.begin(), found.end());
  for (size_t i = 0; i < found.size(); ++i) CHECK(found[i] == 5 * i);
  // Of the host's wire: 24 + 8 in, 20 + 8 out.
  CHECK(bench.crossbar->wire(3).bytes() == 32 * data.size());
  CHECK(bench.violated().empty());
}

TEST_CASE("an atomic on host memory is behind the writes of its GPU, and a program sees both") {
  Bench bench;
  std::vector<uint8_t> payload(4'096, 9), one = bytes_of(1);
  bench.gpu[1]->first.send(bench.gpu[1]->first.make(Operation::write, kHostBase + 0x8000, payload));
  bench.send(1, AtomicOp::add, kWord, one);
  std::vector<uint8_t> seen(payload.size());
  bench.run([&](HostCore& core) {
    CHECK(core.wait_word(kWord, HostCore::Condition::at_least, 1) == 1);
    core.peek(kHostBase + 0x8000, seen.data(), seen.size());
    core.charge_ns(20'000);
  });
  CHECK(seen == payload);
  CHECK(bench.violated().empty());
}

TEST_CASE("an atomic that the host executes twice breaks its law") {
  LinkSpec link = pcie();
  link.fault_repeat_atomic = 2;
  Bench bench(link);
  std::vector<std::vector<uint8_t>> data(3, bytes_of(1));
  for (auto& each : data) bench.send(0, AtomicOp::add, kWord, each);
  bench.run();
  CHECK(bench.word() == 4);
  CHECK(bench.violated() == std::vector<std::string>{"atomics received = executed"});
}

TEST_CASE("an atomic that the host answers and does not write is seen in its word alone") {
  LinkSpec link = pcie();
  link.fault_lose_atomic = 2;
  Bench bench(link);
  std::vector<std::vector<uint8_t>> data(3, bytes_of(1));
  for (auto& each : data) bench.send(0, AtomicOp::add, kWord, each);
  bench.run();
  CHECK(bench.word() == 2);
  CHECK(bench.violated().empty());
}

}  // namespace
}  // namespace stretto
