// SPDX-License-Identifier: Apache-2.0
// Firmware that polls a word of GPU 0's memory for ever: every atomic is answered, nothing moves.
  .section .text.start, "ax"
  .globl _start
_start:
  li a0, 1
  slli a0, a0, 40  // Node 1.
1:
  amoadd.d a1, zero, (a0)
  beqz a1, 1b
  j 1b
  .section .tohost, "aw"
  .balign 64
  .globl tohost
tohost:
  .dword 0
