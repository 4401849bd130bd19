// SPDX-License-Identifier: Apache-2.0
// LR/SC and the nine read-modify-writes, 32 and 64 bits.
#include "test.h"

// old value in a2, new one in memory
.macro amo number, instruction, load, before, operand, old, after
  la a0, cell
  li a1, \before
  sd a1, 0(a0)
  li a1, \operand
  \instruction a2, a1, (a0)
  check \number, a2, \old
  \load a2, 0(a0)
  check \number + 1, a2, \after
.endm

test_begin
  amo 1, amoswap.w, ld, 0x1111111180000000, 0x5, 0xffffffff80000000, 0x1111111100000005
  amo 3, amoadd.w, ld, 0x11111111ffffffff, 0x2, 0xffffffffffffffff, 0x1111111100000001
  amo 5, amoxor.w, ld, 0x11111111ffff0000, 0xf0f0f0f0, 0xffffffffffff0000, 0x111111110f0ff0f0
  amo 7, amoand.w, ld, 0x11111111ffff0000, 0xf0f0f0f0, 0xffffffffffff0000, 0x11111111f0f00000
  amo 9, amoor.w, ld, 0x1111111100ff0000, 0xf0f0f0f0, 0xff0000, 0x11111111f0fff0f0
  amo 11, amomin.w, ld, 0x1111111180000000, 1, 0xffffffff80000000, 0x1111111180000000
  amo 13, amomin.w, ld, 1, 0xffffffff, 1, 0xffffffff
  amo 15, amomax.w, ld, 0x1111111180000000, 1, 0xffffffff80000000, 0x1111111100000001
  amo 17, amominu.w, ld, 0x1111111180000000, 1, 0xffffffff80000000, 0x1111111100000001
  amo 19, amomaxu.w, ld, 0x1111111180000000, 1, 0xffffffff80000000, 0x1111111180000000
  amo 21, amoswap.d, ld, 0x1111111180000000, 5, 0x1111111180000000, 5
  amo 23, amoadd.d, ld, 0xffffffffffffffff, 2, 0xffffffffffffffff, 1
  amo 25, amoxor.d, ld, 0xff00ff00ff00ff00, 0xffffffff00000000, 0xff00ff00ff00ff00, 0x00ff00ffff00ff00
  amo 27, amoand.d, ld, 0xff00ff00ff00ff00, 0xffffffff00000000, 0xff00ff00ff00ff00, 0xff00ff0000000000
  amo 29, amoor.d, ld, 0xff00ff00ff00ff00, 0xffffffff00000000, 0xff00ff00ff00ff00, 0xffffffffff00ff00
  amo 31, amomin.d, ld, 0x8000000000000000, 1, 0x8000000000000000, 0x8000000000000000
  amo 33, amomax.d, ld, 0x8000000000000000, 1, 0x8000000000000000, 1
  amo 35, amominu.d, ld, 0x8000000000000000, 1, 0x8000000000000000, 1
  amo 37, amomaxu.d, ld, 0x8000000000000000, 1, 0x8000000000000000, 0x8000000000000000
  amo 39, amoadd.w.aqrl, ld, 1, 2, 1, 3

  // rd may be rs2 or rs1.
  la a0, cell
  li a1, 10
  sd a1, 0(a0)
  li a1, 5
  amoadd.d a1, a1, (a0)
  check 41, a1, 10
  ld a1, 0(a0)
  check 42, a1, 15
  mv a3, a0
  amoadd.d a3, a1, (a3)
  check 43, a3, 15
  amoor.w x0, x0, (a0)
  mv a1, x0
  check 44, a1, 0

  // SC without a reservation, with the wrong one, twice.
  li a1, 77
  sc.w a2, a1, (a0)
  check 45, a2, 1
  addi a3, a0, 1024
  lr.w a4, (a3)
  sc.w a2, a1, (a0)
  check 46, a2, 1
  lr.w a4, (a0)
  check 47, a4, 30
  sc.w a2, a1, (a0)
  check 48, a2, 0
  lw a4, 0(a0)
  check 49, a4, 77
  sc.w a2, x0, (a0)
  check 50, a2, 1
  lr.d a4, (a0)
  li a1, 0x123456789
  sc.d a2, a1, (a0)
  check 51, a2, 0
  ld a4, 0(a0)
  check 52, a4, 0x123456789
  li a1, 0x80000000
  sw a1, 0(a0)
  lr.w a4, (a0)
  check 53, a4, 0xffffffff80000000

  // A counter by LR/SC.
  sd x0, 0(a0)
  li s0, 1000
1:
  lr.d a1, (a0)
  addi a1, a1, 1
  sc.d a2, a1, (a0)
  bnez a2, 1b
  addi s0, s0, -1
  bnez s0, 1b
  ld a1, 0(a0)
  check 54, a1, 1000
  j done
done:
test_end

  .data
  .balign 64
cell:
  .fill 2048, 1, 0
