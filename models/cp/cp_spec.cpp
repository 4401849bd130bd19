// SPDX-License-Identifier: Apache-2.0
// Relations between the command processor's parameters.
#include "models/cp/cp_spec.h"

#include <bit>

namespace stretto {

std::string CpSpec::check() const {
  const uint64_t lines = uint64_t{l1d_kib} * 1024 / 64;
  if (lines % l1d_ways != 0 || !std::has_single_bit(lines / l1d_ways)) {
    return "cp: an L1 of " + std::to_string(l1d_kib) + " KiB with " + std::to_string(l1d_ways) +
           " ways has no power of two of sets of 64-byte lines";
  }
  return "";
}

}  // namespace stretto
