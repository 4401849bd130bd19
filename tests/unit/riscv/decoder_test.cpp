// SPDX-License-Identifier: Apache-2.0
// Question: does the decoder accept exactly the encodings that the specification defines?
// State space: all 2^16 compressed words; all 2^10 (opcode, funct3) pairs of the 32-bit space with
// funct7 samples. Expected values: counts of defined encodings, worked out by hand from the tables
// of the specification (chapter 16 for C, chapter 24 for the rest), independent of the decoder's
// own switch.
#include <catch2/catch.hpp>

#include "models/riscv/decoder.h"

using namespace stretto::riscv;

TEST_CASE("compressed words are legal exactly where RV64C defines them") {
  unsigned legal[3][8] = {};
  for (uint32_t raw = 0; raw < 0x10000; ++raw) {
    if ((raw & 3) == 3) continue;
    if (expand_compressed(static_cast<uint16_t>(raw)) != 0) ++legal[raw & 3][raw >> 13];
  }
  const unsigned all = 1u << 11;
  // Quadrant 0: addi4spn needs an immediate; fld, reserved and fsd are not there.
  CHECK(legal[0][0] == all - 8);
  CHECK(legal[0][1] == 0);
  CHECK(legal[0][2] == all);
  CHECK(legal[0][3] == all);
  CHECK(legal[0][4] == 0);
  CHECK(legal[0][5] == 0);
  CHECK(legal[0][6] == all);
  CHECK(legal[0][7] == all);
  // Quadrant 1: addiw needs rd; lui and addi16sp an immediate; two of eight register ops are
  // reserved.
  CHECK(legal[1][0] == all);
  CHECK(legal[1][1] == all - 64);
  CHECK(legal[1][2] == all);
  CHECK(legal[1][3] == all - 32);
  CHECK(legal[1][4] == all - 2 * 64);
  CHECK(legal[1][5] == all);
  CHECK(legal[1][6] == all);
  CHECK(legal[1][7] == all);
  // Quadrant 2: lwsp and ldsp need rd; jr needs rs1; fldsp and fsdsp are not there.
  CHECK(legal[2][0] == all);
  CHECK(legal[2][1] == 0);
  CHECK(legal[2][2] == all - 64);
  CHECK(legal[2][3] == all - 64);
  CHECK(legal[2][4] == all - 1);
  CHECK(legal[2][5] == 0);
  CHECK(legal[2][6] == all);
  CHECK(legal[2][7] == all);
}

TEST_CASE("32-bit words are legal exactly where RV64IMA, Zicsr and Zifencei define them") {
  struct Row {
    uint32_t opcode;
    unsigned legal;  // of the 8 * 128 (funct3, funct7) pairs, with rs1 = rs2 = rd = 1
  };
  const Row rows[] = {{0x37, 1024},
                      {0x17, 1024},
                      {0x6f, 1024},
                      {0x67, 128},      // jalr: funct3 0
                      {0x63, 6 * 128},  // six conditions
                      {0x03, 7 * 128},
                      {0x23, 4 * 128},
                      {0x13, 6 * 128 + 2 + 2 + 2},  // slli, srli, srai: six bits fixed
                      {0x1b, 128 + 3},              // addiw; slliw, srliw, sraiw: seven bits fixed
                      {0x33, 8 + 8 + 2},
                      {0x3b, 3 + 5 + 2},   // funct7 0, 1 and 0x20
                      {0x0f, 2 * 128},     // fence, fence.i
                      {0x2f, 2 * 10 * 4},  // ten of eleven with rs2 = 1 (lr needs 0), aq, rl
                      {0x73, 6 * 128},     // the CSR instructions; no other with rs1 = rd = 1
                      {0x07, 0},
                      {0x27, 0},
                      {0x43, 0},
                      {0x53, 0},
                      {0x57, 0},
                      {0x0b, 0},
                      {0x2b, 0},
                      {0x5b, 0},
                      {0x7b, 0},
                      {0x1f, 0},
                      {0x3f, 0},
                      {0x7f, 0}};  // long encodings
  for (const Row& row : rows) {
    unsigned legal = 0;
    for (uint32_t pair = 0; pair < 1024; ++pair) {
      const uint32_t raw =
          (pair >> 3) << 25 | 1u << 20 | 1u << 15 | (pair & 7) << 12 | 1u << 7 | row.opcode;
      if (decode(raw, 0, IsaOptions{}, CostTable{}).op.id != OpId::kIllegal) ++legal;
    }
    INFO("opcode " << std::hex << row.opcode);
    CHECK(legal == row.legal);
  }
}

TEST_CASE("privileged words without operands are decoded one by one") {
  const IsaOptions machine{};
  const IsaOptions wavefront{false, false, 1};
  const CostTable cost;
  CHECK(decode(0x00000073, 0, machine, cost).op.id == OpId::kEcall);
  CHECK(decode(0x00100073, 0, machine, cost).op.id == OpId::kEbreak);
  CHECK(decode(0x30200073, 0, machine, cost).op.id == OpId::kMret);
  CHECK(decode(0x30200073, 0, wavefront, cost).op.id == OpId::kIllegal);
  CHECK(decode(0x10500073, 0, machine, cost).op.id == OpId::kWfi);
  CHECK(decode(0x10200073, 0, machine, cost).op.id == OpId::kIllegal);  // sret
  CHECK(decode(0x12000073, 0, machine, cost).op.id == OpId::kIllegal);  // sfence.vma
  CHECK(decode(0x00200073, 0, machine, cost).op.id == OpId::kIllegal);
  CHECK(decode(0x1000202f, 0, machine, cost).op.id == OpId::kAmo);  // lr.w x0, (x0)
  CHECK(decode(0x0000000b, 0, wavefront, cost).op.id == OpId::kCustom);
  CHECK(decode(0x0000, 0, machine, cost).op.id == OpId::kIllegal);
}

TEST_CASE("a compare and swap is decoded where there is Zacas, of 4 and 8 bytes") {
  IsaOptions zacas;
  zacas.compare_swap = true;
  const auto id = [&](uint32_t raw, const IsaOptions& isa) {
    return decode(raw, 0, isa, CostTable{}).op.id;
  };
  CHECK(id(0x2800202F, zacas) == OpId::kAmo);      // amocas.w x0, x0, (x0)
  CHECK(id(0x2800302F, zacas) == OpId::kAmo);      // amocas.d
  CHECK(id(0x2800402F, zacas) == OpId::kIllegal);  // amocas.q
  CHECK(id(0x2800202F, IsaOptions{}) == OpId::kIllegal);
}

TEST_CASE("atomics compute on signed and unsigned words of their size") {
  CHECK(apply_amo(AmoOp::kAdd, 4, 0xffffffff, 1) == 0);
  CHECK(apply_amo(AmoOp::kAdd, 8, 0xffffffff, 1) == 0x100000000);
  CHECK(apply_amo(AmoOp::kMin, 4, 0x80000000, 0) == 0x80000000);
  CHECK(apply_amo(AmoOp::kMinu, 4, 0x80000000, 0) == 0);
  CHECK(apply_amo(AmoOp::kMaxu, 4, 0xff80000000, 1) == 0x80000000);
  CHECK(apply_amo(AmoOp::kMax, 8, 0x8000000000000000, 0) == 0);
}
