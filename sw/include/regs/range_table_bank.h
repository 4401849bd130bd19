// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/range_table.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// The register table that a model's bank is built from, and the names of values.
#ifndef STRETTO_SW_INCLUDE_REGS_RANGE_TABLE_BANK_H_
#define STRETTO_SW_INCLUDE_REGS_RANGE_TABLE_BANK_H_

#include "sw/include/regs/register_info.h"

namespace stretto {

inline constexpr RegisterInfo kRangeTableRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"count", 0x0, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"clear", 0x8, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0xc00000ff},
    {"status", 0x10, 1, 8, 8, RegisterAccess::kWriteOneToClear, 0x0, 0xffff03},
    {"entry_base", 0x4000, 256, 64, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"entry_pitch", 0x4008, 256, 64, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffff},
    {"entry_row_bytes", 0x4010, 256, 64, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffff},
    {"entry_rows", 0x4018, 256, 64, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffff},
    {"entry_peer_base", 0x4020, 256, 64, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"entry_flags", 0x4028, 256, 64, 8, RegisterAccess::kReadWrite, 0x0, 0xffff007f},
};
inline constexpr RegisterValue kRangeTableEntryFlagsKindValues[] = {
    {"local", 0},
    {"remote", 1},
    {"dma", 2},
};
inline constexpr RegisterValue kRangeTableEntryFlagsAllocationValues[] = {
    {"cached", 0},
    {"streaming", 1},
    {"uncached", 2},
    {"shared", 3},
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_RANGE_TABLE_BANK_H_
