// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/mca.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// The register table that a model's bank is built from, and the names of values.
#ifndef STRETTO_SW_INCLUDE_REGS_MCA_BANK_H_
#define STRETTO_SW_INCLUDE_REGS_MCA_BANK_H_

#include "sw/include/regs/register_info.h"

namespace stretto {

inline constexpr RegisterInfo kMcaRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"control", 0x0, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0x1f},
    {"threshold", 0x8, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0x7f},
    {"cutoffs", 0x10, 1, 8, 8, RegisterAccess::kReadWrite, 0x81020, 0x7f7f7f},
    {"starve_limit", 0x18, 1, 8, 8, RegisterAccess::kReadWrite, 0x3e8, 0xffffffff},
    {"dram_queue_depth", 0x20, 1, 8, 8, RegisterAccess::kReadWrite, 0x40, 0x7f},
    {"status", 0x28, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"sample_sum", 0x30, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"sample_cycles", 0x38, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"grants_compute", 0x40, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"grants_comm", 0x48, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"grants_starved", 0x50, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"drains", 0x58, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"counter_clear", 0x60, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0xffffffffffffffff},
};
inline constexpr RegisterValue kMcaControlPolicyValues[] = {
    {"round_robin", 0},
    {"communication_aware", 1},
    {"compute_first_no_limit", 2},
    {"compute_exclusive", 3},
};
inline constexpr RegisterValue kMcaControlThresholdSelectValues[] = {
    {"fixed", 0},
    {"automatic", 1},
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_MCA_BANK_H_
