// SPDX-License-Identifier: Apache-2.0
// Decoder tables: compressed instructions are expanded to their 32-bit form first, as the
// specification defines them, so that each instruction has one meaning in one place.
#include "models/riscv/decoder.h"

namespace stretto::riscv {
namespace {

constexpr uint32_t bits(uint32_t value, unsigned high, unsigned low) {
  return (value >> low) & ((1u << (high - low + 1)) - 1);
}
constexpr int64_t sign_extend(uint64_t value, unsigned width) {
  return static_cast<int64_t>(value << (64 - width)) >> (64 - width);
}

// Immediates of the five 32-bit formats.
constexpr int64_t imm_i(uint32_t r) { return static_cast<int32_t>(r) >> 20; }
constexpr int64_t imm_s(uint32_t r) {
  return sign_extend(bits(r, 31, 25) << 5 | bits(r, 11, 7), 12);
}
constexpr int64_t imm_b(uint32_t r) {
  return sign_extend(
      bits(r, 31, 31) << 12 | bits(r, 7, 7) << 11 | bits(r, 30, 25) << 5 | bits(r, 11, 8) << 1, 13);
}
constexpr int64_t imm_u(uint32_t r) { return static_cast<int32_t>(r & 0xfffff000u); }
constexpr int64_t imm_j(uint32_t r) {
  return sign_extend(
      bits(r, 31, 31) << 20 | bits(r, 19, 12) << 12 | bits(r, 20, 20) << 11 | bits(r, 30, 21) << 1,
      21);
}

// Encoders used by the expansion.
constexpr uint32_t enc_r(uint32_t f7, uint32_t rs2, uint32_t rs1, uint32_t f3, uint32_t rd,
                         uint32_t op) {
  return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}
constexpr uint32_t enc_i(int32_t imm, uint32_t rs1, uint32_t f3, uint32_t rd, uint32_t op) {
  return static_cast<uint32_t>(imm) << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}
constexpr uint32_t enc_s(uint32_t imm, uint32_t rs2, uint32_t rs1, uint32_t f3) {
  return bits(imm, 11, 5) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | bits(imm, 4, 0) << 7 | 0x23;
}
constexpr uint32_t enc_b(uint32_t imm, uint32_t rs1, uint32_t f3) {
  return bits(imm, 12, 12) << 31 | bits(imm, 10, 5) << 25 | rs1 << 15 | f3 << 12 |
         bits(imm, 4, 1) << 8 | bits(imm, 11, 11) << 7 | 0x63;
}
constexpr uint32_t enc_j(uint32_t imm, uint32_t rd) {
  return bits(imm, 20, 20) << 31 | bits(imm, 10, 1) << 21 | bits(imm, 11, 11) << 20 |
         bits(imm, 19, 12) << 12 | rd << 7 | 0x6f;
}

constexpr uint32_t kOpImm = 0x13, kOpImm32 = 0x1b, kOp = 0x33, kOp32 = 0x3b, kLoad = 0x03,
                   kLui = 0x37, kJalr = 0x67;

uint32_t expand_quadrant0(uint32_t c) {
  const uint32_t rd = 8 + bits(c, 4, 2);
  const uint32_t rs1 = 8 + bits(c, 9, 7);
  const uint32_t offset_w = bits(c, 12, 10) << 3 | bits(c, 6, 6) << 2 | bits(c, 5, 5) << 6;
  const uint32_t offset_d = bits(c, 12, 10) << 3 | bits(c, 6, 5) << 6;
  switch (bits(c, 15, 13)) {
    case 0: {  // c.addi4spn
      const uint32_t imm =
          bits(c, 12, 11) << 4 | bits(c, 10, 7) << 6 | bits(c, 6, 6) << 2 | bits(c, 5, 5) << 3;
      return imm == 0 ? 0 : enc_i(static_cast<int32_t>(imm), 2, 0, rd, kOpImm);
    }
    case 2: return enc_i(static_cast<int32_t>(offset_w), rs1, 2, rd, kLoad);  // c.lw
    case 3: return enc_i(static_cast<int32_t>(offset_d), rs1, 3, rd, kLoad);  // c.ld
    case 6: return enc_s(offset_w, rd, rs1, 2);                               // c.sw
    case 7: return enc_s(offset_d, rd, rs1, 3);                               // c.sd
    default: return 0;
  }
}

uint32_t expand_quadrant1(uint32_t c) {
  const uint32_t rd = bits(c, 11, 7);
  const uint32_t rd_short = 8 + bits(c, 9, 7);
  const int32_t imm = static_cast<int32_t>(sign_extend(bits(c, 12, 12) << 5 | bits(c, 6, 2), 6));
  switch (bits(c, 15, 13)) {
    case 0: return enc_i(imm, rd, 0, rd, kOpImm);                  // c.addi, c.nop
    case 1: return rd == 0 ? 0 : enc_i(imm, rd, 0, rd, kOpImm32);  // c.addiw
    case 2: return enc_i(imm, 0, 0, rd, kOpImm);                   // c.li
    case 3: {
      if (imm == 0) return 0;
      if (rd != 2) return static_cast<uint32_t>(imm) << 12 | rd << 7 | kLui;  // c.lui
      const int64_t sp =
          sign_extend(bits(c, 12, 12) << 9 | bits(c, 4, 3) << 7 | bits(c, 5, 5) << 6 |
                          bits(c, 2, 2) << 5 | bits(c, 6, 6) << 4,
                      10);
      return enc_i(static_cast<int32_t>(sp), 2, 0, 2, kOpImm);  // c.addi16sp
    }
    case 4: {
      const uint32_t shift = bits(c, 12, 12) << 5 | bits(c, 6, 2);
      const uint32_t rs2 = 8 + bits(c, 4, 2);
      switch (bits(c, 11, 10)) {
        case 0: return enc_i(static_cast<int32_t>(shift), rd_short, 5, rd_short, kOpImm);
        case 1: return enc_i(static_cast<int32_t>(shift | 0x400), rd_short, 5, rd_short, kOpImm);
        case 2: return enc_i(imm, rd_short, 7, rd_short, kOpImm);
        default: break;
      }
      switch (bits(c, 12, 12) << 2 | bits(c, 6, 5)) {
        case 0: return enc_r(0x20, rs2, rd_short, 0, rd_short, kOp);    // c.sub
        case 1: return enc_r(0, rs2, rd_short, 4, rd_short, kOp);       // c.xor
        case 2: return enc_r(0, rs2, rd_short, 6, rd_short, kOp);       // c.or
        case 3: return enc_r(0, rs2, rd_short, 7, rd_short, kOp);       // c.and
        case 4: return enc_r(0x20, rs2, rd_short, 0, rd_short, kOp32);  // c.subw
        case 5: return enc_r(0, rs2, rd_short, 0, rd_short, kOp32);     // c.addw
        default: return 0;
      }
    }
    case 5: {  // c.j
      const int64_t offset = sign_extend(
          bits(c, 12, 12) << 11 | bits(c, 11, 11) << 4 | bits(c, 10, 9) << 8 | bits(c, 8, 8) << 10 |
              bits(c, 7, 7) << 6 | bits(c, 6, 6) << 7 | bits(c, 5, 3) << 1 | bits(c, 2, 2) << 5,
          12);
      return enc_j(static_cast<uint32_t>(offset), 0);
    }
    default: {  // c.beqz, c.bnez
      const int64_t offset =
          sign_extend(bits(c, 12, 12) << 8 | bits(c, 11, 10) << 3 | bits(c, 6, 5) << 6 |
                          bits(c, 4, 3) << 1 | bits(c, 2, 2) << 5,
                      9);
      return enc_b(static_cast<uint32_t>(offset), rd_short, bits(c, 13, 13));
    }
  }
}

uint32_t expand_quadrant2(uint32_t c) {
  const uint32_t rd = bits(c, 11, 7);
  const uint32_t rs2 = bits(c, 6, 2);
  const uint32_t shift = bits(c, 12, 12) << 5 | rs2;
  const uint32_t lwsp = bits(c, 12, 12) << 5 | bits(c, 6, 4) << 2 | bits(c, 3, 2) << 6;
  const uint32_t ldsp = bits(c, 12, 12) << 5 | bits(c, 6, 5) << 3 | bits(c, 4, 2) << 6;
  switch (bits(c, 15, 13)) {
    case 0: return enc_i(static_cast<int32_t>(shift), rd, 1, rd, kOpImm);  // c.slli
    case 2: return rd == 0 ? 0 : enc_i(static_cast<int32_t>(lwsp), 2, 2, rd, kLoad);
    case 3: return rd == 0 ? 0 : enc_i(static_cast<int32_t>(ldsp), 2, 3, rd, kLoad);
    case 4:
      if (bits(c, 12, 12) == 0) {
        if (rs2 != 0) return enc_r(0, rs2, 0, 0, rd, kOp);  // c.mv
        return rd == 0 ? 0 : enc_i(0, rd, 0, 0, kJalr);     // c.jr
      }
      if (rs2 != 0) return enc_r(0, rs2, rd, 0, rd, kOp);                        // c.add
      return rd == 0 ? 0x00100073u : enc_i(0, rd, 0, 1, kJalr);                  // c.ebreak, c.jalr
    case 6: return enc_s(bits(c, 12, 9) << 2 | bits(c, 8, 7) << 6, rs2, 2, 2);   // c.swsp
    case 7: return enc_s(bits(c, 12, 10) << 3 | bits(c, 9, 7) << 6, rs2, 2, 3);  // c.sdsp
    default: return 0;
  }
}

constexpr OpId kNone = OpId::kIllegal;

OpId op_imm(uint32_t r) {
  const uint32_t high = bits(r, 31, 26);
  switch (bits(r, 14, 12)) {
    case 0: return OpId::kAddi;
    case 1: return high == 0 ? OpId::kSlli : kNone;
    case 2: return OpId::kSlti;
    case 3: return OpId::kSltiu;
    case 4: return OpId::kXori;
    case 5: return high == 0 ? OpId::kSrli : high == 0x10 ? OpId::kSrai : kNone;
    case 6: return OpId::kOri;
    default: return OpId::kAndi;
  }
}

OpId op_imm32(uint32_t r) {
  const uint32_t high = bits(r, 31, 25);
  switch (bits(r, 14, 12)) {
    case 0: return OpId::kAddiw;
    case 1: return high == 0 ? OpId::kSlliw : kNone;
    case 5: return high == 0 ? OpId::kSrliw : high == 0x20 ? OpId::kSraiw : kNone;
    default: return kNone;
  }
}

OpId op_register(uint32_t r) {
  static constexpr OpId kBase[8] = {OpId::kAdd, OpId::kSll, OpId::kSlt, OpId::kSltu,
                                    OpId::kXor, OpId::kSrl, OpId::kOr,  OpId::kAnd};
  static constexpr OpId kMulDiv[8] = {OpId::kMul, OpId::kMulh, OpId::kMulhsu, OpId::kMulhu,
                                      OpId::kDiv, OpId::kDivu, OpId::kRem,    OpId::kRemu};
  const uint32_t f3 = bits(r, 14, 12);
  switch (bits(r, 31, 25)) {
    case 0x00: return kBase[f3];
    case 0x01: return kMulDiv[f3];
    case 0x20: return f3 == 0 ? OpId::kSub : f3 == 5 ? OpId::kSra : kNone;
    default: return kNone;
  }
}

OpId op_register32(uint32_t r) {
  static constexpr OpId kBase[8] = {OpId::kAddw, OpId::kSllw, kNone, kNone,
                                    kNone,       OpId::kSrlw, kNone, kNone};
  static constexpr OpId kMulDiv[8] = {OpId::kMulw, kNone,        kNone,       kNone,
                                      OpId::kDivw, OpId::kDivuw, OpId::kRemw, OpId::kRemuw};
  const uint32_t f3 = bits(r, 14, 12);
  switch (bits(r, 31, 25)) {
    case 0x00: return kBase[f3];
    case 0x01: return kMulDiv[f3];
    case 0x20: return f3 == 0 ? OpId::kSubw : f3 == 5 ? OpId::kSraw : kNone;
    default: return kNone;
  }
}

// rs2 carries the AmoOp for the handler, because the raw word is in imm anyway.
OpId amo(uint32_t r, const IsaOptions& isa, uint8_t& amo_op) {
  if (bits(r, 14, 12) != 2 && bits(r, 14, 12) != 3) return kNone;
  AmoOp op;
  switch (bits(r, 31, 27)) {
    case 0x02:
      if (bits(r, 24, 20) != 0) return kNone;
      op = AmoOp::kLoadReserved;
      break;
    case 0x03: op = AmoOp::kStoreConditional; break;
    case 0x01: op = AmoOp::kSwap; break;
    case 0x00: op = AmoOp::kAdd; break;
    case 0x04: op = AmoOp::kXor; break;
    case 0x05:
      if (!isa.compare_swap) return kNone;
      op = AmoOp::kCompareSwap;
      break;
    case 0x0c: op = AmoOp::kAnd; break;
    case 0x08: op = AmoOp::kOr; break;
    case 0x10: op = AmoOp::kMin; break;
    case 0x14: op = AmoOp::kMax; break;
    case 0x18: op = AmoOp::kMinu; break;
    case 0x1c: op = AmoOp::kMaxu; break;
    default: return kNone;
  }
  amo_op = static_cast<uint8_t>(op);
  return OpId::kAmo;
}

OpId system(uint32_t r, const IsaOptions& isa) {
  const uint32_t f3 = bits(r, 14, 12);
  if (f3 == 4) return kNone;
  if (f3 != 0) {
    const bool writes = (f3 & 3) == 1 || bits(r, 19, 15) != 0;
    return writes ? OpId::kCsrWrite : OpId::kCsrRead;
  }
  switch (r) {
    case 0x00000073: return OpId::kEcall;
    case 0x00100073: return OpId::kEbreak;
    case 0x30200073: return isa.machine_mode ? OpId::kMret : kNone;
    case 0x10500073: return isa.machine_mode ? OpId::kWfi : kNone;
    default: return kNone;
  }
}

}  // namespace

uint32_t expand_compressed(uint16_t raw) {
  switch (raw & 3) {
    case 0: return expand_quadrant0(raw);
    case 1: return expand_quadrant1(raw);
    case 2: return expand_quadrant2(raw);
    default: return 0;
  }
}

Decoded decode(uint32_t raw, uint64_t pc, const IsaOptions& isa, const CostTable& cost) {
  static constexpr OpId kLoads[8] = {OpId::kLb,  OpId::kLh,  OpId::kLw,  OpId::kLd,
                                     OpId::kLbu, OpId::kLhu, OpId::kLwu, kNone};
  static constexpr OpId kStores[8] = {OpId::kSb, OpId::kSh, OpId::kSw, OpId::kSd,
                                      kNone,     kNone,     kNone,     kNone};
  static constexpr OpId kBranches[8] = {OpId::kBeq, OpId::kBne, kNone,       kNone,
                                        OpId::kBlt, OpId::kBge, OpId::kBltu, OpId::kBgeu};
  const bool is_compressed = (raw & 3) != 3;
  const uint32_t r = !is_compressed   ? raw
                     : isa.compressed ? expand_compressed(static_cast<uint16_t>(raw))
                                      : 0;
  const uint8_t rd = static_cast<uint8_t>(bits(r, 11, 7));
  const uint32_t f3 = bits(r, 14, 12);

  Decoded d{};
  d.length_bytes = is_compressed ? 2 : 4;
  d.cost_cycles = cost.alu;
  d.op.id = kNone;
  d.op.rd = rd == 0 ? kDiscardRegister : rd;
  d.op.rs1 = static_cast<uint8_t>(bits(r, 19, 15));
  d.op.rs2 = static_cast<uint8_t>(bits(r, 24, 20));
  d.op.imm = static_cast<int64_t>(r);

  switch (bits(r, 6, 0)) {
    case kLui:
      d.op.id = OpId::kLi;
      d.op.imm = imm_u(r);
      break;
    case 0x17:  // auipc
      d.op.id = OpId::kLi;
      d.op.imm = static_cast<int64_t>(pc + static_cast<uint64_t>(imm_u(r)));
      break;
    case kOpImm:
      d.op.id = op_imm(r);
      d.op.imm = imm_i(r);
      if ((f3 & 3) == 1) d.op.imm &= 0x3f;
      if (d.op.id == OpId::kAddi && d.op.rs1 == 0) d.op.id = OpId::kLi;
      if (d.op.id == OpId::kAddi && d.op.imm == 0) d.op.id = OpId::kMv;
      break;
    case kOpImm32:
      d.op.id = op_imm32(r);
      d.op.imm = imm_i(r);
      if (f3 != 0) d.op.imm &= 0x1f;
      break;
    case kOp:
      d.op.id = op_register(r);
      if (d.op.id == OpId::kAdd && d.op.rs1 == 0) {
        d.op.id = OpId::kMv;
        d.op.rs1 = d.op.rs2;
      }
      if (bits(r, 31, 25) == 1) d.cost_cycles = f3 < 4 ? cost.mul : cost.div;
      break;
    case kOp32:
      d.op.id = op_register32(r);
      if (bits(r, 31, 25) == 1) d.cost_cycles = f3 < 4 ? cost.mul : cost.div;
      break;
    case kLoad:
      d.op.id = kLoads[f3];
      d.op.imm = imm_i(r);
      d.cost_cycles = cost.load;
      break;
    case 0x23:
      d.op.id = kStores[f3];
      d.op.imm = imm_s(r);
      d.cost_cycles = cost.store;
      break;
    case 0x2f: {
      uint8_t amo_op = 0;
      d.op.id = amo(r, isa, amo_op);
      if (d.op.id == OpId::kAmo) d.op.imm |= static_cast<int64_t>(amo_op) << 32;
      d.cost_cycles = cost.amo;
      break;
    }
    case 0x63:
      d.op.id = kBranches[f3];
      d.op.imm = static_cast<int64_t>(pc + static_cast<uint64_t>(imm_b(r)));
      d.cost_cycles = cost.branch;
      d.ends_block = true;
      break;
    case 0x6f:
      d.op.id = OpId::kJal;
      d.op.imm = static_cast<int64_t>(pc + static_cast<uint64_t>(imm_j(r)));
      d.cost_cycles = cost.jump;
      d.ends_block = true;
      break;
    case kJalr:
      if (f3 == 0) d.op.id = OpId::kJalr;
      d.op.imm = imm_i(r);
      d.cost_cycles = cost.jump;
      d.ends_block = true;
      break;
    case 0x0f:
      if (f3 == 0) d.op.id = OpId::kFence;
      if (f3 == 1) {
        d.op.id = OpId::kFenceI;
        d.cost_cycles = cost.system;
        d.ends_block = true;
      }
      break;
    case 0x73:
      d.op.id = system(r, isa);
      if (d.op.id == OpId::kCsrRead || d.op.id == OpId::kCsrWrite) d.cost_cycles = cost.csr;
      if (d.op.id == OpId::kMret || d.op.id == OpId::kWfi) d.cost_cycles = cost.system;
      d.ends_block = d.op.id != OpId::kCsrRead;
      break;
    case 0x0b:
    case 0x2b:
    case 0x5b:
    case 0x7b: {
      const unsigned number = bits(r, 6, 5);
      if (isa.custom_opcodes >> number & 1) d.op.id = OpId::kCustom;
      d.cost_cycles = cost.custom;
      d.ends_block = true;
      break;
    }
    default: break;
  }
  if (d.op.id == OpId::kIllegal) {
    d.op.imm = static_cast<int64_t>(is_compressed ? raw & 0xffffu : raw);  // for mtval
    d.ends_block = true;
  }
  return d;
}

}  // namespace stretto::riscv
