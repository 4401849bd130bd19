// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/hbm.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// The register table that a model's bank is built from, and the names of values.
#ifndef STRETTO_SW_INCLUDE_REGS_HBM_BANK_H_
#define STRETTO_SW_INCLUDE_REGS_HBM_BANK_H_

#include "sw/include/regs/register_info.h"

namespace stretto {

inline constexpr RegisterInfo kSpillRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"base", 0x0, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"bytes", 0x8, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffff},
};

inline constexpr RegisterInfo kDrainRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"status", 0x10, 1, 8, 8, RegisterAccess::kWriteOneToClear, 0x0, 0x1},
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_HBM_BANK_H_
