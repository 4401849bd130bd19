// SPDX-License-Identifier: Apache-2.0
// Thread of the host that serves command queues of work-groups (ComP-Net's dGPU design, CN-HOST-01):
// the C of the command processor's network service (sw/net/queue_service.h), on a core of the host.
// Each thread has an image of its own and shares host memory with the program that starts and stops
// it (stretto_shmem_control_t).
#include <stddef.h>

#include "sw/include/formats/shmem_queue.h"
#include "sw/net/queue_service.h"

#define FAILED_EXIT 1

// Of the machine's operating system (start.S), with the numbers of Linux.
__attribute__((noreturn)) void system_exit(int status);
void system_write(int file, const char* text, size_t bytes);

// Queues in GPU or host memory, rings in host memory.
static bool is_host_memory(uint64_t address, uint64_t bytes) {
  return address >> STRETTO_NODE_SHIFT == STRETTO_NODE_HOST &&
         bytes <= STRETTO_OFFSET_MASK + 1ull - (address & STRETTO_OFFSET_MASK);
}
static bool is_queue_memory(uint64_t address, uint64_t bytes) {
  const uint64_t node = address >> STRETTO_NODE_SHIFT, offset = address & STRETTO_OFFSET_MASK;
  if (is_host_memory(address, bytes)) return true;
  return node >= 1 && node <= STRETTO_MAX_GPUS && offset < STRETTO_GPU_MEMORY_LIMIT &&
         bytes <= STRETTO_GPU_MEMORY_LIMIT - offset;
}

static char line[256];
static size_t used;

static void text(const char* words) {
  while (*words != '\0' && used < sizeof line) line[used++] = *words++;
}

static void number(uint64_t value, unsigned base) {
  char digits[20];
  unsigned count = 0;
  do {
    digits[count++] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  while (count != 0 && used < sizeof line) line[used++] = digits[--count];
}

static void failed(const queue_service_failure_t* failure) {
  static const char* const names[] = {"operation", "put", "get", "fetch-add", "compare-swap"};
  if (failure == NULL) {
    text("something that cannot be has happened");
  } else {
    text("work-group ");
    number(failure->work_group, 10);
    text(": ");
    text(names[failure->operation < sizeof names / sizeof names[0] ? failure->operation : 0]);
    text(" of ");
    number(failure->bytes, 10);
    text(" bytes, PE ");
    number(failure->pe, 10);
    text(" at 0x");
    number(failure->remote, 16);
    text(failure->is_value ? ", value 0x" : ", here at 0x");
    number(failure->local, 16);
    text(": ");
    text(failure->why);
  }
  system_write(2, line, used);
  system_exit(FAILED_EXIT);
}

static const queue_service_owner_t kOwner = {is_queue_memory, is_host_memory, failed};

// Returns the exit status.
int service_main(uint64_t control, unsigned thread) {
  const uint64_t run = control + offsetof(stretto_shmem_control_t, run);
  const uint64_t state = control + offsetof(stretto_shmem_control_t, state) + 8 * thread;
  fw_result_t result = queue_service_open(&kOwner, mmio_read64(run));
  if (result == STRETTO_OK && thread >= queue_service_threads()) result = STRETTO_ERROR_ARGUMENT;
  if (result == STRETTO_OK) result = queue_service_attach(thread);
  mmio_write64(state, result == STRETTO_OK ? STRETTO_SHMEM_SERVES : (uint64_t)(int64_t)result);
  if (result != STRETTO_OK) return FAILED_EXIT;
  while (mmio_read64(run) != 0 || !queue_service_is_idle(thread)) queue_service_round(thread);
  queue_service_write_counts(thread);
  mmio_write64(state, STRETTO_SHMEM_STOPPED);
  return 0;
}
