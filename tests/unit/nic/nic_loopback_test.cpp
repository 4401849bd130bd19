// SPDX-License-Identifier: Apache-2.0
// Question: does a server reach its own memory through its NIC as it reaches another one's, without
// a link? State space: operations, own and foreign atomics on one word, a NIC that is down, a full
// buffer. Expected times: the parts of nic_timing_test.cpp, with the rate of the port (12.5 B/ns) and
// neither link header (14 B) nor latency.
#include <catch2/catch.hpp>

#include "tests/unit/nic/nic_bench.h"

namespace stretto::test {
namespace {

// Server `own` with a pair that is its own other end.
void loop(NicBench& bench, unsigned own) { bench[own].program(own); }

TEST_CASE("a server puts to itself, gets and adds there, and no link carries it") {
  NicBench bench;
  loop(bench, 0);
  Server& own = bench[0];
  const auto data = pattern(10'000);
  own.fill(kSource, data);
  own.send(put_entry(own, own, 10'000, 77), kReady);
  auto get = result_entry(own, own, STRETTO_NIC_GET, 64);
  own.send(get, kReady);
  auto add = result_entry(own, own, STRETTO_NIC_FETCH_ADD, 8, 3, 64);
  add.operand = 5;
  add.remote_address += 16'384;
  own.send(add, kReady);
  own.send(add, kReady);
  bench.run();
  CHECK((own.bytes(kTarget, 10'000) == data));
  CHECK((own.bytes(kResults, 64) == std::vector<uint8_t>(data.begin(), data.begin() + 64)));
  CHECK(own.word(kTarget + 16'384) == 10);
  CHECK(own.word(kResults + 64) == 5);
  CHECK(own.completion(0).id == 77);
  CHECK(own.completion(0).status == STRETTO_NIC_OK);
  CHECK(own.completion(3).status == STRETTO_NIC_OK);
  CHECK(own.nic.network().counters().packets_sent == 0);
  CHECK(own.statistic("nic.packets_looped") == own.statistic("nic.packets_sent"));
  CHECK(own.statistic("nic.bytes_looped") == 10'064);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("what a server must not do to itself ends with its reason, what is behind is flushed") {
  NicBench bench;
  loop(bench, 0);
  bench[0].send(put_entry(bench[0], bench[0], 8, 1), kReady);
  auto beyond = put_entry(bench[0], bench[0], 8, 2);
  beyond.remote_address = bench[0].at(kTarget + kHeapBytes - 4);
  bench[0].send(beyond, kReady);
  bench[0].fill(kSource, pattern(8));
  bench[0].send(put_entry(bench[0], bench[0], 8, 3, 64), kReady);
  bench.run();
  CHECK(bench[0].completion(0).status == STRETTO_NIC_OK);
  CHECK(bench[0].completion(1).status == STRETTO_NIC_REMOTE_ACCESS);
  CHECK(bench[0].completion(2).status == STRETTO_NIC_FLUSHED);
  CHECK((bench[0].bytes(kTarget, 8) == pattern(8)));
  CHECK((bench[0].bytes(kTarget + kHeapBytes - 4, 8) == std::vector<uint8_t>(8)));
  CHECK((bench[0].bytes(kTarget + 64, 8) == std::vector<uint8_t>(8)));
  CHECK(bench.violated() == kNone);
}

TEST_CASE("atomics of a server and of another one on its word are one order") {
  NicBench bench({}, 3);
  loop(bench, 0);
  bench[1].program(0);
  bench[2].program(0);
  bench[0].pair(1, kPair + 1, kPair);
  bench[1].pair(0, kPair, kPair + 1);
  for (unsigned i = 0; i < 2; ++i) {
    for (uint64_t n = 0; n < 16; ++n) {
      auto entry = result_entry(bench[i], bench[0], STRETTO_NIC_FETCH_ADD, 8, n, 8 * n);
      entry.operand = 1;
      bench[i].send(entry, kReady);
    }
  }
  bench.run();
  CHECK(bench[0].word(kTarget) == 32);
  std::vector<bool> seen(32);
  for (unsigned i = 0; i < 2; ++i)
    for (uint64_t n = 0; n < 16; ++n) seen[bench[i].word(kResults + 8 * n)] = true;
  CHECK(std::count(seen.begin(), seen.end(), true) == 32);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a put to the own server takes doorbell, entry, data, port and write") {
  NicBench bench;
  loop(bench, 0);
  bench[0].send(put_entry(bench[0], bench[0], 8), kReady);
  bench.run();
  constexpr Time kStage = 50 * kNanosecond, kHop = 300 * kNanosecond, kMemory = 100 * kNanosecond;
  const auto pcie_write = [](uint64_t bytes) { return (bytes + 24) * 62'500 + kHop; };
  const auto memory = [](uint64_t bytes) { return bytes * kPicosecond + kMemory; };
  const auto pcie_read = [&](uint64_t bytes) {
    return 24 * 62'500 + kHop + memory(bytes) + (bytes + 20) * 62'500 + kHop;
  };
  const auto port = [](uint64_t more) { return (12 + more) * 80 * kPicosecond; };
  const Time begin = pcie_write(8) + kStage + pcie_read(64) + kStage;
  const Time placed = kReady + begin + pcie_read(8) + port(16 + 8) + kStage;
  CHECK(bench[0].writes_at(kTarget)[0] == placed + pcie_write(8) + memory(8));
  const Time visible = placed + (8 + 24) * 62'500 + pcie_read(8);
  CHECK(bench[0].writes_at(kCompletions, 32)[0] ==
        visible + port(4) + kStage + pcie_write(32) + memory(32));
}

TEST_CASE("a server that is down still reaches itself") {
  NicSpec spec;
  spec.fault_down_at_ns = 1;
  NicBench bench(spec);
  loop(bench, 1);
  bench[1].fill(kSource, pattern(64));
  bench[1].send(put_entry(bench[1], bench[1], 64), kReady);
  bench.run();
  CHECK((bench[1].bytes(kTarget, 64) == pattern(64)));
  CHECK(bench[1].completion(0).status == STRETTO_NIC_OK);
  CHECK(bench.violated() == kNone);
}

// Both bring 12.5 B/ns, PCIe takes 16: the buffer fills, and holds no more than it has.
TEST_CASE("packets of the own server wait for room while the network brings others") {
  NicSpec spec;
  spec.buffer_bytes = 1 << 20;  // Enough to read while writes are in the way.
  NicBench bench(spec);
  bench[0].program(1);
  loop(bench, 1);
  bench[1].pair(0, kPair + 1, kPair);
  bench[0].pair(1, kPair, kPair + 1);
  constexpr uint32_t kBytes = 2 << 20;
  const auto data = pattern(kBytes);
  for (unsigned i = 0; i < 2; ++i) {
    bench[i].fill(kSource, data);
    bench[i].send(put_entry(bench[i], bench[1], kBytes, 1, i == 0 ? 0 : 0x400000), kReady);
  }
  bench[1].fill(kSource + 0x400000, data);
  bench.run();
  const uint64_t buffer = network_defaults().credit_bytes;
  CHECK(bench[1].statistic("nic.looped_high_water") <= buffer);
  CHECK(bench[1].statistic("nic.looped_high_water") > buffer - 4'096);
  CHECK((bench[1].bytes(kTarget, kBytes) == data));
  CHECK((bench[1].bytes(kTarget + 0x400000, kBytes) == data));
  CHECK(bench.violated() == kNone);
}

}  // namespace
}  // namespace stretto::test
