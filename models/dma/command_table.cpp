// SPDX-License-Identifier: Apache-2.0
#include "models/dma/command_table.h"

#include <algorithm>
#include <cassert>

#include "models/fabric/link_spec.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/regs/dma_regs.h"
#include "sw/include/regs/field.h"

namespace stretto {

static_assert(kDmaRegions == DMA_REGION_BASE_COUNT);

CommandTable::CommandTable(uint8_t node)
    : node_(node), regions_(kDmaRegions), owner_(kIds, kNone) {}

bool CommandTable::decode(const RegionWords& words, Region& region) {
  region = Region{};
  region.first_wg =
      static_cast<uint32_t>(STRETTO_FIELD_GET(words.range, DMA_REGION_RANGE_FIRST_WG));
  region.wg_count =
      static_cast<uint32_t>(STRETTO_FIELD_GET(words.range, DMA_REGION_RANGE_WG_COUNT));
  region.base = words.base;
  region.peer = words.peer;
  region.transfers = words.peer != 0;
  region.pitch = words.pitch;
  region.m = static_cast<uint32_t>(STRETTO_FIELD_GET(words.size, DMA_REGION_SIZE_M));
  region.n = static_cast<uint32_t>(STRETTO_FIELD_GET(words.size, DMA_REGION_SIZE_N));
  region.tile_m = static_cast<uint32_t>(STRETTO_FIELD_GET(words.tile, DMA_REGION_TILE_TILE_M));
  region.tile_n = static_cast<uint32_t>(STRETTO_FIELD_GET(words.tile, DMA_REGION_TILE_TILE_N));
  region.tiles_n = static_cast<uint32_t>(STRETTO_FIELD_GET(words.tile, DMA_REGION_TILE_TILES_N));
  region.wavefronts =
      static_cast<uint32_t>(STRETTO_FIELD_GET(words.wavefronts, DMA_REGION_WAVEFRONTS_COUNT));
  region.wavefront_rows =
      static_cast<uint32_t>(STRETTO_FIELD_GET(words.wavefronts, DMA_REGION_WAVEFRONTS_ROWS));
  region.order_code =
      static_cast<uint32_t>(STRETTO_FIELD_GET(words.wavefronts, DMA_REGION_WAVEFRONTS_ORDER));
  region.id_base =
      static_cast<uint32_t>(STRETTO_FIELD_GET(words.wavefronts, DMA_REGION_WAVEFRONTS_ID_BASE));
  region.operation = STRETTO_FIELD_GET(words.control, DMA_REGION_CONTROL_OPERATION) != 0
                         ? Operation::update
                         : Operation::write;
  region.tracked = (words.control & DMA_REGION_CONTROL_TRACKED_MASK) != 0;
  region.ready = (words.control & DMA_REGION_CONTROL_READY_MASK) != 0;
  region.multiply = (words.control & DMA_REGION_CONTROL_MULTIPLY_MASK) != 0;
  region.account =
      static_cast<uint8_t>(STRETTO_FIELD_GET(words.control, DMA_REGION_CONTROL_ACCOUNT));
  region.block_tiles = std::max(
      1u, static_cast<uint32_t>(STRETTO_FIELD_GET(words.control, DMA_REGION_CONTROL_BLOCK_TILES)));
  const uint64_t element = STRETTO_FIELD_GET(words.control, DMA_REGION_CONTROL_ELEMENT);
  if (!element_exists(element)) return false;
  region.element = static_cast<ElementType>(element);
  return true;
}

bool CommandTable::allowed(const Region& region) const {
  if (region.m == 0 || region.n == 0 || region.tile_m == 0 || region.tile_n == 0) return false;
  if (region.wavefronts == 0 || region.wavefronts > 8 || region.wavefront_rows == 0) return false;
  const uint64_t bytes = element_bytes(region.element);
  const uint64_t tiles_m = (uint64_t{region.m} + region.tile_m - 1) / region.tile_m;
  if (region.tiles_n != (uint64_t{region.n} + region.tile_n - 1) / region.tile_n) return false;
  if (!tile_order_fits(region.order_code, static_cast<uint32_t>(tiles_m), region.tiles_n))
    return false;
  if (region.wg_count == 0 || uint64_t{region.first_wg} + region.wg_count > kIds) return false;
  if (region.first_wg < region.id_base) return false;
  if (uint64_t{region.first_wg} - region.id_base + region.wg_count > tiles_m * region.tiles_n)
    return false;
  if (uint64_t{region.wavefronts} * region.wavefront_rows < region.tile_m) return false;
  if (uint64_t{region.wavefront_rows} * region.tile_n * bytes > kMaxPacketBytes) return false;
  if (region.pitch < region.n * bytes || region.pitch % bytes != 0) return false;
  const uint64_t output_bytes = (uint64_t{region.m} - 1) * region.pitch + region.n * bytes;
  const auto fits = [&](uint64_t address) {
    return address % bytes == 0 &&
           (address & STRETTO_OFFSET_MASK) + output_bytes <= STRETTO_GPU_MEMORY_LIMIT;
  };
  if (!fits(region.base) || region.base >> STRETTO_NODE_SHIFT != node_) return false;
  if (region.transfers && !fits(region.peer)) return false;
  const bool in_place = region.peer >> STRETTO_NODE_SHIFT == node_;
  if (in_place && (!region.ready || region.operation != Operation::update || region.tracked))
    return false;
  if (region.multiply && !in_place) return false;
  if (region.ready) return region.transfers;
  return std::all_of(owner_.begin() + region.first_wg,
                     owner_.begin() + region.first_wg + region.wg_count,
                     [](uint8_t owner) { return owner == kNone; });
}

bool CommandTable::arm(unsigned index, const RegionWords& words) {
  disarm(index);
  Region region;
  if (!decode(words, region) || !allowed(region)) return false;
  const uint32_t tiles_m =
      static_cast<uint32_t>((uint64_t{region.m} + region.tile_m - 1) / region.tile_m);
  region.order = tile_order(region.order_code, tiles_m, region.tiles_n);
  const uint32_t tiles = region.wg_count * region.wavefronts;
  region.seen.assign(tiles, false);
  if (region.block_tiles > 1)
    region.block_left.assign((tiles + region.block_tiles - 1) / region.block_tiles, 0);
  for (uint32_t tile = 0; tile < tiles; ++tile) {
    if (rows_of(region, region.first_wg + tile / region.wavefronts, tile % region.wavefronts) == 0)
      continue;
    ++region.total;
    if (!region.block_left.empty()) ++region.block_left[tile / region.block_tiles];
  }
  if (!region.ready)
    std::fill_n(owner_.begin() + region.first_wg, region.wg_count, static_cast<uint8_t>(index));
  region.valid = true;
  regions_[index] = std::move(region);
  return true;
}

void CommandTable::disarm(unsigned index) {
  Region& region = regions_[index];
  if (region.valid && !region.ready)
    std::fill_n(owner_.begin() + region.first_wg, region.wg_count, kNone);
  region.valid = false;
}

// Rows of the wavefront's part of the tile that lie inside the output.
uint32_t CommandTable::rows_of(const Region& region, uint32_t wg_id, uint32_t wf_id) {
  const tile_place_t place = tile_order_place(&region.order, wg_id - region.id_base);
  const uint64_t tile_row = uint64_t{place.row} * region.tile_m;
  const uint32_t inside =
      static_cast<uint32_t>(std::min<uint64_t>(region.tile_m, region.m - tile_row));
  const uint32_t first = wf_id * region.wavefront_rows;
  return first >= inside ? 0 : std::min(region.wavefront_rows, inside - first);
}

TileTransfer CommandTable::transfer_of(const Region& region, uint32_t wg_id, uint32_t wf_id) {
  const tile_place_t place = tile_order_place(&region.order, wg_id - region.id_base);
  const uint64_t row = uint64_t{place.row} * region.tile_m + wf_id * region.wavefront_rows;
  const uint64_t column = uint64_t{place.column} * region.tile_n;
  const uint32_t bytes = element_bytes(region.element);
  const uint64_t offset = row * region.pitch + column * bytes;
  TileTransfer transfer;
  transfer.wf_id = static_cast<uint8_t>(wf_id);
  transfer.wg_id = wg_id;
  transfer.source = region.base + offset;
  transfer.destination = region.peer + offset;
  transfer.pitch = region.pitch;
  transfer.rows = rows_of(region, wg_id, wf_id);
  transfer.row_bytes =
      static_cast<uint32_t>(std::min<uint64_t>(region.tile_n, region.n - column)) * bytes;
  return transfer;
}

std::optional<std::pair<uint32_t, uint32_t>> CommandTable::first_missing(unsigned index) const {
  const Region& region = regions_[index];
  for (uint32_t tile = 0; tile < region.seen.size(); ++tile) {
    const uint32_t wg_id = region.first_wg + tile / region.wavefronts;
    const uint32_t wf_id = tile % region.wavefronts;
    if (!region.seen[tile] && rows_of(region, wg_id, wf_id) != 0) return {{wg_id, wf_id}};
  }
  return std::nullopt;
}

CommandTable::Trigger CommandTable::trigger(uint32_t wg_id, uint8_t wf_id,
                                            std::vector<TileTransfer>& ready,
                                            unsigned& region_index, uint64_t& start) {
  if (wg_id >= kIds || owner_[wg_id] == kNone) return Trigger::no_region;
  region_index = owner_[wg_id];
  Region& region = regions_[region_index];
  if (wf_id >= region.wavefronts || rows_of(region, wg_id, wf_id) == 0) return Trigger::no_region;
  const uint32_t tile = (wg_id - region.first_wg) * region.wavefronts + wf_id;
  start = transfer_of(region, wg_id, wf_id).source;
  if (region.seen[tile]) return Trigger::repeated;
  region.seen[tile] = true;
  ++region.triggered;
  const uint32_t block = tile / region.block_tiles;
  if (!region.block_left.empty() && --region.block_left[block] != 0) return Trigger::taken;
  if (!region.transfers) return Trigger::taken;
  const uint32_t end =
      std::min<uint32_t>((block + 1) * region.block_tiles, region.wg_count * region.wavefronts);
  append(region_index, block * region.block_tiles, end, ready);
  return Trigger::taken;
}

void CommandTable::take_ready(unsigned index, std::vector<TileTransfer>& ready) {
  Region& region = regions_[index];
  region.triggered = region.total;
  append(index, 0, region.wg_count * region.wavefronts, ready);
}

// Tiles [first_tile, end_tile) of the region that are not empty.
void CommandTable::append(unsigned index, uint32_t first_tile, uint32_t end_tile,
                          std::vector<TileTransfer>& ready) const {
  const Region& region = regions_[index];
  for (uint32_t tile = first_tile; tile < end_tile; ++tile) {
    TileTransfer transfer =
        transfer_of(region, region.first_wg + tile / region.wavefronts, tile % region.wavefronts);
    if (transfer.rows == 0) continue;
    transfer.region = static_cast<uint8_t>(index);
    ready.push_back(transfer);
  }
}

}  // namespace stretto
