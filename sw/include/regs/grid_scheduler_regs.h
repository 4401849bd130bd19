// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/grid_scheduler.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;
// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.
#ifndef STRETTO_SW_INCLUDE_REGS_GRID_SCHEDULER_REGS_H_
#define STRETTO_SW_INCLUDE_REGS_GRID_SCHEDULER_REGS_H_

// grid_scheduler: Places the work-groups of up to eight kernels on the compute units.

// Compute units in use; change it and capacity only while no slot runs. (read, write)
#define GRID_SCHEDULER_CUS_OFFSET 0x0
#define GRID_SCHEDULER_CUS_RESET 0x50
#define GRID_SCHEDULER_CUS_COUNT_SHIFT 0  // 1..160; 0 or more than are built means all.
#define GRID_SCHEDULER_CUS_COUNT_MASK 0xff

// What one compute unit has (reset: 256 KiB of registers, 96 KiB of LDS, 64 wavefronts, 32 work-groups). (read, write)
#define GRID_SCHEDULER_CAPACITY_OFFSET 0x8
#define GRID_SCHEDULER_CAPACITY_RESET 0x20004000600100
#define GRID_SCHEDULER_CAPACITY_REGISTERS_KIB_SHIFT 0  // Register file in KiB.
#define GRID_SCHEDULER_CAPACITY_REGISTERS_KIB_MASK 0x3ff
#define GRID_SCHEDULER_CAPACITY_LDS_KIB_SHIFT 16  // Local data share in KiB.
#define GRID_SCHEDULER_CAPACITY_LDS_KIB_MASK 0x3ff0000
#define GRID_SCHEDULER_CAPACITY_WAVEFRONTS_SHIFT 32  // Wavefront slots.
#define GRID_SCHEDULER_CAPACITY_WAVEFRONTS_MASK 0xff00000000
#define GRID_SCHEDULER_CAPACITY_WORK_GROUPS_SHIFT 48  // Work-group slots.
#define GRID_SCHEDULER_CAPACITY_WORK_GROUPS_MASK 0xff000000000000

// Slots whose kernel ended or was refused; clearing a bit frees the slot. (read, write 1 to clear)
#define GRID_SCHEDULER_DONE_OFFSET 0x10
#define GRID_SCHEDULER_DONE_SLOTS_SHIFT 0  // One bit a slot.
#define GRID_SCHEDULER_DONE_SLOTS_MASK 0xff

// The interrupt is high while (done and irq_enable) is not zero. (read, write)
#define GRID_SCHEDULER_IRQ_ENABLE_OFFSET 0x18
#define GRID_SCHEDULER_IRQ_ENABLE_SLOTS_SHIFT 0  // One bit a slot.
#define GRID_SCHEDULER_IRQ_ENABLE_SLOTS_MASK 0xff

// All slots at a glance. (read only)
#define GRID_SCHEDULER_STATUS_OFFSET 0x20
#define GRID_SCHEDULER_STATUS_RUNNING_SHIFT 0  // One bit a slot that runs.
#define GRID_SCHEDULER_STATUS_RUNNING_MASK 0xff
#define GRID_SCHEDULER_STATUS_UNDISPATCHED_SHIFT 8  // One bit a slot with work-groups not yet placed.
#define GRID_SCHEDULER_STATUS_UNDISPATCHED_MASK 0xff00

// Work-groups placed since reset or counter_clear (48 bits). (read only)
#define GRID_SCHEDULER_DISPATCHED_OFFSET 0x28

// Work-groups ended since reset or counter_clear (48 bits). (read only)
#define GRID_SCHEDULER_FINISHED_OFFSET 0x30

// Work-groups that left their unit preempted since reset or counter_clear (48 bits). (read only)
#define GRID_SCHEDULER_DRAINED_OFFSET 0x38

// A write of any value clears the three counters above. (write only, reads 0)
#define GRID_SCHEDULER_COUNTER_CLEAR_OFFSET 0x40

// What one work-group needs and how the slot is served; ignored unless the slot is free. (read, write)
#define GRID_SCHEDULER_SLOT_NEEDS_OFFSET 0x200
#define GRID_SCHEDULER_SLOT_NEEDS_COUNT 8
#define GRID_SCHEDULER_SLOT_NEEDS_STRIDE 0x40
#define GRID_SCHEDULER_SLOT_NEEDS_OFFSET_AT(i) (0x200 + (i) * 0x40)
#define GRID_SCHEDULER_SLOT_NEEDS_REGISTERS_KIB_SHIFT 0  // Register file in KiB, rounded up.
#define GRID_SCHEDULER_SLOT_NEEDS_REGISTERS_KIB_MASK 0x3ff
#define GRID_SCHEDULER_SLOT_NEEDS_LDS_KIB_SHIFT 16  // Local data share in KiB, rounded up.
#define GRID_SCHEDULER_SLOT_NEEDS_LDS_KIB_MASK 0x3ff0000
#define GRID_SCHEDULER_SLOT_NEEDS_WAVEFRONTS_SHIFT 32  // Wavefronts.
#define GRID_SCHEDULER_SLOT_NEEDS_WAVEFRONTS_MASK 0xff00000000
#define GRID_SCHEDULER_SLOT_NEEDS_TYPE_SHIFT 48  // Class of the kernel; both are served by the one arbiter built today.
#define GRID_SCHEDULER_SLOT_NEEDS_TYPE_MASK 0x1000000000000
#define GRID_SCHEDULER_SLOT_NEEDS_TYPE_SIMT 0
#define GRID_SCHEDULER_SLOT_NEEDS_TYPE_TENSOR 1
#define GRID_SCHEDULER_SLOT_NEEDS_PRIORITY_SHIFT 56  // Higher is served first, equal in turn.
#define GRID_SCHEDULER_SLOT_NEEDS_PRIORITY_MASK 0x300000000000000

// Block range, the ids that this launch places; ignored unless the slot is free. (read, write)
#define GRID_SCHEDULER_SLOT_RANGE_OFFSET 0x208
#define GRID_SCHEDULER_SLOT_RANGE_COUNT 8
#define GRID_SCHEDULER_SLOT_RANGE_STRIDE 0x40
#define GRID_SCHEDULER_SLOT_RANGE_OFFSET_AT(i) (0x208 + (i) * 0x40)
#define GRID_SCHEDULER_SLOT_RANGE_FIRST_SHIFT 0  // First id.
#define GRID_SCHEDULER_SLOT_RANGE_FIRST_MASK 0xffffffff
#define GRID_SCHEDULER_SLOT_RANGE_COUNT_SHIFT 32  // Number of ids, at least 1.
#define GRID_SCHEDULER_SLOT_RANGE_COUNT_MASK 0xffffffff00000000

// Grid and staggered order; ignored unless the slot is free. (read, write)
#define GRID_SCHEDULER_SLOT_ORDER_OFFSET 0x210
#define GRID_SCHEDULER_SLOT_ORDER_COUNT 8
#define GRID_SCHEDULER_SLOT_ORDER_STRIDE 0x40
#define GRID_SCHEDULER_SLOT_ORDER_OFFSET_AT(i) (0x210 + (i) * 0x40)
#define GRID_SCHEDULER_SLOT_ORDER_GRID_SHIFT 0  // Work-groups of the whole grid; first + count may not exceed it.
#define GRID_SCHEDULER_SLOT_ORDER_GRID_MASK 0xffffffff
#define GRID_SCHEDULER_SLOT_ORDER_START_SHIFT 32  // Ids leave in the order first + (start + i) mod count; less than count.
#define GRID_SCHEDULER_SLOT_ORDER_START_MASK 0xffffffff00000000

// Commands. (write only, reads 0)
#define GRID_SCHEDULER_SLOT_CONTROL_OFFSET 0x218
#define GRID_SCHEDULER_SLOT_CONTROL_COUNT 8
#define GRID_SCHEDULER_SLOT_CONTROL_STRIDE 0x40
#define GRID_SCHEDULER_SLOT_CONTROL_OFFSET_AT(i) (0x218 + (i) * 0x40)
#define GRID_SCHEDULER_SLOT_CONTROL_LAUNCH_SHIFT 0  // 1 starts a free slot; otherwise ignored.
#define GRID_SCHEDULER_SLOT_CONTROL_LAUNCH_MASK 0x1
#define GRID_SCHEDULER_SLOT_CONTROL_PREEMPT_SHIFT 1  // Reserved for preemption; write 0.
#define GRID_SCHEDULER_SLOT_CONTROL_PREEMPT_MASK 0x2

// State of the slot. (read only)
#define GRID_SCHEDULER_SLOT_STATE_OFFSET 0x220
#define GRID_SCHEDULER_SLOT_STATE_COUNT 8
#define GRID_SCHEDULER_SLOT_STATE_STRIDE 0x40
#define GRID_SCHEDULER_SLOT_STATE_OFFSET_AT(i) (0x220 + (i) * 0x40)
#define GRID_SCHEDULER_SLOT_STATE_STATE_SHIFT 0  // refused: the launch asked for more than a unit has, an empty or too large range or a start outside it.
#define GRID_SCHEDULER_SLOT_STATE_STATE_MASK 0x3
#define GRID_SCHEDULER_SLOT_STATE_STATE_FREE 0
#define GRID_SCHEDULER_SLOT_STATE_STATE_RUNNING 1
#define GRID_SCHEDULER_SLOT_STATE_STATE_DONE 2
#define GRID_SCHEDULER_SLOT_STATE_STATE_REFUSED 3
#define GRID_SCHEDULER_SLOT_STATE_RESIDENT_SHIFT 16  // Work-groups on compute units.
#define GRID_SCHEDULER_SLOT_STATE_RESIDENT_MASK 0xffff0000
#define GRID_SCHEDULER_SLOT_STATE_UNDISPATCHED_SHIFT 32  // Work-groups not yet placed.
#define GRID_SCHEDULER_SLOT_STATE_UNDISPATCHED_MASK 0xffffffff00000000

#endif  // STRETTO_SW_INCLUDE_REGS_GRID_SCHEDULER_REGS_H_
