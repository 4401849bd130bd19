// SPDX-License-Identifier: Apache-2.0
// Relations between the command processor's parameters.
#include "models/cp/cp_spec.h"

#include <bit>

namespace stretto {

namespace {

bool has_sets(uint32_t kib, uint32_t ways) {
  const uint64_t lines = uint64_t{kib} * 1024 / 64;
  return lines % ways == 0 && std::has_single_bit(lines / ways);
}

std::string no_sets(uint32_t kib, uint32_t ways) {
  return "cp: an L1 of " + std::to_string(kib) + " KiB with " + std::to_string(ways) +
         " ways has no power of two of sets of 64-byte lines";
}

}  // namespace

std::string CpSpec::check() const {
  if (!has_sets(l1d_kib, l1d_ways)) return no_sets(l1d_kib, l1d_ways);
  if (!has_sets(l1i_kib, l1i_ways)) return no_sets(l1i_kib, l1i_ways);
  return "";
}

}  // namespace stretto
