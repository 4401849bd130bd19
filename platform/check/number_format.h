// SPDX-License-Identifier: Apache-2.0
// Formats of the numbers that the check compares, FP16 by Eigen, FP8 by the definition in OFP8 (OCP,
// revision 1.0): the value of each code, and of a real number the code whose value is nearest. Shares
// nothing with the machine's arithmetic.
#ifndef STRETTO_PLATFORM_CHECK_NUMBER_FORMAT_H_
#define STRETTO_PLATFORM_CHECK_NUMBER_FORMAT_H_

#include <cstdint>
#include <vector>

#include "sw/include/formats/machine_types.h"

namespace stretto {

class NumberFormat {
 public:
  // REQUIRES: fp16, e4m3 or e5m2.
  explicit NumberFormat(ElementType element);

  float value(uint16_t bits) const;
  // Ties to even; FP8: what is larger than the largest number becomes that.
  uint16_t bits(float value) const;
  bool is_nan(uint16_t bits) const;

  int precision() const { return precision_; }  // Bits of the significand.
  double smallest() const { return smallest_; }
  double largest() const { return largest_; }
  // Whole numbers up to this one are exact.
  uint32_t whole() const { return 1u << precision_; }

 private:
  int precision_ = 11;
  double smallest_ = 0x1p-24;
  double largest_ = 65504;
  std::vector<float> positive_;  // FP8: the finite numbers from 0 on, by code; else empty.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CHECK_NUMBER_FORMAT_H_
