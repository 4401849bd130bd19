// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/range_table.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;
// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.
#ifndef STRETTO_SW_INCLUDE_REGS_RANGE_TABLE_REGS_H_
#define STRETTO_SW_INCLUDE_REGS_RANGE_TABLE_REGS_H_

// range_table: Range table, at STRETTO_RANGE_TABLE_BASE.

// Number of valid entries. (read only)
#define RANGE_TABLE_COUNT_OFFSET 0x0

// Writing with all set makes every entry invalid; with one set, entry index. (write only, reads 0)
#define RANGE_TABLE_CLEAR_OFFSET 0x8
#define RANGE_TABLE_CLEAR_INDEX_SHIFT 0  // Entry.
#define RANGE_TABLE_CLEAR_INDEX_MASK 0xff
#define RANGE_TABLE_CLEAR_ONE_SHIFT 30  // Clear entry index.
#define RANGE_TABLE_CLEAR_ONE_MASK 0x40000000
#define RANGE_TABLE_CLEAR_ALL_SHIFT 31  // Clear all entries.
#define RANGE_TABLE_CLEAR_ALL_MASK 0x80000000

// Refused and doubtful entries since it was last cleared. (read, write 1 to clear)
#define RANGE_TABLE_STATUS_OFFSET 0x10
#define RANGE_TABLE_STATUS_OVERLAP_SHIFT 0  // An entry became valid that shares bytes with another one and neither holds the other.
#define RANGE_TABLE_STATUS_OVERLAP_MASK 0x1
#define RANGE_TABLE_STATUS_BAD_ENTRY_SHIFT 1  // An entry was made valid with contents that are not allowed; it stays invalid.
#define RANGE_TABLE_STATUS_BAD_ENTRY_MASK 0x2
#define RANGE_TABLE_STATUS_INDEX_SHIFT 8  // Entry of the last such event.
#define RANGE_TABLE_STATUS_INDEX_MASK 0xff00
#define RANGE_TABLE_STATUS_OTHER_SHIFT 16  // The other entry of the last overlap.
#define RANGE_TABLE_STATUS_OTHER_MASK 0xff0000

// Entry i, first byte. Write entry_flags last; it makes the entry valid. (read, write)
#define RANGE_TABLE_ENTRY_BASE_OFFSET 0x4000
#define RANGE_TABLE_ENTRY_BASE_COUNT 256
#define RANGE_TABLE_ENTRY_BASE_STRIDE 0x40
#define RANGE_TABLE_ENTRY_BASE_OFFSET_AT(i) (0x4000 + (i) * 0x40)
#define RANGE_TABLE_ENTRY_BASE_ADDRESS_SHIFT 0  // 48-bit address as kernels use it.
#define RANGE_TABLE_ENTRY_BASE_ADDRESS_MASK 0xffffffffffff

// Entry i, bytes from one row to the next; ignored with one row. The peer's rows have the same pitch. (read, write)
#define RANGE_TABLE_ENTRY_PITCH_OFFSET 0x4008
#define RANGE_TABLE_ENTRY_PITCH_COUNT 256
#define RANGE_TABLE_ENTRY_PITCH_STRIDE 0x40
#define RANGE_TABLE_ENTRY_PITCH_OFFSET_AT(i) (0x4008 + (i) * 0x40)
#define RANGE_TABLE_ENTRY_PITCH_BYTES_SHIFT 0  // At least row_bytes.
#define RANGE_TABLE_ENTRY_PITCH_BYTES_MASK 0xffffffffff

// Entry i, bytes of a row. (read, write)
#define RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET 0x4010
#define RANGE_TABLE_ENTRY_ROW_BYTES_COUNT 256
#define RANGE_TABLE_ENTRY_ROW_BYTES_STRIDE 0x40
#define RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET_AT(i) (0x4010 + (i) * 0x40)
#define RANGE_TABLE_ENTRY_ROW_BYTES_BYTES_SHIFT 0  // At least 1.
#define RANGE_TABLE_ENTRY_ROW_BYTES_BYTES_MASK 0xffffffffff

// Entry i, number of rows. (read, write)
#define RANGE_TABLE_ENTRY_ROWS_OFFSET 0x4018
#define RANGE_TABLE_ENTRY_ROWS_COUNT 256
#define RANGE_TABLE_ENTRY_ROWS_STRIDE 0x40
#define RANGE_TABLE_ENTRY_ROWS_OFFSET_AT(i) (0x4018 + (i) * 0x40)
#define RANGE_TABLE_ENTRY_ROWS_ROWS_SHIFT 0  // At least 1.
#define RANGE_TABLE_ENTRY_ROWS_ROWS_MASK 0xffffffff

// Entry i, address that entry_base becomes in the peer (kinds remote and dma). (read, write)
#define RANGE_TABLE_ENTRY_PEER_BASE_OFFSET 0x4020
#define RANGE_TABLE_ENTRY_PEER_BASE_COUNT 256
#define RANGE_TABLE_ENTRY_PEER_BASE_STRIDE 0x40
#define RANGE_TABLE_ENTRY_PEER_BASE_OFFSET_AT(i) (0x4020 + (i) * 0x40)
#define RANGE_TABLE_ENTRY_PEER_BASE_ADDRESS_SHIFT 0  // 48-bit address.
#define RANGE_TABLE_ENTRY_PEER_BASE_ADDRESS_MASK 0xffffffffffff

// Entry i, what it is. (read, write)
#define RANGE_TABLE_ENTRY_FLAGS_OFFSET 0x4028
#define RANGE_TABLE_ENTRY_FLAGS_COUNT 256
#define RANGE_TABLE_ENTRY_FLAGS_STRIDE 0x40
#define RANGE_TABLE_ENTRY_FLAGS_OFFSET_AT(i) (0x4028 + (i) * 0x40)
#define RANGE_TABLE_ENTRY_FLAGS_VALID_SHIFT 0  // Writing 1 checks and commits the entry; writing 0 clears it.
#define RANGE_TABLE_ENTRY_FLAGS_VALID_MASK 0x1
#define RANGE_TABLE_ENTRY_FLAGS_KIND_SHIFT 1  // Where stores go.
#define RANGE_TABLE_ENTRY_FLAGS_KIND_MASK 0x6
#define RANGE_TABLE_ENTRY_FLAGS_KIND_LOCAL 0
#define RANGE_TABLE_ENTRY_FLAGS_KIND_REMOTE 1
#define RANGE_TABLE_ENTRY_FLAGS_KIND_DMA 2
#define RANGE_TABLE_ENTRY_FLAGS_KIND_MAX 2
#define RANGE_TABLE_ENTRY_FLAGS_UPDATE_SHIFT 3  // Tagged stores become updates (op-and-store) instead of stores.
#define RANGE_TABLE_ENTRY_FLAGS_UPDATE_MASK 0x8
#define RANGE_TABLE_ENTRY_FLAGS_TRACKED_SHIFT 4  // Tagged stores and arriving updates are counted by the Tracker.
#define RANGE_TABLE_ENTRY_FLAGS_TRACKED_MASK 0x10
#define RANGE_TABLE_ENTRY_FLAGS_ALLOCATION_SHIFT 5  // How it is cached. An entry of class shared is local, without update and tracked, and its base, row_bytes and pitch are multiples of 128.
#define RANGE_TABLE_ENTRY_FLAGS_ALLOCATION_MASK 0x60
#define RANGE_TABLE_ENTRY_FLAGS_ALLOCATION_CACHED 0
#define RANGE_TABLE_ENTRY_FLAGS_ALLOCATION_STREAMING 1
#define RANGE_TABLE_ENTRY_FLAGS_ALLOCATION_UNCACHED 2
#define RANGE_TABLE_ENTRY_FLAGS_ALLOCATION_SHARED 3
#define RANGE_TABLE_ENTRY_FLAGS_ALLOCATION_MAX 3
#define RANGE_TABLE_ENTRY_FLAGS_ID_SHIFT_SHIFT 16  // Kind remote: added, modulo 65536, to the id of the tile that a tagged store carries, for the Tracker of the peer.
#define RANGE_TABLE_ENTRY_FLAGS_ID_SHIFT_MASK 0xffff0000

#endif  // STRETTO_SW_INCLUDE_REGS_RANGE_TABLE_REGS_H_
