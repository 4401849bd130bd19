// SPDX-License-Identifier: Apache-2.0
// A clock as a rule for edges: edge k is at floor(k * 10^15 / f) femtoseconds (models/README.md,
// contract (a)). There is no sc_clock: a component asks for the edge it needs and sleeps until
// then.
#ifndef STRETTO_MODELS_COMMON_CLOCK_DOMAIN_H_
#define STRETTO_MODELS_COMMON_CLOCK_DOMAIN_H_

#include <cassert>
#include <cstdint>
#include <numeric>

#include "models/common/event_queue.h"

namespace stretto {

class ClockDomain {
 public:
  // `mhz` is the frequency in MHz, 1..100000.
  explicit ClockDomain(uint32_t mhz) {
    assert(mhz >= 1 && mhz <= 100'000);
    const uint64_t divisor = std::gcd<uint64_t>(kMicrosecond, mhz);
    numerator_ = kMicrosecond / divisor;  // A period is numerator_/denominator_ femtoseconds.
    denominator_ = mhz / divisor;
  }

  Time edge(uint64_t cycle) const {
    if (denominator_ == 1) return cycle * numerator_;
    return quotient(static_cast<unsigned __int128>(cycle) * numerator_, denominator_);
  }
  // Index of the last edge at or before `t`: the largest k with k * numerator_ < (t + 1) *
  // denominator_.
  uint64_t cycle_at(Time t) const {
    if (denominator_ == 1) return t / numerator_;
    return quotient((static_cast<unsigned __int128>(t) + 1) * denominator_ - 1, numerator_);
  }
  // Index of the first edge at or after `t`: the smallest k with k * numerator_ >= t * denominator_.
  uint64_t cycle_from(Time t) const {
    return quotient(static_cast<unsigned __int128>(t) * denominator_ + (numerator_ - 1),
                    numerator_);
  }
  Time edge_at_or_after(Time t) const { return edge(cycle_from(t)); }
  Time edge_after(Time t) const { return edge(cycle_at(t) + 1); }

 private:
  // Two minutes of machine time fit 64 bits, which the host divides at once.
  static uint64_t quotient(unsigned __int128 value, uint64_t divisor) {
    if (value >> 64 == 0) [[likely]]
      return static_cast<uint64_t>(value) / divisor;
    return static_cast<uint64_t>(value / divisor);
  }

  uint64_t numerator_;
  uint64_t denominator_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_CLOCK_DOMAIN_H_
