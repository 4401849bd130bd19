// SPDX-License-Identifier: Apache-2.0
// Machine mode: CSR instructions, identification, WARL fields, counters, and every synchronous trap
// with its mcause, mepc and mtval.
#include "test.h"

// What the handler saw of the last trap.
.macro expect_trap number, cause, value:vararg
  check \number, s2, \cause
  check \number + 1, s3, \value
.endm

test_begin
  la t5, handler
  csrw mtvec, t5
  csrr a0, mtvec
  sub a0, a0, t5
  check 1, a0, 0

  // The six CSR instructions.
  csrwi mscratch, 3
  csrr a0, mscratch
  check 2, a0, 3
  csrrci a0, mscratch, 1
  check 3, a0, 3
  csrrsi a0, mscratch, 4
  check 4, a0, 2
  csrrwi a0, mscratch, 2
  check 5, a0, 6
  li a1, 0xbad1dea
  csrrw a0, mscratch, a1
  check 6, a0, 2
  li a1, 0x1dea
  csrrc a0, mscratch, a1
  check 7, a0, 0xbad1dea
  li a1, 0xbeef
  csrrs a0, mscratch, a1
  check 8, a0, 0xbad0000
  csrr a0, mscratch
  check 9, a0, 0xbadbeef
  csrrw a0, mscratch, a0
  csrr a0, mscratch
  check 10, a0, 0xbadbeef
  csrrs x0, mscratch, x0

  // Identification: RV64IMAC, M only; not a registered core.
  csrr a0, misa
  check 11, a0, 0x8000000000001105
  csrwi misa, 0
  csrr a0, misa
  check 12, a0, 0x8000000000001105
  csrr a0, mhartid
  check 13, a0, 0
  csrr a0, mvendorid
  csrr a0, marchid
  csrr a0, mimpid
  csrr a0, mconfigptr

  // WARL: MPP stays M; mtvec has modes 0 and 1; mepc is even; mie has three bits; mip is read-only.
  csrw mstatus, x0
  csrr a0, mstatus
  check 14, a0, 0x1800
  li a1, -1
  csrw mstatus, a1
  csrwi mie, 0
  csrr a0, mstatus
  check 15, a0, 0x1888
  csrw mstatus, x0
  csrr s0, mtvec
  csrw mtvec, a1
  csrr a0, mtvec
  check 16, a0, -3
  csrw mtvec, s0
  csrw mepc, a1
  csrr a0, mepc
  check 17, a0, -2
  csrw mie, a1
  csrr a0, mie
  check 18, a0, 0x888
  csrw mie, x0
  csrw mip, a1
  csrr a0, mip
  check 19, a0, 0

  // PMP can be written, is never locked and binds nobody; no triggers; no hardware counters.
  csrw pmpaddr0, a1
  csrr a0, pmpaddr0
  check 21, a0, 0x003fffffffffffff
  csrw pmpcfg0, a1
  csrr a0, pmpcfg0
  check 22, a0, 0x1f1f1f1f1f1f1f1f
  csrw pmpcfg0, x0
  csrw tselect, a1
  csrr a0, tselect
  check 23, a0, 0
  csrr a0, tdata1
  check 24, a0, 0
  csrw mhpmcounter3, a1
  csrr a0, mhpmcounter3
  check 25, a0, 0
  csrr a0, mcountinhibit
  check 26, a0, 0

  // A written counter is what the next instruction reads; then it counts.
  csrwi minstret, 0
  csrr a0, minstret
  check 27, a0, 0
  csrwi mcycle, 0
  csrr a0, mcycle
  check 28, a0, 0
  csrr a0, minstret
  nop
  nop
  csrr a1, instret
  sub a0, a1, a0
  check 29, a0, 3
  csrr a0, cycle
  nop
  csrr a1, mcycle
  sub a0, a1, a0
  check 30, a0, 2

  // Traps. The handler leaves cause, value and pc in s2..s4 and returns to s5.
  la s5, 1f
  la s6, 2f
2:
  ecall
1:
  expect_trap 31, 11, 0
  sub s4, s4, s6
  check 33, s4, 0
  la s5, 1f
  la s6, 2f
2:
  ebreak
1:
  check 34, s2, 3
  sub s3, s3, s6
  check 35, s3, 0
  la s5, 1f
  .word 0
1:
  expect_trap 36, 2, 0
  la s5, 1f
  .word 0xffffffff
1:
  expect_trap 38, 2, 0xffffffff
  la s5, 1f
  csrr a0, 0x180   // satp: no supervisor mode
1:
  expect_trap 40, 2, 0x18002573
  la s5, 1f
  csrw medeleg, x0
1:
  check 42, s2, 2
  li s2, 0
  la s5, 1f
  csrr a0, mcounteren  // no user mode
1:
  check 20, s2, 2
  la s5, 1f
  li a0, 123
  csrrw a0, cycle, x0  // read-only
1:
  check 43, s2, 2
  check 44, a0, 123
  la s5, 1f
  csrrs a0, cycle, a0
1:
  check 45, s2, 2
  li s2, 0
  csrrs a0, cycle, x0  // a read: allowed
  check 46, s2, 0
  la s5, 1f
  sret
1:
  check 47, s2, 2
  la s5, 1f
  sfence.vma
1:
  check 48, s2, 2
  la s5, 1f
  .word 0x0000000b  // custom-0: not on this hart
1:
  check 49, s2, 2

  // Nothing at address 0x10: loads, stores, atomics and fetches fault with the address.
  li s0, 0x10
  li a0, 55
  la s5, 1f
  lw a0, 4(s0)
1:
  expect_trap 50, 5, 0x14
  check 52, a0, 55
  la s5, 1f
  sd a0, 8(s0)
1:
  expect_trap 53, 7, 0x18
  la s5, 1f
  amoadd.w a0, a0, (s0)
1:
  expect_trap 55, 7, 0x10
  check 57, a0, 55
  la s5, 1f
  lr.w a0, (s0)
1:
  expect_trap 58, 5, 0x10
  la s5, 1f
  sc.w a0, a0, (s0)
1:
  expect_trap 60, 7, 0x10
  la s5, 1f
  li ra, 0
  jalr ra, 0(s0)
1:
  expect_trap 62, 1, 0x10
  check 64, s4, 0x10
  la s6, 1b
  sub ra, ra, s6
  check 65, ra, 0  // the jump itself retired
  la s5, 1f
  li s0, 0x8000000000000000
  ld a0, 0(s0)
1:
  expect_trap 66, 5, 0x8000000000000000

  // Atomics are never split.
  la s0, data
  la s5, 1f
  addi s7, s0, 2
  amoswap.w a0, a0, (s7)
1:
  check 68, s2, 6
  sub s3, s3, s0
  check 69, s3, 2
  la s5, 1f
  addi s7, s0, 4
  lr.d a0, (s7)
1:
  check 70, s2, 4
  la s5, 1f
  sc.d a0, a0, (s7)
1:
  check 71, s2, 6

  // With C, code may start at any even address.
  step 72
  la a0, 2f
  jalr x0, 2(a0)
2:
  .hword 0
  .option rvc
  c.j 3f
  .option norvc
  .balign 4
  j fail
3:
  .balign 4

  // mret puts MPIE into MIE and sets MPIE; a trap does the reverse. MIE counts only with mie bits.
  csrw mstatus, x0
  li a0, 0x80
  csrs mstatus, a0
  la a0, 1f
  csrw mepc, a0
  mret
1:
  csrr a0, mstatus
  check 73, a0, 0x1888
  la s5, 1f
  ecall
1:
  // seen by the handler
  check 74, s8, 0x1880
  csrw mstatus, x0
  la s5, 1f
  ecall
1:
  check 75, s8, 0x1800

  // Reserved compressed encodings are illegal and mtval is their 16 bits.
  la s5, 1f
  .hword 0x8002  // c.jr x0
  .hword 0x0001
1:
  expect_trap 76, 2, 0x8002
  la s5, 1f
  .hword 0x2001  // c.addiw x0
  .hword 0x0001
1:
  expect_trap 78, 2, 0x2001
  la s5, 1f
  .hword 0x6101  // c.addi16sp sp, 0
  .hword 0x0001
1:
  expect_trap 80, 2, 0x6101
  la s5, 1f
  .hword 0x4002  // c.lwsp x0
  .hword 0x0001
1:
  check 82, s2, 2
  la s5, 1f
  .hword 0x2000  // c.fld
  .hword 0x0001
1:
  check 83, s2, 2
  la s5, 1f
  .hword 0x9002  // c.ebreak
  .hword 0x0001
1:
  check 84, s2, 3
  j done

  .balign 4
handler:
  csrr s2, mcause
  csrr s3, mtval
  csrr s4, mepc
  csrr s8, mstatus
  csrw mepc, s5
  li t5, 0x80
  csrs mstatus, t5
  li t5, 0
  mret
done:
test_end

  .data
  .balign 64
data:
  .fill 64, 1, 0
