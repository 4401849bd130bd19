// SPDX-License-Identifier: Apache-2.0
// Bare-metal program of the command processors of two servers: each drives the NIC of its server by
// the verbs library, without a host. The first reads memory of the second, adds to a word there, and
// writes to it; both look at what has come. `tohost`: 1, or what was wrong.
#include "sw/firmware/hal/end_run.h"
#include "sw/firmware/hal/hart_ops.h"
#include "sw/firmware/hal/intc.h"
#include "sw/firmware/hal/mmio.h"
#include "sw/net/verbs.h"

// Offsets in the memory of the GPU.
#define RELEASE 0x100000ull
#define COMPLETIONS 0x110000ull
#define SEND_RING 0x120000ull
#define RECEIVE_RING 0x130000ull
#define HEAP 0x200000ull  // Source, destination, then words.
#define BYTES 8192u       // Two packets.
#define DESTINATION (HEAP + BYTES)
#define FLAG (HEAP + 2 * BYTES)
#define COUNT (FLAG + 8)
#define HEAP_BYTES (2 * BYTES + 64)
#define RING_LOG2 4
#define ADDED 5u

enum { WRONG_VERBS = 1, WRONG_STATUS, WRONG_DATA, WRONG_COUNT };

volatile uint32_t boot_done;  // Read by crt0; hart 1 stays asleep.

void trap(uint64_t cause, uint64_t pc, uint64_t value, uint64_t hart) {
  (void)pc, (void)value, (void)hart;
  end_run(((100 + cause) << 1) | 1);
}

static void expect(int holds, uint64_t wrong) {
  if (!holds) end_run(wrong << 1 | 1);
}
static void must(stretto_nic_result_t result) {
  expect(result == STRETTO_NIC_RESULT_OK, WRONG_VERBS);
}

static stretto_nic_t nic;
static stretto_nic_queue_t queue;
static stretto_nic_pair_t pair;
static uint32_t server;

static uint64_t at(uint32_t of, uint64_t offset) {
  return (uint64_t)(of + 1) << STRETTO_NODE_SHIFT | offset;
}
static uint64_t content(uint32_t of, uint32_t word) {
  return (of + 1) * 0x9e3779b97f4a7c15ull ^ word;
}

static void open_nic(void) {
  uint32_t key = 0;
  must(stretto_nic_init(&nic, &kHartOps, server, at(server, RELEASE)));
  must(stretto_nic_queue_init(&queue, &nic, 0, at(server, COMPLETIONS), RING_LOG2 + 2));
  must(stretto_nic_pair_init(&pair, &nic, 1, at(server, SEND_RING), at(server, RECEIVE_RING),
                             RING_LOG2, &queue, 1));
  must(stretto_nic_connect(&pair, 1 - server, 1));
  must(stretto_nic_register(&nic, 0, at(server, HEAP), HEAP_BYTES,
                            STRETTO_NIC_LOCAL_WRITE | STRETTO_NIC_REMOTE_READ |
                                STRETTO_NIC_REMOTE_WRITE | STRETTO_NIC_REMOTE_ATOMIC,
                            &key));
  expect(key == stretto_nic_key(0, 0), WRONG_VERBS);  // So the other one knows it.
}

static uint64_t ask(uint8_t opcode, uint64_t local, uint64_t remote, uint32_t bytes,
                    uint64_t operand, uint8_t flags) {
  const stretto_nic_work_entry_t entry = {.opcode = opcode,
                                          .flags = flags,
                                          .local_address = at(server, local),
                                          .remote_address = at(1 - server, remote),
                                          .length = bytes,
                                          .local_key = stretto_nic_key(0, 0),
                                          .remote_key = stretto_nic_key(0, 0),
                                          .operand = operand};
  stretto_nic_completion_t completion;
  must(stretto_nic_post(&pair, &entry));
  stretto_nic_wait(&queue, &completion);
  expect(completion.status == STRETTO_NIC_OK, WRONG_STATUS);
  return completion.value;
}

static void raise_flag(uint64_t value) {
  ask(STRETTO_NIC_PUT, HEAP, FLAG, 8, value, STRETTO_NIC_INLINE);
}
static void wait_flag(uint64_t value) {
  kHartOps.wait(0, at(server, FLAG), STRETTO_WAIT_AT_LEAST, value);
}

static void look(uint32_t sender) {
  fence_acquire();
  for (uint32_t i = 0; i < BYTES / 8; ++i)
    expect(mmio_read64(at(server, DESTINATION) + 8 * i) == content(sender, i), WRONG_DATA);
}

static void first(void) {
  wait_flag(1);
  ask(STRETTO_NIC_GET, DESTINATION, HEAP, BYTES, 0, 0);
  look(1);
  for (uint32_t i = 0; i < 3; ++i)
    expect(ask(STRETTO_NIC_FETCH_ADD, DESTINATION, COUNT, 8, ADDED, 0) == i * ADDED, WRONG_COUNT);
  ask(STRETTO_NIC_PUT, HEAP, DESTINATION, BYTES, 0, 0);
  raise_flag(1);
  wait_flag(2);
  // The flag has come, its acknowledgement is on the way: a run ends when nothing is.
  for (uint32_t i = 0; i < 2; ++i) ask(STRETTO_NIC_GET, DESTINATION, HEAP, 8, 0, 0);
  end_run(1);
}

static void second(void) {
  raise_flag(1);
  wait_flag(1);
  look(0);
  expect(mmio_read64(at(server, COUNT)) == 3 * ADDED, WRONG_COUNT);
  raise_flag(2);
}

void firmware_main(uint64_t hart) {
  while (hart != 0) wait_for_interrupt();
  server = intc_node() - 1;
  for (uint32_t i = 0; i < BYTES / 8; ++i)
    mmio_write64(at(server, HEAP) + 8 * i, content(server, i));
  fence_release();
  open_nic();
  if (server == 0) first();
  second();
  for (;;) wait_for_interrupt();
}
