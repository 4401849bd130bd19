// SPDX-License-Identifier: Apache-2.0
// What FetchAdd, Swap and CAS of 4 and 8 bytes find and leave in a word (PCI Express Base
// Specification 4.0, 6.15), worked out by hand.
#ifndef STRETTO_TESTS_SUPPORT_ATOMIC_ROWS_H_
#define STRETTO_TESTS_SUPPORT_ATOMIC_ROWS_H_

#include <cstdint>

#include "models/common/payload_extension.h"

namespace stretto::test {

struct AtomicRow {
  AtomicOp op;
  unsigned bytes;
  uint64_t operand, compare, found, left;
};

inline constexpr uint64_t kAtomicWas = 0x1111'2222'FFFF'FFF0;  // In the word before each.

inline constexpr AtomicRow kAtomicRows[] = {
    {AtomicOp::add, 8, 0x20, 0, kAtomicWas, 0x1111'2223'0000'0010},
    {AtomicOp::add, 4, 0x20, 0, 0xFFFF'FFF0, 0x1111'2222'0000'0010},
    {AtomicOp::swap, 8, 7, 0, kAtomicWas, 7},
    {AtomicOp::swap, 4, 7, 0, 0xFFFF'FFF0, 0x1111'2222'0000'0007},
    {AtomicOp::compare_swap, 8, 7, kAtomicWas, kAtomicWas, 7},
    {AtomicOp::compare_swap, 8, 7, 0xFFFF'FFF0, kAtomicWas, kAtomicWas},
    {AtomicOp::compare_swap, 4, 7, 0xFFFF'FFF0, 0xFFFF'FFF0, 0x1111'2222'0000'0007},
    {AtomicOp::compare_swap, 4, 7, 0xFFFF'FFF1, 0xFFFF'FFF0, kAtomicWas},
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SUPPORT_ATOMIC_ROWS_H_
