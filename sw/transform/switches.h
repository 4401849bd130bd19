// SPDX-License-Identifier: Apache-2.0
// Where an indirect jump goes. It is understood if, on every way to it, what it jumps to is the
// address of a jump table, formed in its function, plus a word that was loaded from that table at
// some index. That the index lies inside is taken from the compiler, which compares it before. A
// label's address alone, and entries of another table than the one that is added, are not
// understood.
#ifndef STRETTO_SW_TRANSFORM_SWITCHES_H_
#define STRETTO_SW_TRANSFORM_SWITCHES_H_

#include <optional>
#include <set>

#include "sw/transform/analysis.h"

namespace stretto::transform {

// All targets of the jump at that address, by the ways to it that are known; or nothing.
std::optional<std::set<uint64_t>> find_targets(const KernelElf& elf,
                                               const std::map<uint64_t, Instruction>& code,
                                               const Function& function, uint64_t jump);

}  // namespace stretto::transform

#endif  // STRETTO_SW_TRANSFORM_SWITCHES_H_
