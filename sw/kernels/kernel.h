// SPDX-License-Identifier: Apache-2.0
// What every kernel source shares: the descriptor in `.stretto.kernel` and the shape of an entry
// point.
//
// STRETTO_KERNEL(name, ...) declares the entry `name` (no arguments, never returns: it ends with
// tile_end) and defines its descriptor under the symbol `name.kd`; the remaining arguments are
// designated initialisers of the descriptor. Entries use neither stack nor globals, so that a
// wavefront needs no start-up code.
#ifndef STRETTO_SW_KERNELS_KERNEL_H_
#define STRETTO_SW_KERNELS_KERNEL_H_

#include "sw/include/formats/code_object.h"
#include "sw/include/formats/machine_types.h"
#include "sw/include/tile.h"

#define STRETTO_KERNEL(name, ...)                                            \
  __attribute__((noreturn, used)) void name(void);                           \
  extern stretto_kernel_descriptor_t name##_descriptor __asm__(#name ".kd"); \
  __attribute__((section(".stretto.kernel"), used, aligned(64)))             \
  stretto_kernel_descriptor_t name##_descriptor = {                          \
      .magic = STRETTO_KERNEL_MAGIC, .entry = (uint64_t)(uintptr_t)name, __VA_ARGS__}

#define KERNEL_INLINE static inline __attribute__((always_inline))

KERNEL_INLINE uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

#endif  // STRETTO_SW_KERNELS_KERNEL_H_
