// SPDX-License-Identifier: Apache-2.0
// Scalar registers as bits, and which of them a call may change.
#ifndef STRETTO_SW_TRANSFORM_REGISTERS_H_
#define STRETTO_SW_TRANSFORM_REGISTERS_H_

#include <cstdint>

namespace stretto::transform {

constexpr uint32_t kCallerSaved = 0xF003FCE2;  // ra, t0-t2, a0-a7, t3-t6.
constexpr uint32_t kParameters = 0x0003FC00;   // a0-a7

constexpr uint64_t bit(unsigned reg) { return uint64_t{1} << reg; }

template <class F>
void each_bit(uint64_t bits, F&& f) {
  for (; bits != 0; bits &= bits - 1) f(static_cast<unsigned>(__builtin_ctzll(bits)));
}

}  // namespace stretto::transform

#endif  // STRETTO_SW_TRANSFORM_REGISTERS_H_
