// SPDX-License-Identifier: Apache-2.0
// Frame of an ISS test program: numbered checks, then a report to tohost: 1 = all passed,
// (n << 1) | 1 = check n failed. s11 holds the number; t5 and t6 belong to the macros.

.macro test_begin
  .section .text.start, "ax"
  .globl _start
  .option norvc
_start:
  csrr t5, mhartid
1:
  bnez t5, 1b  // One hart is under test; on a machine with more the others wait here.
  la t5, unexpected_trap
  csrw mtvec, t5
  li s11, 0
.endm

.macro test_end
  li t5, 1
  j report
  .balign 4
unexpected_trap:
fail:
  slli t5, s11, 1
  ori t5, t5, 1
  bnez s11, report
  li t5, 0x7fff  // trapped before the first check
report:
  la t6, tohost
  sd t5, 0(t6)
hang:
  j hang
  .section .tohost, "aw"
  .balign 64
  .globl tohost
tohost:
  .dword 0
.endm

// Check that a register holds a value.
.macro check number, register, expected
  li s11, \number
  li t6, \expected
  beq \register, t6, .Lok\@
  j fail
.Lok\@:
.endm

// Starts a check that passes by going where it should.
.macro step number
  li s11, \number
.endm
