// SPDX-License-Identifier: Apache-2.0
// Vocabulary of the instruction-set simulator: exception causes, answers of a memory port, reasons
// to stop, atomic operations, and what one instruction costs in cycles.
//
// Everything here is plain data; nothing depends on SystemC. Numbers are those of the RISC-V
// unprivileged and privileged specifications (20191213 / 20211203).
#ifndef STRETTO_MODELS_RISCV_ISA_H_
#define STRETTO_MODELS_RISCV_ISA_H_

#include <cstdint>

namespace stretto::riscv {

// mcause values of synchronous exceptions (privileged specification, table 3.6).
enum class Cause : uint8_t {
  kFetchMisaligned = 0,
  kFetchAccess = 1,
  kIllegalInstruction = 2,
  kBreakpoint = 3,
  kLoadMisaligned = 4,
  kLoadAccess = 5,
  kStoreMisaligned = 6,
  kStoreAccess = 7,
  kEcallFromUser = 8,
  kEcallFromMachine = 11,
};

const char* cause_name(Cause cause);

// Bit numbers in mip and mie; also the low bits of mcause of an interrupt.
constexpr unsigned kInterruptSoftware = 3;
constexpr unsigned kInterruptTimer = 7;
constexpr unsigned kInterruptExternal = 11;

// What a port says to a load, store, atomic or fence.
enum class MemStatus : uint8_t {
  kDone,        // finished; the instruction retires and the hart runs on
  kDoneYield,   // finished; the instruction retires, then run() returns kYield (interrupts may
                // differ)
  kPending,     // not now: run() returns kPending, the owner calls a complete_*() or fail_access()
  kFault,       // nothing there: access fault
  kMisaligned,  // the region does not split accesses: address-misaligned exception
};

// Why Hart::run() returned. The hart is at an instruction boundary in every case.
enum class StopReason : uint8_t {
  kBudget,   // exactly max_steps instructions retired or trapped
  kYield,    // the port asked for a stop after the last retired instruction
  kWfi,      // waiting for interrupt; call run() again after an enabled interrupt became pending
  kPending,  // pending() describes the access; pc is at the instruction, which has not retired
  kCustom,   // custom() describes the tile instruction; pc is at it, retire_custom() finishes it
  kEcall,    // only if the owner asked for it; pc is at the instruction
  kEbreak,   // only if the owner asked for it; pc is at the instruction
  kFault,    // hart without traps: fault() tells cause, value and pc; the hart stays stopped
};

const char* stop_reason_name(StopReason reason);

enum class AmoOp : uint8_t {
  kLoadReserved,
  kStoreConditional,
  kSwap,
  kAdd,
  kXor,
  kAnd,
  kOr,
  kMin,
  kMax,
  kMinu,
  kMaxu,
  kCompareSwap,  // Zacas
};

// One atomic memory operation; addr is aligned to size (4 or 8 bytes).
struct AmoRequest {
  AmoOp op;
  uint8_t size_bytes;
  bool acquire;
  bool release;
  uint64_t addr;
  uint64_t operand;  // rs2, all 64 bits; the memory side uses the low size_bytes
  uint64_t compare;  // likewise, of kCompareSwap: rd
};

// The value that an AMO leaves in memory (low size_bytes). Not for LR, SC and compare and swap.
uint64_t apply_amo(AmoOp op, unsigned size_bytes, uint64_t old_value, uint64_t operand);

// A custom-0..3 instruction handed to the owner, R-type fields and register values decoded.
struct CustomOp {
  uint32_t raw;
  uint8_t opcode;  // 0..3: custom-0 (0x0b), custom-1 (0x2b), custom-2 (0x5b), custom-3 (0x7b)
  uint8_t rd, rs1, rs2, funct3, funct7;
  int32_t imm;  // I-type immediate, bits 31:20 sign-extended
  uint64_t rs1_value, rs2_value;
};

// An access that the port has taken but not finished.
struct PendingAccess {
  enum class Kind : uint8_t { kNone, kLoad, kStore, kAmo, kFence, kCsr, kFetch };
  Kind kind = Kind::kNone;
  bool sign_extend = false;
  uint8_t size_bytes = 0;
  uint8_t rd = 0;
  uint8_t length_bytes = 4;  // of the instruction
  uint16_t cost_cycles = 0;  // charged when it retires, beside what the owner adds
  AmoOp amo_op = AmoOp::kSwap;
  uint64_t addr = 0;
};

struct Fault {
  Cause cause;
  uint64_t value;  // what mtval would hold
  uint64_t pc;
};

// Cycles per instruction class. They are charged when the instruction retires; what a memory level
// adds comes from the port. Defaults: a single-issue in-order core with a two-stage fetch.
struct CostTable {
  uint16_t alu = 1;           // integer, immediate, lui/auipc, fences before what the port adds
  uint16_t mul = 3;           // pipelined 64-bit multiplier whose result is needed at once
  uint16_t div = 20;          // radix-8 divider, worst case; no early out
  uint16_t load = 1;          // issue slot of a load; hit and miss latency are the port's
  uint16_t store = 1;         // issue slot of a store
  uint16_t amo = 1;           // issue slot of an LR, SC or AMO
  uint16_t branch = 1;        // conditional branch that falls through
  uint16_t taken_branch = 2;  // added when a conditional branch is taken: refetch
  uint16_t jump = 3;          // jal and jalr: one slot and the refetch
  uint16_t csr = 1;           // csrr*; pipeline is drained by in-order issue already
  uint16_t system = 3;        // mret, wfi, fence.i: refetch
  uint16_t custom = 1;        // issue slot of a tile instruction; its own time is the owner's
  uint16_t trap = 4;          // exception or interrupt entry
};
constexpr uint16_t kMaxCostCycles = 1000;  // bound on each field: a block's sum must fit 16 bits

// The fields of CostTable with a sentence each, for owners that publish them as parameters.
struct CostField {
  const char* name;
  uint16_t CostTable::*member;
  const char* sentence;
};
struct CostFields {
  const CostField* begin_;
  const CostField* end_;
  const CostField* begin() const { return begin_; }
  const CostField* end() const { return end_; }
};
CostFields cost_fields();

}  // namespace stretto::riscv

#endif  // STRETTO_MODELS_RISCV_ISA_H_
