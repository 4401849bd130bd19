// SPDX-License-Identifier: Apache-2.0
// A few instruction encoders (unprivileged specification, chapter 24) for tests of the hart's
// edges.
#ifndef STRETTO_TESTS_UNIT_RISCV_ENCODE_H_
#define STRETTO_TESTS_UNIT_RISCV_ENCODE_H_

#include <cstdint>

namespace stretto::riscv::test {

constexpr uint32_t i_type(uint32_t opcode, uint32_t funct3, uint32_t rd, uint32_t rs1,
                          int32_t imm) {
  return static_cast<uint32_t>(imm) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
constexpr uint32_t r_type(uint32_t opcode, uint32_t funct3, uint32_t funct7, uint32_t rd,
                          uint32_t rs1, uint32_t rs2) {
  return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
constexpr uint32_t addi(uint32_t rd, uint32_t rs1, int32_t imm) {
  return i_type(0x13, 0, rd, rs1, imm);
}
constexpr uint32_t lb(uint32_t rd, uint32_t rs1, int32_t imm) {
  return i_type(0x03, 0, rd, rs1, imm);
}
constexpr uint32_t lw(uint32_t rd, uint32_t rs1, int32_t imm) {
  return i_type(0x03, 2, rd, rs1, imm);
}
constexpr uint32_t lhu(uint32_t rd, uint32_t rs1, int32_t imm) {
  return i_type(0x03, 5, rd, rs1, imm);
}
constexpr uint32_t ld(uint32_t rd, uint32_t rs1, int32_t imm) {
  return i_type(0x03, 3, rd, rs1, imm);
}
constexpr uint32_t sw(uint32_t rs2, uint32_t rs1, int32_t imm) {
  const uint32_t bits = static_cast<uint32_t>(imm);
  return (bits >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | 2u << 12 | (bits & 31) << 7 | 0x23;
}
constexpr uint32_t branch(uint32_t funct3, uint32_t rs1, uint32_t rs2, int32_t offset) {
  const uint32_t bits = static_cast<uint32_t>(offset);
  return (bits >> 12 & 1) << 31 | (bits >> 5 & 0x3f) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 |
         (bits >> 1 & 15) << 8 | (bits >> 11 & 1) << 7 | 0x63;
}
constexpr uint32_t jal(uint32_t rd, int32_t offset) {
  const uint32_t bits = static_cast<uint32_t>(offset);
  return (bits >> 20 & 1) << 31 | (bits >> 1 & 0x3ff) << 21 | (bits >> 11 & 1) << 20 |
         (bits >> 12 & 0xff) << 12 | rd << 7 | 0x6f;
}
constexpr uint32_t jalr(uint32_t rd, uint32_t rs1, int32_t imm) {
  return i_type(0x67, 0, rd, rs1, imm);
}
constexpr uint32_t csrrw(uint32_t rd, uint32_t csr, uint32_t rs1) {
  return i_type(0x73, 1, rd, rs1, static_cast<int32_t>(csr));
}
constexpr uint32_t csrrs(uint32_t rd, uint32_t csr, uint32_t rs1) {
  return i_type(0x73, 2, rd, rs1, static_cast<int32_t>(csr));
}
constexpr uint32_t csrrsi(uint32_t rd, uint32_t csr, uint32_t value) {
  return i_type(0x73, 6, rd, value, static_cast<int32_t>(csr));
}
constexpr uint32_t amoadd_w(uint32_t rd, uint32_t rs1, uint32_t rs2) {
  return r_type(0x2f, 2, 0, rd, rs1, rs2);
}
constexpr uint32_t mul(uint32_t rd, uint32_t rs1, uint32_t rs2) {
  return r_type(0x33, 0, 1, rd, rs1, rs2);
}
constexpr uint32_t div(uint32_t rd, uint32_t rs1, uint32_t rs2) {
  return r_type(0x33, 4, 1, rd, rs1, rs2);
}
constexpr uint32_t kNop = 0x00000013;
constexpr uint32_t kEcall = 0x00000073;
constexpr uint32_t kEbreak = 0x00100073;
constexpr uint32_t kMret = 0x30200073;
constexpr uint32_t kWfi = 0x10500073;
constexpr uint32_t kFence = 0x0ff0000f;
constexpr uint32_t kFenceI = 0x0000100f;

constexpr uint32_t kCsrCycle = 0xc00, kCsrInstret = 0xc02, kCsrMstatus = 0x300, kCsrMie = 0x304,
                   kCsrMtvec = 0x305, kCsrMscratch = 0x340, kCsrMepc = 0x341, kCsrMcause = 0x342;

}  // namespace stretto::riscv::test

#endif  // STRETTO_TESTS_UNIT_RISCV_ENCODE_H_
