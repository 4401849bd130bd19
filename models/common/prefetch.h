// SPDX-License-Identifier: Apache-2.0
// Asks for what is needed soon, to be written, in the host's second-level cache. A miss of all
// private caches costs the time of hundreds of instructions, and they overlap only when they are
// asked for together.
#ifndef STRETTO_MODELS_COMMON_PREFETCH_H_
#define STRETTO_MODELS_COMMON_PREFETCH_H_

#include <cstddef>

namespace stretto {

inline void prefetch_line(const void* line) {
  __builtin_prefetch(line, 1, 2);
  asm volatile(
      "");  // GCC takes a function that only prefetches for one without effects, and drops its calls.
}

inline void prefetch_lines(const void* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 64) prefetch_line(static_cast<const char*>(from) + at);
}

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_PREFETCH_H_
