// SPDX-License-Identifier: Apache-2.0
#include "platform/check/number_format.h"

#include <Eigen/Core>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace stretto {

NumberFormat::NumberFormat(ElementType element) {
  if (element == ElementType::fp16) return;
  assert(is_fp8(element));
  const bool e4m3 = element == ElementType::e4m3;
  const int fraction_bits = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15, codes = e4m3 ? 0x7F : 0x7C;
  for (int code = 0; code < codes; ++code) {
    const int exponent = code >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1);
    const int significand = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
    positive_.push_back(
        static_cast<float>(std::ldexp(significand, std::max(exponent, 1) - bias - fraction_bits)));
  }
  precision_ = fraction_bits + 1;
  smallest_ = positive_[1];
  largest_ = positive_.back();
}

float NumberFormat::value(uint16_t bits) const {
  if (positive_.empty()) return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits));
  const uint16_t code = bits & 0x7F;
  const bool infinite = precision_ == 3 && code == 0x7C;
  const float magnitude = code < positive_.size() ? positive_[code]
                          : infinite              ? std::numeric_limits<float>::infinity()
                                                  : std::numeric_limits<float>::quiet_NaN();
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

uint16_t NumberFormat::bits(float value) const {
  if (positive_.empty()) return Eigen::half(value).x;
  if (std::isnan(value)) return 0x7F;
  const float magnitude = std::abs(value);
  const uint16_t sign = std::signbit(value) ? 0x80 : 0;
  const auto above = std::lower_bound(positive_.begin(), positive_.end(), magnitude);
  if (above == positive_.end()) return static_cast<uint16_t>(sign | (positive_.size() - 1));
  uint16_t code = static_cast<uint16_t>(above - positive_.begin());
  if (code > 0) {
    const double up = double(*above) - magnitude, down = magnitude - double(positive_[code - 1]);
    if (down < up || (down == up && code % 2 != 0)) --code;
  }
  return sign | code;
}

bool NumberFormat::is_nan(uint16_t bits) const { return std::isnan(value(bits)); }

}  // namespace stretto
