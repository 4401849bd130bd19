// SPDX-License-Identifier: Apache-2.0
// Question: which slots of its port does an instruction take, how fast are tensor cores and SIMT lanes,
// and who waits for whom? Times are those of the specification: 1.4 GHz, 512 multiply-adds a clock at
// 4/5, 64 SIMT lanes.
#include "tests/unit/gpu/instruction_bench.h"

using namespace stretto;
using namespace stretto::test;

TEST_CASE("wavefronts of one port share its issue slots") {
  // Four work-groups on one unit of four ports run a loop of two instructions.
  const auto time_of_loop = [](GpuMachine& machine, unsigned wavefronts) {
    Program p;
    p.constant(5, 3000).addi(5, 5, -1).bnez(5, -1).end();
    Launch launch = p.launch();
    launch.wavefronts = wavefronts;
    launch.workgroups = 4;
    launch.registers_bytes = 65536;
    launch.lds_bytes = 0;
    const Time begin = machine.queue.now();
    return p.run(machine, launch) - begin;
  };
  GpuSpec spec;
  spec.cus = 1;
  GpuMachine machine(spec);
  const Time few = time_of_loop(machine, 1);   // One a port.
  const Time many = time_of_loop(machine, 8);  // Eight a port.
  // A turn is two instructions and a refetch of two clocks: one wavefront leaves half of its port
  // unused, eight need four times as long.
  REQUIRE(few > 3000 * 4 * (kClock - 1));
  REQUIRE(few < 3100 * 4 * kClock);
  REQUIRE(many > 3000 * 16 * (kClock - 1));
  REQUIRE(many < 3400 * 16 * kClock);
}

TEST_CASE("tile loads and stores take the issue slots of the memory instructions they stand for",
          "[GD-MMIO-03]") {
  GpuSpec spec;
  spec.cus = 1;
  spec.memory_instruction_bytes = 512;
  GpuMachine machine(spec);
  machine.map(kIn, 0x100000);
  const ComputeUnit& unit = *machine.gpu.units[0];
  // A loop after the load: what it waits for is the port alone.
  const auto run = [&](uint32_t rows, uint64_t& slots) {
    Program p;
    p.load_at(0, kIn, shape(rows, 96, 256)).constant(5, 3000).addi(5, 5, -1).bnez(5, -1).end();
    const uint64_t before = unit.instructions();
    const Time begin = machine.queue.now(), end = p.run(machine);
    slots = unit.instructions() - before;
    return end - begin;
  };
  uint64_t warm = 0, one = 0, two = 0, many = 0;
  run(5, warm);
  const Time first = run(5, one), second = run(10, two),
             third = run(48, many);  // 480, 960, 4608 bytes.
  REQUIRE(two == one + 1);
  REQUIRE(many == one + 8);
  REQUIRE((second - first + kClock / 2) / kClock == 1);
  REQUIRE((third - first + kClock / 2) / kClock == 8);
  // A load and the store of what it brought.
  const auto slots_of_copy = [&](uint32_t rows) {
    Program p;
    p.load_at(0, kIn, shape(rows, 96, 256)).store_at(0, kIn, shape(rows, 96, 256)).end();
    const uint64_t before = unit.instructions();
    p.run(machine);
    return unit.instructions() - before;
  };
  const uint64_t of_one = slots_of_copy(5);
  REQUIRE(slots_of_copy(10) == of_one + 2);
  REQUIRE(slots_of_copy(48) == of_one + 2 * 8);
}

namespace {

// Of wavefront 0 of work-group 0: `products` of 128 x 128 x 32; the others issue `rounds` of a loop of
// 101 instructions.
Program product_beside_loops(int products, uint64_t rounds) {
  Program p;
  p.constant(6, rounds).constant(5, 128 | 128 << 16).csr(7, TILE_CSR_WG_ID).csr(8, TILE_CSR_WF_ID);
  p.slli(7, 7, 8).add(7, 7, 8).bnez(7, 7 + products);
  p.zero(24, 5).load_at(8, kIn, shape(128, 64, 64)).wait(0);
  for (int i = 0; i < products; ++i) p.mma(24, 8, 8, false, true);
  p.end();
  for (int i = 0; i < 99; ++i) p.addi(9, 9, 1);
  return p.addi(6, 6, -1).bnez(6, -100).end();
}

}  // namespace

TEST_CASE("a product takes the issue slots of the native instructions it stands for", "[GD-U10]") {
  Bench bench;
  const auto slots = [&](int products) {
    const uint64_t before = bench.gpu.instructions();
    Program p;
    p.constant(5, 128 | 128 << 16).zero(24, 5).load_at(8, kIn, shape(128, 64, 64)).wait(0);
    for (int i = 0; i < products; ++i) p.mma(24, 8, 8, false, true);
    p.end().run(bench);
    return bench.gpu.instructions() - before;
  };
  const uint64_t none = slots(0), two = slots(2);
  // HMMA.884 of a V100 has 256 multiply-adds; four wavefronts of 64 x 64 load 16 LDS.128 for 16 of K.
  const uint64_t native = 128 * 128 * 32 / 256 + 4 * 32;
  REQUIRE(two - none == 2 * (1 + native + GpuSpec{}.product_overhead_slots));
  bench.require_quiet();
}

TEST_CASE("a SIMT operation takes the issue slots of its native instructions") {
  Bench bench;
  const auto slots = [&](int operations) {
    const uint64_t before = bench.gpu.instructions();
    Program p;
    p.load_at(0, kIn, shape(16, 256, 256)).wait(0);
    for (int i = 0; i < operations; ++i) p.simt(TILE_SIMT_ADD, 1, 0, 0);
    p.end().run(bench);
    return bench.gpu.instructions() - before;
  };
  const uint64_t none = slots(0), two = slots(2);
  REQUIRE(two - none == 2 * (1 + 2048 / 64));  // 32 lanes of two FP16.
}

TEST_CASE("who issues beside a product has the slots that it leaves") {
  GpuSpec spec;
  spec.cus = 1;
  GpuMachine machine(spec);
  machine.map(kIn, 0x100000);
  const auto time = [&](int products) {
    const Program p = product_beside_loops(products, 100);
    Launch launch = p.launch();
    launch.wavefronts = 4;  // One a port.
    const Time begin = machine.queue.now();
    return static_cast<double>(p.run(machine, launch) - begin);
  };
  time(0);
  const uint64_t busy = machine.gpu.units[0]->counters().tensor.busy;
  const double alone = time(0), beside = time(12);  // The products work all the time.
  REQUIRE(machine.gpu.front_end.fault_count() == 0);
  REQUIRE(machine.gpu.units[0]->counters().tensor.busy - busy < 12 * 1290);
  REQUIRE(machine.gpu.units[0]->counters().tensor.busy - busy >= 12 * 1280);
  // The products take 2276 slots in 1280 clocks of four ports, 12 times; then the loop has all.
  const double left = 1 - 2276.0 / 4 / 1280, during = 12 * 1280;
  const double expected = during + (100 * 101 - left * during);
  REQUIRE(alone / kClock == Approx(100 * 103 + 50).epsilon(0.01));
  REQUIRE(beside / kClock == Approx(expected + 50).epsilon(0.03));
}

TEST_CASE("a product slows down when many wavefronts issue") {
  GpuSpec spec;
  spec.cus = 1;
  GpuMachine machine(spec);
  machine.map(kIn, 0x100000);
  const Program p = product_beside_loops(2, 400);
  Launch launch = p.launch();
  launch.wavefronts = 8;
  launch.workgroups = 3;
  launch.registers_bytes = 80 * 1024;
  launch.lds_bytes = 16 * 1024;
  p.run(machine, launch);
  INFO((machine.gpu.front_end.faults().empty()
            ? std::string()
            : describe_fault(0, machine.gpu.front_end.faults()[0])));
  REQUIRE(machine.gpu.front_end.fault_count() == 0);
  // Two turns of the product and six of wavefronts a round: a quarter of the slots. It wants 594 of
  // 1280: (2048 + 128 + 8 x 25) / 4.
  const uint64_t busy = machine.gpu.units[0]->counters().tensor.busy;
  REQUIRE(busy > 2 * 594 * 4 * 93 / 100);
  REQUIRE(busy < 2 * 594 * 4 * 103 / 100);
}

TEST_CASE("FP32 products are the SIMT lanes' and TF32 the tensor cores'") {
  GpuSpec spec;
  spec.cus = 1;
  spec.tensor_tf32_passes = 2;
  spec.product_instruction_fma = spec.operand_instruction_bytes = 0;
  GpuMachine machine(spec);
  machine.map(kIn, 0x100000);
  const ComputeUnitCounters& counters = machine.gpu.units[0]->counters();
  const auto run = [&](unsigned element) {
    Program p;
    p.constant(5, 64 | 64 << 16).zero(24, 5);
    p.load_at(8, kIn, shape(64, 128, 128), ElementType::fp32).wait(0);
    p.mma(24, 8, 8, false, true, static_cast<ElementType>(element)).end().run(machine);
  };
  run(static_cast<unsigned>(ElementType::fp32));
  REQUIRE(counters.tensor.busy == 0);
  REQUIRE(counters.simt.busy == 1 + 64 * 64 * 32 / 64);
  run(TILE_TF32);
  REQUIRE(counters.tensor.busy == 2 * 64 * 64 * 32 * 5 / (512 * 4));
  REQUIRE(machine.gpu.front_end.fault_count() == 0);
}

namespace {

// Work-group 0 has an FP32 product of 128 x 128 x 32, 8192 clocks; work-group 1 ten operations of 16 clocks, each on
// the one before, from its middle on: their clocks.
uint64_t clocks_beside_product(GpuMachine& machine, bool product) {
  Program p;
  p.csr(7, TILE_CSR_WG_ID);
  const size_t branch = p.words.size();
  p.bnez(7, 0).constant(5, 128 | 128 << 16).zero(24, 5);
  p.load_at(8, kIn, shape(128, 128, 128), ElementType::fp32).wait(0);
  if (product) p.mma(24, 8, 8, false, true, ElementType::fp32);
  p.end();
  p.words[branch] = Program().bnez(7, static_cast<int>(p.words.size() - branch)).words.back();
  p.load_at(0, kIn, shape(16, 256, 256)).wait(0).constant(5, 1000).addi(5, 5, -1).bnez(5, -1);
  p.csr(9, TILE_CSR_CYCLE).simt(TILE_SIMT_ADD, 1, 0, 0);
  for (int i = 1; i < 10; ++i) p.simt(TILE_SIMT_ADD, 1, 1, 0);
  p.store_at(1, kOut + 0x1000, shape(16, 256, 256)).csr(12, TILE_CSR_CYCLE).sub(12, 12, 9);
  p.constant(13, kOut).sd(12, 13).end();
  Launch launch = p.launch();
  launch.workgroups = 2;
  launch.registers_bytes = 131072;
  launch.lds_bytes = 65536;
  p.run(machine, launch);
  return machine.value_at<uint64_t>(kOut);
}

// `least` and `most`: what the product may add to the ten.
void check_turns(uint32_t pipe_turn_cycles, uint64_t least, uint64_t most) {
  GpuSpec spec;
  spec.cus = 1;
  spec.pipe_turn_cycles = pipe_turn_cycles;
  GpuMachine machine(spec);
  machine.map(kIn, 0x100000);
  machine.map(kOut, 0x100000, AllocationClass::uncached);
  const ComputeUnit& unit = *machine.gpu.units[0];
  clocks_beside_product(machine, false);
  const uint64_t cold = unit.instructions(), alone = clocks_beside_product(machine, false);
  const uint64_t slots = unit.instructions() - cold, busy = unit.counters().simt.busy;
  const uint64_t beside = clocks_beside_product(machine, true);
  REQUIRE(machine.gpu.front_end.fault_count() == 0);
  CHECK(alone >= 160);
  CHECK(beside >= alone + least);
  CHECK(beside <= alone + most);
  // The pipe does the same in turns, with the same native instructions, 32 lanes each.
  CHECK(unit.counters().simt.busy - busy == busy / 2 + 8192);
  CHECK(unit.instructions() - cold - slots == slots + 1 + 128 * 128 * 32 / 32);
  AuditSink sink;
  unit.audit(sink);
  for (const auto& law : sink.all()) CHECK(law.holds);
}

}  // namespace

TEST_CASE("an operation of a pipe runs to its end before another work-group's") {
  check_turns(0, 3000, 8192);
}
TEST_CASE("work-groups take turns of 16 clocks on a pipe") { check_turns(16, 10 * 8, 10 * 16 + 8); }
TEST_CASE("work-groups take turns of 64 clocks on a pipe") { check_turns(64, 10 * 8, 10 * 64 + 8); }
TEST_CASE("a turn longer than any operation is its end") { check_turns(10000, 3000, 8192); }

TEST_CASE("a machine without TF32 refuses such products") {
  Bench bench;
  Program p;
  p.constant(5, 16 | 16 << 16).zero(24, 5);
  p.load_at(8, kIn, shape(16, 64, 64), ElementType::fp32).wait(0);
  p.mma(24, 8, 8, false, true, static_cast<ElementType>(TILE_TF32)).end().run(bench);
  REQUIRE(bench.gpu.front_end.fault_count() == 1);
  REQUIRE(bench.gpu.front_end.faults()[0].kind == FaultKind::illegal_instruction);
}

namespace {

// Clocks of a product of 128 x 128 x k of FP8.
uint64_t fp8_clocks(GpuMachine& machine, unsigned k) {
  const ComputeUnitCounters& counters = machine.gpu.units[0]->counters();
  const uint64_t busy = counters.tensor.busy, products = counters.multiply_adds;
  Program p;
  p.constant(5, 128 | 128 << 16).zero(24, 5);
  p.load_at(8, kIn, shape(128, k, 128), ElementType::e4m3).wait(0);
  p.mma(24, 8, 8, false, true, ElementType::e4m3).end().run(machine);
  REQUIRE(machine.gpu.front_end.fault_count() == 0);
  CHECK(counters.multiply_adds - products == 128 * 128 * ((k + 31) / 32 * 32));
  AuditSink sink;
  machine.gpu.units[0]->audit(sink);
  for (const auto& law : sink.all()) CHECK(law.holds);
  return counters.tensor.busy - busy;
}

GpuSpec fp8_spec(unsigned rate) {
  GpuSpec spec;
  spec.cus = 1;
  spec.tensor_fp8_rate = rate;
  spec.product_instruction_fma = spec.operand_instruction_bytes = 0;
  return spec;
}

// 512 multiply-adds of FP16 a clock, 4/5 of them; 64 of K.
constexpr uint64_t kFp16Clocks = 128 * 128 * 64 * 5 / (512 * 4);

}  // namespace

TEST_CASE("FP8 products run at twice the rate of FP16, K in steps of 32", "[T3-2XCU-02]") {
  GpuMachine machine(fp8_spec(2));
  machine.map(kIn, 0x100000);
  CHECK(fp8_clocks(machine, 64) == kFp16Clocks / 2);
  CHECK(fp8_clocks(machine, 33) == kFp16Clocks / 2);
  CHECK(fp8_clocks(machine, 32) == kFp16Clocks / 4);
}

TEST_CASE("FP8 products run at four times the rate of FP16", "[T3-2XCU-02]") {
  GpuMachine machine(fp8_spec(4));
  machine.map(kIn, 0x100000);
  CHECK(fp8_clocks(machine, 64) == kFp16Clocks / 4);
}

TEST_CASE("a machine without FP8 refuses such products", "[T3-2XCU-02]") {
  Bench bench;
  Program p;
  p.constant(5, 16 | 16 << 16).zero(24, 5);
  p.load_at(8, kIn, shape(16, 64, 64), ElementType::e4m3).wait(0);
  p.mma(24, 8, 8, false, true, ElementType::e4m3).end().run(bench);
  REQUIRE(bench.gpu.front_end.fault_count() == 1);
  REQUIRE(bench.gpu.front_end.faults()[0].kind == FaultKind::illegal_instruction);
}

TEST_CASE("SIMT operations on FP8 are those of FP32, and conversions", "[T3-2XCU-02]") {
  GpuSpec spec;
  spec.cus = 1;
  spec.simt_instruction_lanes = 0;
  GpuMachine machine(spec);
  machine.map(kIn, 0x100000);
  const ComputeUnitCounters& counters = machine.gpu.units[0]->counters();
  const auto clocks = [&](unsigned operation, ElementType element) {
    const uint64_t busy = counters.simt.busy;
    Program p;
    p.load_at(0, kIn, shape(16, 128, 128), element).simt(operation, 1, 0, 0).end().run(machine);
    return counters.simt.busy - busy;
  };
  constexpr uint64_t kOnce = 16 * 128 / 64;
  for (const ElementType element : {ElementType::e4m3, ElementType::e5m2}) {
    CHECK(clocks(TILE_SIMT_ADD, element) == 4 * kOnce);
    CHECK(clocks(TILE_SIMT_EXP, element) == 6 * kOnce);
    CHECK(clocks(TILE_SIMT_COPY, element) == kOnce);
    CHECK(clocks(TILE_SIMT_FP32, element) == kOnce);
  }
  REQUIRE(machine.gpu.front_end.fault_count() == 0);
}

TEST_CASE("SIMT operations on FP16 run at the machine's rate") {
  GpuSpec spec;
  spec.cus = 1;
  spec.simt_fp16_per_lane = 4;
  spec.simt_instruction_lanes = 0;  // All slots of all ports, else.
  GpuMachine machine(spec);
  machine.map(kIn, 0x100000);
  Program().load_at(0, kIn, shape(16, 256, 256)).simt(TILE_SIMT_ADD, 1, 0, 0).end().run(machine);
  REQUIRE(machine.gpu.units[0]->counters().simt.busy == 2048 / 256);
}

TEST_CASE("products faster than the tensor cores break the laws of unit, work-group and kernel") {
  GpuSpec spec;
  spec.cus = 1;
  spec.product_instruction_fma = spec.operand_instruction_bytes = spec.product_overhead_slots = 0;
  spec.fault_product_speed = 3;
  GpuMachine machine(spec);
  machine.map(kIn, 0x100000);
  Program p;
  p.constant(5, 128 | 128 << 16).zero(24, 5).load_at(8, kIn, shape(128, 64, 64)).wait(0);
  for (int i = 0; i < 40; ++i) p.mma(24, 8, 8, false, true);
  p.end().run(machine);
  AuditSink sink;
  machine.gpu.audit(sink);
  std::string laws;
  for (const AuditResult& result : sink.all()) laws += result.holds ? "" : result.law + "; ";
  CHECK_THAT(laws, Catch::Contains("no pipe above its peak"));
  CHECK_THAT(laws, Catch::Contains("work-groups above the tensor peak over their time = 0"));
  CHECK_THAT(laws, Catch::Contains("kernels above the tensor peak of all units over their time"));
}
