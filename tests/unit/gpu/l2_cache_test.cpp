// SPDX-License-Identifier: Apache-2.0
// Question: is the L2 the cache that its page describes? Hits and misses of three traces against an
// independent LRU simulator (lists and maps, written from the description), merging, write-backs
// and their accounts, kernel boundaries, bypass, remote, atomics, locks, pins.
#include <catch2/catch.hpp>

#include <list>
#include <set>

#include "models/common/error.h"
#include "tests/support/seeded_rng.h"
#include "tests/unit/gpu/program.h"

using namespace stretto;
using namespace stretto::test;

namespace {

// The description in plain arithmetic: 16 MiB, 16 ways, 64 banks (two a channel of 32), 256 B
// blocks spread over the channels by XOR of all 5-bit pieces of the block number; a line's place in
// its channel, folded by 7 bits, is its set.
class ReferenceCache {
 public:
  struct Answer {
    bool hit;
    std::vector<uint64_t> written_back;  // Sector addresses.
  };
  Answer access(uint64_t address, bool write) {
    const uint64_t line = address / 128;
    const unsigned sector = address / 64 % 2;
    std::list<Line>& set = sets_[set_of(line)];
    Answer answer{false, {}};
    auto found = set.begin();
    while (found != set.end() && found->number != line) ++found;
    if (found != set.end()) {
      answer.hit = found->valid[sector];
      set.splice(set.begin(), set, found);
    } else {
      if (set.size() == 16) {
        for (unsigned i = 0; i < 2; ++i) {
          if (set.back().dirty[i]) answer.written_back.push_back(set.back().number * 128 + i * 64);
        }
        set.pop_back();
      }
      set.push_front({line, {}, {}});
    }
    set.front().valid[sector] = true;
    if (write) set.front().dirty[sector] = true;
    return answer;
  }

 private:
  struct Line {
    uint64_t number;
    bool valid[2];
    bool dirty[2];
  };
  static unsigned set_of(uint64_t line) {
    const uint64_t block = line / 2;
    unsigned channel = block % 32;
    for (uint64_t rest = block / 32; rest != 0; rest /= 32) channel ^= rest % 32;
    const uint64_t in_channel = block / 32;
    const unsigned set = (in_channel ^ in_channel / 128 ^ in_channel / 16384) % 128;
    return (channel * 2 + line % 2) * 128 + set;
  }
  std::map<unsigned, std::list<Line>> sets_;
};

// Release and acquire at system scope.
constexpr uint64_t kBoundary = GPU_L2_COMMAND_WRITE_BACK_MASK | GPU_L2_COMMAND_INVALIDATE_MASK;

// What a breach of the coherence law says; empty if there is none.
template <class Access>
std::string breach(Access access) {
  try {
    access();
  } catch (const CheckError& error) {
    return error.what();
  }
  return "";
}

struct Bench : GpuMachine {
  using GpuMachine::GpuMachine;
  uint8_t line[64] = {};
  // One access by the command processor, and everything that it causes.
  void access(uint64_t address, bool write) {
    cp_done.clear();
    PooledPayload& payload =
        cp_request(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
                   write ? Operation::write : Operation::read, address, line, 64);
    run();
    REQUIRE(cp_done.size() == 1);
    payload.release();
  }
  // An access of the DMA engine.
  void pass(Operation operation, uint64_t offset, uint64_t bytes) {
    StrettoExtension by;
    by.engine = Engine::dma;
    by.unit = 3;
    by.operation = operation;
    gpu.l2.passes(by, offset, bytes);
  }
  uint64_t hits() { return gpu.l2.total(gpu.l2.counters().hits); }
  uint64_t misses() { return gpu.l2.total(gpu.l2.counters().misses); }
  uint64_t write_backs() { return gpu.l2.total(gpu.l2.counters().write_backs); }
};

// Runs a trace through both and compares every access.
void compare(const std::vector<std::pair<uint64_t, bool>>& trace) {
  Bench bench;
  ReferenceCache reference;
  uint64_t hits = 0, misses = 0, written_back = 0;
  for (const auto& [address, write] : trace) {
    const ReferenceCache::Answer answer = reference.access(address, write);
    if (!write) ++(answer.hit ? hits : misses);
    written_back += answer.written_back.size();
    bench.memory.record = true;
    bench.memory.accesses.clear();
    bench.access(kNode + address, write);
    std::vector<uint64_t> seen;
    for (const FixedMemory::Access& access : bench.memory.accesses) {
      if (access.command != tlm::TLM_WRITE_COMMAND) continue;
      for (unsigned at = 0; at < access.bytes; at += 64)
        seen.push_back((access.address & STRETTO_OFFSET_MASK) + at);
    }
    if (bench.hits() != hits || bench.misses() != misses || seen != answer.written_back) {
      FAIL("access to 0x" << std::hex << address << (write ? " (write)" : " (read)") << " differs");
    }
  }
  REQUIRE(bench.hits() == hits);
  REQUIRE(bench.misses() == misses);
  REQUIRE(bench.write_backs() == written_back);
  REQUIRE(hits > 0);
  REQUIRE(misses > 0);
}

}  // namespace

TEST_CASE("a sequential trace larger than the cache hits and misses like LRU") {
  std::vector<std::pair<uint64_t, bool>> trace;
  for (unsigned pass = 0; pass < 2; ++pass) {
    for (uint64_t i = 0; i < 40'000; ++i) trace.push_back({i * 192 % (20 << 20) / 64 * 64, false});
  }
  for (uint64_t i = 0; i < 10'000; ++i) trace.push_back({i * 64, false});
  compare(trace);
}

TEST_CASE("a random trace with writes hits, misses and writes back like LRU") {
  Rng rng(2);
  std::vector<std::pair<uint64_t, bool>> trace;
  // Few sets, so that they overflow: lines that differ in high bits only, and some of everywhere.
  for (unsigned i = 0; i < 60'000; ++i) {
    const uint64_t address =
        rng.chance(3, 4) ? rng.below(64) * (1 << 20) + rng.below(8) * 64 : rng.below(1 << 24) * 64;
    trace.push_back({address, rng.chance(1, 3)});
  }
  compare(trace);
}

TEST_CASE("a strided tile trace hits and misses like LRU") {
  std::vector<std::pair<uint64_t, bool>> trace;
  // Panels of 128 rows at the pitch of T-NLG's operands, read again by the next tiles.
  for (uint64_t tile = 0; tile < 6; ++tile) {
    for (uint64_t k = 0; k < 16; ++k) {
      for (uint64_t row = 0; row < 128; ++row)
        trace.push_back({(tile / 2 * 128 + row) * 4352 + k * 64, false});
      for (uint64_t row = 0; row < 128; ++row)
        trace.push_back({(16 << 20) + (tile % 3 * 128 + row) * 4352 + k * 64, false});
    }
    for (uint64_t row = 0; row < 128; ++row)
      trace.push_back({(64 << 20) + (tile * 128 + row) * 8512, true});
  }
  compare(trace);
}

TEST_CASE("sectors that many ask for are fetched once") {
  Bench bench;
  bench.map(kNode + 0x100000, 0x10000);
  Program p;
  p.load_at(0, kNode + 0x100000, shape(32, 64, 128)).end();
  Launch launch = p.launch();
  launch.workgroups = 8;
  p.run(bench, launch);
  REQUIRE(bench.misses() == 32);
  REQUIRE(bench.gpu.l2.total(bench.gpu.l2.counters().merges) + bench.hits() == 7 * 32);
  REQUIRE(bench.gpu.l2.total(bench.gpu.l2.counters().merges) > 0);
  REQUIRE(bench.memory.read_bytes == 32 * 64);
}

TEST_CASE(
    "a load that misses gets what memory holds when its sector comes, a hit what it holds now") {
  // A write that memory has taken in but not yet done when the load is sent is done before the fill
  // (same-atom order).
  Bench bench;
  const auto store = [&](uint8_t value) { bench.image.write(0x8000, &value, 1); };
  store(1);
  bench.cp_done.clear();
  PooledPayload& load =
      bench.cp_request(tlm::TLM_READ_COMMAND, Operation::read, kNode + 0x8000, bench.line, 64);
  store(2);
  bench.run();
  REQUIRE(bench.cp_done.size() == 1);
  load.release();
  REQUIRE(bench.line[0] == 2);
  store(3);
  bench.access(kNode + 0x8000, false);
  REQUIRE(bench.hits() == 1);
  REQUIRE(bench.line[0] == 3);
}

TEST_CASE("neighbouring missing sectors of a block are one payload") {
  Bench bench;
  bench.map(kNode + 0x100000, 0x10000);
  Program p;
  p.load_at(0, kNode + 0x100000 + 64, shape(1, 448, 448)).end().run(bench);
  REQUIRE(bench.misses() == 7);
  REQUIRE(bench.memory.requests == 2);  // 192 bytes of the first block, 256 of the second.
}

TEST_CASE("a kernel boundary writes back on the account of who dirtied and forgets the rest") {
  Bench bench;
  bench.map(kNode + 0x100000, 0x10000);
  Program p;
  p.load_at(0, kNode + 0x100000, shape(8, 64, 128))
      .store_at(0, kNode + 0x104000, shape(8, 64, 128))
      .end();
  Launch launch = p.launch();
  launch.account = kKernelAccount;
  p.run(bench, launch);
  bench.access(kNode + 0x108000, true);
  REQUIRE(bench.memory.written_bytes == 0);
  REQUIRE((bench.read(GPU_L2_STATUS_OFFSET) & GPU_L2_STATUS_BUSY_MASK) == 0);
  bench.write(GPU_L2_COMMAND_OFFSET, kBoundary);
  REQUIRE((bench.read(GPU_L2_STATUS_OFFSET) & GPU_L2_STATUS_BUSY_MASK) != 0);
  bench.run();
  REQUIRE(bench.read(GPU_L2_STATUS_OFFSET) == uint64_t{1} << 32);
  REQUIRE(bench.memory.written_by[kKernelAccount] == 8 * 64);
  REQUIRE(bench.memory.written_by[STRETTO_ACCOUNT_CP] == 64);
  const uint64_t misses = bench.misses();
  bench.access(kNode + 0x100000, false);
  REQUIRE(bench.misses() == misses + 1);
  bench.write(GPU_L2_COMMAND_OFFSET, kBoundary);
  bench.run();
  REQUIRE(bench.memory.written_bytes == 9 * 64);  // Nothing was dirty any more.
}

TEST_CASE("a release keeps the lines and interrupts at its end, an acquire keeps what is dirty") {
  Bench bench;
  bench.access(kNode + 0x100000, true);
  bench.access(kNode + 0x200000, false);
  bench.write(GPU_L2_COMMAND_OFFSET, GPU_L2_COMMAND_WRITE_BACK_MASK);
  REQUIRE_FALSE(bench.lines.level[STRETTO_IRQ_L2]);
  bench.run();
  REQUIRE(bench.lines.level[STRETTO_IRQ_L2]);
  bench.write(GPU_L2_DONE_OFFSET, GPU_L2_DONE_PENDING_MASK);
  REQUIRE_FALSE(bench.lines.level[STRETTO_IRQ_L2]);
  REQUIRE(bench.memory.written_bytes == 64);
  bench.access(kNode + 0x100000, false);
  bench.access(kNode + 0x200000, false);
  REQUIRE(bench.hits() == 2);
  bench.access(kNode + 0x100000, true);
  bench.write(GPU_L2_COMMAND_OFFSET, GPU_L2_COMMAND_INVALIDATE_MASK);
  REQUIRE(bench.memory.written_bytes == 64);
  bench.access(kNode + 0x100000, false);
  REQUIRE(bench.hits() == 3);
  bench.access(kNode + 0x200000, false);
  REQUIRE(bench.hits() == 3);
  // Nothing dirty: the release is complete at once.
  bench.write(GPU_L2_COMMAND_OFFSET, GPU_L2_COMMAND_WRITE_BACK_MASK);
  bench.run();
  bench.write(GPU_L2_DONE_OFFSET, GPU_L2_DONE_PENDING_MASK);
  bench.write(GPU_L2_COMMAND_OFFSET, GPU_L2_COMMAND_WRITE_BACK_MASK);
  REQUIRE(bench.lines.level[STRETTO_IRQ_L2]);
}

TEST_CASE("who passes the L2 by where a sector is dirty is named with who dirtied it") {
  Bench bench;
  for (const Operation operation : {Operation::read, Operation::update, Operation::write}) {
    bench.access(kNode + 0x100040, true);
    CHECK(breach([&] { bench.pass(operation, 0x100000, 64); }).empty());
    const std::string says = breach([&] { bench.pass(operation, 0x0FFF00, 0x200); });
    CHECK_THAT(says, Catch::Contains("gpu0: sector 0x10000100040 ") &&
                         Catch::Contains("by the DMA engine, queue 3") &&
                         Catch::Contains("written by hart 0"));
    bench.write(GPU_L2_COMMAND_OFFSET, GPU_L2_COMMAND_WRITE_BACK_MASK);
    bench.run();
    CHECK(breach([&] { bench.pass(operation, 0x0FFF00, 0x200); }).empty());
  }
}

TEST_CASE("of a sector that is dirty in part only the dirty bytes are guarded") {
  Bench bench;
  const auto store = [&](uint64_t offset, unsigned bytes) {
    bench.cp_request(tlm::TLM_WRITE_COMMAND, Operation::write, kNode + offset, bench.line, bytes);
    bench.run();
  };
  const auto guarded = [&](uint64_t offset) {
    return !breach([&] { bench.pass(Operation::read, offset, 4); }).empty();
  };
  store(0x100048, 8);
  store(0x100060, 8);
  for (const uint64_t offset : {0x100040, 0x100050, 0x10005C, 0x100068, 0x10007C, 0x100000})
    CHECK_FALSE(guarded(offset));
  for (const uint64_t offset : {0x100048, 0x10004C, 0x100060, 0x100064}) CHECK(guarded(offset));
  // The rest: then it is dirty in full, and stays so.
  store(0x100040, 64);
  store(0x100048, 8);
  for (const uint64_t offset : {0x100040, 0x100048, 0x10007C}) CHECK(guarded(offset));
  CHECK_FALSE(guarded(0x100000));
  // In memory, and written in part again.
  bench.write(GPU_L2_COMMAND_OFFSET, GPU_L2_COMMAND_WRITE_BACK_MASK);
  bench.run();
  store(0x100050, 8);
  CHECK(guarded(0x100050));
  for (const uint64_t offset : {0x100040, 0x100048, 0x100060}) CHECK_FALSE(guarded(offset));
}

TEST_CASE("a hit on a sector that was changed behind the L2 is named with who changed it") {
  Bench bench;
  bench.access(kNode + 0x100000, false);
  bench.access(kNode + 0x100040, false);
  bench.pass(Operation::write, 0x100040, 8);
  CHECK(breach([&] { bench.access(kNode + 0x100000, false); }).empty());
  const auto reads = [&] {
    PooledPayload& payload =
        bench.cp_request(tlm::TLM_READ_COMMAND, Operation::read, kNode + 0x100040, bench.line, 64);
    bench.run();
    payload.release();
  };
  CHECK_THAT(breach(reads), Catch::Contains("sector 0x10000100040") &&
                                Catch::Contains("changed behind it by the DMA engine, queue 3"));
}

TEST_CASE("after an acquire, a write or an eviction of its own a changed sector is read again") {
  L2Spec spec;
  spec.bytes = 1 << 20;
  Bench bench(GpuMachine::small(), spec);
  bench.access(kNode + 0x100000, false);
  bench.pass(Operation::fill, 0x100000, 64);
  bench.write(GPU_L2_COMMAND_OFFSET, GPU_L2_COMMAND_INVALIDATE_MASK);
  CHECK(breach([&] { bench.access(kNode + 0x100000, false); }).empty());
  CHECK(bench.misses() == 2);
  bench.pass(Operation::fill, 0x100000, 64);
  bench.access(kNode + 0x100000, true);
  CHECK(breach([&] { bench.access(kNode + 0x100000, false); }).empty());
  bench.write(GPU_L2_COMMAND_OFFSET, GPU_L2_COMMAND_WRITE_BACK_MASK);
  bench.run();
  bench.pass(Operation::update, 0x100000, 64);
  for (uint64_t i = 1; i < 20'000; ++i) bench.access(kNode + 0x100000 + i * 128, false);
  CHECK(breach([&] { bench.access(kNode + 0x100000, false); }).empty());
}

TEST_CASE("a boundary of many lines keeps to the limit in flight and ends") {
  L2Spec spec;
  spec.write_backs_in_flight = 2;
  Bench bench(GpuMachine::small(), spec);
  for (uint64_t i = 0; i < 1000; ++i) bench.access(kNode + i * 128, true);
  const Time begin = bench.queue.now();
  bench.write(GPU_L2_COMMAND_OFFSET, kBoundary);
  const Time end = bench.run();
  REQUIRE(bench.memory.written_bytes == 64'000);
  REQUIRE(end - begin >= 1000 / 32 / 2 * 300 * kNanosecond);
  REQUIRE((bench.read(GPU_L2_STATUS_OFFSET) & GPU_L2_STATUS_BUSY_MASK) == 0);
}

TEST_CASE("uncached updates go to memory in contiguous pieces with their ids",
          "[T3-NMC-02][T3-TRK-10]") {
  Bench bench;
  RangeEntry entry;
  entry.base = kNode + 0x200000;
  entry.rows = 1;
  entry.row_bytes = 0x100000;
  entry.update = entry.tracked = true;
  entry.allocation = AllocationClass::uncached;
  bench.map(kNode + 0x100000, 0x10000);
  bench.map(entry);
  for (unsigned i = 0; i < 1024; ++i)
    bench.set_value<uint16_t>(kNode + 0x100000 + 2 * i, fp16_from_fp32(1.5f));
  Program p;  // The pitch of T-NLG's output: 8512 = 33 * 256 + 64.
  p.load_at(0, kNode + 0x100000, shape(4, 256, 256))
      .store_at(0, kNode + 0x200000, shape(4, 256, 8512))
      .end();
  Launch launch = p.launch();
  launch.update = true;
  launch.workgroups = 1;
  p.put_into(bench);
  bench.memory.record = true;
  bench.run_kernel(launch);
  bench.run_kernel(launch);
  REQUIRE(bench.memory.updated_bytes == 2 * 1024);
  unsigned updates = 0;
  for (const FixedMemory::Access& access : bench.memory.accesses) {
    if (access.command != tlm::TLM_WRITE_COMMAND) continue;
    ++updates;
    REQUIRE(access.extension.operation == Operation::update);
    REQUIRE(access.extension.tracked);
    REQUIRE(access.extension.wg_id == 0);
    REQUIRE(access.extension.element == ElementType::fp16);
    REQUIRE(access.extension.account == kKernelAccount);
  }
  REQUIRE(updates == 2 * (1 + 2 + 2 + 2));
  REQUIRE(fp32_from_fp16(bench.value_at<uint16_t>(kNode + 0x200000 + 3 * 8512 + 254)) == 3.0f);
  REQUIRE(bench.gpu.l2.total(bench.gpu.l2.counters().written) == 0);
}

TEST_CASE("no cache holds uncached memory, nor stores that are tracked, whatever its class",
          "[T3-NMC-02]") {
  Bench bench;
  bench.map(kNode + 0x100000, 0x10000);
  bench.map(kNode + 0x200000, 0x10000, AllocationClass::uncached);
  RangeEntry tracked;
  tracked.base = kNode + 0x300000;
  tracked.rows = 1;
  tracked.row_bytes = 0x10000;
  tracked.tracked = true;
  bench.map(tracked);
  Program p;
  p.load_at(0, kNode + 0x100000, shape(4, 256, 256))
      .store_at(0, kNode + 0x200000, shape(4, 256, 256))
      .store_at(0, kNode + 0x300000, shape(4, 256, 256))
      .wait(0)
      .load_at(8, kNode + 0x200000, shape(4, 256, 256))
      .end();
  Launch launch = p.launch();
  launch.update = true;
  p.run(bench, launch);
  REQUIRE(bench.memory.written_bytes == 2 * 1024);
  REQUIRE(bench.memory.read_bytes == 2 * 1024);
  REQUIRE(bench.gpu.l2.total(bench.gpu.l2.counters().written) == 0);
  REQUIRE(bench.hits() + bench.misses() == 16);  // Sectors of the first load.
}

TEST_CASE("without the update bit the same kernel stores", "[T3-NMC-03]") {
  Bench bench;
  RangeEntry entry;
  entry.base = kNode + 0x200000;
  entry.rows = 1;
  entry.row_bytes = 0x100000;
  entry.update = entry.tracked = true;
  bench.map(kNode + 0x100000, 0x10000);
  bench.map(entry);
  Program p;
  p.load_at(0, kNode + 0x100000, shape(4, 256, 256))
      .store_at(0, kNode + 0x200000, shape(4, 256, 8512))
      .end()
      .run(bench);
  REQUIRE(bench.memory.updated_bytes == 0);
  REQUIRE(bench.gpu.l2.total(bench.gpu.l2.counters().written) == 16);
}

TEST_CASE("a remote entry sends one two-dimensional payload to the peer's address",
          "[T3-CFG-02][T3-FUSE-02]") {
  Bench bench;
  RangeEntry entry;
  entry.base = kNode + 0x200000;
  entry.pitch = 8512;
  entry.row_bytes = 1024;
  entry.rows = 64;
  entry.kind = RangeKind::remote;
  entry.update = entry.tracked = true;
  entry.peer_base = (uint64_t{4} << 40) + 0x700000;
  bench.map(kNode + 0x100000, 0x10000);
  bench.map(entry);
  bench.set_value<uint16_t>(kNode + 0x100000 + 256, 0x1234);
  Program p;
  p.load_at(0, kNode + 0x100000, shape(4, 256, 256))
      .store_at(0, entry.base + 2 * 8512 + 512, shape(4, 256, 8512))
      .end();
  Launch launch = p.launch();
  launch.update = true;
  p.run(bench, launch);
  REQUIRE(bench.gpu.front_end.fault_count() == 0);
  REQUIRE(bench.memory.remote.size() == 1);
  const FixedMemory::Access& access = bench.memory.remote[0];
  REQUIRE(access.address == entry.peer_base + 2 * 8512 + 512);
  REQUIRE(access.bytes == 1024);
  REQUIRE(access.extension.rows == 4);
  REQUIRE(access.extension.row_bytes == 256);
  REQUIRE(access.extension.pitch == 8512);
  REQUIRE(access.extension.operation == Operation::update);
  REQUIRE(access.extension.tracked);
  REQUIRE((access.data[256] == 0x34 && access.data[257] == 0x12));
  REQUIRE(bench.memory.written_bytes == 0);
}

TEST_CASE("a tile over two entries becomes one request each") {
  Bench bench;
  bench.map(kNode + 0x100000, 0x10000);
  bench.map(kNode + 0x200000, 0x800, AllocationClass::uncached);
  RangeEntry remote;
  remote.base = kNode + 0x200800;
  remote.rows = 1;
  remote.row_bytes = 0x800;
  remote.kind = RangeKind::remote;
  remote.peer_base = uint64_t{3} << 40;
  bench.map(remote);
  Program p;
  p.load_at(0, kNode + 0x100000, shape(16, 64, 64))
      .store_at(0, kNode + 0x200000, shape(16, 64, 256))
      .end()
      .run(bench);
  REQUIRE(bench.gpu.front_end.fault_count() == 0);
  REQUIRE(bench.memory.written_bytes == 8 * 64);
  REQUIRE(bench.memory.remote.size() == 1);
  REQUIRE(bench.memory.remote[0].address == uint64_t{3} << 40);
  REQUIRE(bench.memory.remote[0].extension.rows == 8);
}

TEST_CASE("streaming loads pass the cache") {
  Bench bench;
  bench.map(kNode + 0x100000, 0x10000);
  bench.map(kNode + 0x200000, 0x10000, AllocationClass::uncached);
  bench.set_value<uint64_t>(kNode + 0x100000 + 256, 77);
  Program p;
  p.constant(10, kNode + 0x100000)
      .constant(11, shape(4, 256, 256))
      .load(0, 10, 11, ElementType::fp16, true);
  p.store_at(0, kNode + 0x200000, shape(4, 256, 256)).end().run(bench);
  REQUIRE(bench.hits() + bench.misses() == 0);
  REQUIRE(bench.memory.read_bytes == 1024);
  REQUIRE(bench.value_at<uint64_t>(kNode + 0x200000 + 256) == 77);
}

TEST_CASE("an atomic returns the old value and leaves the line dirty", "[CN-RMW-03]") {
  Bench bench;
  bench.set_value<uint64_t>(kNode + 0x5000, 40);
  uint64_t operand = 2;
  PooledPayload& payload =
      bench.cp_request(tlm::TLM_WRITE_COMMAND, Operation::atomic, kNode + 0x5000,
                       reinterpret_cast<uint8_t*>(&operand), 8);
  bench.run();
  REQUIRE(bench.cp_done.size() == 1);
  payload.release();
  REQUIRE(operand == 40);
  REQUIRE(bench.value_at<uint64_t>(kNode + 0x5000) == 42);
  bench.write(GPU_L2_COMMAND_OFFSET, kBoundary);
  bench.run();
  REQUIRE(bench.memory.written_bytes == 64);
}

TEST_CASE("signed and unsigned atomics of four bytes compare as words") {
  REQUIRE(apply_atomic_op(AtomicOp::min, 4, 0xFFFFFFFF, 1) == 0xFFFFFFFF);
  REQUIRE(apply_atomic_op(AtomicOp::minu, 4, 0xFFFFFFFF, 1) == 1);
  REQUIRE(apply_atomic_op(AtomicOp::max, 8, ~uint64_t{0}, 1) == 1);
  REQUIRE(apply_atomic_op(AtomicOp::maxu, 8, ~uint64_t{0}, 1) == ~uint64_t{0});
  REQUIRE(apply_atomic_op(AtomicOp::swap, 4, 1, 2) == 2);
  REQUIRE(apply_atomic_op(AtomicOp::xor_, 4, 5, 1) == 4);
}

TEST_CASE("accesses to a locked line wait for the unlocking write") {
  Bench bench;
  uint64_t mine = 0, other = 0, elsewhere = 0;
  PooledPayload& lock = bench.cp_request(tlm::TLM_READ_COMMAND, Operation::locked_read,
                                         kNode + 0x5000, reinterpret_cast<uint8_t*>(&mine), 8);
  bench.run();
  REQUIRE(bench.cp_done.size() == 1);
  PooledPayload& late = bench.cp_request(tlm::TLM_READ_COMMAND, Operation::read, kNode + 0x5040,
                                         reinterpret_cast<uint8_t*>(&other), 8);
  PooledPayload& free = bench.cp_request(tlm::TLM_READ_COMMAND, Operation::read, kNode + 0x9000,
                                         reinterpret_cast<uint8_t*>(&elsewhere), 8);
  bench.run();
  REQUIRE(bench.cp_done.size() == 2);
  REQUIRE(bench.cp_done[1] == &free);
  REQUIRE(bench.gpu.waiting_on().size() == 1);
  bench.set_value<uint64_t>(kNode + 0x5040, 5);
  mine = 6;
  PooledPayload& unlock = bench.cp_request(tlm::TLM_WRITE_COMMAND, Operation::unlocking_write,
                                           kNode + 0x5000, reinterpret_cast<uint8_t*>(&mine), 8);
  bench.run();
  REQUIRE(bench.cp_done.size() == 4);
  REQUIRE(other == 5);
  REQUIRE(bench.value_at<uint64_t>(kNode + 0x5000) == 6);
  for (PooledPayload* payload : {&lock, &late, &free, &unlock}) payload->release();
}

TEST_CASE("a locked access to uncached memory passes the tags and unlocks when it is in memory") {
  Bench bench;
  constexpr uint64_t kWord = kNode + 0x5000;
  bench.set_value<uint64_t>(kWord, 5);
  uint64_t mine = 0, other = 0;
  std::vector<PooledPayload*> sent;
  const auto request = [&](tlm::tlm_command command, Operation operation, uint64_t& data) {
    sent.push_back(&bench.cp_request(command, operation, kWord, reinterpret_cast<uint8_t*>(&data),
                                     8, AllocationClass::uncached));
  };
  request(tlm::TLM_READ_COMMAND, Operation::locked_read, mine);
  bench.run();
  REQUIRE(mine == 5);
  request(tlm::TLM_READ_COMMAND, Operation::read, other);
  bench.run();
  REQUIRE(bench.cp_done.size() == 1);
  mine = 6;
  request(tlm::TLM_WRITE_COMMAND, Operation::unlocking_write, mine);
  bench.run();
  REQUIRE(bench.cp_done == std::vector<tlm::tlm_generic_payload*>{sent[0], sent[2], sent[1]});
  REQUIRE(other == 6);
  REQUIRE(bench.hits() + bench.misses() == 0);
  REQUIRE(bench.gpu.l2.total(bench.gpu.l2.counters().written) == 0);
  for (PooledPayload* payload : sent) payload->release();
}

TEST_CASE("tile.llc_store locks its sector, behind the wavefront's stores, until a hart reads it",
          "[CN-LOCK-01][CN-LOCK-02]") {
  L2Spec spec;
  spec.lock_ways = 15;
  Bench bench(GpuMachine::small(), spec);
  bench.map(kNode + 0x100000, 0x10000);
  constexpr uint64_t kStatus = kNode + 0x100040;
  Program p;
  p.constant(10, kStatus).addi(5, 0, 9).sd(5, 10, 8).llc_store(10, 5).end().run(bench);
  REQUIRE(bench.value_at<uint64_t>(kStatus) == 9);
  REQUIRE(bench.gpu.l2.locks().counters().set == 1);
  REQUIRE(bench.gpu.l2.locks().lines() == 1);
  bench.access(kStatus, false);
  REQUIRE(bench.gpu.l2.locks().counters().accessed == 1);
}

TEST_CASE("tile.llc_store of an uncached range is an ordered store") {
  L2Spec spec;
  spec.lock_ways = 15;
  Bench bench(GpuMachine::small(), spec);
  RangeEntry entry;
  entry.base = kNode + 0x100000;
  entry.rows = 1;
  entry.row_bytes = 0x10000;
  entry.allocation = AllocationClass::uncached;
  bench.map(entry);
  Program p;
  p.constant(10, kNode + 0x100000).addi(5, 0, 9).llc_store(10, 5).end().run(bench);
  REQUIRE(bench.value_at<uint64_t>(kNode + 0x100000) == 9);
  REQUIRE(bench.gpu.l2.locks().counters().set == 0);
  REQUIRE(bench.gpu.l2.locks().counters().refused == 0);
}

TEST_CASE("pinned lines stay until they are unpinned") {
  Bench bench;
  bench.write(GPU_L2_PERSIST_OFFSET, 1);
  bench.write(GPU_L2_PIN_BASE_OFFSET_AT(0), kNode + 0x100000);
  bench.write(GPU_L2_PIN_BYTES_OFFSET_AT(0), 128);
  bench.access(kNode + 0x100000, false);
  for (uint64_t i = 0; i < 3000; ++i) bench.access(kNode + 0x100000 + (i + 1) * 8192 * 32, false);
  bench.write(GPU_L2_COMMAND_OFFSET, kBoundary);
  bench.run();
  const uint64_t hits = bench.hits();
  bench.access(kNode + 0x100000, false);
  REQUIRE(bench.hits() == hits + 1);
  bench.write(GPU_L2_PIN_BYTES_OFFSET_AT(0), 0);
  bench.write(GPU_L2_COMMAND_OFFSET, kBoundary);
  bench.run();
  bench.access(kNode + 0x100000, false);
  REQUIRE(bench.hits() == hits + 1);
}

// 1 MiB of 16 ways: 512 sets, 64 KiB a way. A range of `bytes` is pinned and read, so much else is
// read that an ordinary line would be gone; returns the sectors of the range that are still there.
uint64_t survivors(Bench& bench, unsigned ways, uint64_t bytes) {
  bench.write(GPU_L2_PERSIST_OFFSET, ways);
  bench.write(GPU_L2_PIN_BASE_OFFSET_AT(1), kNode + 0x100000);
  bench.write(GPU_L2_PIN_BYTES_OFFSET_AT(1), bytes);
  const auto read = [&](uint64_t from, uint64_t count) {
    for (uint64_t i = 0; i < count; i += 128) bench.access(kNode + from + i, false);
  };
  read(0x100000, bytes);
  read(0x800000, 4 << 20);
  const uint64_t hits = bench.hits();
  read(0x100000, bytes);
  REQUIRE(bench.gpu.l2.counters().unallocated == 0);
  return bench.hits() - hits;
}

L2Spec of_one_mib() {
  L2Spec spec;
  spec.bytes = 1 << 20;
  return spec;
}

TEST_CASE("pinned lines survive a stream up to the limit, and no further") {
  Bench bench(GpuMachine::small(), of_one_mib());
  REQUIRE(bench.read(GPU_L2_SIZE_OFFSET) == (uint64_t{12} << 40 | uint64_t{16} << 32 | 1u << 20));
  CHECK(survivors(bench, 4, 256 * 1024) == 2048);  // All of it: 4 ways of 64 KiB.
  CHECK(survivors(bench, 4, 512 * 1024) == 2048);  // Half of it.
  CHECK(survivors(bench, 2, 512 * 1024) == 1024);
  CHECK(survivors(bench, 0, 512 * 1024) == 0);
}

TEST_CASE("a set keeps ways for others whatever share is asked for") {
  Bench bench(GpuMachine::small(), of_one_mib());
  CHECK(survivors(bench, 255, 2 << 20) == 12 * 512);  // 75 % of the ways.
  L2Spec all = of_one_mib();
  all.persist_percent = 100;
  CHECK(all.persist_ways() == 15);
  all.ways = 1;
  CHECK(all.persist_ways() == 0);
}

TEST_CASE("an acquire forgets a line that found no room among the pinned ones") {
  Bench bench(GpuMachine::small(), of_one_mib());
  survivors(bench, 2, 512 * 1024);
  bench.write(GPU_L2_COMMAND_OFFSET, GPU_L2_COMMAND_INVALIDATE_MASK);
  const uint64_t hits = bench.hits();
  for (uint64_t i = 0; i < 512 * 1024; i += 128) bench.access(kNode + 0x100000 + i, false);
  CHECK(bench.hits() - hits == 1024);
}

TEST_CASE("a set full of pending lines fetches past the tags") {
  L2Spec spec;
  spec.bytes = 64 * 1024;  // Eight sets a channel pair: 512 lines of one way.
  spec.ways = 1;
  Bench bench(GpuMachine::small(), spec);
  bench.map(kNode, 0x4000000);
  Program p;
  for (unsigned i = 0; i < 6; ++i)
    p.load_at(i, kNode + 0x100000 + i * 0x200000, shape(128, 64, 8192));
  p.end().run(bench);
  REQUIRE(bench.gpu.l2.counters().unallocated > 0);
  REQUIRE(bench.gpu.l2.counters().fetched_past == bench.gpu.l2.counters().unallocated);
  REQUIRE(bench.gpu.front_end.fault_count() == 0);
  AuditSink sink;
  bench.gpu.audit(sink);
  for (const AuditResult& result : sink.all()) REQUIRE(result.holds);
}

TEST_CASE("a request without the extension or with a fill is refused") {
  Bench bench;
  PooledPayload& payload =
      bench.cp_request(tlm::TLM_WRITE_COMMAND, Operation::fill, kNode + 0x5000, bench.line, 64);
  REQUIRE(payload.get_response_status() == tlm::TLM_COMMAND_ERROR_RESPONSE);
  payload.release();
  tlm::tlm_generic_payload bare;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  REQUIRE(bench.cp->nb_transport_fw(bare, phase, delay) == tlm::TLM_COMPLETED);
  REQUIRE(bare.is_response_error());
}

TEST_CASE("the bandwidth of a bank bounds hits to its line") {
  // 80 units load the same 64 B: the bank gives 32 B a clock, so two clocks each.
  GpuSpec spec;
  Bench bench(spec);
  bench.map(kNode + 0x100000, 0x10000);
  Program p;
  for (unsigned i = 0; i < 8; ++i)
    p.constant(10, kNode + 0x100000).constant(11, shape(64, 64, 0)).load(i, 10, 11);
  p.end();
  Launch launch = p.launch();
  launch.workgroups = 80;
  launch.registers_bytes = 256 * 1024;
  p.put_into(bench);
  bench.run_kernel(launch);
  const Time begin = bench.queue.now();
  const Time time = bench.run_kernel(launch) - begin;
  const Time least = Time{80} * 8 * 64 * 2 * 714285;
  REQUIRE(time >= least);
  REQUIRE(time < least + 1000 * kNanosecond);
}
