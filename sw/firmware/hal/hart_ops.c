// SPDX-License-Identifier: Apache-2.0
// See hart_ops.h.
#include "sw/firmware/hal/hart_ops.h"

#include "sw/firmware/hal/mmio.h"

static void store_words(uint64_t address, const void* data, uint64_t bytes) {
  const uint64_t* words = data;
  for (uint64_t i = 0; i < bytes / 8; ++i) mmio_write64(address + 8 * i, words[i]);
}

// To a device: what it will read is in memory before.
static void write_device(void* context, uint64_t address, const void* data, uint64_t bytes) {
  (void)context;
  fence_release();
  store_words(address, data, bytes);
}

static void store_bytes(void* context, uint64_t address, const void* data, uint64_t bytes) {
  (void)context;
  store_words(address, data, bytes);
}

static void store(void* context, uint64_t address, uint64_t value) {
  (void)context;
  mmio_write64(address, value);
}

// The last word first: it is the one that tells that a completion is there, all of it. A processor
// without acquire loads the words one after the other while the NIC writes.
static void read_bytes(void* context, uint64_t address, void* data, uint64_t bytes) {
  (void)context;
  uint64_t* words = data;
  fence_acquire();
  for (uint64_t i = bytes / 8; i-- > 0;) words[i] = mmio_read64(address + 8 * i);
}

static uint64_t wait_word(void* context, uint64_t address, stretto_wait_t condition,
                          uint64_t value) {
  (void)context;
  for (;;) {
    fence_acquire();
    const uint64_t word = mmio_read64(address);
    if (condition == STRETTO_WAIT_NOT_EQUAL ? word != value : word >= value) return word;
  }
}

const stretto_host_ops_t kHartOps = {.write = write_device,
                                     .wait = wait_word,
                                     .read = read_bytes,
                                     .store = store,
                                     .store_bytes = store_bytes};
