// SPDX-License-Identifier: Apache-2.0
// Which bits of a value are the same whenever a kernel comes by: constants that it works out, and the
// zeros that shifts, masks and products leave.
#ifndef STRETTO_SW_TRANSFORM_KNOWN_BITS_H_
#define STRETTO_SW_TRANSFORM_KNOWN_BITS_H_

#include <bit>
#include <cstdint>

#include "sw/transform/instruction.h"

namespace stretto::transform {

struct KnownBits {
  uint64_t zeros = 0, ones = 0;  // No bit is in both.

  static KnownBits constant(uint64_t value) { return {~value, value}; }
  // An instruction's result; Kind::compute or Kind::upper.
  static KnownBits computed(const Instruction& i, KnownBits a, KnownBits b);

  bool operator==(const KnownBits&) const = default;
  bool is_constant() const { return (zeros | ones) == ~uint64_t{0}; }
  // It is a multiple of 2 to this power.
  unsigned low_zeros() const { return static_cast<unsigned>(std::countr_one(zeros)); }
  // By two ways.
  KnownBits join(const KnownBits& other) const { return {zeros & other.zeros, ones & other.ones}; }
};

}  // namespace stretto::transform

#endif  // STRETTO_SW_TRANSFORM_KNOWN_BITS_H_
