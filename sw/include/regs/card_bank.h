// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/card.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// The register table that a model's bank is built from, and the names of values.
#ifndef STRETTO_SW_INCLUDE_REGS_CARD_BANK_H_
#define STRETTO_SW_INCLUDE_REGS_CARD_BANK_H_

#include "sw/include/regs/register_info.h"

namespace stretto {

inline constexpr RegisterInfo kCardRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"report", 0x0, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"peers", 0x8, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0x1f},
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_CARD_BANK_H_
