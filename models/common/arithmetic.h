// SPDX-License-Identifier: Apache-2.0
// The machine's floating-point formats and element-wise additions and products, in our own code
// (models/README.md, contract (b)): the same bits from every compiler. Used by near-bank ALUs, tile
// pipes and references.
//
// Rounding is to nearest, ties to even; subnormals are kept; a NaN result is always the one quiet
// NaN of the format (0x7E00, 0x7FC0, 0x7FC00000), since which operand's payload survives depends on
// the compiler. FP16 and BF16 sums and products go through float32: its 24-bit significand holds
// twice that of FP16 plus two bits (24 >= 2 * 11 + 2), so rounding twice equals rounding once
// (Figueroa, "When is double rounding innocuous?"). Products of BF16 below 2^-126 are the exception.
// FP8: fp8.h.
// Loops are branch-free over arrays so that the compiler vectorises them.
#ifndef STRETTO_MODELS_COMMON_ARITHMETIC_H_
#define STRETTO_MODELS_COMMON_ARITHMETIC_H_

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "models/common/fp8.h"
#include "sw/include/formats/machine_types.h"

namespace stretto {

inline constexpr uint16_t kFp16NaN = 0x7E00;
inline constexpr uint16_t kBf16NaN = 0x7FC0;
inline constexpr uint32_t kFp32NaN = 0x7FC00000;

// `condition` ? yes : no without a branch, which the compiler would have to keep around an
// addition.
inline uint32_t select(bool condition, uint32_t yes, uint32_t no) {
  const uint32_t mask = uint32_t{0} - static_cast<uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

inline float fp32_from_fp16(uint16_t half) {
  const uint32_t magnitude = half & 0x7FFFu;
  // Moves exponent and fraction in place; the multiplication by 2^112 corrects the bias and
  // normalises subnormals.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  // Infinity and NaN keep their fraction.
  const uint32_t special = select(magnitude >= 0x7C00u, 0x7F800000u, 0);
  const uint32_t sign = uint32_t{half & 0x8000u} << 16;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | special | sign);
}

inline uint16_t fp16_from_fp32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  const uint32_t sign = (bits >> 16) & 0x8000u;
  // Normal result: move the exponent, round to nearest even; a carry into the exponent is right, up
  // to infinity.
  const uint32_t normal = (magnitude - (112u << 23) + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
  // Subnormal result: adding 0.5 aligns the unit in the last place with 2^-24, and the adder
  // rounds.
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
                             std::bit_cast<uint32_t>(0.5f);
  uint32_t result = select(magnitude < 0x38800000u, subnormal, normal);  // 2^-14: smallest normal.
  result = select(magnitude >= 0x47800000u, 0x7C00u, result);  // 2^16 and above, infinity.
  return static_cast<uint16_t>(select(magnitude > 0x7F800000u, kFp16NaN, result | sign));
}

inline float fp32_from_bf16(uint16_t value) { return std::bit_cast<float>(uint32_t{value} << 16); }

inline uint16_t bf16_from_fp32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>((bits & 0x7FFFFFFFu) > 0x7F800000u ? uint32_t{kBf16NaN} : rounded);
}

inline uint16_t fp16_add(uint16_t a, uint16_t b) {
  return fp16_from_fp32(fp32_from_fp16(a) + fp32_from_fp16(b));
}
inline uint16_t bf16_add(uint16_t a, uint16_t b) {
  return bf16_from_fp32(fp32_from_bf16(a) + fp32_from_bf16(b));
}
inline uint32_t fp32_add(uint32_t a, uint32_t b) {
  const uint32_t sum = std::bit_cast<uint32_t>(std::bit_cast<float>(a) + std::bit_cast<float>(b));
  return (sum & 0x7FFFFFFFu) > 0x7F800000u ? kFp32NaN : sum;
}

inline uint16_t fp16_multiply(uint16_t a, uint16_t b) {
  return fp16_from_fp32(fp32_from_fp16(a) * fp32_from_fp16(b));
}
inline uint16_t bf16_multiply(uint16_t a, uint16_t b) {
  return bf16_from_fp32(fp32_from_bf16(a) * fp32_from_bf16(b));
}
inline uint32_t fp32_multiply(uint32_t a, uint32_t b) {
  const uint32_t product =
      std::bit_cast<uint32_t>(std::bit_cast<float>(a) * std::bit_cast<float>(b));
  return (product & 0x7FFFFFFFu) > 0x7F800000u ? kFp32NaN : product;
}

// target[i] = f(target[i], operand[i]) for `bytes` bytes of `type`, in element order, by the function
// of the type. The arrays need no alignment and do not overlap. REQUIRES: type is a number; bytes is
// a multiple of the element.
template <class Fp16, class Bf16, class Fp32, class Int32, class E4m3, class E5m2>
inline void apply_elements(ElementType type, uint8_t* target, const uint8_t* operand, size_t bytes,
                           Fp16 fp16, Bf16 bf16, Fp32 fp32, Int32 int32, E4m3 e4m3, E5m2 e5m2) {
  assert(is_number(type) && bytes % element_bytes(type) == 0);
  // Blocks of one atom in arrays of the element's type: known length, no aliasing, so the loops
  // become vector code.
  constexpr size_t kBlock = 64;
  alignas(16) uint8_t a8[kBlock], b8[kBlock];
  alignas(16) uint16_t a16[kBlock / 2], b16[kBlock / 2];
  alignas(16) uint32_t a32[kBlock / 4], b32[kBlock / 4];
  for (size_t at = 0; at < bytes; at += kBlock) {
    const size_t part = bytes - at < kBlock ? bytes - at : kBlock;
    if (element_bytes(type) == 2) {
      if (part < kBlock) std::memset(a16, 0, kBlock), std::memset(b16, 0, kBlock);
      std::memcpy(a16, target + at, part);
      std::memcpy(b16, operand + at, part);
      if (type == ElementType::fp16) {
        for (size_t i = 0; i < kBlock / 2; ++i) a16[i] = fp16(a16[i], b16[i]);
      } else {
        for (size_t i = 0; i < kBlock / 2; ++i) a16[i] = bf16(a16[i], b16[i]);
      }
      std::memcpy(target + at, a16, part);
    } else if (is_fp8(type)) {
      if (part < kBlock) std::memset(a8, 0, kBlock), std::memset(b8, 0, kBlock);
      std::memcpy(a8, target + at, part);
      std::memcpy(b8, operand + at, part);
      if (type == ElementType::e4m3) {
        for (size_t i = 0; i < kBlock; ++i) a8[i] = e4m3(a8[i], b8[i]);
      } else {
        for (size_t i = 0; i < kBlock; ++i) a8[i] = e5m2(a8[i], b8[i]);
      }
      std::memcpy(target + at, a8, part);
    } else {
      if (part < kBlock) std::memset(a32, 0, kBlock), std::memset(b32, 0, kBlock);
      std::memcpy(a32, target + at, part);
      std::memcpy(b32, operand + at, part);
      if (type == ElementType::fp32) {
        for (size_t i = 0; i < kBlock / 4; ++i) a32[i] = fp32(a32[i], b32[i]);
      } else {
        for (size_t i = 0; i < kBlock / 4; ++i) a32[i] = int32(a32[i], b32[i]);
      }
      std::memcpy(target + at, a32, part);
    }
  }
}

// target[i] += addend[i], as apply_elements.
inline void add_elements(ElementType type, uint8_t* target, const uint8_t* addend, size_t bytes) {
  apply_elements(
      type, target, addend, bytes, [](uint16_t a, uint16_t b) { return fp16_add(a, b); },
      [](uint16_t a, uint16_t b) { return bf16_add(a, b); },
      [](uint32_t a, uint32_t b) { return fp32_add(a, b); },
      [](uint32_t a, uint32_t b) { return a + b; },
      [](uint8_t a, uint8_t b) { return E4m3::add(a, b); },
      [](uint8_t a, uint8_t b) { return E5m2::add(a, b); });
}

// target[i] *= factor[i], likewise.
inline void multiply_elements(ElementType type, uint8_t* target, const uint8_t* factor,
                              size_t bytes) {
  apply_elements(
      type, target, factor, bytes, [](uint16_t a, uint16_t b) { return fp16_multiply(a, b); },
      [](uint16_t a, uint16_t b) { return bf16_multiply(a, b); },
      [](uint32_t a, uint32_t b) { return fp32_multiply(a, b); },
      [](uint32_t a, uint32_t b) { return a * b; },
      [](uint8_t a, uint8_t b) { return E4m3::multiply(a, b); },
      [](uint8_t a, uint8_t b) { return E5m2::multiply(a, b); });
}

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_ARITHMETIC_H_
