// SPDX-License-Identifier: Apache-2.0
// The run loop of Hart<Port>: threaded code over decoded blocks. Included by hart.h only,
// behind the class.
//
// A block is charged (instructions and cycles) when it is entered; whoever leaves it early gives
// back what did not retire. That keeps the counters out of the instructions and still exact. A
// block that is longer than what is left of the budget runs as a truncated copy.
#ifndef STRETTO_MODELS_RISCV_HART_RUN_H_
#define STRETTO_MODELS_RISCV_HART_RUN_H_

namespace stretto::riscv {

template <class Port>
StopReason Hart<Port>::run(uint64_t max_steps) {
  switch (state_) {
    case State::kRunning: break;
    case State::kWaiting:
      if constexpr (Port::kMachineMode) {
        if (!machine_.csrs.interrupt_pending()) return StopReason::kWfi;
      }
      state_ = State::kRunning;
      break;
    case State::kAccess: return StopReason::kPending;
    case State::kCustom: return StopReason::kCustom;
    case State::kFaulted: return StopReason::kFault;
  }
  if (max_steps == 0) return StopReason::kBudget;
  code_->enter();
  const StopReason reason = run_loop(max_steps);
  code_->leave();
  return reason;
}

namespace detail {

inline uint64_t mulhu(uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<uint64_t>((static_cast<Wide>(a) * b) >> 64);
}
inline uint64_t mulh(uint64_t a, uint64_t b) {
  __extension__ typedef __int128 Wide;
  return static_cast<uint64_t>(
      (static_cast<Wide>(static_cast<int64_t>(a)) * static_cast<int64_t>(b)) >> 64);
}
inline uint64_t mulhsu(uint64_t a, uint64_t b) {
  return mulhu(a, b) - (static_cast<int64_t>(a) < 0 ? b : 0);
}
// Division by zero and overflow have results, not traps (unprivileged specification, table 7.1).
template <class S>
S divide(S a, S b) {
  if (b == 0) return -1;
  if (b == -1) return static_cast<S>(0 - static_cast<std::make_unsigned_t<S>>(a));
  return static_cast<S>(a / b);
}
template <class S>
S remainder(S a, S b) {
  if (b == 0) return a;
  if (b == -1) return 0;
  return static_cast<S>(a % b);
}
inline uint64_t sext32(uint64_t value) {
  return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(value)));
}

}  // namespace detail

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // labels as values: the dispatch of threaded code

template <class Port>
StopReason Hart<Port>::run_loop(uint64_t max_steps) {
  using detail::sext32;
  static const void* const kHandlers[] = {
#define STRETTO_RISCV_LABEL(name) &&op_##name,
      STRETTO_RISCV_OPS(STRETTO_RISCV_LABEL)
#undef STRETTO_RISCV_LABEL
  };
  static_assert(sizeof(kHandlers) / sizeof(kHandlers[0]) == static_cast<size_t>(OpId::kCount));

  constexpr bool kTraced = requires(Port & p, const Block& entered) { p.enter_block(entered); };
  Port& port = *port_;
  CodeCache& code = *code_;
  uint64_t* const x = x_;
  const unsigned taken_cycles = code.cost().taken_branch;
  uint64_t remaining = max_steps;  // of the budget, after all instructions of the block
  uint64_t counted = max_steps;    // remaining when instret_ was last brought up to date
  uint64_t cycles = 0;             // the live copy of cycles_
  Block* block = nullptr;
  Block** link = nullptr;  // the successor link to set once the target is known
  const Op* op = nullptr;
  uint64_t target = 0;  // next pc
  uint64_t access_addr = 0;
  MemStatus status = MemStatus::kDone;
  Cause cause = Cause::kIllegalInstruction;
  uint64_t cause_value = 0;
  StopReason reason = StopReason::kBudget;
  Block truncated;
  Op truncated_ops[CodeCache::kMaxBlockInstructions + 1];

#define DISPATCH() goto* kHandlers[static_cast<unsigned>(op->id)]
#define NEXT()  \
  do {          \
    ++op;       \
    DISPATCH(); \
  } while (false)
#define ENTER(successor)                                                               \
  do {                                                                                 \
    block = (successor);                                                               \
    if (__builtin_expect(block->instruction_count > remaining, 0)) goto out_of_budget; \
    if constexpr (Port::kFetchTiming) {                                                \
      if (!port.fetched(block->pc, block->length_bytes)) goto fetch_pending;           \
    }                                                                                  \
    remaining -= block->instruction_count;                                             \
    cycles += block->cycles;                                                           \
    if constexpr (kTraced) port.enter_block(*block);                                   \
    op = block->ops;                                                                   \
    DISPATCH();                                                                        \
  } while (false)
#define FOLLOW(successor_link, destination)                          \
  do {                                                               \
    Block* const successor = (successor_link);                       \
    if (__builtin_expect(successor != nullptr, 1)) ENTER(successor); \
    link = &(successor_link);                                        \
    target = (destination);                                          \
    goto find_linked;                                                \
  } while (false)
// Gives back the charge of the instruction at (first) and all after it in the block.
#define UNCHARGE(first)                                                                \
  do {                                                                                 \
    remaining += block->instruction_count - static_cast<uint64_t>((first)-block->ops); \
    cycles -= block->cycles - (first)->cycles_before;                                  \
    if constexpr (kTraced) port.leave_block(*block, first);                            \
  } while (false)
#define PC_OF(which) (block->pc + 2 * static_cast<uint64_t>((which)->pc_parcels))
#define RAISE(which, value) \
  do {                      \
    cause = (which);        \
    cause_value = (value);  \
    goto exception;         \
  } while (false)

  if constexpr (Port::kMachineMode) {
    if (machine_.csrs.interrupt_enabled()) {
      pc_ = machine_.csrs.enter_interrupt(pc_);
      cycles_ += code.cost().trap;
    }
  }
  cycles = cycles_;
  target = pc_;

find_block:
  if (remaining == 0) {
    pc_ = target;
    reason = StopReason::kBudget;
    goto stop;
  }
  ENTER(block_at(target));

find_linked:
  if (remaining == 0) {
    pc_ = target;
    reason = StopReason::kBudget;
    goto stop;
  }
  {
    // Translation may flush the cache; the link then belongs to a block that nobody finds again.
    Block* const successor = block_at(target);
    *link = successor;
    ENTER(successor);
  }

out_of_budget:
  if (remaining == 0) {
    pc_ = block->pc;
    reason = StopReason::kBudget;
    goto stop;
  }
  for (uint64_t i = 0; i < remaining; ++i) truncated_ops[i] = block->ops[i];
  truncated_ops[remaining] = block->ops[remaining];
  truncated_ops[remaining].id = OpId::kEndBlock;
  truncated.pc = block->pc;
  truncated.ops = truncated_ops;
  truncated.instruction_count = static_cast<uint32_t>(remaining);
  truncated.length_bytes = 2u * block->ops[remaining].pc_parcels;
  truncated.cycles = block->ops[remaining].cycles_before;
  truncated.fall_through = nullptr;
  ENTER(&truncated);

#define ALU(name, expression)                                \
  op_##name : x[op->rd] = static_cast<uint64_t>(expression); \
  NEXT();
#define RS1 x[op->rs1]
#define RS2 x[op->rs2]
#define S1 static_cast<int64_t>(x[op->rs1])
#define S2 static_cast<int64_t>(x[op->rs2])
#define W1 static_cast<int32_t>(x[op->rs1])
#define W2 static_cast<int32_t>(x[op->rs2])
#define U1 static_cast<uint32_t>(x[op->rs1])
#define U2 static_cast<uint32_t>(x[op->rs2])
#define IMM op->imm
#define UIMM static_cast<uint64_t>(op->imm)

  ALU(Li, IMM)
  ALU(Mv, RS1)
  ALU(Addi, RS1 + UIMM)
  ALU(Slti, S1 < IMM)
  ALU(Sltiu, RS1 < UIMM)
  ALU(Xori, RS1 ^ UIMM)
  ALU(Ori, RS1 | UIMM)
  ALU(Andi, RS1 & UIMM)
  ALU(Slli, RS1 << IMM)
  ALU(Srli, RS1 >> IMM)
  ALU(Srai, S1 >> IMM)
  ALU(Addiw, sext32(RS1 + UIMM))
  ALU(Slliw, sext32(U1 << IMM))
  ALU(Srliw, sext32(U1 >> IMM))
  ALU(Sraiw, static_cast<int64_t>(W1 >> IMM))
  ALU(Add, RS1 + RS2)
  ALU(Sub, RS1 - RS2)
  ALU(Sll, RS1 << (RS2 & 63))
  ALU(Slt, S1 < S2)
  ALU(Sltu, RS1 < RS2)
  ALU(Xor, RS1 ^ RS2)
  ALU(Srl, RS1 >> (RS2 & 63))
  ALU(Sra, S1 >> (RS2 & 63))
  ALU(Or, RS1 | RS2)
  ALU(And, RS1 & RS2)
  ALU(Addw, sext32(RS1 + RS2))
  ALU(Subw, sext32(RS1 - RS2))
  ALU(Sllw, sext32(U1 << (RS2 & 31)))
  ALU(Srlw, sext32(U1 >> (RS2 & 31)))
  ALU(Sraw, static_cast<int64_t>(W1 >> (RS2 & 31)))
  ALU(Mul, RS1 * RS2)
  ALU(Mulh, detail::mulh(RS1, RS2))
  ALU(Mulhsu, detail::mulhsu(RS1, RS2))
  ALU(Mulhu, detail::mulhu(RS1, RS2))
  ALU(Div, detail::divide(S1, S2))
  ALU(Divu, RS2 == 0 ? ~uint64_t{0} : RS1 / RS2)
  ALU(Rem, detail::remainder(S1, S2))
  ALU(Remu, RS2 == 0 ? RS1 : RS1 % RS2)
  ALU(Mulw, sext32(RS1 * RS2))
  ALU(Divw, static_cast<int64_t>(detail::divide(W1, W2)))
  ALU(Divuw, sext32(U2 == 0 ? ~uint32_t{0} : U1 / U2))
  ALU(Remw, static_cast<int64_t>(detail::remainder(W1, W2)))
  ALU(Remuw, sext32(U2 == 0 ? U1 : U1 % U2))

#define LOAD(name, Type, Extended)                                     \
  op_##name : {                                                        \
    const uint64_t addr = RS1 + UIMM;                                  \
    Type value = 0;                                                    \
    uint64_t extra_cycles = 0;                                         \
    status = port.template load<Type>(addr, value, extra_cycles);      \
    if (__builtin_expect(status == MemStatus::kDone, 1)) {             \
      cycles += extra_cycles;                                          \
      x[op->rd] = static_cast<uint64_t>(static_cast<Extended>(value)); \
      NEXT();                                                          \
    }                                                                  \
    if (status == MemStatus::kDoneYield) {                             \
      cycles += extra_cycles;                                          \
      x[op->rd] = static_cast<uint64_t>(static_cast<Extended>(value)); \
    }                                                                  \
    access_addr = addr;                                                \
    goto load_not_done;                                                \
  }
  LOAD(Lb, uint8_t, int8_t)
  LOAD(Lh, uint16_t, int16_t)
  LOAD(Lw, uint32_t, int32_t)
  LOAD(Ld, uint64_t, uint64_t)
  LOAD(Lbu, uint8_t, uint8_t)
  LOAD(Lhu, uint16_t, uint16_t)
  LOAD(Lwu, uint32_t, uint32_t)

#define STORE(name, Type)                                                                        \
  op_##name : {                                                                                  \
    const uint64_t addr = RS1 + UIMM;                                                            \
    uint64_t extra_cycles = 0;                                                                   \
    status = port.template store<Type>(addr, static_cast<Type>(RS2), extra_cycles);              \
    if (__builtin_expect(status == MemStatus::kDone, 1)) {                                       \
      cycles += extra_cycles;                                                                    \
      if constexpr (Port::kWatchCodeWrites) {                                                    \
        if (__builtin_expect(code.maybe_code(addr), 0) && code.note_write(addr, sizeof(Type))) { \
          goto code_changed;                                                                     \
        }                                                                                        \
      }                                                                                          \
      NEXT();                                                                                    \
    }                                                                                            \
    if (status == MemStatus::kDoneYield) {                                                       \
      cycles += extra_cycles;                                                                    \
      if constexpr (Port::kWatchCodeWrites) {                                                    \
        if (code.maybe_code(addr)) code.note_write(addr, sizeof(Type));                          \
      }                                                                                          \
    }                                                                                            \
    access_addr = addr;                                                                          \
    goto store_not_done;                                                                         \
  }
  STORE(Sb, uint8_t)
  STORE(Sh, uint16_t)
  STORE(Sw, uint32_t)
  STORE(Sd, uint64_t)

op_Amo : {
  const uint32_t raw = static_cast<uint32_t>(op->imm);
  AmoRequest request;
  request.op = static_cast<AmoOp>(op->imm >> 32);
  request.size_bytes = (raw >> 12 & 7) == 2 ? 4 : 8;
  request.acquire = (raw >> 26 & 1) != 0;
  request.release = (raw >> 25 & 1) != 0;
  request.addr = RS1;
  request.operand = RS2;
  request.compare = x[raw >> 7 & 31];
  const bool is_load = request.op == AmoOp::kLoadReserved;
  if ((request.addr & (request.size_bytes - 1u)) != 0) {
    RAISE(is_load ? Cause::kLoadMisaligned : Cause::kStoreMisaligned, request.addr);
  }
  uint64_t result = 0;
  uint64_t extra_cycles = 0;
  status = port.amo(request, result, extra_cycles);
  if (status == MemStatus::kDone || status == MemStatus::kDoneYield) {
    cycles += extra_cycles;
    x[op->rd] = request.size_bytes == 4 ? sext32(result) : result;
    bool changed = false;
    if constexpr (Port::kWatchCodeWrites) {
      changed = !is_load && code.maybe_code(request.addr) &&
                code.note_write(request.addr, request.size_bytes);
    }
    if (status == MemStatus::kDoneYield) goto yield_after;
    if (changed) goto code_changed;
    NEXT();
  }
  access_addr = request.addr;
  if (status == MemStatus::kPending) {
    set_pending(PendingAccess::Kind::kAmo, *op, access_addr);
    goto stop_pending;
  }
  if (is_load) goto load_not_done;
  goto store_not_done;
}

op_Fence : {
  const FenceRequest request{false, static_cast<uint8_t>(op->imm >> 24 & 15),
                             static_cast<uint8_t>(op->imm >> 20 & 15)};
  uint64_t extra_cycles = 0;
  status = port.fence(request, extra_cycles);
  if (status == MemStatus::kPending) {
    set_pending(PendingAccess::Kind::kFence, *op, 0);
    goto stop_pending;
  }
  cycles += extra_cycles;
  if (status == MemStatus::kDoneYield) goto yield_after;
  NEXT();
}

op_FenceI : {
  const FenceRequest request{true, 0, 0};
  uint64_t extra_cycles = 0;
  code.flush();
  status = port.fence(request, extra_cycles);
  if (status == MemStatus::kPending) {
    set_pending(PendingAccess::Kind::kFence, *op, 0);
    goto stop_pending;
  }
  cycles += extra_cycles;
  target = block->pc + block->length_bytes;
  if (status == MemStatus::kDoneYield) goto yield_at_target;
  goto find_block;
}

op_CsrRead : {
  if constexpr (requires { port.csr_waits(0u); }) {
    if (port.csr_waits(csr_number(op->imm))) {
      set_pending(PendingAccess::Kind::kCsr, *op, 0);
      goto stop_pending;
    }
  }
  const uint64_t index = static_cast<uint64_t>(op - block->ops);
  const uint64_t retired = instret_ + (counted - remaining) - (block->instruction_count - index);
  if (!access_csr(*op, retired, cycles - (block->cycles - op->cycles_before))) goto op_IllegalCsr;
  NEXT();
}

op_CsrWrite : {
  const uint64_t retired = instret_ + (counted - remaining) - 1;
  if (!access_csr(*op, retired, cycles - (block->cycles - op->cycles_before))) goto op_IllegalCsr;
  if constexpr (Port::kMachineMode) {
    if (machine_.csrs.interrupt_enabled()) {
      target = machine_.csrs.enter_interrupt(block->pc + block->length_bytes);
      cycles += code.cost().trap;
      goto find_block;
    }
  }
  FOLLOW(block->fall_through, block->pc + block->length_bytes);
}

op_EndBlock:
  FOLLOW(block->fall_through, block->pc + block->length_bytes);

#define BRANCH(name, condition)                                     \
  op_##name : if (condition) {                                      \
    if constexpr (!Port::kCompressed) {                             \
      if ((op->imm & 2) != 0) RAISE(Cause::kFetchMisaligned, UIMM); \
    }                                                               \
    cycles += taken_cycles;                                         \
    if constexpr (kTraced) port.stall(taken_cycles);                \
    FOLLOW(block->taken, UIMM);                                     \
  }                                                                 \
  FOLLOW(block->fall_through, block->pc + block->length_bytes);
  BRANCH(Beq, RS1 == RS2)
  BRANCH(Bne, RS1 != RS2)
  BRANCH(Blt, S1 < S2)
  BRANCH(Bge, S1 >= S2)
  BRANCH(Bltu, RS1 < RS2)
  BRANCH(Bgeu, RS1 >= RS2)

op_Jal:
  if constexpr (!Port::kCompressed) {
    if ((op->imm & 2) != 0) RAISE(Cause::kFetchMisaligned, UIMM);
  }
  x[op->rd] = block->pc + block->length_bytes;
  FOLLOW(block->taken, UIMM);

op_Jalr:
  target = (RS1 + UIMM) & ~uint64_t{1};
  if constexpr (!Port::kCompressed) {
    if ((target & 2) != 0) RAISE(Cause::kFetchMisaligned, target);
  }
  x[op->rd] = block->pc + block->length_bytes;
  if (block->taken != nullptr && block->taken->pc == target) ENTER(block->taken);
  link = &block->taken;
  goto find_linked;

op_Ecall:
  if (yield_on_ecall_) {
    reason = StopReason::kEcall;
    goto stop_at_op;
  }
  RAISE(Port::kMachineMode ? Cause::kEcallFromMachine : Cause::kEcallFromUser, 0);

op_Ebreak:
  if (yield_on_ebreak_) {
    reason = StopReason::kEbreak;
    goto stop_at_op;
  }
  RAISE(Cause::kBreakpoint, PC_OF(op));

op_Mret:
  if constexpr (Port::kMachineMode) {
    target = machine_.csrs.leave_trap();
    if (machine_.csrs.interrupt_enabled()) {
      target = machine_.csrs.enter_interrupt(target);
      cycles += code.cost().trap;
    }
    goto find_block;
  }
  goto op_Illegal;

op_Wfi:
  if constexpr (Port::kMachineMode) {
    target = block->pc + block->length_bytes;
    if (!machine_.csrs.interrupt_pending()) {
      pc_ = target;
      state_ = State::kWaiting;
      reason = StopReason::kWfi;
      goto stop;
    }
    if (machine_.csrs.interrupt_enabled()) {
      target = machine_.csrs.enter_interrupt(target);
      cycles += code.cost().trap;
    }
    goto find_block;
  }
  goto op_Illegal;

op_Custom:
  custom_raw_ = static_cast<uint32_t>(op->imm);
  state_ = State::kCustom;
  reason = StopReason::kCustom;
  goto stop_at_op;

op_IllegalCsr:
  RAISE(Cause::kIllegalInstruction, static_cast<uint32_t>(op->imm));

op_Illegal:
  RAISE(Cause::kIllegalInstruction, UIMM);

op_FetchFault:
  RAISE(Cause::kFetchAccess, UIMM);

load_not_done:
  if (status == MemStatus::kDoneYield) goto yield_after;
  if (status == MemStatus::kPending) {
    set_pending(PendingAccess::Kind::kLoad, *op, access_addr);
    goto stop_pending;
  }
  RAISE(status == MemStatus::kMisaligned ? Cause::kLoadMisaligned : Cause::kLoadAccess,
        access_addr);

store_not_done:
  if (status == MemStatus::kDoneYield) goto yield_after;
  if (status == MemStatus::kPending) {
    set_pending(PendingAccess::Kind::kStore, *op, access_addr);
    goto stop_pending;
  }
  RAISE(status == MemStatus::kMisaligned ? Cause::kStoreMisaligned : Cause::kStoreAccess,
        access_addr);

code_changed:  // the block is stale from the next instruction on
  target = PC_OF(op + 1);
  UNCHARGE(op + 1);
  goto find_block;

exception:
  UNCHARGE(op);
  instret_ += counted - remaining;
  --remaining;  // a trap is a step, so that a trap loop ends with the budget
  counted = remaining;
  pc_ = PC_OF(op);
  cycles_ = cycles;
  if (raise(cause, cause_value) == StopReason::kFault) return StopReason::kFault;
  cycles = cycles_;
  target = pc_;
  goto find_block;

yield_after:
  target = PC_OF(op + 1);
  UNCHARGE(op + 1);
yield_at_target:
  pc_ = target;
  reason = StopReason::kYield;
  goto stop;

fetch_pending:
  __attribute__((unused));  // Of ports whose fetches take no time.
  pc_ = block->pc;
  pending_ = {};
  pending_.kind = PendingAccess::Kind::kFetch;
  pending_.addr = pc_;
  state_ = State::kAccess;
  reason = StopReason::kPending;
  goto stop;

stop_pending:
  reason = StopReason::kPending;
stop_at_op:
  pc_ = PC_OF(op);
  UNCHARGE(op);
stop:
  instret_ += counted - remaining;
  cycles_ = cycles;
  return reason;

#undef DISPATCH
#undef NEXT
#undef ENTER
#undef FOLLOW
#undef UNCHARGE
#undef PC_OF
#undef RAISE
#undef ALU
#undef RS1
#undef RS2
#undef S1
#undef S2
#undef W1
#undef W2
#undef U1
#undef U2
#undef IMM
#undef UIMM
#undef LOAD
#undef STORE
#undef BRANCH
}

#pragma GCC diagnostic pop

}  // namespace stretto::riscv

#endif  // STRETTO_MODELS_RISCV_HART_RUN_H_
