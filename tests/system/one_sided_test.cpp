// SPDX-License-Identifier: Apache-2.0
// Question: do programs of several servers read and write each other's memory through their NICs, in
// the time that their ways and stages add up to, whatever way the run is made? Expected times are
// sums of the ways below, from the parameters of the run; none is taken from the models.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

const boost::json::value& size_at(const RunResult& run, size_t index) {
  return run.at("job.sizes").as_array().at(index);
}

uint64_t fs(const boost::json::value& size, const char* part) {
  return size.at("parts_fs").at(part).to_number<uint64_t>();
}

constexpr const char* kParts[] = {"post",   "doorbell", "fetch",       "local_read", "outward",
                                  "remote", "homeward", "local_write", "completion"};

// All femtoseconds. PCIe: 62,500 a byte, 125 ns a hop, a switch of 150 ns between two; a packet has
// 24 B of header, 20 with read data; all are shorter than 256 B. Host memory: 90 ns, and edges of 1
// ns. Network: 80,000 a byte, 100 ns a hop, 14 + 12 B of headers, packets are stored and forwarded.
constexpr uint64_t kNs = 1'000'000;
constexpr uint64_t kWays = (125 + 150 + 125) * kNs;
constexpr uint64_t kStage = 50 * kNs;
constexpr uint64_t pcie_wire(uint64_t bytes) { return bytes * 62'500; }
// `before`: what has left right before it, on the same way.
constexpr uint64_t pcie(uint64_t bytes, uint64_t before = 0) {
  const uint64_t first = pcie_wire(before), own = pcie_wire(bytes);
  return std::max(first + own, 2 * first) + own + kWays;
}
constexpr uint64_t network(uint64_t more) { return 2 * ((14 + 12 + more) * 80'000 + 100 * kNs); }
constexpr uint64_t edge_behind(uint64_t at) { return (at / kNs + 1) * kNs; }
// When what is read of host memory is at a NIC that asks at `at`.
constexpr uint64_t host_read(uint64_t at, uint64_t bytes, uint64_t before = 0) {
  return edge_behind(at + pcie(24, before) + 90 * kNs) + pcie(bytes + 20);
}
// The program polls each 100 ns and needs 25 for the entry.
constexpr uint64_t noticed(uint64_t since, uint64_t at) {
  return since + (at - since + 100 * kNs - 1) / (100 * kNs) * 100 * kNs + 25 * kNs;
}

struct Moments {
  std::vector<uint64_t> at;
  void then(uint64_t when) { at.push_back(when); }
  uint64_t part(size_t index) const { return at[index + 1] - at[index]; }
};

Moments until_the_entry_is_there() {
  Moments m{{0}};
  m.then(51 * kNs);  // 25 for the entry, 25 for the doorbell, the next edge.
  m.then(m.at.back() + pcie(8 + 24));
  m.then(host_read(m.at.back() + kStage, 64) + kStage);
  return m;
}

Moments of_get(uint64_t bytes) {
  Moments m = until_the_entry_is_there();
  m.then(m.at.back());
  m.then(m.at.back() + network(16));
  m.then(host_read(m.at.back() + kStage, bytes));
  m.then(m.at.back() + network(4 + bytes));
  m.then(m.at.back() + kStage);
  m.then(noticed(m.at[1], m.at.back() + pcie_wire(0) + pcie(32 + 24, bytes + 24)));
  return m;
}

Moments of_put(uint64_t bytes) {
  Moments m = until_the_entry_is_there();
  m.then(host_read(m.at.back(), bytes));
  m.then(m.at.back() + network(16 + bytes));
  m.then(host_read(m.at.back() + kStage, 8, bytes + 24));  // Behind the data, so they can be seen.
  m.then(m.at.back() + network(4));
  m.then(m.at.back() + kStage);
  m.then(noticed(m.at[1], m.at.back() + pcie(32 + 24)));
  return m;
}

const std::string kIdle =
    "compnet/get --impl all=model --set pcie.bandwidth_mb_s=16000 --set pcie.dllp_bytes=0 "
    "--set one_sided.memory=host --set one_sided.messages=0 --set one_sided.rounds=3 ";

void expect_closed_forms(const RunResult& run, Moments (*of)(uint64_t)) {
  const auto& sizes = run.at("job.sizes").as_array();
  REQUIRE(sizes.size() == 3);
  for (const auto& size : sizes) {
    const uint64_t bytes = size.at("bytes").to_number<uint64_t>();
    const Moments expected = of(bytes);
    for (size_t part = 0; part < std::size(kParts); ++part) {
      CAPTURE(bytes, kParts[part]);
      CHECK(fs(size, kParts[part]) == expected.part(part));
    }
    CHECK(size.at("latency_us").at("least") == size.at("latency_us").at("most"));
  }
}

}  // namespace

TEST_CASE("each part of a get takes what idle links and stages take") {
  expect_closed_forms(
      run_correctly(kIdle + "--set one_sided.max_bytes=128 --set one_sided.factor=4"), of_get);
}

TEST_CASE("each part of a put takes what idle links and stages take") {
  expect_closed_forms(
      run_correctly(kIdle + "--set one_sided.operation=put "
                            "--set one_sided.max_bytes=128 --set one_sided.factor=4"),
      of_put);
}

TEST_CASE("parts add up to the latency to the femtosecond, of any size, in GPU memory") {
  const RunResult run = run_correctly("compnet/get --impl all=model --set one_sided.messages=0");
  REQUIRE(run.at("job.sizes").as_array().size() == 20);
  for (const auto& size : run.at("job.sizes").as_array()) {
    uint64_t sum = 0;
    for (const char* const part : kParts) sum += fs(size, part);
    CHECK(sum == size.at("latency_fs").to_number<uint64_t>());
  }
}

TEST_CASE("a longer way adds what it adds to each part") {
  const std::string small =
      "compnet/get --impl all=model --set one_sided.messages=0 "
      "--set one_sided.max_bytes=8 --set pcie.dllp_bytes=0 ";
  const RunResult before = run_correctly(small),
                  bus = run_correctly(small + "--set pcie.latency_ns=225"),
                  wire = run_correctly(small + "--set network.latency_ns=1100"),
                  stages =
                      run_correctly(small + "--set nic.doorbell_ns=150 --set nic.receive_ns=250");
  const auto added = [&](const RunResult& run, const char* part) {
    return (static_cast<double>(fs(size_at(run, 0), part)) -
            static_cast<double>(fs(size_at(before, 0), part))) /
           kNs;
  };
  // Hops, of 100 ns more; a read has four. What GPU memory takes depends on the row that is open.
  constexpr double kDram = 40;
  CHECK(added(bus, "post") == 0);
  CHECK(added(bus, "doorbell") == Approx(200).margin(0.001));
  CHECK(added(bus, "fetch") == Approx(400).margin(1));
  CHECK(added(bus, "outward") == 0);
  CHECK(added(bus, "remote") == Approx(400).margin(kDram));
  CHECK(added(bus, "local_write") == Approx(400).margin(kDram));
  CHECK(added(wire, "outward") == Approx(2000).margin(0.001));
  CHECK(added(wire, "homeward") == Approx(2000).margin(0.001));
  for (const char* const part : {"post", "doorbell", "fetch"}) CHECK(added(wire, part) == 0);
  CHECK(added(stages, "fetch") == Approx(100).margin(1));
  CHECK(added(stages, "remote") == Approx(200).margin(kDram));
  CHECK(added(stages, "local_write") == Approx(200).margin(kDram));
}

TEST_CASE("large gets and puts fill the network") {
  for (const char* const operation : {"get", "put"}) {
    CAPTURE(operation);
    const RunResult run = run_correctly(
        std::string("compnet/get --impl all=model --set one_sided.min_bytes=4194304 ") +
        "--set one_sided.pattern=ring --set one_sided.operation=" + operation);
    // Both servers at once; headers of 26 B a packet of 4096.
    const double both = size_at(run, 0).at("rate_gb_s").to_number<double>();
    CHECK(both > 0.95 * 2 * 12.5 * 4096 / (4096 + 26));
    CHECK(both < 2 * 12.5 * 4096 / (4096 + 26));
  }
}

TEST_CASE("seven servers that put to one share its link, and nothing is lost") {
  const RunResult run = run_correctly("compnet/incast --impl all=model");
  const auto& sizes = run.at("job.sizes").as_array();
  CHECK(sizes.back().at("rate_gb_s").to_number<double>() > 0.9 * 12.5 * 4096 / (4096 + 26));
  CHECK(sizes.back().at("rate_gb_s").to_number<double>() < 12.5);
  // Fair: of 1 MiB from each at once, the first to end and the last.
  const auto& latency = sizes.back().at("latency_us");
  CHECK(latency.at("most").to_number<double>() < 1.02 * latency.at("least").to_number<double>());
  CHECK(run.number("statistics.nic0.interface.bytes_placed") >
        7 * sizes.back().at("bytes").to_number<uint64_t>());
}

TEST_CASE("operations to warm up run like all others and count for no latency") {
  const std::string gets =
      "compnet/get --impl all=model --set one_sided.max_bytes=8 --set one_sided.messages=0 "
      "--set one_sided.rounds=4 --mode compnet ";
  const RunResult all = run_correctly(gets),
                  warm = run_correctly(gets + "--set one_sided.warm_up=1");
  CHECK(warm.at("digest") == all.at("digest"));
  const auto latency = [](const RunResult& run, const char* which) {
    return run.at("job.sizes").as_array().at(0).at("latency_us").at(which).to_number<double>();
  };
  // The first finds the hart's code in no cache, and takes longest.
  CHECK(latency(all, "mean") * 4 ==
        Approx(latency(warm, "mean") * 3 + latency(all, "most")).epsilon(1e-3));
  CHECK(latency(warm, "most") < latency(all, "most"));
  CHECK(latency(warm, "least") == latency(all, "least"));
  const Finished refused = run_stretto("run " + gets + "--set one_sided.warm_up=4");
  CHECK(refused.status == 2);
  CHECK(refused.says("warm_up below rounds"));
}

TEST_CASE("an operation costs an entry of 64 bytes and a completion of 32 beside its data") {
  const auto bytes_of = [](const RunResult& run, const char* what) {
    return run.number(std::string("statistics.nic0.interface.") + what);
  };
  const std::string get =
      "compnet/get --impl all=model --set one_sided.min_bytes=4096 "
      "--set one_sided.max_bytes=4096 --set one_sided.messages=0 ";
  const RunResult few = run_correctly(get + "--set one_sided.rounds=2"),
                  more = run_correctly(get + "--set one_sided.rounds=12");
  const auto added = [&](const char* what) { return bytes_of(more, what) - bytes_of(few, what); };
  CHECK(added("operations_begun") == 10);
  CHECK(added("pcie_read_bytes.entries") == 10 * 64);
  CHECK(added("pcie_written_bytes.completions") == 10 * 32);
  CHECK(added("pcie_written_bytes.data") == 10 * 4096);
  CHECK(added("doorbells") == 10);
}

TEST_CASE("no way to make the run changes what comes out") {
  const std::string small =
      "compnet/incast --impl all=model --set gpus=4 --set servers=4 "
      "--set one_sided.max_bytes=65536 ";
  const RunResult run = run_correctly(small);
  for (const char* const way :
       {"--set sim.threads=1", "--set sim.threads=2", "--set sim.window_ns=7",
        "--set sim.reverse_elaboration=true", "--set sim.sleep=false", "--impl all=rtl"}) {
    CAPTURE(way);
    const RunResult other = run_correctly(small + way);
    CHECK(other.text("digest") == run.text("digest"));
    CHECK(other.at("job") == run.at("job"));
  }
}

TEST_CASE("a server joins though its first packet is lost, and one that is down is named") {
  const std::string small =
      "compnet/get --impl all=model --set one_sided.max_bytes=64 --set fault.nic_server=1 ";
  const RunResult lost = run_correctly(small + "--set nic.fault.lose_packet=1");
  CHECK(lost.number("statistics.nic1.interface.packets_lost") == 1);
  const Finished down = run_somewhere(small + "--set nic.fault.down_at_ns=1");
  CHECK(down.status == 1);
  CHECK(down.says("does not join"));
}

TEST_CASE("what was put is acknowledged when it is lost on the way, after it was sent again") {
  const RunResult run = run_correctly(
      "compnet/get --impl all=model --set one_sided.operation=put --set one_sided.max_bytes=65536 "
      "--set fault.nic_server=1 --set nic.fault.lose_packet=40 --set one_sided.rounds=1");
  CHECK(run.number("statistics.nic0.interface.packets_sent_again") > 0);
}

TEST_CASE("what gets lost in silence breaks a law") {
  const auto broken = [](const std::string& fault, const std::string& law) {
    const Finished finished =
        run_somewhere("compnet/get --impl all=model --set one_sided.max_bytes=64 --set " + fault);
    INFO(fault << "\n" << finished.output);
    CHECK(finished.status == 1);
    CHECK(finished.says(law));
  };
  broken("network.fault.lose_credit=3", "credits all home");
  broken("network_switch.fault.drop_packet=3", "switch packets in = out");
}

TEST_CASE("jobs within servers take what they take alone, whatever the others do") {
  const Scratch scratch;
  const std::string machine = "machine: compnet\nset: {gpus: 4, servers: 2, gpu.cus: 4}\n";
  const std::string job =
      "{workload: collectives/all_reduce, mode: mmio, gpus: [%], set: "
      "{min_bytes: 1024, max_bytes: 4096, factor: 4}}\n";
  const auto with = [&](const std::string& gpus) {
    std::string text = job;
    return text.replace(text.find('%'), 1, gpus);
  };
  const std::string both =
      scratch.file("both.yaml", machine + "jobs:\n  - " + with("0, 1") + "  - " + with("2, 3"));
  const RunResult together = run_correctly(both + " --impl all=model");
  const RunResult alone = run_correctly(
      "collectives/all_reduce --machine compnet --impl all=model --set gpus=2 --set servers=1 "
      "--set gpu.cus=4 --mode mmio --set collective.min_bytes=1024 --set collective.max_bytes=4096 "
      "--set collective.factor=4");
  const auto& jobs = together.at("jobs").as_array();
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].at("job") == jobs[1].at("job"));
  CHECK(jobs[0].at("time_ns") == jobs[1].at("time_ns"));
  CHECK(jobs[0].at("job").at("sizes") == alone.at("job.sizes"));
}

TEST_CASE("what does not fit servers is refused in a line that says what does") {
  const auto refused = [](const std::string& arguments, const std::string& text) {
    const Finished finished = run_somewhere(arguments);
    INFO(arguments << "\n" << finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.says(text));
    CHECK(finished.lines() == 1);
  };
  refused("collectives/all_reduce --machine compnet", "runs within one server");
  refused("compnet/get --machine t3 --set servers=1",
          "needs topology=cluster and servers of 2 to 32");
  refused("compnet/get --set servers=1", "needs topology=cluster and servers of 2 to 32");
  refused("compnet/get --set gpus=3", "gpus (3) must be a multiple of servers (2)");
  refused("compnet/get --set topology=ring", "servers (2) needs topology cluster");
  refused("compnet/get --set fault.nic_server=2", "must be below servers (2)");
  refused("compnet/get --set servers=33", "allowed: integer 1..32");
  refused("compnet/get --set one_sided.window=65", "allowed: integer 1..64");
  refused("compnet/get --set one_sided.min_bytes=64 --set one_sided.max_bytes=8",
          "needs max_bytes that is not below min_bytes");
  refused("compnet/get --set one_sided.memory=host --set one_sided.max_bytes=67108864",
          "in host memory at most");
  refused(
      "compnet/get --set software.memory_gib=1 --set one_sided.max_bytes=67108864 "
      "--set one_sided.pattern=incast --set one_sided.operation=put --set gpus=32 "
      "--set servers=32",
      "software.memory_gib larger");
}
