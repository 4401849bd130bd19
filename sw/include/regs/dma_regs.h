// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/dma.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;
// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.
#ifndef STRETTO_SW_INCLUDE_REGS_DMA_REGS_H_
#define STRETTO_SW_INCLUDE_REGS_DMA_REGS_H_

// dma: DMA engine, at STRETTO_DMA_BASE.

// Configuration; its reset value comes from the machine file. (read, write)
#define DMA_CONTROL_OFFSET 0x0
#define DMA_CONTROL_READ_PACING_SHIFT 0  // When triggered reads are issued.
#define DMA_CONTROL_READ_PACING_MASK 0x1
#define DMA_CONTROL_READ_PACING_LINK 0
#define DMA_CONTROL_READ_PACING_UNTHROTTLED 1
#define DMA_CONTROL_READ_PACING_MAX 1

// Bytes that may be in reading or waiting for the link, per link, when read_pacing is link. Reset value from the machine file. (read, write)
#define DMA_IN_FLIGHT_LIMIT_OFFSET 0x8
#define DMA_IN_FLIGHT_LIMIT_RESET 0x10000
#define DMA_IN_FLIGHT_LIMIT_BYTES_SHIFT 0  // At least 8192.
#define DMA_IN_FLIGHT_LIMIT_BYTES_MASK 0xffffffff

// Errors; line STRETTO_IRQ_DMA_ERROR is high while a bit is set that is enabled in error_enable. (read, write 1 to clear)
#define DMA_ERROR_OFFSET 0x10
#define DMA_ERROR_BAD_DESCRIPTOR_SHIFT 0  // A pushed descriptor was refused (it gets an id and is complete at once).
#define DMA_ERROR_BAD_DESCRIPTOR_MASK 0x1
#define DMA_ERROR_QUEUE_FULL_SHIFT 1  // A descriptor was pushed into a full queue and lost; it gets no id.
#define DMA_ERROR_QUEUE_FULL_MASK 0x2
#define DMA_ERROR_BAD_REGION_SHIFT 2  // A region was made valid with contents that are not allowed; it stays invalid.
#define DMA_ERROR_BAD_REGION_MASK 0x4
#define DMA_ERROR_NO_REGION_SHIFT 3  // A trigger hit no valid region.
#define DMA_ERROR_NO_REGION_MASK 0x8
#define DMA_ERROR_REPEATED_TRIGGER_SHIFT 4  // A wavefront tile was triggered twice; the second is ignored.
#define DMA_ERROR_REPEATED_TRIGGER_MASK 0x10
#define DMA_ERROR_RESPONSE_SHIFT 5  // The memory or the link answered with an error.
#define DMA_ERROR_RESPONSE_MASK 0x20

// Bit n lets bit n of error raise STRETTO_IRQ_DMA_ERROR. (read, write)
#define DMA_ERROR_ENABLE_OFFSET 0x18
#define DMA_ERROR_ENABLE_BITS_SHIFT 0  // One bit an error.
#define DMA_ERROR_ENABLE_BITS_MASK 0x3f

// What the first error since error was last zero was about. (read only)
#define DMA_ERROR_INFO_OFFSET 0x20
#define DMA_ERROR_INFO_WG_ID_SHIFT 0  // Work-group of the trigger.
#define DMA_ERROR_INFO_WG_ID_MASK 0xffffffff
#define DMA_ERROR_INFO_WF_ID_SHIFT 32  // Wavefront of the trigger.
#define DMA_ERROR_INFO_WF_ID_MASK 0x700000000
#define DMA_ERROR_INFO_INDEX_SHIFT 48  // Region or low bits of the descriptor id.
#define DMA_ERROR_INFO_INDEX_MASK 0xffff000000000000

// Line STRETTO_IRQ_DMA is high while queue_done is set and enabled here, or a bit of region_done is set and enabled. (read, write)
#define DMA_IRQ_ENABLE_OFFSET 0x28
#define DMA_IRQ_ENABLE_QUEUE_DONE_SHIFT 0  // Lets queue_status.done raise the line.
#define DMA_IRQ_ENABLE_QUEUE_DONE_MASK 0x1

// Staged descriptor, source address (copy), in the memory of this GPU. (read, write)
#define DMA_QUEUE_SOURCE_OFFSET 0x40
#define DMA_QUEUE_SOURCE_ADDRESS_SHIFT 0  // 48-bit address.
#define DMA_QUEUE_SOURCE_ADDRESS_MASK 0xffffffffffff

// Staged descriptor, destination address; of a fill in this GPU and aligned to 8, of a copy anywhere; aligned to the element if a copy updates. (read, write)
#define DMA_QUEUE_DESTINATION_OFFSET 0x48
#define DMA_QUEUE_DESTINATION_ADDRESS_SHIFT 0  // 48-bit address.
#define DMA_QUEUE_DESTINATION_ADDRESS_MASK 0xffffffffffff

// Staged descriptor, length in bytes, not 0; of a fill a multiple of 8. (read, write)
#define DMA_QUEUE_BYTES_OFFSET 0x50
#define DMA_QUEUE_BYTES_BYTES_SHIFT 0  // Length.
#define DMA_QUEUE_BYTES_BYTES_MASK 0xffffffffff

// Staged descriptor, the 8 bytes that a fill repeats. (read, write)
#define DMA_QUEUE_PATTERN_OFFSET 0x58

// Writing completes the staged descriptor with these fields and appends it to the queue of 16. It gets the next id (the first is 1). Descriptors start in order, overlap, and count as complete in order. (write only, reads 0)
#define DMA_QUEUE_PUSH_OFFSET 0x60
#define DMA_QUEUE_PUSH_KIND_SHIFT 0  // What to do.
#define DMA_QUEUE_PUSH_KIND_MASK 0x1
#define DMA_QUEUE_PUSH_KIND_FILL 0
#define DMA_QUEUE_PUSH_KIND_COPY 1
#define DMA_QUEUE_PUSH_KIND_MAX 1
#define DMA_QUEUE_PUSH_OPERATION_SHIFT 4  // How a copy writes.
#define DMA_QUEUE_PUSH_OPERATION_MASK 0x10
#define DMA_QUEUE_PUSH_OPERATION_STORE 0
#define DMA_QUEUE_PUSH_OPERATION_UPDATE 1
#define DMA_QUEUE_PUSH_OPERATION_MAX 1
#define DMA_QUEUE_PUSH_ELEMENT_SHIFT 8  // ElementType of machine_types.h (of an update).
#define DMA_QUEUE_PUSH_ELEMENT_MASK 0x700
#define DMA_QUEUE_PUSH_ACCOUNT_SHIFT 12  // Account of what it reads and writes (machine_types.h).
#define DMA_QUEUE_PUSH_ACCOUNT_MASK 0xf000
#define DMA_QUEUE_PUSH_INTERRUPT_SHIFT 16  // Its completion sets queue_status.done.
#define DMA_QUEUE_PUSH_INTERRUPT_MASK 0x10000

// State of the immediate queue. (read, write 1 to clear)
#define DMA_QUEUE_STATUS_OFFSET 0x68
#define DMA_QUEUE_STATUS_DONE_SHIFT 0  // A descriptor with interrupt set is complete.
#define DMA_QUEUE_STATUS_DONE_MASK 0x1
#define DMA_QUEUE_STATUS_FREE_SHIFT 8  // Free places, 0..16.
#define DMA_QUEUE_STATUS_FREE_MASK 0x1f00

// Id of the newest descriptor; 0 = none yet. (read only)
#define DMA_QUEUE_PUSHED_OFFSET 0x70

// All descriptors with ids up to this are complete: what they write here is in memory, what they send has been taken by the link (a flag sent over the same link afterwards arrives after it). (read only)
#define DMA_QUEUE_COMPLETED_OFFSET 0x78

// Bit r % 64 of register r / 64: every wavefront tile of region r was triggered and, if the region transfers, has left over the link. (read, write 1 to clear)
#define DMA_REGION_DONE_OFFSET 0x80
#define DMA_REGION_DONE_COUNT 2
#define DMA_REGION_DONE_STRIDE 0x8
#define DMA_REGION_DONE_OFFSET_AT(i) (0x80 + (i) * 0x8)

// Same bits, let region_done raise STRETTO_IRQ_DMA. (read, write)
#define DMA_REGION_IRQ_ENABLE_OFFSET 0x90
#define DMA_REGION_IRQ_ENABLE_COUNT 2
#define DMA_REGION_IRQ_ENABLE_STRIDE 0x8
#define DMA_REGION_IRQ_ENABLE_OFFSET_AT(i) (0x90 + (i) * 0x8)

// Triggers that hit a region. (read only)
#define DMA_TRIGGERS_OFFSET 0x100

// Wavefront tiles that were handed to a link. (read only)
#define DMA_TILES_SENT_OFFSET 0x108

// Bytes read from the memory. (read only)
#define DMA_BYTES_READ_OFFSET 0x110

// Bytes handed to links. (read only)
#define DMA_BYTES_SENT_OFFSET 0x118

// Bytes written to the local memory by fills and copies. (read only)
#define DMA_BYTES_WRITTEN_OFFSET 0x120

// Region r owns the work-groups first_wg .. first_wg + wg_count - 1. Change the fields of a region only while it is invalid. (read, write)
#define DMA_REGION_RANGE_OFFSET 0x4000
#define DMA_REGION_RANGE_COUNT 128
#define DMA_REGION_RANGE_STRIDE 0x80
#define DMA_REGION_RANGE_OFFSET_AT(i) (0x4000 + (i) * 0x80)
#define DMA_REGION_RANGE_FIRST_WG_SHIFT 0  // First work-group id.
#define DMA_REGION_RANGE_FIRST_WG_MASK 0xffffffff
#define DMA_REGION_RANGE_WG_COUNT_SHIFT 32  // Work-groups, 1..65536.
#define DMA_REGION_RANGE_WG_COUNT_MASK 0xffffffff00000000

// Address of the output's element (0, 0), the first of tile id_base. (read, write)
#define DMA_REGION_BASE_OFFSET 0x4008
#define DMA_REGION_BASE_COUNT 128
#define DMA_REGION_BASE_STRIDE 0x80
#define DMA_REGION_BASE_OFFSET_AT(i) (0x4008 + (i) * 0x80)
#define DMA_REGION_BASE_ADDRESS_SHIFT 0  // 48-bit address in the memory of this GPU, aligned to the element.
#define DMA_REGION_BASE_ADDRESS_MASK 0xffffffffffff

// 48-bit address that element (0, 0) has at the receiver; 0 = no transfer, count completion only. In the memory of this GPU only of a ready region that updates: the tiles are operands of its near-bank ALUs. (read, write)
#define DMA_REGION_PEER_OFFSET 0x4010
#define DMA_REGION_PEER_COUNT 128
#define DMA_REGION_PEER_STRIDE 0x80
#define DMA_REGION_PEER_OFFSET_AT(i) (0x4010 + (i) * 0x80)
#define DMA_REGION_PEER_ADDRESS_SHIFT 0  // 48-bit address.
#define DMA_REGION_PEER_ADDRESS_MASK 0xffffffffffff

// Bytes between two rows of the output, here and at the receiver. (read, write)
#define DMA_REGION_PITCH_OFFSET 0x4018
#define DMA_REGION_PITCH_COUNT 128
#define DMA_REGION_PITCH_STRIDE 0x80
#define DMA_REGION_PITCH_OFFSET_AT(i) (0x4018 + (i) * 0x80)
#define DMA_REGION_PITCH_BYTES_SHIFT 0  // At least n elements.
#define DMA_REGION_PITCH_BYTES_MASK 0xffffffffff

// Size of the output. (read, write)
#define DMA_REGION_SIZE_OFFSET 0x4020
#define DMA_REGION_SIZE_COUNT 128
#define DMA_REGION_SIZE_STRIDE 0x80
#define DMA_REGION_SIZE_OFFSET_AT(i) (0x4020 + (i) * 0x80)
#define DMA_REGION_SIZE_M_SHIFT 0  // Rows, at least 1.
#define DMA_REGION_SIZE_M_MASK 0xffffffff
#define DMA_REGION_SIZE_N_SHIFT 32  // Columns (elements), at least 1.
#define DMA_REGION_SIZE_N_MASK 0xffffffff00000000

// Tile t (= wg id - id_base) has its row and column by region_wavefronts.order; the last ones are clipped at m and n. (read, write)
#define DMA_REGION_TILE_OFFSET 0x4028
#define DMA_REGION_TILE_COUNT 128
#define DMA_REGION_TILE_STRIDE 0x80
#define DMA_REGION_TILE_OFFSET_AT(i) (0x4028 + (i) * 0x80)
#define DMA_REGION_TILE_TILE_M_SHIFT 0  // Rows of a tile.
#define DMA_REGION_TILE_TILE_M_MASK 0xffff
#define DMA_REGION_TILE_TILE_N_SHIFT 16  // Columns of a tile.
#define DMA_REGION_TILE_TILE_N_MASK 0xffff0000
#define DMA_REGION_TILE_TILES_N_SHIFT 32  // Tile columns, ceil(n / tile_n).
#define DMA_REGION_TILE_TILES_N_MASK 0xffffffff00000000

// Wavefront w of a tile covers its rows w * rows .. (w + 1) * rows - 1; those without a row inside m are never triggered and not counted. (read, write)
#define DMA_REGION_WAVEFRONTS_OFFSET 0x4030
#define DMA_REGION_WAVEFRONTS_COUNT 128
#define DMA_REGION_WAVEFRONTS_STRIDE 0x80
#define DMA_REGION_WAVEFRONTS_OFFSET_AT(i) (0x4030 + (i) * 0x80)
#define DMA_REGION_WAVEFRONTS_COUNT_SHIFT 0  // Wavefronts of a work-group, 1..8.
#define DMA_REGION_WAVEFRONTS_COUNT_MASK 0xf
#define DMA_REGION_WAVEFRONTS_ORDER_SHIFT 4  // Order of tiles (sw/include/tile_order.h); 0 = row-major, t / tiles_n and t % tiles_n.
#define DMA_REGION_WAVEFRONTS_ORDER_MASK 0x70
#define DMA_REGION_WAVEFRONTS_ROWS_SHIFT 16  // Rows of a wavefront tile; rows * tile_n * element bytes is at most 65536.
#define DMA_REGION_WAVEFRONTS_ROWS_MASK 0xffff0000
#define DMA_REGION_WAVEFRONTS_ID_BASE_SHIFT 32  // Work-group id of tile 0.
#define DMA_REGION_WAVEFRONTS_ID_BASE_MASK 0xffffffff00000000

// Making a region valid checks it, resets its counts and clears its region_done bit. (read, write)
#define DMA_REGION_CONTROL_OFFSET 0x4038
#define DMA_REGION_CONTROL_COUNT 128
#define DMA_REGION_CONTROL_STRIDE 0x80
#define DMA_REGION_CONTROL_OFFSET_AT(i) (0x4038 + (i) * 0x80)
#define DMA_REGION_CONTROL_VALID_SHIFT 0  // The region takes triggers.
#define DMA_REGION_CONTROL_VALID_MASK 0x1
#define DMA_REGION_CONTROL_OPERATION_SHIFT 4  // How the receiver writes.
#define DMA_REGION_CONTROL_OPERATION_MASK 0x10
#define DMA_REGION_CONTROL_OPERATION_STORE 0
#define DMA_REGION_CONTROL_OPERATION_UPDATE 1
#define DMA_REGION_CONTROL_OPERATION_MAX 1
#define DMA_REGION_CONTROL_TRACKED_SHIFT 5  // Packets carry wg id and wavefront id for the receiver's Tracker.
#define DMA_REGION_CONTROL_TRACKED_MASK 0x20
#define DMA_REGION_CONTROL_READY_SHIFT 6  // All tiles are complete already: they are sent in the order of their ids from now on. The region takes no triggers, so its ids may be those of other regions.
#define DMA_REGION_CONTROL_READY_MASK 0x40
#define DMA_REGION_CONTROL_MULTIPLY_SHIFT 7  // Updates multiply instead of adding; region_peer is in this GPU.
#define DMA_REGION_CONTROL_MULTIPLY_MASK 0x80
#define DMA_REGION_CONTROL_ELEMENT_SHIFT 8  // ElementType of machine_types.h.
#define DMA_REGION_CONTROL_ELEMENT_MASK 0x700
#define DMA_REGION_CONTROL_ACCOUNT_SHIFT 12  // Account of what it reads and writes (machine_types.h).
#define DMA_REGION_CONTROL_ACCOUNT_MASK 0xf000
#define DMA_REGION_CONTROL_BLOCK_TILES_SHIFT 16  // Wavefront tiles of a DMA block, 0 meaning 1. Tiles are numbered (wg id - first_wg) * count + wavefront; a block is sent once all of its tiles are triggered.
#define DMA_REGION_CONTROL_BLOCK_TILES_MASK 0xffff0000

// Progress of a region. (read only)
#define DMA_REGION_STATUS_OFFSET 0x4040
#define DMA_REGION_STATUS_COUNT 128
#define DMA_REGION_STATUS_STRIDE 0x80
#define DMA_REGION_STATUS_OFFSET_AT(i) (0x4040 + (i) * 0x80)
#define DMA_REGION_STATUS_TRIGGERED_SHIFT 0  // Wavefront tiles that were triggered.
#define DMA_REGION_STATUS_TRIGGERED_MASK 0xfffff
#define DMA_REGION_STATUS_SENT_SHIFT 20  // Wavefront tiles that were handed to the link.
#define DMA_REGION_STATUS_SENT_MASK 0xfffff00000
#define DMA_REGION_STATUS_TOTAL_SHIFT 40  // Wavefront tiles of the region that are not empty.
#define DMA_REGION_STATUS_TOTAL_MASK 0xfffff0000000000

#endif  // STRETTO_SW_INCLUDE_REGS_DMA_REGS_H_
