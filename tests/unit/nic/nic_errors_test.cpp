// SPDX-License-Identifier: Apache-2.0
// Question: does what is not allowed change no byte, say why, and leave others alone? State space:
// keys at both ends (region, generation, right, range), entries, rings, pages, memories that do not
// answer, regions and pairs that end while they are used. Parameters: one byte beyond each limit.
#include <catch2/catch.hpp>

#include "tests/unit/nic/nic_bench.h"

namespace stretto::test {
namespace {

// What the second server's memory holds from the target on is as it was.
bool is_untouched(NicBench& bench) {
  const auto bytes = bench[1].bytes(kTarget, kHeapBytes + 0x1000);
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

uint8_t status_of(NicBench& bench, const stretto_nic_work_entry_t& entry) {
  bench.program();
  bench[0].fill(kSource, pattern(4096));
  bench[0].send(entry, kReady);
  bench.run();
  REQUIRE(bench[0].completion(0).serial == 1);
  return bench[0].completion(0).status;
}

TEST_CASE("a put with a key of another generation is refused and changes nothing") {
  NicBench bench;
  auto entry = put_entry(bench[0], bench[1], 64);
  entry.remote_key = stretto_nic_key(kTargetRegion, 1);
  CHECK(status_of(bench, entry) == STRETTO_NIC_REMOTE_ACCESS);
  CHECK(is_untouched(bench));
  CHECK(bench[1].nic.counters().refused == 1);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a put one byte beyond its region is refused as a whole") {
  NicBench bench;
  auto entry = put_entry(bench[0], bench[1], 8193);
  entry.remote_address = bench[1].at(kTarget + kHeapBytes - 8192);
  CHECK(status_of(bench, entry) == STRETTO_NIC_REMOTE_ACCESS);
  CHECK(is_untouched(bench));
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a put that ends where its region ends is not refused") {
  NicBench bench;
  auto entry = put_entry(bench[0], bench[1], 8192);
  entry.remote_address = bench[1].at(kTarget + kHeapBytes - 8192);
  CHECK(status_of(bench, entry) == STRETTO_NIC_OK);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a put before its region is refused") {
  NicBench bench;
  auto entry = put_entry(bench[0], bench[1], 64);
  entry.remote_address -= 1;
  CHECK(status_of(bench, entry) == STRETTO_NIC_REMOTE_ACCESS);
  CHECK(is_untouched(bench));
}

TEST_CASE("a region that may not be written refuses puts") {
  NicBench bench;
  auto entry = put_entry(bench[0], bench[1], 64);
  entry.remote_key = stretto_nic_key(kSourceRegion, 0);
  entry.remote_address = bench[1].at(kSource);
  CHECK(status_of(bench, entry) == STRETTO_NIC_REMOTE_ACCESS);
}

TEST_CASE("a region that may not be read refuses gets") {
  NicBench bench;
  auto entry = result_entry(bench[0], bench[1], STRETTO_NIC_GET, 64);
  entry.remote_key = stretto_nic_key(kResultRegion, 0);
  entry.remote_address = bench[1].at(kResults);
  CHECK(status_of(bench, entry) == STRETTO_NIC_REMOTE_ACCESS);
}

TEST_CASE("a region without the right for atomics refuses them") {
  NicBench bench;
  auto entry = result_entry(bench[0], bench[1], STRETTO_NIC_FETCH_ADD, 8);
  entry.operand = 1;
  entry.remote_key = stretto_nic_key(kResultRegion, 0);
  entry.remote_address = bench[1].at(kResults);
  CHECK(status_of(bench, entry) == STRETTO_NIC_REMOTE_ACCESS);
  CHECK(bench[1].word(kResults) == 0);
}

TEST_CASE("an atomic on a word that is not aligned is refused") {
  NicBench bench;
  auto entry = result_entry(bench[0], bench[1], STRETTO_NIC_FETCH_ADD, 8);
  entry.operand = 1;
  entry.remote_address += 4;
  CHECK(status_of(bench, entry) == STRETTO_NIC_REMOTE_LENGTH);
  CHECK(is_untouched(bench));
}

TEST_CASE("a source one byte beyond its region sends nothing") {
  NicBench bench;
  auto entry = put_entry(bench[0], bench[1], 65);
  entry.local_address = bench[0].at(kSource + kHeapBytes - 64);
  CHECK(status_of(bench, entry) == STRETTO_NIC_LOCAL_PROTECTION);
  CHECK(bench[0].nic.counters().packets_sent == 0);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a result may not land in a region that is not for results") {
  NicBench bench;
  auto entry = result_entry(bench[0], bench[1], STRETTO_NIC_GET, 64);
  entry.local_key = stretto_nic_key(kSourceRegion, 0);
  entry.local_address = bench[0].at(kSource);
  CHECK(status_of(bench, entry) == STRETTO_NIC_LOCAL_PROTECTION);
  CHECK(bench[0].nic.counters().packets_sent == 0);
}

struct BadEntry {
  uint8_t opcode, flags;
  uint32_t length;
  uint8_t status;
};
constexpr BadEntry kBadEntries[] = {
    {0, 0, 8, STRETTO_NIC_BAD_ENTRY},
    {STRETTO_NIC_RECEIVE, 0, 8, STRETTO_NIC_BAD_ENTRY},
    {STRETTO_NIC_PUT, 8, 8, STRETTO_NIC_BAD_ENTRY},
    {STRETTO_NIC_GET, STRETTO_NIC_INLINE, 8, STRETTO_NIC_BAD_ENTRY},
    {STRETTO_NIC_PUT, 0, 0, STRETTO_NIC_BAD_LENGTH},
    {STRETTO_NIC_PUT, 0, (1u << 30) + 1, STRETTO_NIC_BAD_LENGTH},
    {STRETTO_NIC_FETCH_ADD, 0, 4, STRETTO_NIC_BAD_LENGTH},
    {STRETTO_NIC_PUT, STRETTO_NIC_INLINE, 17, STRETTO_NIC_BAD_LENGTH},
};

TEST_CASE("an entry that is none ends with the reason, each in a pair of its own") {
  NicBench bench;
  bench.program();
  for (uint16_t i = 0; i < std::size(kBadEntries); ++i) {
    const uint16_t number = static_cast<uint16_t>(10 + i);
    bench[0].set(NIC_PAIR_SEND_BASE_OFFSET_AT(number), bench[0].at(0x20000 + 0x1000 * i));
    bench[0].set(NIC_PAIR_CONFIG_OFFSET_AT(number), NIC_PAIR_CONFIG_VALID_MASK);
    auto entry = put_entry(bench[0], bench[1], kBadEntries[i].length, i);
    entry.opcode = kBadEntries[i].opcode;
    entry.flags = kBadEntries[i].flags;
    bench[0].enqueue(0x20000 + 0x1000 * i, 0, entry);
    bench[0].post(STRETTO_DOORBELL_APERTURE,
                  stretto_nic_doorbell(STRETTO_NIC_DOORBELL_SEND, number, 1),
                  kReady + i * kMicrosecond);
  }
  bench.run();
  for (uint32_t i = 0; i < std::size(kBadEntries); ++i) {
    CHECK(bench[0].completion(i).id == i);
    CHECK(bench[0].completion(i).status == kBadEntries[i].status);
  }
  CHECK(bench[0].nic.counters().packets_sent == 0);
  CHECK(bench.violated() == kNone);
}

TEST_CASE(
    "what is before a failure ends well, what is behind it is flushed, another pair goes on") {
  NicBench bench;
  bench.program();
  bench[0].fill(kSource, pattern(20'000));
  auto add = result_entry(bench[0], bench[1], STRETTO_NIC_FETCH_ADD, 8, 0);
  add.remote_address = bench[1].at(kTarget + 0x200000);
  bench[0].send(add, kReady);
  bench[0].send(put_entry(bench[0], bench[1], 20'000, 1), kReady);
  auto bad = put_entry(bench[0], bench[1], 64, 2);
  bad.remote_key = 0;
  bench[0].send(bad, kReady);
  bench[0].send(put_entry(bench[0], bench[1], 64, 3, 0x100000), kReady);
  // The other way, on a pair of its own.
  bench[0].pair(1, 9, 9);
  bench[1].pair(0, 9, 9);
  bench[1].fill(kSource, pattern(64));
  bench[1].send(put_entry(bench[1], bench[0], 64, 4), kReady + 100 * kMicrosecond, 9);
  bench.run();
  CHECK(bench[0].completion(0).status == STRETTO_NIC_OK);
  CHECK(bench[0].completion(1).status == STRETTO_NIC_OK);
  CHECK(bench[0].completion(2).status == STRETTO_NIC_REMOTE_ACCESS);
  CHECK(bench[0].completion(2).bytes == 0);
  CHECK(bench[0].completion(3).status == STRETTO_NIC_FLUSHED);
  CHECK((bench[1].bytes(kTarget, 20'000) == pattern(20'000)));
  CHECK(bench[1].word(kTarget + 0x100000) == 0);
  CHECK(bench[1].completion(0).status == STRETTO_NIC_OK);
  CHECK((bench[0].bytes(kTarget, 64) == pattern(64)));
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a doorbell beyond its ring reads nothing and is an error of the pair") {
  NicBench bench;
  bench.program();
  bench[0].post(STRETTO_DOORBELL_APERTURE,
                stretto_nic_doorbell(STRETTO_NIC_DOORBELL_SEND, kPair, 65), kReady);
  bench[0].send(put_entry(bench[0], bench[1], 64, 7), kReady + kMicrosecond);
  bench.run();
  CHECK(bench[0].nic.counters().overflows == 1);
  CHECK(bench[0].completion(0).id == 7);
  CHECK(bench[0].completion(0).status == STRETTO_NIC_FLUSHED);
  CHECK(is_untouched(bench));
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a completion that finds its queue full breaks a law and stops the pair") {
  NicBench bench;
  bench.program();
  bench[0].completion_queue(0);  // One entry.
  for (uint64_t i = 0; i < 3; ++i) bench[0].send(put_entry(bench[0], bench[1], 64, i), kReady);
  bench.run();
  CHECK(bench[0].completion(0).id == 0);
  CHECK(bench.violated() == std::vector<std::string>{"server0.nic: completions owed = written"});
}

TEST_CASE("doorbells for nobody, or on a page of others, are refused and counted") {
  NicBench bench;
  bench.program();
  bench[0].pair(1, 9, kPair, 3);
  bench[0].send(put_entry(bench[0], bench[1], 64, 1), kReady, 9, 2);
  bench[0].post(STRETTO_DOORBELL_APERTURE, stretto_nic_doorbell(STRETTO_NIC_DOORBELL_SEND, 200, 1),
                kReady);
  bench[0].post(STRETTO_DOORBELL_APERTURE, stretto_nic_doorbell(77, kPair, 1), kReady);
  bench.run();
  CHECK(bench[0].nic.counters().doorbells_refused == 3);
  CHECK(bench[0].nic.counters().begun == 0);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a packet of a pair that is nobody's peer is discarded") {
  NicSpec spec;
  spec.acknowledge_timeout_ns = 10'000;
  NicBench bench(spec);
  bench.program();
  bench[0].pair(1, 9, kPair);  // The pair there talks to kPair.
  bench[0].fill(kSource, pattern(64));
  bench[0].send(put_entry(bench[0], bench[1], 64), kReady, 9);
  bench.run();
  CHECK(bench[0].completion(0).status == STRETTO_NIC_RETRIES_EXCEEDED);
  CHECK(bench[1].nic.counters().bytes_discarded == 64 * spec.retries);
  CHECK(is_untouched(bench));
  CHECK(bench.violated() == kNone);
}

TEST_CASE("an access to nothing at the NIC breaks a law") {
  NicBench bench;
  bench[0].post(STRETTO_DOORBELL_APERTURE + uint64_t{STRETTO_NIC_PAGES} * STRETTO_NIC_PAGE_BYTES,
                1);
  bench[0].set(0x8, 1);      // No register.
  bench[0].post(0x1000, 1);  // Memory, which it has not.
  bench.run();
  CHECK(bench.violated() ==
        std::vector<std::string>{"server0.router: received bytes = written bytes",
                                 "server0.nic: accesses to nothing at the NIC = 0"});
}

TEST_CASE("a source that does not answer ends its operation and sends nothing of it") {
  NicBench bench;
  bench[0].gpu.memory.refuse_from = kSource;
  const auto entry = put_entry(bench[0], bench[1], 64);
  CHECK(status_of(bench, entry) == STRETTO_NIC_LOCAL_PROTECTION);
  CHECK(bench[0].nic.counters().packets_sent == 0);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a get whose memory does not answer fails") {
  NicBench bench;
  bench[1].gpu.memory.refuse_from = kTarget;
  const auto entry = result_entry(bench[0], bench[1], STRETTO_NIC_GET, 64);
  CHECK(status_of(bench, entry) == STRETTO_NIC_REMOTE_OPERATION);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("an atomic whose memory does not answer fails") {
  NicBench bench;
  bench[1].gpu.memory.refuse_from = kTarget;
  const auto entry = result_entry(bench[0], bench[1], STRETTO_NIC_FETCH_ADD, 8);
  CHECK(status_of(bench, entry) == STRETTO_NIC_REMOTE_OPERATION);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("entries that cannot be read put the pair into error") {
  NicBench bench;
  bench.program();
  bench[0].set(NIC_PAIR_SEND_BASE_OFFSET_AT(9), uint64_t{0x55} << STRETTO_NODE_SHIFT);
  bench[0].set(NIC_PAIR_CONFIG_OFFSET_AT(9), NIC_PAIR_CONFIG_VALID_MASK);
  bench[0].post(STRETTO_DOORBELL_APERTURE, stretto_nic_doorbell(STRETTO_NIC_DOORBELL_SEND, 9, 1),
                kReady);
  bench.run();
  CHECK(bench[0].nic.counters().begun == 0);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a send longer than its receive entry fails at both ends") {
  NicBench bench;
  bench.program();
  bench[1].region(9, bench[1].at(kTarget), 0x10000, STRETTO_NIC_LOCAL_WRITE);
  stretto_nic_work_entry_t receive{};
  receive.id = 50;
  receive.local_address = bench[1].at(kTarget);
  receive.length = 63;
  receive.local_key = stretto_nic_key(9, 0);
  bench[1].receive(receive, kReady);
  bench[1].receive(receive, kReady);
  auto entry = put_entry(bench[0], bench[1], 64);
  entry.opcode = STRETTO_NIC_SEND;
  bench[0].fill(kSource, pattern(64));
  bench[0].send(entry, 2 * kReady);
  bench.run();
  CHECK(bench[0].completion(0).status == STRETTO_NIC_REMOTE_LENGTH);
  CHECK(bench[1].completion(0).status == STRETTO_NIC_BAD_LENGTH);
  CHECK(bench[1].completion(1).status == STRETTO_NIC_FLUSHED);
  CHECK(is_untouched(bench));
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a receive entry whose key does not fit fails at both ends") {
  NicBench bench;
  bench.program();
  stretto_nic_work_entry_t receive{};
  receive.local_address = bench[1].at(kTarget);
  receive.length = 64;
  receive.local_key = stretto_nic_key(kTargetRegion, 0);  // Not for local writes.
  bench[1].receive(receive, kReady);
  auto entry = put_entry(bench[0], bench[1], 64);
  entry.opcode = STRETTO_NIC_SEND;
  bench[0].fill(kSource, pattern(64));
  bench[0].send(entry, 2 * kReady);
  bench.run();
  CHECK(bench[0].completion(0).status == STRETTO_NIC_REMOTE_OPERATION);
  CHECK(bench[1].completion(0).status == STRETTO_NIC_LOCAL_PROTECTION);
  CHECK(is_untouched(bench));
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a region that ends during a put takes no byte behind the word that says it is free") {
  NicBench bench;
  bench.program();
  bench[1].set(NIC_RELEASE_OFFSET, bench[1].at(kReleases));
  bench[0].fill(kSource, std::vector<uint8_t>(1 << 20, 0xAA));
  bench[0].send(put_entry(bench[0], bench[1], 1 << 20), kReady);
  bench[1].end_region(kTargetRegion, kReady + 40 * kMicrosecond);
  bench.run();
  CHECK(bench[0].completion(0).status == STRETTO_NIC_REMOTE_ACCESS);
  CHECK(bench[1].word(kReleases + 8 * kTargetRegion) == 1);
  const Time free_at = bench[1].writes_at(kReleases)[0];
  const auto written = bench[1].writes_at(kTarget, 0, kHeapBytes);
  CHECK(!written.empty());
  CHECK(written.size() < 256);
  CHECK(*std::max_element(written.begin(), written.end()) <= free_at);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a source region that ends during a put ends the put") {
  NicBench bench;
  bench.program();
  bench[0].fill(kSource, std::vector<uint8_t>(1 << 20, 0xAA));
  bench[0].send(put_entry(bench[0], bench[1], 1 << 20), kReady);
  bench[0].end_region(kSourceRegion, kReady + 40 * kMicrosecond);
  bench.run();
  CHECK(bench[0].completion(0).status == STRETTO_NIC_LOCAL_PROTECTION);
  CHECK(bench.violated() == kNone);
}

TEST_CASE("a pair that starts anew while it moves data leaks nothing and works again") {
  NicBench bench;
  bench.program();
  bench[0].fill(kSource, pattern(1 << 20));
  bench[0].send(put_entry(bench[0], bench[1], 1 << 20), kReady);
  bench[0].send(result_entry(bench[0], bench[1], STRETTO_NIC_FETCH_ADD, 8), kReady);
  for (unsigned i = 0; i < 2; ++i) bench[i].set(NIC_PAIR_CONFIG_OFFSET_AT(kPair), 0, 2 * kReady);
  const Time again = 10 * kReady;
  for (unsigned i = 0; i < 2; ++i) {
    bench[i].set(NIC_PAIR_CONFIG_OFFSET_AT(kPair),
                 NIC_PAIR_CONFIG_VALID_MASK | STRETTO_FIELD(NIC_PAIR_CONFIG_SEND_ENTRIES_LOG2, 6),
                 again);
  }
  bench[0].gpu.second.call(again, [&bench] {
    bench[0].enqueue(kSendRing, 0, put_entry(bench[0], bench[1], 64, 9, 0x200000));
  });
  bench[0].post(STRETTO_DOORBELL_APERTURE,
                stretto_nic_doorbell(STRETTO_NIC_DOORBELL_SEND, kPair, 1), again + kMicrosecond);
  bench[0].fill(kSource + 0x200000, pattern(64));
  bench.run();
  CHECK(bench[0].nic.counters().abandoned == 2);
  CHECK(bench[0].completion(0).id == 9);
  CHECK(bench[0].completion(0).status == STRETTO_NIC_OK);
  CHECK((bench[1].bytes(kTarget + 0x200000, 64) == pattern(64)));
  CHECK(bench.violated() == kNone);
}

}  // namespace
}  // namespace stretto::test
