// SPDX-License-Identifier: Apache-2.0
// See range_table.h.
#include "models/gpu/range_table.h"

#include <algorithm>
#include <cstring>

#include "sw/include/formats/address_map.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/range_table_bank.h"
#include "sw/include/regs/range_table_regs.h"

namespace stretto {

RangeTable::RangeTable(sc_core::sc_module_name name) : sc_core::sc_module(name), regs("regs") {
  regs.register_b_transport(this, &RangeTable::b_transport);
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
  // The rows between lie in the same entry if it is one interval or has the tile's own pitch; else each is looked up.
  const uint64_t last = address + (rows - 1) * pitch;
  if (find(last, row_bytes) != first) return nullptr;
  const bool regular = first->rows == 1 || first->pitch == pitch;
  if (regular && !shadowed_[first - entries_.data()]) return first;
  for (uint32_t row = 1; row + 1 < rows; ++row) {
    if (find(address + row * pitch, row_bytes) != first) return nullptr;
  }
  return first;
}

// Whether two entries have a byte in common. Exact for equal pitches and for single intervals; entries of
// different pitch are compared row by row of the one with fewer rows.
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
  const Raw& raw = raw_[index];
  const uint64_t kind = STRETTO_FIELD_GET(raw.flags, RANGE_TABLE_ENTRY_FLAGS_KIND);
  const uint64_t allocation = STRETTO_FIELD_GET(raw.flags, RANGE_TABLE_ENTRY_FLAGS_ALLOCATION);
  const bool shape_ok =
      raw.row_bytes != 0 && raw.rows != 0 && (raw.rows == 1 || raw.pitch >= raw.row_bytes);
  const bool span_ok = shape_ok && (raw.base & STRETTO_OFFSET_MASK) +
                                           (raw.rows - 1) * (raw.rows == 1 ? 0 : raw.pitch) +
                                           raw.row_bytes <=
                                       STRETTO_OFFSET_MASK + 1;
  if (!span_ok || kind > 2 || allocation > 2) {
    invalidate(index);
    status_ = (status_ & RANGE_TABLE_STATUS_OVERLAP_MASK) | RANGE_TABLE_STATUS_BAD_ENTRY_MASK |
              STRETTO_FIELD(RANGE_TABLE_STATUS_INDEX, index);
    return;
  }
  RangeEntry& entry = entries_[index];
  entry.base = raw.base;
  entry.pitch = raw.rows == 1 ? 0 : raw.pitch;
  entry.row_bytes = raw.row_bytes;
  entry.rows = static_cast<uint32_t>(raw.rows);
  entry.kind = static_cast<RangeKind>(kind);
  entry.update = (raw.flags & RANGE_TABLE_ENTRY_FLAGS_UPDATE_MASK) != 0;
  entry.tracked = (raw.flags & RANGE_TABLE_ENTRY_FLAGS_TRACKED_MASK) != 0;
  entry.allocation = static_cast<AllocationClass>(allocation);
  entry.peer_base = raw.peer_base;
  rebuild();
  for (unsigned other = 0; other < highest_; ++other) {
    if (other == index || entries_[other].rows == 0 || !shares(entry, entries_[other])) continue;
    if (contains(entry, entries_[other]) || contains(entries_[other], entry)) continue;
    status_ = (status_ & RANGE_TABLE_STATUS_BAD_ENTRY_MASK) | RANGE_TABLE_STATUS_OVERLAP_MASK |
              STRETTO_FIELD(RANGE_TABLE_STATUS_INDEX, index) |
              STRETTO_FIELD(RANGE_TABLE_STATUS_OTHER, other);
  }
}

void RangeTable::invalidate(unsigned index) {
  entries_[index] = {};
  raw_[index].flags &= ~uint64_t{RANGE_TABLE_ENTRY_FLAGS_VALID_MASK};
  rebuild();
}

void RangeTable::rebuild() {
  highest_ = 0;
  count_ = 0;
  recent_.fill(0);
  for (unsigned index = 0; index < kEntries; ++index) {
    if (entries_[index].rows == 0) continue;
    highest_ = index + 1;
    ++count_;
  }
  for (unsigned index = 0; index < highest_; ++index) {
    shadowed_[index] = false;
    for (unsigned later = index + 1; later < highest_ && entries_[index].rows != 0; ++later) {
      if (entries_[later].rows != 0 && shares(entries_[index], entries_[later]))
        shadowed_[index] = true;
    }
  }
}

uint64_t RangeTable::read_register(uint32_t offset) const {
  uint32_t index = 0;
  const RegisterInfo* const info = find_register(kRangeTableRegisters, offset, &index);
  if (info == nullptr || info->access == RegisterAccess::kWriteOnly) return 0;
  const Raw& raw = raw_[index];
  switch (info->offset) {
    case RANGE_TABLE_COUNT_OFFSET: return count_;
    case RANGE_TABLE_STATUS_OFFSET: return status_;
    case RANGE_TABLE_ENTRY_BASE_OFFSET: return raw.base;
    case RANGE_TABLE_ENTRY_PITCH_OFFSET: return raw.pitch;
    case RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET: return raw.row_bytes;
    case RANGE_TABLE_ENTRY_ROWS_OFFSET: return raw.rows;
    case RANGE_TABLE_ENTRY_PEER_BASE_OFFSET: return raw.peer_base;
    case RANGE_TABLE_ENTRY_FLAGS_OFFSET: return raw.flags;
    default: return 0;
  }
}

void RangeTable::write_register(uint32_t offset, uint64_t value) {
  uint32_t index = 0;
  const RegisterInfo* const info = find_register(kRangeTableRegisters, offset, &index);
  if (info == nullptr) return;
  Raw& raw = raw_[index];
  const uint64_t bits = value & info->writable;
  switch (info->offset) {
    case RANGE_TABLE_CLEAR_OFFSET:
      if ((bits & RANGE_TABLE_CLEAR_ALL_MASK) != 0) {
        raw_.fill({});
        entries_.fill({});
        rebuild();
      } else if ((bits & RANGE_TABLE_CLEAR_ONE_MASK) != 0) {
        invalidate(static_cast<unsigned>(STRETTO_FIELD_GET(bits, RANGE_TABLE_CLEAR_INDEX)));
      }
      break;
    case RANGE_TABLE_STATUS_OFFSET:
      status_ &= ~(bits & (RANGE_TABLE_STATUS_OVERLAP_MASK | RANGE_TABLE_STATUS_BAD_ENTRY_MASK));
      if ((status_ & (RANGE_TABLE_STATUS_OVERLAP_MASK | RANGE_TABLE_STATUS_BAD_ENTRY_MASK)) == 0)
        status_ = 0;
      break;
    case RANGE_TABLE_ENTRY_BASE_OFFSET: raw.base = bits; break;
    case RANGE_TABLE_ENTRY_PITCH_OFFSET: raw.pitch = bits; break;
    case RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET: raw.row_bytes = bits; break;
    case RANGE_TABLE_ENTRY_ROWS_OFFSET: raw.rows = bits; break;
    case RANGE_TABLE_ENTRY_PEER_BASE_OFFSET: raw.peer_base = bits; break;
    case RANGE_TABLE_ENTRY_FLAGS_OFFSET:
      raw.flags = bits;
      if ((bits & RANGE_TABLE_ENTRY_FLAGS_VALID_MASK) != 0) {
        commit(index);
      } else {
        invalidate(index);
      }
      break;
    default: break;
  }
}

void RangeTable::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  const uint32_t offset = static_cast<uint32_t>(payload.get_address());
  if (payload.get_data_length() != 8 || find_register(kRangeTableRegisters, offset) == nullptr) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  uint64_t value = 0;
  if (payload.is_read()) {
    value = read_register(offset);
    std::memcpy(payload.get_data_ptr(), &value, 8);
  } else {
    std::memcpy(&value, payload.get_data_ptr(), 8);
    write_register(offset, value);
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace stretto
