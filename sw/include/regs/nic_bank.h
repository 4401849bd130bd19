// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/nic.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// The register table that a model's bank is built from, and the names of values.
#ifndef STRETTO_SW_INCLUDE_REGS_NIC_BANK_H_
#define STRETTO_SW_INCLUDE_REGS_NIC_BANK_H_

#include "sw/include/regs/register_info.h"

namespace stretto {

inline constexpr RegisterInfo kNicRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"release", 0x0, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"region_base", 0x1000, 256, 32, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"region_bytes", 0x1008, 256, 32, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffffffff},
    {"region_config", 0x1010, 256, 32, 8, RegisterAccess::kReadWrite, 0x0, 0xfff1},
    {"completion_base", 0x4000, 64, 16, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"completion_config", 0x4008, 64, 16, 8, RegisterAccess::kReadWrite, 0x0, 0xf01},
    {"pair_send_base", 0x8000, 256, 32, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"pair_receive_base", 0x8008, 256, 32, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"pair_peer", 0x8010, 256, 32, 8, RegisterAccess::kReadWrite, 0x0, 0xffffff},
    {"pair_config", 0x8018, 256, 32, 8, RegisterAccess::kReadWrite, 0x0, 0x3f3f3f0ff1},
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_NIC_BANK_H_
