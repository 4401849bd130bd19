// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/gpu.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// The register table that a model's bank is built from, and the names of values.
#ifndef STRETTO_SW_INCLUDE_REGS_GPU_BANK_H_
#define STRETTO_SW_INCLUDE_REGS_GPU_BANK_H_

#include "sw/include/regs/register_info.h"

namespace stretto {

inline constexpr RegisterInfo kGpuRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"l2_command", 0x400, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0x3},
    {"l2_status", 0x408, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"l2_done", 0x410, 1, 8, 8, RegisterAccess::kWriteOneToClear, 0x0, 0x1},
    {"l2_size", 0x418, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"l2_persist", 0x420, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xff},
    {"l2_pin_base", 0x440, 4, 16, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"l2_pin_bytes", 0x448, 4, 16, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffff},
    {"fault_status", 0x480, 1, 8, 8, RegisterAccess::kWriteOneToClear, 0x0, 0x3},
    {"fault_kind", 0x488, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"fault_address", 0x490, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"fault_pc", 0x498, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"fault_wg", 0x4a0, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"fault_count", 0x4a8, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"cus", 0x500, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"registers_per_cu", 0x508, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"lds_per_cu", 0x510, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"wavefronts_per_cu", 0x518, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"workgroups_per_cu", 0x520, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"event_map", 0x540, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0x1ffff0000ffff},
    {"count_dispatched", 0x600, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"count_retired", 0x608, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"count_instructions", 0x610, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"count_l2_hits", 0x618, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"count_l2_misses", 0x620, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"count_events", 0x628, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"count_stray_events", 0x630, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"count_suspended", 0x638, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"count_resumed", 0x640, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"context_entry", 0x1000, 32, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"context_kernarg", 0x1008, 32, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"context_kernarg_bytes", 0x1010, 32, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffff},
    {"context_code_base", 0x1018, 32, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"context_code_bytes", 0x1020, 32, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffff},
    {"context_registers_bytes", 0x1028, 32, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffff},
    {"context_lds_bytes", 0x1030, 32, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffff},
    {"context_private_bytes", 0x1038, 32, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffff},
    {"context_wavefronts", 0x1040, 32, 128, 8, RegisterAccess::kReadWrite, 0x1, 0xff},
    {"context_grid", 0x1048, 32, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffffffff},
    {"context_flags", 0x1050, 32, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xff03f1},
    {"context_save_base", 0x1058, 32, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"context_save_bytes", 0x1060, 32, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffff},
    {"context_resume", 0x1068, 32, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffff},
};
inline constexpr RegisterValue kGpuFaultKindKindValues[] = {
    {"none", 0},
    {"unmapped_load", 1},
    {"unmapped_store", 2},
    {"remote_load", 3},
    {"illegal_instruction", 4},
    {"bad_shape", 5},
    {"no_room", 6},
    {"empty_tile", 7},
    {"fetch", 8},
    {"misaligned", 9},
    {"bus_error", 10},
    {"kernel_too_large", 11},
    {"bad_context", 12},
    {"remote_atomic", 13},
};
inline constexpr RegisterValue kGpuContextFlagsTypeValues[] = {
    {"simt", 0},
    {"tensor", 1},
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_GPU_BANK_H_
