// SPDX-License-Identifier: Apache-2.0
// Question: do row and column of an ordered id, its inverse and the rectangles of a run agree with the
// definition: strips one after the other, steps along a strip, tiles across a step? Shapes: every code
// on up to 17 x 17 tiles; every run of ids of some; those of T3's sub-layers. The numbers expected come
// from nested loops and from CUTLASS's rule for strips (8 by the number of tile rows).
#include "sw/include/tile_order.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace {

using Tile = std::pair<uint32_t, uint32_t>;  // Row, column.

// The tiles of an output in their order, by walking it.
std::vector<Tile> walk(uint32_t code, uint32_t tiles_m, uint32_t tiles_n) {
  const bool down = (code & 4) != 0;
  const uint32_t width = 1u << (code & 3), along = down ? tiles_m : tiles_n,
                 across = down ? tiles_n : tiles_m;
  std::vector<Tile> tiles;
  for (uint32_t strip = 0; strip < across; strip += width) {
    for (uint32_t step = 0; step < along; ++step) {
      for (uint32_t i = strip; i < strip + width; ++i)
        tiles.emplace_back(down ? step : i, down ? i : step);
    }
  }
  return tiles;
}

// Whether the rectangles of ids [first, end) hold each of their tiles once and nothing else.
bool covers(const std::vector<Tile>& tiles, uint32_t code, uint32_t tiles_m, uint32_t tiles_n,
            uint32_t first, uint32_t end) {
  const tile_order_t order = tile_order(code, tiles_m, tiles_n);
  tile_rectangle_t rectangles[TILE_ORDER_RECTANGLES];
  const uint32_t count = tile_order_rectangles(&order, first, end - first, rectangles);
  std::vector<unsigned> held(uint64_t{tiles_m} * tiles_n);
  uint32_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const tile_rectangle_t& one = rectangles[i];
    if (one.row >= one.row_end || one.column >= one.column_end) return false;
    if (one.row_end > tiles_m || one.column_end > tiles_n) return false;
    for (uint32_t row = one.row; row < one.row_end; ++row) {
      for (uint32_t column = one.column; column < one.column_end; ++column, ++sum)
        ++held[row * tiles_n + column];
    }
  }
  for (uint32_t id = first; id < end; ++id) {
    if (held[tiles[id].first * tiles_n + tiles[id].second] != 1) return false;
  }
  return count <= TILE_ORDER_RECTANGLES && sum == end - first;
}

uint32_t rectangles_of(uint32_t code, uint32_t tiles_m, uint32_t tiles_n, uint32_t first,
                       uint32_t end) {
  const tile_order_t order = tile_order(code, tiles_m, tiles_n);
  tile_rectangle_t rectangles[TILE_ORDER_RECTANGLES];
  return tile_order_rectangles(&order, first, end - first, rectangles);
}

}  // namespace

TEST_CASE("the place of every id and the id of every place are those of the walk", "[T3-U20]") {
  unsigned wrong = 0, orders = 0;
  for (uint32_t tiles_m = 1; tiles_m <= 17; ++tiles_m) {
    for (uint32_t tiles_n = 1; tiles_n <= 17; ++tiles_n) {
      for (uint32_t code = 0; code < TILE_ORDER_CODES; ++code) {
        if (!tile_order_fits(code, tiles_m, tiles_n)) continue;
        ++orders;
        const tile_order_t order = tile_order(code, tiles_m, tiles_n);
        const std::vector<Tile> tiles = walk(code, tiles_m, tiles_n);
        REQUIRE(tiles.size() == tiles_m * tiles_n);
        for (uint32_t id = 0; id < tiles.size(); ++id) {
          const tile_place_t place = tile_order_place(&order, id);
          wrong += Tile(place.row, place.column) != tiles[id];
          wrong += tile_order_id(&order, place.row, place.column) != id;
        }
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(orders > 17 * 17 * 2);
}

TEST_CASE("row-major order is the order of one tile across, along the rows") {
  const tile_order_t order = tile_order(TILE_ORDER_ROWS, 5, 7);
  CHECK(tile_order_place(&order, 16).row == 2);
  CHECK(tile_order_place(&order, 16).column == 2);
}

TEST_CASE("the rectangles of a run hold its tiles and no others, five at most") {
  unsigned wrong = 0, most = 0;
  for (const auto& [tiles_m, tiles_n] :
       std::vector<Tile>{{16, 5}, {5, 16}, {24, 3}, {4, 9}, {6, 6}}) {
    for (uint32_t code = 0; code < TILE_ORDER_CODES; ++code) {
      if (!tile_order_fits(code, tiles_m, tiles_n)) continue;
      const std::vector<Tile> tiles = walk(code, tiles_m, tiles_n);
      for (uint32_t first = 0; first < tiles.size(); ++first) {
        for (uint32_t end = first + 1; end <= tiles.size(); ++end) {
          wrong += !covers(tiles, code, tiles_m, tiles_n, first, end);
          most = std::max(most, rectangles_of(code, tiles_m, tiles_n, first, end));
        }
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(most == 5);
}

TEST_CASE("strips are 8, 4, 2 or 1 tiles across, along the shorter side", "[T3-U20]") {
  CHECK(tile_order_strips(8192, 4256, 64, 34) == 3);
  CHECK(tile_order_strips(8192, 4256, 32, 34) == 3);  // Of 256 rows: N is still shorter.
  CHECK(tile_order_strips(2048, 18432, 16, 144) == (3 | TILE_ORDER_DOWN));
  CHECK(tile_order_strips(1024, 1024, 4, 8) == 2);
  CHECK(tile_order_strips(700, 300, 6, 3) == 1);
  CHECK(tile_order_strips(600, 300, 5, 3) == TILE_ORDER_ROWS);
  CHECK(tile_order_strips(100, 700, 1, 6) == (1 | TILE_ORDER_DOWN));
}

TEST_CASE("a chunk of T3's sub-layers in tiles of 128 rows is one rectangle up to TP 16",
          "[T3-U09]") {
  struct Layer {
    uint32_t m, n, ranks;
  };
  for (const Layer& layer :
       {Layer{8192, 4256, 8}, {8192, 4256, 16}, {16384, 3072, 8}, {16384, 3072, 16}}) {
    const uint32_t tiles_m = layer.m / 128, tiles_n = (layer.n + 127) / 128,
                   tiles = tiles_m * tiles_n;
    const uint32_t code = tile_order_strips(layer.m, layer.n, tiles_m, tiles_n);
    for (uint32_t chunk = 0; chunk < layer.ranks; ++chunk) {
      const uint32_t first = chunk * tiles / layer.ranks, end = (chunk + 1) * tiles / layer.ranks;
      CHECK(rectangles_of(code, tiles_m, tiles_n, first, end) == 1);
    }
  }
}
