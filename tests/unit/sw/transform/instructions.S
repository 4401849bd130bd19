# SPDX-License-Identifier: Apache-2.0
# Every instruction of RV64IMA and Zicsr, with registers and immediates that differ in every field.
  .option norvc
  .text
  .irp name, add, sub, sll, slt, sltu, xor, srl, sra, or, and, mul, mulh, mulhsu, mulhu, div, divu, rem, remu
  \name x17, x10, x21
  .endr
  .irp name, addw, subw, sllw, srlw, sraw, mulw, divw, divuw, remw, remuw
  \name x9, x30, x6
  .endr
  .irp name, addi, slti, sltiu, xori, ori, andi, addiw
  \name x31, x16, -1365
  .endr
  .irp name, slli, srli, srai
  \name x12, x24, 43
  .endr
  .irp name, slliw, srliw, sraiw
  \name x12, x24, 21
  .endr
  .irp name, lb, lh, lw, ld, lbu, lhu, lwu
  \name x5, -683(x26)
  \name x5, 2047(x26)
  .endr
  .irp name, sb, sh, sw, sd
  \name x5, -683(x26)
  \name x5, 1366(x26)
  .endr
  lui x7, 0xABCDE
  auipc x7, 0x54321
back:
  .irp name, beq, bne, blt, bge, bltu, bgeu
  \name x13, x18, back
  \name x13, x18, ahead
  .endr
  jal x1, back
  jal x0, ahead
  jal x5, ahead
  jalr x1, -682(x22)
  .irp name, swap, add, xor, and, or, min, max, minu, maxu
  amo\name\().w x14, x19, (x28)
  amo\name\().d.aq x14, x19, (x28)
  amo\name\().d.rl x14, x19, (x28)
  amo\name\().w.aqrl x14, x19, (x28)
  .endr
  lr.w x3, (x8)
  lr.d.aq x3, (x8)
  sc.w x3, x4, (x8)
  sc.d.rl x3, x4, (x8)
  .irp name, csrrw, csrrs, csrrc
  \name x11, 0xCC3, x29
  .endr
  .irp name, csrrwi, csrrsi, csrrci
  \name x11, 0x801, 13
  .endr
  fence rw, w
  fence.i
  ecall
  ebreak
  .zero 2048
ahead:
  nop
