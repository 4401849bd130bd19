// SPDX-License-Identifier: Apache-2.0
// Question: does a hart without machine mode behave as a wavefront needs: tile instructions go to
// the owner, every exception is a fault with its place, code is shared, state is small?
#include <catch2/catch.hpp>

#include <vector>

#include "tests/unit/riscv/hart_bench.h"

using namespace stretto::riscv;
using namespace stretto::riscv::test;
using Bench = HartBench<WavefrontPort>;

TEST_CASE("a tile instruction stops before it retires, with its operands decoded") {
  Bench b({kNop, r_type(0x0b, 3, 0x55, 7, 10, 11), addi(8, 7, 1)});
  REQUIRE(b.hart.run(100) == StopReason::kCustom);
  const CustomOp op = b.hart.custom();
  CHECK(op.opcode == 0);
  CHECK(op.funct3 == 3);
  CHECK(op.funct7 == 0x55);
  CHECK(op.rd == 7);
  CHECK(op.rs1 == 10);
  CHECK(op.rs2 == 11);
  CHECK(op.rs1_value == Bench::kData);
  CHECK(op.rs2_value == Bench::kSlow);
  CHECK(b.hart.instret() == 1);
  CHECK(b.hart.pc() == Bench::kBase + 4);
  CHECK(b.hart.run(100) == StopReason::kCustom);
  b.hart.retire_custom(41);
  CHECK(b.hart.instret() == 2);
  CHECK(b.hart.cycles() == 2);
  b.hart.run(1);
  CHECK(b.hart.reg(8) == 42);
}

TEST_CASE("a tile instruction without a result leaves the register of its rd field alone") {
  Bench b({r_type(0x0b, 0, 0, 10, 10, 11)});
  REQUIRE(b.hart.run(1) == StopReason::kCustom);
  b.hart.retire_custom();
  CHECK(b.hart.reg(10) == Bench::kData);
}

TEST_CASE("a refused tile instruction is a fault") {
  Bench b({r_type(0x0b, 7, 0x7f, 0, 0, 0)});
  REQUIRE(b.hart.run(1) == StopReason::kCustom);
  CHECK(b.hart.trap_custom(Cause::kIllegalInstruction, b.hart.custom().raw) == StopReason::kFault);
  CHECK(b.hart.fault().pc == Bench::kBase);
  CHECK(b.hart.run(1) == StopReason::kFault);
}

// Zacas 1.0: rd is compared and takes what was there; x0 compares with 0 and takes nothing.
TEST_CASE("a compare and swap hands over both operands and takes what was there") {
  const uint32_t amocas_w = r_type(0x2f, 2, 0x14, 7, 11, 10),
                 of_zero = r_type(0x2f, 3, 0x17, 0, 11, 10);
  Bench b({addi(7, 0, -5), amocas_w, of_zero});
  REQUIRE(b.hart.run(100) == StopReason::kPending);
  CHECK(b.hart.pending().amo_op == AmoOp::kCompareSwap);
  CHECK(b.hart.pending().size_bytes == 4);
  CHECK(b.port.last_amo_.addr == Bench::kSlow);
  CHECK(b.port.last_amo_.operand == Bench::kData);
  CHECK(b.port.last_amo_.compare == ~uint64_t{4});
  CHECK(!b.port.last_amo_.acquire);
  b.hart.complete_amo(0x80000001);
  CHECK(b.hart.reg(7) == 0xffffffff80000001);
  REQUIRE(b.hart.run(100) == StopReason::kPending);
  CHECK(b.hart.pending().size_bytes == 8);
  CHECK(b.port.last_amo_.compare == 0);
  CHECK(b.port.last_amo_.acquire);
  CHECK(b.port.last_amo_.release);
  b.hart.complete_amo(77);
  CHECK(b.hart.reg(0) == 0);
}

TEST_CASE("every exception is a fault with cause, value and pc") {
  struct Row {
    uint32_t instruction;
    Cause cause;
    uint64_t value;
  };
  const Row rows[] = {
      {lw(5, 0, 0x10), Cause::kLoadAccess, 0x10},
      {sw(5, 0, 0x20), Cause::kStoreAccess, 0x20},
      {0xffffffff, Cause::kIllegalInstruction, 0xffffffff},
      {0x00000001, Cause::kIllegalInstruction, 1},  // c.nop: no C extension
      {0x0000002b, Cause::kIllegalInstruction, 0x2b},
      {kMret, Cause::kIllegalInstruction, kMret},
      {kWfi, Cause::kIllegalInstruction, kWfi},
      {csrrs(5, kCsrMstatus, 0), Cause::kIllegalInstruction, csrrs(5, kCsrMstatus, 0)},
      {csrrw(5, 0xcc0, 5), Cause::kIllegalInstruction, csrrw(5, 0xcc0, 5)},
      {kEcall, Cause::kEcallFromUser, 0},
      {kEbreak, Cause::kBreakpoint, Bench::kBase + 4},
      {amoadd_w(5, 12, 5), Cause::kStoreMisaligned, 2},
      {jalr(5, 12, 0), Cause::kFetchMisaligned, 2},
      {jal(5, 6), Cause::kFetchMisaligned, Bench::kBase + 10},
      {branch(0, 0, 0, 6), Cause::kFetchMisaligned, Bench::kBase + 10}};
  for (const Row& row : rows) {
    Bench b({addi(12, 0, 2), row.instruction, kNop});
    b.port.csrs_[0xcc0] = 1;
    INFO(std::hex << row.instruction);
    REQUIRE(b.hart.run(100) == StopReason::kFault);
    CHECK(b.hart.fault().cause == row.cause);
    CHECK(b.hart.fault().value == row.value);
    CHECK(b.hart.fault().pc == Bench::kBase + 4);
    CHECK(b.hart.reg(5) == 0);
    CHECK(b.hart.instret() == 1);
    CHECK(b.hart.run(1) == StopReason::kFault);
  }
}

TEST_CASE("a jump out of code is a fault at its target") {
  Bench b({jalr(0, 0, 0x40)});
  REQUIRE(b.hart.run(100) == StopReason::kFault);
  CHECK(b.hart.fault().cause == Cause::kFetchAccess);
  CHECK(b.hart.fault().value == 0x40);
  CHECK(b.hart.fault().pc == 0x40);
  CHECK(b.hart.instret() == 1);
}

TEST_CASE("a failed access is a fault") {
  Bench b({lw(5, 11, 4)});
  REQUIRE(b.hart.run(9) == StopReason::kPending);
  CHECK(b.hart.fail_access() == StopReason::kFault);
  CHECK(b.hart.fault().value == Bench::kSlow + 4);
}

TEST_CASE("ids and scratch come from the owner's CSRs") {
  Bench b({csrrs(5, 0xcc0, 0), csrrw(6, 0x800, 5), csrrs(7, 0x800, 0), csrrs(8, kCsrCycle, 0)});
  b.port.csrs_[0xcc0] = 1234;
  b.port.csrs_[0x800] = 5;
  b.port.csrs_[kCsrCycle] = 777;  // the clock of the GPU, not of this wavefront
  b.hart.run(4);
  CHECK(b.hart.reg(5) == 1234);
  CHECK(b.hart.reg(6) == 5);
  CHECK(b.hart.reg(7) == 1234);
  CHECK(b.hart.reg(8) == 777);
}

TEST_CASE("a thousand wavefronts share one decoded kernel and each is small") {
  Bench b({addi(5, 5, 1), r_type(0x0b, 0, 0, 0, 0, 0), jal(0, -8)});
  std::vector<Hart<WavefrontPort>> wavefronts;
  for (int i = 0; i < 1000; ++i) {
    wavefronts.emplace_back(b.port, b.code);
    wavefronts.back().reset(Bench::kBase);
  }
  for (int round = 1; round <= 3; ++round) {
    for (auto& wavefront : wavefronts) {
      REQUIRE(wavefront.run(1000) == StopReason::kCustom);
      REQUIRE(wavefront.reg(5) == static_cast<uint64_t>(round));
      wavefront.retire_custom();
    }
  }
  CHECK(b.code.block_count() == 2);
  CHECK(sizeof(Hart<WavefrontPort>) <= 416);
}
