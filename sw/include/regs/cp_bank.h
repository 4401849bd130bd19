// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/cp.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// The register table that a model's bank is built from, and the names of values.
#ifndef STRETTO_SW_INCLUDE_REGS_CP_BANK_H_
#define STRETTO_SW_INCLUDE_REGS_CP_BANK_H_

#include "sw/include/regs/register_info.h"

namespace stretto {

inline constexpr RegisterInfo kIntcRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"pending", 0x0, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"enable", 0x100, 4, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffffffff},
    {"claim", 0x200, 4, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xff},
    {"node", 0x300, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
};

inline constexpr RegisterInfo kDoorbellRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"value", 0x0, 16, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"pending", 0x100, 1, 8, 8, RegisterAccess::kWriteOneToClear, 0x0, 0xffff},
};

inline constexpr RegisterInfo kUartRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"tx", 0x0, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0xff},
    {"status", 0x8, 1, 8, 8, RegisterAccess::kReadOnly, 0x1, 0x0},
};

inline constexpr RegisterInfo kClintRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"msip", 0x0, 4, 4, 4, RegisterAccess::kReadWrite, 0x0, 0x1},
    {"mtimecmp", 0x4000, 4, 8, 8, RegisterAccess::kReadWrite, 0xffffffffffffffff, 0xffffffffffffffff},
    {"mtime", 0xbff8, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffffffff},
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_CP_BANK_H_
