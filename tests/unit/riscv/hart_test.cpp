// SPDX-License-Identifier: Apache-2.0
// Question: does a machine-mode hart stop where it says, count exactly, and take interrupts as the
// privileged specification orders them?
// State space: reason to stop x place in a block; interrupt line x mie x mstatus.MIE x mtvec mode.
// Expected cycles are sums of CostTable defaults written out in each test.
#include <catch2/catch.hpp>

#include "tests/unit/riscv/hart_bench.h"

using namespace stretto::riscv;
using namespace stretto::riscv::test;
using Bench = HartBench<MachinePort>;

TEST_CASE("a run ends after exactly its budget, anywhere in a block") {
  Bench b({addi(1, 1, 1), addi(1, 1, 1), addi(1, 1, 1), addi(1, 1, 1), jal(0, -16)});
  uint64_t total = 0;
  for (const uint64_t budget : {1, 2, 3, 4, 5, 6, 1, 1, 7, 13}) {
    REQUIRE(b.hart.run(budget) == StopReason::kBudget);
    total += budget;
    REQUIRE(b.hart.instret() == total);
    REQUIRE(b.hart.reg(1) == total - total / 5);
    REQUIRE(b.hart.pc() == Bench::kBase + 4 * (total % 5));
  }
  CHECK(b.hart.run(0) == StopReason::kBudget);
  CHECK(b.hart.instret() == total);
}

TEST_CASE("cycles are the sum of the costs of what retired") {
  Bench b({addi(1, 0, 6), mul(2, 1, 1), div(3, 2, 1), lw(4, 10, 0), sw(4, 10, 4),
           branch(0, 0, 1, 8), branch(0, 0, 0, 8), kNop, jal(0, 4)});
  const uint64_t costs[] = {1, 3, 20, 1, 1, 1, 3, 3};
  uint64_t cycles = 0;
  for (const uint64_t cost : costs) {
    b.hart.run(1);
    cycles += cost;
    REQUIRE(b.hart.cycles() == cycles);
  }
  CHECK(b.hart.pc() == Bench::kBase + 36);
}

TEST_CASE("costs follow the table that the code cache was made with") {
  CostTable cost;
  cost.alu = 2;
  cost.mul = 7;
  Bench b({addi(1, 0, 6), mul(2, 1, 1)}, cost);
  b.hart.run(2);
  CHECK(b.hart.cycles() == 9);
}

TEST_CASE("counters read in the middle of a block count what came before them") {
  Bench b({kNop, mul(2, 1, 1), csrrs(5, kCsrCycle, 0), csrrs(6, kCsrInstret, 0), kNop, kNop,
           jal(0, 4)});
  b.hart.run(7);
  CHECK(b.hart.reg(5) == 4);
  CHECK(b.hart.reg(6) == 3);
}

TEST_CASE("a pending load retires once, when the owner completes it") {
  Bench b({kNop, lb(5, 11, 3), addi(6, 5, 1)});
  REQUIRE(b.hart.run(100) == StopReason::kPending);
  CHECK(b.hart.instret() == 1);
  CHECK(b.hart.cycles() == 1);
  CHECK(b.hart.pc() == Bench::kBase + 4);
  CHECK(b.hart.pending().kind == PendingAccess::Kind::kLoad);
  CHECK(b.hart.pending().addr == Bench::kSlow + 3);
  CHECK(b.hart.pending().size_bytes == 1);
  CHECK(b.hart.run(100) == StopReason::kPending);
  CHECK(b.hart.instret() == 1);
  b.hart.complete_load(0x1280);
  CHECK(b.hart.reg(5) == 0xffffffffffffff80);
  CHECK(b.hart.instret() == 2);
  CHECK(b.hart.cycles() == 2);
  b.hart.run(1);
  CHECK(b.hart.reg(6) == 0xffffffffffffff81);
}

TEST_CASE("loads complete with the extension of their instruction") {
  struct Row {
    uint32_t instruction;
    uint64_t expected;
  };
  const Row rows[] = {{lb(5, 11, 0), 0xfffffffffffffff0},
                      {i_type(0x03, 4, 5, 11, 0), 0xf0},
                      {i_type(0x03, 1, 5, 11, 0), 0xffffffffffffdef0},
                      {lhu(5, 11, 0), 0xdef0},
                      {lw(5, 11, 0), 0xffffffff9abcdef0},
                      {i_type(0x03, 6, 5, 11, 0), 0x9abcdef0},
                      {ld(5, 11, 0), 0x123456789abcdef0}};
  for (const Row& row : rows) {
    Bench b({row.instruction});
    REQUIRE(b.hart.run(1) == StopReason::kPending);
    b.hart.complete_load(0x123456789abcdef0);
    CHECK(b.hart.reg(5) == row.expected);
  }
}

TEST_CASE("pending stores, atomics and fences retire when completed") {
  Bench b({sw(10, 11, 8), amoadd_w(5, 11, 10), kFence, kFenceI, addi(7, 0, 1)});
  b.port.slow_fence_ = true;
  REQUIRE(b.hart.run(9) == StopReason::kPending);
  CHECK(b.hart.pending().kind == PendingAccess::Kind::kStore);
  CHECK(b.hart.pending().addr == Bench::kSlow + 8);
  CHECK(b.port.slow_value_ == (Bench::kData & 0xffffffff));
  b.hart.complete_store();
  REQUIRE(b.hart.run(9) == StopReason::kPending);
  CHECK(b.hart.pending().kind == PendingAccess::Kind::kAmo);
  CHECK(b.hart.pending().amo_op == AmoOp::kAdd);
  CHECK(b.port.last_amo_.operand == Bench::kData);
  b.hart.complete_amo(0x80000000);
  CHECK(b.hart.reg(5) == 0xffffffff80000000);
  REQUIRE(b.hart.run(9) == StopReason::kPending);
  CHECK(b.hart.pending().kind == PendingAccess::Kind::kFence);
  CHECK_FALSE(b.port.last_fence_.instruction);
  b.hart.complete_fence();
  REQUIRE(b.hart.run(9) == StopReason::kPending);
  CHECK(b.port.last_fence_.instruction);
  b.hart.complete_fence();
  CHECK(b.hart.instret() == 4);
  CHECK(b.hart.cycles() == 1 + 1 + 1 + 3);
  b.hart.run(1);
  CHECK(b.hart.reg(7) == 1);
}

TEST_CASE("a failed access traps with its address and does not retire") {
  Bench b({lw(5, 11, 4), sw(5, 11, 8)});
  REQUIRE(b.hart.run(9) == StopReason::kPending);
  CHECK(b.hart.fail_access() == StopReason::kYield);
  CHECK(b.hart.pc() == Bench::kHandler);
  CHECK(b.hart.csrs().mcause == 5);
  CHECK(b.hart.csrs().mtval == Bench::kSlow + 4);
  CHECK(b.hart.csrs().mepc == Bench::kBase);
  CHECK(b.hart.instret() == 0);
  b.hart.set_pc(Bench::kBase + 4);
  REQUIRE(b.hart.run(9) == StopReason::kPending);
  b.hart.fail_access();
  CHECK(b.hart.csrs().mcause == 7);
}

TEST_CASE("an access that asks for a stop retires first") {
  Bench b({lw(5, 12, 0), sw(5, 12, 4), kNop, kNop});
  b.hart.set_reg(12, 0x20000000);
  b.port.yield_base_ = 0x20000000;
  REQUIRE(b.hart.run(9) == StopReason::kYield);
  CHECK(b.hart.reg(5) == 0x55667788);
  CHECK(b.hart.instret() == 1);
  CHECK(b.hart.cycles() == 11);
  CHECK(b.hart.pc() == Bench::kBase + 4);
  REQUIRE(b.hart.run(9) == StopReason::kYield);
  CHECK(b.hart.instret() == 2);
  CHECK(b.hart.cycles() == 22);
}

TEST_CASE("an endless trap loop ends with the budget") {
  Bench b({0});
  b.hart.csrs().mtvec = Bench::kBase;
  CHECK(b.hart.run(1000) == StopReason::kBudget);
  CHECK(b.hart.instret() == 0);
  CHECK(b.hart.cycles() == 4000);
}

TEST_CASE("ecall and ebreak stop the run if the owner asked for it") {
  Bench b({kEcall, kEbreak, kNop});
  b.hart.set_yield_on_ecall(true);
  b.hart.set_yield_on_ebreak(true);
  REQUIRE(b.hart.run(9) == StopReason::kEcall);
  CHECK(b.hart.pc() == Bench::kBase);
  b.hart.retire_system();
  REQUIRE(b.hart.run(9) == StopReason::kEbreak);
  CHECK(b.hart.instret() == 1);
  CHECK(b.hart.trap_system(Cause::kBreakpoint) == StopReason::kYield);
  CHECK(b.hart.csrs().mtval == Bench::kBase + 4);
  CHECK(b.hart.instret() == 1);
}

TEST_CASE("an enabled interrupt is taken at the start of a run, direct or vectored") {
  struct Row {
    uint64_t mtvec_mode;
    unsigned line;
    uint64_t expected_offset;
  };
  const Row rows[] = {{0, 3, 0}, {0, 7, 0}, {0, 11, 0}, {1, 3, 12}, {1, 7, 28}, {1, 11, 44}};
  for (const Row& row : rows) {
    Bench b({kNop, kNop});
    b.hart.csrs().mtvec = Bench::kHandler | row.mtvec_mode;
    b.hart.csrs().mstatus |= MachineCsrs::kMstatusMie;
    b.hart.csrs().mie = uint64_t{1} << row.line;
    b.hart.run(1);
    b.hart.set_interrupt(row.line, true);
    b.place(Bench::kHandler + row.expected_offset, {addi(5, 0, 1)});
    REQUIRE(b.hart.run(1) == StopReason::kBudget);
    CHECK(b.hart.reg(5) == 1);
    CHECK(b.hart.csrs().mcause == (uint64_t{1} << 63 | row.line));
    CHECK(b.hart.csrs().mepc == Bench::kBase + 4);
    CHECK(b.hart.csrs().mtval == 0);
    CHECK((b.hart.csrs().mstatus & MachineCsrs::kMstatusMie) == 0);
    CHECK((b.hart.csrs().mstatus & MachineCsrs::kMstatusMpie) != 0);
    CHECK(b.hart.instret() == 2);
    CHECK(b.hart.cycles() == 1 + 4 + 1);
  }
}

TEST_CASE("external goes before software before timer") {
  Bench b({kNop});
  b.hart.csrs().mstatus |= MachineCsrs::kMstatusMie;
  b.hart.csrs().mie = MachineCsrs::kInterruptMask;
  uint64_t expected[] = {11, 3, 7};
  for (const unsigned line : {3, 7, 11}) b.hart.set_interrupt(line, true);
  b.place(Bench::kHandler, {kNop});
  for (const uint64_t line : expected) {
    b.hart.csrs().mstatus |= MachineCsrs::kMstatusMie;
    b.hart.run(1);
    CHECK(b.hart.csrs().mcause == (uint64_t{1} << 63 | line));
    b.hart.set_interrupt(static_cast<unsigned>(line), false);
  }
}

TEST_CASE("masked interrupts wait until software enables them, and then come at once") {
  // x5 = MTIE; mie = x5; then MIE by csrrsi: the next instruction must not execute.
  Bench b({addi(5, 0, 0x80), csrrw(0, kCsrMie, 5), kNop, csrrsi(0, kCsrMstatus, 8), addi(6, 0, 1)});
  b.place(Bench::kHandler, {kNop, kNop});
  b.hart.set_interrupt(kInterruptTimer, true);
  b.hart.run(4);
  CHECK(b.hart.reg(6) == 0);
  b.hart.run(1);
  CHECK(b.hart.reg(6) == 0);
  CHECK(b.hart.csrs().mepc == Bench::kBase + 16);
  CHECK(b.hart.pc() == Bench::kHandler + 4);
}

TEST_CASE("mret returns and takes what is pending") {
  Bench b({kMret});
  b.hart.csrs().mepc = Bench::kBase + 0x40;
  b.hart.csrs().mstatus |= MachineCsrs::kMstatusMpie;
  b.hart.csrs().mie = 1u << kInterruptSoftware;
  b.hart.set_interrupt(kInterruptSoftware, true);
  b.hart.run(1);
  CHECK(b.hart.csrs().mepc == Bench::kBase + 0x40);
  CHECK(b.hart.pc() == Bench::kHandler);
  CHECK(b.hart.cycles() == 3 + 4);
}

TEST_CASE("wfi waits for an enabled line, even if interrupts are globally off") {
  Bench b({kWfi, addi(5, 0, 1)});
  REQUIRE(b.hart.run(9) == StopReason::kWfi);
  CHECK(b.hart.waiting());
  CHECK(b.hart.instret() == 1);
  CHECK(b.hart.pc() == Bench::kBase + 4);
  CHECK(b.hart.run(9) == StopReason::kWfi);
  b.hart.set_interrupt(kInterruptTimer, true);
  CHECK(b.hart.run(9) == StopReason::kWfi);  // not enabled in mie
  b.hart.csrs().mie = 1u << kInterruptTimer;
  CHECK(b.hart.run(1) == StopReason::kBudget);
  CHECK(b.hart.reg(5) == 1);
  CHECK(b.hart.csrs().mcause == 0);
}

TEST_CASE("wfi does not wait if an interrupt is pending already") {
  Bench b({kWfi, addi(5, 0, 1)});
  b.hart.csrs().mie = 1u << kInterruptExternal;
  b.hart.set_interrupt(kInterruptExternal, true);
  CHECK(b.hart.run(2) == StopReason::kBudget);
  CHECK(b.hart.reg(5) == 1);
}

TEST_CASE("a store to decoded code takes effect from the next instruction on") {
  // x7 holds "addi x6, x0, 2"; it replaces the instruction right after the store.
  Bench b({sw(7, 12, 4), addi(6, 0, 1), jal(0, -8)});
  b.hart.set_reg(7, addi(6, 0, 2));
  b.hart.set_reg(12, Bench::kBase);
  b.hart.run(2);
  CHECK(b.hart.reg(6) == 2);
  CHECK(b.hart.instret() == 2);
  CHECK(b.hart.cycles() == 2);
  CHECK(b.code.generation() == 1);
  b.hart.set_reg(12, Bench::kData);
  b.hart.run(10);
  CHECK(b.code.generation() == 1);
}

TEST_CASE("reset clears registers and machine state but not counters or lines") {
  Bench b({addi(5, 0, 1), csrrw(0, kCsrMscratch, 5)});
  b.hart.set_interrupt(kInterruptTimer, true);
  b.hart.run(2);
  b.hart.reset(Bench::kBase);
  CHECK(b.hart.reg(5) == 0);
  CHECK(b.hart.csrs().mscratch == 0);
  CHECK(b.hart.csrs().mip == 1u << kInterruptTimer);
  CHECK(b.hart.instret() == 2);
  CHECK(b.hart.pc() == Bench::kBase);
}

TEST_CASE("the owner serves CSRs that the hart does not know") {
  Bench b({csrrw(5, 0x7c0, 10), csrrs(6, 0x7c0, 0), csrrw(0, 0x7c1, 10)});
  b.port.csrs_[0x7c0] = 42;
  b.hart.run(3);
  CHECK(b.hart.reg(5) == 42);
  CHECK(b.hart.reg(6) == Bench::kData);
  CHECK(b.hart.csrs().mcause == 2);
  CHECK(b.hart.csrs().mepc == Bench::kBase + 8);
}

TEST_CASE("two harts share decoded code and a fence.i of one shows new code to both") {
  Bench b({addi(5, 5, 1), jal(0, -4)});
  Hart<MachinePort> other(b.port, b.code, 1);
  other.reset(Bench::kBase);
  b.hart.run(10);
  const size_t blocks = b.code.block_count();
  other.run(10);
  CHECK(b.code.block_count() == blocks);
  CHECK(other.reg(5) == 5);
  CHECK(other.csrs().hart_id == 1);
  b.port.poke(Bench::kBase, addi(5, 5, 100));
  b.port.poke(Bench::kBase + 0x40, kFenceI);
  b.hart.set_pc(Bench::kBase + 0x40);
  b.hart.run(1);
  other.run(1);
  CHECK(other.reg(5) == 105);
}

TEST_CASE("code that fills the cache is forgotten and decoded again") {
  // A run of one step from each instruction makes a block each; the cache must stay bounded.
  Bench b({});
  b.port.ram_.resize(1u << 18);
  const uint64_t end = Bench::kBase + 0x20000;
  for (uint64_t at = Bench::kBase; at < end; at += 4) b.port.poke(at, kNop);
  uint64_t executed = 0;
  for (uint64_t at = Bench::kBase; at < end; at += 4) {
    b.hart.set_pc(at);
    b.hart.run(1);
    ++executed;
    REQUIRE(b.hart.pc() == at + 4);
    REQUIRE(b.code.op_count() <= CodeCache::kMaxOps + CodeCache::kMaxBlockInstructions + 1);
  }
  CHECK(b.code.generation() > 0);
  CHECK(b.hart.instret() == executed);
}
