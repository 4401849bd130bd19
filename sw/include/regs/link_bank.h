// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/link.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// The register table that a model's bank is built from, and the names of values.
#ifndef STRETTO_SW_INCLUDE_REGS_LINK_BANK_H_
#define STRETTO_SW_INCLUDE_REGS_LINK_BANK_H_

#include "sw/include/regs/register_info.h"

namespace stretto {

inline constexpr RegisterInfo kLinkRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"route", 0x0, 256, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xff},
    {"links", 0x800, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"dropped", 0x808, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"peer", 0x1000, 66, 64, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"sent", 0x1008, 66, 64, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"received", 0x1010, 66, 64, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"written", 0x1018, 66, 64, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"credits", 0x1020, 66, 64, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
};

inline constexpr RegisterInfo kSwitchRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"add_base", 0x0, 32, 32, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"add_length", 0x8, 32, 32, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffff},
    {"add_parts", 0x10, 32, 32, 8, RegisterAccess::kReadWrite, 0x0, 0xff},
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_LINK_BANK_H_
