// SPDX-License-Identifier: Apache-2.0
// Question: does each operation move what it says, once, in order, and end when it is done? State
// space: opcodes, lengths around inline, packet and ring, flags, one and several packets, both
// directions, receive entries, datagrams. Two servers back to back; laws hold in each test.
#include <catch2/catch.hpp>

#include "tests/unit/nic/nic_bench.h"

namespace stretto::test {
namespace {

TEST_CASE("a put of several packets arrives, and is complete at its sender") {
  NicBench bench;
  bench.program();
  const auto data = pattern(10'000);
  bench[0].fill(kSource, data);
  bench[0].send(put_entry(bench[0], bench[1], 10'000, 77), kReady);
  bench.run();
  CHECK((bench[1].bytes(kTarget, 10'000) == data));
  CHECK(bench[1].word(kTarget + 10'000) == 0);
  const auto done = bench[0].completion(0);
  CHECK(done.id == 77);
  CHECK(done.bytes == 10'000);
  CHECK(done.queue_pair == kPair);
  CHECK(done.status == STRETTO_NIC_OK);
  CHECK(done.opcode == STRETTO_NIC_PUT);
  CHECK(done.serial == 1);
  CHECK(bench[0].completion(1).serial == 0);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("inline data come with the entry and are not read again") {
  NicBench bench;
  bench.program();
  auto entry = put_entry(bench[0], bench[1], 16);
  entry.flags |= STRETTO_NIC_INLINE;
  entry.local_key = 0;
  entry.operand = 0x0102030405060708;
  entry.compare = 0x1112131415161718;
  bench[0].send(entry, kReady);
  bench.run();
  CHECK(bench[1].word(kTarget) == entry.operand);
  CHECK(bench[1].word(kTarget + 8) == entry.compare);
  size_t reads = 0;
  for (const auto& seen : bench[0].gpu.memory.log)
    reads += seen.extension.operation == Operation::read;
  CHECK(reads == 1);  // The entry.
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a get brings what lies there, over several packets") {
  NicBench bench;
  bench.program();
  const auto data = pattern(9'000);
  bench[1].fill(kTarget, data);
  auto entry = result_entry(bench[0], bench[1], STRETTO_NIC_GET, 9'000);
  entry.local_address = bench[0].at(kTarget);
  entry.local_key = stretto_nic_key(7, 0);
  bench[0].region(7, bench[0].at(kTarget), 9'000, STRETTO_NIC_LOCAL_WRITE);
  bench[0].send(entry, kReady);
  bench.run();
  CHECK((bench[0].bytes(kTarget, 9'000) == data));
  CHECK(bench[0].completion(0).bytes == 9'000);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("fetch and add returns what was there, each sum is seen once") {
  NicBench bench;
  bench.program();
  for (uint64_t i = 0; i < 8; ++i) {
    auto entry = result_entry(bench[0], bench[1], STRETTO_NIC_FETCH_ADD, 8, i, 8 * i);
    entry.operand = 10;
    bench[0].send(entry, kReady);
    auto own = result_entry(bench[1], bench[1], STRETTO_NIC_FETCH_ADD, 8, i, 8 * i);
    own.operand = 1;
    own.remote_address = bench[0].at(kTarget + 8);
    bench[1].send(own, kReady);
  }
  bench.run();
  CHECK(bench[1].word(kTarget) == 80);
  CHECK(bench[0].word(kTarget + 8) == 8);
  for (uint64_t i = 0; i < 8; ++i) {
    CHECK(bench[0].word(kResults + 8 * i) == 10 * i);
    CHECK(bench[0].completion(static_cast<uint32_t>(i)).value == 10 * i);
    CHECK(bench[1].word(kResults + 8 * i) == i);
  }
  CHECK(bench.violated() == kNone);
}

TEST_CASE("compare and swap stores only where it finds what it compares with") {
  NicBench bench;
  bench.program();
  auto entry = result_entry(bench[0], bench[1], STRETTO_NIC_COMPARE_SWAP, 8);
  entry.operand = 5;
  entry.compare = 0;
  bench[0].send(entry, kReady);
  entry.operand = 9;
  entry.local_address += 8;
  bench[0].send(entry, kReady);
  bench.run();
  CHECK(bench[1].word(kTarget) == 5);
  CHECK(bench[0].completion(0).value == 0);
  CHECK(bench[0].completion(1).value == 5);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("atomics of two servers on one word come one after the other") {
  NicBench bench({}, 3);
  for (unsigned i = 0; i < 3; ++i) {
    bench[i].program(2);
  }
  // Server 2 has a pair for each of the others.
  bench[2].pair(0, kPair, kPair);
  bench[2].pair(1, kPair + 1, kPair);
  bench[1].pair(2, kPair, kPair + 1);
  for (unsigned i = 0; i < 2; ++i) {
    for (uint64_t n = 0; n < 16; ++n) {
      auto entry = result_entry(bench[i], bench[2], STRETTO_NIC_FETCH_ADD, 8, n, 8 * n);
      entry.operand = 1;
      bench[i].send(entry, kReady);
    }
  }
  bench.run();
  CHECK(bench[2].word(kTarget) == 32);
  std::vector<bool> seen(32);
  for (unsigned i = 0; i < 2; ++i) {
    for (uint64_t n = 0; n < 16; ++n) seen[bench[i].word(kResults + 8 * n)] = true;
  }
  CHECK(std::count(seen.begin(), seen.end(), true) == 32);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("sends fill receive entries in order, and both ends hear of it") {
  NicBench bench;
  bench.program();
  const auto data = pattern(5'000);
  bench[0].fill(kSource, data);
  bench[1].region(9, bench[1].at(kTarget), 0x10000, STRETTO_NIC_LOCAL_WRITE);
  for (uint64_t i = 0; i < 2; ++i) {
    stretto_nic_work_entry_t entry{};
    entry.opcode = STRETTO_NIC_RECEIVE;
    entry.id = 100 + i;
    entry.local_address = bench[1].at(kTarget + 0x8000 * i);
    entry.length = 5'000;
    entry.local_key = stretto_nic_key(9, 0);
    bench[1].receive(entry, kReady);
  }
  auto entry = put_entry(bench[0], bench[1], 5'000);
  entry.opcode = STRETTO_NIC_SEND;
  bench[0].send(entry, 2 * kReady);
  entry.length = 100;
  bench[0].send(entry, 2 * kReady);
  bench.run();
  CHECK((bench[1].bytes(kTarget, 5'000) == data));
  CHECK((bench[1].bytes(kTarget + 0x8000, 100) == pattern(100)));
  CHECK(bench[1].completion(0).id == 100);
  CHECK(bench[1].completion(0).bytes == 5'000);
  CHECK(bench[1].completion(0).opcode == STRETTO_NIC_RECEIVE);
  CHECK(bench[1].completion(1).bytes == 100);
  CHECK(bench[0].completion(1).serial == 2);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a datagram finds queue pair 0 of any server, and says where it comes from") {
  NicBench bench;
  bench.program();
  bench[0].pair(0, 0, 0);
  bench[1].pair(0, 0, 0);
  bench[1].region(9, bench[1].at(kTarget), 0x1000, STRETTO_NIC_LOCAL_WRITE);
  stretto_nic_work_entry_t receive{};
  receive.local_address = bench[1].at(kTarget);
  receive.length = 64;
  receive.local_key = stretto_nic_key(9, 0);
  bench[1].receive(receive, kReady, 0);
  auto entry = put_entry(bench[0], bench[1], 48);
  entry.opcode = STRETTO_NIC_SEND;
  entry.peer_node = STRETTO_NODE_NIC + 1;
  bench[0].fill(kSource, pattern(48));
  bench[0].send(entry, 2 * kReady, 0);
  bench[0].send(entry, 2 * kReady, 0);  // Finds no entry: lost, as datagrams may be.
  bench.run();
  CHECK((bench[1].bytes(kTarget, 48) == pattern(48)));
  CHECK(bench[1].completion(0).value == uint64_t{STRETTO_NODE_NIC} << 16);
  CHECK(bench[1].completion(0).bytes == 48);
  CHECK(bench[1].completion(1).serial == 0);
  CHECK(bench[0].completion(1).status == STRETTO_NIC_OK);
  CHECK(bench[1].nic.counters().not_ready == 1);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a flag put behind data is never there before them") {
  NicBench bench;
  bench.program();
  bench[0].fill(kSource, pattern(64'000));
  bench[0].send(put_entry(bench[0], bench[1], 64'000, 1), kReady);
  auto flag = put_entry(bench[0], bench[1], 8, 2);
  flag.flags |= STRETTO_NIC_INLINE;
  flag.remote_address = bench[1].at(kTarget + 0x100000);
  flag.operand = 1;
  bench[0].send(flag, kReady);
  bench.run();
  const auto flags = bench[1].writes_at(kTarget + 0x100000);
  const auto data = bench[1].writes_at(kTarget, 0, 0x100000);
  REQUIRE(flags.size() == 1);
  CHECK(*std::max_element(data.begin(), data.end()) <= flags[0]);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a fenced operation begins when all before it have ended") {
  NicBench bench;
  bench.program();
  bench[0].send(put_entry(bench[0], bench[1], 40'000, 1), kReady);
  auto second = put_entry(bench[0], bench[1], 64, 2, 0x100000);
  second.flags |= STRETTO_NIC_FENCE;
  bench[0].send(second, kReady);
  bench.run();
  const Time first_ended = bench[0].writes_at(kCompletions, 32)[0];
  CHECK(bench[1].writes_at(kTarget + 0x100000)[0] > first_ended);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a flush ends behind what was posted before it, unsignaled operations say nothing") {
  NicBench bench;
  bench.program();
  auto entry = put_entry(bench[0], bench[1], 40'000, 1);
  entry.flags = 0;
  bench[0].send(entry, kReady);
  stretto_nic_work_entry_t flush{};
  flush.opcode = STRETTO_NIC_FLUSH;
  flush.flags = STRETTO_NIC_SIGNALED;
  flush.id = 2;
  bench[0].send(flush, kReady);
  bench.run();
  CHECK(bench[0].completion(0).id == 2);
  CHECK(bench[0].completion(1).serial == 0);
  const auto data = bench[1].writes_at(kTarget, 0, 0x100000);
  CHECK(bench[0].writes_at(kCompletions, 32)[0] > *std::max_element(data.begin(), data.end()));
  CHECK(bench.violated() == kNone);
}

TEST_CASE("rings wrap around, every operation costs 64 bytes of commands") {
  NicBench bench;
  bench.program();
  bench[0].fill(kSource, pattern(256 * 8));
  for (uint64_t i = 0; i < 200; ++i) {
    const Time when = kReady + i * 10 * kMicrosecond;
    // The entry is written when its place is free.
    bench[0].gpu.second.call(when, [&bench, i] {
      bench[0].enqueue(kSendRing, static_cast<uint32_t>(i),
                       put_entry(bench[0], bench[1], 8, i, 8 * i));
    });
    bench[0].post(
        STRETTO_DOORBELL_APERTURE,
        stretto_nic_doorbell(STRETTO_NIC_DOORBELL_SEND, kPair, static_cast<uint32_t>(i + 1)), when);
    bench[0].post(
        STRETTO_DOORBELL_APERTURE,
        stretto_nic_doorbell(STRETTO_NIC_DOORBELL_COMPLETION, 0, static_cast<uint32_t>(i)), when);
  }
  bench.run();
  CHECK((bench[1].bytes(kTarget, 200 * 8) == pattern(200 * 8)));
  CHECK(bench[0].completion(199 % 64).serial == 200);
  uint64_t command_bytes = 0;
  for (const auto& seen : bench[0].gpu.memory.log) {
    const uint64_t offset = seen.address & STRETTO_OFFSET_MASK;
    if (seen.extension.operation == Operation::read && offset >= kSendRing && offset < kReceiveRing)
      command_bytes += seen.bytes;
  }
  CHECK(command_bytes == 200 * 64);
  CHECK(bench.violated() == kNone);
}

}  // namespace
}  // namespace stretto::test
