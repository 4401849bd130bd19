// SPDX-License-Identifier: Apache-2.0
// Question: do PCIe AtomicOps (PCI Express Base Specification 4.0: 2.2.7, 2.2.9, 6.15) cross links as
// it says? Operations {FetchAdd, Swap, CAS that finds, CAS that does not} x operands of 4 and 8 bytes;
// where they end: a completer, none, one that refuses. What is executed is what was asked for, once,
// and its answer goes to who asked, behind posted writes before it. A TLP is header and operands, two
// of them for a CAS; its completion header and the old value. The completer of the bench computes by
// arithmetic of its own.
#include <catch2/catch.hpp>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/fabric/switch.h"
#include "tests/support/atomic_rows.h"
#include "tests/support/seeded_rng.h"
#include "tests/unit/common/in_child.h"
#include "tests/unit/fabric/link_bench.h"

namespace stretto {
namespace {

using test::address_in;
using test::Completer;
using test::Gpu;
using test::kAtomicRows;
using test::kAtomicWas;
using test::pattern;
using test::Requester;
using test::Rng;

// 16 B a nanosecond.
LinkSpec pcie() {
  LinkSpec link;
  link.bandwidth_mb_s = 16'000;
  link.latency_ns = 300;
  link.credit_bytes = 65'536;
  link.header_bytes = 24;
  link.max_payload_bytes = 128;
  link.completion_header_bytes = 20;
  link.max_read_request_bytes = 512;
  link.read_tags = 16;
  return link;
}

enum class Wires { direct, over_switch };

struct Bench {
  explicit Bench(unsigned gpus = 2, LinkSpec link = pcie(), Wires wires = Wires::direct,
                 ConductorSpec sim = {}, bool executes = true) {
    conductor = std::make_unique<Conductor>("conductor", sim, link.latency_ns * kNanosecond);
    for (unsigned i = 0; i < gpus; ++i) {
      gpu.push_back(std::make_unique<Gpu>(("gpu" + std::to_string(i)).c_str(), *conductor, i,
                                          wires == Wires::direct
                                              ? fully_connected(i, gpus, link, pcie_defaults())
                                              : pcie_switched(i, gpus, link),
                                          executes));
    }
    if (wires == Wires::direct) return;
    partition = std::make_unique<Partition>("switch", *conductor, kSwitchNode);
    crossbar = std::make_unique<Switch>("crossbar", SwitchSpec{}, switch_of(gpus, link, false),
                                        *partition);
    partition->add("crossbar", *crossbar);
  }
  void run() { REQUIRE(conductor->run() == Conductor::Outcome::quiet); }
  std::vector<std::string> violated() {
    AuditSink sink;
    for (auto& each : gpu) each->partition.audit(sink);
    if (partition != nullptr) partition->audit(sink);
    std::vector<std::string> names;
    for (const AuditResult& result : sink.all())
      if (!result.holds) names.push_back(result.law);
    return names;
  }
  void set(unsigned at, uint64_t offset, uint64_t value) {
    gpu[at]->memory.image.write(offset, reinterpret_cast<const uint8_t*>(&value), 8);
  }
  uint64_t word(unsigned at, uint64_t offset) {
    uint64_t value = 0;
    gpu[at]->memory.image.read(offset, reinterpret_cast<uint8_t*>(&value), 8);
    return value;
  }

  std::unique_ptr<Conductor> conductor;
  std::vector<std::unique_ptr<Gpu>> gpu;
  std::unique_ptr<Partition> partition;
  std::unique_ptr<Switch> crossbar;
};

// One atomic; its value lives as long as it.
struct Atomic {
  Atomic(AtomicOp of, uint64_t operand, unsigned bytes = 8, uint64_t compared = 0)
      : op(of), compare(compared), data(bytes) {
    std::memcpy(data.data(), &operand, bytes);
  }
  void send(Requester& by, uint64_t address, Time at = 0) {
    PooledPayload& payload = by.make(Operation::atomic, address, data);
    payload.extension.atomic_op = op;
    payload.extension.compare = compare;
    by.send(payload, at);
  }
  uint64_t value() const {
    uint64_t word = 0;
    std::memcpy(&word, data.data(), data.size());
    return word;
  }
  AtomicOp op;
  uint64_t compare;
  std::vector<uint8_t> data;  // The operand, then what was there.
};

constexpr Time kCompleter = 100 * kNanosecond;
constexpr auto kOk = tlm::TLM_OK_RESPONSE;

TEST_CASE("atomics bring back what was there and leave what they say, in their bytes alone") {
  Bench bench;
  Requester& requester = bench.gpu[0]->first;
  std::vector<std::unique_ptr<Atomic>> atomics;
  for (const auto& row : kAtomicRows) {
    const uint64_t offset = 0x1000 + 8 * atomics.size();
    bench.set(1, offset, kAtomicWas);
    atomics.push_back(std::make_unique<Atomic>(row.op, row.operand, row.bytes, row.compare));
    atomics.back()->send(requester, address_in(1, offset));
  }
  bench.run();
  for (size_t i = 0; i < atomics.size(); ++i) {
    INFO("row " << i);
    CHECK(atomics[i]->value() == kAtomicRows[i].found);
    CHECK(bench.word(1, 0x1000 + 8 * i) == kAtomicRows[i].left);
  }
  CHECK(requester.status == std::vector<tlm::tlm_response_status>(atomics.size(), kOk));
  CHECK(bench.gpu[1]->completer.log.size() == atomics.size());
  const StrettoExtension& as = bench.gpu[1]->completer.log[0].extension;
  CHECK(as.engine == Engine::link);
  CHECK(as.scope == Scope::system);
  CHECK(as.stream == Stream::communication);
  CHECK(bench.violated().empty());
}

// Wire bytes and time of one on an idle link.
void expect_alone(AtomicOp op, unsigned bytes, uint64_t request, uint64_t answer) {
  Bench bench;
  Atomic one(op, 1, bytes);
  one.send(bench.gpu[0]->first, address_in(1, 0));
  bench.run();
  CHECK(bench.gpu[0]->router.port(0).wire().bytes() == request);
  CHECK(bench.gpu[1]->router.port(0).wire().bytes() == answer);
  const Time wires = (request + answer) * 1000 / 16 * kPicosecond;
  CHECK(bench.gpu[0]->first.answered ==
        std::vector<Time>{wires + 2 * 300 * kNanosecond + kCompleter});
}
TEST_CASE("FetchAdd of 8 bytes: 24 + 8 there, 20 + 8 back") {
  expect_alone(AtomicOp::add, 8, 32, 28);
}
TEST_CASE("Swap of 4 bytes: 24 + 4 there, 20 + 4 back") { expect_alone(AtomicOp::swap, 4, 28, 24); }
TEST_CASE("CAS of 8 bytes: 24 + 16 there, 20 + 8 back") {
  expect_alone(AtomicOp::compare_swap, 8, 40, 28);
}
TEST_CASE("CAS of 4 bytes: 24 + 8 there, 20 + 4 back") {
  expect_alone(AtomicOp::compare_swap, 4, 32, 24);
}

TEST_CASE("an atomic over a switch takes both ways, each TLP twice on a wire") {
  Bench bench(2, pcie(), Wires::over_switch);
  Atomic one(AtomicOp::compare_swap, 1);
  one.send(bench.gpu[0]->first, address_in(1, 0));
  bench.run();
  // 40 B are 2.5 ns, 28 B 1.75; the switch has 150 ns.
  const Time path = (300 + 150 + 300) * kNanosecond;
  CHECK(bench.gpu[0]->first.answered ==
        std::vector<Time>{2 * (2'500 + 1'750) * kPicosecond + 2 * path + kCompleter});
  CHECK(bench.crossbar->wire(1).bytes() == 40);
  CHECK(bench.crossbar->wire(0).bytes() == 28);
  CHECK(bench.violated().empty());
}

TEST_CASE("an atomic is executed when the writes before it are written, not only issued") {
  LinkSpec link = pcie();
  link.credit_bytes = 131'072;  // Of both: credit holds nobody back.
  Bench bench(2, link);
  std::vector<uint8_t> data = pattern(65'536);
  Gpu& sender = *bench.gpu[0];
  sender.first.send(sender.first.make(Operation::write, address_in(1, 0x10000), data));
  Atomic one(AtomicOp::add, 1), two(AtomicOp::compare_swap, 2);
  one.send(sender.first, address_in(1, 0));
  two.send(sender.first, address_in(1, 8));
  bench.run();
  REQUIRE(bench.gpu[1]->completer.log.size() == 2);
  // The memory takes 65.5 and 100 ns; the TLPs of the atomics are 2 and 4.5 ns behind the last byte.
  for (const Completer::Executed& each : bench.gpu[1]->completer.log)
    CHECK(each.at >= bench.gpu[1]->memory.log[0].at);
  CHECK(bench.violated().empty());
}

TEST_CASE("a flag waits for writes before an atomic, and not for the atomic's answer") {
  Bench bench;
  std::vector<uint8_t> flag(8, 1);
  Gpu& sender = *bench.gpu[0];
  Atomic one(AtomicOp::add, 1);
  one.send(sender.first, address_in(1, 0));
  sender.first.send(sender.first.make(Operation::write, address_in(1, 0x100), flag));
  bench.run();
  CHECK(bench.gpu[1]->memory.log[0].at < bench.gpu[0]->first.answered.back());
}

TEST_CASE("atomics beyond the tags wait, and each is executed once") {
  LinkSpec link = pcie();
  link.read_tags = 2;
  Bench bench(2, link);
  std::vector<std::unique_ptr<Atomic>> atomics;
  for (unsigned i = 0; i < 7; ++i) {
    atomics.push_back(std::make_unique<Atomic>(AtomicOp::add, 1));
    atomics.back()->send(bench.gpu[0]->first, address_in(1, 0));
  }
  bench.run();
  CHECK(bench.gpu[0]->router.port(0).counters().tags_high_water == 2);
  for (unsigned i = 0; i < 7; ++i) CHECK(atomics[i]->value() == i);
  CHECK(bench.word(1, 0) == 7);
  CHECK(bench.violated().empty());
}

TEST_CASE("what is no AtomicOp is refused before it is sent") {
  Bench bench(4);
  Requester& requester = bench.gpu[0]->first;
  Atomic other(AtomicOp::xor_, 1), two(AtomicOp::add, 1, 2), beside(AtomicOp::add, 1),
      host(AtomicOp::add, 1), own(AtomicOp::add, 1);
  other.send(requester, address_in(1, 0));
  two.send(requester, address_in(1, 0));
  beside.send(requester, address_in(1, 4));
  host.send(requester, uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT);
  own.send(requester, address_in(0, 0));
  bench.run();
  CHECK(requester.status == std::vector<tlm::tlm_response_status>{
                                tlm::TLM_COMMAND_ERROR_RESPONSE, tlm::TLM_BURST_ERROR_RESPONSE,
                                tlm::TLM_ADDRESS_ERROR_RESPONSE, tlm::TLM_COMMAND_ERROR_RESPONSE,
                                tlm::TLM_ADDRESS_ERROR_RESPONSE});
  CHECK(bench.gpu[0]->router.bytes_sent() == 0);
}

// The requester keeps its operand.
void expect_refused(Bench& bench, uint64_t offset) {
  Atomic one(AtomicOp::add, 5);
  one.send(bench.gpu[0]->first, address_in(1, offset));
  bench.run();
  CHECK(bench.gpu[0]->first.status ==
        std::vector<tlm::tlm_response_status>{tlm::TLM_GENERIC_ERROR_RESPONSE});
  CHECK(one.value() == 5);
  CHECK(bench.word(1, offset) == 0);
  CHECK(bench.gpu[1]->router.port(0).counters().atomics_refused == 1);
  CHECK(bench.violated().empty());
}
TEST_CASE("a node that executes no atomics answers with an error") {
  Bench bench(2, pcie(), Wires::direct, {}, false);
  expect_refused(bench, 0);
}
TEST_CASE("an atomic for an aperture is answered with an error") {
  Bench bench;
  expect_refused(bench, STRETTO_DOORBELL_APERTURE);
  CHECK(bench.gpu[1]->bells.rung.empty());
}
TEST_CASE("an atomic that the completer refuses is answered with an error") {
  Bench bench;
  bench.gpu[1]->completer.refuses = true;
  expect_refused(bench, 0);
}
TEST_CASE("an atomic that fails at the completer is answered with an error") {
  Bench bench;
  bench.gpu[1]->completer.answers_error = true;
  expect_refused(bench, 0);
}

// Random atomics of four GPUs on few words, among writes and reads of others. `seen`: each requester's
// operands (all distinct) and what came back.
struct Traffic {
  static constexpr unsigned kWords = 3;
  Bench bench;
  std::vector<std::unique_ptr<Atomic>> atomics;
  std::vector<uint64_t> operands;
  std::vector<std::vector<uint8_t>> moved;

  Traffic(uint64_t seed, unsigned count, Wires wires, ConductorSpec sim = {})
      : bench(4, pcie(), wires, sim) {
    Rng rng(seed, 0);
    moved.resize(count);
    for (unsigned i = 0; i < count; ++i) {
      const auto from = static_cast<unsigned>(rng.below(4));
      const unsigned to = (from + 1 + static_cast<unsigned>(rng.below(3))) % 4;
      const Time at = rng.below(2'000) * kNanosecond;
      Gpu& sender = *bench.gpu[from];
      if (rng.below(3) == 0) {
        moved[i].resize(64 + rng.below(4'000));
        const Operation what = rng.below(2) == 0 ? Operation::write : Operation::read;
        sender.second.send(sender.second.make(what, address_in(to, 0x10000 + 0x2000 * i), moved[i]),
                           at);
        continue;
      }
      const AtomicOp ops[] = {AtomicOp::add, AtomicOp::swap, AtomicOp::compare_swap};
      operands.push_back((uint64_t{i} + 1) << 32 | i);
      // What another one has left, now and then.
      const uint64_t compare = operands[rng.below(operands.size())];
      atomics.push_back(std::make_unique<Atomic>(ops[rng.below(3)], operands.back(), 8, compare));
      atomics.back()->send(sender.first, address_in(to, 8 * rng.below(kWords)), at);
    }
    bench.run();
  }
};

void expect_once(Wires wires) {
  test::print_seed();
  const unsigned count = 600;
  Traffic traffic(test::seed(), count, wires);
  std::map<uint64_t, uint64_t> found;  // By operand.
  std::map<uint64_t, uint64_t> words;  // The reference: operations in the order of their execution.
  for (const auto& gpu : traffic.bench.gpu) {
    for (const Completer::Executed& one : gpu->completer.log) {
      CHECK(found.count(one.operand) == 0);
      found[one.operand] = words[one.address];
      uint64_t& word = words[one.address];
      switch (one.extension.atomic_op) {
        case AtomicOp::add: word += one.operand; break;
        case AtomicOp::swap: word = one.operand; break;
        default:
          if (word == one.extension.compare) word = one.operand;
      }
    }
  }
  REQUIRE(found.size() == traffic.atomics.size());
  for (size_t i = 0; i < traffic.atomics.size(); ++i)
    CHECK(traffic.atomics[i]->value() == found.at(traffic.operands[i]));
  for (const auto& [address, value] : words)
    CHECK(traffic.bench.word(static_cast<unsigned>(address >> STRETTO_NODE_SHIFT) - 1,
                             address & STRETTO_OFFSET_MASK) == value);
  CHECK(traffic.bench.violated().empty());
}
TEST_CASE("random atomics are executed once and answered to who asked") {
  expect_once(Wires::direct);
}
TEST_CASE("random atomics over a switch are executed once and answered to who asked") {
  expect_once(Wires::over_switch);
}

std::string digests(const ConductorSpec& sim) {
  return test::in_child([&] {
    Traffic traffic(7, 300, Wires::over_switch, sim);
    std::string all;
    for (auto& gpu : traffic.bench.gpu) all += gpu->partition.digest().hex();
    for (const auto& one : traffic.atomics) all += " " + std::to_string(one->value());
    return all;
  });
}
TEST_CASE("atomics are the same for any window and any number of threads") {
  ConductorSpec sim;
  sim.threads = 1;
  const std::string expected = digests(sim);
  CHECK(expected.size() > 4 * 64);
  sim.window_ns = 33;
  CHECK(digests(sim) == expected);
  sim.window_ns = 0;
  sim.threads = 2;
  CHECK(digests(sim) == expected);
}

TEST_CASE("atomics that change nothing and find what the last one found are polls") {
  Bench bench;
  bench.set(1, 0, 3);
  std::vector<std::unique_ptr<Atomic>> atomics;
  const auto ask = [&](AtomicOp op, uint64_t operand, uint64_t compare = 0) {
    atomics.push_back(std::make_unique<Atomic>(op, operand, 8, compare));
    atomics.back()->send(bench.gpu[0]->first, address_in(1, 0),
                         atomics.size() * 2'000 * kNanosecond);
  };
  ask(AtomicOp::add, 0);              // News: nobody has asked before.
  ask(AtomicOp::add, 0);              // A poll,
  ask(AtomicOp::swap, 3);             // and another,
  ask(AtomicOp::compare_swap, 9, 4);  // and another.
  ask(AtomicOp::add, 1);
  ask(AtomicOp::add, 0);  // Finds something new.
  bench.run();
  const PartitionServices& services = bench.gpu[0]->partition.services();
  CHECK(services.polls == 3);
  CHECK(services.progress - services.moved == 3);
}

TEST_CASE("an answer to an atomic that is lost is told, and breaks its law") {
  LinkSpec link = pcie();
  link.fault_lose_completion = 2;
  Bench bench(2, link);
  Atomic first(AtomicOp::add, 1), second(AtomicOp::add, 1);
  first.send(bench.gpu[0]->first, address_in(1, 0));
  second.send(bench.gpu[0]->first, address_in(1, 0));
  CHECK_THROWS_WITH(
      bench.conductor->run(),
      Catch::Contains("gpu0.router: port0 to node 2: 1 atomics wait for their answer"));
  CHECK(bench.violated() == std::vector<std::string>{"atomics sent = answered"});
}

TEST_CASE("faults execute an atomic twice, or answer it and leave the word as it was") {
  LinkSpec link = pcie();
  link.fault_lose_atomic = 2;
  link.fault_repeat_atomic = 3;
  Bench bench(2, link);
  std::vector<std::unique_ptr<Atomic>> atomics;
  for (unsigned i = 0; i < 4; ++i) {
    atomics.push_back(std::make_unique<Atomic>(AtomicOp::add, 10));
    atomics.back()->send(bench.gpu[0]->first, address_in(1, 0));
  }
  bench.run();
  const uint64_t found[] = {0, 10, 20, 30};
  for (unsigned i = 0; i < 4; ++i) CHECK(atomics[i]->value() == found[i]);
  CHECK(bench.word(1, 0) == 40);
  CHECK(bench.gpu[1]->completer.log.size() == 5);
}

}  // namespace
}  // namespace stretto
