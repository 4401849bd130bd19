// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/grid_scheduler.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// The register table that a model's bank is built from, and the names of values.
#ifndef STRETTO_SW_INCLUDE_REGS_GRID_SCHEDULER_BANK_H_
#define STRETTO_SW_INCLUDE_REGS_GRID_SCHEDULER_BANK_H_

#include "sw/include/regs/register_info.h"

namespace stretto {

inline constexpr RegisterInfo kGridSchedulerRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"cus", 0x0, 1, 8, 8, RegisterAccess::kReadWrite, 0x50, 0xff},
    {"capacity", 0x8, 1, 8, 8, RegisterAccess::kReadWrite, 0x20004000600100, 0xff00ff03ff03ff},
    {"done", 0x10, 1, 8, 8, RegisterAccess::kWriteOneToClear, 0x0, 0xffffffff},
    {"irq_enable", 0x18, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffff},
    {"status", 0x20, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"dispatched", 0x28, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"finished", 0x30, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"drained", 0x38, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"counter_clear", 0x40, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0xffffffffffffffff},
    {"policy", 0x48, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0x7},
    {"pipeline", 0x50, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffff},
    {"gate_set", 0x58, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0xffff},
    {"gate_clear", 0x60, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0xffffffffffffffff},
    {"returned", 0x68, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"returned_take", 0x70, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0xffffffffffffffff},
    {"slot_needs", 0x800, 32, 64, 8, RegisterAccess::kReadWrite, 0x0, 0x30100ff03ff03ff},
    {"slot_range", 0x808, 32, 64, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffffffff},
    {"slot_order", 0x810, 32, 64, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffffffff},
    {"slot_control", 0x818, 32, 64, 8, RegisterAccess::kWriteOnly, 0x0, 0x7},
    {"slot_state", 0x820, 32, 64, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"slot_skip", 0x828, 32, 64, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffff},
    {"slot_gate", 0x830, 32, 64, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"unit_use", 0x1000, 160, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
};
inline constexpr RegisterValue kGridSchedulerPolicyOrderValues[] = {
    {"in_turn", 0},
    {"launch", 1},
};
inline constexpr RegisterValue kGridSchedulerPolicyArbitersValues[] = {
    {"one", 0},
    {"two", 1},
};
inline constexpr RegisterValue kGridSchedulerPolicyPriorityValues[] = {
    {"work_conserving", 0},
    {"strict", 1},
};
inline constexpr RegisterValue kGridSchedulerSlotNeedsTypeValues[] = {
    {"simt", 0},
    {"tensor", 1},
};
inline constexpr RegisterValue kGridSchedulerSlotStateStateValues[] = {
    {"free", 0},
    {"running", 1},
    {"done", 2},
    {"refused", 3},
};
inline constexpr RegisterValue kGridSchedulerSlotStateReasonValues[] = {
    {"none", 0},
    {"needs", 1},
    {"range", 2},
    {"gates", 3},
    {"busy", 4},
    {"too_many", 5},
    {"never_fits", 6},
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_GRID_SCHEDULER_BANK_H_
