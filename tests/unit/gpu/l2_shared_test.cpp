// SPDX-License-Identifier: Apache-2.0
// Question: do the caches have bytes of their own in ranges of class shared, and only there? What is
// in the L2 and what in memory, after writes, replacement, write-backs, fences and atomics, against a
// map of bytes; what the scalar cache of a compute unit hits, holds and forgets.
#include <catch2/catch.hpp>

#include "tests/support/seeded_rng.h"
#include "tests/unit/gpu/program.h"

using namespace stretto;
using namespace stretto::test;

namespace {

constexpr uint64_t kShared = kNode + 0x400000, kOut = kNode + 0x200000;
constexpr auto kClass = AllocationClass::shared;

struct Bench : GpuMachine {
  explicit Bench(const L2Spec& l2 = {}) : GpuMachine(small(), l2) {
    map(kShared, 0x100000, kClass);
    map(kOut, 0x10000, AllocationClass::uncached);
  }

  // One request of the command processor, until it is answered and no longer.
  uint64_t request(Operation operation, uint64_t address, uint64_t value = 0, unsigned bytes = 8,
                   AllocationClass allocation = kClass) {
    const bool reads = operation == Operation::read;
    cp_done.clear();
    PooledPayload& payload =
        cp_request(reads ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND, operation, address,
                   reinterpret_cast<uint8_t*>(&value), bytes, allocation);
    finish(payload);
    return value;
  }
  uint64_t get(uint64_t address, unsigned bytes = 8) {
    return request(Operation::read, address, 0, bytes);
  }
  void put(uint64_t address, uint64_t value, unsigned bytes = 8) {
    request(Operation::write, address, value, bytes);
  }
  uint64_t add(uint64_t address, uint64_t value, Scope scope) {
    cp_done.clear();
    PooledPayload& payload = start(Operation::atomic, address, &value, scope);
    finish(payload);
    return value;
  }
  // By a work-group: the sector stays in the L2 until a hart reads it.
  void announce(uint64_t address, uint64_t value) {
    cp_done.clear();
    finish(start(Operation::locked_store, address, &value, Scope::device, false, false,
                 Engine::wavefront));
  }
  // Returns how long it took.
  Time fence(bool acquire, bool release) {
    const Time begin = queue.now();
    cp_done.clear();
    uint64_t none = 0;
    PooledPayload& payload = start(Operation::fence, kNode, &none, Scope::system, acquire, release);
    finish(payload);
    return queue.now() - begin;
  }
  void finish(PooledPayload& payload) {
    while (cp_done.empty()) queue.run_until(queue.next_time() + 1);
    REQUIRE(payload.is_response_ok());
    payload.release();
  }
  // What others see, who pass the L2 by.
  uint64_t in_memory(uint64_t address) { return value_at<uint64_t>(address); }
  void pass(Operation operation, uint64_t address) {
    StrettoExtension by;
    by.engine = Engine::dma;
    by.operation = operation;
    gpu.l2.passes(by, address & STRETTO_OFFSET_MASK, 8);
  }

 private:
  PooledPayload& start(Operation operation, uint64_t address, uint64_t* value, Scope scope,
                       bool acquire = false, bool release = false, Engine engine = Engine::hart) {
    PooledPayload& payload = cp_pool.acquire();
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<uint8_t*>(value));
    payload.set_data_length(8);
    payload.set_streaming_width(8);
    payload.extension = {};
    payload.extension.operation = operation;
    payload.extension.atomic_op = AtomicOp::add;
    payload.extension.engine = engine;
    payload.extension.locks_line = operation == Operation::locked_store;
    payload.extension.allocation = kClass;
    payload.extension.account = STRETTO_ACCOUNT_CP;
    payload.extension.scope = scope;
    payload.extension.acquire = acquire;
    payload.extension.release = release;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    REQUIRE(cp->nb_transport_fw(payload, phase, delay) == tlm::TLM_UPDATED);
    return payload;
  }
};

// 8 KiB: one line a bank, so that nearly every line that comes replaces another. A write-back of
// everything sends one line a channel at a time.
L2Spec tiny() {
  L2Spec spec;
  spec.bytes = 128 * 64;
  spec.ways = 1;
  spec.write_backs_in_flight = 1;
  return spec;
}

}  // namespace

TEST_CASE("what is written to a shared range is in memory when it is written back, not before") {
  Bench bench;
  bench.set_value<uint64_t>(kShared, 0x1111111111111111);
  bench.put(kShared + 2, 0xABCD, 2);
  bench.run();
  CHECK(bench.in_memory(kShared) == 0x1111111111111111);
  CHECK(bench.get(kShared) == 0x11111111ABCD1111);
  CHECK(bench.request(Operation::read, kShared, 0, 8, AllocationClass::uncached) ==
        0x1111111111111111);
  // Others write beside it, and neither is lost.
  bench.set_value<uint16_t>(kShared + 6, 0x7777);
  bench.write(GPU_L2_COMMAND_OFFSET, GPU_L2_COMMAND_WRITE_BACK_MASK);
  bench.run();
  CHECK(bench.in_memory(kShared) == 0x77771111ABCD1111);
}

TEST_CASE("the coherence law leaves shared ranges alone") {
  Bench bench;
  bench.put(kShared, 1);
  bench.pass(Operation::read, kShared);
  bench.pass(Operation::write, kShared);
  bench.get(kShared);
  CHECK(bench.gpu.l2.counters().passed_by == 2);
}

TEST_CASE("a line that is replaced takes its dirty bytes to memory, and finds them again") {
  Bench bench(tiny());
  bench.put(kShared, 5);
  // Every line of the bank's one set: the cache has 64 lines.
  for (unsigned i = 1; i <= 64 * 4; ++i) bench.get(kShared + 128 * i);
  CHECK(bench.gpu.l2.counters().evictions > 0);
  CHECK(bench.get(kShared) == 5);
  CHECK(bench.in_memory(kShared) == 5);
}

TEST_CASE("all agents at the L2 read what was written last, whatever is replaced on the way") {
  Bench bench(tiny());
  bench.memory.late = true;
  Rng rng;
  print_seed();
  // Three lines of each of two sets of one channel, which have one way.
  const L2Tags tags(tiny(), bench.mapping);
  const auto set_of = [&](uint64_t address) {
    return tags.place_of((address & STRETTO_OFFSET_MASK) / 128).set;
  };
  std::vector<uint64_t> lines;
  for (const uint64_t first : {kShared, kShared + 128}) {
    for (uint64_t line = first, found = 0; found < 3; line += 128) {
      if (set_of(line) != set_of(first)) continue;
      lines.push_back(line);
      ++found;
    }
  }
  const auto address_of = [&](unsigned at) { return lines[at / 128] + at % 128; };
  constexpr unsigned kBytes = 128 * 6;
  std::vector<uint8_t> expected(kBytes, 0);
  const auto value_of = [&](unsigned at, unsigned bytes) {
    uint64_t value = 0;
    std::memcpy(&value, &expected[at], bytes);
    return value;
  };
  for (unsigned i = 0; i < 4000; ++i) {
    const unsigned bytes = 1u << rng.below(4);
    const unsigned at = static_cast<unsigned>(rng.below(kBytes / bytes)) * bytes;
    const uint64_t value = rng.next();
    switch (rng.below(8)) {
      case 0:
      case 1:
      case 2:
        bench.put(address_of(at), value, bytes);
        std::memcpy(&expected[at], &value, bytes);
        break;
      case 3: {
        const uint64_t sum = value_of(at & ~7u, 8) + value;
        const Scope scope = rng.below(2) != 0 ? Scope::system : Scope::device;
        REQUIRE(bench.add(address_of(at & ~7u), value, scope) == value_of(at & ~7u, 8));
        std::memcpy(&expected[at & ~7u], &sum, 8);
        if (scope == Scope::system) REQUIRE(bench.in_memory(address_of(at & ~7u)) == sum);
        break;
      }
      case 4:
        if (rng.below(2) == 0 && !bench.gpu.l2.write_back_busy()) bench.gpu.l2.write_back();
        if (rng.below(16) == 0) bench.gpu.l2.invalidate();
        if (rng.below(16) == 0) bench.fence(rng.below(2) != 0, rng.below(2) != 0);
        break;
      default: {
        const uint64_t mask = bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1;
        REQUIRE((bench.get(address_of(at), bytes) & mask) == value_of(at, bytes));
        break;
      }
    }
  }
  bench.fence(false, true);
  for (unsigned at = 0; at < kBytes; at += 8)
    REQUIRE(bench.in_memory(address_of(at)) == value_of(at, 8));
  bench.run();
  AuditSink sink;
  bench.gpu.l2.audit(sink);
  for (const AuditResult& one : sink.all()) {
    INFO(one.law);
    CHECK(one.holds);
  }
}

TEST_CASE("a release is answered behind the write-backs, also those that were under way") {
  Bench bench;
  CHECK(bench.fence(false, true) < 300 * kNanosecond);  // Nothing is dirty.
  bench.put(kShared, 1);
  CHECK(bench.fence(false, true) > 300 * kNanosecond);
  CHECK(bench.in_memory(kShared) == 1);
  bench.put(kShared, 2);
  bench.gpu.l2.write_back();
  CHECK(bench.fence(false, true) > 300 * kNanosecond);
  CHECK(bench.in_memory(kShared) == 2);
  CHECK(bench.fence(false, true) < 300 * kNanosecond);
}

TEST_CASE("an acquire forgets the bytes that are not dirty, and those alone") {
  Bench bench;
  bench.get(kShared);
  bench.get(kShared + 256);
  bench.put(kShared + 256, 7);
  bench.set_value<uint64_t>(kShared, 11);
  bench.set_value<uint64_t>(kShared + 256, 12);
  bench.set_value<uint64_t>(kShared + 264, 13);
  CHECK(bench.get(kShared) == 0);
  CHECK(bench.get(kShared + 264) == 0);
  bench.fence(true, false);
  CHECK(bench.get(kShared) == 11);
  CHECK(bench.get(kShared + 256) == 7);
  CHECK(bench.get(kShared + 264) == 13);
}

TEST_CASE("a fence leaves a locked sector where it is, with what memory has", "[CN-LOCK-01]") {
  L2Spec spec;
  spec.lock_ways = spec.ways - 1;
  Bench bench(spec);
  const auto& announced = bench.gpu.l2.counters().hart_announced;
  bench.announce(kShared, 5);
  bench.fence(true, true);  // Of another work-group.
  CHECK(bench.in_memory(kShared) == 5);
  CHECK(bench.get(kShared) == 5);
  CHECK(announced.all == 1);
  CHECK(announced.found == 1);
  // The hart has freed it.
  bench.fence(true, true);
  const uint64_t found = bench.gpu.l2.counters().hart_shared.found;
  bench.get(kShared);
  CHECK(bench.gpu.l2.counters().hart_shared.found == found);
  // What others have written meanwhile is seen behind an acquire.
  bench.announce(kShared + 256, 6);
  bench.fence(true, true);
  bench.set_value<uint64_t>(kShared + 256, 9);
  bench.fence(true, false);
  CHECK(bench.get(kShared + 256) == 9);
  // A hart that answers has read the announcement.
  bench.announce(kShared + 512, 7);
  bench.put(kShared + 512, 0);
  bench.get(kShared + 512);
  CHECK(announced.all == 2);
}

TEST_CASE("an atomic of system scope acts on memory, one of device scope on the L2") {
  Bench bench;
  bench.put(kShared, 5);
  CHECK(bench.add(kShared, 1, Scope::device) == 5);
  CHECK(bench.in_memory(kShared) == 0);
  CHECK(bench.add(kShared, 1, Scope::system) == 6);
  CHECK(bench.in_memory(kShared) == 7);
  bench.set_value<uint64_t>(kShared, 20);  // The L2 has forgotten the line.
  CHECK(bench.get(kShared) == 20);
}

TEST_CASE("a second scalar load of a line takes the clocks of a hit, one after an acquire a miss") {
  Bench bench;
  const auto clocks = [&](auto between) {
    Program p;
    p.constant(5, kShared).ld(6, 5);
    between(p);
    p.csr(8, TILE_CSR_CYCLE).ld(6, 5, 8).csr(9, TILE_CSR_CYCLE).sub(9, 9, 8);
    p.constant(10, kOut).sd(9, 10).end().run(bench);
    return bench.value_at<uint64_t>(kOut);
  };
  CHECK(clocks([](Program&) {}) <= 12 + 4);
  CHECK(clocks([](Program& p) { p.tile_fence(TILE_SCOPE_WORK_GROUP); }) <= 12 + 4);
  CHECK(clocks([](Program& p) { p.tile_fence(TILE_SCOPE_DEVICE); }) > 200);
  CHECK(clocks([](Program& p) { p.fence(); }) > 200);
  CHECK(clocks([](Program& p) { p.sd(6, 5); }) > 200);  // Its own store takes the line out.
  // Each of the kernels began with an empty cache.
  CHECK(bench.gpu.sum(&ComputeUnitCounters::scalar_hits) == 2);
  CHECK(bench.gpu.sum(&ComputeUnitCounters::scalar_misses) == 5 + 3);
}

TEST_CASE("wavefronts of a unit see each other's stores without an acquire") {
  Bench bench;
  // Both load the line; wavefront 0 stores to it; behind a barrier wavefront 1 reads.
  Program p;
  p.constant(5, kShared).ld(6, 5).barrier().csr(7, TILE_CSR_WF_ID).bnez(7, 3);
  p.constant(6, 77).sd(6, 5);
  p.barrier().ld(6, 5).slli(7, 7, 3).constant(10, kOut).add(10, 10, 7).sd(6, 10).end();
  Launch launch = p.launch();
  launch.wavefronts = 2;
  p.run(bench, launch);
  CHECK(bench.value_at<uint64_t>(kOut) == 77);
  CHECK(bench.value_at<uint64_t>(kOut + 8) == 77);
}

TEST_CASE("a line on its way to a unit that acquires meanwhile is not kept") {
  Bench bench;
  bench.get(kShared);
  // Wavefront 1 loads; the command processor writes the line when the L2 has read it for that load,
  // and wavefront 0 acquires.
  Program p;
  p.constant(5, kShared).constant(10, kOut).csr(7, TILE_CSR_WF_ID).barrier().bnez(7, 255);
  for (unsigned i = 0; i < 150; ++i) p.addi(8, 8, 0);
  p.tile_fence(TILE_SCOPE_DEVICE);
  for (unsigned i = 0; i < 100; ++i) p.addi(8, 8, 0);
  p.ld(6, 5).sd(6, 10).end();
  p.ld(6, 5).sd(6, 10, 8).end();
  p.put_into(bench);
  Launch launch = p.launch();
  launch.wavefronts = 2;
  bench.launch(launch);
  const uint64_t before = bench.gpu.l2.counters().requests;
  while (bench.gpu.l2.counters().requests == before)
    bench.queue.run_until(bench.queue.next_time() + 1);
  bench.put(kShared, 42);
  bench.run();
  CHECK(bench.value_at<uint64_t>(kOut + 8) == 0);
  CHECK(bench.value_at<uint64_t>(kOut) == 42);
}

TEST_CASE("a wait of device scope on a shared word sees what the L2 has, not memory") {
  Bench bench;
  Program p;
  p.constant(5, kShared).constant(6, 3).wait_until(5, TILE_GEU | TILE_WAIT_DEVICE, 6);
  p.constant(10, kOut).sd(6, 10).end().put_into(bench);
  bench.launch(p.launch());
  bench.run();
  bench.set_value<uint64_t>(kShared, 9);  // In memory: the L2 has the word already.
  bench.run();
  CHECK(bench.value_at<uint64_t>(kOut) == 0);
  bench.put(kShared, 3);
  bench.run();
  CHECK(bench.value_at<uint64_t>(kOut) == 3);
}

TEST_CASE("a wait of system scope on a shared word does not see what the L2 has not written back") {
  Bench bench;
  Program p;
  p.constant(5, kShared).constant(6, 3).wait_until(5, TILE_GEU, 6).constant(10, kOut);
  p.sd(6, 10).end().put_into(bench);
  bench.launch(p.launch());
  bench.run();
  bench.put(kShared, 3);
  bench.run();
  CHECK(bench.value_at<uint64_t>(kOut) == 0);
  bench.fence(false, true);
  bench.run();
  CHECK(bench.value_at<uint64_t>(kOut) == 3);
}

TEST_CASE("a tile of a shared range is stored into the L2 and loaded from it") {
  Bench bench;
  for (unsigned i = 0; i < 64; ++i) bench.set_value<uint64_t>(kOut + 0x1000 + 8 * i, i + 1);
  Program p;
  p.load_at(0, kOut + 0x1000, shape(4, 128, 128)).store_at(0, kShared + 64, shape(4, 128, 256));
  p.tile_fence(TILE_SCOPE_DEVICE).load_at(1, kShared + 64, shape(4, 128, 256)).wait(0);
  p.store_at(1, kOut, shape(4, 128, 128)).end().run(bench);
  for (unsigned i = 0; i < 64; ++i) CHECK(bench.value_at<uint64_t>(kOut + 8 * i) == i + 1);
  CHECK(bench.in_memory(kShared + 64) == 0);
  bench.fence(false, true);
  CHECK(bench.in_memory(kShared + 64 + 256) == 17);
}

TEST_CASE("the range table refuses shared entries that are not whole lines of plain local memory") {
  Bench bench;
  const auto refused = [&](RangeEntry entry) {
    bench.write_ranges(RANGE_TABLE_STATUS_OFFSET, RANGE_TABLE_STATUS_BAD_ENTRY_MASK);
    bench.map(entry);
    return (bench.read_ranges(RANGE_TABLE_STATUS_OFFSET) & RANGE_TABLE_STATUS_BAD_ENTRY_MASK) != 0;
  };
  RangeEntry good;
  good.base = kNode + 0x800000;
  good.pitch = good.row_bytes = 128;
  good.rows = 2;
  good.allocation = kClass;
  CHECK_FALSE(refused(good));
  for (uint64_t RangeEntry::*field : {&RangeEntry::base, &RangeEntry::row_bytes}) {
    RangeEntry bad = good;
    bad.pitch = 256;
    bad.*field += 64;
    CHECK(refused(bad));
  }
  RangeEntry bad = good;
  bad.pitch += 64;
  CHECK(refused(bad));
  bad = good;
  bad.kind = RangeKind::remote;
  CHECK(refused(bad));
  bad = good;
  bad.update = true;
  CHECK(refused(bad));
  bad = good;
  bad.tracked = true;
  CHECK(refused(bad));
}
