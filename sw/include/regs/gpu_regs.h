// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/gpu.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;
// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.
#ifndef STRETTO_SW_INCLUDE_REGS_GPU_REGS_H_
#define STRETTO_SW_INCLUDE_REGS_GPU_REGS_H_

// gpu: GPU front end, at STRETTO_GPU_BASE.

// Operations of the whole L2, for kernel boundaries. Both bits write back first. (write only, reads 0)
#define GPU_L2_COMMAND_OFFSET 0x400
#define GPU_L2_COMMAND_WRITE_BACK_SHIFT 0  // Release at system scope. Writes every dirty sector back, on the account of who dirtied it; lines stay. Ignored while l2_status.busy.
#define GPU_L2_COMMAND_WRITE_BACK_MASK 0x1
#define GPU_L2_COMMAND_INVALIDATE_SHIFT 1  // Acquire at system scope. Forgets, at once, every sector that is neither dirty nor pinned nor on its way.
#define GPU_L2_COMMAND_INVALIDATE_MASK 0x2

// State of the write-back of l2_command. (read only)
#define GPU_L2_STATUS_OFFSET 0x408
#define GPU_L2_STATUS_BUSY_SHIFT 0  // It is running; its last sector has not been answered.
#define GPU_L2_STATUS_BUSY_MASK 0x1
#define GPU_L2_STATUS_COMPLETED_SHIFT 32  // Write-backs completed since reset.
#define GPU_L2_STATUS_COMPLETED_MASK 0xffffffff00000000

// Line STRETTO_IRQ_L2 is high while pending is set. (read, write 1 to clear)
#define GPU_L2_DONE_OFFSET 0x410
#define GPU_L2_DONE_PENDING_SHIFT 0  // A write-back of l2_command is complete.
#define GPU_L2_DONE_PENDING_MASK 0x1

// What the L2 is. Reset value from the machine file. (read only)
#define GPU_L2_SIZE_OFFSET 0x418
#define GPU_L2_SIZE_BYTES_SHIFT 0  // Size.
#define GPU_L2_SIZE_BYTES_MASK 0xffffffff
#define GPU_L2_SIZE_WAYS_SHIFT 32  // Lines of a set.
#define GPU_L2_SIZE_WAYS_MASK 0xff00000000
#define GPU_L2_SIZE_PERSIST_WAYS_SHIFT 40  // Ways of each set that pinned ranges may have at most; fewer than ways.
#define GPU_L2_SIZE_PERSIST_WAYS_MASK 0xff0000000000

// Share of the L2 that pinned ranges have. A line of a pinned range that comes into a set with so many pinned lines is an ordinary line. Changing it chooses anew. (read, write)
#define GPU_L2_PERSIST_OFFSET 0x420
#define GPU_L2_PERSIST_WAYS_SHIFT 0  // Of each set; 0 pins nothing; what is above l2_size.persist_ways counts as that.
#define GPU_L2_PERSIST_WAYS_MASK 0xff

// Pinned range i, first byte. Up to the share of l2_persist its lines are not chosen as victims once they are in the cache. (read, write)
#define GPU_L2_PIN_BASE_OFFSET 0x440
#define GPU_L2_PIN_BASE_COUNT 4
#define GPU_L2_PIN_BASE_STRIDE 0x10
#define GPU_L2_PIN_BASE_OFFSET_AT(i) (0x440 + (i) * 0x10)
#define GPU_L2_PIN_BASE_ADDRESS_SHIFT 0  // Aligned to 128 bytes.
#define GPU_L2_PIN_BASE_ADDRESS_MASK 0xffffffffffff

// Pinned range i, size. Changing it unpins the lines that are pinned by it. (read, write)
#define GPU_L2_PIN_BYTES_OFFSET 0x448
#define GPU_L2_PIN_BYTES_COUNT 4
#define GPU_L2_PIN_BYTES_STRIDE 0x10
#define GPU_L2_PIN_BYTES_OFFSET_AT(i) (0x448 + (i) * 0x10)
#define GPU_L2_PIN_BYTES_BYTES_SHIFT 0  // 0 = not in use.
#define GPU_L2_PIN_BYTES_BYTES_MASK 0xffffffff

// Line STRETTO_IRQ_FAULT is high while pending is set. (read, write 1 to clear)
#define GPU_FAULT_STATUS_OFFSET 0x480
#define GPU_FAULT_STATUS_PENDING_SHIFT 0  // The fault registers hold a fault; clearing it lets the next one in.
#define GPU_FAULT_STATUS_PENDING_MASK 0x1
#define GPU_FAULT_STATUS_LOST_SHIFT 1  // A further fault came while pending was set; only its number was counted.
#define GPU_FAULT_STATUS_LOST_MASK 0x2

// What went wrong. (read only)
#define GPU_FAULT_KIND_OFFSET 0x488
#define GPU_FAULT_KIND_KIND_SHIFT 0  // Kind.
#define GPU_FAULT_KIND_KIND_MASK 0xff
#define GPU_FAULT_KIND_KIND_NONE 0
#define GPU_FAULT_KIND_KIND_UNMAPPED_LOAD 1
#define GPU_FAULT_KIND_KIND_UNMAPPED_STORE 2
#define GPU_FAULT_KIND_KIND_REMOTE_LOAD 3
#define GPU_FAULT_KIND_KIND_ILLEGAL_INSTRUCTION 4
#define GPU_FAULT_KIND_KIND_BAD_SHAPE 5
#define GPU_FAULT_KIND_KIND_NO_ROOM 6
#define GPU_FAULT_KIND_KIND_EMPTY_TILE 7
#define GPU_FAULT_KIND_KIND_FETCH 8
#define GPU_FAULT_KIND_KIND_MISALIGNED 9
#define GPU_FAULT_KIND_KIND_BUS_ERROR 10
#define GPU_FAULT_KIND_KIND_KERNEL_TOO_LARGE 11
#define GPU_FAULT_KIND_KIND_BAD_CONTEXT 12
#define GPU_FAULT_KIND_KIND_REMOTE_ATOMIC 13
#define GPU_FAULT_KIND_KIND_MAX 13
#define GPU_FAULT_KIND_CAUSE_SHIFT 8  // RISC-V exception cause where there is one.
#define GPU_FAULT_KIND_CAUSE_MASK 0xff00
#define GPU_FAULT_KIND_SLOT_SHIFT 16  // Kernel slot.
#define GPU_FAULT_KIND_SLOT_MASK 0x1f0000
#define GPU_FAULT_KIND_CU_SHIFT 24  // Compute unit.
#define GPU_FAULT_KIND_CU_MASK 0xff000000
#define GPU_FAULT_KIND_WF_ID_SHIFT 32  // Wavefront in the work-group.
#define GPU_FAULT_KIND_WF_ID_MASK 0xff00000000

// Address of the access, 48 bits; of kernel_too_large, the bytes that were asked for. (read only)
#define GPU_FAULT_ADDRESS_OFFSET 0x490

// Address of the instruction. (read only)
#define GPU_FAULT_PC_OFFSET 0x498

// Work-group id. (read only)
#define GPU_FAULT_WG_OFFSET 0x4a0

// Faults since reset. (read only)
#define GPU_FAULT_COUNT_OFFSET 0x4a8

// Compute units of this GPU. Reset value from the machine file, as for the four below. (read only)
#define GPU_CUS_OFFSET 0x500

// Register file bytes of a compute unit. (read only)
#define GPU_REGISTERS_PER_CU_OFFSET 0x508

// LDS bytes of a compute unit. (read only)
#define GPU_LDS_PER_CU_OFFSET 0x510

// Wavefront slots of a compute unit. (read only)
#define GPU_WAVEFRONTS_PER_CU_OFFSET 0x518

// Work-group slots of a compute unit. (read only)
#define GPU_WORKGROUPS_PER_CU_OFFSET 0x520

// Which gate of the grid scheduler a scheduling event of the Tracker counts for (T3-AGC-02). The event of id i counts for gate i / per_gate; a gate opens with the last event of its ids. A write forgets what was counted. (read, write)
#define GPU_EVENT_MAP_OFFSET 0x540
#define GPU_EVENT_MAP_PER_GATE_SHIFT 0  // Ids of one gate; the last gate has what is left.
#define GPU_EVENT_MAP_PER_GATE_MASK 0xffff
#define GPU_EVENT_MAP_IDS_SHIFT 32  // Events of ids 0 .. ids - 1 are expected, one each, 0..65536; others open nothing and are counted as stray.
#define GPU_EVENT_MAP_IDS_MASK 0x1ffff00000000

// Work-groups started since reset. (read only)
#define GPU_COUNT_DISPATCHED_OFFSET 0x600

// Work-groups ended since reset. (read only)
#define GPU_COUNT_RETIRED_OFFSET 0x608

// Instructions retired by all wavefronts. (read only)
#define GPU_COUNT_INSTRUCTIONS_OFFSET 0x610

// L2 sector hits. (read only)
#define GPU_COUNT_L2_HITS_OFFSET 0x618

// L2 sector misses. (read only)
#define GPU_COUNT_L2_MISSES_OFFSET 0x620

// Scheduling events since reset. (read only)
#define GPU_COUNT_EVENTS_OFFSET 0x628

// Of them, those for an id without a gate, or for a gate that had all of its events. (read only)
#define GPU_COUNT_STRAY_EVENTS_OFFSET 0x630

// Work-groups that left their unit with their state in memory, since reset. (read only)
#define GPU_COUNT_SUSPENDED_OFFSET 0x638

// Of them, those that have come to a unit again. (read only)
#define GPU_COUNT_RESUMED_OFFSET 0x640

// Kernel slot i: address of the first instruction. Contexts are sampled when the slot's launch bit is written (grid_scheduler.yaml): program the context first. (read, write)
#define GPU_CONTEXT_ENTRY_OFFSET 0x1000
#define GPU_CONTEXT_ENTRY_COUNT 32
#define GPU_CONTEXT_ENTRY_STRIDE 0x80
#define GPU_CONTEXT_ENTRY_OFFSET_AT(i) (0x1000 + (i) * 0x80)
#define GPU_CONTEXT_ENTRY_ADDRESS_SHIFT 0  // 48-bit address in the memory of this GPU.
#define GPU_CONTEXT_ENTRY_ADDRESS_MASK 0xffffffffffff

// Kernel slot i, address of the kernel arguments; loads from them are not timed and need no range entry. (read, write)
#define GPU_CONTEXT_KERNARG_OFFSET 0x1008
#define GPU_CONTEXT_KERNARG_COUNT 32
#define GPU_CONTEXT_KERNARG_STRIDE 0x80
#define GPU_CONTEXT_KERNARG_OFFSET_AT(i) (0x1008 + (i) * 0x80)
#define GPU_CONTEXT_KERNARG_ADDRESS_SHIFT 0  // 48-bit address in the memory of this GPU.
#define GPU_CONTEXT_KERNARG_ADDRESS_MASK 0xffffffffffff

// Kernel slot i, size of the kernel arguments. (read, write)
#define GPU_CONTEXT_KERNARG_BYTES_OFFSET 0x1010
#define GPU_CONTEXT_KERNARG_BYTES_COUNT 32
#define GPU_CONTEXT_KERNARG_BYTES_STRIDE 0x80
#define GPU_CONTEXT_KERNARG_BYTES_OFFSET_AT(i) (0x1010 + (i) * 0x80)
#define GPU_CONTEXT_KERNARG_BYTES_BYTES_SHIFT 0  // 0..65535.
#define GPU_CONTEXT_KERNARG_BYTES_BYTES_MASK 0xffff

// Kernel slot i, first byte of the loaded code object; fetches and loads of constants inside it need no range entry. (read, write)
#define GPU_CONTEXT_CODE_BASE_OFFSET 0x1018
#define GPU_CONTEXT_CODE_BASE_COUNT 32
#define GPU_CONTEXT_CODE_BASE_STRIDE 0x80
#define GPU_CONTEXT_CODE_BASE_OFFSET_AT(i) (0x1018 + (i) * 0x80)
#define GPU_CONTEXT_CODE_BASE_ADDRESS_SHIFT 0  // 48-bit address in the memory of this GPU.
#define GPU_CONTEXT_CODE_BASE_ADDRESS_MASK 0xffffffffffff

// Kernel slot i, bytes of the loaded code object. (read, write)
#define GPU_CONTEXT_CODE_BYTES_OFFSET 0x1020
#define GPU_CONTEXT_CODE_BYTES_COUNT 32
#define GPU_CONTEXT_CODE_BYTES_STRIDE 0x80
#define GPU_CONTEXT_CODE_BYTES_OFFSET_AT(i) (0x1020 + (i) * 0x80)
#define GPU_CONTEXT_CODE_BYTES_BYTES_SHIFT 0  // At least 4.
#define GPU_CONTEXT_CODE_BYTES_BYTES_MASK 0xffffffff

// Kernel slot i, register file bytes of one work-group (code object descriptor). (read, write)
#define GPU_CONTEXT_REGISTERS_BYTES_OFFSET 0x1028
#define GPU_CONTEXT_REGISTERS_BYTES_COUNT 32
#define GPU_CONTEXT_REGISTERS_BYTES_STRIDE 0x80
#define GPU_CONTEXT_REGISTERS_BYTES_OFFSET_AT(i) (0x1028 + (i) * 0x80)
#define GPU_CONTEXT_REGISTERS_BYTES_BYTES_SHIFT 0  // More than registers_per_cu is refused at launch (fault kind kernel_too_large).
#define GPU_CONTEXT_REGISTERS_BYTES_BYTES_MASK 0xffffffff

// Kernel slot i, LDS bytes of one work-group. (read, write)
#define GPU_CONTEXT_LDS_BYTES_OFFSET 0x1030
#define GPU_CONTEXT_LDS_BYTES_COUNT 32
#define GPU_CONTEXT_LDS_BYTES_STRIDE 0x80
#define GPU_CONTEXT_LDS_BYTES_OFFSET_AT(i) (0x1030 + (i) * 0x80)
#define GPU_CONTEXT_LDS_BYTES_BYTES_SHIFT 0  // More than lds_per_cu is refused at launch.
#define GPU_CONTEXT_LDS_BYTES_BYTES_MASK 0xffffffff

// Kernel slot i, private memory (stack) of one wavefront; x2 starts at its end. (read, write)
#define GPU_CONTEXT_PRIVATE_BYTES_OFFSET 0x1038
#define GPU_CONTEXT_PRIVATE_BYTES_COUNT 32
#define GPU_CONTEXT_PRIVATE_BYTES_STRIDE 0x80
#define GPU_CONTEXT_PRIVATE_BYTES_OFFSET_AT(i) (0x1038 + (i) * 0x80)
#define GPU_CONTEXT_PRIVATE_BYTES_BYTES_SHIFT 0  // Power of two, 256..65536; 0 = none.
#define GPU_CONTEXT_PRIVATE_BYTES_BYTES_MASK 0xffffffff

// Kernel slot i, wavefronts of one work-group. (read, write)
#define GPU_CONTEXT_WAVEFRONTS_OFFSET 0x1040
#define GPU_CONTEXT_WAVEFRONTS_COUNT 32
#define GPU_CONTEXT_WAVEFRONTS_STRIDE 0x80
#define GPU_CONTEXT_WAVEFRONTS_OFFSET_AT(i) (0x1040 + (i) * 0x80)
#define GPU_CONTEXT_WAVEFRONTS_RESET 0x1
#define GPU_CONTEXT_WAVEFRONTS_COUNT_SHIFT 0  // 1..8.
#define GPU_CONTEXT_WAVEFRONTS_COUNT_MASK 0xff

// Kernel slot i, the whole grid, as the kernel sees it (TILE_CSR_GRID, TILE_CSR_GRID_X, ...). (read, write)
#define GPU_CONTEXT_GRID_OFFSET 0x1048
#define GPU_CONTEXT_GRID_COUNT 32
#define GPU_CONTEXT_GRID_STRIDE 0x80
#define GPU_CONTEXT_GRID_OFFSET_AT(i) (0x1048 + (i) * 0x80)
#define GPU_CONTEXT_GRID_WORKGROUPS_SHIFT 0  // All of them, at least 1; x y z.
#define GPU_CONTEXT_GRID_WORKGROUPS_MASK 0xffffffff
#define GPU_CONTEXT_GRID_Y_SHIFT 32  // Rows, 0 meaning 1.
#define GPU_CONTEXT_GRID_Y_MASK 0xffff00000000
#define GPU_CONTEXT_GRID_Z_SHIFT 48  // Planes, 0 meaning 1.
#define GPU_CONTEXT_GRID_Z_MASK 0xffff000000000000

// Kernel slot i, properties of all its work-groups. (read, write)
#define GPU_CONTEXT_FLAGS_OFFSET 0x1050
#define GPU_CONTEXT_FLAGS_COUNT 32
#define GPU_CONTEXT_FLAGS_STRIDE 0x80
#define GPU_CONTEXT_FLAGS_OFFSET_AT(i) (0x1050 + (i) * 0x80)
#define GPU_CONTEXT_FLAGS_UPDATE_SHIFT 0  // The update bit of the dispatch packet. Tags tile stores into range entries (T3-NMC-03).
#define GPU_CONTEXT_FLAGS_UPDATE_MASK 0x1
#define GPU_CONTEXT_FLAGS_ACCOUNT_SHIFT 4  // The account of its memory accesses (machine_types.h).
#define GPU_CONTEXT_FLAGS_ACCOUNT_MASK 0xf0
#define GPU_CONTEXT_FLAGS_TYPE_SHIFT 8  // Kernel type.
#define GPU_CONTEXT_FLAGS_TYPE_MASK 0x100
#define GPU_CONTEXT_FLAGS_TYPE_SIMT 0
#define GPU_CONTEXT_FLAGS_TYPE_TENSOR 1
#define GPU_CONTEXT_FLAGS_TYPE_MAX 1
#define GPU_CONTEXT_FLAGS_COMMUNICATION_SHIFT 9  // Its memory traffic belongs to the communication stream of the MCA (collective kernels).
#define GPU_CONTEXT_FLAGS_COMMUNICATION_MASK 0x200
#define GPU_CONTEXT_FLAGS_SPLIT_SHIFT 16  // Work-groups of an output tile, 0 meaning 1 (split-K, T3-SPLITK-02). What work-group w writes carries the id of tile w / split.
#define GPU_CONTEXT_FLAGS_SPLIT_MASK 0xff0000

// Kernel slot i: where states of its work-groups are saved. With save_bytes, a preemption of the slot that drains (grid_scheduler.yaml, slot_control.drain) suspends what has begun: it comes back as returned, too, and its state waits there. (read, write)
#define GPU_CONTEXT_SAVE_BASE_OFFSET 0x1058
#define GPU_CONTEXT_SAVE_BASE_COUNT 32
#define GPU_CONTEXT_SAVE_BASE_STRIDE 0x80
#define GPU_CONTEXT_SAVE_BASE_OFFSET_AT(i) (0x1058 + (i) * 0x80)
#define GPU_CONTEXT_SAVE_BASE_ADDRESS_SHIFT 0  // 48-bit address in the memory of this GPU, a multiple of 128.
#define GPU_CONTEXT_SAVE_BASE_ADDRESS_MASK 0xffffffffffff

// Kernel slot i, bytes of that memory. Slots may have the same. A work-group that finds no room runs to its end. (read, write)
#define GPU_CONTEXT_SAVE_BYTES_OFFSET 0x1060
#define GPU_CONTEXT_SAVE_BYTES_COUNT 32
#define GPU_CONTEXT_SAVE_BYTES_STRIDE 0x80
#define GPU_CONTEXT_SAVE_BYTES_OFFSET_AT(i) (0x1060 + (i) * 0x80)
#define GPU_CONTEXT_SAVE_BYTES_BYTES_SHIFT 0  // 0 = nothing is suspended: what has begun runs to its end.
#define GPU_CONTEXT_SAVE_BYTES_BYTES_MASK 0xffffffffff

// Kernel slot i: the next launch goes on with what earlier launches of the same kernel left. Sampled at the launch, and 0 then. (read, write)
#define GPU_CONTEXT_RESUME_OFFSET 0x1068
#define GPU_CONTEXT_RESUME_COUNT 32
#define GPU_CONTEXT_RESUME_STRIDE 0x80
#define GPU_CONTEXT_RESUME_OFFSET_AT(i) (0x1068 + (i) * 0x80)
#define GPU_CONTEXT_RESUME_REPLAYED_SHIFT 0  // So many work-groups at the begin of the launch's order were placed before. Of these, those that were suspended go on, those that came back before they began begin, and all others have ended: they leave their unit again at once.
#define GPU_CONTEXT_RESUME_REPLAYED_MASK 0xffffffff

#endif  // STRETTO_SW_INCLUDE_REGS_GPU_REGS_H_
