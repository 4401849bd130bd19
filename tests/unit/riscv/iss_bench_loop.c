// SPDX-License-Identifier: Apache-2.0
// Guest of iss_bench: the three kernels of a CoreMark-like mix (list walk with reversal, small
// matrix product, CRC-16) with loads, stores, calls and one counter read an iteration. Ends by
// writing 1 to tohost if the check value is the same in every iteration, else 3.
#include <stdint.h>

volatile uint64_t tohost __attribute__((section(".tohost"), aligned(64)));

typedef struct node {
  struct node *next;
  int32_t value;
  int32_t key;
} node_t;

enum { kNodes = 48, kSize = 12 };
static node_t nodes[kNodes];
static int16_t matrix_a[kSize][kSize], matrix_b[kSize][kSize];
static int32_t matrix_c[kSize][kSize];
uint64_t retired_last;

static inline uint64_t instret(void) {
  uint64_t value;
  __asm__ volatile("csrr %0, instret" : "=r"(value));
  return value;
}

__attribute__((noinline)) static uint16_t crc16(uint16_t crc, uint32_t data) {
  for (int i = 0; i < 16; ++i) {
    const uint32_t bit = (crc ^ data) & 1;
    crc >>= 1;
    data >>= 1;
    if (bit) crc ^= 0xa001;
  }
  return crc;
}

__attribute__((noinline)) static node_t *list_reverse(node_t *head) {
  node_t *previous = 0;
  while (head) {
    node_t *const next = head->next;
    head->next = previous;
    previous = head;
    head = next;
  }
  return previous;
}

__attribute__((noinline)) static int32_t list_find(const node_t *head, int32_t key) {
  while (head && head->key != key) head = head->next;
  return head ? head->value : -1;
}

__attribute__((noinline)) static void multiply(void) {
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) {
      int32_t sum = 0;
      for (int k = 0; k < kSize; ++k) sum += matrix_a[i][k] * matrix_b[k][j];
      matrix_c[i][j] = sum;
    }
  }
}

static void prepare(void) {
  for (int i = 0; i < kNodes; ++i) {
    nodes[i].next = i + 1 < kNodes ? &nodes[i + 1] : 0;
    nodes[i].value = i * 7;
    nodes[i].key = (i * 29) % kNodes;
  }
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) {
      matrix_a[i][j] = (int16_t)(i + j);
      matrix_b[i][j] = (int16_t)(i - j);
    }
  }
}

static uint16_t iterate(node_t **head) {
  uint16_t crc = 0;
  for (int key = 0; key < kNodes; key += 3) crc = crc16(crc, (uint32_t)list_find(*head, key));
  *head = list_reverse(list_reverse(*head));
  multiply();
  for (int i = 0; i < kSize; ++i) crc = crc16(crc, (uint32_t)matrix_c[i][i]);
  return crc;
}

void bench_main(void) {
  prepare();
  node_t *head = nodes;
  const uint16_t expected = iterate(&head);
  uint64_t verdict = 1;
  for (int i = 0; i < ITERATIONS; ++i) {
    if (iterate(&head) != expected) verdict = 3;
    retired_last = instret();
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
