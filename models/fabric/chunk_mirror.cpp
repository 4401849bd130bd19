// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/chunk_mirror.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "sw/include/formats/address_map.h"

namespace stretto {
namespace {

struct Span {
  uint32_t begin, end;  // In elements, from the start of the tile.
};

class ChunkMirror {
 public:
  explicit ChunkMirror(const MirrorPlan& plan) : plan_(plan) {
    assert(plan.chunk_first.size() >= 2 &&
           std::adjacent_find(plan.chunk_first.begin(), plan.chunk_first.end()) ==
               plan.chunk_first.end());
    array_bytes_ = (uint64_t{plan.m} - 1) * plan.pitch + uint64_t{plan.n} * plan.element_bytes;
  }

  void operator()(Packet&& packet, std::vector<Packet>& out) const {
    const uint64_t offset = packet.address & STRETTO_OFFSET_MASK;
    const auto array = std::find_if(plan_.arrays.begin(), plan_.arrays.end(), [&](uint64_t base) {
      return offset >= base && offset - base < array_bytes_;
    });
    if (array == plan_.arrays.end()) {
      out.push_back(std::move(packet));
      return;
    }
    const uint64_t row = (offset - *array) / plan_.pitch;
    const uint64_t column = (offset - *array) % plan_.pitch / plan_.element_bytes;
    const uint32_t tile = tile_order_id(&plan_.order, static_cast<uint32_t>(row / plan_.tile_m),
                                        static_cast<uint32_t>(column / plan_.tile_n));
    Span rows{static_cast<uint32_t>(row % plan_.tile_m), 0};
    Span columns{static_cast<uint32_t>(column % plan_.tile_n), 0};
    rows.end = rows.begin + packet.rows;
    columns.end = columns.begin + packet.row_bytes / plan_.element_bytes;
    assert(rows.end <= rows_of(tile) && columns.end <= columns_of(tile));

    const auto& first = plan_.chunk_first;
    const size_t chunk =
        static_cast<size_t>(std::upper_bound(first.begin(), first.end(), tile) - first.begin()) - 1;
    const size_t next = chunk + 2 == first.size() ? 0 : chunk + 1;
    const uint32_t index = tile - first[chunk];
    const uint32_t size = first[chunk + 1] - first[chunk];
    const uint32_t next_size = first[next + 1] - first[next];
    const uint32_t end = index + 1 == size ? next_size : std::min(index + 1, next_size);
    for (uint32_t i = index; i < end; ++i)
      emit(packet, *array, tile, first[next] + i, rows, columns, out);
  }

 private:
  tile_place_t place_of(uint32_t tile) const { return tile_order_place(&plan_.order, tile); }
  uint32_t rows_of(uint32_t tile) const {
    return std::min(plan_.tile_m, plan_.m - place_of(tile).row * plan_.tile_m);
  }
  uint32_t columns_of(uint32_t tile) const {
    return std::min(plan_.tile_n, plan_.n - place_of(tile).column * plan_.tile_n);
  }
  // The span in a tile of another length: one that reaches the end of the old tile reaches the end
  // of the new one.
  static Span fit(Span span, uint32_t old_length, uint32_t new_length) {
    return {std::min(span.begin, new_length),
            span.end == old_length ? new_length : std::min(span.end, new_length)};
  }

  void emit(const Packet& from, uint64_t array, uint32_t old_tile, uint32_t tile, Span old_rows,
            Span old_columns, std::vector<Packet>& out) const {
    const Span rows = fit(old_rows, rows_of(old_tile), rows_of(tile));
    const Span columns = fit(old_columns, columns_of(old_tile), columns_of(tile));
    const uint32_t row_bytes = (columns.end - columns.begin) * plan_.element_bytes;
    if (rows.begin == rows.end || row_bytes == 0) return;
    const tile_place_t place = place_of(tile);
    const uint32_t step = plan_.tile_m / plan_.wavefronts;
    // One packet a wavefront: a Tracker id has one.
    for (uint32_t begin = rows.begin; begin < rows.end;) {
      const uint32_t end = std::min(rows.end, (begin / step + 1) * step);
      const uint64_t row = uint64_t{place.row} * plan_.tile_m + begin;
      const uint64_t column = uint64_t{place.column} * plan_.tile_n + columns.begin;
      Packet packet;
      packet.operation = from.operation;
      packet.element = from.element;
      packet.account = from.account;
      packet.tracked = from.tracked;
      packet.wg_id = tile;
      packet.wf_id = static_cast<uint8_t>(begin / step);
      packet.address = array + row * plan_.pitch + column * plan_.element_bytes;
      packet.rows = end - begin;
      packet.row_bytes = row_bytes;
      packet.pitch = plan_.pitch;
      packet.data.assign(uint64_t{packet.rows} * row_bytes, 0);
      for (uint32_t i = 0; i < packet.rows && begin + i - rows.begin < from.rows; ++i) {
        std::memcpy(packet.data.data() + uint64_t{i} * row_bytes,
                    from.data.data() + uint64_t{begin + i - rows.begin} * from.row_bytes,
                    std::min(row_bytes, from.row_bytes));
      }
      out.push_back(std::move(packet));
      begin = end;
    }
  }

  const MirrorPlan plan_;
  uint64_t array_bytes_;
};

}  // namespace

MirrorMap make_chunk_mirror(const MirrorPlan& plan) { return ChunkMirror(plan); }

}  // namespace stretto
