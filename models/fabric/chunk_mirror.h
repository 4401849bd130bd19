// SPDX-License-Identifier: Apache-2.0
// What a GPU's outgoing packets look like to itself when they are taken for its right neighbour's
// (T3-SIM-01/02).
//
// In a ring collective GPU g + 1 does with chunk c + 1 what GPU g does with chunk c, at the same
// time. A rectangle of tile i of chunk c therefore becomes the same rectangle of tile i of chunk c
// + 1, in the same array. Chunks differ by a tile and tiles are clipped at the output's edge, so
// rectangles that touch the end of their tile are stretched or cut to the end of the new tile, and
// the last tile of a chunk stands for the tiles that the next chunk has more (or vanishes): every
// element of the next chunk arrives exactly once if every element of the chunk left exactly once.
// Values are those of the wrong chunk (zero where stretched): times and byte counts are right,
// contents are not, but for what is neither cut nor stretched on its way. Packets outside of the arrays, such as flags, which are numbered by step, stay
// as they are.
#ifndef STRETTO_MODELS_FABRIC_CHUNK_MIRROR_H_
#define STRETTO_MODELS_FABRIC_CHUNK_MIRROR_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "models/common/packet.h"
#include "sw/include/tile_order.h"

namespace stretto {

using MirrorMap = std::function<void(Packet&&, std::vector<Packet>&)>;

struct MirrorPlan {
  std::vector<uint64_t> arrays;  // Offsets of element (0, 0) of the arrays shaped like the output.
  uint32_t m = 0, n = 0;         // Elements.
  uint32_t element_bytes = 2;
  uint64_t pitch = 0;  // Bytes between rows.
  uint32_t tile_m = 0, tile_n = 0;
  uint32_t wavefronts = 8;  // Of a work-group; each covers tile_m / wavefronts rows.
  tile_order_t order{};     // Of the tiles.
  std::vector<uint32_t>
      chunk_first;  // First tile of each chunk, and the number of tiles: ranks + 1 values.
};

// REQUIRES: no chunk is empty; packets into an array lie inside one tile.
MirrorMap make_chunk_mirror(const MirrorPlan& plan);

}  // namespace stretto

#endif  // STRETTO_MODELS_FABRIC_CHUNK_MIRROR_H_
