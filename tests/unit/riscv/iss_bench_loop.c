// SPDX-License-Identifier: Apache-2.0
// Guest of iss_bench: the mix on bare metal. Ends by writing 1 to tohost if the check value is the
// same in every iteration, else 3.
#include "bench_mix.h"

volatile uint64_t tohost __attribute__((section(".tohost"), aligned(64)));
static bench_data_t data;

static inline uint64_t instret(void) {
  uint64_t value;
  __asm__ volatile("csrr %0, instret" : "=r"(value));
  return value;
}

void bench_main(void) {
  bench_prepare(&data);
  bench_node_t* head = data.nodes;
  const uint16_t expected = bench_iterate(&data, &head);
  uint64_t verdict = 1;
  for (int i = 0; i < ITERATIONS; ++i) {
    if (bench_iterate(&data, &head) != expected) verdict = 3;
    data.retired = instret();
  }
  tohost = verdict;
  for (;;) {
  }
}

__asm__(
    ".section .text.start,\"ax\"\n"
    ".globl _start\n"
    "_start:\n"
    "  csrr t0, mhartid\n"
    "1:\n"
    "  bnez t0, 1b\n"  // On a machine with several harts the first one works.
    "  la sp, stack_top\n"
    "  j bench_main\n"
    ".section .bss\n"
    ".align 4\n"
    "  .skip 4096\n"
    "stack_top:\n"
    ".text\n");
