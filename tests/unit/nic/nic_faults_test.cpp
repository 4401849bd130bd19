// SPDX-License-Identifier: Apache-2.0
// Question: what if the network loses or delays a packet, whichever it is, or a server goes down?
// State space: each packet of an exchange with puts, a get, atomics and a send, at either end; its
// loss and its delay. Each number is a test, as a process runs one simulation.
#include <catch2/catch.hpp>

#include "tests/unit/nic/nic_bench.h"

namespace stretto::test {
namespace {

constexpr uint32_t kBytes = 20'000;  // Five packets.

// Put, get, two additions, send, put; all is checked, once.
void exchange(NicBench& bench) {
  bench.program();
  const auto data = pattern(kBytes);
  bench[0].fill(kSource, data);
  bench[1].fill(kTarget + 0x400000, data);
  bench[0].region(7, bench[0].at(kTarget), kBytes, STRETTO_NIC_LOCAL_WRITE);
  bench[1].region(9, bench[1].at(kTarget + 0x600000), kBytes, STRETTO_NIC_LOCAL_WRITE);
  stretto_nic_work_entry_t receive{};
  receive.id = 50;
  receive.local_address = bench[1].at(kTarget + 0x600000);
  receive.length = kBytes;
  receive.local_key = stretto_nic_key(9, 0);
  bench[1].receive(receive, kReady / 2);

  bench[0].send(put_entry(bench[0], bench[1], kBytes, 1), kReady);
  auto get = result_entry(bench[0], bench[1], STRETTO_NIC_GET, kBytes, 2);
  get.local_address = bench[0].at(kTarget);
  get.local_key = stretto_nic_key(7, 0);
  get.remote_address = bench[1].at(kTarget + 0x400000);
  bench[0].send(get, kReady);
  for (uint64_t i = 0; i < 2; ++i) {
    auto add = result_entry(bench[0], bench[1], STRETTO_NIC_FETCH_ADD, 8, 3 + i, 8 * i);
    add.operand = 100;
    add.remote_address = bench[1].at(kTarget + 0x100000);
    bench[0].send(add, kReady);
  }
  auto send = put_entry(bench[0], bench[1], kBytes, 5);
  send.opcode = STRETTO_NIC_SEND;
  bench[0].send(send, kReady);
  bench[0].send(put_entry(bench[0], bench[1], kBytes - 8, 6, 8), kReady);
  bench.run();

  CHECK((bench[1].bytes(kTarget, kBytes) == data));
  CHECK((bench[0].bytes(kTarget, kBytes) == data));
  CHECK((bench[1].bytes(kTarget + 0x600000, kBytes) == data));
  CHECK(bench[1].word(kTarget + 0x100000) == 200);
  CHECK(bench[0].word(kResults) == 0);
  CHECK(bench[0].word(kResults + 8) == 100);
  for (uint32_t i = 0; i < 6; ++i) {
    CHECK(bench[0].completion(i).id == i + 1);
    CHECK(bench[0].completion(i).status == STRETTO_NIC_OK);
  }
  CHECK(bench[1].completion(0).id == 50);
  CHECK(bench[1].completion(1).serial == 0);
  CHECK(bench.violated() == kNone);
}

TEMPLATE_TEST_CASE_SIG("a packet that the target loses is sent again", "", ((unsigned N), N), 1, 2,
                       3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18) {
  NicSpec spec;
  spec.fault_lose_packet = N;
  NicBench bench(spec, 2, 1);
  exchange(bench);
  CHECK(bench[1].nic.counters().packets_lost == 1);
}

TEMPLATE_TEST_CASE_SIG("an answer that its receiver loses is asked for again", "",
                       ((unsigned N), N), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) {
  NicSpec spec;
  spec.fault_lose_packet = N;
  NicBench bench(spec, 2, 0);
  exchange(bench);
  CHECK(bench[0].nic.counters().packets_lost == 1);
}

TEMPLATE_TEST_CASE_SIG("a packet that comes late takes effect once", "", ((unsigned N), N), 1, 3, 5,
                       6, 7, 8, 9, 13, 16) {
  NicSpec spec;
  spec.fault_delay_packet = N;
  NicBench bench(spec, 2, 1);
  exchange(bench);
}

TEMPLATE_TEST_CASE_SIG("an answer that comes late counts once", "", ((unsigned N), N), 1, 2, 3, 4,
                       6, 7, 8, 9) {
  NicSpec spec;
  spec.fault_delay_packet = N;
  NicBench bench(spec, 2, 0);
  exchange(bench);
}

TEST_CASE("nothing lost: nothing is sent again") {
  NicBench bench;
  exchange(bench);
  CHECK(bench[0].nic.counters().sent_again == 0);
  CHECK(bench[0].nic.counters().timeouts + bench[1].nic.counters().timeouts == 0);
}

TEST_CASE("a packet that is missing is asked for before its time is over") {
  NicSpec spec;
  spec.fault_lose_packet = 2;
  NicBench bench(spec, 2, 1);
  exchange(bench);
  CHECK(bench[0].nic.counters().timeouts == 0);
}

TEST_CASE("the last packet is sent again when its time is over, not before") {
  NicSpec spec;
  spec.acknowledge_timeout_ns = 50'000;
  spec.fault_lose_packet = 1;
  NicBench bench(spec, 2, 1);
  bench.program();
  bench[0].fill(kSource, pattern(64));
  bench[0].send(put_entry(bench[0], bench[1], 64), kReady);
  bench.run();
  CHECK(bench[0].nic.counters().timeouts == 1);
  CHECK(bench[0].nic.counters().sent_again == 1);
  const auto arrived = bench[1].writes_at(kTarget);
  REQUIRE(arrived.size() == 1);
  CHECK(arrived[0] > kReady + 50 * kMicrosecond);
  CHECK(arrived[0] < kReady + 54 * kMicrosecond);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("operations to a server that is down end within time-out x retries, others go on") {
  NicSpec spec;
  spec.acknowledge_timeout_ns = 20'000;
  spec.retries = 5;
  spec.fault_down_at_ns = 50'000;
  NicBench bench(spec, 3, 1);
  for (unsigned i = 0; i < 3; ++i) bench[i].program(1);
  bench[1].pair(0);
  bench[0].pair(2, 9, 9);
  bench[2].pair(0, 9, 9);
  const Time down = 50 * kMicrosecond;
  const auto data = pattern(1 << 20);
  bench[0].fill(kSource, data);
  bench[2].fill(kSource, data);
  bench[0].send(put_entry(bench[0], bench[1], 1 << 20, 1), kReady);
  bench[0].send(put_entry(bench[0], bench[1], 64, 2), kReady);
  bench[2].send(put_entry(bench[2], bench[0], 1 << 20, 3), kReady, 9);
  bench[2].send(put_entry(bench[2], bench[0], 1 << 20, 4), 10 * kReady, 9);
  bench.run();
  CHECK(bench[0].completion(0).id == 1);
  CHECK(bench[0].completion(0).status == STRETTO_NIC_RETRIES_EXCEEDED);
  CHECK(bench[0].completion(1).status == STRETTO_NIC_FLUSHED);
  const auto ended = bench[0].writes_at(kCompletions, 32);
  // The last answer that came left before the end; then 5 x 20 us, and the completion's way.
  CHECK(ended[0] > down + 4 * 20 * kMicrosecond);
  CHECK(ended[0] < down + 5 * 20 * kMicrosecond + 2 * kMicrosecond);
  CHECK(bench[2].completion(0).status == STRETTO_NIC_OK);
  CHECK(bench[2].completion(1).status == STRETTO_NIC_OK);
  CHECK((bench[0].bytes(kTarget, 1 << 20) == data));
  CHECK(bench[1].nic.counters().packets_lost > 0);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a server that is down hears the end of its own operations") {
  NicSpec spec;
  spec.acknowledge_timeout_ns = 20'000;
  spec.fault_down_at_ns = 10'000;
  NicBench bench(spec, 2, 0);
  bench.program();
  bench[0].send(put_entry(bench[0], bench[1], 64), kReady);
  bench.run();
  CHECK(bench[0].completion(0).status == STRETTO_NIC_RETRIES_EXCEEDED);
  CHECK(bench[0].nic.counters().packets_unsent == spec.retries);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a packet that the switch drops is sent again, and breaks the laws of what was sent") {
  NicBench bench({}, 3, 1, 300, 2);
  for (unsigned i = 0; i < 3; ++i) bench[i].program(1);
  bench[1].pair(0);
  bench[0].fill(kSource, pattern(kBytes));
  bench[0].send(put_entry(bench[0], bench[1], kBytes), kReady);
  bench.run();
  CHECK(bench[0].completion(0).status == STRETTO_NIC_OK);
  CHECK((bench[1].bytes(kTarget, kBytes) == pattern(kBytes)));
  CHECK(bench.violated() == std::vector<std::string>{"switch.crossbar: switch packets in = out",
                                                     "switch.crossbar: switch bytes in = out",
                                                     "network: NIC packets sent = received + lost",
                                                     "network: NIC bytes sent = received + lost"});
}

TEST_CASE("sends wait for a receive entry, and give up without one") {
  NicSpec spec;
  spec.acknowledge_timeout_ns = 20'000;
  NicBench bench(spec);
  bench.program();
  bench[1].region(9, bench[1].at(kTarget), 0x1000, STRETTO_NIC_LOCAL_WRITE);
  stretto_nic_work_entry_t receive{};
  receive.local_address = bench[1].at(kTarget);
  receive.length = 64;
  receive.local_key = stretto_nic_key(9, 0);
  auto entry = put_entry(bench[0], bench[1], 64, 1);
  entry.opcode = STRETTO_NIC_SEND;
  bench[0].fill(kSource, pattern(64));
  bench[0].send(entry, kReady);
  bench[1].receive(receive, kReady + 50 * kMicrosecond);
  entry.id = 2;
  bench[0].send(entry, 10 * kReady);
  bench.run();
  CHECK(bench[0].completion(0).status == STRETTO_NIC_OK);
  CHECK(bench[0].completion(1).status == STRETTO_NIC_RETRIES_EXCEEDED);
  CHECK((bench[1].bytes(kTarget, 64) == pattern(64)));
  CHECK(bench[1].nic.counters().not_ready == 3 + spec.retries);
  CHECK(bench.violated() == kNone);
}

// The target's PCIe is slow: an acknowledgement that does not wait for it is at home before the data
// are there.
void put_over_slow_pcie(NicBench& bench) {
  bench.program();
  bench[0].send(put_entry(bench[0], bench[1], 4'000), kReady);
  bench.run();
  CHECK(bench[0].completion(0).status == STRETTO_NIC_OK);
}

TEST_CASE("a put ends behind the time at which its data are there") {
  NicBench bench({}, 2, 1, 2'000);
  put_over_slow_pcie(bench);
  CHECK(bench[0].writes_at(kCompletions, 32)[0] > bench[1].writes_at(kTarget)[0]);
}

TEST_CASE("acknowledge = received: a put may end before its data are there") {
  NicSpec spec;
  spec.acknowledge = NicAcknowledge::received;
  NicBench bench(spec, 2, 1, 2'000);
  put_over_slow_pcie(bench);
  CHECK(bench[0].writes_at(kCompletions, 32)[0] < bench[1].writes_at(kTarget)[0]);
}

}  // namespace
}  // namespace stretto::test
