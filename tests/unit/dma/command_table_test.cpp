// SPDX-License-Identifier: Apache-2.0
// Question: does the command table hand out every element of the mapped tiles exactly once, with
// the right addresses (T3-DMA-05), only when its block is complete (T3-DMA-04), and refuse what
// makes no sense? The reference paints a matrix of M x N bytes. Shapes: exact, ragged in one and in
// both dimensions, T-NLG's 33.25 tile columns.
#include "models/dma/command_table.h"

#include <catch2/catch.hpp>

#include <functional>
#include <utility>
#include <vector>

#include "tests/unit/dma/region_words.h"

namespace stretto {
namespace {

using test::kHere;
using test::kThere;
using test::RegionNumbers;

// Row and column of a tile: strips of 2 ^ order[1:0] tiles, down the columns if order[2].
std::pair<uint64_t, uint64_t> place_of(const RegionNumbers& numbers, uint64_t tile) {
  const uint64_t width = 1 << (numbers.order & 3);
  const bool down = (numbers.order & 4) != 0;
  const uint64_t along = down ? (numbers.m + numbers.tile_m - 1) / numbers.tile_m : numbers.tiles_n;
  const uint64_t across = tile / (width * along) * width + tile % width;
  const uint64_t step = tile / width % along;
  return down ? std::pair(step, across) : std::pair(across, step);
}

// Triggers everything; wavefronts without rows must be unknown to the table. Returns all transfers.
std::vector<TileTransfer> trigger_all(CommandTable& table, const RegionNumbers& numbers) {
  std::vector<TileTransfer> all;
  for (uint64_t wg = numbers.first_wg; wg < numbers.first_wg + numbers.wg_count; ++wg) {
    const uint64_t first_row = place_of(numbers, wg - numbers.id_base).first * numbers.tile_m;
    for (uint64_t wf = 0; wf < numbers.wavefronts; ++wf) {
      unsigned region;
      uint64_t start;
      const bool empty = first_row + wf * numbers.rows >= numbers.m;
      const auto result =
          table.trigger(static_cast<uint32_t>(wg), static_cast<uint8_t>(wf), all, region, start);
      REQUIRE(result == (empty ? CommandTable::Trigger::no_region : CommandTable::Trigger::taken));
    }
  }
  return all;
}

void check_covers_once(const RegionNumbers& numbers) {
  CommandTable table(1);
  REQUIRE(table.arm(3, numbers.words()));
  const std::vector<TileTransfer> all = trigger_all(table, numbers);
  CHECK(all.size() == table.region(3).total);
  const uint64_t bytes = element_bytes(static_cast<ElementType>(numbers.element));
  std::vector<int> painted(numbers.m * numbers.n, 0);
  bool sane = true;
  for (const TileTransfer& tile : all) {
    sane = sane && tile.destination - numbers.peer == tile.source - numbers.base &&
           tile.pitch == numbers.pitch;
    for (uint32_t row = 0; row < tile.rows; ++row) {
      const uint64_t offset = tile.source - numbers.base + row * tile.pitch;
      sane = sane && offset % numbers.pitch + tile.row_bytes <= numbers.n * bytes;
      for (uint64_t i = 0; i < tile.row_bytes / bytes; ++i) {
        ++painted[offset / numbers.pitch * numbers.n + offset % numbers.pitch / bytes + i];
      }
    }
  }
  CHECK(sane);
  const uint64_t tiles_m = (numbers.m + numbers.tile_m - 1) / numbers.tile_m;
  std::vector<uint64_t> ids(tiles_m * numbers.tiles_n);
  for (uint64_t tile = 0; tile < ids.size(); ++tile) {
    const auto [row, column] = place_of(numbers, tile);
    ids[row * numbers.tiles_n + column] = numbers.id_base + tile;
  }
  int wrong = 0;
  for (uint64_t row = 0; row < numbers.m; ++row) {
    for (uint64_t column = 0; column < numbers.n; ++column) {
      const uint64_t wg = ids[row / numbers.tile_m * numbers.tiles_n + column / numbers.tile_n];
      const bool mapped = wg >= numbers.first_wg && wg < numbers.first_wg + numbers.wg_count;
      wrong += painted[row * numbers.n + column] != (mapped ? 1 : 0);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a ragged output is covered exactly once", "[T3-DMA-05]") { check_covers_once({}); }

TEST_CASE("a chunk that starts and ends inside tile rows is covered exactly once") {
  RegionNumbers numbers;
  numbers.first_wg = 1;
  numbers.wg_count = 4;
  check_covers_once(numbers);
}

TEST_CASE("an output with 33.25 tile columns and padded rows is covered exactly once") {
  RegionNumbers numbers;
  numbers.m = 1024;
  numbers.n = 4256;
  numbers.pitch = 8576;
  numbers.tiles_n = 34;
  numbers.first_wg = 100;
  numbers.wg_count = 68;
  numbers.id_base = 10;
  check_covers_once(numbers);
}

TEST_CASE("parts of an output in strips are covered exactly once", "[T3-U20]") {
  RegionNumbers numbers;
  numbers.m = 1000;
  numbers.n = 600;
  numbers.pitch = 1200;
  numbers.tiles_n = 5;
  numbers.first_wg = 3;
  numbers.wg_count = 29;
  for (const uint64_t order : {1, 2, 3, 4}) {
    numbers.order = order;
    check_covers_once(numbers);
  }
  numbers.n = 768;
  numbers.pitch = 1536;
  numbers.tiles_n = 6;
  numbers.order = 1 | 4;
  check_covers_once(numbers);
  numbers.order = 2 | 4;  // 6 columns are no strips of 4.
  CommandTable table(1);
  CHECK_FALSE(table.arm(0, numbers.words()));
}

TEST_CASE("FP32 tiles of 8 wavefronts are covered exactly once") {
  RegionNumbers numbers;
  numbers.element = 2;
  numbers.pitch = 800;
  numbers.wavefronts = 8;
  numbers.rows = 16;
  check_covers_once(numbers);
}

TEST_CASE("FP8 tiles, of rows of an odd number of bytes, are covered exactly once",
          "[T3-2XCU-02]") {
  for (const uint64_t element : {6, 7}) {
    RegionNumbers numbers;
    numbers.element = element;
    numbers.base += 1;
    numbers.peer += 1;
    numbers.n = numbers.pitch = 199;
    check_covers_once(numbers);
  }
}

TEST_CASE("wavefronts without rows are not counted") {
  CommandTable table(1);
  REQUIRE(table.arm(0, RegionNumbers{}.words()));
  CHECK(table.region(0).total ==
        4 * 4 + 2 * 2);  // Two full tile rows; the last has 44 rows = 2 wavefronts.
}

TEST_CASE("a tile is handed out once, with its start address", "[T3-DMA-03][T3-DMA-05]") {
  CommandTable table(1);
  REQUIRE(table.arm(7, RegionNumbers{}.words()));
  std::vector<TileTransfer> ready;
  unsigned region = 0;
  uint64_t start = 0;
  CHECK(table.trigger(3, 2, ready, region, start) == CommandTable::Trigger::taken);
  CHECK(region == 7);
  // Tile 3 is tile row 1, tile column 1; wavefront 2 begins 64 rows further: row 192, column 128.
  CHECK(start == kHere + 0x10000 + 192 * 400 + 256);
  REQUIRE(ready.size() == 1);
  CHECK(ready[0].destination == kThere + 0x20000 + 192 * 400 + 256);
  CHECK(ready[0].rows == 32);
  CHECK(ready[0].row_bytes == (200 - 128) * 2);
  CHECK(table.trigger(3, 2, ready, region, start) == CommandTable::Trigger::repeated);
  CHECK(ready.size() == 1);
  CHECK(table.trigger(6, 0, ready, region, start) == CommandTable::Trigger::no_region);
  CHECK(table.region(7).triggered == 1);
}

TEST_CASE("a block leaves when its last tile is triggered", "[T3-DMA-02][T3-DMA-04]") {
  RegionNumbers numbers;
  numbers.block_tiles = 4;  // All wavefronts of a work-group.
  CommandTable table(1);
  REQUIRE(table.arm(0, numbers.words()));
  std::vector<TileTransfer> ready;
  unsigned region = 0;
  uint64_t start = 0;
  for (const uint8_t wf : {2, 0, 3}) {
    REQUIRE(table.trigger(1, wf, ready, region, start) == CommandTable::Trigger::taken);
    CHECK(ready.empty());
  }
  REQUIRE(table.trigger(1, 1, ready, region, start) == CommandTable::Trigger::taken);
  REQUIRE(ready.size() == 4);
  for (uint8_t wf = 0; wf < 4; ++wf) CHECK(ready[wf].wf_id == wf);
  ready.clear();
  REQUIRE(table.trigger(4, 0, ready, region, start) == CommandTable::Trigger::taken);
  REQUIRE(table.trigger(4, 1, ready, region, start) == CommandTable::Trigger::taken);
  CHECK(ready.size() == 2);  // The two empty wavefronts of the last tile row are not waited for.
}

TEST_CASE("a region without a peer counts and sends nothing") {
  RegionNumbers numbers;
  numbers.peer = 0;
  CommandTable table(1);
  REQUIRE(table.arm(0, numbers.words()));
  CHECK(trigger_all(table, numbers).empty());
  CHECK(table.region(0).done());
}

TEST_CASE("a region that transfers is done when all is sent") {
  RegionNumbers numbers;
  CommandTable table(1);
  REQUIRE(table.arm(0, numbers.words()));
  const size_t tiles = trigger_all(table, numbers).size();
  for (size_t i = 0; i < tiles; ++i) {
    CHECK_FALSE(table.region(0).done());
    table.sent(0);
  }
  CHECK(table.region(0).done());
}

TEST_CASE("a work-group belongs to one region until that is disarmed") {
  RegionNumbers numbers;
  CommandTable table(1);
  REQUIRE(table.arm(0, numbers.words()));
  numbers.first_wg = 5;
  numbers.wg_count = 1;
  CHECK_FALSE(table.arm(1, numbers.words()));
  table.disarm(0);
  CHECK(table.arm(1, numbers.words()));
}

TEST_CASE("regions that make no sense are refused") {
  const std::vector<std::function<void(RegionNumbers&)>> mistakes = {
      [](RegionNumbers& r) { r.m = 0; },
      [](RegionNumbers& r) { r.n = 0; },
      [](RegionNumbers& r) { r.tile_m = 0; },
      [](RegionNumbers& r) { r.tile_n = 0; },
      [](RegionNumbers& r) { r.tiles_n = 3; },
      [](RegionNumbers& r) { r.wg_count = 0; },
      [](RegionNumbers& r) { r.wg_count = 7; },       // There are 6 tiles.
      [](RegionNumbers& r) { r.id_base = 1; },        // first_wg lies before it.
      [](RegionNumbers& r) { r.first_wg = 65'535; },  // Ids have 16 bits.
      [](RegionNumbers& r) { r.wavefronts = 0; },
      [](RegionNumbers& r) { r.wavefronts = 9; },
      [](RegionNumbers& r) { r.rows = 31; },  // 4 x 31 rows do not cover 128.
      [](RegionNumbers& r) { r.pitch = 398; },
      [](RegionNumbers& r) { r.pitch = 401; },  // Not a multiple of the element.
      [](RegionNumbers& r) { r.base += 1; },
      [](RegionNumbers& r) { r.base = kThere; },                 // Not in this GPU.
      [](RegionNumbers& r) { r.peer = kHere + 0x20000; },        // The own memory.
      [](RegionNumbers& r) { r.peer = kThere + 0xFEFFFFFF00; },  // Reaches into the apertures.
      [](RegionNumbers& r) { r.multiply = true; },               // At a peer.
      [](RegionNumbers& r) { r.element = 5; },
      [](RegionNumbers& r) { r.rows = 300; },  // A wavefront tile of 76,800 B.
  };
  for (size_t i = 0; i < mistakes.size(); ++i) {
    INFO("mistake " << i);
    RegionNumbers numbers;
    mistakes[i](numbers);
    CommandTable table(1);
    CHECK_FALSE(table.arm(0, numbers.words()));
    CHECK_FALSE(table.region(0).valid);
  }
}

TEST_CASE("only operands go to the own memory: ready, untracked updates", "[T3-FOLLOW-01]") {
  const auto taken = [](bool update, bool tracked, bool ready) {
    RegionNumbers numbers;
    numbers.peer = kHere + 0x20000;
    numbers.multiply = true;
    numbers.update = update;
    numbers.tracked = tracked;
    numbers.ready = ready;
    CommandTable table(1);
    return table.arm(0, numbers.words());
  };
  CHECK(taken(true, false, true));
  CHECK_FALSE(taken(false, false, true));
  CHECK_FALSE(taken(true, true, true));
  CHECK_FALSE(taken(true, false, false));
}

TEST_CASE(
    "regions that are ready hand out all of their tiles at once, in order, beside others of the "
    "same ids") {
  RegionNumbers numbers;
  CommandTable table(1);
  REQUIRE(table.arm(0, numbers.words()));
  numbers.ready = true;
  REQUIRE(table.arm(1, numbers.words()));
  REQUIRE(table.arm(2, numbers.words()));
  std::vector<TileTransfer> ready;
  table.take_ready(1, ready);
  // Four tiles of four wavefronts, two of the lower edge with two that have rows.
  REQUIRE(ready.size() == 20);
  CHECK(table.region(1).triggered == 20);
  for (size_t i = 1; i < ready.size(); ++i) {
    CHECK(ready[i - 1].wg_id * 8 + ready[i - 1].wf_id < ready[i].wg_id * 8 + ready[i].wf_id);
  }
  // Triggers are the first region's, and stay so when the others are gone.
  table.disarm(1);
  table.disarm(2);
  std::vector<TileTransfer> triggered;
  unsigned region = 9;
  uint64_t start = 0;
  CHECK(table.trigger(0, 0, triggered, region, start) == CommandTable::Trigger::taken);
  CHECK(region == 0);
  numbers.peer = 0;  // Ready for whom?
  CHECK_FALSE(table.arm(1, numbers.words()));
}

}  // namespace
}  // namespace stretto
