// SPDX-License-Identifier: Apache-2.0
// Question: if every element of every chunk leaves exactly once, does every element of every chunk
// arrive exactly once, with the ids of its own tile and wavefront? Shapes: exact; ragged rows,
// columns and both; chunks of unequal size; T-NLG's 33.25 tile columns. Pieces: whole wavefront
// tiles (DMA), 4-row pieces (stores), 1/8 tiles of ring kernels.
#include "models/fabric/chunk_mirror.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "sw/include/tile_order.h"

namespace stretto {
namespace {

constexpr uint64_t kBase = 0x100000;
constexpr uint64_t kPeer = uint64_t{8} << 40;

MirrorPlan plan_of(uint32_t m, uint32_t n, uint32_t chunks, uint32_t order = TILE_ORDER_ROWS) {
  MirrorPlan plan;
  plan.arrays = {kBase};
  plan.m = m;
  plan.n = n;
  plan.pitch = n * 2;
  plan.tile_m = plan.tile_n = 128;
  const uint32_t tiles = (m + 127) / 128 * ((n + 127) / 128);
  plan.order = tile_order(order, (m + 127) / 128, (n + 127) / 128);
  for (uint32_t chunk = 0; chunk <= chunks; ++chunk)
    plan.chunk_first.push_back(chunk * tiles / chunks);
  return plan;
}

// Sends all tiles of all chunks in pieces of up to `piece_rows` rows; counts what arrives.
void check_exactly_once(const MirrorPlan& plan, uint32_t piece_rows) {
  const MirrorMap mirror = make_chunk_mirror(plan);
  std::vector<int> arrived(uint64_t{plan.m} * plan.n, 0);
  const uint32_t tiles_n = (plan.n + plan.tile_n - 1) / plan.tile_n;
  int wrong_ids = 0;
  // Of strips along the rows, by row and column.
  const auto id_of = [&](uint64_t row, uint64_t column) {
    const uint64_t width = 1 << plan.order.width;
    return (row / width * tiles_n + column) * width + row % width;
  };
  for (uint32_t tile = 0; tile < plan.chunk_first.back(); ++tile) {
    const uint32_t top = tile / tiles_n * plan.tile_m;
    const uint32_t left = tile % tiles_n * plan.tile_n;
    const uint32_t rows = std::min(plan.tile_m, plan.m - top);
    const uint32_t columns = std::min(plan.tile_n, plan.n - left);
    for (uint32_t row = 0; row < rows; row += piece_rows) {
      Packet packet;
      packet.tracked = true;
      packet.address = kPeer + kBase + uint64_t{top + row} * plan.pitch + left * 2;
      packet.rows = std::min(piece_rows, rows - row);
      packet.row_bytes = columns * 2;
      packet.pitch = plan.pitch;
      packet.wg_id = tile;
      packet.wf_id = static_cast<uint8_t>(row / (plan.tile_m / plan.wavefronts));
      packet.data.assign(packet.rows * packet.row_bytes, 1);
      std::vector<Packet> out;
      mirror(std::move(packet), out);
      for (const Packet& each : out) {
        REQUIRE(each.data.size() == each.rows * each.row_bytes);
        for (uint32_t r = 0; r < each.rows; ++r) {
          const uint64_t offset = each.address + r * each.pitch - kBase;
          const uint64_t y = offset / plan.pitch;
          const uint64_t x = offset % plan.pitch / 2;
          REQUIRE(x + each.row_bytes / 2 <= plan.n);
          wrong_ids += each.wg_id != id_of(y / plan.tile_m, x / plan.tile_n);
          wrong_ids += each.wf_id != y % plan.tile_m / (plan.tile_m / plan.wavefronts);
          for (uint64_t i = 0; i < each.row_bytes / 2; ++i) ++arrived[y * plan.n + x + i];
        }
      }
    }
  }
  CHECK(wrong_ids == 0);
  CHECK(std::count(arrived.begin(), arrived.end(), 1) == static_cast<long>(arrived.size()));
}

TEST_CASE("every element of an exact output arrives once") {
  check_exactly_once(plan_of(512, 512, 4), 16);
}
TEST_CASE("every element of an output with ragged columns arrives once") {
  check_exactly_once(plan_of(512, 4256, 8), 16);
}
TEST_CASE("every element of an output with ragged rows arrives once") {
  check_exactly_once(plan_of(300, 512, 3), 16);
}
TEST_CASE("every element of a ragged output in unequal chunks arrives once") {
  check_exactly_once(plan_of(1000, 840, 5), 16);
  check_exactly_once(plan_of(1000, 840, 7), 4);
}

TEST_CASE("every element of an output in strips arrives once") {
  check_exactly_once(plan_of(1000, 840, 5, 3), 16);
  check_exactly_once(plan_of(1024, 4256, 16, 3), 16);  // Chunks of 17 of 34 columns.
  check_exactly_once(plan_of(512, 840, 7, 1), 4);
}

TEST_CASE("a tile becomes the tile at its place in the next chunk, the last chunk's the first's") {
  const MirrorMap mirror =
      make_chunk_mirror(plan_of(512, 512, 4));  // 4 x 4 tiles: a chunk is a tile row.
  for (const uint32_t chunk : {0u, 3u}) {
    Packet packet;
    packet.address = kPeer + kBase + chunk * 128 * 1024 + 2 * 256;
    packet.rows = 16;
    packet.row_bytes = 256;
    packet.pitch = 1024;
    packet.data.assign(4096, 9);
    std::vector<Packet> out;
    mirror(std::move(packet), out);
    REQUIRE(out.size() == 1);
    CHECK(out[0].wg_id == (chunk + 1) % 4 * 4 + 2);
    CHECK(out[0].address == kBase + (chunk + 1) % 4 * 128 * 1024 + 2 * 256);
    CHECK(out[0].data == std::vector<uint8_t>(4096, 9));
  }
}

TEST_CASE("what lies outside of the arrays stays as it is") {
  const MirrorMap mirror = make_chunk_mirror(plan_of(512, 512, 4));
  Packet flag;
  flag.address = kPeer + 0x900000;
  flag.row_bytes = 8;
  flag.data.assign(8, 1);
  std::vector<Packet> out;
  mirror(std::move(flag), out);
  REQUIRE(out.size() == 1);
  CHECK(out[0].address == kPeer + 0x900000);
}

}  // namespace
}  // namespace stretto
