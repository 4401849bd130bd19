// SPDX-License-Identifier: Apache-2.0
// The DMA command table (T3 4.2.2, Fig 9c): which output tiles leave for where once they are
// complete. Plain C++; the engine holds the registers and moves the data.
//
// Invariants
//  1 A work-group id belongs to at most one valid region that takes triggers.
//  2 Each wavefront tile is handed out once per arm(): a second trigger is reported, not executed
//    (T3-DMA-03).
//  3 A block of several wavefront tiles is handed out when the last of them is triggered, in the
//    order of ids (T3-DMA-04).
//  4 A region that is ready when it is armed takes no triggers: all of its tiles are handed out at
//    once, in the order of ids. Only such a region may name this GPU as the peer: its tiles are
//    operands, which memory adds to the output in place, or multiplies it with (T3-FOLLOW-01).
//  5 Addresses come from (wg, wf), the programmed bases and the output's shape alone (T3-DMA-05).
#ifndef STRETTO_MODELS_DMA_COMMAND_TABLE_H_
#define STRETTO_MODELS_DMA_COMMAND_TABLE_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/common/payload_extension.h"
#include "sw/include/tile_order.h"

namespace stretto {

inline constexpr unsigned kDmaRegions = 128;

// The registers of a region, in the order of dma.yaml.
struct RegionWords {
  uint64_t range = 0;
  uint64_t base = 0;
  uint64_t peer = 0;
  uint64_t pitch = 0;
  uint64_t size = 0;
  uint64_t tile = 0;
  uint64_t wavefronts = 0;
  uint64_t control = 0;
};

// One wavefront tile on its way.
struct TileTransfer {
  uint8_t region = 0;
  uint8_t wf_id = 0;
  uint32_t wg_id = 0;
  uint64_t source = 0;
  uint64_t destination = 0;  // 48-bit.
  uint64_t pitch = 0;
  uint32_t rows = 0;
  uint32_t row_bytes = 0;
  uint64_t flow = 0;  // Of the timeline.
};

class CommandTable {
 public:
  struct Region {
    bool valid = false;
    bool transfers = false;
    bool tracked = false;
    bool ready = false;
    bool multiply = false;
    Operation operation = Operation::write;
    ElementType element = ElementType::fp16;
    uint8_t account = STRETTO_ACCOUNT_OTHER;
    uint32_t first_wg = 0, wg_count = 0, id_base = 0;
    uint64_t base = 0, peer = 0, pitch = 0;
    uint32_t m = 0, n = 0, tile_m = 0, tile_n = 0, tiles_n = 0;
    uint32_t order_code = 0;
    tile_order_t order{};
    uint32_t wavefronts = 0, wavefront_rows = 0, block_tiles = 1;
    uint32_t triggered = 0, sent = 0, total = 0;
    std::vector<bool> seen;            // By tile number.
    std::vector<uint16_t> block_left;  // By block; empty if block_tiles == 1.

    bool done() const { return triggered == total && (!transfers || sent == total); }
  };
  enum class Trigger { taken, no_region, repeated };

  // `node` is this GPU's.
  explicit CommandTable(uint8_t node);

  // Checks and makes region `index` valid; false (and invalid) if it is not allowed.
  bool arm(unsigned index, const RegionWords& words);
  void disarm(unsigned index);
  // Work-group and wavefront of the first tile that waits for its trigger.
  std::optional<std::pair<uint32_t, uint32_t>> first_missing(unsigned index) const;
  // Appends the tiles of a region that is ready. Once after arm().
  void take_ready(unsigned index, std::vector<TileTransfer>& ready);
  // Appends to `ready` what may be sent now. `start` gets the address of the tile's first element.
  Trigger trigger(uint32_t wg_id, uint8_t wf_id, std::vector<TileTransfer>& ready, unsigned& region,
                  uint64_t& start);
  // A tile of this region has been handed to the link.
  void sent(unsigned region) { ++regions_[region].sent; }

  const Region& region(unsigned index) const { return regions_[index]; }

 private:
  static constexpr uint8_t kNone = 0xFF;
  static constexpr uint32_t kIds = 65'536;  // Tracker ids have 16 bits.

  static bool decode(const RegionWords& words, Region& region);
  bool allowed(const Region& region) const;
  static uint32_t rows_of(const Region& region, uint32_t wg_id, uint32_t wf_id);
  static TileTransfer transfer_of(const Region& region, uint32_t wg_id, uint32_t wf_id);
  void append(unsigned index, uint32_t first_tile, uint32_t end_tile,
              std::vector<TileTransfer>& ready) const;

  const uint8_t node_;
  std::vector<Region> regions_;
  std::vector<uint8_t> owner_;  // By work-group id: its region or kNone.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_DMA_COMMAND_TABLE_H_
