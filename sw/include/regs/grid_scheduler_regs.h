// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/grid_scheduler.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;
// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.
#ifndef STRETTO_SW_INCLUDE_REGS_GRID_SCHEDULER_REGS_H_
#define STRETTO_SW_INCLUDE_REGS_GRID_SCHEDULER_REGS_H_

// grid_scheduler: Places the work-groups of up to 32 kernels on the compute units.

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
#define GRID_SCHEDULER_DONE_SLOTS_MASK 0xffffffff

// The interrupt is high while (done and irq_enable) is not zero. (read, write)
#define GRID_SCHEDULER_IRQ_ENABLE_OFFSET 0x18
#define GRID_SCHEDULER_IRQ_ENABLE_SLOTS_SHIFT 0  // One bit a slot.
#define GRID_SCHEDULER_IRQ_ENABLE_SLOTS_MASK 0xffffffff

// All slots at a glance. (read only)
#define GRID_SCHEDULER_STATUS_OFFSET 0x20
#define GRID_SCHEDULER_STATUS_RUNNING_SHIFT 0  // One bit a slot that runs.
#define GRID_SCHEDULER_STATUS_RUNNING_MASK 0xffffffff
#define GRID_SCHEDULER_STATUS_UNDISPATCHED_SHIFT 32  // One bit a slot with work-groups not yet placed.
#define GRID_SCHEDULER_STATUS_UNDISPATCHED_MASK 0xffffffff00000000

// Work-groups placed since reset or counter_clear (48 bits). (read only)
#define GRID_SCHEDULER_DISPATCHED_OFFSET 0x28

// Work-groups ended since reset or counter_clear (48 bits). (read only)
#define GRID_SCHEDULER_FINISHED_OFFSET 0x30

// Work-groups that left their unit preempted since reset or counter_clear (48 bits). (read only)
#define GRID_SCHEDULER_DRAINED_OFFSET 0x38

// A write of any value clears the three counters above. (write only, reads 0)
#define GRID_SCHEDULER_COUNTER_CLEAR_OFFSET 0x40

// Who is served, and how units are searched; may change at any time. (read, write)
#define GRID_SCHEDULER_POLICY_OFFSET 0x48
#define GRID_SCHEDULER_POLICY_ORDER_SHIFT 0  // launch: a slot waits until those launched before it (of its class, with two arbiters) have placed all.
#define GRID_SCHEDULER_POLICY_ORDER_MASK 0x1
#define GRID_SCHEDULER_POLICY_ORDER_IN_TURN 0
#define GRID_SCHEDULER_POLICY_ORDER_LAUNCH 1
#define GRID_SCHEDULER_POLICY_ORDER_MAX 1
#define GRID_SCHEDULER_POLICY_ARBITERS_SHIFT 1  // two: SIMT and TENSOR each walk the units with a pointer of their own and alternate. A pipeline keeps what it was at its launch.
#define GRID_SCHEDULER_POLICY_ARBITERS_MASK 0x2
#define GRID_SCHEDULER_POLICY_ARBITERS_ONE 0
#define GRID_SCHEDULER_POLICY_ARBITERS_TWO 1
#define GRID_SCHEDULER_POLICY_ARBITERS_MAX 1
#define GRID_SCHEDULER_POLICY_PRIORITY_SHIFT 2  // strict: a slot waits until those of higher priority have placed all, even where these find no room and it would.
#define GRID_SCHEDULER_POLICY_PRIORITY_MASK 0x4
#define GRID_SCHEDULER_POLICY_PRIORITY_WORK_CONSERVING 0
#define GRID_SCHEDULER_POLICY_PRIORITY_STRICT 1
#define GRID_SCHEDULER_POLICY_PRIORITY_MAX 1

// A write launches these slots as one spatial pipeline, all or nothing; it reads which slots wait for that. (read, write)
#define GRID_SCHEDULER_PIPELINE_OFFSET 0x50
#define GRID_SCHEDULER_PIPELINE_SLOTS_SHIFT 0  // One bit a slot.
#define GRID_SCHEDULER_PIPELINE_SLOTS_MASK 0xffffffff

// Opens a gate, as the event input does. (write only, reads 0)
#define GRID_SCHEDULER_GATE_SET_OFFSET 0x58
#define GRID_SCHEDULER_GATE_SET_GATE_SHIFT 0  // Number of the gate, 0..1023; others are ignored.
#define GRID_SCHEDULER_GATE_SET_GATE_MASK 0xffff

// A write of any value closes all gates. (write only, reads 0)
#define GRID_SCHEDULER_GATE_CLEAR_OFFSET 0x60

// Oldest work-group that left its unit preempted and was not taken yet. (read only)
#define GRID_SCHEDULER_RETURNED_OFFSET 0x68
#define GRID_SCHEDULER_RETURNED_ID_SHIFT 0  // Its id.
#define GRID_SCHEDULER_RETURNED_ID_MASK 0xffffffff
#define GRID_SCHEDULER_RETURNED_SLOT_SHIFT 32  // Its kernel slot.
#define GRID_SCHEDULER_RETURNED_SLOT_MASK 0x1f00000000
#define GRID_SCHEDULER_RETURNED_LOST_SHIFT 62  // One was reported while the queue was full; until reset.
#define GRID_SCHEDULER_RETURNED_LOST_MASK 0x4000000000000000
#define GRID_SCHEDULER_RETURNED_VALID_SHIFT 63  // There is one.
#define GRID_SCHEDULER_RETURNED_VALID_MASK 0x8000000000000000

// A write of any value takes the work-group that `returned` shows. (write only, reads 0)
#define GRID_SCHEDULER_RETURNED_TAKE_OFFSET 0x70

// What one work-group needs and how the slot is served; ignored unless the slot is free. (read, write)
#define GRID_SCHEDULER_SLOT_NEEDS_OFFSET 0x800
#define GRID_SCHEDULER_SLOT_NEEDS_COUNT 32
#define GRID_SCHEDULER_SLOT_NEEDS_STRIDE 0x40
#define GRID_SCHEDULER_SLOT_NEEDS_OFFSET_AT(i) (0x800 + (i) * 0x40)
#define GRID_SCHEDULER_SLOT_NEEDS_REGISTERS_KIB_SHIFT 0  // Register file in KiB, rounded up.
#define GRID_SCHEDULER_SLOT_NEEDS_REGISTERS_KIB_MASK 0x3ff
#define GRID_SCHEDULER_SLOT_NEEDS_LDS_KIB_SHIFT 16  // Local data share in KiB, rounded up.
#define GRID_SCHEDULER_SLOT_NEEDS_LDS_KIB_MASK 0x3ff0000
#define GRID_SCHEDULER_SLOT_NEEDS_WAVEFRONTS_SHIFT 32  // Wavefronts.
#define GRID_SCHEDULER_SLOT_NEEDS_WAVEFRONTS_MASK 0xff00000000
#define GRID_SCHEDULER_SLOT_NEEDS_TYPE_SHIFT 48  // Class of the kernel; chooses the arbiter if policy.arbiters is two.
#define GRID_SCHEDULER_SLOT_NEEDS_TYPE_MASK 0x1000000000000
#define GRID_SCHEDULER_SLOT_NEEDS_TYPE_SIMT 0
#define GRID_SCHEDULER_SLOT_NEEDS_TYPE_TENSOR 1
#define GRID_SCHEDULER_SLOT_NEEDS_TYPE_MAX 1
#define GRID_SCHEDULER_SLOT_NEEDS_PRIORITY_SHIFT 56  // Higher is served first, equal in turn.
#define GRID_SCHEDULER_SLOT_NEEDS_PRIORITY_MASK 0x300000000000000

// Block range, the ids that this launch places; ignored unless the slot is free. (read, write)
#define GRID_SCHEDULER_SLOT_RANGE_OFFSET 0x808
#define GRID_SCHEDULER_SLOT_RANGE_COUNT 32
#define GRID_SCHEDULER_SLOT_RANGE_STRIDE 0x40
#define GRID_SCHEDULER_SLOT_RANGE_OFFSET_AT(i) (0x808 + (i) * 0x40)
#define GRID_SCHEDULER_SLOT_RANGE_FIRST_SHIFT 0  // First id.
#define GRID_SCHEDULER_SLOT_RANGE_FIRST_MASK 0xffffffff
#define GRID_SCHEDULER_SLOT_RANGE_COUNT_SHIFT 32  // Number of ids, at least 1.
#define GRID_SCHEDULER_SLOT_RANGE_COUNT_MASK 0xffffffff00000000

// Grid and staggered order; ignored unless the slot is free. (read, write)
#define GRID_SCHEDULER_SLOT_ORDER_OFFSET 0x810
#define GRID_SCHEDULER_SLOT_ORDER_COUNT 32
#define GRID_SCHEDULER_SLOT_ORDER_STRIDE 0x40
#define GRID_SCHEDULER_SLOT_ORDER_OFFSET_AT(i) (0x810 + (i) * 0x40)
#define GRID_SCHEDULER_SLOT_ORDER_GRID_SHIFT 0  // Work-groups of the whole grid; first + count may not exceed it.
#define GRID_SCHEDULER_SLOT_ORDER_GRID_MASK 0xffffffff
#define GRID_SCHEDULER_SLOT_ORDER_START_SHIFT 32  // Ids leave in the order first + (start + i) mod count; less than count.
#define GRID_SCHEDULER_SLOT_ORDER_START_MASK 0xffffffff00000000

// Commands. (write only, reads 0)
#define GRID_SCHEDULER_SLOT_CONTROL_OFFSET 0x818
#define GRID_SCHEDULER_SLOT_CONTROL_COUNT 32
#define GRID_SCHEDULER_SLOT_CONTROL_STRIDE 0x40
#define GRID_SCHEDULER_SLOT_CONTROL_OFFSET_AT(i) (0x818 + (i) * 0x40)
#define GRID_SCHEDULER_SLOT_CONTROL_LAUNCH_SHIFT 0  // 1 starts a free slot; otherwise ignored.
#define GRID_SCHEDULER_SLOT_CONTROL_LAUNCH_MASK 0x1
#define GRID_SCHEDULER_SLOT_CONTROL_PREEMPT_SHIFT 1  // 1 stops placing in a running slot; it is done when its work-groups have left.
#define GRID_SCHEDULER_SLOT_CONTROL_PREEMPT_MASK 0x2
#define GRID_SCHEDULER_SLOT_CONTROL_DRAIN_SHIFT 2  // 1 with preempt asks the units to hand back work-groups that have not begun.
#define GRID_SCHEDULER_SLOT_CONTROL_DRAIN_MASK 0x4

// State of the slot. (read only)
#define GRID_SCHEDULER_SLOT_STATE_OFFSET 0x820
#define GRID_SCHEDULER_SLOT_STATE_COUNT 32
#define GRID_SCHEDULER_SLOT_STATE_STRIDE 0x40
#define GRID_SCHEDULER_SLOT_STATE_OFFSET_AT(i) (0x820 + (i) * 0x40)
#define GRID_SCHEDULER_SLOT_STATE_STATE_SHIFT 0  // State; `reason` says why a launch was refused.
#define GRID_SCHEDULER_SLOT_STATE_STATE_MASK 0x3
#define GRID_SCHEDULER_SLOT_STATE_STATE_FREE 0
#define GRID_SCHEDULER_SLOT_STATE_STATE_RUNNING 1
#define GRID_SCHEDULER_SLOT_STATE_STATE_DONE 2
#define GRID_SCHEDULER_SLOT_STATE_STATE_REFUSED 3
#define GRID_SCHEDULER_SLOT_STATE_STATE_MAX 3
#define GRID_SCHEDULER_SLOT_STATE_PREEMPTED_SHIFT 2  // It was told to stop placing.
#define GRID_SCHEDULER_SLOT_STATE_PREEMPTED_MASK 0x4
#define GRID_SCHEDULER_SLOT_STATE_PIPELINE_SHIFT 3  // It waits for the rest of its pipeline to fit.
#define GRID_SCHEDULER_SLOT_STATE_PIPELINE_MASK 0x8
#define GRID_SCHEDULER_SLOT_STATE_REASON_SHIFT 4  // Why the launch was refused: needs above the capacity, range or start, gates, another pipeline or slot in the way, too many work-groups for a pipeline, never co-resident.
#define GRID_SCHEDULER_SLOT_STATE_REASON_MASK 0x70
#define GRID_SCHEDULER_SLOT_STATE_REASON_NONE 0
#define GRID_SCHEDULER_SLOT_STATE_REASON_NEEDS 1
#define GRID_SCHEDULER_SLOT_STATE_REASON_RANGE 2
#define GRID_SCHEDULER_SLOT_STATE_REASON_GATES 3
#define GRID_SCHEDULER_SLOT_STATE_REASON_BUSY 4
#define GRID_SCHEDULER_SLOT_STATE_REASON_TOO_MANY 5
#define GRID_SCHEDULER_SLOT_STATE_REASON_NEVER_FITS 6
#define GRID_SCHEDULER_SLOT_STATE_REASON_MAX 6
#define GRID_SCHEDULER_SLOT_STATE_CLOSED_SHIFT 7  // It waits for the gate of its next work-group.
#define GRID_SCHEDULER_SLOT_STATE_CLOSED_MASK 0x80
#define GRID_SCHEDULER_SLOT_STATE_RESIDENT_SHIFT 16  // Work-groups on compute units.
#define GRID_SCHEDULER_SLOT_STATE_RESIDENT_MASK 0xffff0000
#define GRID_SCHEDULER_SLOT_STATE_UNDISPATCHED_SHIFT 32  // Work-groups not yet placed; skip of a later launch that resumes it is count less this.
#define GRID_SCHEDULER_SLOT_STATE_UNDISPATCHED_MASK 0xffffffff00000000

// Resumption; ignored unless the slot is free, 0 again when the slot is freed. (read, write)
#define GRID_SCHEDULER_SLOT_SKIP_OFFSET 0x828
#define GRID_SCHEDULER_SLOT_SKIP_COUNT 32
#define GRID_SCHEDULER_SLOT_SKIP_STRIDE 0x40
#define GRID_SCHEDULER_SLOT_SKIP_OFFSET_AT(i) (0x828 + (i) * 0x40)
#define GRID_SCHEDULER_SLOT_SKIP_SKIP_SHIFT 0  // Work-groups at the begin of the order that were placed already; less than count.
#define GRID_SCHEDULER_SLOT_SKIP_SKIP_MASK 0xffffffff

// Gates: work-group first + p waits until gate p / batch is open; ignored unless the slot is free, 0 again when it is freed. (read, write)
#define GRID_SCHEDULER_SLOT_GATE_OFFSET 0x830
#define GRID_SCHEDULER_SLOT_GATE_COUNT 32
#define GRID_SCHEDULER_SLOT_GATE_STRIDE 0x40
#define GRID_SCHEDULER_SLOT_GATE_OFFSET_AT(i) (0x830 + (i) * 0x40)
#define GRID_SCHEDULER_SLOT_GATE_BATCH_SHIFT 0  // Work-groups of one gate; 0 = not gated.
#define GRID_SCHEDULER_SLOT_GATE_BATCH_MASK 0xffff
#define GRID_SCHEDULER_SLOT_GATE_GATE_SHIFT 16  // Quotient of the first position, (start + skip) mod count, by batch.
#define GRID_SCHEDULER_SLOT_GATE_GATE_MASK 0xffff0000
#define GRID_SCHEDULER_SLOT_GATE_PHASE_SHIFT 32  // Remainder of that.
#define GRID_SCHEDULER_SLOT_GATE_PHASE_MASK 0xffff00000000

// What of a compute unit is taken; layout of `capacity`. (read only)
#define GRID_SCHEDULER_UNIT_USE_OFFSET 0x1000
#define GRID_SCHEDULER_UNIT_USE_COUNT 160
#define GRID_SCHEDULER_UNIT_USE_STRIDE 0x8
#define GRID_SCHEDULER_UNIT_USE_OFFSET_AT(i) (0x1000 + (i) * 0x8)
#define GRID_SCHEDULER_UNIT_USE_REGISTERS_KIB_SHIFT 0  // Register file in KiB.
#define GRID_SCHEDULER_UNIT_USE_REGISTERS_KIB_MASK 0x3ff
#define GRID_SCHEDULER_UNIT_USE_LDS_KIB_SHIFT 16  // Local data share in KiB.
#define GRID_SCHEDULER_UNIT_USE_LDS_KIB_MASK 0x3ff0000
#define GRID_SCHEDULER_UNIT_USE_WAVEFRONTS_SHIFT 32  // Wavefront slots.
#define GRID_SCHEDULER_UNIT_USE_WAVEFRONTS_MASK 0xff00000000
#define GRID_SCHEDULER_UNIT_USE_WORK_GROUPS_SHIFT 48  // Work-group slots.
#define GRID_SCHEDULER_UNIT_USE_WORK_GROUPS_MASK 0xff000000000000

#endif  // STRETTO_SW_INCLUDE_REGS_GRID_SCHEDULER_REGS_H_
