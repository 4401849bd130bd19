// SPDX-License-Identifier: Apache-2.0
// Start of a thread: a0, a1 are arguments of service_main, and the memory is zero. Calls of the operating system
// are those of Linux for RISC-V.
  .section .text.start, "ax"
  .globl _start
_start:
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, __stack_top
  call service_main
  .globl system_exit
system_exit:
  li a7, 93
  ecall
  j system_exit

  .globl system_write
system_write:
  li a7, 64
  ecall
  ret
