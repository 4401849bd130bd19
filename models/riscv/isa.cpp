// SPDX-License-Identifier: Apache-2.0
// Names, cost descriptions and the arithmetic of atomic memory operations.
#include "models/riscv/isa.h"

#include <cassert>
#include <iterator>

namespace stretto::riscv {

const char* cause_name(Cause cause) {
  switch (cause) {
    case Cause::kFetchMisaligned: return "instruction address misaligned";
    case Cause::kFetchAccess: return "instruction access fault";
    case Cause::kIllegalInstruction: return "illegal instruction";
    case Cause::kBreakpoint: return "breakpoint";
    case Cause::kLoadMisaligned: return "load address misaligned";
    case Cause::kLoadAccess: return "load access fault";
    case Cause::kStoreMisaligned: return "store address misaligned";
    case Cause::kStoreAccess: return "store access fault";
    case Cause::kEcallFromUser: return "environment call";
    case Cause::kEcallFromMachine: return "environment call from machine mode";
  }
  return "unknown cause";
}

const char* stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::kBudget: return "budget";
    case StopReason::kYield: return "yield";
    case StopReason::kWfi: return "wfi";
    case StopReason::kPending: return "pending";
    case StopReason::kCustom: return "custom";
    case StopReason::kEcall: return "ecall";
    case StopReason::kEbreak: return "ebreak";
    case StopReason::kFault: return "fault";
  }
  return "unknown";
}

uint64_t apply_amo(AmoOp op, unsigned size_bytes, uint64_t old_value, uint64_t operand) {
  assert(size_bytes == 4 || size_bytes == 8);
  int64_t a = static_cast<int64_t>(old_value);
  int64_t b = static_cast<int64_t>(operand);
  if (size_bytes == 4) {
    a = static_cast<int32_t>(old_value);
    b = static_cast<int32_t>(operand);
  }
  // Sign-extended 32-bit values keep their unsigned order, so one comparison serves both sizes.
  const uint64_t ua = static_cast<uint64_t>(a);
  const uint64_t ub = static_cast<uint64_t>(b);
  uint64_t result = 0;
  switch (op) {
    case AmoOp::kSwap: result = ub; break;
    case AmoOp::kAdd: result = ua + ub; break;
    case AmoOp::kXor: result = ua ^ ub; break;
    case AmoOp::kAnd: result = ua & ub; break;
    case AmoOp::kOr: result = ua | ub; break;
    case AmoOp::kMin: result = a < b ? ua : ub; break;
    case AmoOp::kMax: result = a > b ? ua : ub; break;
    case AmoOp::kMinu: result = ua < ub ? ua : ub; break;
    case AmoOp::kMaxu: result = ua > ub ? ua : ub; break;
    case AmoOp::kLoadReserved:
    case AmoOp::kStoreConditional:
    case AmoOp::kCompareSwap: assert(!"no value of one operand"); break;
  }
  return size_bytes == 4 ? (result & 0xffffffffu) : result;
}

CostFields cost_fields() {
  static const CostField kFields[] = {
      {"alu_cycles", &CostTable::alu, "integer instruction"},
      {"mul_cycles", &CostTable::mul, "multiplication until its result can be used"},
      {"div_cycles", &CostTable::div, "division or remainder, any operands"},
      {"load_cycles", &CostTable::load, "issue of a load, without memory latency"},
      {"store_cycles", &CostTable::store, "issue of a store, without memory latency"},
      {"amo_cycles", &CostTable::amo, "issue of an atomic, without memory latency"},
      {"branch_cycles", &CostTable::branch, "conditional branch that falls through"},
      {"taken_branch_cycles", &CostTable::taken_branch, "added when a conditional branch is taken"},
      {"jump_cycles", &CostTable::jump, "jal and jalr"},
      {"csr_cycles", &CostTable::csr, "CSR access"},
      {"system_cycles", &CostTable::system, "mret, wfi and fence.i"},
      {"custom_cycles", &CostTable::custom, "issue of a tile instruction, without its own time"},
      {"trap_cycles", &CostTable::trap, "entry of an exception or interrupt"},
  };
  return {std::begin(kFields), std::end(kFields)};
}

}  // namespace stretto::riscv
