// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/hbm.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;
// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.
#ifndef STRETTO_SW_INCLUDE_REGS_HBM_REGS_H_
#define STRETTO_SW_INCLUDE_REGS_HBM_REGS_H_

// spill: Place of the Tracker's overflow table, at STRETTO_TRACKER_BASE + 0x1000.

// Address of entry 0; entry index wg_id * 8 + wf_id has 8 bytes. The table must be zero when the Tracker is enabled. (read, write)
#define SPILL_BASE_OFFSET 0x0
#define SPILL_BASE_ADDRESS_SHIFT 0  // 48-bit address in the memory of this GPU, aligned to 64.
#define SPILL_BASE_ADDRESS_MASK 0xffffffffffff

// Size of the table; an entry beyond it is an error of the firmware. (read, write)
#define SPILL_BYTES_OFFSET 0x8
#define SPILL_BYTES_BYTES_SHIFT 0  // 64 bytes an output tile.
#define SPILL_BYTES_BYTES_MASK 0xffffffff

// drain: End of the communication drain that a kernel's end begins (T3-MCA-06), at STRETTO_TRACKER_BASE + 0x1000.

// Interrupt line STRETTO_IRQ_MCA_DRAIN is bit 0. (read, write 1 to clear)
#define DRAIN_STATUS_OFFSET 0x10
#define DRAIN_STATUS_DONE_SHIFT 0  // All channels have drained since the last kernel end.
#define DRAIN_STATUS_DONE_MASK 0x1

#endif  // STRETTO_SW_INCLUDE_REGS_HBM_REGS_H_
