// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/mca.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;
// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.
#ifndef STRETTO_SW_INCLUDE_REGS_MCA_REGS_H_
#define STRETTO_SW_INCLUDE_REGS_MCA_REGS_H_

// mca: Arbiter between the compute and the communication queue of one HBM channel.

// Policy of the arbiter; may be written under traffic. (read, write)
#define MCA_CONTROL_OFFSET 0x0
#define MCA_CONTROL_POLICY_SHIFT 0  // Who goes first; a value without a name is compute_exclusive (during a drain every policy is round_robin).
#define MCA_CONTROL_POLICY_MASK 0xf
#define MCA_CONTROL_POLICY_ROUND_ROBIN 0
#define MCA_CONTROL_POLICY_COMMUNICATION_AWARE 1
#define MCA_CONTROL_POLICY_COMPUTE_FIRST_NO_LIMIT 2
#define MCA_CONTROL_POLICY_COMPUTE_EXCLUSIVE 3
#define MCA_CONTROL_POLICY_MAX 3
#define MCA_CONTROL_THRESHOLD_SELECT_SHIFT 4  // Where the occupancy limit of communication_aware comes from.
#define MCA_CONTROL_THRESHOLD_SELECT_MASK 0x10
#define MCA_CONTROL_THRESHOLD_SELECT_FIXED 0
#define MCA_CONTROL_THRESHOLD_SELECT_AUTOMATIC 1
#define MCA_CONTROL_THRESHOLD_SELECT_MAX 1

// The limit under threshold_select fixed. (read, write)
#define MCA_THRESHOLD_OFFSET 0x8
#define MCA_THRESHOLD_LIMIT_SHIFT 0  // Communication is granted only while the DRAM queue holds fewer atoms; 0 = no limit. The paper uses 5, 10, 30 and none.
#define MCA_THRESHOLD_LIMIT_MASK 0x7f

// Mean DRAM-queue occupancies that choose the limit under threshold_select automatic (T3-U05). (read, write)
#define MCA_CUTOFFS_OFFSET 0x10
#define MCA_CUTOFFS_RESET 0x81020
#define MCA_CUTOFFS_LIMIT_5_SHIFT 0  // Mean above this gives limit 5.
#define MCA_CUTOFFS_LIMIT_5_MASK 0x7f
#define MCA_CUTOFFS_LIMIT_10_SHIFT 8  // Otherwise, mean above this gives limit 10.
#define MCA_CUTOFFS_LIMIT_10_MASK 0x7f00
#define MCA_CUTOFFS_LIMIT_30_SHIFT 16  // Otherwise, mean above this gives limit 30, else none.
#define MCA_CUTOFFS_LIMIT_30_MASK 0x7f0000

// Communication that has waited this long goes first (not in round_robin, which cannot starve). (read, write)
#define MCA_STARVE_LIMIT_OFFSET 0x18
#define MCA_STARVE_LIMIT_RESET 0x3e8
#define MCA_STARVE_LIMIT_CYCLES_SHIFT 0  // Memory clock cycles since the last communication grant, or since the queue became non-empty.
#define MCA_STARVE_LIMIT_CYCLES_MASK 0xffffffff

// Capacity of the DRAM queue. (read, write)
#define MCA_DRAM_QUEUE_DEPTH_OFFSET 0x20
#define MCA_DRAM_QUEUE_DEPTH_RESET 0x40
#define MCA_DRAM_QUEUE_DEPTH_ATOMS_SHIFT 0  // Atoms, 1..127; no grant while the queue holds that many.
#define MCA_DRAM_QUEUE_DEPTH_ATOMS_MASK 0x7f

// State of the arbiter. (read only)
#define MCA_STATUS_OFFSET 0x28
#define MCA_STATUS_OCCUPANCY_SHIFT 0  // Atoms in the DRAM queue.
#define MCA_STATUS_OCCUPANCY_MASK 0xff
#define MCA_STATUS_LIMIT_SHIFT 8  // Occupancy limit in force; 0 = none.
#define MCA_STATUS_LIMIT_MASK 0x7f00
#define MCA_STATUS_DRAINING_SHIFT 16  // A kernel ended and the communication queue is not empty yet.
#define MCA_STATUS_DRAINING_MASK 0x10000
#define MCA_STATUS_MEASURING_SHIFT 17  // Between kernel_start and first_wg_done.
#define MCA_STATUS_MEASURING_MASK 0x20000
#define MCA_STATUS_KERNELS_SHIFT 20  // Kernels started and not ended.
#define MCA_STATUS_KERNELS_MASK 0xf00000
#define MCA_STATUS_COMPUTE_PENDING_SHIFT 32  // Atoms in the compute queue.
#define MCA_STATUS_COMPUTE_PENDING_MASK 0xffff00000000
#define MCA_STATUS_COMM_PENDING_SHIFT 48  // Atoms in the communication queue.
#define MCA_STATUS_COMM_PENDING_MASK 0xffff000000000000

// Sum of the DRAM-queue occupancy over the measured cycles (48 bits). (read only)
#define MCA_SAMPLE_SUM_OFFSET 0x30

// Measured cycles, those with an empty communication queue between kernel_start and first_wg_done (40 bits). (read only)
#define MCA_SAMPLE_CYCLES_OFFSET 0x38

// Compute atoms granted since reset or counter_clear (48 bits). (read only)
#define MCA_GRANTS_COMPUTE_OFFSET 0x40

// Communication atoms granted since reset or counter_clear (48 bits). (read only)
#define MCA_GRANTS_COMM_OFFSET 0x48

// Communication atoms granted because of starve_limit alone (48 bits). (read only)
#define MCA_GRANTS_STARVED_OFFSET 0x50

// Drains completed since reset or counter_clear (48 bits). (read only)
#define MCA_DRAINS_OFFSET 0x58

// A write of any value clears the four counters above. (write only, reads 0)
#define MCA_COUNTER_CLEAR_OFFSET 0x60

#endif  // STRETTO_SW_INCLUDE_REGS_MCA_REGS_H_
