// SPDX-License-Identifier: Apache-2.0
// Question: does each instruction of a wavefront do and cost what sw/include/tile.h says? Each test
// assembles a program, launches it through the registers and looks at memory, time and counters.
// Times are those of the specification: 1.4 GHz, 512 multiply-adds a clock at 4/5, 64 SIMT lanes,
// memory of a fixed 300 ns.
#include "models/common/stamp.h"
#include "tests/unit/gpu/instruction_bench.h"

using namespace stretto;
using namespace stretto::test;

TEST_CASE("a tile moves between differently strided arrays") {
  Bench bench;
  Program()
      .load_at(0, kIn + 64, shape(10, 96, 256))
      .store_at(0, kOut, shape(10, 96, 512))
      .end()
      .run(bench);
  bench.require_quiet();
  for (unsigned row = 0; row < 10; ++row) {
    for (unsigned i = 0; i < 48; ++i) {
      REQUIRE(bench.value_at<uint16_t>(kOut + row * 512 + 2 * i) ==
              bench.value_at<uint16_t>(kIn + 64 + row * 256 + 2 * i));
    }
    REQUIRE(bench.value_at<uint16_t>(kOut + row * 512 + 96) == 0);
  }
  REQUIRE(bench.unit().load_bytes == 960);
}

TEST_CASE("bytes beyond a tile's shape are stored as zero") {
  Bench bench;
  bench.set_value<uint64_t>(kOut + 32, ~uint64_t{0});
  Program().load_at(0, kIn, shape(1, 32, 32)).store_at(0, kOut, shape(2, 64, 64)).end().run(bench);
  bench.require_quiet();
  REQUIRE(bench.value_at<uint16_t>(kOut + 2) == bench.value_at<uint16_t>(kIn + 2));
  REQUIRE(bench.value_at<uint64_t>(kOut + 32) == 0);
}

TEST_CASE("SIMT tiles add through LDS and registers") {
  Bench bench;
  Program()
      .load_at(TILE_FIRST_LDS, kIn, shape(4, 128, 128))
      .load_at(1, kIn + 512, shape(4, 128, 128))
      .simt(TILE_SIMT_ADD, 2, TILE_FIRST_LDS, 1)
      .store_at(2, kOut, shape(4, 128, 128))
      .end()
      .run(bench);
  bench.require_quiet();
  for (unsigned i = 0; i < 256; ++i)
    REQUIRE(bench.half_at(kOut + 2 * i) == i % 97 + (i + 256) % 97);
  REQUIRE(bench.unit().simt.busy == 2);  // 256 FP16 elements, 128 a clock.
}

TEST_CASE("mma takes m n k over the sustained rate") {
  Bench bench;
  Program()
      .constant(5, 128 | 128 << 16)
      .zero(24, 5)
      .load_at(8, kIn, shape(128, 64, 64))
      .load_at(9, kIn, shape(128, 64, 64))
      .mma(24, 8, 9, false, true)
      .end()
      .run(bench);
  bench.require_quiet();
  REQUIRE(bench.unit().tensor.busy == 128 * 128 * 32 * 5 / (512 * 4));
  REQUIRE(bench.unit().multiply_adds == 128 * 128 * 32);
}

TEST_CASE("k is rounded up to sixteen for time") {
  Bench bench;
  Program()
      .constant(5, 64 | 64 << 16)
      .zero(24, 5)
      .load_at(8, kIn, shape(64, 34, 64))
      .load_at(9, kIn, shape(64, 34, 64))
      .mma(24, 8, 9, false, true)
      .end()
      .run(bench);
  bench.require_quiet();
  REQUIRE(bench.unit().tensor.busy == 64 * 64 * 32 * 5 / (512 * 4));
}

TEST_CASE("a product of real bytes comes out of the epilogue") {
  Bench bench;
  for (unsigned i = 0; i < 16 * 16; ++i) {
    bench.set_value<uint16_t>(kIn + 2 * i, fp16_from_fp32(i / 16 == i % 16 ? 2.0f : 0.0f));
    bench.set_value<uint16_t>(kIn + 512 + 2 * i, fp16_from_fp32(static_cast<float>(i)));
  }
  Program()
      .constant(5, 16 | 16 << 16)
      .constant(6, 4 | 8 << 16 | uint64_t{2} << 32 | uint64_t{8} << 48)
      .zero(25, 5)
      .load_at(8, kIn, shape(16, 32, 32))
      .load_at(9, kIn + 512, shape(16, 32, 32))
      .mma(25, 8, 9, false, false)
      .epilogue(3, 25, 6)
      .store_at(3, kOut, shape(8, 16, 16))
      .end()
      .run(bench);
  bench.require_quiet();
  for (unsigned r = 0; r < 8; ++r) {
    for (unsigned c = 0; c < 8; ++c)
      REQUIRE(bench.half_at(kOut + 16 * r + 2 * c) == 2.0f * ((r + 4) * 16 + c + 2));
  }
  REQUIRE(bench.unit().simt.busy == 1 + 1);  // zero, and 64 elements at 64 a clock.
}

TEST_CASE("stamp operands yield the stamp of the output") {
  Bench bench;
  StampMatrix a, b;
  a.base = 0x400000;
  a.pitch = 128;
  a.rows = 64;
  a.columns = a.k_total = 64;
  a.seed = 5;
  b = a;
  b.base = 0x500000;
  b.role = 1;
  bench.image.add_stamp(a);
  bench.image.add_stamp(b);
  bench.map(kNode + a.base, 64 * 128);
  bench.map(kNode + b.base, 64 * 128);
  Program()
      .constant(5, 32 | 32 << 16)
      .constant(6, uint64_t{32} << 16 | uint64_t{32} << 48)
      .zero(24, 5)
      .load_at(8, kNode + a.base + 32 * 128, shape(32, 64, 128))
      .load_at(9, kNode + b.base, shape(32, 64, 128))
      .mma(24, 8, 9, false, true)
      .load_at(8, kNode + a.base + 32 * 128 + 64, shape(32, 64, 128))
      .load_at(9, kNode + b.base + 64, shape(32, 64, 128))
      .mma(24, 8, 9, false, true)
      .epilogue(0, 24, 6)
      .store_at(0, kOut, shape(32, 64, 64))
      .end()
      .run(bench);
  bench.require_quiet();
  for (unsigned r = 0; r < 32; ++r) {
    for (unsigned c = 0; c < 32; ++c)
      REQUIRE(bench.half_at(kOut + 64 * r + 2 * c) == stamp_value(5, 0, 32 + r, c, 256));
  }
}

TEST_CASE("the scoreboard holds an mma until its operands have arrived") {
  Bench bench;
  const Time end = Program()
                       .constant(5, 16 | 16 << 16)
                       .zero(24, 5)
                       .load_at(8, kIn, shape(16, 32, 32))
                       .mma(24, 8, 8, false, true)
                       .end()
                       .run(bench);
  bench.require_quiet();
  // Start, L2 in and out (150 ns), memory (300 ns), mma of 10 clocks.
  REQUIRE(end >= 450 * kNanosecond);
  REQUIRE(end < 550 * kNanosecond);
}

TEST_CASE("two mma on one accumulator follow each other without a gap") {
  Bench bench;
  const auto program = [](int count) {
    Program p;
    p.constant(5, 128 | 128 << 16).zero(24, 5).load_at(8, kIn, shape(128, 64, 64)).wait(0);
    for (int i = 0; i < count; ++i) p.mma(24, 8, 8, false, true);
    return p.end();
  };
  program(1).run(bench);  // Warms the cache.
  const Time first = bench.queue.now();
  const Time one = program(1).run(bench) - first;
  const Time second = bench.queue.now();
  const Time three = program(3).run(bench) - second;
  bench.require_quiet();
  const Time difference = three - one;
  REQUIRE(difference >= 2 * 1280 * (kClock - 1));
  REQUIRE(difference <= 2 * 1282 * kClock);
}

TEST_CASE("a load into a tile waits for the mma that reads it") {
  Bench bench;
  Program()
      .constant(5, 16 | 16 << 16)
      .constant(6, uint64_t{16} << 16 | uint64_t{16} << 48)
      .zero(24, 5)
      .load_at(8, kIn, shape(16, 32, 32))
      .mma(24, 8, 8, false, true)
      .load_at(8, kIn + 512, shape(16, 32, 32))
      .epilogue(0, 24, 6, ElementType::fp32)
      .store_at(0, kOut, shape(16, 64, 64), ElementType::fp32)
      .end()
      .run(bench);
  bench.require_quiet();
  float expected = 0;
  for (unsigned k = 0; k < 16; ++k)
    expected += static_cast<float>(k) * static_cast<float>((16 + k) % 97);
  REQUIRE(bench.value_at<float>(kOut + 4) == expected);
}

TEST_CASE("tile.wait leaves the given number of operations outstanding") {
  Bench bench;
  const auto time_at_csr = [&](unsigned count) {
    // Two loads; the second misses. The clock after the wait goes to memory.
    Program p;
    p.load_at(0, kIn, shape(1, 64, 64)).wait(0);
    p.load_at(0, kIn, shape(1, 64, 64)).load_at(1, kIn + 0x8000 + 0x1000 * count, shape(1, 64, 64));
    p.csr(8, TILE_CSR_CYCLE).wait(count).csr(9, TILE_CSR_CYCLE);
    p.constant(10, kOut).sd(8, 10).constant(10, kOut + 8).sd(9, 10).end().run(bench);
    return bench.value_at<uint64_t>(kOut + 8) - bench.value_at<uint64_t>(kOut);
  };
  const uint64_t one = time_at_csr(1), none = time_at_csr(0);
  bench.require_quiet();
  REQUIRE(one < 220);   // A hit: 150 ns.
  REQUIRE(none > 600);  // A miss: 450 ns.
}

TEST_CASE("wavefronts meet at a barrier") {
  Bench bench;
  Program p;
  // Wavefront 0 sleeps on a load before the barrier; the others write the clock after it.
  p.csr(7, TILE_CSR_WF_ID)
      .bnez(7, 7)
      .load_at(0, kIn, shape(1, 64, 64))
      .wait(0)
      .addi(0, 0, 0)
      .addi(0, 0, 0);
  p.barrier();
  p.csr(8, TILE_CSR_CYCLE).constant(10, kOut).slli(9, 7, 3).add(10, 10, 9).sd(8, 10).end();
  Launch launch = p.launch();
  launch.wavefronts = 4;
  p.run(bench, launch);
  bench.require_quiet();
  for (unsigned i = 1; i < 4; ++i) {
    const uint64_t first = bench.value_at<uint64_t>(kOut),
                   other = bench.value_at<uint64_t>(kOut + 8 * i);
    REQUIRE(first > 600);
    REQUIRE((other > first ? other - first : first - other) < 16);
  }
  REQUIRE(bench.unit().barriers == 4);
}

TEST_CASE("tiles of LDS are shared and register tiles are not") {
  Bench bench;
  Program p;
  p.csr(7, TILE_CSR_WF_ID)
      .bnez(7, 8)
      .load_at(8, kIn, shape(1, 64, 64))
      .load_at(0, kIn, shape(1, 64, 64))
      .wait(0);
  p.barrier().csr(7, TILE_CSR_WF_ID).beqz(7, 4).store_at(8, kOut, shape(1, 64, 64)).end();
  Launch launch = p.launch();
  launch.wavefronts = 2;
  p.run(bench, launch);
  bench.require_quiet();
  REQUIRE(bench.half_at(kOut + 2 * 9) == 9);

  Program q;  // The other wavefront's r0 was never written.
  q.csr(7, TILE_CSR_WF_ID).bnez(7, 5).load_at(0, kIn, shape(1, 64, 64)).wait(0).barrier();
  q.csr(7, TILE_CSR_WF_ID).beqz(7, 4).store_at(0, kOut, shape(1, 64, 64)).end();
  launch = q.launch();
  launch.wavefronts = 2;
  q.run(bench, launch);
  REQUIRE(bench.gpu.front_end.fault_count() == 1);
  REQUIRE(bench.gpu.front_end.faults()[0].kind == FaultKind::empty_tile);
}

TEST_CASE("ids, grid and arguments come from CSRs") {
  Bench bench;
  Program p;
  p.csr(1, TILE_CSR_WG_ID)
      .csr(2, TILE_CSR_WF_ID)
      .csr(3, TILE_CSR_GRID)
      .csr(4, TILE_CSR_WAVEFRONTS)
      .csr(5, TILE_CSR_GPU_ID);
  p.constant(10, kOut).slli(6, 1, 7).add(10, 10, 6).slli(6, 2, 6).add(10, 10, 6);
  p.slli(1, 1, 32)
      .add(1, 1, 2)
      .sd(1, 10)
      .addi(10, 10, 8)
      .slli(3, 3, 32)
      .add(3, 3, 4)
      .sd(3, 10)
      .end();
  Launch launch = p.launch();
  launch.wavefronts = 2;
  launch.workgroups = 5;
  p.run(bench, launch);
  bench.require_quiet();
  for (uint64_t wg = 0; wg < 5; ++wg) {
    for (uint64_t wf = 0; wf < 2; ++wf) {
      REQUIRE(bench.value_at<uint64_t>(kOut + wg * 128 + wf * 64) == (wg << 32 | wf));
      REQUIRE(bench.value_at<uint64_t>(kOut + wg * 128 + wf * 64 + 8) == (uint64_t{5} << 32 | 2));
    }
  }
  REQUIRE(bench.read(GPU_COUNT_RETIRED_OFFSET) == 5);
}

TEST_CASE("scalar accesses to global memory are timed") {
  Bench bench;
  bench.set_value<uint64_t>(kIn, 41);
  Program p;
  p.constant(10, kIn).csr(8, TILE_CSR_CYCLE).ld(7, 10).csr(9, TILE_CSR_CYCLE).addi(7, 7, 1);
  p.constant(10, kOut).sd(7, 10).addi(10, 10, 8).sd(8, 10).addi(10, 10, 8).sd(9, 10).end().run(
      bench);
  bench.require_quiet();
  REQUIRE(bench.value_at<uint64_t>(kOut) == 42);
  const uint64_t clocks = bench.value_at<uint64_t>(kOut + 16) - bench.value_at<uint64_t>(kOut + 8);
  REQUIRE(clocks >= 630);  // 450 ns.
  REQUIRE(clocks <= 640);
  REQUIRE(bench.unit().scalar_accesses == 4);
}

TEST_CASE("the private stack is free and starts at x2") {
  Bench bench;
  Program p;
  p.addi(2, 2, -16).addi(5, 0, 77).sd(5, 2).ld(6, 2).constant(10, kOut).sd(6, 10).end();
  const Time end = p.run(bench);
  bench.require_quiet();
  REQUIRE(bench.value_at<uint64_t>(kOut) == 77);
  REQUIRE(bench.unit().scalar_accesses == 1);
  REQUIRE(end < 700 * kNanosecond);
}

TEST_CASE("atomics of many work-groups add up") {
  Bench bench;
  Program p;
  p.constant(10, kIn)
      .addi(5, 0, 3)
      .amoadd(6, 5, 10)
      .constant(11, kOut)
      .csr(7, TILE_CSR_WG_ID)
      .slli(7, 7, 3);
  p.add(11, 11, 7).sd(6, 11).end();
  bench.set_value<uint64_t>(kIn, 100);
  Launch launch = p.launch();
  launch.workgroups = 20;
  p.run(bench, launch);
  bench.require_quiet();
  REQUIRE(bench.value_at<uint64_t>(kIn) == 160);
  uint64_t sum = 0;
  for (unsigned i = 0; i < 20; ++i) sum += bench.value_at<uint64_t>(kOut + 8 * i);
  REQUIRE(sum == 20 * 100 + 3 * 190);
}

TEST_CASE("a fence waits for the stores before it") {
  Bench bench;
  Program p;
  p.load_at(0, kIn, shape(1, 64, 64)).wait(0).store_at(0, kOut, shape(1, 64, 64));
  p.csr(8, TILE_CSR_CYCLE)
      .fence()
      .csr(9, TILE_CSR_CYCLE)
      .constant(10, kOut + 256)
      .sd(8, 10)
      .addi(10, 10, 8)
      .sd(9, 10)
      .end();
  p.run(bench);
  bench.require_quiet();
  REQUIRE(bench.value_at<uint64_t>(kOut + 264) - bench.value_at<uint64_t>(kOut + 256) > 600);
}

TEST_CASE("a locked store is performed after the stores before it") {
  Bench bench;
  bench.memory.record = true;
  Program p;
  p.load_at(0, kIn, shape(4, 64, 64))
      .store_at(0, kOut, shape(4, 64, 4096))
      .constant(10, kOut + 0x8000)
      .addi(5, 0, 9);
  p.locked_store(10, 5).end().run(bench);
  bench.require_quiet();
  REQUIRE(bench.value_at<uint64_t>(kOut + 0x8000) == 9);
  Time last_data = 0, flag = 0;
  for (const FixedMemory::Access& access : bench.memory.accesses) {
    if (access.command != tlm::TLM_WRITE_COMMAND) continue;
    if (access.address == kOut + 0x8000) {
      flag = access.at;
      REQUIRE(access.extension.account == STRETTO_ACCOUNT_SYNC);
    } else {
      last_data = std::max(last_data, access.at);
    }
  }
  REQUIRE(flag >= last_data + 300 * kNanosecond);
}

// kOut + 0x8000 is added to twice, behind a store of 4 rows and at once; the clock is read around.
Program reductions(bool waits) {
  Program p;
  p.load_at(0, kIn, shape(4, 64, 64)).wait(0).store_at(0, kOut, shape(4, 64, 4096));
  p.constant(12, kOut + 0x8000).addi(5, 0, 9).csr(8, TILE_CSR_CYCLE).red(12, 5).red(12, 5);
  if (waits) p.wait(0);
  p.csr(9, TILE_CSR_CYCLE).constant(10, kOut + 256).sd(8, 10).addi(10, 10, 8).sd(9, 10).end();
  return p;
}

TEST_CASE("a reduction is performed after the stores before it, and the wavefront goes on") {
  Bench bench;
  bench.memory.record = true;
  bench.set_value<uint64_t>(kOut + 0x8000, 100);
  reductions(false).run(bench);
  bench.require_quiet();
  REQUIRE(bench.value_at<uint64_t>(kOut + 0x8000) == 118);
  REQUIRE(bench.value_at<uint64_t>(kOut + 264) - bench.value_at<uint64_t>(kOut + 256) < 10);
  Time last_data = 0, first_sum = 0;
  for (const FixedMemory::Access& access : bench.memory.accesses) {
    if (access.command != tlm::TLM_WRITE_COMMAND || access.address == kOut + 256 ||
        access.address == kOut + 264)
      continue;
    if (access.address == kOut + 0x8000) {
      if (first_sum == 0) first_sum = access.at;
      REQUIRE(access.extension.account == kKernelAccount);
    } else {
      last_data = std::max(last_data, access.at);
    }
  }
  REQUIRE(first_sum >= last_data + 300 * kNanosecond);
  REQUIRE(bench.gpu.sum(&ComputeUnitCounters::reductions) == 2);
  REQUIRE(bench.gpu.l2.counters().atomics == 2);
}

TEST_CASE("tile.wait covers reductions") {
  Bench bench;
  reductions(true).run(bench);
  bench.require_quiet();
  REQUIRE(bench.value_at<uint64_t>(kOut + 264) - bench.value_at<uint64_t>(kOut + 256) > 600);
}

TEST_CASE("reductions of many work-groups add up, also where the range is cached") {
  Bench bench;
  bench.map(kNode + 0x200000, 0x1000, AllocationClass::cached);
  Program p;
  p.constant(10, kNode + 0x200000).addi(5, 0, 3).red(10, 5).red(10, 5).end();
  Launch launch = p.launch();
  launch.workgroups = 20;
  p.run(bench, launch);
  bench.require_quiet();
  REQUIRE(bench.value_at<uint64_t>(kNode + 0x200000) == 120);
  REQUIRE(bench.gpu.l2.counters().atomics == 40);
}

TEST_CASE("a reduction beside a word is a fault") {
  Bench bench;
  Program p;
  p.constant(10, kOut + 4).red(10, 5).end().run(bench);
  REQUIRE(bench.gpu.front_end.faults().at(0).kind == FaultKind::misaligned);
}

TEST_CASE("a reduction of a peer's memory is a fault") {
  Bench bench;
  RangeEntry entry;
  entry.base = kNode + 0x400000;
  entry.rows = 1;
  entry.row_bytes = 0x1000;
  entry.kind = RangeKind::remote;
  entry.peer_base = 2 * kNode + 0x400000;
  bench.map(entry);
  Program p;
  p.constant(10, kNode + 0x400000).red(10, 5).end().run(bench);
  REQUIRE(bench.gpu.front_end.faults().at(0).kind == FaultKind::remote_atomic);
  REQUIRE(bench.memory.remote.empty());
}

TEST_CASE("wait_until sleeps until memory changes and is charged its polls") {
  Bench bench;
  Program p;
  p.constant(10, kOut)
      .addi(5, 0, 7)
      .wait_until(10, TILE_GEU, 5)
      .constant(10, kOut + 8)
      .sd(5, 10)
      .end();
  p.put_into(bench);
  bench.launch(p.launch());
  bench.run();
  REQUIRE_FALSE(bench.gpu.waiting_on().empty());
  REQUIRE(bench.gpu.waiting_on().back().find("waits until memory at 0x10000200000") !=
          std::string::npos);
  bench.queue.run_until(10 * kMicrosecond);
  bench.set_value<uint64_t>(kOut, 3);  // Not yet.
  bench.run();
  REQUIRE(bench.value_at<uint64_t>(kOut + 8) == 0);
  bench.queue.run_until(20 * kMicrosecond);
  bench.set_value<uint64_t>(kOut, 7);
  const Time end = bench.run();
  bench.clear_done();
  bench.run();
  bench.require_quiet();
  REQUIRE(bench.value_at<uint64_t>(kOut + 8) == 7);
  REQUIRE(end >= 20'450 * kNanosecond);       // One timed read confirms.
  REQUIRE(bench.unit().charged_polls == 41);  // 20.4 us at 500 ns, and the last one.
}

TEST_CASE("a store of lines puts a flag behind every 56 bytes, and zeros behind the last ones") {
  Bench bench;
  Program p;
  p.constant(7, 0x1122334455667788).set_csr(TILE_CSR_FLAG, 7);
  p.load_at(0, kIn, shape(1, 100, 0)).constant(10, kOut).store_lines(0, 10, 11).end().run(bench);
  bench.require_quiet();
  for (unsigned i = 0; i < 112; ++i) {
    CHECK(bench.value_at<uint8_t>(kOut + i / 56 * 64 + i % 56) ==
          (i < 100 ? bench.value_at<uint8_t>(kIn + i) : 0));
  }
  REQUIRE(bench.value_at<uint64_t>(kOut + 56) == 0x1122334455667788);
  REQUIRE(bench.value_at<uint64_t>(kOut + 120) == 0x1122334455667788);
  REQUIRE(bench.value_at<uint64_t>(kOut + 128) == 0);
}

// The wavefront stores another word meanwhile; flags of the second line come last.
TEST_CASE("a load of lines waits for the flag of each, and the wavefront does not") {
  Bench bench;
  bench.set_value<uint64_t>(kOut, 1);
  bench.set_value<uint64_t>(kOut + 56, 7);
  bench.set_value<uint64_t>(kOut + 64, 2);
  bench.set_value<uint64_t>(kOut + 120, 6);  // Of the time before.
  Program p;
  p.addi(7, 0, 7).set_csr(TILE_CSR_FLAG, 7).constant(10, kOut).constant(11, shape(1, 64, 0));
  p.load_lines(1, 10, 11).constant(12, kOut + 0x8000).sd(7, 12);
  p.constant(10, kOut + 0x4000).store(1, 10, 11, ElementType::byte).end();
  p.put_into(bench);
  bench.launch(p.launch());
  bench.run();
  REQUIRE(bench.value_at<uint64_t>(kOut + 0x8000) == 7);
  REQUIRE(bench.gpu.waiting_on().back().find("tile 1, lines at 0x10000200040 with flag 0x7") !=
          std::string::npos);
  bench.queue.run_until(10 * kMicrosecond);
  bench.set_value<uint64_t>(kOut + 64, 3);
  bench.run();
  REQUIRE(bench.value_at<uint64_t>(kOut + 0x4000) == 0);
  bench.queue.run_until(20 * kMicrosecond);
  bench.set_value<uint64_t>(kOut + 120, 7);
  const Time end = bench.run();
  bench.clear_done();
  bench.run();
  bench.require_quiet();
  REQUIRE(bench.value_at<uint64_t>(kOut + 0x4000) == 1);
  REQUIRE(bench.value_at<uint64_t>(kOut + 0x4000 + 56) == 3);
  REQUIRE(end >= 20'450 * kNanosecond);       // A read brings them; the store follows.
  REQUIRE(bench.unit().charged_polls >= 38);  // Some 20 us at 500 ns.
}

TEST_CASE("lines that are misaligned are a fault") {
  Bench bench;
  Program p;
  p.constant(10, kOut + 8).constant(11, shape(1, 56, 0)).load_lines(1, 10, 11).end().run(bench);
  REQUIRE(bench.gpu.front_end.faults().at(0).kind == FaultKind::misaligned);
}

TEST_CASE("lines of several rows are a fault") {
  Bench bench;
  Program p;
  p.constant(10, kOut).constant(11, shape(2, 56, 64)).load_lines(1, 10, 11).end().run(bench);
  REQUIRE(bench.gpu.front_end.faults().at(0).kind == FaultKind::bad_shape);
}

TEST_CASE("lines of a tile that was never written are a fault") {
  Bench bench;
  Program p;
  p.constant(10, kOut).constant(11, shape(1, 56, 0)).store_lines(1, 10, 11).end().run(bench);
  REQUIRE(bench.gpu.front_end.faults().at(0).kind == FaultKind::empty_tile);
}

TEST_CASE("lines that no range has are a fault") {
  Bench bench;
  Program p;
  p.constant(10, kNode + 0x700000).constant(11, shape(1, 56, 0)).load_lines(1, 10, 11).end();
  p.run(bench);
  REQUIRE(bench.gpu.front_end.faults().at(0).kind == FaultKind::unmapped_load);
}

TEST_CASE("wait_until that already holds costs one poll") {
  Bench bench;
  Program p;
  p.constant(10, kOut).wait_until(10, TILE_EQ, 0).end().run(bench);
  bench.require_quiet();
  REQUIRE(bench.unit().charged_polls == 1);
}

TEST_CASE("wait_until at device scope polls through the L2, at system scope past it") {
  Bench bench;
  const uint64_t word = kNode + 0x700000;
  bench.map(word, 4096);
  bench.set_value<uint64_t>(word, 5);
  // The first poll at device scope fetches the sector, the second finds it.
  Program p;
  p.constant(10, word).addi(5, 0, 5);
  for (unsigned i = 0; i < 2; ++i) p.wait_until(10, TILE_GEU | TILE_WAIT_DEVICE, 5);
  p.wait_until(10, TILE_EQ | TILE_WAIT_DEVICE, 5).wait_until(10, TILE_GEU, 5).end().run(bench);
  bench.require_quiet();
  const L2Counters& l2 = bench.gpu.l2.counters();
  REQUIRE(l2.misses[STRETTO_ACCOUNT_SYNC] == 1);
  REQUIRE(l2.hits[STRETTO_ACCOUNT_SYNC] == 2);
  REQUIRE(l2.bypass_bytes == 8);
}

TEST_CASE("a vote is a barrier that returns the OR of all that have not ended") {
  Bench bench;
  Program p;
  p.csr(7, TILE_CSR_WF_ID).addi(6, 0, 2).constant(10, kOut).slli(9, 7, 3).add(10, 10, 9);
  // Wavefront 3 ends; 0, 1 and 2 vote their id, twice.
  p.addi(5, 7, -3).bnez(5, 2).end();
  p.vote(8, 7).vote(9, 8).slli(9, 9, 8).add(8, 8, 9).sd(8, 10).end();
  Launch launch = p.launch();
  launch.wavefronts = 4;
  p.run(bench, launch);
  bench.require_quiet();
  for (unsigned i = 0; i < 3; ++i) REQUIRE(bench.value_at<uint64_t>(kOut + 8 * i) == 0x303);
  REQUIRE(bench.unit().barriers == 6);
}

TEST_CASE("released tiles give their share back and are never written") {
  Bench bench;
  Program p;
  p.load_at(8, kIn, shape(64, 256, 256)).store_at(8, kOut, shape(64, 256, 256)).release();
  p.load_at(9, kIn, shape(64, 256, 256)).wait(0);
  Program stale = p;
  p.end();
  Launch launch = p.launch();
  launch.lds_bytes = 24 * 1024;  // Holds one of the two.
  p.run(bench, launch);
  bench.require_quiet();
  stale.store_at(8, kOut, shape(64, 256, 256)).end().run(bench);
  REQUIRE(bench.gpu.front_end.faults().at(0).kind == FaultKind::empty_tile);
}

TEST_CASE("tiles that are not released keep their share") {
  Bench bench;
  Program p;
  p.load_at(8, kIn, shape(64, 256, 256)).wait(0).load_at(9, kIn, shape(64, 256, 256)).end();
  Launch launch = p.launch();
  launch.lds_bytes = 24 * 1024;
  p.run(bench, launch);
  REQUIRE(bench.gpu.front_end.faults().at(0).kind == FaultKind::no_room);
}

TEST_CASE("a fence waits for the stores before it, one of wavefront scope does not") {
  Bench bench;
  const auto clocks = [&](unsigned scope) {
    Program p;
    p.load_at(0, kIn, shape(1, 64, 64)).wait(0).store_at(0, kOut, shape(1, 64, 64));
    p.csr(8, TILE_CSR_CYCLE).tile_fence(scope).csr(9, TILE_CSR_CYCLE);
    p.constant(10, kOut + 256).sd(8, 10).addi(10, 10, 8).sd(9, 10).end().run(bench);
    return bench.value_at<uint64_t>(kOut + 264) - bench.value_at<uint64_t>(kOut + 256);
  };
  REQUIRE(clocks(TILE_SCOPE_DEVICE) > 600);
  REQUIRE(clocks(TILE_SCOPE_SYSTEM) > 600);
  REQUIRE(clocks(TILE_SCOPE_WORK_GROUP) > 600);
  REQUIRE(clocks(TILE_SCOPE_WAVEFRONT) < 10);
  bench.require_quiet();
}

TEST_CASE("a work-group knows its place in a grid of three dimensions") {
  Bench bench;
  Program p;
  // Word id of each quantity's array: x + 16 y + 256 z, and the same of the grid's extents.
  p.csr(5, TILE_CSR_WG_X).csr(6, TILE_CSR_WG_Y).csr(7, TILE_CSR_WG_Z);
  p.slli(6, 6, 4).slli(7, 7, 8).add(5, 5, 6).add(5, 5, 7);
  p.csr(6, TILE_CSR_GRID_X).csr(7, TILE_CSR_GRID_Y).csr(8, TILE_CSR_GRID_Z);
  p.slli(6, 6, 12).slli(7, 7, 16).slli(8, 8, 20).add(5, 5, 6).add(5, 5, 7).add(5, 5, 8);
  p.csr(6, TILE_CSR_GRID).slli(6, 6, 24).add(5, 5, 6);
  p.constant(10, kOut).csr(7, TILE_CSR_WG_ID).slli(7, 7, 3).add(10, 10, 7).sd(5, 10).end();
  Launch launch = p.launch();
  launch.workgroups = 5 * 3 * 2;
  launch.grid_y = 3;
  launch.grid_z = 2;
  p.run(bench, launch);
  bench.require_quiet();
  uint64_t id = 0;
  for (uint64_t z = 0; z < 2; ++z) {
    for (uint64_t y = 0; y < 3; ++y) {
      for (uint64_t x = 0; x < 5; ++x, ++id) {
        const uint64_t grid = 5u << 12 | 3u << 16 | 2u << 20 | 30u << 24;
        REQUIRE(bench.value_at<uint64_t>(kOut + 8 * id) == (grid | z << 8 | y << 4 | x));
      }
    }
  }
}

TEST_CASE("a grid that is no product of its rows and planes does not run") {
  Bench bench;
  Program p;
  Launch launch = p.end().launch();
  launch.workgroups = 29;
  launch.grid_y = 3;
  launch.grid_z = 2;
  p.run(bench, launch);
  REQUIRE(bench.gpu.front_end.faults().at(0).kind == FaultKind::bad_context);
}

TEST_CASE("a grid may have more than 65,536 work-groups") {
  Bench bench;
  Program p;
  p.constant(5, 1).constant(10, kOut).csr(6, TILE_CSR_WG_ID).addi(7, 0, 1).slli(7, 7, 16);
  // Those above count themselves.
  p.sub(6, 6, 7).sltz(6, 6).bnez(6, 2).amoadd(0, 5, 10).end();
  Launch launch = p.launch();
  launch.registers_bytes = launch.lds_bytes = launch.private_bytes = 0;
  launch.workgroups = 65'536 + 300;
  p.run(bench, launch);
  bench.require_quiet();
  REQUIRE(bench.value_at<uint64_t>(kOut) == 300);
}
