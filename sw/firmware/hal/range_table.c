// SPDX-License-Identifier: Apache-2.0
// The range table: see range_table.h.
#include "sw/firmware/hal/range_table.h"

#include <stddef.h>

#include "sw/include/regs/range_table_regs.h"  // Generated.

STRETTO_STATIC_ASSERT(RANGE_LOCAL == RANGE_TABLE_ENTRY_FLAGS_KIND_LOCAL &&
                          RANGE_REMOTE == RANGE_TABLE_ENTRY_FLAGS_KIND_REMOTE &&
                          RANGE_DMA == RANGE_TABLE_ENTRY_FLAGS_KIND_DMA,
                      "kinds are register values");
STRETTO_STATIC_ASSERT(STRETTO_ALLOCATION_CACHED == RANGE_TABLE_ENTRY_FLAGS_ALLOCATION_CACHED &&
                          STRETTO_ALLOCATION_STREAMING ==
                              RANGE_TABLE_ENTRY_FLAGS_ALLOCATION_STREAMING &&
                          STRETTO_ALLOCATION_UNCACHED ==
                              RANGE_TABLE_ENTRY_FLAGS_ALLOCATION_UNCACHED &&
                          STRETTO_ALLOCATION_SHARED == RANGE_TABLE_ENTRY_FLAGS_ALLOCATION_SHARED,
                      "packets carry register values");

#define FIELD_MAX 3u  // Of kind and allocation.

static void clear(const range_table_t* table, uint32_t index) {
  mmio_write64(table->base + RANGE_TABLE_CLEAR_OFFSET,
               STRETTO_FIELD(RANGE_TABLE_CLEAR_INDEX, index) | RANGE_TABLE_CLEAR_ONE_MASK);
}

fw_result_t range_table_init(range_table_t* table) {
  if (table == NULL) return STRETTO_ERROR_ARGUMENT;
  table->base = STRETTO_RANGE_TABLE_BASE;
  table->used = 0;
  table->low = 0;
  mmio_write64(table->base + RANGE_TABLE_CLEAR_OFFSET, RANGE_TABLE_CLEAR_ALL_MASK);
  mmio_write64(table->base + RANGE_TABLE_STATUS_OFFSET,
               RANGE_TABLE_STATUS_OVERLAP_MASK | RANGE_TABLE_STATUS_BAD_ENTRY_MASK);
  return STRETTO_OK;
}

// Entry number `index`, which is not valid or is there a second time.
static fw_result_t write_entry(const range_table_t* table, uint32_t index, const range_t* range) {
  if (range->rows == 0 || range->row_bytes == 0 ||
      (range->rows > 1 && range->pitch < range->row_bytes)) {
    return STRETTO_ERROR_ARGUMENT;
  }
  // What does not fit its field; the table refuses what no entry may be.
  if (range->kind > FIELD_MAX || range->allocation > FIELD_MAX) return STRETTO_ERROR_ARGUMENT;
  mmio_write64(table->base + RANGE_TABLE_ENTRY_BASE_OFFSET_AT(index), range->base);
  mmio_write64(table->base + RANGE_TABLE_ENTRY_PITCH_OFFSET_AT(index), range->pitch);
  mmio_write64(table->base + RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET_AT(index), range->row_bytes);
  mmio_write64(table->base + RANGE_TABLE_ENTRY_ROWS_OFFSET_AT(index), range->rows);
  mmio_write64(table->base + RANGE_TABLE_ENTRY_PEER_BASE_OFFSET_AT(index), range->peer_base);
  // The flags last: they make the entry valid.
  mmio_write64(table->base + RANGE_TABLE_ENTRY_FLAGS_OFFSET_AT(index),
               RANGE_TABLE_ENTRY_FLAGS_VALID_MASK |
                   STRETTO_FIELD(RANGE_TABLE_ENTRY_FLAGS_KIND, range->kind) |
                   STRETTO_FIELD(RANGE_TABLE_ENTRY_FLAGS_UPDATE, range->update) |
                   STRETTO_FIELD(RANGE_TABLE_ENTRY_FLAGS_TRACKED, range->tracked) |
                   STRETTO_FIELD(RANGE_TABLE_ENTRY_FLAGS_ALLOCATION, range->allocation) |
                   STRETTO_FIELD(RANGE_TABLE_ENTRY_FLAGS_ID_SHIFT, range->id_shift));
  const uint64_t status = mmio_read64(table->base + RANGE_TABLE_STATUS_OFFSET);
  const uint64_t events =
      status & (RANGE_TABLE_STATUS_OVERLAP_MASK | RANGE_TABLE_STATUS_BAD_ENTRY_MASK);
  if (events == 0) return STRETTO_OK;
  mmio_write64(table->base + RANGE_TABLE_STATUS_OFFSET, events);
  clear(table, index);
  return (events & RANGE_TABLE_STATUS_BAD_ENTRY_MASK) != 0 ? STRETTO_ERROR_ARGUMENT
                                                           : STRETTO_ERROR_OVERLAP;
}

fw_result_t range_table_add(range_table_t* table, const range_t* range) {
  if (table == NULL || range == NULL) return STRETTO_ERROR_ARGUMENT;
  if (table->used == RANGE_TABLE_ENTRY_BASE_COUNT) return STRETTO_ERROR_TABLE_FULL;
  const fw_result_t result = write_entry(table, table->used, range);
  if (result == STRETTO_OK) ++table->used;
  return result;
}

bool range_table_has(const range_table_t* table, uint64_t base) {
  for (uint32_t i = 0; i < table->used; ++i) {
    if (mmio_read64(table->base + RANGE_TABLE_ENTRY_BASE_OFFSET_AT(i)) == base) return true;
  }
  return false;
}

bool range_table_holds(const range_table_t* table, uint64_t base, uint64_t address) {
  for (uint32_t i = 0; i < table->low; ++i) {
    if (mmio_read64(table->base + RANGE_TABLE_ENTRY_BASE_OFFSET_AT(i)) != base) continue;
    return address >= base &&
           address - base < mmio_read64(table->base + RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET_AT(i));
  }
  return false;
}

// Entry `from` a second time as entry `to`: never is neither valid.
static void copy_entry(const range_table_t* table, uint32_t to, uint32_t from) {
  // The flags last: they make the entry valid.
  static const uint64_t offsets[] = {
      RANGE_TABLE_ENTRY_BASE_OFFSET,      RANGE_TABLE_ENTRY_PITCH_OFFSET,
      RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET, RANGE_TABLE_ENTRY_ROWS_OFFSET,
      RANGE_TABLE_ENTRY_PEER_BASE_OFFSET, RANGE_TABLE_ENTRY_FLAGS_OFFSET};
  for (unsigned i = 0; i < sizeof offsets / sizeof offsets[0]; ++i) {
    const uint64_t at = table->base + offsets[i];
    mmio_write64(at + (uint64_t)to * RANGE_TABLE_ENTRY_BASE_STRIDE,
                 mmio_read64(at + (uint64_t)from * RANGE_TABLE_ENTRY_BASE_STRIDE));
  }
}

// The entry above the low ones makes room for one more by a copy of it as the last.
fw_result_t range_table_add_low(range_table_t* table, const range_t* range) {
  if (table == NULL || range == NULL) return STRETTO_ERROR_ARGUMENT;
  if (table->used == RANGE_TABLE_ENTRY_BASE_COUNT) return STRETTO_ERROR_TABLE_FULL;
  const uint32_t low = table->low, last = table->used;
  if (low != last) copy_entry(table, last, low);
  const fw_result_t result = write_entry(table, low, range);
  if (result == STRETTO_OK) {
    ++table->low;
    ++table->used;
  } else if (low != last) {
    copy_entry(table, low, last);
    clear(table, last);
  }
  return result;
}

fw_result_t range_table_remove(range_table_t* table, uint64_t base) {
  if (table == NULL) return STRETTO_ERROR_ARGUMENT;
  for (uint32_t i = 0; i < table->low; ++i) {
    if (mmio_read64(table->base + RANGE_TABLE_ENTRY_BASE_OFFSET_AT(i)) != base) continue;
    clear(table, i);
    const uint32_t last_low = table->low - 1, last = table->used - 1;
    if (i != last_low) copy_entry(table, i, last_low);
    if (last_low != last) copy_entry(table, last_low, last);
    if (i != last) clear(table, last);
    table->low = last_low;
    table->used = last;
    return STRETTO_OK;
  }
  return STRETTO_ERROR_UNMAPPED;
}

fw_result_t range_table_truncate(range_table_t* table, uint32_t keep) {
  if (table == NULL || keep > table->used) return STRETTO_ERROR_ARGUMENT;
  while (table->used > keep) clear(table, --table->used);
  if (table->low > keep) table->low = keep;
  return STRETTO_OK;
}
