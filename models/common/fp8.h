// SPDX-License-Identifier: Apache-2.0
// The two formats of 8 bits: Micikevicius et al., "FP8 Formats for Deep Learning", arXiv 2209.05433;
// OCP 8-bit Floating Point Specification (OFP8), revision 1.0.
//
//   format   exponent, fraction  bias  largest       smallest  infinities        NaN
//   E4M3     4, 3                7     448, 0x7E     2^-9      none              S.1111.111
//   E5M2     5, 2                15    57344, 0x7B   2^-16     S.11111.00        S.11111.{01,10,11}
//
// To FP8: to nearest, ties to even; saturating, one of the two modes of OFP8: what is larger than
// the largest number, infinities too, becomes the largest number. NaN stays NaN: 0x7F, of both
// formats. A sum or product is that of FP32, rounded again: of E4M3 it is exact there, of E5M2
// 24 >= 2 * 3 + 2 bits make two roundings one (arithmetic.h).
#ifndef STRETTO_MODELS_COMMON_FP8_H_
#define STRETTO_MODELS_COMMON_FP8_H_

#include <bit>
#include <cstdint>

namespace stretto {

inline constexpr uint8_t kFp8NaN = 0x7F;

template <unsigned kFraction, unsigned kBias, uint8_t kLargest>
struct Fp8 {
  static constexpr unsigned kShift = 23 - kFraction;

  // Exponent and fraction move in place, the product corrects the bias and normalises subnormals.
  static float to_fp32(uint8_t value) {
    const uint32_t magnitude = value & 0x7Fu;
    const float scale = std::bit_cast<float>((254u - kBias) << 23);  // 2^(127 - kBias).
    const uint32_t scaled =
        std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude << kShift) * scale);
    // Beyond the largest number: E5M2's infinity, its fraction is 0, and NaN.
    const uint32_t special = magnitude > kLargest ? 0x7F800000u | magnitude << kShift : 0u;
    return std::bit_cast<float>(scaled | special | uint32_t{value & 0x80u} << 24);
  }

  static uint8_t from_fp32(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    const uint32_t half = (1u << (kShift - 1)) - 1;
    const uint32_t normal =
        (magnitude - ((127u - kBias) << 23) + half + (magnitude >> kShift & 1u)) >> kShift;
    // The unit in the last place of `aligned` is that of subnormals; the adder rounds.
    const float aligned = std::bit_cast<float>((127u + 24u - kBias - kFraction) << 23);
    const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + aligned) -
                               std::bit_cast<uint32_t>(aligned);
    const uint32_t rounded = magnitude < (128u - kBias) << 23 ? subnormal : normal;
    const uint32_t held = rounded > kLargest ? kLargest : rounded;
    return static_cast<uint8_t>(magnitude > 0x7F800000u ? uint32_t{kFp8NaN}
                                                        : held | (bits >> 24 & 0x80u));
  }

  static uint8_t add(uint8_t a, uint8_t b) { return from_fp32(to_fp32(a) + to_fp32(b)); }
  static uint8_t multiply(uint8_t a, uint8_t b) { return from_fp32(to_fp32(a) * to_fp32(b)); }
};

using E4m3 = Fp8<3, 7, 0x7E>;
using E5m2 = Fp8<2, 15, 0x7B>;

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_FP8_H_
