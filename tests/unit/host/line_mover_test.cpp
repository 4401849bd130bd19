// SPDX-License-Identifier: Apache-2.0
// Question: do processors copy device memory to device memory whole, at the rate that lines under
// way, round trips and the wire leave (GD-SW-04, GD-FUTURE-03)? Two GPUs and a host behind one
// switch. PCIe: 16 GB/s, 600 ns a hop, headers of 24 B, 20 B with data that were read.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "models/fabric/switch.h"
#include "models/host/host.h"
#include "tests/unit/common/in_child.h"
#include "tests/unit/fabric/link_bench.h"

namespace stretto {
namespace {

using test::address_in;
using test::Gpu;
using test::in_child;
using test::pattern;

constexpr uint64_t kFrom = 0x4000, kTo = 0x80000, kFlag = 0x200000;
constexpr uint64_t kHostBase = uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT;

struct Machine {
  HostSpec host;
  LinkSpec pcie = pcie_defaults();
  unsigned threads = 1, window_ns = 0;
  bool reversed = false;
};

struct Bench {
  explicit Bench(const Machine& machine) {
    ConductorSpec sim;
    sim.threads = machine.threads;
    sim.window_ns = machine.window_ns;
    conductor = std::make_unique<Conductor>("conductor", sim, 600 * kNanosecond);
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned g = machine.reversed ? 1 - i : i;
      gpu[g] = std::make_unique<Gpu>(("gpu" + std::to_string(g)).c_str(), *conductor, g,
                                     pcie_switched(g, 2, machine.pcie));
    }
    partition = std::make_unique<Partition>("switch", *conductor, kSwitchNode);
    crossbar = std::make_unique<Switch>("crossbar", SwitchSpec{}, switch_of(2, machine.pcie, true),
                                        *partition);
    partition->add("crossbar", *crossbar);
    host = std::make_unique<Host>("host", machine.host, host_switched(2, machine.pcie), *conductor);
    for (unsigned g = 0; g < 2; ++g) {
      data[g] = pattern(0x40000 + g);
      data[g].erase(data[g].begin(), data[g].begin() + g);
      gpu[g]->memory.image.write(kFrom, data[g].data(), data[g].size());
    }
  }
  std::vector<uint8_t> at(unsigned g, uint64_t bytes) {
    std::vector<uint8_t> got(bytes);
    gpu[g]->memory.image.read(kTo, got.data(), bytes);
    return got;
  }
  bool has_come(unsigned to, uint64_t bytes) {
    return at(to, bytes) == std::vector<uint8_t>(data[1 - to].begin(),
                                                 data[1 - to].begin() + static_cast<long>(bytes));
  }
  size_t violations() {
    AuditSink sink;
    for (auto& each : gpu) each->partition.audit(sink);
    partition->audit(sink);
    host->audit(sink);
    audit_pcie(*host, *crossbar, sink);
    size_t broken = 0;
    for (const AuditResult& result : sink.all()) broken += result.holds ? 0 : 1;
    return broken;
  }
  std::unique_ptr<Conductor> conductor;
  std::unique_ptr<Gpu> gpu[2];
  std::unique_ptr<Partition> partition;
  std::unique_ptr<Switch> crossbar;
  std::unique_ptr<Host> host;
  std::vector<uint8_t> data[2];
};

// What a core needs for the bytes; 0 if they are not there, or a law is broken.
double move_ns(const Machine& machine, uint64_t bytes) {
  return std::stod(in_child([&] {
    Bench bench(machine);
    Time took = 0;
    bench.host->add_program("mover", [&](HostCore& core) {
      core.move(address_in(1, kTo), address_in(0, kFrom), bytes);
      took = core.now();
    });
    const bool ended = bench.conductor->run() == Conductor::Outcome::finished;
    const bool right = ended && bench.has_come(1, bytes) && bench.violations() == 0;
    return std::to_string(right ? static_cast<double>(took) / kNanosecond : 0);
  }));
}

Machine with_buffers(uint32_t buffers) {
  Machine machine;
  machine.host.fill_buffers = buffers;
  machine.pcie.read_tags = 4'096;
  return machine;
}

}  // namespace

TEST_CASE("a core moves as many lines a round trip as it has fill buffers", "[GD-SW-04]") {
  constexpr uint64_t kLines = 240;
  const double trip = move_ns(with_buffers(1), 64);
  // Four hops, and the memory's 100 ns.
  CHECK(trip > 4 * 600 + 100);
  CHECK(trip < 4 * 600 + 100 + 400);
  for (const uint32_t buffers : {1u, 2u, 4u, 12u}) {
    INFO(buffers << " buffers");
    CHECK(move_ns(with_buffers(buffers), 64 * kLines) ==
          Approx(trip * kLines / buffers).epsilon(0.03));
  }
  Machine far = with_buffers(12);
  far.host.root_complex_ns = 500;  // Both ways.
  CHECK(move_ns(far, 64 * kLines) == Approx((trip + 1'000) * kLines / 12).epsilon(0.03));
}

TEST_CASE("with any number of buffers lines cost a read request and a header each on the wire",
          "[GD-SW-04]") {
  constexpr uint64_t kBytes = 0x40000;
  const double wire_ns = kBytes / 64 * (24 + 24 + 64) / 16.0;
  const double trip = move_ns(with_buffers(1), 64);
  const double took = move_ns(with_buffers(512), kBytes);
  CHECK(took > wire_ns);
  CHECK(took < wire_ns + 2 * trip);
}

TEST_CASE("no more lines are under way than the port has tags for reads") {
  Machine machine = with_buffers(12);
  machine.pcie.read_tags = 3;
  CHECK(move_ns(machine, 64 * 240) == Approx(move_ns(with_buffers(3), 64 * 240)).epsilon(0.03));
}

TEST_CASE("pieces end at lines, and what is stored behind a copy comes behind it") {
  Bench bench({});
  bench.host->add_program("mover", [&](HostCore& core) {
    const uint64_t flag = 7;
    core.move(address_in(1, kTo), address_in(0, kFrom), 1'000);
    core.write(address_in(1, kFlag), &flag, 8);
  });
  REQUIRE(bench.conductor->run() == Conductor::Outcome::finished);
  CHECK(bench.has_come(1, 1'000));
  CHECK(bench.violations() == 0);
  const auto& log = bench.gpu[1]->memory.log;
  REQUIRE(log.size() == 16 + 1);
  CHECK(log.back().address == address_in(1, kFlag));
  CHECK(bench.gpu[0]->memory.log.size() == 16);
}

TEST_CASE("the processor's DMA engine works on a copy a channel, and tells when each has left",
          "[GD-FUTURE-03]") {
  const auto took = [](uint32_t channels) {
    return std::stod(in_child([&] {
      Machine machine;
      machine.host.copy_engine = {
          .channels = channels, .buffers = 4, .line_bytes = 256, .start_ns = 100};
      Bench bench(machine);
      Time end = 0;
      bench.host->add_program("rank0", [&](HostCore& core) {
        for (uint64_t i = 0; i < 4; ++i)
          core.start_copy(address_in(1, kTo + 0x4000 * i), address_in(0, kFrom + 0x4000 * i),
                          0x4000, kHostBase + 8 * i, i + 1);
        for (uint64_t i = 0; i < 4; ++i)
          core.wait_word(kHostBase + 8 * i, HostCore::Condition::at_least, i + 1);
        end = core.now();
      });
      const bool ended = bench.conductor->run() == Conductor::Outcome::finished;
      const bool right = ended && bench.has_come(1, 0x10000) && bench.violations() == 0;
      return std::to_string(right ? static_cast<double>(end) / kNanosecond : 0);
    }));
  };
  const double one = took(1), four = took(4);
  REQUIRE(four > 0);
  // 16 round trips a copy, of four lines each.
  CHECK(one > 4 * 16 * (4 * 600 + 100));
  CHECK(one == Approx(4 * four).epsilon(0.05));
}

// Two cores and the engine at once, in both directions.
std::string busy_run(const Machine& machine) {
  return in_child([&] {
    Bench bench(machine);
    for (const unsigned g : {0u, 1u}) {
      bench.host->add_program("rank" + std::to_string(g), [&, g](HostCore& core) {
        core.start_copy(address_in(1 - g, kTo + 0x4000), address_in(g, kFrom + 0x4000), 0x4000,
                        kHostBase + 8 * g, 1);
        core.move(address_in(1 - g, kTo), address_in(g, kFrom), 0x4000);
        core.wait_word(kHostBase + 8 * g, HostCore::Condition::at_least, 1);
      });
    }
    if (bench.conductor->run() != Conductor::Outcome::finished) return std::string("not finished");
    const bool right = bench.has_come(0, 0x8000) && bench.has_come(1, 0x8000);
    return bench.host->digest_hex() + bench.gpu[0]->partition.digest().hex() +
           bench.gpu[1]->partition.digest().hex() +
           (right && bench.violations() == 0 ? "" : " wrong");
  });
}

TEST_CASE("two cores and the engine give the same digests for any order, window and threads") {
  const std::string expected = busy_run({});
  REQUIRE(expected.size() == 3 * 64);
  Machine other;
  other.reversed = true;
  CHECK(busy_run(other) == expected);
  other.threads = 2;
  other.window_ns = 77;
  CHECK(busy_run(other) == expected);
}

TEST_CASE("a copy that cannot be ends the run with one clear line") {
  const auto error = [](uint64_t refuse_from, uint64_t to, bool engine) {
    return in_child([&] {
      Bench bench({});
      bench.gpu[0]->memory.refuse_from = refuse_from;
      bench.host->add_program("mover", [&](HostCore& core) {
        if (engine) {
          core.start_copy(to, address_in(0, kFrom), 128, kHostBase, 1);
          core.wait_word(kHostBase, HostCore::Condition::at_least, 1);
        } else {
          core.move(to, address_in(0, kFrom), 128);
        }
      });
      bench.conductor->run();
      return std::string("no error");
    });
  };
  using Catch::Matchers::Contains;
  for (const bool engine : {false, true}) {
    CHECK_THAT(error(kFrom, address_in(1, kTo), engine), Contains("where no memory is"));
    CHECK_THAT(error(~uint64_t{0}, address_in(7, kTo), engine), Contains("in no GPU"));
  }
}

TEST_CASE("a line whose data are lost is named") {
  const std::string text = in_child([] {
    Machine machine;
    machine.pcie.fault_lose_completion = 5;
    Bench bench(machine);
    bench.host->add_program("mover", [&](HostCore& core) {
      core.move(address_in(1, kTo), address_in(0, kFrom), 4'096);
    });
    bench.conductor->run();
    return std::string("no error");
  });
  CHECK_THAT(text, Catch::Matchers::Contains("mover has moved 4032 of 4096 bytes over PCIe"));
}

}  // namespace stretto
