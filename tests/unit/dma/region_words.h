// SPDX-License-Identifier: Apache-2.0
// A region of the command table in plain numbers, for tests.
#ifndef STRETTO_TESTS_UNIT_DMA_REGION_WORDS_H_
#define STRETTO_TESTS_UNIT_DMA_REGION_WORDS_H_

#include <cstdint>

#include "models/dma/command_table.h"
#include "sw/include/regs/dma_regs.h"
#include "sw/include/regs/field.h"

namespace stretto::test {

inline constexpr uint64_t kHere = uint64_t{1} << 40;   // GPU 0.
inline constexpr uint64_t kThere = uint64_t{2} << 40;  // GPU 1.

// Ragged on purpose: 300 x 200 in tiles of 128 x 128 makes 3 x 2 tiles; the last tile row has 44
// rows, so wavefronts 2 and 3 are empty.
struct RegionNumbers {
  uint64_t first_wg = 0, wg_count = 6;
  uint64_t base = kHere + 0x10000, peer = kThere + 0x20000, pitch = 400;
  uint64_t m = 300, n = 200, tile_m = 128, tile_n = 128, tiles_n = 2;
  uint64_t wavefronts = 4, rows = 32, id_base = 0, order = 0;
  bool update = true, tracked = true, ready = false, multiply = false;
  uint64_t element = 0, account = 13, block_tiles = 0;

  RegionWords words() const {
    RegionWords w;
    w.range = STRETTO_FIELD(DMA_REGION_RANGE_FIRST_WG, first_wg) |
              STRETTO_FIELD(DMA_REGION_RANGE_WG_COUNT, wg_count);
    w.base = base;
    w.peer = peer;
    w.pitch = pitch;
    w.size = STRETTO_FIELD(DMA_REGION_SIZE_M, m) | STRETTO_FIELD(DMA_REGION_SIZE_N, n);
    w.tile = STRETTO_FIELD(DMA_REGION_TILE_TILE_M, tile_m) |
             STRETTO_FIELD(DMA_REGION_TILE_TILE_N, tile_n) |
             STRETTO_FIELD(DMA_REGION_TILE_TILES_N, tiles_n);
    w.wavefronts = STRETTO_FIELD(DMA_REGION_WAVEFRONTS_COUNT, wavefronts) |
                   STRETTO_FIELD(DMA_REGION_WAVEFRONTS_ORDER, order) |
                   STRETTO_FIELD(DMA_REGION_WAVEFRONTS_ROWS, rows) |
                   STRETTO_FIELD(DMA_REGION_WAVEFRONTS_ID_BASE, id_base);
    w.control = DMA_REGION_CONTROL_VALID_MASK |
                STRETTO_FIELD(DMA_REGION_CONTROL_OPERATION, update ? 1 : 0) |
                STRETTO_FIELD(DMA_REGION_CONTROL_TRACKED, tracked ? 1 : 0) |
                STRETTO_FIELD(DMA_REGION_CONTROL_READY, ready ? 1 : 0) |
                STRETTO_FIELD(DMA_REGION_CONTROL_MULTIPLY, multiply ? 1 : 0) |
                STRETTO_FIELD(DMA_REGION_CONTROL_ELEMENT, element) |
                STRETTO_FIELD(DMA_REGION_CONTROL_ACCOUNT, account) |
                STRETTO_FIELD(DMA_REGION_CONTROL_BLOCK_TILES, block_tiles);
    return w;
  }
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_DMA_REGION_WORDS_H_
