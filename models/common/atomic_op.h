// SPDX-License-Identifier: Apache-2.0
// What an atomic leaves in memory, on 4 or 8 bytes: the value of the RISC-V AMO, or of a compare and
// swap, which has an operand more.
#ifndef STRETTO_MODELS_COMMON_ATOMIC_OP_H_
#define STRETTO_MODELS_COMMON_ATOMIC_OP_H_

#include <algorithm>
#include <cstdint>

#include "models/common/payload_extension.h"

namespace stretto {

inline uint64_t apply_atomic_op(AtomicOp op, unsigned bytes, uint64_t old_value, uint64_t operand,
                                uint64_t compare = 0) {
  const unsigned unused = 64 - 8 * bytes;
  const uint64_t a = old_value << unused,
                 b = operand << unused;  // Compared as if the word filled the register.
  const int64_t sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
  switch (op) {
    case AtomicOp::swap: return operand;
    case AtomicOp::add: return old_value + operand;
    case AtomicOp::and_: return old_value & operand;
    case AtomicOp::or_: return old_value | operand;
    case AtomicOp::xor_: return old_value ^ operand;
    case AtomicOp::min: return sa < sb ? old_value : operand;
    case AtomicOp::max: return sa > sb ? old_value : operand;
    case AtomicOp::minu: return a < b ? old_value : operand;
    case AtomicOp::maxu: return a > b ? old_value : operand;
    case AtomicOp::compare_swap: return a == compare << unused ? operand : old_value;
  }
  return operand;
}

// REQUIRES: is_link_atomic(op).
inline const char* link_atomic_name(AtomicOp op) {
  if (op == AtomicOp::compare_swap) return "compare-and-swap";
  return op == AtomicOp::swap ? "swap" : "fetch-and-add";
}

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_ATOMIC_OP_H_
