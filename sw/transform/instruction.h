// SPDX-License-Identifier: Apache-2.0
// Words of RV64IMA, Zicsr, Zacas and the tile extension: what they are called, which registers they read
// and write, where they go; and the few that stubs need, encoded.
#ifndef STRETTO_SW_TRANSFORM_INSTRUCTION_H_
#define STRETTO_SW_TRANSFORM_INSTRUCTION_H_

#include <cstdint>
#include <string_view>

namespace stretto::transform {

enum class Kind : uint8_t {
  unknown,
  compute,  // Registers to a register.
  upper,    // lui
  place,    // auipc
  load,
  store,
  atomic,  // lr and sc too.
  branch,
  jump,       // jal
  jump_to,    // jalr
  csr,        // rs1 is a register.
  csr_value,  // The rs1 field is a value.
  order,      // fence, fence.i
  system,     // ecall, ebreak
  tile,       // Custom-0; funct3 and funct7 say which.
};

struct Instruction {
  uint32_t word = 0;
  Kind kind = Kind::unknown;
  const char* name = "unknown";
  int64_t immediate = 0;  // Of loads, stores, branches, jumps, lui, auipc and additions.

  unsigned rd() const { return word >> 7 & 31; }
  unsigned rs1() const { return word >> 15 & 31; }
  unsigned rs2() const { return word >> 20 & 31; }
  unsigned funct3() const { return word >> 12 & 7; }
  unsigned funct7() const { return word >> 25; }
  unsigned csr() const { return word >> 20; }

  bool has_rs2() const { return (word & 0x20) != 0; }  // Of Kind::compute; else an immediate.
  bool is_word() const { return kind == Kind::compute && (word & 8) != 0; }  // addw and the like.
  bool is_move() const { return (word & 0xFFF0707F) == 0x13; }               // addi by 0
  std::string_view operation() const;  // "add" of addw and add, "addi" of addiw and addi.
  bool is_tile(unsigned f3) const { return kind == Kind::tile && funct3() == f3; }
  bool stores_tile() const;
  bool stores() const;                 // An atomic, too.
  bool is_control(unsigned f7) const;  // tile.wait, tile.barrier, ...
  bool compares() const;               // amocas: reads its rd.
  // Scalar registers as bits; x0 never.
  uint32_t writes() const;
  uint32_t reads() const;
};

Instruction decode(uint32_t word);

namespace encode {

constexpr unsigned kZero = 0, kRa = 1, kSp = 2, kT0 = 5, kT1 = 6, kT2 = 7, kA0 = 10, kT3 = 28,
                   kT4 = 29;

constexpr uint32_t i_type(unsigned opcode, unsigned f3, unsigned rd, unsigned rs1, int immediate) {
  return (static_cast<uint32_t>(immediate) & 0xFFF) << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode;
}
constexpr uint32_t r_type(unsigned opcode, unsigned f3, unsigned f7, unsigned rd, unsigned rs1,
                          unsigned rs2) {
  return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode;
}
constexpr uint32_t addi(unsigned rd, unsigned rs1, int value) {
  return i_type(0x13, 0, rd, rs1, value);
}
constexpr uint32_t add(unsigned rd, unsigned rs1, unsigned rs2) {
  return r_type(0x33, 0, 0, rd, rs1, rs2);
}
constexpr uint32_t sub(unsigned rd, unsigned rs1, unsigned rs2) {
  return r_type(0x33, 0, 0x20, rd, rs1, rs2);
}
constexpr uint32_t slli(unsigned rd, unsigned rs1, unsigned by) {
  return i_type(0x13, 1, rd, rs1, static_cast<int>(by));
}
constexpr uint32_t srli(unsigned rd, unsigned rs1, unsigned by) {
  return i_type(0x13, 5, rd, rs1, static_cast<int>(by));
}
constexpr uint32_t divu(unsigned rd, unsigned rs1, unsigned rs2) {
  return r_type(0x33, 5, 1, rd, rs1, rs2);
}
constexpr uint32_t remu(unsigned rd, unsigned rs1, unsigned rs2) {
  return r_type(0x33, 7, 1, rd, rs1, rs2);
}
constexpr uint32_t lui(unsigned rd, uint32_t upper) { return upper << 12 | rd << 7 | 0x37; }
// This instruction's address, and `pages` of 4 KiB.
constexpr uint32_t auipc(unsigned rd, int64_t pages = 0) {
  return static_cast<uint32_t>(pages) << 12 | rd << 7 | 0x17;
}
constexpr uint32_t jr(unsigned rs1) { return i_type(0x67, 0, kZero, rs1, 0); }
constexpr uint32_t ld(unsigned rd, unsigned rs1, int at) { return i_type(0x03, 3, rd, rs1, at); }
constexpr uint32_t sd(unsigned rs2, unsigned rs1, int at) {
  const uint32_t a = static_cast<uint32_t>(at);
  return (a >> 5 & 127) << 25 | rs2 << 20 | rs1 << 15 | 3 << 12 | (a & 31) << 7 | 0x23;
}
constexpr uint32_t csrr(unsigned rd, unsigned csr) { return csr << 20 | 2 << 12 | rd << 7 | 0x73; }
constexpr uint32_t csrw(unsigned csr, unsigned rs1) {
  return csr << 20 | rs1 << 15 | 1 << 12 | 0x73;
}
constexpr uint32_t csrwi(unsigned csr, unsigned value) {
  return csr << 20 | value << 15 | 5 << 12 | 0x73;
}
constexpr uint32_t amoadd(unsigned rd, unsigned rs2, unsigned rs1) {
  return r_type(0x2F, 3, 0, rd, rs1, rs2);
}
constexpr uint32_t tile_control(unsigned f7, unsigned rd, unsigned rs1, unsigned rs2) {
  return r_type(0x0B, 5, f7, rd, rs1, rs2);
}

enum Condition : unsigned { kEqual = 0, kNotEqual = 1, kBelow = 6, kNotBelow = 7 };
constexpr bool branch_reaches(int64_t distance) { return distance >= -4096 && distance < 4096; }
// REQUIRES: branch_reaches(distance).
uint32_t branch(Condition condition, unsigned rs1, unsigned rs2, int64_t distance);
// REQUIRES: reaches(distance).
uint32_t jal(unsigned rd, int64_t distance);
constexpr bool reaches(int64_t distance) {
  return distance >= -(1 << 20) && distance < (1 << 20) && (distance & 1) == 0;
}

}  // namespace encode
}  // namespace stretto::transform

#endif  // STRETTO_SW_TRANSFORM_INSTRUCTION_H_
