// SPDX-License-Identifier: Apache-2.0
// What the firmware-programmed range table (T3 Figs 11-12, T3-CFG) answers for an address. The
// table itself is models/gpu/range_table.*; compute units, the DMA command table and checks ask it
// through this interface.
#ifndef STRETTO_MODELS_COMMON_RANGE_LOOKUP_H_
#define STRETTO_MODELS_COMMON_RANGE_LOOKUP_H_

#include <cstdint>

#include "models/common/payload_extension.h"

namespace stretto {

enum class RangeKind : uint8_t { local, remote, dma };

struct RangeEntry {
  uint64_t base = 0;       // 48-bit address of the first byte.
  uint64_t pitch = 0;      // Bytes between rows; 0 with rows = 1.
  uint64_t row_bytes = 0;  // 1..2^40.
  uint32_t rows = 0;       // 0 = entry not in use.
  RangeKind kind = RangeKind::local;
  bool update = false;   // Operation for tagged stores (and of its DMA): update instead of store.
  bool tracked = false;  // Tagged stores and arriving updates are counted by the Tracker.
  AllocationClass allocation = AllocationClass::cached;
  uint16_t id_shift = 0;   // Added to the tile ids of tagged stores (remote).
  uint64_t peer_base = 0;  // 48-bit address that `base` becomes in the peer (remote, dma).
};

class RangeLookup {
 public:
  virtual ~RangeLookup() = default;
  // The most specific (last programmed) entry that holds all of [address, address + bytes), or
  // null.
  virtual const RangeEntry* find(uint64_t address, uint64_t bytes) const = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_RANGE_LOOKUP_H_
