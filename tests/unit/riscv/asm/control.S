// SPDX-License-Identifier: Apache-2.0
// Branches, jumps, loads, stores (aligned and not), fence.i and code that crosses a page.
#include "test.h"

.macro taken number, branch, a, b
  step \number
  li a0, \a
  li a1, \b
  \branch a0, a1, .Ltaken\@
  j fail
.Ltaken\@:
.endm

.macro not_taken number, branch, a, b
  step \number
  li a0, \a
  li a1, \b
  \branch a0, a1, .Lwrong\@
  j .Lright\@
.Lwrong\@:
  j fail
.Lright\@:
.endm

test_begin
  taken 1, beq, 5, 5
  not_taken 2, beq, 5, 6
  taken 3, bne, 5, 6
  not_taken 4, bne, -1, -1
  taken 5, blt, -1, 0
  not_taken 6, blt, 0, -1
  not_taken 7, blt, 3, 3
  taken 8, bge, 0, -1
  taken 9, bge, 3, 3
  not_taken 10, bge, -1, 0
  taken 11, bltu, 0, -1
  not_taken 12, bltu, -1, 0
  not_taken 13, bltu, 3, 3
  taken 14, bgeu, -1, 0
  taken 15, bgeu, 3, 3
  not_taken 16, bgeu, 0, -1

  // A backward branch, 1000 times round.
  li a0, 1000
  li a1, 0
1:
  addi a1, a1, 3
  addi a0, a0, -1
  bnez a0, 1b
  check 17, a1, 3000

  // jal and jalr link; jalr clears bit 0; rd may be rs1; both may go backwards.
  step 18
  jal a0, 1f
  j fail
2:
  j 3f
1:
  jal x0, 2b
3:
  la a1, 4f
  jalr a2, 1(a1)
5:
  j fail
4:
  la a3, 5b
  sub a2, a2, a3
  check 19, a2, 0
  la a1, 6f
  jalr a1, 0(a1)
7:
  j fail
6:
  la a3, 7b
  sub a1, a1, a3
  check 20, a1, 0

  // Calls of one function from two places: an indirect jump with changing targets.
  li a0, 0
  li s0, 10
1:
  call add_seven
  call add_seven
  addi s0, s0, -1
  bnez s0, 1b
  check 21, a0, 140

  // Loads extend as they say.
  la s0, data
  lb a0, 7(s0)
  check 22, a0, 0xffffffffffffff88
  lbu a0, 7(s0)
  check 23, a0, 0x88
  lh a0, 6(s0)
  check 24, a0, 0xffffffffffff8877
  lhu a0, 6(s0)
  check 25, a0, 0x8877
  lw a0, 4(s0)
  check 26, a0, 0xffffffff88776655
  lwu a0, 4(s0)
  check 27, a0, 0x88776655
  ld a0, 0(s0)
  check 28, a0, 0x8877665544332211
  addi s1, s0, 16
  ld a0, -16(s1)
  check 29, a0, 0x8877665544332211

  // Stores write their size and nothing else.
  li a0, 0x0123456789abcdef
  sb a0, 16(s0)
  ld a1, 16(s0)
  check 30, a1, 0xffffffffffffffef
  sh a0, 18(s0)
  ld a1, 16(s0)
  check 31, a1, 0xffffffffcdefffef
  sw a0, 20(s0)
  ld a1, 16(s0)
  check 32, a1, 0x89abcdefcdefffef
  sd a0, 16(s0)
  ld a1, 16(s0)
  check 33, a1, 0x0123456789abcdef
  addi s1, s0, 40
  sw a0, -16(s1)
  lwu a1, 24(s0)
  check 34, a1, 0x89abcdef

  // RAM splits misaligned accesses.
  lh a0, 1(s0)
  check 35, a0, 0x3322
  lw a0, 3(s0)
  check 36, a0, 0x77665544
  lwu a0, 5(s0)
  check 37, a0, 0xff887766
  ld a0, 1(s0)
  check 38, a0, 0xff88776655443322
  li a0, 0x1111222233334444
  sd a0, 33(s0)
  ld a1, 33(s0)
  check 39, a1, 0x1111222233334444
  lbu a1, 32(s0)
  check 40, a1, 0xff
  lbu a1, 41(s0)
  check 41, a1, 0xff
  sw a0, 49(s0)
  lw a1, 49(s0)
  check 42, a1, 0x33334444
  sh a0, 55(s0)
  lhu a1, 55(s0)
  check 43, a1, 0x4444

  // A load into x0 has no effect on it.
  ld x0, 0(s0)
  mv a0, x0
  check 44, a0, 0

  // fence variants do nothing here; fence.i makes new code visible (a1 + 1 becomes a1 + 2).
  fence
  fence r, w
  fence.tso
  .word 0x0100000f  // pause
  li a1, 0
  call patched
  check 45, a1, 1
  la a2, patched
  la a3, patch
  lw a4, 0(a3)
  sw a4, 0(a2)
  fence.i
  call patched
  check 46, a1, 3
  // And back, while the block of the caller is the one that changes code.
  lw a4, 4(a3)
  sw a4, 0(a2)
  fence.i
  call patched
  check 47, a1, 4
  // A store to the instruction after next, in its own block.
  la a2, 1f
  lw a4, 0(a3)
  sw a4, 0(a2)
  fence.i
1:
  addi a1, a1, 1
  check 48, a1, 6

  // A 4-byte instruction across a page boundary.
  step 49
  li a1, 0
  j crossing
  .balign 4096
  .skip 4094
  .option norelax
crossing:
  addi a1, a1, 77
  .balign 4
  check 49, a1, 77
  j done

  .balign 4
add_seven:
  addi a0, a0, 7
  ret
patched:
  addi a1, a1, 1
  ret
patch:
  addi a1, a1, 2
  addi a1, a1, 1
done:
test_end

  .data
  .balign 64
data:
  .byte 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88
  .fill 120, 1, 0xff
