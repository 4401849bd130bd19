// SPDX-License-Identifier: Apache-2.0
#include "sw/transform/instruction.h"

#include <cassert>

#include "sw/include/tile.h"

namespace stretto::transform {
namespace {

struct Row {
  uint32_t mask, match;
  const char* name;
  Kind kind;
};

constexpr uint32_t kOpcode = 0x7F, kF3 = 0x707F, kF7 = 0xFE00707F, kShift = 0xFC00707F;
constexpr uint32_t kAtomic = 0xF800707F;  // aq and rl are free.

constexpr Row kRows[] = {
    {kOpcode, 0x37, "lui", Kind::upper},
    {kOpcode, 0x17, "auipc", Kind::place},
    {kOpcode, 0x6F, "jal", Kind::jump},
    {kF3, 0x67, "jalr", Kind::jump_to},
    {kF3, 0x0063, "beq", Kind::branch},
    {kF3, 0x1063, "bne", Kind::branch},
    {kF3, 0x4063, "blt", Kind::branch},
    {kF3, 0x5063, "bge", Kind::branch},
    {kF3, 0x6063, "bltu", Kind::branch},
    {kF3, 0x7063, "bgeu", Kind::branch},
    {kF3, 0x0003, "lb", Kind::load},
    {kF3, 0x1003, "lh", Kind::load},
    {kF3, 0x2003, "lw", Kind::load},
    {kF3, 0x3003, "ld", Kind::load},
    {kF3, 0x4003, "lbu", Kind::load},
    {kF3, 0x5003, "lhu", Kind::load},
    {kF3, 0x6003, "lwu", Kind::load},
    {kF3, 0x0023, "sb", Kind::store},
    {kF3, 0x1023, "sh", Kind::store},
    {kF3, 0x2023, "sw", Kind::store},
    {kF3, 0x3023, "sd", Kind::store},
    {kF3, 0x0013, "addi", Kind::compute},
    {kF3, 0x2013, "slti", Kind::compute},
    {kF3, 0x3013, "sltiu", Kind::compute},
    {kF3, 0x4013, "xori", Kind::compute},
    {kF3, 0x6013, "ori", Kind::compute},
    {kF3, 0x7013, "andi", Kind::compute},
    {kShift, 0x00001013, "slli", Kind::compute},
    {kShift, 0x00005013, "srli", Kind::compute},
    {kShift, 0x40005013, "srai", Kind::compute},
    {kF7, 0x00000033, "add", Kind::compute},
    {kF7, 0x40000033, "sub", Kind::compute},
    {kF7, 0x00001033, "sll", Kind::compute},
    {kF7, 0x00002033, "slt", Kind::compute},
    {kF7, 0x00003033, "sltu", Kind::compute},
    {kF7, 0x00004033, "xor", Kind::compute},
    {kF7, 0x00005033, "srl", Kind::compute},
    {kF7, 0x40005033, "sra", Kind::compute},
    {kF7, 0x00006033, "or", Kind::compute},
    {kF7, 0x00007033, "and", Kind::compute},
    {kF7, 0x02000033, "mul", Kind::compute},
    {kF7, 0x02001033, "mulh", Kind::compute},
    {kF7, 0x02002033, "mulhsu", Kind::compute},
    {kF7, 0x02003033, "mulhu", Kind::compute},
    {kF7, 0x02004033, "div", Kind::compute},
    {kF7, 0x02005033, "divu", Kind::compute},
    {kF7, 0x02006033, "rem", Kind::compute},
    {kF7, 0x02007033, "remu", Kind::compute},
    {kF3, 0x0000001B, "addiw", Kind::compute},
    {kF7, 0x0000101B, "slliw", Kind::compute},
    {kF7, 0x0000501B, "srliw", Kind::compute},
    {kF7, 0x4000501B, "sraiw", Kind::compute},
    {kF7, 0x0000003B, "addw", Kind::compute},
    {kF7, 0x4000003B, "subw", Kind::compute},
    {kF7, 0x0000103B, "sllw", Kind::compute},
    {kF7, 0x0000503B, "srlw", Kind::compute},
    {kF7, 0x4000503B, "sraw", Kind::compute},
    {kF7, 0x0200003B, "mulw", Kind::compute},
    {kF7, 0x0200403B, "divw", Kind::compute},
    {kF7, 0x0200503B, "divuw", Kind::compute},
    {kF7, 0x0200603B, "remw", Kind::compute},
    {kF7, 0x0200703B, "remuw", Kind::compute},
    {kAtomic | 0x01F00000, 0x1000202F, "lr.w", Kind::atomic},
    {kAtomic, 0x1800202F, "sc.w", Kind::atomic},
    {kAtomic, 0x0800202F, "amoswap.w", Kind::atomic},
    {kAtomic, 0x0000202F, "amoadd.w", Kind::atomic},
    {kAtomic, 0x2000202F, "amoxor.w", Kind::atomic},
    {kAtomic, 0x6000202F, "amoand.w", Kind::atomic},
    {kAtomic, 0x4000202F, "amoor.w", Kind::atomic},
    {kAtomic, 0x8000202F, "amomin.w", Kind::atomic},
    {kAtomic, 0xA000202F, "amomax.w", Kind::atomic},
    {kAtomic, 0xC000202F, "amominu.w", Kind::atomic},
    {kAtomic, 0xE000202F, "amomaxu.w", Kind::atomic},
    {kAtomic | 0x01F00000, 0x1000302F, "lr.d", Kind::atomic},
    {kAtomic, 0x1800302F, "sc.d", Kind::atomic},
    {kAtomic, 0x0800302F, "amoswap.d", Kind::atomic},
    {kAtomic, 0x0000302F, "amoadd.d", Kind::atomic},
    {kAtomic, 0x2000302F, "amoxor.d", Kind::atomic},
    {kAtomic, 0x6000302F, "amoand.d", Kind::atomic},
    {kAtomic, 0x4000302F, "amoor.d", Kind::atomic},
    {kAtomic, 0x8000302F, "amomin.d", Kind::atomic},
    {kAtomic, 0xA000302F, "amomax.d", Kind::atomic},
    {kAtomic, 0xC000302F, "amominu.d", Kind::atomic},
    {kAtomic, 0xE000302F, "amomaxu.d", Kind::atomic},
    {kAtomic, 0x2800202F, "amocas.w", Kind::atomic},
    {kAtomic, 0x2800302F, "amocas.d", Kind::atomic},
    {kF3, 0x1073, "csrrw", Kind::csr},
    {kF3, 0x2073, "csrrs", Kind::csr},
    {kF3, 0x3073, "csrrc", Kind::csr},
    {kF3, 0x5073, "csrrwi", Kind::csr_value},
    {kF3, 0x6073, "csrrsi", Kind::csr_value},
    {kF3, 0x7073, "csrrci", Kind::csr_value},
    {kF3, 0x000F, "fence", Kind::order},
    {kF3, 0x100F, "fence.i", Kind::order},
    {0xFFFFFFFF, 0x00000073, "ecall", Kind::system},
    {0xFFFFFFFF, 0x00100073, "ebreak", Kind::system},
    {kOpcode, 0x0B, "tile", Kind::tile},
};

int64_t signed_bits(uint64_t value, unsigned bits) {
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return static_cast<int64_t>((value ^ sign) - sign);
}

int64_t immediate_of(uint32_t w, Kind kind) {
  switch (kind) {
    case Kind::upper:
    case Kind::place: return static_cast<int32_t>(w & 0xFFFFF000);
    case Kind::store: return signed_bits((w >> 25) << 5 | (w >> 7 & 31), 12);
    case Kind::branch:
      return signed_bits(
          (w >> 31) << 12 | (w >> 7 & 1) << 11 | (w >> 25 & 63) << 5 | (w >> 8 & 15) << 1, 13);
    case Kind::jump:
      return signed_bits(
          (w >> 31) << 20 | (w >> 12 & 255) << 12 | (w >> 20 & 1) << 11 | (w >> 21 & 1023) << 1,
          21);
    default: return signed_bits(w >> 20, 12);
  }
}

// Zacas 1.0: rd is what is expected, and then what was there.
constexpr uint32_t kCompareSwap = 0x05;

uint32_t register_bit(unsigned reg) { return reg == 0 ? 0 : uint32_t{1} << reg; }

}  // namespace

Instruction decode(uint32_t word) {
  for (const Row& row : kRows) {
    if ((word & row.mask) != row.match) continue;
    return {word, row.kind, row.name, immediate_of(word, row.kind)};
  }
  return {word, Kind::unknown, "unknown", 0};
}

bool Instruction::is_control(unsigned f7) const {
  return is_tile(TILE_CONTROL_F3) && funct7() == f7;
}

std::string_view Instruction::operation() const {
  std::string_view operation = name;
  if (is_word()) operation.remove_suffix(1);
  return operation;
}

bool Instruction::stores_tile() const {
  return is_tile(TILE_STORE_F3) || is_tile(TILE_LOCKED_STORE_F3);
}
bool Instruction::stores() const {
  return kind == Kind::store || kind == Kind::atomic || stores_tile();
}

bool Instruction::compares() const { return kind == Kind::atomic && word >> 27 == kCompareSwap; }

uint32_t Instruction::writes() const {
  switch (kind) {
    case Kind::compute:
    case Kind::upper:
    case Kind::place:
    case Kind::load:
    case Kind::atomic:
    case Kind::jump:
    case Kind::jump_to:
    case Kind::csr:
    case Kind::csr_value: return register_bit(rd());
    case Kind::tile: return is_control(TILE_CONTROL_VOTE) ? register_bit(rd()) : 0;
    default: return 0;
  }
}

uint32_t Instruction::reads() const {
  switch (kind) {
    case Kind::compute: return register_bit(rs1()) | (has_rs2() ? register_bit(rs2()) : 0);
    case Kind::load:
    case Kind::jump_to:
    case Kind::csr: return register_bit(rs1());
    case Kind::atomic:
      return register_bit(rs1()) | register_bit(rs2()) | (compares() ? register_bit(rd()) : 0);
    case Kind::store:
    case Kind::branch: return register_bit(rs1()) | register_bit(rs2());
    case Kind::tile:
      switch (funct3()) {
        case TILE_MMA_F3:
        case TILE_SIMT_F3: return 0;
        case TILE_EPILOGUE_F3: return register_bit(rs2());
        case TILE_CONTROL_F3:
          return funct7() == TILE_CONTROL_ZERO || funct7() == TILE_CONTROL_VOTE
                     ? register_bit(rs1())
                     : 0;
        default: return register_bit(rs1()) | register_bit(rs2());
      }
    default: return 0;
  }
}

namespace encode {

uint32_t branch(Condition condition, unsigned rs1, unsigned rs2, int64_t distance) {
  assert(branch_reaches(distance));
  const uint32_t d = static_cast<uint32_t>(distance);
  return (d >> 12 & 1) << 31 | (d >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | condition << 12 |
         (d >> 1 & 15) << 8 | (d >> 11 & 1) << 7 | 0x63;
}

uint32_t jal(unsigned rd, int64_t distance) {
  assert(reaches(distance));
  const uint32_t d = static_cast<uint32_t>(distance);
  return (d >> 20 & 1) << 31 | (d >> 1 & 1023) << 21 | (d >> 11 & 1) << 20 | (d >> 12 & 255) << 12 |
         rd << 7 | 0x6F;
}

}  // namespace encode
}  // namespace stretto::transform
