// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/tracker.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// The register table that a model's bank is built from, and the names of values.
#ifndef STRETTO_SW_INCLUDE_REGS_TRACKER_BANK_H_
#define STRETTO_SW_INCLUDE_REGS_TRACKER_BANK_H_

#include "sw/include/regs/register_info.h"

namespace stretto {

inline constexpr RegisterInfo kTrackerRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"control", 0x0, 1, 8, 8, RegisterAccess::kReadWrite, 0x80, 0xf1},
    {"clear", 0x8, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0xffffffffffffffff},
    {"counter_clear", 0x10, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0xffffffffffffffff},
    {"status", 0x18, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"tiles", 0x20, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffff0001ffff},
    {"strips", 0x28, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0x1ffffff0003ffff},
    {"untracked", 0x30, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0x1ffff0000ffff},
    {"event", 0x38, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0x1ffff0000ffff},
    {"threshold", 0x40, 8, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffffffff},
    {"updates", 0x80, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"half_words", 0x88, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"ignored", 0x90, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"triggers", 0x98, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"spills", 0xa0, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"spill_reads", 0xa8, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"refills", 0xb0, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"max_live", 0xb8, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_TRACKER_BANK_H_
