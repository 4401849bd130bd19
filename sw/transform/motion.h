// SPDX-License-Identifier: Apache-2.0
// On what a value in a loop depends, and how it moves from turn to turn (waits.cpp).
#ifndef STRETTO_SW_TRANSFORM_MOTION_H_
#define STRETTO_SW_TRANSFORM_MOTION_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sw/transform/instruction.h"

namespace stretto::transform {

// The number of a term that is made of three others.
inline uint64_t term_of(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const uint64_t part : {a, b, c}) hash = (hash ^ part ^ part >> 29) * 0x9E3779B97F4A7C15;
  return hash | 2;
}

// How a value follows one register of the head that the loop changes, the root. The value has bits
// `low` to `high` - 1 of the root and what is added to it; they stand `scale` bits to the left of
// bit `low`'s place, if nothing is missing. All that is added or multiplied is the same in each turn.
struct Motion {
  static constexpr uint8_t kUnknown = 32;
  // `by` if it differs by the way: at least 1 and at most kNear; or at least -kNear and at most -1.
  static constexpr int64_t kUp = INT64_MAX, kDown = INT64_MIN;
  static constexpr int64_t kNear = 256;

  // This constant is added to the root.
  int64_t by = 0;
  // So is the value of this term, a multiple of 2 to this power; nothing if it is 0.
  uint64_t stride = 0;
  uint8_t stride_zeros = 0;
  // It is made of two values that may cancel.
  bool may_cancel = false;
  // The value of this term is added to the bits, or they are multiplied with it; 0: neither.
  uint64_t outer = 0;
  // A register; if it is x0, the value is the constant `by`.
  uint8_t root = kUnknown;
  uint8_t low = 0, high = 64, scale = 0;

  bool operator==(const Motion&) const = default;
  bool is_constant() const { return root == encode::kZero; }
  bool moves() const { return root != encode::kZero && root != kUnknown; }
  bool is_sum() const { return low == 0 && scale == 0 && outer == 0; }
  bool is_range() const { return by == kUp || by == kDown; }
  // What differs by the way and what is known only at launch may cancel.
  bool is_step() const {
    return !may_cancel && (is_range() ? stride == 0 : by != 0 || stride != 0);
  }
  // Of 2 to the power of this at most is a step; if that is not known, it is a multiple of that.
  unsigned step_bits() const {
    if (stride != 0) {
      const unsigned zeros = by == 0 ? 64 : std::countr_zero(static_cast<uint64_t>(by));
      return std::min<unsigned>(stride_zeros, zeros);
    }
    const uint64_t step = static_cast<uint64_t>(is_range() ? kNear : by < 0 ? -by : by);
    return static_cast<unsigned>(std::bit_width(step - 1));
  }
  int direction() const { return stride != 0 || by == 0 ? 0 : by > 0 ? 1 : -1; }

  // What is known of a value that comes by two ways.
  void join(const Motion& other) {
    if (*this == other) return;
    Motion beside = other;
    beside.by = by;
    const auto is_near = [](int64_t step) {
      return step == kUp || step == kDown || (step >= -kNear && step <= kNear);
    };
    if (moves() && *this == beside && direction() != 0 && direction() == other.direction() &&
        is_near(by) && is_near(other.by)) {
      by = by > 0 ? kUp : kDown;
    } else {
      *this = Motion();
    }
  }

  // The sum with a value that is the same in each turn, has that motion, that term and so many zeros
  // below.
  Motion plus(const Motion& addend, uint64_t term, unsigned zeros, bool minus) const {
    Motion sum = *this;
    if (addend.is_constant() && addend.by == 0) return sum;
    if (!is_sum()) {
      sum.outer = term_of(minus, outer, term);
    } else if (!addend.is_constant()) {
      sum.may_cancel = stride != 0;
      sum.stride = term_of(minus, stride, term);
      sum.stride_zeros = static_cast<uint8_t>(zeros);
    } else if (is_range() ||
               (minus ? __builtin_sub_overflow(by, addend.by, &sum.by)
                      : __builtin_add_overflow(by, addend.by, &sum.by)) ||
               sum.is_range()) {
      return {};
    }
    return sum;
  }
  // What is left of the motion if different values stay different, and no more is known.
  Motion turned(uint64_t term) const {
    Motion turned = *this;
    turned.outer = term_of(2, outer, term);
    return turned;
  }
  Motion left(unsigned bits) const {
    Motion shifted = *this;
    if (scale + bits >= 64) return {};
    shifted.scale += bits;
    return shifted;
  }
  Motion right(unsigned bits) const {
    Motion shifted = *this;
    const unsigned off = std::min<unsigned>(bits, scale);
    shifted.scale -= off;
    shifted.low += bits - off;
    return shifted.low < shifted.high ? shifted : Motion();
  }
  // The motion of the value's lower bits.
  Motion cut(unsigned bits) const {
    Motion rest = *this;
    if (scale >= bits) return {};
    rest.high = std::min<unsigned>(high, bits - scale + low);
    return rest;
  }
};

// On what a value depends, and how it moves.
struct Value {
  static constexpr uint64_t kMixed = 1;

  // The value is made of these registers, as they were at the head of the loop,
  uint64_t heads = 0;
  // and of these loads of the loop, by number, that others may change.
  uint64_t loads = 0;
  // Values that have the same term are equal, unless they are mixed.
  uint64_t term = 0;
  // A mixed value differs by the way that a turn takes to it.
  bool mixed = false;
  Motion motion;

  bool operator==(const Value&) const = default;
  // The value is made of that one, too.
  void add(const Value& other) {
    heads |= other.heads;
    loads |= other.loads;
    mixed |= other.mixed;
    term = term_of(term, other.term, 0);
    motion = {};
  }
  bool join(const Value& other) {
    if (*this == other) return false;
    const Value before = *this;
    heads |= other.heads;
    loads |= other.loads;
    mixed |= other.mixed || term != other.term;
    if (term != other.term) term = kMixed;
    motion.join(other.motion);
    return !(before == *this);
  }

  static Value constant(int64_t number) {
    Value value;
    value.term = term_of(0, static_cast<uint64_t>(number), 0);
    value.motion.root = encode::kZero;
    value.motion.by = number;
    return value;
  }
};

}  // namespace stretto::transform

#endif  // STRETTO_SW_TRANSFORM_MOTION_H_
