// SPDX-License-Identifier: Apache-2.0
// Question: does the time of a host program pass as PCIe, polls and charges say, do its writes
// arrive whole and in order, and do runs end as the programs do? One or more GPUs, each a router, a
// test memory, and an echo: a doorbell with value v makes it write v to host memory at v % 65536 *
// 8 over PCIe. PCIe: 16 GB/s, 600 ns, 24 B of header a packet.
#include "models/host/host.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "models/common/error.h"
#include "sw/include/formats/address_map.h"
#include "tests/unit/common/in_child.h"
#include "tests/unit/fabric/test_memory.h"

namespace stretto {
namespace {

using test::in_child;
using test::TestMemory;

constexpr uint64_t kHostBase = uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT;

uint64_t address_in(unsigned gpu, uint64_t offset) {
  return (uint64_t{gpu + 1} << STRETTO_NODE_SHIFT) | offset;
}
uint64_t doorbell_of(unsigned gpu) { return address_in(gpu, STRETTO_DOORBELL_APERTURE); }

// Answers a doorbell with a write to host memory.
class Echo final : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Echo> doorbell;
  tlm_utils::simple_initiator_socket<Echo, 32, StrettoProtocol> out;
  Echo(sc_core::sc_module_name name, EventQueue& queue)
      : sc_module(name), doorbell("doorbell"), out("out"), queue_(queue) {
    doorbell.register_b_transport(this, &Echo::ring);
    out.register_nb_transport_bw(this, &Echo::answer);
  }
  std::vector<std::pair<Time, uint64_t>> rung;
  bool silent = false;

 private:
  void ring(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    uint64_t value;
    std::memcpy(&value, payload.get_data_ptr(), 8);
    rung.emplace_back(queue_.now(), value);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (silent) return;
    words_.push_back(std::make_unique<uint64_t>(value));
    PooledPayload& store = pool_.acquire();
    store.set_command(tlm::TLM_WRITE_COMMAND);
    store.set_address(kHostBase + value % 65'536 * 8);
    store.set_data_ptr(reinterpret_cast<unsigned char*>(words_.back().get()));
    store.set_data_length(8);
    store.extension.operation = Operation::write;
    store.extension.row_bytes = 8;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    out->nb_transport_fw(store, phase, delay);
  }
  tlm::tlm_sync_enum answer(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                            sc_core::sc_time&) {
    phase = tlm::END_RESP;
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  EventQueue& queue_;
  PayloadPool pool_;
  std::vector<std::unique_ptr<uint64_t>> words_;
};

struct Gpu : sc_core::sc_module {
  Gpu(sc_core::sc_module_name name, Conductor& conductor, unsigned gpu, unsigned gpus,
      const LinkSpec& pcie)
      : sc_module(name),
        partition("partition", conductor, static_cast<uint8_t>(gpu + 1)),
        memory("memory", partition.queue()),
        router("router", ring(gpu, gpus, {}, pcie), 1, partition),
        echo("echo", partition.queue()) {
    partition.add("router", router);
    router.memory.bind(memory.port[0]);
    router.doorbell.bind(echo.doorbell);
    echo.out.bind(router.egress[0]);
  }
  Partition partition;
  TestMemory memory;
  Router router;
  Echo echo;
};

struct Bench {
  explicit Bench(unsigned gpus = 1, LinkSpec pcie = pcie_defaults(), bool reversed = false,
                 HostSpec spec = {}, ConductorSpec sim = {}) {
    conductor = std::make_unique<Conductor>("conductor", sim, 500 * kNanosecond);
    gpu.resize(gpus);
    for (unsigned i = 0; i < gpus; ++i) {
      const unsigned g = reversed ? gpus - 1 - i : i;
      gpu[g] =
          std::make_unique<Gpu>(("gpu" + std::to_string(g)).c_str(), *conductor, g, gpus, pcie);
    }
    std::vector<uint8_t> ports;
    for (const auto& each : gpu) ports.push_back(static_cast<uint8_t>(each->router.ports() - 1));
    host = std::make_unique<Host>("host", spec, pcie, ports, *conductor);
  }
  void run() { REQUIRE(conductor->run() == Conductor::Outcome::finished); }
  size_t violations() {
    AuditSink sink;
    std::vector<const Router*> routers;
    for (auto& each : gpu) {
      each->partition.audit(sink);
      routers.push_back(&each->router);
    }
    host->audit(sink);
    audit_pcie(*host, routers, sink);
    size_t broken = 0;
    for (const AuditResult& result : sink.all()) broken += result.holds ? 0 : 1;
    return broken;
  }
  std::unique_ptr<Conductor> conductor;
  std::vector<std::unique_ptr<Gpu>> gpu;
  std::unique_ptr<Host> host;
};

TEST_CASE(
    "a load of device memory finds what was written before it, and takes the way there and back") {
  Bench bench;
  uint64_t first = 0, second = 0;
  Time took = 0;
  bench.host->add_program("rank0", [&](HostCore& core) {
    const uint64_t value = 0x1122'3344'5566'7788;
    core.write(address_in(0, 0x4000), &value, 8);
    first = core.load_device(address_in(0, 0x4000), 8);
    const Time begin = core.now();
    second = core.load_device(address_in(0, 0x4004), 4);
    took = core.now() - begin;
    CHECK(core.unchanged_until() >= core.now() + 500 * kNanosecond);
  });
  bench.run();
  CHECK(first == 0x1122'3344'5566'7788);
  CHECK(second == 0x1122'3344);
  CHECK(took >= 2 * 600 * kNanosecond);
  CHECK(took < (2 * 600 + 200) * kNanosecond);
  CHECK(bench.violations() == 0);
}

TEST_CASE(
    "a posted write arrives after CPU time, serialisation and latency, and costs the caller CPU "
    "time only") {
  Bench bench;
  Time returned = 0;
  bench.host->add_program("rank0", [&](HostCore& core) {
    std::vector<uint8_t> data(1'000, 7);
    core.write(address_in(0, 0x4000), data.data(), data.size());
    returned = core.now();
  });
  bench.run();
  CHECK(returned == 16 * 25 * kNanosecond);  // 16 units of 64 B.
  REQUIRE(bench.gpu[0]->memory.log.size() == 1);
  // 1,024 B on the wire at 16 GB/s = 64 ns; 600 ns; the memory: 1 ns and 100 ns.
  CHECK(bench.gpu[0]->memory.log[0].at == (400 + 64 + 600 + 1 + 100) * kNanosecond);
  CHECK(bench.violations() == 0);
}

// Programs 0 and 1 call at one time, which the one whose timer is older would be woken for first.
void expect_order_of_programs(size_t with_older_timer) {
  Bench bench;
  for (const size_t program : {0u, 1u}) {
    bench.host->add_program("client" + std::to_string(program), [=](HostCore& core) {
      if (program == with_older_timer) {
        core.charge_ns(100);
      } else {
        core.charge_ns(60);
        core.charge_ns(40);
      }
      const uint64_t data = program;
      core.write(address_in(0, 0x4000 + 64 * program), &data, sizeof data);
    });
  }
  bench.run();
  const auto& log = bench.gpu[0]->memory.log;
  REQUIRE(log.size() == 2);
  CHECK(log[0].address == address_in(0, 0x4000));
  CHECK(log[0].at < log[1].at);
  CHECK(bench.violations() == 0);
}

TEST_CASE("two programs write to a GPU at one time: the first program's write leaves first") {
  expect_order_of_programs(0);
}

TEST_CASE("two programs write to a GPU at one time: whichever SystemC wakes first") {
  expect_order_of_programs(1);
}

TEST_CASE("a megabyte moves at the bandwidth of PCIe") {
  HostSpec spec;
  spec.write_ns = 0;
  Bench bench(1, pcie_defaults(), false, spec);
  std::vector<uint8_t> data(1 << 20);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 31 + i / 4096);
  bench.host->add_program(
      "rank0", [&](HostCore& core) { core.write(address_in(0, 0), data.data(), data.size()); });
  bench.run();
  const uint64_t wire_bytes = (1 << 20) + 256 * 24;
  const Time expected = wire_bytes * 1'000'000'000 / 16'000 + 600 * kNanosecond +
                        4'096 * kPicosecond + 100 * kNanosecond;
  CHECK(bench.gpu[0]->memory.log.back().at == expected);
  std::vector<uint8_t> there(data.size());
  bench.gpu[0]->memory.image.read(0, there.data(), there.size());
  CHECK(there == data);
  CHECK(bench.violations() == 0);
}

TEST_CASE("packet, header and doorbell arrive in this order") {
  Bench bench;
  bench.host->add_program("rank0", [&](HostCore& core) {
    const std::vector<uint8_t> packet(64, 3);
    const uint64_t index = 17;
    core.write(address_in(0, 0x10004), packet.data() + 4, 60);
    core.write(address_in(0, 0x10000), packet.data(), 4);
    core.write(doorbell_of(0), &index, 8);
  });
  bench.run();
  const std::vector<TestMemory::Seen>& seen = bench.gpu[0]->memory.log;
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].bytes == 60);
  CHECK(seen[1].bytes == 4);
  REQUIRE(bench.gpu[0]->echo.rung.size() == 1);
  CHECK(bench.gpu[0]->echo.rung[0].second == 17);
  CHECK(bench.gpu[0]->echo.rung[0].first >= seen[1].at);
}

TEST_CASE("a wait ends at the first poll after the GPU's write has arrived") {
  Bench bench;
  Time seen = 0;
  uint64_t value = 0;
  bench.host->add_program("rank0", [&](HostCore& core) {
    const uint64_t index = 5;
    core.store(kHostBase + 40, 1);
    core.write(doorbell_of(0), &index, 8);
    value = core.wait_word(kHostBase + 40, HostCore::Condition::not_equal, 1);
    seen = core.now();
  });
  bench.run();
  CHECK(value == 5);
  // Store 5 ns, write 25 ns, wire 32 B = 2 ns, 600 ns; echo at once: 32 B = 2 ns, 600 ns: 1,234 ns.
  // The wait began at 30 ns and polls every 100 ns: 1,330 ns.
  CHECK(seen == 1'330 * kNanosecond);
  StatisticSink sink;
  bench.host->report(sink);
  for (const Statistic& each : sink.all()) {
    if (each.path == "polls") CHECK(each.value == 13);
  }
  CHECK(bench.violations() == 0);
}

TEST_CASE("at_least waits for a counter to come that far") {
  Bench bench;
  bench.host->add_program("rank0", [&](HostCore& core) {
    core.charge_ns(5'000);
    core.store(kHostBase + 8, 3);
    core.charge_ns(5'000);
    core.store(kHostBase + 8, 4);
  });
  Time seen = 0;
  bench.host->add_program("rank1", [&](HostCore& core) {
    CHECK(core.wait_word(kHostBase + 8, HostCore::Condition::at_least, 4) == 4);
    seen = core.now();
  });
  bench.run();
  CHECK(seen == 10'100 * kNanosecond);  // Stored at 10,010 ns.
}

TEST_CASE("a wait for one of several words ends with the first that came, or at its time") {
  Bench bench;
  bench.host->add_program("rank0", [&](HostCore& core) {
    core.charge_ns(5'000);
    core.store(kHostBase + 16, 7);
  });
  size_t met = 9, late = 9, asleep = 9;
  Time seen = 0, ended = 0, woken = 0;
  bench.host->add_program("rank1", [&](HostCore& core) {
    const HostCore::Word words[] = {{kHostBase + 8, HostCore::Condition::not_equal, 0},
                                    {kHostBase + 16, HostCore::Condition::at_least, 7}};
    met = core.wait_any(words, kNever);
    seen = core.now();
    late = core.wait_any({words, 1}, 8'050 * kNanosecond);
    ended = core.now();
    asleep = core.wait_any({}, 9'000 * kNanosecond);
    woken = core.now();
  });
  bench.run();
  CHECK(met == 1);
  CHECK(seen == 5'100 * kNanosecond);  // Stored at 5,005 ns.
  CHECK(late == 1);
  CHECK(ended == 8'100 * kNanosecond);
  CHECK(asleep == 0);
  CHECK(woken == 9'000 * kNanosecond);
}

TEST_CASE("bytes that one program stores another one reads") {
  Bench bench;
  uint8_t read[3] = {};
  Time stored = 0;
  bench.host->add_program("rank0", [&](HostCore& core) {
    const uint8_t bytes[100] = {1, 2, 3};
    core.store_bytes(kHostBase + 64, bytes, sizeof bytes);
    stored = core.now();
    core.read(kHostBase + 64, read, 3);
  });
  bench.run();
  CHECK(stored == 50 * kNanosecond);  // Two pieces of 64 B, 25 ns each.
  CHECK((read[0] == 1 && read[1] == 2 && read[2] == 3));
}

TEST_CASE("bytes of host memory cross PCIe at the price of a write") {
  Bench bench;
  std::vector<uint8_t> bytes(1'000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + 1);
  Time returned = 0;
  bench.host->add_program("rank0", [&](HostCore& core) {
    core.store_bytes(kHostBase + 64, bytes.data(), bytes.size());
    const Time begin = core.now();
    core.write_from(address_in(0, 0x4000), kHostBase + 64, bytes.size());
    returned = core.now() - begin;
  });
  bench.run();
  CHECK(returned == 16 * 25 * kNanosecond);  // As a write of as many.
  std::vector<uint8_t> there(bytes.size());
  bench.gpu[0]->memory.image.read(0x4000, there.data(), there.size());
  CHECK(there == bytes);
  CHECK(bench.violations() == 0);
}

TEST_CASE("without credit a program blocks until the GPU returns it") {
  LinkSpec pcie = pcie_defaults();
  pcie.credit_bytes = 4'096;
  HostSpec spec;
  spec.write_ns = 0;
  Bench bench(1, pcie, false, spec);
  std::vector<uint8_t> data(8'192, 1);
  Time returned = 0;
  bench.host->add_program("rank0", [&](HostCore& core) {
    core.write(address_in(0, 0), data.data(), data.size());
    returned = core.now();
  });
  bench.run();
  // 4,120 B on the wire = 257.5 ns; 600 ns; memory 4.096 ns + 100 ns; 600 ns back.
  CHECK(returned ==
        257'500 * kPicosecond + 600 * kNanosecond + 104'096 * kPicosecond + 600 * kNanosecond);
  CHECK(bench.violations() == 0);
}

TEST_CASE("a write outside of the machine ends the run with one clear line") {
  Bench bench;
  bench.host->add_program("rank0", [&](HostCore& core) {
    const uint64_t word = 0;
    core.write(address_in(3, 0x100), &word, 8);
  });
  CHECK_THROWS_WITH(bench.conductor->run(),
                    "host program: write of 8 bytes to 0x40000000100, which is in no GPU of this "
                    "machine (nodes 1..1)");
}

TEST_CASE("an exception of a host program leaves the run as itself") {
  Bench bench;
  bench.host->add_program("rank0", [](HostCore& core) {
    core.charge_ns(10);
    throw CheckError("driver says no");
  });
  CHECK_THROWS_AS(bench.conductor->run(), CheckError);
}

TEST_CASE("a program that waits for a word nobody writes is a deadlock and named") {
  Bench bench;
  bench.gpu[0]->echo.silent = true;
  bench.host->add_program("rank0", [&](HostCore& core) {
    const uint64_t index = 5;
    core.write(doorbell_of(0), &index, 8);
    core.wait_word(kHostBase + 40, HostCore::Condition::not_equal, 0);
  });
  CHECK_THROWS_WITH(
      bench.conductor->run(),
      Catch::Contains("nothing can happen any more") &&
          Catch::Contains(
              "host: rank0 waits for the word at 0xff0000000028 (now 0x0) since 25 ns"));
}

constexpr uint64_t kPassed = 300'000;  // ns, three times the limit of these runs.
const ConductorSpec kImpatient = [] {
  ConductorSpec spec;
  spec.progress_limit_us = 100;
  return spec;
}();

// Each poll is met at once, so the program never waits.
uint64_t poll(HostCore& core) {
  return core.wait_word(kHostBase + 8, HostCore::Condition::at_least, 0);
}

void expect_patience_while(void (*passes)(HostCore& core)) {
  Bench bench(1, pcie_defaults(), false, {}, kImpatient);
  bench.host->add_program("rank0", [&](HostCore& core) {
    while (poll(core) == 0) continue;
  });
  bench.host->add_program("rank1", [&](HostCore& core) {
    passes(core);
    core.store(kHostBase + 8, 1);
  });
  bench.run();
}

class Late final : public EventHandler {
 public:
  explicit Late(EventQueue& queue) : EventHandler(queue) {
    queue.schedule(kPassed * kNanosecond, *this);
  }
  bool came = false;

 private:
  void on_event(uint64_t) override { came = true; }
};

TEST_CASE("a program that polls for ever what is there is a deadlock and named") {
  Bench bench(1, pcie_defaults(), false, {}, kImpatient);
  bench.host->add_program("rank0", [&](HostCore& core) {
    for (;;) poll(core);
  });
  CHECK_THROWS_WITH(bench.conductor->run(),
                    Catch::Contains("no progress in 100000 ns") &&
                        Catch::Contains("it polls words, the one at 0xff0000000008 last"));
}

TEST_CASE("a stop ends a program that polls for ever what is there") {
  Bench bench(1, pcie_defaults(), false, {}, [] {
    ConductorSpec spec;
    spec.progress_limit_us = 0;
    return spec;
  }());
  std::atomic<bool> stop{false};
  bench.conductor->watch_stop(stop);
  bench.host->add_program("rank0", [&](HostCore& core) {
    for (unsigned polls = 0;; ++polls) {
      poll(core);
      stop = polls >= 10;  // All partitions have come to rest.
    }
  });
  CHECK(bench.conductor->run() == Conductor::Outcome::stopped);
}

TEST_CASE("a program may poll what is there while another one waits for a time") {
  expect_patience_while([](HostCore& core) { core.wait_any({}, kPassed * kNanosecond); });
}

TEST_CASE("a program may poll what is there while another one computes") {
  expect_patience_while([](HostCore& core) { core.charge_ns(kPassed); });
}

TEST_CASE("a program may poll what is there while a GPU has something to do") {
  Bench bench(1, pcie_defaults(), false, {}, kImpatient);
  Late late(bench.gpu[0]->partition.queue());
  bench.host->add_program("rank0", [&](HostCore& core) {
    while (!late.came) poll(core);
  });
  bench.run();
}

TEST_CASE("more programs than cores are refused") {
  HostSpec spec;
  spec.cores = 1;
  Bench bench(1, pcie_defaults(), false, spec);
  bench.host->add_program("rank0", [](HostCore&) {});
  CHECK_THROWS_AS(bench.host->add_program("rank1", [](HostCore&) {}), UserError);
}

// Four ranks talk to their own and the next GPU at once.
std::string busy_run(bool reversed, uint32_t threads, uint32_t window_ns) {
  return in_child([&] {
    ConductorSpec sim;
    sim.threads = threads;
    sim.window_ns = window_ns;
    Bench bench(4, pcie_defaults(), reversed, {}, sim);
    for (unsigned rank = 0; rank < 4; ++rank) {
      bench.host->add_program("rank" + std::to_string(rank), [rank](HostCore& core) {
        std::vector<uint8_t> data(3'000, static_cast<uint8_t>(rank));
        for (uint64_t i = 0; i < 50; ++i) {
          const unsigned gpu = (rank + i % 2) % 4;
          const uint64_t word = rank * 64 + i + 1;
          core.write(address_in(gpu, rank * 0x10000 + i * 64), data.data(), 64 + i * 40);
          core.write(doorbell_of(gpu), &word, 8);
          core.wait_word(kHostBase + word * 8, HostCore::Condition::not_equal, 0);
          core.charge_ns(100 + rank);
        }
      });
    }
    if (bench.conductor->run() != Conductor::Outcome::finished) return std::string("not finished");
    std::string digests = bench.host->digest_hex();
    for (auto& gpu : bench.gpu) digests += gpu->partition.digest().hex();
    return digests + (bench.violations() == 0 ? "" : " violations");
  });
}

TEST_CASE("four ranks give the same digests for any order, window and number of threads") {
  const std::string expected = busy_run(false, 1, 0);
  REQUIRE(expected.size() == 5 * 64);
  CHECK(busy_run(true, 1, 0) == expected);
  CHECK(busy_run(false, 2, 0) == expected);
  CHECK(busy_run(true, 2, 77) == expected);
}

TEST_CASE("a mutex goes to the thread that waited longest, wake_ns after it is let go",
          "[GD-CDRV-03]") {
  HostSpec spec;
  spec.lock_ns = 10;
  spec.wake_ns = 1'000;
  Bench bench(1, pcie_defaults(), false, spec);
  std::vector<std::pair<char, Time>> got;
  bench.host->add_program("a", [&](HostCore& core) {
    core.lock(7);
    got.emplace_back('a', core.now());
    core.charge_ns(500);
    core.unlock(7);  // At 520.
  });
  for (const char name : {'b', 'c'}) {
    bench.host->add_program(std::string(1, name), [&, name](HostCore& core) {
      core.charge_ns(name == 'b' ? 100 : 50);  // c asks first.
      core.lock(7);
      got.emplace_back(name, core.now());
      core.charge_ns(100);
      core.unlock(7);
    });
  }
  bench.run();
  // c: 520 + 1000; it lets go after 100 + 10; b: 1000 after that.
  CHECK(got == std::vector<std::pair<char, Time>>{{'a', 10 * kNanosecond},
                                                  {'c', 1'520 * kNanosecond},
                                                  {'b', 2'630 * kNanosecond}});
}

TEST_CASE("a mutex goes to a thread of the same core after a switch and not after a wake-up",
          "[GD-CDRV-03]") {
  HostSpec spec;
  spec.lock_ns = 10;
  spec.wake_ns = 50'000;
  spec.switch_ns = 2'000;
  Bench bench(1, pcie_defaults(), false, spec);
  std::vector<std::pair<char, Time>> got;
  bench.host->add_program("a", [&](HostCore& core) {
    core.lock(7);
    core.charge_ns(500);
    core.sleep(7);  // 520: b may run.
    got.emplace_back('a', core.now());
    core.unlock(7);
  });
  bench.host->add_program(
      "b",
      [&](HostCore& core) {
        core.lock(7);  // 520 + 2000 + 10: a sleeps and has let go.
        got.emplace_back('b', core.now());
        core.charge_ns(100);
        core.notify(7);  // 2640: a waits for the mutex.
        core.unlock(7);  // 2650: a takes the core.
        got.emplace_back('c', core.now());
      },
      "a");
  bench.run();
  // a: 2650 + 2000, lets go at 4660 and ends; b: 2000 later.
  CHECK(got == std::vector<std::pair<char, Time>>{{'b', 2'530 * kNanosecond},
                                                  {'a', 4'650 * kNanosecond},
                                                  {'c', 6'660 * kNanosecond}});
}

TEST_CASE("a thread that polls for another one of its core ends its slice first") {
  HostSpec spec;
  spec.switch_ns = 2'000;
  spec.slice_ns = 100'000;
  Bench bench(1, pcie_defaults(), false, spec);
  Time seen = 0;
  bench.host->add_program("poller", [&](HostCore& core) {
    core.wait_word(kHostBase + 40, HostCore::Condition::at_least, 1);
    seen = core.now();
  });
  bench.host->add_program(
      "worker",
      [&](HostCore& core) {
        core.charge_ns(5'000);
        core.store(kHostBase + 40, 1);
      },
      "poller");
  bench.run();
  // 100 us of polling, a switch, 5 us and 5 ns of work, a switch, a poll.
  CHECK(seen == 109'105 * kNanosecond);
}

// When a thread runs that slept from 20 to 540 ns.
Time woken(const HostSpec& costs) {
  HostSpec spec = costs;
  spec.lock_ns = 10;
  spec.wake_ns = 1'000;
  Bench bench(1, pcie_defaults(), false, spec);
  Time woke = 0;
  bench.host->add_program("sleeper", [&](HostCore& core) {
    core.lock(1);
    core.sleep(1);  // Lets go at 20.
    woke = core.now();
    core.unlock(1);
  });
  bench.host->add_program("waker", [&](HostCore& core) {
    core.notify(1);  // Nobody sleeps yet: lost, as with any condition variable.
    core.charge_ns(200);
    core.lock(1);  // 220.
    core.notify(1);
    core.charge_ns(300);
    core.unlock(1);  // 540.
  });
  bench.run();
  return woke;
}

TEST_CASE("a thread that sleeps on a mutex runs when it is notified and the mutex is free") {
  CHECK(woken({}) == 1'540 * kNanosecond);
}

TEST_CASE("a core that has idled for long needs its way out of that state on top") {
  HostSpec spec;
  spec.idle_exit_ns = 2'000;
  spec.idle_after_ns = 500;
  CHECK(woken(spec) == 3'540 * kNanosecond);
}

TEST_CASE("a core that has idled for less is awake at once") {
  HostSpec spec;
  spec.idle_exit_ns = 2'000;
  spec.idle_after_ns = 550;
  CHECK(woken(spec) == 1'540 * kNanosecond);
}

TEST_CASE("letting go of a mutex that one does not hold fails the run, waiting for ever is named") {
  Bench bench;
  bench.host->add_program("rank0", [&](HostCore& core) { core.unlock(3); });
  CHECK_THROWS_WITH(bench.conductor->run(),
                    Catch::Contains("rank0 unlocks mutex 3, which it does not hold"));
}

}  // namespace
}  // namespace stretto
