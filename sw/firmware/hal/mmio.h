// SPDX-License-Identifier: Apache-2.0
// Access to registers and shared memory, and the few instructions that C has no words for. The only
// place with volatile accesses and inline assembly; a unit test on the host (STRETTO_HOST_TEST)
// replaces it by mocks.
//
// Acquire drops lines of this hart's L1, release writes dirty ones back: `fence` with r in its
// second set and w in its first set do so on this processor. Stores to other nodes (peers, host)
// pass the L1 and are posted.
#ifndef STRETTO_SW_FIRMWARE_HAL_MMIO_H_
#define STRETTO_SW_FIRMWARE_HAL_MMIO_H_

#include <stdint.h>

#include "sw/include/formats/address_map.h"
#include "sw/include/formats/queue.h"
#include "sw/include/regs/field.h"

// What every call that can fail returns: STRETTO_OK or a negative status.
typedef stretto_status_t fw_result_t;
#define FW_MUST_CHECK __attribute__((warn_unused_result))
#define FW_NOINIT __attribute__((section(".noinit")))  // Not cleared at boot.
// Likewise, and perhaps behind L1s that are not coherent: one hart alone uses it, or hands it over.
#define FW_PRIVATE __attribute__((section(".private")))

#define FW_MIE_SOFTWARE (1u << 3)
#define FW_MIE_TIMER (1u << 7)
#define FW_MIE_EXTERNAL (1u << 11)

#ifdef STRETTO_HOST_TEST

#ifdef __cplusplus
extern "C" {
#endif
uint64_t mock_mmio_read(uint64_t address, unsigned bytes);
void mock_mmio_write(uint64_t address, unsigned bytes, uint64_t value);
#ifdef __cplusplus
}
#endif

static inline uint64_t mmio_read64(uint64_t address) { return mock_mmio_read(address, 8); }
static inline uint32_t mmio_read32(uint64_t address) {
  return (uint32_t)mock_mmio_read(address, 4);
}
static inline void mmio_write64(uint64_t address, uint64_t value) {
  mock_mmio_write(address, 8, value);
}
static inline void mmio_write32(uint64_t address, uint32_t value) {
  mock_mmio_write(address, 4, value);
}
static inline void fence_acquire(void) {}
static inline void fence_release(void) {}
static inline void fence_private(void) {}
static inline void wait_for_interrupt(void) {}
static inline void set_interrupt_enable(uint64_t mask) { (void)mask; }
static inline int interrupt_pending(void) { return 1; }
static inline int line_pending(void) { return 1; }
static inline uint64_t time_ns(void) { return 0; }

#else

static inline uint64_t mmio_read64(uint64_t address) {
  return *(volatile uint64_t*)(uintptr_t)address;
}
static inline uint32_t mmio_read32(uint64_t address) {
  return *(volatile uint32_t*)(uintptr_t)address;
}
static inline void mmio_write64(uint64_t address, uint64_t value) {
  *(volatile uint64_t*)(uintptr_t)address = value;
}
static inline void mmio_write32(uint64_t address, uint32_t value) {
  *(volatile uint32_t*)(uintptr_t)address = value;
}
static inline void fence_acquire(void) { __asm__ volatile("fence r, rw" : : : "memory"); }
static inline void fence_release(void) { __asm__ volatile("fence rw, w" : : : "memory"); }
// Hands over FW_PRIVATE, or takes it over: it reaches lines that other fences may leave alone.
static inline void fence_private(void) {
#ifdef FIRMWARE_PRIVATE
  __asm__ volatile("fence iorw, iorw" : : : "memory");
#endif
}
// Sleeps until an enabled interrupt is pending; interrupts are polled, never taken (mstatus.MIE
// stays clear).
static inline void wait_for_interrupt(void) { __asm__ volatile("wfi" : : : "memory"); }
static inline void set_interrupt_enable(uint64_t mask) {
  __asm__ volatile("csrw mie, %0" : : "r"(mask));
}
// Whether wait_for_interrupt() would return at once, the timer left aside.
static inline int interrupt_pending(void) {
  uint64_t pending;
  __asm__ volatile("csrr %0, mip" : "=r"(pending));
  return (pending & (FW_MIE_EXTERNAL | FW_MIE_SOFTWARE)) != 0;
}
// Whether a line of the interrupt controller waits to be claimed.
static inline int line_pending(void) {
  uint64_t pending;
  __asm__ volatile("csrr %0, mip" : "=r"(pending));
  return (pending & FW_MIE_EXTERNAL) != 0;
}
// What the CLINT's mtime says, read in a cycle.
static inline uint64_t time_ns(void) {
  uint64_t now;
  __asm__ volatile("csrr %0, time" : "=r"(now));
  return now;
}

#endif  // STRETTO_HOST_TEST

#endif  // STRETTO_SW_FIRMWARE_HAL_MMIO_H_
