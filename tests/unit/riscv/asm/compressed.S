// SPDX-License-Identifier: Apache-2.0
// Every instruction of the C extension for RV64 without floating point, extreme immediates included.
#include "test.h"

.macro c_check number, register, expected
  .option push
  .option norvc
  check \number, \register, \expected
  .option pop
.endm

test_begin
  la s0, data
  .option rvc
  .option norelax
  la sp, data
  c.addi4spn a0, sp, 4
  sub a0, a0, s0
  c_check 1, a0, 4
  c.addi4spn a0, sp, 1020
  sub a0, a0, s0
  c_check 2, a0, 1020
  c.addi16sp sp, 496
  sub a0, sp, s0
  c_check 3, a0, 496
  c.addi16sp sp, -512
  sub a0, sp, s0
  c_check 4, a0, -16
  la sp, data

  c.lw a0, 0(s0)
  c_check 5, a0, 0x44332211
  c.lw a0, 124(s0)
  c_check 6, a0, 0xffffffff8899aabb
  c.ld a0, 0(s0)
  c_check 7, a0, 0x8877665544332211
  c.ld a0, 248(s0)
  c_check 8, a0, 0xfedcba9876543210
  c.sw a0, 64(s0)
  lwu a1, 64(s0)
  c_check 9, a1, 0x76543210
  c.sd a0, 72(s0)
  ld a1, 72(s0)
  c_check 10, a1, 0xfedcba9876543210
  c.lwsp a5, 252(sp)
  c_check 11, a5, 0xfffffffffedcba98
  c.ldsp a5, 504(sp)
  c_check 12, a5, 0x0f0e0d0c0b0a0908
  c.swsp a0, 196(sp)
  lwu a1, 196(s0)
  c_check 13, a1, 0x76543210
  c.sdsp a0, 480(sp)
  ld a1, 480(s0)
  c_check 14, a1, 0xfedcba9876543210

  c.li a5, -32
  c_check 15, a5, -32
  c.li a5, 31
  c_check 16, a5, 31
  c.addi a5, -32
  c_check 17, a5, -1
  c.addi a5, 31
  c_check 18, a5, 30
  li t0, 0x7fffffff
  c.addiw t0, 1
  c_check 19, t0, 0xffffffff80000000
  c.addiw t0, 0
  c_check 20, t0, 0xffffffff80000000
  c.lui a3, 31
  c_check 21, a3, 0x1f000
  c.lui a3, 0xfffe0
  c_check 22, a3, 0xfffffffffffe0000
  c.nop
  .hword 0x0085  // c.addi x1, 1
  li ra, 0

  li a3, 0x8000000000000010
  c.srli a3, 4
  c_check 23, a3, 0x0800000000000001
  li a3, 0x8000000000000010
  c.srai a3, 4
  c_check 24, a3, 0xf800000000000001
  c.srai a3, 63
  c_check 25, a3, -1
  c.srli a3, 33
  c_check 26, a3, 0x7fffffff
  c.slli a3, 33
  c_check 27, a3, 0xfffffffe00000000
  li a3, 0x7f
  c.andi a3, -32
  c_check 28, a3, 0x60
  c.andi a3, 31
  c_check 29, a3, 0
  li s1, 20
  li a4, 6
  c.sub s1, a4
  c_check 30, s1, 14
  c.xor s1, a4
  c_check 31, s1, 8
  c.or s1, a4
  c_check 32, s1, 14
  c.and s1, a4
  c_check 33, s1, 6
  li s1, 0x7fffffff
  li a4, 1
  c.addw s1, a4
  c_check 34, s1, 0xffffffff80000000
  c.subw s1, a4
  c_check 35, s1, 0x7fffffff
  c.mv t3, s1
  c_check 36, t3, 0x7fffffff
  c.add t3, a4
  c_check 37, t3, 0x80000000

  li a5, 0
  c.beqz a5, 1f
  c.j wrong
1:
  c.bnez a5, wrong
  li a5, 1
  c.bnez a5, 2f
wrong:
  j fail
3:
  c.j 4f
2:
  c.beqz a5, wrong
  c.j 3b
4:
  la t3, 5f
  c.jr t3
  j fail
5:
  la t3, 6f
  c.jalr t3
7:
  j fail
6:
  la t4, 7b
  sub ra, ra, t4
  c_check 38, ra, 0
  la t3, 8f
  c.jalr t3
9:
  addi a5, a5, 1
  j 10f
8:
  ret
10:
  c_check 39, a5, 2

  // Wide and narrow instructions mixed at odd parcels.
  c.li a0, 1
  .option norvc
  addi a0, a0, 2
  .option rvc
  c.addi a0, 3
  .option norvc
  addi a0, a0, 4
  addi a0, a0, 5
  .option rvc
  c.addi a0, 6
  c_check 40, a0, 21
  .option norvc
  .balign 4
test_end

  .data
  .balign 1024
data:
  .byte 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88
  .fill 116, 1, 0
  .word 0x8899aabb
  .fill 120, 1, 0
  .dword 0xfedcba9876543210
  .fill 248, 1, 0
  .dword 0x0f0e0d0c0b0a0908
  .fill 512, 1, 0
