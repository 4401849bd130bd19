// SPDX-License-Identifier: Apache-2.0
// Question: does each operation take, on idle links, what its ways and stages add up to, and does a
// long one fill the wire? Expected times: sums of the parts below, from the parameters of the bench
// (PCIe 16 B/ns, 300 ns, 24 B a packet, 20 B a completion; memory 1000 B/ns, 100 ns) and the defaults
// of network and NIC; none is taken from the models.
#include <catch2/catch.hpp>

#include "tests/unit/nic/nic_bench.h"

namespace stretto::test {
namespace {

constexpr Time kPs = kPicosecond;
constexpr Time kStage = 50 * kNanosecond;
constexpr Time kHop = 300 * kNanosecond;
constexpr Time kMemory = 100 * kNanosecond;

// Of at most 256 bytes, on an idle PCIe link.
constexpr Time pcie_write(uint64_t bytes) { return (bytes + 24) * 62'500 + kHop; }
constexpr Time memory(uint64_t bytes) { return bytes * kPs + kMemory; }
constexpr Time pcie_read(uint64_t bytes) {
  return 24 * 62'500 + kHop + memory(bytes) + (bytes + 20) * 62'500 + kHop;
}
// Transport headers of 12 bytes and `more`, 14 of the link; 12.5 B/ns, 100 ns.
constexpr Time network(uint64_t more) { return (14 + 12 + more) * 80 * kPs + 100 * kNanosecond; }

constexpr Time kBegin = pcie_write(8) + kStage + pcie_read(64) + kStage;  // Doorbell to operation.
constexpr Time kAnswered = network(4) + kStage;                           // An acknowledgement.
constexpr Time kCompleted = pcie_write(32) + memory(32);

TEST_CASE("a put of 8 bytes is there after doorbell, entry, data, network and write") {
  NicBench bench;
  bench.program();
  bench[0].send(put_entry(bench[0], bench[1], 8), kReady);
  bench.run();
  const Time placed = kReady + kBegin + pcie_read(8) + network(16 + 8) + kStage;
  CHECK(bench[1].writes_at(kTarget)[0] == placed + pcie_write(8) + memory(8));
  // The read that says so goes right behind the write.
  const Time visible = placed + (8 + 24) * 62'500 + pcie_read(8);
  CHECK(bench[0].writes_at(kCompletions, 32)[0] == visible + kAnswered + kCompleted);
}

TEST_CASE("inline data in a ring of GPU memory save the read, the entry alone crosses PCIe",
          "[CN-Q-10]") {
  NicBench bench;
  bench.program();
  auto entry = put_entry(bench[0], bench[1], 8);
  entry.flags |= STRETTO_NIC_INLINE;
  bench[0].send(entry, kReady);
  bench.run();
  CHECK(bench[1].writes_at(kTarget)[0] ==
        kReady + kBegin + network(16 + 8) + kStage + pcie_write(8) + memory(8));
}

TEST_CASE("a get of 64 bytes ends after request, read, answer and write") {
  NicBench bench;
  bench.program();
  bench[0].send(result_entry(bench[0], bench[1], STRETTO_NIC_GET, 64), kReady);
  bench.run();
  const Time answer =
      kReady + kBegin + network(16) + kStage + pcie_read(64) + network(4 + 64) + kStage;
  CHECK(bench[0].writes_at(kResults)[0] == answer + pcie_write(64) + memory(64));
  // The completion goes behind the data, on the same wire.
  CHECK(bench[0].writes_at(kCompletions, 32)[0] == answer + (64 + 24) * 62'500 + kCompleted);
}

TEST_CASE("an atomic takes a read, and a write that is looked at") {
  NicBench bench;
  bench.program();
  bench[0].send(result_entry(bench[0], bench[1], STRETTO_NIC_FETCH_ADD, 8), kReady);
  bench.run();
  const Time done =
      kReady + kBegin + network(28) + kStage + pcie_read(8) + (8 + 24) * 62'500 + pcie_read(8);
  CHECK(bench[0].writes_at(kResults)[0] == done + network(12) + kStage + pcie_write(8) + memory(8));
}

TEST_CASE("half the latency of the wire is half of what it adds, twice the stages twice theirs") {
  NicSpec spec;
  spec.doorbell_ns = spec.send_ns = spec.receive_ns = 100;
  NicBench bench(spec);
  bench.program();
  bench[0].send(put_entry(bench[0], bench[1], 8), kReady);
  bench.run();
  CHECK(bench[1].writes_at(kTarget)[0] == kReady + kBegin + pcie_read(8) + network(16 + 8) +
                                              pcie_write(8) + memory(8) + kStage + 3 * kStage);
}

TEST_CASE("gets and atomics without their answer stay within their limit") {
  NicSpec spec;
  spec.outstanding_reads = 2;
  NicBench bench(spec);
  bench.program();
  for (uint64_t i = 0; i < 3; ++i) {
    auto add = result_entry(bench[0], bench[1], STRETTO_NIC_FETCH_ADD, 8, i, 8 * i);
    add.remote_address += 8 * i;
    bench[0].send(add, kReady);
  }
  bench.run();
  const Time answered = bench[0].writes_at(kResults)[0] - pcie_write(8) - memory(8);
  const auto added = bench[1].writes_at(kTarget);
  REQUIRE(added.size() == 3);
  CHECK(added[1] < answered);
  CHECK(added[2] > answered);
}

TEST_CASE("packets without acknowledgement stay within the window") {
  NicSpec spec;
  spec.mtu_bytes = 256;
  spec.window_packets = 2;
  spec.acknowledge_packets = 1;
  NicBench bench(spec);
  bench.program();
  bench[0].send(put_entry(bench[0], bench[1], 3 * 256), kReady);
  bench.run();
  const auto placed = bench[1].writes_at(kTarget);
  REQUIRE(placed.size() == 3);
  const Time round_trip = network(4) + network(256);
  CHECK(placed[1] - placed[0] < round_trip);
  CHECK(placed[2] - placed[0] > round_trip);
}

TEST_CASE("data between PCIe and network stay within the buffer") {
  NicSpec spec;
  spec.buffer_bytes = 8'192;
  NicBench bench(spec);
  bench.program();
  bench[0].send(put_entry(bench[0], bench[1], 1 << 18), kReady);
  bench.run();
  const uint64_t high_water = bench[0].statistic("nic.buffered_high_water");
  CHECK(high_water >= spec.buffer_bytes);
  CHECK(high_water < spec.buffer_bytes + spec.mtu_bytes);
}

constexpr uint64_t kLong = 4 << 20;

// From the first byte placed to the last one, against what headers leave of the wire.
double share_of_wire(const std::vector<Time>& times) {
  const double wire = 12.5 * 4096 / (4096 + 26);
  const Time time = times.back() - times.front();
  return static_cast<double>(kLong - 4096) / (static_cast<double>(time) / kNanosecond) / wire;
}

TEST_CASE("a put of 4 MiB fills the wire, both ways at once") {
  NicBench bench;
  bench.program();
  for (unsigned i = 0; i < 2; ++i) {
    bench[i].fill(kSource, pattern(kLong));
    bench[i].send(put_entry(bench[i], bench[1 - i], kLong), kReady);
  }
  bench.run();
  for (unsigned i = 0; i < 2; ++i) {
    const double share = share_of_wire(bench[i].writes_at(kTarget, 4096, kLong));
    CAPTURE(share);
    CHECK(share > 0.95);
    CHECK(share < 1.001);
    CHECK((bench[i].bytes(kTarget, kLong) == pattern(kLong)));
    CHECK(bench[i].nic.counters().sent_again == 0);
  }
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a get of 4 MiB fills the wire") {
  NicBench bench;
  bench.program();
  bench[0].region(7, bench[0].at(kTarget), kLong, STRETTO_NIC_LOCAL_WRITE);
  bench[1].fill(kTarget, pattern(kLong));
  auto entry = result_entry(bench[0], bench[1], STRETTO_NIC_GET, kLong);
  entry.local_address = bench[0].at(kTarget);
  entry.local_key = stretto_nic_key(7, 0);
  bench[0].send(entry, kReady);
  bench.run();
  const double share = share_of_wire(bench[0].writes_at(kTarget, 4096, kLong));
  CAPTURE(share);
  CHECK(share > 0.95);
  CHECK((bench[0].bytes(kTarget, kLong) == pattern(kLong)));
  CHECK(bench.violated() == kNone);
}

TEST_CASE("two queue pairs of a NIC take turns on its wire") {
  NicBench bench;
  bench.program();
  constexpr uint32_t kEach = 1 << 20;
  constexpr uint64_t kRing = 0x20000;
  constexpr uint16_t kOther = 9;
  bench[1].pair(0, kOther, kOther);
  bench[0].set(NIC_PAIR_SEND_BASE_OFFSET_AT(kOther), bench[0].at(kRing));
  bench[0].set(NIC_PAIR_PEER_OFFSET_AT(kOther),
               STRETTO_FIELD(NIC_PAIR_PEER_QUEUE_PAIR, kOther) |
                   STRETTO_FIELD(NIC_PAIR_PEER_NODE, STRETTO_NODE_NIC + 1));
  bench[0].set(NIC_PAIR_CONFIG_OFFSET_AT(kOther), NIC_PAIR_CONFIG_VALID_MASK);
  bench[0].enqueue(kRing, 0, put_entry(bench[0], bench[1], kEach, 2, kEach));
  bench[0].send(put_entry(bench[0], bench[1], kEach, 1), kReady);
  bench[0].post(STRETTO_DOORBELL_APERTURE,
                stretto_nic_doorbell(STRETTO_NIC_DOORBELL_SEND, kOther, 1), kReady);
  bench.run();
  const auto ended = bench[0].writes_at(kCompletions, 32);
  REQUIRE(ended.size() == 2);
  // The one whose entry comes first has filled the buffer, 16 packets, before the turns begin.
  CHECK(ended[1] - ended[0] <= (16 + 1) * 4'122 * 80 * kPs);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("seven servers that put to one share its wire evenly, nothing is lost") {
  NicBench bench({}, 8);
  constexpr uint64_t kEach = 1 << 20;
  bench[7].program(0);
  for (unsigned i = 0; i < 7; ++i) {
    const uint16_t number = static_cast<uint16_t>(10 + i);
    bench[i].program(7);
    bench[i].pair(7, kPair, number);
    bench[7].pair(i, number, kPair);
    bench[i].fill(kSource + i * kEach, pattern(kEach));
    bench[i].send(put_entry(bench[i], bench[7], kEach, 1, i * kEach), kReady);
  }
  bench.run();
  Time first = ~Time{0};
  Time last = 0;
  for (unsigned i = 0; i < 7; ++i) {
    const Time ended = bench[i].writes_at(kCompletions, 32)[0] - kReady;
    first = std::min(first, ended);
    last = std::max(last, ended);
    CHECK((bench[7].bytes(kTarget + i * kEach, kEach) == pattern(kEach)));
    CHECK(bench[i].nic.counters().sent_again == 0);
  }
  CAPTURE(first, last);
  CHECK(static_cast<double>(last - first) < 0.02 * static_cast<double>(last));
  const double rate = 7.0 * kEach / (static_cast<double>(last) / kNanosecond);
  CAPTURE(rate);
  CHECK(rate > 0.95 * 12.5 * 4096 / (4096 + 26));
  CHECK(bench.violated() == kNone);
}

}  // namespace
}  // namespace stretto::test
