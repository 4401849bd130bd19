// SPDX-License-Identifier: Apache-2.0
// Question: which operations bring nothing new, and does a run end that does nothing else? State space:
// gets of a word and of more, atomics that change a word or none, a word that changes between two
// looks; polls alone, with work among them, and that stop.
#include <catch2/catch.hpp>

#include "tests/unit/nic/nic_bench.h"

namespace stretto::test {
namespace {

constexpr Time kStep = 10 * kMicrosecond;
constexpr uint32_t kLimitUs = 120;  // Polls have four times as long.

struct Ask {
  uint8_t opcode;
  uint32_t length = 8;
  uint64_t operand = 0, compare = 0;
};

// Server 0 sends one each 10 us for a word of server 1, which is 0.
struct Asker {
  explicit Asker(uint32_t limit_us)
      : bench({}, 2, 1, 300, 0, {.conductor = {.threads = 1, .progress_limit_us = limit_us}}) {
    bench.program();
  }
  void ask(const Ask& one, uint64_t offset = 0) {
    auto entry = result_entry(bench[0], bench[1], one.opcode, one.length, asked);
    if (one.opcode == STRETTO_NIC_PUT) entry = put_entry(bench[0], bench[1], one.length, asked);
    entry.remote_address += offset;
    entry.operand = one.operand;
    entry.compare = one.compare;
    bench[0].send(entry, next());
  }
  void ask_often(const Ask& one, unsigned times) {
    while (times-- != 0) ask(one);
  }
  Time next() { return kReady + asked++ * kStep; }
  uint64_t polls() { return bench[0].partition.services().polls; }

  NicBench bench;
  uint64_t asked = 0;
};

TEST_CASE("an operation polls if it changes nothing and brings what it brought before") {
  constexpr Ask look{STRETTO_NIC_GET}, add{STRETTO_NIC_FETCH_ADD, 8, 1},
      fetch{STRETTO_NIC_FETCH_ADD}, fails{STRETTO_NIC_COMPARE_SWAP, 8, 2, 1},
      swaps{STRETTO_NIC_COMPARE_SWAP, 8, 5, 0}, keeps{STRETTO_NIC_COMPARE_SWAP, 8, 0, 0},
      half{STRETTO_NIC_GET, 4}, longer{STRETTO_NIC_GET, 9}, put{STRETTO_NIC_PUT};
  const std::pair<std::vector<Ask>, uint64_t> cases[] = {
      {{look, look, look}, 2},    {{look, add, look, look}, 1}, {{half, half}, 1},
      {{longer, longer}, 0},      {{put, put, put}, 0},         {{add, add, add}, 0},
      {{fetch, fetch, fetch}, 2}, {{fails, fails}, 1},          {{keeps, keeps}, 1},
      {{swaps, swaps, swaps}, 1}, {{look, fetch, fails}, 2},    {{fails, add, swaps, fails}, 0}};
  Asker asker(0);
  std::map<uint64_t, uint64_t> polls;  // By offset.
  asker.bench[0].nic.set_watch([&](const NicMoment& moment) {
    polls[moment.address - asker.bench[1].at(kTarget)] += moment.polls ? 1 : 0;
  });
  uint64_t offset = 0;
  for (const auto& [asks, expected] : cases) {
    for (const Ask& one : asks) asker.ask(one, offset);
    offset += 16;
  }
  asker.bench.run();
  for (size_t i = 0; i < std::size(cases); ++i) {
    CAPTURE(i);
    CHECK(polls[i * 16] == cases[i].second);
  }
}

TEST_CASE("a run of polls alone ends as a deadlock") {
  Asker asker(kLimitUs);
  asker.ask_often({STRETTO_NIC_FETCH_ADD}, 60);
  CHECK_THROWS_WITH(asker.bench.conductor->run(),
                    Catch::Contains("in 480000 ns nothing but 4") &&
                        Catch::Contains(" polls over the network that bring nothing new"));
  CHECK(sc_core::sc_time_stamp() < sc_core::sc_time(530, sc_core::SC_US));
}

TEST_CASE("without a limit polls go on") {
  Asker asker(0);
  asker.ask_often({STRETTO_NIC_FETCH_ADD}, 50);
  asker.bench.run();
  CHECK(asker.polls() == 49);
}

TEST_CASE("a put now and then is work beside polls") {
  Asker asker(kLimitUs);
  for (unsigned i = 0; i < 3; ++i) {
    asker.ask_often({STRETTO_NIC_GET}, 20);
    asker.ask({STRETTO_NIC_PUT});
  }
  asker.bench.run();
  CHECK(asker.polls() == 59);
}

// Of registers, which move bytes and are no polls.
TEST_CASE("polls that stopped before other words went on are no deadlock") {
  Asker asker(kLimitUs);
  asker.ask_often({STRETTO_NIC_GET}, 20);
  for (unsigned i = 0; i < 80; ++i)
    asker.bench[0].set(NIC_REGION_BASE_OFFSET_AT(7), 0, asker.next());
  asker.bench.run();
  CHECK(asker.polls() == 19);
}

}  // namespace
}  // namespace stretto::test
