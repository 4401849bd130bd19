// SPDX-License-Identifier: Apache-2.0
// Question: are conversions, sums and products of FP8 those of OFP8 (OCP, revision 1.0), saturating?
//
// Reference: the 256 values of each format worked out from the definition, and of a number in double
// the nearest of them, ties to the code with an even last bit, by looking at all. A sum of two numbers
// of E4M3 has 19 bits, of E5M2 34: exact in double. Everything of two operands is exhaustive.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "models/common/arithmetic.h"
#include "tests/support/seeded_rng.h"

using namespace stretto;
using namespace stretto::test;

namespace {

// Name of the format, its fields, its largest code that is a number.
struct Definition {
  int fraction_bits, bias, last;
  bool infinity;

  double value(int code) const {
    const int magnitude = code & 0x7F, exponent = magnitude >> fraction_bits;
    const double fraction = std::ldexp(magnitude & ((1 << fraction_bits) - 1), -fraction_bits);
    const double sign = code & 0x80 ? -1 : 1;
    if (magnitude > last) {
      return infinity && magnitude == last + 1 ? sign * std::numeric_limits<double>::infinity()
                                               : std::nan("");
    }
    return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                 : std::ldexp(1 + fraction, exponent - bias));
  }

  int nearest(double exact) const {
    if (std::isnan(exact)) return 0x7F;
    const double magnitude = std::fabs(exact);
    int best = magnitude > value(last) ? last : 0;
    for (int code = 1; code <= last && best != last; ++code) {
      const double here = std::fabs(value(code) - magnitude);
      const double there = std::fabs(value(best) - magnitude);
      if (here < there || (here == there && code % 2 == 0)) best = code;
    }
    return best | (std::signbit(exact) ? 0x80 : 0);
  }
};

constexpr Definition kE4m3{3, 7, 0x7E, false}, kE5m2{2, 15, 0x7B, true};

template <class Format>
unsigned wrong_conversions(const Definition& format) {
  unsigned wrong = 0;
  for (int code = 0; code < 256; ++code) {
    const double expected = format.value(code);
    const float got = Format::to_fp32(static_cast<uint8_t>(code));
    if (std::isnan(expected)) {
      wrong += std::isnan(got) ? 0 : 1;
      continue;
    }
    wrong += got == expected && std::signbit(got) == std::signbit(expected) ? 0 : 1;
    // Numbers come back; around each and around the point half-way to the next one.
    const double next = format.value((code & 0x7F) + 1) * (code & 0x80 ? -1 : 1);
    std::vector<float> around{got};
    if ((code & 0x7F) < format.last) around.push_back(static_cast<float>((expected + next) / 2));
    for (const float middle : around) {
      for (const float x : {middle, std::nextafter(middle, 1e9f), std::nextafter(middle, -1e9f)})
        wrong += Format::from_fp32(x) == format.nearest(x) ? 0 : 1;
    }
  }
  return wrong;
}

template <class Format>
unsigned wrong_random(const Definition& format) {
  Rng rng;
  unsigned wrong = 0;
  for (unsigned i = 0; i < 100'000; ++i) {
    // All exponents of the format, some beyond; all fractions.
    const uint32_t exponent = 127 - 26 + static_cast<uint32_t>(rng.below(50));
    const uint32_t bits = static_cast<uint32_t>(rng.below(2)) << 31 | exponent << 23 |
                          static_cast<uint32_t>(rng.below(1u << 23));
    const float x = std::bit_cast<float>(bits);
    wrong += Format::from_fp32(x) == format.nearest(x) ? 0 : 1;
  }
  return wrong;
}

// f(x, y) of all pairs of codes, against the exact result rounded once.
template <class Got, class Exact>
unsigned wrong_pairs(const Definition& format, Got got, Exact exact) {
  unsigned wrong = 0;
  for (int x = 0; x < 256; ++x) {
    for (int y = 0; y < 256; ++y) {
      const double right = exact(format.value(x), format.value(y));
      wrong +=
          got(static_cast<uint8_t>(x), static_cast<uint8_t>(y)) == format.nearest(right) ? 0 : 1;
    }
  }
  return wrong;
}

double sum(double a, double b) { return a + b; }
double product(double a, double b) { return a * b; }

}  // namespace

TEST_CASE("FP8 numbers have the values of OFP8's tables", "[T3-2XCU-02]") {
  // OFP8 tables 1 and 2: largest, smallest normal, largest and smallest subnormal.
  CHECK(E4m3::to_fp32(0x7E) == 448.0f);
  CHECK(E4m3::to_fp32(0x08) == 0x1p-6f);
  CHECK(E4m3::to_fp32(0x07) == 0.875f * 0x1p-6f);
  CHECK(E4m3::to_fp32(0x01) == 0x1p-9f);
  CHECK(std::isnan(E4m3::to_fp32(0x7F)));
  CHECK(std::isnan(E4m3::to_fp32(0xFF)));
  CHECK(E5m2::to_fp32(0x7B) == 57344.0f);
  CHECK(E5m2::to_fp32(0x04) == 0x1p-14f);
  CHECK(E5m2::to_fp32(0x03) == 0.75f * 0x1p-14f);
  CHECK(E5m2::to_fp32(0x01) == 0x1p-16f);
  CHECK(std::isinf(E5m2::to_fp32(0xFC)));
  for (const uint8_t code : {0x7D, 0x7E, 0x7F}) CHECK(std::isnan(E5m2::to_fp32(code)));
}

TEST_CASE("conversions to FP8 round to nearest even, keep subnormals, and saturate",
          "[T3-2XCU-02]") {
  CHECK(wrong_conversions<E4m3>(kE4m3) == 0);
  CHECK(wrong_conversions<E5m2>(kE5m2) == 0);
  CHECK(wrong_random<E4m3>(kE4m3) == 0);
  CHECK(wrong_random<E5m2>(kE5m2) == 0);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float large : {449.0f, 464.0f, 480.0f, 1e6f, 3e38f, infinity}) {
    CHECK(E4m3::from_fp32(large) == 0x7E);
    CHECK(E4m3::from_fp32(-large) == 0xFE);
  }
  for (const float large : {57345.0f, 61440.0f, 65536.0f, infinity}) {
    CHECK(E5m2::from_fp32(large) == 0x7B);
    CHECK(E5m2::from_fp32(-large) == 0xFB);
  }
  CHECK(E4m3::from_fp32(std::bit_cast<float>(0xFFC12345u)) == kFp8NaN);
  CHECK(E5m2::from_fp32(std::bit_cast<float>(0xFFC12345u)) == kFp8NaN);
  CHECK(E4m3::from_fp32(1.0625f) == 0x38);  // Half-way between 1 and 1.125: the even one.
  CHECK(E4m3::from_fp32(1.1875f) == 0x3A);
  CHECK(E4m3::from_fp32(0x1p-10f) == 0x00);
  CHECK(E4m3::from_fp32(-0x1.8p-9f) == 0x82);
}

TEST_CASE("every sum and every product of two FP8 numbers is rounded once", "[T3-2XCU-02]") {
  CHECK(wrong_pairs(kE4m3, E4m3::add, sum) == 0);
  CHECK(wrong_pairs(kE5m2, E5m2::add, sum) == 0);
  CHECK(wrong_pairs(kE4m3, E4m3::multiply, product) == 0);
  CHECK(wrong_pairs(kE5m2, E5m2::multiply, product) == 0);
}

TEST_CASE("arrays of FP8 are added and multiplied element by element, for every length",
          "[T3-2XCU-02]") {
  Rng rng;
  for (const ElementType type : {ElementType::e4m3, ElementType::e5m2}) {
    const Definition& format = type == ElementType::e4m3 ? kE4m3 : kE5m2;
    for (size_t count = 1; count < 200; ++count) {
      std::vector<uint8_t> target(count + 1), operand(count + 3);
      for (uint8_t& byte : target) byte = static_cast<uint8_t>(rng.next());
      for (uint8_t& byte : operand) byte = static_cast<uint8_t>(rng.next());
      std::vector<uint8_t> sums = target, products = target;
      for (size_t i = 0; i < count; ++i) {
        const double x = format.value(target[1 + i]), y = format.value(operand[3 + i]);
        sums[1 + i] = static_cast<uint8_t>(format.nearest(x + y));
        products[1 + i] = static_cast<uint8_t>(format.nearest(x * y));
      }
      std::vector<uint8_t> factors = target;
      add_elements(type, target.data() + 1, operand.data() + 3, count);
      multiply_elements(type, factors.data() + 1, operand.data() + 3, count);
      CHECK(target == sums);
      CHECK(factors == products);
    }
  }
}
