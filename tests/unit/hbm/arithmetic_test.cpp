// SPDX-License-Identifier: Apache-2.0
// Question: are conversions and sums of the machine's floating-point formats correctly rounded?
//
// Reference: exact arithmetic in double (sums of two FP16 or BF16 values of moderate exponent
// distance fit 53 bits; all FP16 sums do: 41 bits), rounded to nearest even by a search over the
// format's values.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "models/common/arithmetic.h"
#include "tests/support/seeded_rng.h"

using namespace stretto;
using namespace stretto::test;

namespace {

// The value of an FP16 number by its definition (IEEE 754: 1, 5, 10 bits).
double fp16_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

// Nearest FP16 of an exact value, ties to even, by comparing neighbours.
uint16_t fp16_nearest(double exact) {
  if (std::isnan(exact)) return kFp16NaN;
  const uint16_t sign = std::signbit(exact) ? 0x8000 : 0;
  const double magnitude = std::fabs(exact);
  if (magnitude >= 65520.0) return sign | 0x7C00;  // Half-way to 2^16 and above.
  uint16_t low = 0, high = 0x7C00;                 // low: largest value <= magnitude.
  while (high - low > 1) {
    const uint16_t middle = static_cast<uint16_t>((low + high) / 2);
    (fp16_value(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - fp16_value(low);
  const double above =
      (low + 1 == 0x7C00 ? 65536.0 : fp16_value(static_cast<uint16_t>(low + 1))) - magnitude;
  const uint16_t nearest =
      below < above || (below == above && low % 2 == 0) ? low : static_cast<uint16_t>(low + 1);
  return sign | nearest;
}

bool same_fp16(uint16_t a, double exact_sum, bool both_zero, uint16_t x, uint16_t y) {
  if (both_zero) return a == (x & y & 0x8000);  // +0 unless both are -0.
  if (exact_sum == 0) return a == 0;            // x + -x = +0 in round to nearest.
  return a == fp16_nearest(exact_sum);
}

}  // namespace

TEST_CASE("all FP16 values convert to FP32 exactly and back") {
  unsigned wrong = 0;
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const double value = fp16_value(bits);
    if (std::isnan(value)) {
      wrong += std::isnan(fp32_from_fp16(bits)) && fp16_from_fp32(fp32_from_fp16(bits)) == kFp16NaN
                   ? 0
                   : 1;
    } else {
      wrong +=
          fp32_from_fp16(bits) == value && fp16_from_fp32(fp32_from_fp16(bits)) == bits ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("FP32 converts to the nearest FP16, ties to even, at and around every boundary") {
  unsigned wrong = 0;
  for (uint32_t i = 0; i < 0x7C00; ++i) {
    const double low = fp16_value(static_cast<uint16_t>(i));
    const double high = i + 1 == 0x7C00 ? 65536.0 : fp16_value(static_cast<uint16_t>(i + 1));
    const float middle = static_cast<float>((low + high) / 2);  // Exact: 12 bits.
    for (const float value : {middle, std::nextafterf(middle, 0), std::nextafterf(middle, 1e9f)}) {
      wrong += fp16_from_fp32(value) == fp16_nearest(value) ? 0 : 1;
      wrong += fp16_from_fp32(-value) == fp16_nearest(-value) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
  CHECK(fp16_from_fp32(std::numeric_limits<float>::infinity()) == 0x7C00);
  CHECK(fp16_from_fp32(-1e30f) == 0xFC00);
  CHECK(fp16_from_fp32(std::numeric_limits<float>::quiet_NaN()) == kFp16NaN);
  CHECK(fp16_from_fp32(1e-30f) == 0);
}

TEST_CASE("FP16 sums are correctly rounded") {
  Rng rng;
  unsigned wrong = 0;
  for (unsigned i = 0; i < 400'000; ++i) {
    const auto a = static_cast<uint16_t>(rng.next());
    auto b = static_cast<uint16_t>(rng.next());
    if (i % 2 == 0)
      b = static_cast<uint16_t>((a & 0x7C00) + rng.below(0x1000) - 0x800);  // Near exponents.
    const double sum = fp16_value(a) + fp16_value(b);  // Exact: multiples of 2^-24 below 2^17.
    const bool zeros = (a & 0x7FFF) == 0 && (b & 0x7FFF) == 0;
    wrong += same_fp16(fp16_add(a, b), sum, zeros, a, b) ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(fp16_add(0x7C00, 0xFC00) == kFp16NaN);
}

TEST_CASE("BF16 conversion rounds to nearest even and keeps subnormals, infinities and one NaN") {
  CHECK(bf16_from_fp32(1.0f) == 0x3F80);
  CHECK(bf16_from_fp32(std::bit_cast<float>(0x3F808000u)) == 0x3F80);  // Tie to even.
  CHECK(bf16_from_fp32(std::bit_cast<float>(0x3F818000u)) == 0x3F82);
  CHECK(bf16_from_fp32(std::bit_cast<float>(0x3F808001u)) == 0x3F81);
  CHECK(bf16_from_fp32(std::bit_cast<float>(0x00010000u)) == 0x0001);
  CHECK(bf16_from_fp32(std::numeric_limits<float>::max()) == 0x7F80);
  CHECK(bf16_from_fp32(-std::numeric_limits<float>::infinity()) == 0xFF80);
  CHECK(bf16_from_fp32(std::bit_cast<float>(0xFFC12345u)) == kBf16NaN);
  CHECK(bf16_add(0x3FC0, 0x4010) == 0x4070);  // 1.5 + 2.25 = 3.75.
}

TEST_CASE("adding arrays equals adding elements, for every length and alignment") {
  Rng rng;
  for (const ElementType type :
       {ElementType::fp16, ElementType::bf16, ElementType::fp32, ElementType::int32}) {
    const unsigned element = element_bytes(type);
    for (size_t count = 1; count < 70; ++count) {
      std::vector<uint8_t> target(count * element + 1), addend(count * element + 3);
      for (uint8_t& byte : target) byte = static_cast<uint8_t>(rng.next());
      for (uint8_t& byte : addend) byte = static_cast<uint8_t>(rng.next());
      std::vector<uint8_t> expected = target;
      for (size_t i = 0; i < count; ++i) {
        uint8_t* at = expected.data() + 1 + i * element;
        const uint8_t* from = addend.data() + 3 + i * element;
        if (element == 2) {
          uint16_t x, y;
          std::memcpy(&x, at, 2), std::memcpy(&y, from, 2);
          x = type == ElementType::fp16 ? fp16_add(x, y) : bf16_add(x, y);
          std::memcpy(at, &x, 2);
        } else {
          uint32_t x, y;
          std::memcpy(&x, at, 4), std::memcpy(&y, from, 4);
          x = type == ElementType::fp32 ? fp32_add(x, y) : x + y;
          std::memcpy(at, &x, 4);
        }
      }
      add_elements(type, target.data() + 1, addend.data() + 3, count * element);
      CHECK(target == expected);
    }
  }
}

TEST_CASE("products of FP16 values are rounded once, to nearest even", "[T3-FOLLOW-01]") {
  Rng rng;
  unsigned wrong = 0;
  for (unsigned i = 0; i < 300'000; ++i) {
    const auto x = static_cast<uint16_t>(rng.below(0x10000));
    const auto y = static_cast<uint16_t>(rng.below(0x10000));
    // 22 bits: exact in double.
    wrong += fp16_multiply(x, y) == fp16_nearest(fp16_value(x) * fp16_value(y)) ? 0 : 1;
  }
  CHECK(wrong == 0);
}
