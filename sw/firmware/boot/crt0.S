// SPDX-License-Identifier: Apache-2.0
// Start of both harts: trap vector, stack, global pointer. Hart 0 clears .bss and calls firmware_main(0); the others
// wait until it has set boot_done and woken them, then call firmware_main(hart).
  .section .text.start, "ax"
  .globl _start
_start:
  la t0, trap_entry
  csrw mtvec, t0
  csrw mie, zero
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  csrr a0, mhartid
  la sp, __stack_top
  la t0, __stack_bytes
  mul t0, t0, a0
  sub sp, sp, t0
  bnez a0, 2f
  la t0, __bss_start
  la t1, __bss_end
1:
  bgeu t0, t1, 3f
  sd zero, 0(t0)
  addi t0, t0, 8
  j 1b
2:
  // Hart 0 wakes the others with a software interrupt after its start-up steps.
  li t0, 8
  csrw mie, t0
  wfi
  la t0, boot_done
  lw t1, 0(t0)
  beqz t1, 2b
  fence r, rw
3:
  csrr a0, mhartid
  call firmware_main
4:
  wfi  // firmware_main does not return.
  j 4b

  .balign 4
trap_entry:
  csrr a0, mcause
  csrr a1, mepc
  csrr a2, mtval
  csrr a3, mhartid
  call trap
  mret

  .section .tohost, "aw", @progbits
  .balign 64
  .globl tohost
tohost: .dword 0
  .balign 64
  .globl fromhost
fromhost: .dword 0
