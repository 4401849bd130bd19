// SPDX-License-Identifier: Apache-2.0
#include "sw/transform/known_bits.h"

#include <algorithm>
#include <string_view>

namespace stretto::transform {
namespace {

using Wide = __int128;

uint64_t quotient(int64_t a, int64_t b) {
  if (b == 0) return ~uint64_t{0};
  return b == -1 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a / b);
}
uint64_t rest(int64_t a, int64_t b) {
  if (b == 0) return static_cast<uint64_t>(a);
  return b == -1 ? 0 : static_cast<uint64_t>(a % b);
}

// Of constants: what knows no single bits. The operands of a word's are extended as it wants them.
uint64_t of_constants(std::string_view operation, uint64_t a, uint64_t b) {
  const int64_t signed_a = static_cast<int64_t>(a), signed_b = static_cast<int64_t>(b);
  const Wide wide_b = signed_b;
  if (operation == "mul") return a * b;
  if (operation == "mulh") return static_cast<uint64_t>(signed_a * wide_b >> 64);
  if (operation == "mulhsu")
    return static_cast<uint64_t>(Wide{signed_a} * static_cast<Wide>(b) >> 64);
  if (operation == "mulhu")
    return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
  if (operation == "div") return quotient(signed_a, signed_b);
  if (operation == "divu") return b == 0 ? ~uint64_t{0} : a / b;
  if (operation == "rem") return rest(signed_a, signed_b);
  if (operation == "remu") return b == 0 ? a : a % b;
  return signed_a < signed_b;  // slt
}

// Carries as far as they are known: each sum with all unknown bits set, and with none.
KnownBits sum(KnownBits a, KnownBits b, unsigned carry) {
  const uint64_t most = ~a.zeros + ~b.zeros + carry, least = a.ones + b.ones + carry;
  const uint64_t no_carry = ~(most ^ a.zeros ^ b.zeros), carries = least ^ a.ones ^ b.ones;
  const uint64_t known = (a.zeros | a.ones) & (b.zeros | b.ones) & (no_carry | carries);
  return {~most & known, least & known};
}

uint64_t extended(uint64_t word) {
  return static_cast<uint64_t>(int64_t{static_cast<int32_t>(static_cast<uint32_t>(word))});
}
KnownBits extended(KnownBits bits) { return {extended(bits.zeros), extended(bits.ones)}; }
KnownBits unsigned_word(KnownBits bits) {
  constexpr uint64_t kUpper = ~uint64_t{0xFFFFFFFF};
  return {bits.zeros | kUpper, bits.ones & ~kUpper};
}

KnownBits shifted_right(KnownBits a, unsigned by, bool is_signed) {
  if (is_signed)
    return {static_cast<uint64_t>(static_cast<int64_t>(a.zeros) >> by),
            static_cast<uint64_t>(static_cast<int64_t>(a.ones) >> by)};
  return {a.zeros >> by | ~(~uint64_t{0} >> by), a.ones >> by};
}

// What is known because an operand is small, or has zeros below.
KnownBits of_bounds(std::string_view operation, KnownBits a, KnownBits b) {
  const uint64_t least_a = a.ones, most_a = ~a.zeros, least_b = b.ones, most_b = ~b.zeros;
  const bool is_power = b.is_constant() && std::has_single_bit(b.ones);
  if (operation == "sltu" && (most_a < least_b || least_a >= most_b))
    return KnownBits::constant(most_a < least_b);
  if (operation.substr(0, 3) == "slt") return {~uint64_t{1}, 0};
  if (operation == "mul") {
    const unsigned low = std::min(a.low_zeros() + b.low_zeros(), 64u);
    return {low == 64 ? ~uint64_t{0} : (uint64_t{1} << low) - 1, 0};
  }
  const bool multiplies = operation.substr(0, 4) == "mulh", divides = operation[0] == 'd';
  if ((most_a == 0 && !divides) || (most_b == 0 && multiplies)) return KnownBits::constant(0);
  if (operation == "mulhu" && std::countl_zero(most_a) + std::countl_zero(most_b) >= 64)
    return KnownBits::constant(0);
  if (operation == "divu" && is_power)
    return shifted_right(a, static_cast<unsigned>(std::countr_zero(b.ones)), false);
  if (operation == "divu" && most_a < least_b) return KnownBits::constant(0);
  if (operation == "remu" && is_power) return {a.zeros | ~(b.ones - 1), a.ones & (b.ones - 1)};
  if (operation == "remu" && most_a < least_b) return a;
  if (operation == "rem" && b.is_constant() && (b.ones == 1 || b.ones == ~uint64_t{0}))
    return KnownBits::constant(0);
  return {};
}

// Of 64 bits. The name is without a word's `w`, an immediate's `i` and a comparison's `u`.
KnownBits of(std::string_view operation, KnownBits a, KnownBits b, unsigned shift_mask) {
  if (operation == "add") return sum(a, b, 0);
  if (operation == "sub") return sum(a, {b.ones, b.zeros}, 1);
  if (operation == "and") return {a.zeros | b.zeros, a.ones & b.ones};
  if (operation == "or") return {a.zeros & b.zeros, a.ones | b.ones};
  if (operation == "xor")
    return {(a.zeros & b.zeros) | (a.ones & b.ones), (a.zeros & b.ones) | (a.ones & b.zeros)};
  if (operation == "sll" || operation == "srl" || operation == "sra") {
    if ((~(b.zeros | b.ones) & shift_mask) != 0) return {};
    const unsigned by = static_cast<unsigned>(b.ones) & shift_mask;
    if (operation == "sll") return {a.zeros << by | ~(~uint64_t{0} << by), a.ones << by};
    return shifted_right(a, by, operation == "sra");
  }
  if (a.is_constant() && b.is_constant())
    return KnownBits::constant(operation == "sltu" ? a.ones < b.ones
                                                   : of_constants(operation, a.ones, b.ones));
  return of_bounds(operation, a, b);
}

}  // namespace

KnownBits KnownBits::computed(const Instruction& i, KnownBits a, KnownBits b) {
  if (i.kind == Kind::upper) return constant(static_cast<uint64_t>(i.immediate));
  std::string_view operation = i.operation();
  if (!i.has_rs2()) {
    b = constant(static_cast<uint64_t>(i.immediate));
    operation = operation == "sltiu" ? "sltu" : operation.substr(0, operation.size() - 1);
  } else if (i.rs1() == i.rs2() &&
             (operation == "sub" || operation == "xor" || operation.substr(0, 3) == "slt" ||
              operation.substr(0, 3) == "rem")) {
    return constant(0);
  }
  if (!i.is_word()) return of(operation, a, b, 63);
  const bool is_unsigned = operation == "srl" || operation == "divu" || operation == "remu";
  a = is_unsigned ? unsigned_word(a) : extended(a);
  if (operation[0] != 's') b = is_unsigned ? unsigned_word(b) : extended(b);
  return extended(of(operation, a, b, 31));
}

}  // namespace stretto::transform
