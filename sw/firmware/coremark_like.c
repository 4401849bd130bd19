// SPDX-License-Identifier: Apache-2.0
// Bare-metal benchmark of the instruction-set simulator: the kinds of work of CoreMark (linked
// list, integer matrix, state machine, CRC), written for this project. The data lie in GPU memory,
// so loads and stores go through the L1; without a GPU in the CP's SRAM. Every iteration reads the
// retired-instruction counter. Prints instructions and checksum, then tohost = 1.
#include "sw/firmware/hal/end_run.h"
#include "sw/firmware/hal/intc.h"
#include "sw/firmware/hal/uart.h"

#ifndef ITERATIONS
#define ITERATIONS 2000
#endif

#define LIST_NODES 64
#define MATRIX 12
#define TEXT_BYTES 256
#define DATA_OFFSET 0x200000

volatile uint32_t boot_done;

typedef struct node {
  struct node* next;
  uint32_t key;
  uint32_t value;
} node_t;

typedef struct data {
  node_t nodes[LIST_NODES];
  int32_t a[MATRIX][MATRIX];
  int32_t b[MATRIX][MATRIX];
  int32_t c[MATRIX][MATRIX];
  uint8_t text[TEXT_BYTES];
} data_t;

static data_t sram_data;

void trap(uint64_t cause, uint64_t pc, uint64_t value, uint64_t hart) {
  (void)pc, (void)value, (void)hart;
  end_run(((100 + cause) << 1) | 1);
}

static uint64_t retired(void) {
  uint64_t value;
  __asm__ volatile("csrr %0, instret" : "=r"(value));
  return value;
}

static uint16_t crc16(uint16_t crc, uint32_t word) {
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned bit = (crc ^ word) & 1;
    crc = (uint16_t)(crc >> 1);
    if (bit) crc ^= 0xA001;
    word >>= 1;
  }
  return crc;
}

static void set_up(data_t* d) {
  uint32_t random = 12345;
  for (unsigned i = 0; i < LIST_NODES; ++i) {
    random = random * 1103515245u + 12345;
    d->nodes[i] = (node_t){
        .next = i + 1 < LIST_NODES ? &d->nodes[i + 1] : 0, .key = random >> 16, .value = i};
  }
  for (unsigned i = 0; i < MATRIX; ++i) {
    for (unsigned j = 0; j < MATRIX; ++j) {
      d->a[i][j] = (int32_t)(i * 7 + j);
      d->b[i][j] = (int32_t)(i ^ j);
    }
  }
  for (unsigned i = 0; i < TEXT_BYTES; ++i) d->text[i] = (uint8_t)("5012,+3.7e2,-1x,0.05,"[i % 21]);
}

static node_t* reverse(node_t* list) {
  node_t* reversed = 0;
  while (list != 0) {
    node_t* next = list->next;
    list->next = reversed;
    reversed = list;
    list = next;
  }
  return reversed;
}

static uint32_t find_largest(const node_t* list) {
  uint32_t largest = 0;
  for (; list != 0; list = list->next) {
    if (list->key > largest) largest = list->key;
  }
  return largest;
}

static uint32_t multiply(data_t* d) {
  uint32_t sum = 0;
  for (unsigned i = 0; i < MATRIX; ++i) {
    for (unsigned j = 0; j < MATRIX; ++j) {
      int32_t dot = 0;
      for (unsigned k = 0; k < MATRIX; ++k) dot += d->a[i][k] * d->b[k][j];
      d->c[i][j] = dot;
      sum += (uint32_t)dot;
    }
  }
  d->a[0][0] += 1;
  return sum;
}

// Counts the numbers in a text with a small state machine.
static uint32_t scan(const uint8_t* text) {
  enum { kStart, kInteger, kFraction, kExponent, kInvalid } state = kStart;
  uint32_t counts[5] = {0, 0, 0, 0, 0};
  for (unsigned i = 0; i < TEXT_BYTES; ++i) {
    const uint8_t c = text[i];
    const int digit = c >= '0' && c <= '9';
    if (c == ',') {
      ++counts[state];
      state = kStart;
    } else if (state == kStart) {
      state = digit || c == '+' || c == '-' ? kInteger : kInvalid;
    } else if (state == kInteger) {
      state = digit ? kInteger : c == '.' ? kFraction : kInvalid;
    } else if (state == kFraction) {
      state = digit ? kFraction : c == 'e' ? kExponent : kInvalid;
    } else if (!digit) {
      state = kInvalid;
    }
  }
  return counts[kInteger] + 16 * counts[kFraction] + 256 * counts[kExponent] +
         4096 * counts[kInvalid];
}

void firmware_main(uint64_t hart) {
  if (hart != 0) {
    for (;;) wait_for_interrupt();
  }
  const unsigned node = intc_node();
  data_t* d = node == 0
                  ? &sram_data
                  : (data_t*)(uintptr_t)(((uint64_t)node << STRETTO_NODE_SHIFT) + DATA_OFFSET);
  set_up(d);
  node_t* list = &d->nodes[0];
  uint16_t crc = 0;
  const uint64_t begin = retired();
  uint64_t instructions = 0;
  for (uint32_t i = 0; i < ITERATIONS; ++i) {
    list = reverse(list);
    crc = crc16(crc, find_largest(list));
    crc = crc16(crc, multiply(d));
    crc = crc16(crc, scan(d->text));
    instructions = retired() - begin;
  }
  uart_text("coremark_like: ");
  uart_decimal(instructions);
  uart_text(" instructions, checksum ");
  uart_hex(crc);
  uart_text("\n");
  end_run(1);
}
