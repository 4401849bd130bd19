// SPDX-License-Identifier: Apache-2.0
// What the guests of iss_bench and cp_bench run: a CoreMark-like mix (list walk and reversal,
// 16-bit matrix product, CRC-16, a state machine over characters).
#ifndef STRETTO_TESTS_UNIT_RISCV_BENCH_MIX_H_
#define STRETTO_TESTS_UNIT_RISCV_BENCH_MIX_H_

#include <stdint.h>

typedef struct bench_node {
  struct bench_node* next;
  int32_t value;
  int32_t key;
} bench_node_t;

enum { kNodes = 48, kSize = 12, kText = 256 };

typedef struct {
  bench_node_t nodes[kNodes];
  int16_t a[kSize][kSize], b[kSize][kSize];
  int32_t c[kSize][kSize];
  uint8_t text[kText];
  uint64_t retired;  // Written by the guest: a counter CSR, read each iteration.
} bench_data_t;

__attribute__((noinline)) static uint16_t crc16(uint16_t crc, uint32_t data) {
  for (int i = 0; i < 16; ++i) {
    const uint32_t bit = (crc ^ data) & 1;
    crc >>= 1;
    data >>= 1;
    if (bit) crc ^= 0xa001;
  }
  return crc;
}

__attribute__((noinline)) static bench_node_t* reverse(bench_node_t* head) {
  bench_node_t* previous = 0;
  while (head) {
    bench_node_t* const next = head->next;
    head->next = previous;
    previous = head;
    head = next;
  }
  return previous;
}

__attribute__((noinline)) static int32_t find(const bench_node_t* head, int32_t key) {
  while (head && head->key != key) head = head->next;
  return head ? head->value : -1;
}

__attribute__((noinline)) static void multiply(bench_data_t* d) {
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) {
      int32_t sum = 0;
      for (int k = 0; k < kSize; ++k) sum += d->a[i][k] * d->b[k][j];
      d->c[i][j] = sum;
    }
  }
}

// Counts numbers, words and switches between them.
__attribute__((noinline)) static uint32_t scan(const uint8_t* text) {
  uint32_t numbers = 0, words = 0, state = 0;
  for (int i = 0; i < kText; ++i) {
    const uint8_t c = text[i];
    const uint32_t next = c >= '0' && c <= '9' ? 1 : c >= 'a' ? 2 : 0;
    if (next != state) {
      if (next == 1) ++numbers;
      if (next == 2) ++words;
    }
    state = next;
  }
  return numbers << 16 | words;
}

static void bench_prepare(bench_data_t* d) {
  for (int i = 0; i < kNodes; ++i) {
    d->nodes[i].next = i + 1 < kNodes ? &d->nodes[i + 1] : 0;
    d->nodes[i].value = i * 7;
    d->nodes[i].key = (i * 29) % kNodes;
  }
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) {
      d->a[i][j] = (int16_t)(i + j);
      d->b[i][j] = (int16_t)(i - j);
    }
  }
  for (int i = 0; i < kText; ++i) d->text[i] = (uint8_t)("12 ab,3c45 xyz;"[(i * 7) % 15]);
}

// The check value is the same in every iteration.
static uint16_t bench_iterate(bench_data_t* d, bench_node_t** head) {
  uint16_t crc = 0;
  for (int key = 0; key < kNodes; key += 3) crc = crc16(crc, (uint32_t)find(*head, key));
  *head = reverse(reverse(*head));
  multiply(d);
  for (int i = 0; i < kSize; ++i) crc = crc16(crc, (uint32_t)d->c[i][i]);
  return crc16(crc, scan(d->text));
}

#endif  // STRETTO_TESTS_UNIT_RISCV_BENCH_MIX_H_
