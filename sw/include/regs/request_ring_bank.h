// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/request_ring.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// The register table that a model's bank is built from, and the names of values.
#ifndef STRETTO_SW_INCLUDE_REGS_REQUEST_RING_BANK_H_
#define STRETTO_SW_INCLUDE_REGS_REQUEST_RING_BANK_H_

#include "sw/include/regs/register_info.h"

namespace stretto {

inline constexpr RegisterInfo kRequestRingRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"control", 0x0, 1, 8, 8, RegisterAccess::kReadWrite, 0x1000, 0xff07},
    {"clear", 0x8, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0xffffffffffffffff},
    {"counter_clear", 0x10, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0xffffffffffffffff},
    {"status", 0x18, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"limits", 0x20, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"node", 0x28, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xff},
    {"replica_address", 0x30, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"sc_base", 0x38, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"error", 0x40, 1, 8, 8, RegisterAccess::kWriteOneToClear, 0x0, 0x7},
    {"irq_enable", 0x48, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xf},
    {"error_first", 0x50, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"error_request", 0x58, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"tail", 0x60, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"head", 0x68, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"refused", 0x70, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"dropped", 0x78, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"issued", 0x80, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"completed", 0x88, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"failed", 0x90, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"flags", 0x98, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"replicas", 0xa0, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"software_source", 0xc0, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"software_destination", 0xc8, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"software_bytes", 0xd0, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"software_take", 0xd8, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0xffffffffffffffff},
    {"software_done", 0xe0, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0x10fff},
    {"connection_config", 0x400, 16, 32, 8, RegisterAccess::kReadWrite, 0x0, 0xfff1},
    {"connection_rc_base", 0x408, 16, 32, 8, RegisterAccess::kWriteOnly, 0x0, 0xffffffffffff},
    {"connection_state", 0x410, 16, 32, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"buffer_base", 0x1000, 256, 16, 8, RegisterAccess::kWriteOnly, 0x0, 0xffffffffffff},
    {"buffer_config", 0x1008, 256, 16, 8, RegisterAccess::kWriteOnly, 0x0, 0xb1f3ffff},
};
inline constexpr RegisterValue kRequestRingControlEngineValues[] = {
    {"hardware", 0},
    {"software", 1},
};
inline constexpr RegisterValue kRequestRingErrorFirstKindValues[] = {
    {"malformed", 0},
    {"dropped", 1},
    {"transfer", 2},
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_REQUEST_RING_BANK_H_
