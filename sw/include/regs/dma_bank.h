// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/dma.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// The register table that a model's bank is built from, and the names of values.
#ifndef STRETTO_SW_INCLUDE_REGS_DMA_BANK_H_
#define STRETTO_SW_INCLUDE_REGS_DMA_BANK_H_

#include "sw/include/regs/register_info.h"

namespace stretto {

inline constexpr RegisterInfo kDmaRegisters[] = {
    // name, offset, count, stride, bytes, access, reset, writable bits
    {"control", 0x0, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0x1},
    {"in_flight_limit", 0x8, 1, 8, 8, RegisterAccess::kReadWrite, 0x10000, 0xffffffff},
    {"error", 0x10, 1, 8, 8, RegisterAccess::kWriteOneToClear, 0x0, 0x3f},
    {"error_enable", 0x18, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0x3f},
    {"error_info", 0x20, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"irq_enable", 0x28, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0x1},
    {"queue_source", 0x40, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"queue_destination", 0x48, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"queue_bytes", 0x50, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffff},
    {"queue_pattern", 0x58, 1, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffffffff},
    {"queue_push", 0x60, 1, 8, 8, RegisterAccess::kWriteOnly, 0x0, 0x1f711},
    {"queue_status", 0x68, 1, 8, 8, RegisterAccess::kWriteOneToClear, 0x0, 0x1},
    {"queue_pushed", 0x70, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"queue_completed", 0x78, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"region_done", 0x80, 2, 8, 8, RegisterAccess::kWriteOneToClear, 0x0, 0xffffffffffffffff},
    {"region_irq_enable", 0x90, 2, 8, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffffffff},
    {"triggers", 0x100, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"tiles_sent", 0x108, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"bytes_read", 0x110, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"bytes_sent", 0x118, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"bytes_written", 0x120, 1, 8, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
    {"region_range", 0x4000, 128, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffffffff},
    {"region_base", 0x4008, 128, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"region_peer", 0x4010, 128, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff},
    {"region_pitch", 0x4018, 128, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffff},
    {"region_size", 0x4020, 128, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffffffff},
    {"region_tile", 0x4028, 128, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffffffff},
    {"region_wavefronts", 0x4030, 128, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xffffffffffff007f},
    {"region_control", 0x4038, 128, 128, 8, RegisterAccess::kReadWrite, 0x0, 0xfffff7f1},
    {"region_status", 0x4040, 128, 128, 8, RegisterAccess::kReadOnly, 0x0, 0x0},
};
inline constexpr RegisterValue kDmaControlReadPacingValues[] = {
    {"link", 0},
    {"unthrottled", 1},
};
inline constexpr RegisterValue kDmaQueuePushKindValues[] = {
    {"fill", 0},
    {"copy", 1},
};
inline constexpr RegisterValue kDmaQueuePushOperationValues[] = {
    {"store", 0},
    {"update", 1},
};
inline constexpr RegisterValue kDmaRegionControlOperationValues[] = {
    {"store", 0},
    {"update", 1},
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_DMA_BANK_H_
