// SPDX-License-Identifier: Apache-2.0
// The range table: what each mapped address range is (T3 Figs 11-12). A later entry lies over an
// earlier one.
#ifndef STRETTO_SW_FIRMWARE_HAL_RANGE_TABLE_H_
#define STRETTO_SW_FIRMWARE_HAL_RANGE_TABLE_H_

#include <stdbool.h>

#include "sw/firmware/hal/mmio.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RANGE_LOCAL 0
#define RANGE_REMOTE 1
#define RANGE_DMA 2

typedef struct range_table {
  uint64_t base;
  uint32_t used;  // Entries 0 .. used - 1 are valid.
  uint32_t low;   // The first of these lie under the others.
} range_table_t;

typedef struct range {
  uint64_t base;
  uint64_t row_bytes;
  uint64_t pitch;
  uint32_t rows;
  uint32_t kind;        // RANGE_*.
  uint32_t allocation;  // STRETTO_ALLOCATION_*.
  bool update;
  bool tracked;
  uint64_t peer_base;  // Kinds remote and dma.
  uint16_t id_shift;   // Kind remote.
} range_t;

FW_MUST_CHECK fw_result_t range_table_init(range_table_t* table);
// Appends an entry. STRETTO_ERROR_ARGUMENT: refused; STRETTO_ERROR_OVERLAP: partly shares bytes
// with another entry (it is taken out again); STRETTO_ERROR_TABLE_FULL.
FW_MUST_CHECK fw_result_t range_table_add(range_table_t* table, const range_t* range);
// Likewise, behind the low entries and under all others. REQUIRES: none of these lies over another.
FW_MUST_CHECK fw_result_t range_table_add_low(range_table_t* table, const range_t* range);
// Whether an entry begins at `base`.
bool range_table_has(const range_table_t* table, uint64_t base);
// Whether the low entry that begins at `base` holds this address. Of entries of one row.
bool range_table_holds(const range_table_t* table, uint64_t base, uint64_t address);
// Forgets the low entry that begins at `base`; the last of them takes its number. REQUIRES: that
// lies over none of the low ones, and as above. STRETTO_ERROR_UNMAPPED: there is none.
FW_MUST_CHECK fw_result_t range_table_remove(range_table_t* table, uint64_t base);
// Forgets the entries from number `keep` on, low ones too.
FW_MUST_CHECK fw_result_t range_table_truncate(range_table_t* table, uint32_t keep);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_HAL_RANGE_TABLE_H_
