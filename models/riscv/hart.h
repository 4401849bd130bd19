// SPDX-License-Identifier: Apache-2.0
// Hart<Port>: one RISC-V hart, stepped by its owner. The same code runs the command processor's
// harts (RV64IMAC, machine mode, traps) and wavefronts (RV64IMA, an exception is a fault).
//
// Invariants
//  1. run(n) retires or traps exactly n instructions unless it stops earlier for a reason of the
//     guest's or the port's; where it stops depends on guest state and port answers only.
//  2. After run(), pc, registers, instret and cycles are those of an instruction boundary.
//  3. Interrupts are taken at the start of run(), after a CSR write, after mret and after wfi, and
//     nowhere else. The owner changes lines only between runs (a port that must change one inside
//     an access answers kDoneYield).
//  4. An instruction that waits (pending, custom) has no effect until it is completed.
//
// What Port provides (a plain class, everything inlined into the run loop):
//   static constexpr bool kMachineMode       traps, machine CSRs, interrupts; else exceptions stop
//   static constexpr bool kCompressed        same as the code cache's IsaOptions::compressed
//   static constexpr bool kWatchCodeWrites   stores to decoded code take effect at once (costs one
//                                            load per store); else after fence.i only
//   static constexpr bool kFetchTiming       fetched() is asked at each block entry
//   bool fetch(uint64_t addr, uint16_t& parcel)              false: instruction access fault
//   template <class T> MemStatus load(uint64_t addr, T& value, uint64_t& extra_cycles)
//   template <class T> MemStatus store(uint64_t addr, T value, uint64_t& extra_cycles)
//       T is uint8_t..uint64_t; addr may be misaligned: serve it or answer kMisaligned
//   MemStatus amo(const AmoRequest&, uint64_t& result, uint64_t& extra_cycles)
//       result: the old value; for SC 0 or 1; the address is aligned
//   MemStatus fence(const FenceRequest&, uint64_t& extra_cycles)
//   bool csr_read(uint32_t csr, uint64_t& value)
//   bool csr_write(uint32_t csr, uint64_t value)
//       CSRs unknown to the hart; hart.cycles() is exact inside; false: illegal
//   bool fetched(uint64_t pc, uint32_t bytes)   if kFetchTiming; false: the code is not there yet.
//       run() returns kPending, kind kFetch, before the first of these instructions
//   bool csr_waits(uint32_t csr)   optional; true: reading it stops run() with kPending, kind kCsr
//   void enter_block(const Block&), leave_block(const Block&, const Op* first), stall(uint32_t)
//       optional, all three: a block begins; of the block that began last, what is from `first` on
//       does not retire; clocks that a taken branch adds. Together: when each instruction can issue.
//   void on_trap(Cause cause, uint64_t value, uint64_t pc)   optional; sees every exception
#ifndef STRETTO_MODELS_RISCV_HART_H_
#define STRETTO_MODELS_RISCV_HART_H_

#include <cassert>
#include <cstdint>
#include <type_traits>

#include "models/riscv/code_cache.h"
#include "models/riscv/isa.h"
#include "models/riscv/machine_csrs.h"

namespace stretto::riscv {

struct FenceRequest {
  bool instruction;     // fence.i
  uint8_t predecessor;  // bits I O R W from 3 down
  uint8_t successor;
};

template <class Port>
class Hart {
 public:
  // REQUIRES: port and code outlive the hart; code was made for the same IsaOptions as Port says.
  Hart(Port& port, CodeCache& code, uint64_t hart_id = 0) : port_(&port), code_(&code) {
    assert(code.isa().compressed == Port::kCompressed);
    assert(code.isa().machine_mode == Port::kMachineMode);
    if constexpr (Port::kMachineMode) machine_.csrs.hart_id = hart_id;
  }

  // Registers to zero, machine CSRs to their reset values; instret and cycles go on.
  void reset(uint64_t pc);

  StopReason run(uint64_t max_steps);

  // Finish the access that run() returned kPending for; the instruction retires.
  void complete_load(uint64_t value);
  void complete_store();
  void complete_amo(uint64_t old_value_or_sc_result);
  void complete_fence();
  void complete_csr(uint64_t value);
  void complete_fetch();  // No instruction: the code can be executed now.
  // Fail it: access fault at its address. Returns kYield if a trap was taken, else kFault.
  StopReason fail_access();

  // Finish the instruction that run() returned kCustom for.
  void retire_custom();
  void retire_custom(uint64_t rd_value);
  // Refuse it. Returns kYield if a trap was taken, else kFault.
  StopReason trap_custom(Cause cause, uint64_t value);
  CustomOp custom() const;

  // After kEcall or kEbreak: go past it, or deliver it after all.
  void retire_system();
  StopReason trap_system(Cause cause);
  void set_yield_on_ecall(bool yield) { yield_on_ecall_ = yield; }
  void set_yield_on_ebreak(bool yield) { yield_on_ebreak_ = yield; }

  // Machine mode only.
  void set_interrupt(unsigned number, bool level) {
    const uint64_t bit = uint64_t{1} << number;
    machine_.csrs.mip = level ? machine_.csrs.mip | bit : machine_.csrs.mip & ~bit;
  }
  bool waiting() const { return state_ == State::kWaiting; }  // in wfi
  MachineCsrs& csrs() { return machine_.csrs; }
  const MachineCsrs& csrs() const { return machine_.csrs; }

  uint64_t pc() const { return pc_; }
  void set_pc(uint64_t pc) {
    assert((pc & 1) == 0);
    pc_ = pc;
  }
  uint64_t reg(unsigned number) const { return x_[number]; }
  void set_reg(unsigned number, uint64_t value) {
    if (number != 0) x_[number] = value;
  }
  uint64_t instret() const { return instret_; }  // retired since construction
  uint64_t cycles() const { return cycles_; }    // since construction, stalls by add_cycles() too
  void add_cycles(uint64_t count) { cycles_ += count; }
  const PendingAccess& pending() const { return pending_; }
  const Fault& fault() const { return fault_; }
  Port& port() { return *port_; }
  CodeCache& code() { return *code_; }

 private:
  enum class State : uint8_t { kRunning, kWaiting, kAccess, kCustom, kFaulted };
  struct NoMachine {};
  struct Machine {
    MachineCsrs csrs;
    uint64_t mcycle_offset = 0;    // what software added by writing mcycle
    uint64_t minstret_offset = 0;  // and minstret
  };

  static bool fetch_parcel(void* context, uint64_t addr, uint16_t& parcel) {
    return static_cast<Port*>(context)->fetch(addr, parcel);
  }
  Block* block_at(uint64_t pc) {
    Block* block = code_->find(pc);
    return block != nullptr ? block : code_->translate(pc, &fetch_parcel, port_);
  }
  StopReason run_loop(uint64_t max_steps);
  bool read_csr(uint32_t csr, uint64_t retired, uint64_t& value);
  bool write_csr(uint32_t csr, uint64_t retired, uint64_t value);
  bool access_csr(const Op& op, uint64_t retired, uint64_t cycles);
  StopReason raise(Cause cause, uint64_t value);
  void set_pending(PendingAccess::Kind kind, const Op& op, uint64_t addr);
  void retire(unsigned length_bytes, unsigned cost_cycles);

  uint64_t x_[33] = {};  // x_[32] takes writes to x0
  uint64_t pc_ = 0;
  uint64_t instret_ = 0;
  uint64_t cycles_ = 0;
  Port* port_;
  CodeCache* code_;
  PendingAccess pending_;
  Fault fault_{};
  uint32_t custom_raw_ = 0;
  State state_ = State::kRunning;
  bool yield_on_ecall_ = false;
  bool yield_on_ebreak_ = false;
  [[no_unique_address]] std::conditional_t<Port::kMachineMode, Machine, NoMachine> machine_;
};

template <class Port>
void Hart<Port>::reset(uint64_t pc) {
  for (uint64_t& value : x_) value = 0;
  set_pc(pc);
  state_ = State::kRunning;
  pending_ = {};
  fault_ = {};
  if constexpr (Port::kMachineMode) {
    const uint64_t hart_id = machine_.csrs.hart_id;
    const uint64_t lines = machine_.csrs.mip;
    machine_.csrs = {};
    machine_.csrs.hart_id = hart_id;
    machine_.csrs.mip = lines;
  }
}

template <class Port>
void Hart<Port>::retire(unsigned length_bytes, unsigned cost_cycles) {
  pc_ += length_bytes;
  cycles_ += cost_cycles;
  ++instret_;
  state_ = State::kRunning;
}

template <class Port>
void Hart<Port>::complete_load(uint64_t value) {
  assert(state_ == State::kAccess && pending_.kind == PendingAccess::Kind::kLoad);
  const unsigned unused_bits = 64 - 8 * pending_.size_bytes;
  value <<= unused_bits;
  x_[pending_.rd] = pending_.sign_extend
                        ? static_cast<uint64_t>(static_cast<int64_t>(value) >> unused_bits)
                        : value >> unused_bits;
  retire(pending_.length_bytes, pending_.cost_cycles);
  pending_ = {};
}

template <class Port>
void Hart<Port>::complete_store() {
  assert(state_ == State::kAccess && pending_.kind == PendingAccess::Kind::kStore);
  if constexpr (Port::kWatchCodeWrites) {
    if (code_->maybe_code(pending_.addr)) code_->note_write(pending_.addr, pending_.size_bytes);
  }
  retire(pending_.length_bytes, pending_.cost_cycles);
  pending_ = {};
}

template <class Port>
void Hart<Port>::complete_amo(uint64_t old_value_or_sc_result) {
  assert(state_ == State::kAccess && pending_.kind == PendingAccess::Kind::kAmo);
  if constexpr (Port::kWatchCodeWrites) {
    if (code_->maybe_code(pending_.addr)) code_->note_write(pending_.addr, pending_.size_bytes);
  }
  x_[pending_.rd] = pending_.size_bytes == 4
                        ? static_cast<uint64_t>(static_cast<int32_t>(old_value_or_sc_result))
                        : old_value_or_sc_result;
  retire(pending_.length_bytes, pending_.cost_cycles);
  pending_ = {};
}

template <class Port>
void Hart<Port>::complete_fence() {
  assert(state_ == State::kAccess && pending_.kind == PendingAccess::Kind::kFence);
  retire(pending_.length_bytes, pending_.cost_cycles);
  pending_ = {};
}

template <class Port>
void Hart<Port>::complete_csr(uint64_t value) {
  assert(state_ == State::kAccess && pending_.kind == PendingAccess::Kind::kCsr);
  x_[pending_.rd] = value;
  retire(pending_.length_bytes, pending_.cost_cycles);
  pending_ = {};
}

template <class Port>
void Hart<Port>::complete_fetch() {
  assert(state_ == State::kAccess && pending_.kind == PendingAccess::Kind::kFetch);
  state_ = State::kRunning;
  pending_ = {};
}

template <class Port>
StopReason Hart<Port>::fail_access() {
  assert(state_ == State::kAccess);
  const bool is_load =
      pending_.kind == PendingAccess::Kind::kLoad ||
      (pending_.kind == PendingAccess::Kind::kAmo && pending_.amo_op == AmoOp::kLoadReserved);
  const bool is_fetch = pending_.kind == PendingAccess::Kind::kFetch;
  const uint64_t addr = pending_.addr;
  pending_ = {};
  return raise(is_fetch  ? Cause::kFetchAccess
               : is_load ? Cause::kLoadAccess
                         : Cause::kStoreAccess,
               addr);
}

template <class Port>
CustomOp Hart<Port>::custom() const {
  assert(state_ == State::kCustom);
  const uint32_t r = custom_raw_;
  CustomOp op{};
  op.raw = r;
  op.opcode = (r >> 5) & 3;
  op.rd = (r >> 7) & 31;
  op.rs1 = (r >> 15) & 31;
  op.rs2 = (r >> 20) & 31;
  op.funct3 = (r >> 12) & 7;
  op.funct7 = static_cast<uint8_t>(r >> 25);
  op.imm = static_cast<int32_t>(r) >> 20;
  op.rs1_value = x_[op.rs1];
  op.rs2_value = x_[op.rs2];
  return op;
}

template <class Port>
void Hart<Port>::retire_custom() {
  assert(state_ == State::kCustom);
  retire(4, code_->cost().custom);
}

template <class Port>
void Hart<Port>::retire_custom(uint64_t rd_value) {
  set_reg((custom_raw_ >> 7) & 31, rd_value);
  retire_custom();
}

template <class Port>
StopReason Hart<Port>::trap_custom(Cause cause, uint64_t value) {
  assert(state_ == State::kCustom);
  return raise(cause, value);
}

template <class Port>
void Hart<Port>::retire_system() {
  uint16_t parcel = 0;
  const bool fetched = port_->fetch(pc_, parcel);
  assert(fetched);
  (void)fetched;
  retire((parcel & 3) == 3 ? 4 : 2, code_->cost().system);
}

template <class Port>
StopReason Hart<Port>::trap_system(Cause cause) {
  return raise(cause, cause == Cause::kBreakpoint ? pc_ : 0);
}

// An exception of the instruction at pc_, which does not retire.
template <class Port>
StopReason Hart<Port>::raise(Cause cause, uint64_t value) {
  if constexpr (requires(Port & port) { port.on_trap(cause, value, pc_); }) {
    port_->on_trap(cause, value, pc_);
  }
  if constexpr (Port::kMachineMode) {
    pc_ = machine_.csrs.enter_exception(cause, value, pc_);
    cycles_ += code_->cost().trap;
    state_ = State::kRunning;
    return StopReason::kYield;
  } else {
    fault_ = {cause, value, pc_};
    state_ = State::kFaulted;
    return StopReason::kFault;
  }
}

template <class Port>
bool Hart<Port>::read_csr(uint32_t csr, uint64_t retired, uint64_t& value) {
  if constexpr (Port::kMachineMode) {
    switch (csr) {
      case 0xb00:
      case 0xc00: value = cycles_ + machine_.mcycle_offset; return true;
      case 0xb02:
      case 0xc02: value = retired + machine_.minstret_offset; return true;
      default:
        if (machine_.csrs.read(csr, value)) return true;
    }
    return port_->csr_read(csr, value);
  } else {
    // The owner may define `cycle` otherwise (a wavefront's is the clock of its GPU).
    if (port_->csr_read(csr, value)) return true;
    value = csr == 0xc00 ? cycles_ : retired;
    return csr == 0xc00 || csr == 0xc02;
  }
}

template <class Port>
bool Hart<Port>::write_csr(uint32_t csr, uint64_t retired, uint64_t value) {
  if constexpr (Port::kMachineMode) {
    switch (csr) {
      // The next instruction reads the written value: it starts this many cycles and one
      // retirement later than the count seen here.
      case 0xb00: machine_.mcycle_offset = value - (cycles_ + code_->cost().csr); return true;
      case 0xb02: machine_.minstret_offset = value - (retired + 1); return true;
      default:
        if (machine_.csrs.write(csr, value)) return true;
    }
  }
  return port_->csr_write(csr, value);
}

// retired and cycles: counts before this instruction. False: illegal instruction, no effect.
template <class Port>
bool Hart<Port>::access_csr(const Op& op, uint64_t retired, uint64_t cycles) {
  const uint32_t raw = static_cast<uint32_t>(op.imm);
  const uint32_t csr = csr_number(op.imm);
  const unsigned kind = (raw >> 12) & 3;  // 1 write, 2 set, 3 clear
  const bool writes = op.id == OpId::kCsrWrite;
  if (writes && csr >> 10 == 3) return false;
  cycles_ = cycles;
  uint64_t old_value = 0;
  const bool reads = kind != 1 || op.rd != kDiscardRegister;
  if (reads && !read_csr(csr, retired, old_value)) return false;
  if (writes) {
    const uint64_t operand = (raw >> 14 & 1) != 0 ? op.rs1 : x_[op.rs1];
    const uint64_t value = kind == 1   ? operand
                           : kind == 2 ? old_value | operand
                                       : old_value & ~operand;
    if (!write_csr(csr, retired, value)) return false;
  }
  x_[op.rd] = old_value;
  return true;
}

// REQUIRES: op is not the last of its block, or it is a fence.i.
template <class Port>
void Hart<Port>::set_pending(PendingAccess::Kind kind, const Op& op, uint64_t addr) {
  pending_ = {};
  pending_.kind = kind;
  pending_.rd = op.rd;
  pending_.addr = addr;
  if (op.id == OpId::kFenceI) {
    pending_.cost_cycles = code_->cost().system;
  } else {
    const Op& next = (&op)[1];
    pending_.length_bytes = static_cast<uint8_t>(2 * (next.pc_parcels - op.pc_parcels));
    pending_.cost_cycles = static_cast<uint16_t>(next.cycles_before - op.cycles_before);
  }
  switch (op.id) {
    case OpId::kLb: pending_.sign_extend = true; [[fallthrough]];
    case OpId::kLbu:
    case OpId::kSb: pending_.size_bytes = 1; break;
    case OpId::kLh: pending_.sign_extend = true; [[fallthrough]];
    case OpId::kLhu:
    case OpId::kSh: pending_.size_bytes = 2; break;
    case OpId::kLw: pending_.sign_extend = true; [[fallthrough]];
    case OpId::kLwu:
    case OpId::kSw: pending_.size_bytes = 4; break;
    case OpId::kLd:
    case OpId::kSd: pending_.size_bytes = 8; break;
    case OpId::kAmo:
      pending_.size_bytes = (op.imm >> 12 & 7) == 2 ? 4 : 8;
      pending_.amo_op = static_cast<AmoOp>(op.imm >> 32);
      break;
    default: break;
  }
  state_ = State::kAccess;
}

}  // namespace stretto::riscv

#include "models/riscv/hart_run.h"  // needs the class above

#endif  // STRETTO_MODELS_RISCV_HART_H_
