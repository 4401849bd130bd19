// SPDX-License-Identifier: Apache-2.0
// Decoder: one RV64IMAC/Zicsr/Zifencei instruction to one micro-op.
//
// A micro-op is 16 bytes: the number of its handler in Hart::run(), register numbers, its place in
// its block, and one 64-bit immediate in which everything that depends on the pc is already added.
// Register 0 as a destination is renamed to kDiscardRegister, so handlers write without a test.
#ifndef STRETTO_MODELS_RISCV_DECODER_H_
#define STRETTO_MODELS_RISCV_DECODER_H_

#include <cstdint>

#include "models/riscv/isa.h"

namespace stretto::riscv {

// Handlers, in the order of the dispatch table. The first group computes x[rd] and falls through.
// clang-format off
#define STRETTO_RISCV_OPS(X)                                                              \
  X(Li) X(Mv) X(Addi) X(Slti) X(Sltiu) X(Xori) X(Ori) X(Andi) X(Slli) X(Srli) X(Srai)       \
  X(Addiw) X(Slliw) X(Srliw) X(Sraiw)                                                       \
  X(Add) X(Sub) X(Sll) X(Slt) X(Sltu) X(Xor) X(Srl) X(Sra) X(Or) X(And)                     \
  X(Addw) X(Subw) X(Sllw) X(Srlw) X(Sraw)                                                   \
  X(Mul) X(Mulh) X(Mulhsu) X(Mulhu) X(Div) X(Divu) X(Rem) X(Remu)                           \
  X(Mulw) X(Divw) X(Divuw) X(Remw) X(Remuw)                                                 \
  X(Lb) X(Lh) X(Lw) X(Ld) X(Lbu) X(Lhu) X(Lwu) X(Sb) X(Sh) X(Sw) X(Sd)                      \
  X(Amo) X(Fence) X(CsrRead)                                                                \
  X(Beq) X(Bne) X(Blt) X(Bge) X(Bltu) X(Bgeu) X(Jal) X(Jalr)                                \
  X(CsrWrite) X(FenceI) X(Ecall) X(Ebreak) X(Mret) X(Wfi) X(Custom)                         \
  X(Illegal) X(FetchFault) X(EndBlock)
// clang-format on

enum class OpId : uint16_t {
#define STRETTO_RISCV_ENUM(name) k##name,
  STRETTO_RISCV_OPS(STRETTO_RISCV_ENUM)
#undef STRETTO_RISCV_ENUM
      kCount
};

constexpr uint8_t kDiscardRegister = 32;

struct Op {
  OpId id;
  uint8_t rd;
  uint8_t rs1;
  uint8_t rs2;
  uint8_t pc_parcels;      // (pc - block pc) / 2
  uint16_t cycles_before;  // cost of the block's instructions before this one
  int64_t imm;             // immediate, absolute target, or the raw instruction (Amo, Csr*, Custom)
};
static_assert(sizeof(Op) == 16, "four micro-ops a cache line");

struct Decoded {
  Op op;
  uint8_t length_bytes;
  uint16_t cost_cycles;
  bool ends_block;
};

struct IsaOptions {
  bool compressed = true;      // the C extension; without it instructions are 4-byte aligned
  bool machine_mode = true;    // mret, wfi; without it they are illegal
  uint8_t custom_opcodes = 0;  // bit n: custom-n is handed to the owner, otherwise illegal
  bool line_blocks = false;    // a block ends with the 64-byte line in which its first instruction
                               // does, so that Port::fetched() is asked line by line
  bool compare_swap = false;   // Zacas: amocas.w and amocas.d
};

// raw holds 16 bits if (raw & 3) != 3, else 32. pc_parcels and cycles_before are left to the
// caller.
Decoded decode(uint32_t raw, uint64_t pc, const IsaOptions& isa, const CostTable& cost);

// The 32-bit form of a compressed instruction; 0 (an illegal instruction) if there is none.
uint32_t expand_compressed(uint16_t raw);

// The CSR number of a Csr* micro-op's raw instruction.
constexpr uint32_t csr_number(int64_t raw) { return (static_cast<uint32_t>(raw) >> 20) & 0xfff; }

}  // namespace stretto::riscv

#endif  // STRETTO_MODELS_RISCV_DECODER_H_
