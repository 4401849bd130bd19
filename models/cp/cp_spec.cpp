// SPDX-License-Identifier: Apache-2.0
// Relations between the command processor's parameters.
#include "models/cp/cp_spec.h"

#include <bit>

namespace stretto {

std::string CpSpec::check() const {
  for (const uint32_t kib : {l1i_kib, l1d_kib}) {
    const uint64_t lines = uint64_t{kib} * 1024 / 64;
    if (lines % l1_ways != 0 || !std::has_single_bit(lines / l1_ways)) {
      return "cp: an L1 of " + std::to_string(kib) + " KiB with " + std::to_string(l1_ways) +
             " ways has no power of two of sets of 64-byte lines";
    }
  }
  return "";
}

}  // namespace stretto
