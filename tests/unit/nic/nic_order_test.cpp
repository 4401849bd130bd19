// SPDX-License-Identifier: Apache-2.0
// Question: do results of a network depend on how the simulator goes about it? What may not matter:
// which server is constructed first, in which order they are called, how far a partition runs ahead
// and on how many threads. Each variant is a process; all that can be seen of it is compared.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/unit/common/in_child.h"
#include "tests/unit/nic/nic_bench.h"

namespace stretto::test {
namespace {

// Each of three servers puts to the next one, gets from the one before it and adds to a word of the
// first one; the network loses a packet. Text: accesses to memories, completions, digests.
std::string account(const HostOrder& order) {
  return in_child([&order] {
    NicSpec spec;
    spec.fault_lose_packet = 7;
    NicBench bench(spec, 3, 1, 300, 0, order);
    constexpr uint16_t kBefore = 6;
    constexpr uint16_t kWord = 7;
    for (unsigned called = 0; called < 3; ++called) {
      const unsigned i = order.last_server_first ? 2 - called : called;
      Server& server = bench[i];
      const unsigned next = (i + 1) % 3;
      server.program(next);
      server.pair(next, kPair, kBefore);
      server.pair((i + 2) % 3, kBefore, kPair);
      server.pair(0, kWord, static_cast<uint16_t>(10 + i));
      if (i == 0) {
        for (unsigned other = 0; other < 3; ++other)
          server.pair(other, static_cast<uint16_t>(10 + other), kWord);
      }
      server.fill(kSource, pattern(40'000));
      server.fill(kTarget + 0x400000, pattern(2'000));
      server.send(put_entry(server, bench[next], 40'000, 1), kReady);
      auto get = result_entry(server, bench[next], STRETTO_NIC_GET, 2'000, 2);
      get.remote_address = bench[next].at(kTarget + 0x400000);
      server.send(get, kReady);
    }
    for (unsigned i = 1; i < 3; ++i) {
      auto add = result_entry(bench[i], bench[0], STRETTO_NIC_FETCH_ADD, 8, 3, 8);
      add.operand = i;
      add.remote_address = bench[0].at(kTarget + 0x200000);
      bench[i].enqueue(0x20000, 0, add);
      bench[i].set(NIC_PAIR_SEND_BASE_OFFSET_AT(kWord), bench[i].at(0x20000));
      bench[i].set(NIC_PAIR_CONFIG_OFFSET_AT(kWord), NIC_PAIR_CONFIG_VALID_MASK);
      bench[i].post(STRETTO_DOORBELL_APERTURE,
                    stretto_nic_doorbell(STRETTO_NIC_DOORBELL_SEND, kWord, 1), kReady);
    }
    bench.run();
    std::string text;
    for (unsigned i = 0; i < 3; ++i) {
      text += fmt::format("server {}: word {}, lost {}\n", i, bench[i].word(kTarget + 0x200000),
                          bench[i].nic.counters().packets_lost);
      for (const TestMemory::Seen& seen : bench[i].gpu.memory.log)
        text += fmt::format("{} {:x} {}\n", seen.at, seen.address, seen.bytes);
      for (uint32_t entry = 0; entry < 4; ++entry) {
        const auto completion = bench[i].completion(entry);
        text += fmt::format("completion {} {} {}\n", completion.id, completion.status,
                            completion.value);
      }
      text += bench[i].partition.digest().hex() + "\n";
    }
    for (const std::string& law : bench.violated()) text += law + "\n";
    return text;
  });
}

TEST_CASE("results depend on no order of construction or calls, no window and no thread") {
  const std::string expected = account({});
  CAPTURE(expected);
  CHECK(expected.find("server 0: word 3, lost 0") == 0);
  CHECK(expected.find("server 1: word 0, lost 1") != std::string::npos);
  CHECK((account({.last_server_first = true}) == expected));
  for (const uint32_t window_ns : {1u, 17u, 50u}) {
    CAPTURE(window_ns);
    CHECK((account({.conductor = {.threads = 1, .window_ns = window_ns}}) == expected));
  }
  CHECK((account({.last_server_first = true, .conductor = {.threads = 2, .window_ns = 33}}) ==
         expected));
}

}  // namespace
}  // namespace stretto::test
