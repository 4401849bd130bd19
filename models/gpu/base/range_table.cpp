// SPDX-License-Identifier: Apache-2.0
// See range_table.h.
#include "models/gpu/base/range_table.h"

#include <algorithm>
#include <cstring>

#include "sw/include/formats/address_map.h"
#include "sw/include/formats/queue.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/range_table_bank.h"
#include "sw/include/regs/range_table_regs.h"

namespace stretto {

RangeTable::RangeTable(sc_core::sc_module_name name)
    : sc_core::sc_module(name), regs("regs"), registers_(kRangeTableRegisters) {
  regs.register_b_transport(&registers_, &RegisterBank::b_transport);
  registers_.on_read(RANGE_TABLE_COUNT_OFFSET, [this](uint32_t) { return count_; });
  registers_.on_write(RANGE_TABLE_CLEAR_OFFSET, [this](const RegisterBank::Write& write) {
    if ((write.bits & RANGE_TABLE_CLEAR_ALL_MASK) != 0) {
      clear();
    } else if ((write.bits & RANGE_TABLE_CLEAR_ONE_MASK) != 0) {
      invalidate(static_cast<unsigned>(STRETTO_FIELD_GET(write.bits, RANGE_TABLE_CLEAR_INDEX)));
    }
  });
  registers_.on_write(RANGE_TABLE_STATUS_OFFSET, [](const RegisterBank::Write& write) {
    constexpr uint64_t kFlags = RANGE_TABLE_STATUS_OVERLAP_MASK | RANGE_TABLE_STATUS_BAD_ENTRY_MASK;
    if ((write.held & kFlags) == 0) write.held = 0;
  });
  registers_.on_write(RANGE_TABLE_ENTRY_FLAGS_OFFSET, [this](const RegisterBank::Write& write) {
    if ((write.held & RANGE_TABLE_ENTRY_FLAGS_VALID_MASK) != 0) {
      commit(write.index);
    } else {
      invalidate(write.index);
    }
  });
}

bool RangeTable::holds(const RangeEntry& entry, uint64_t address, uint64_t bytes) {
  if (entry.rows == 0 || address < entry.base) return false;
  const uint64_t offset = address - entry.base;
  if (entry.rows == 1) return offset < entry.row_bytes && bytes <= entry.row_bytes - offset;
  const uint64_t row = offset / entry.pitch;
  const uint64_t column = offset - row * entry.pitch;
  return row < entry.rows && column < entry.row_bytes && bytes <= entry.row_bytes - column;
}

const RangeEntry* RangeTable::find(uint64_t address, uint64_t bytes) const {
  for (const uint16_t index : recent_) {
    if (!shadowed_[index] && holds(entries_[index], address, bytes)) return &entries_[index];
  }
  for (unsigned index = highest_; index-- > 0;) {
    if (!holds(entries_[index], address, bytes)) continue;
    if (!shadowed_[index]) {
      recent_[next_recent_] = static_cast<uint16_t>(index);
      next_recent_ = (next_recent_ + 1) % recent_.size();
    }
    return &entries_[index];
  }
  return nullptr;
}

const RangeEntry* RangeTable::find_tile(uint64_t address, uint32_t rows, uint64_t pitch,
                                        uint64_t row_bytes) const {
  const RangeEntry* const first = find(address, row_bytes);
  if (first == nullptr || rows <= 1) return first;
  // The rows between lie in the same entry if it is one interval or has the tile's own pitch; else
  // each is looked up.
  const uint64_t last = address + (rows - 1) * pitch;
  if (find(last, row_bytes) != first) return nullptr;
  const bool regular = first->rows == 1 || first->pitch == pitch;
  if (regular && !shadowed_[first - entries_.data()]) return first;
  for (uint32_t row = 1; row + 1 < rows; ++row) {
    if (find(address + row * pitch, row_bytes) != first) return nullptr;
  }
  return first;
}

// Whether two entries have a byte in common. Exact for equal pitches and for single intervals;
// entries of different pitch are compared row by row of the one with fewer rows.
bool RangeTable::shares(const RangeEntry& a, const RangeEntry& b) {
  if (a.base >= end_of(b) || b.base >= end_of(a)) return false;
  const RangeEntry& few = a.rows <= b.rows ? a : b;
  const RangeEntry& many = a.rows <= b.rows ? b : a;
  for (uint32_t i = 0; i < few.rows; ++i) {
    const uint64_t begin = few.base + i * few.pitch;
    const uint64_t end = begin + few.row_bytes;
    if (many.rows == 1) {
      if (begin < end_of(many) && many.base < end) return true;
      continue;
    }
    if (end <= many.base) continue;
    // The last row of `many` that begins before `end`.
    const uint64_t row = std::min<uint64_t>((end - 1 - many.base) / many.pitch, many.rows - 1);
    if (many.base + row * many.pitch + many.row_bytes > begin) return true;
  }
  return false;
}

bool RangeTable::contains(const RangeEntry& outer, const RangeEntry& inner) {
  if (outer.rows == 1) return outer.base <= inner.base && end_of(inner) <= end_of(outer);
  for (uint32_t row = 0; row < inner.rows; ++row) {
    if (!holds(outer, inner.base + row * inner.pitch, inner.row_bytes)) return false;
  }
  return true;
}

void RangeTable::commit(unsigned index) {
  const uint64_t base = registers_[RANGE_TABLE_ENTRY_BASE_OFFSET_AT(index)];
  const uint64_t pitch = registers_[RANGE_TABLE_ENTRY_PITCH_OFFSET_AT(index)];
  const uint64_t row_bytes = registers_[RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET_AT(index)];
  const uint64_t rows = registers_[RANGE_TABLE_ENTRY_ROWS_OFFSET_AT(index)];
  const uint64_t flags = registers_[RANGE_TABLE_ENTRY_FLAGS_OFFSET_AT(index)];
  uint64_t& status = registers_[RANGE_TABLE_STATUS_OFFSET];
  const uint64_t kind = STRETTO_FIELD_GET(flags, RANGE_TABLE_ENTRY_FLAGS_KIND);
  const uint64_t allocation = STRETTO_FIELD_GET(flags, RANGE_TABLE_ENTRY_FLAGS_ALLOCATION);
  const bool shape_ok = row_bytes != 0 && rows != 0 && (rows == 1 || pitch >= row_bytes);
  const bool span_ok =
      shape_ok && (base & STRETTO_OFFSET_MASK) + (rows - 1) * (rows == 1 ? 0 : pitch) + row_bytes <=
                      STRETTO_OFFSET_MASK + 1;
  constexpr uint64_t kOperations =
      RANGE_TABLE_ENTRY_FLAGS_UPDATE_MASK | RANGE_TABLE_ENTRY_FLAGS_TRACKED_MASK;
  const uint64_t lines = base | row_bytes | (rows == 1 ? 0 : pitch);
  const bool shared_ok = allocation != RANGE_TABLE_ENTRY_FLAGS_ALLOCATION_SHARED ||
                         (kind == RANGE_TABLE_ENTRY_FLAGS_KIND_LOCAL &&
                          (flags & kOperations) == 0 && lines % STRETTO_SHARED_ALIGNMENT == 0);
  if (!span_ok || kind > 2 || !shared_ok) {
    invalidate(index);
    status = (status & RANGE_TABLE_STATUS_OVERLAP_MASK) | RANGE_TABLE_STATUS_BAD_ENTRY_MASK |
             STRETTO_FIELD(RANGE_TABLE_STATUS_INDEX, index);
    return;
  }
  RangeEntry& entry = entries_[index];
  entry.base = base;
  entry.pitch = rows == 1 ? 0 : pitch;
  entry.row_bytes = row_bytes;
  entry.rows = static_cast<uint32_t>(rows);
  entry.kind = static_cast<RangeKind>(kind);
  entry.update = (flags & RANGE_TABLE_ENTRY_FLAGS_UPDATE_MASK) != 0;
  entry.tracked = (flags & RANGE_TABLE_ENTRY_FLAGS_TRACKED_MASK) != 0;
  entry.allocation = static_cast<AllocationClass>(allocation);
  entry.id_shift =
      static_cast<uint16_t>(STRETTO_FIELD_GET(flags, RANGE_TABLE_ENTRY_FLAGS_ID_SHIFT));
  entry.peer_base = registers_[RANGE_TABLE_ENTRY_PEER_BASE_OFFSET_AT(index)];
  rebuild();
  for (unsigned other = 0; other < highest_; ++other) {
    if (other == index || entries_[other].rows == 0 || !shares(entry, entries_[other])) continue;
    if (contains(entry, entries_[other]) || contains(entries_[other], entry)) continue;
    status = (status & RANGE_TABLE_STATUS_BAD_ENTRY_MASK) | RANGE_TABLE_STATUS_OVERLAP_MASK |
             STRETTO_FIELD(RANGE_TABLE_STATUS_INDEX, index) |
             STRETTO_FIELD(RANGE_TABLE_STATUS_OTHER, other);
  }
}

void RangeTable::invalidate(unsigned index) {
  entries_[index] = {};
  registers_[RANGE_TABLE_ENTRY_FLAGS_OFFSET_AT(index)] &=
      ~uint64_t{RANGE_TABLE_ENTRY_FLAGS_VALID_MASK};
  rebuild();
}

void RangeTable::rebuild() {
  highest_ = 0;
  count_ = 0;
  has_shared_ = false;
  recent_.fill(0);
  for (unsigned index = 0; index < kEntries; ++index) {
    if (entries_[index].rows == 0) continue;
    highest_ = index + 1;
    ++count_;
    has_shared_ |= entries_[index].allocation == AllocationClass::shared;
  }
  for (unsigned index = 0; index < highest_; ++index) {
    shadowed_[index] = false;
    for (unsigned later = index + 1; later < highest_ && entries_[index].rows != 0; ++later) {
      if (entries_[later].rows != 0 && shares(entries_[index], entries_[later]))
        shadowed_[index] = true;
    }
  }
}

void RangeTable::clear() {
  for (const uint32_t first :
       {RANGE_TABLE_ENTRY_BASE_OFFSET, RANGE_TABLE_ENTRY_PITCH_OFFSET,
        RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET, RANGE_TABLE_ENTRY_ROWS_OFFSET,
        RANGE_TABLE_ENTRY_PEER_BASE_OFFSET, RANGE_TABLE_ENTRY_FLAGS_OFFSET}) {
    for (unsigned index = 0; index < kEntries; ++index)
      registers_[first + index * RANGE_TABLE_ENTRY_BASE_STRIDE] = 0;
  }
  entries_.fill({});
  rebuild();
}

}  // namespace stretto
