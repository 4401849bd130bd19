// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/jacobi/jacobi_grid.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "platform/jobs/contents.h"

namespace stretto {

namespace {

constexpr uint64_t kLine = 128;
constexpr uint32_t kBefore = 64;  // Of a row, before its first element; column -1 is its end.
constexpr float kFactor = 0.25f;

uint64_t whole(uint64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

// Heap: by parity and side rows of halos, then of edges; words of signals; residuals.
uint64_t halo_at(const JacobiPlan& plan, uint32_t parity, uint32_t side) {
  return (2 * parity + side) * plan.row_bytes;
}
uint64_t edge_at(const JacobiPlan& plan, uint32_t parity, uint32_t side) {
  return 4 * plan.row_bytes + halo_at(plan, parity, side);
}
uint64_t words_at(const JacobiPlan& plan) { return 8 * plan.row_bytes; }

void add_floats(MemoryImage& memory, uint64_t base, uint64_t count,
                const std::function<float(uint64_t)>& value) {
  memory.add_generator(base, 4 * count, [=](uint64_t from, uint8_t* to, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; ++i) {
      const uint32_t bits = std::bit_cast<uint32_t>(value((from + i - base) / 4));
      to[i] = static_cast<uint8_t>(bits >> 8 * ((from + i - base) % 4));
    }
  });
}

}  // namespace

float JacobiShape::initial(int64_t row, int64_t column) const {
  const uint64_t index = static_cast<uint64_t>((row + 1) * (int64_t{columns} + 2) + column + 1);
  return static_cast<float>(content_word(seed, 0, index) >> 40) * 0x1p-24f;
}

JacobiPlan::JacobiPlan(const JacobiShape& grid, uint32_t of)
    : shape(grid),
      server(of),
      pitch(static_cast<uint32_t>(whole(kBefore + 4 * (uint64_t{grid.columns} + 1)))),
      row_bytes(whole(4 * uint64_t{grid.columns})) {
  data_bytes = words_at(*this) + 4 * kLine;
  arrays_bytes = 2 * grid_bytes() + uint64_t{4} * JACOBI_MAX_PIECES * shape.work_groups +
                 whole(uint64_t{4} * shape.work_groups) + 3 * kLine;
}

jacobi_arguments_t JacobiPlan::arguments(uint64_t data, uint64_t arrays) const {
  jacobi_arguments_t one{};
  for (uint32_t parity = 0; parity < 2; ++parity) {
    one.grid[parity] = arrays + parity * grid_bytes() + kBefore;
    for (uint32_t side = 0; side < JACOBI_SIDES; ++side) {
      one.halo[parity][side] = data + halo_at(*this, parity, side);
      one.edge[parity][side] = data + edge_at(*this, parity, side);
    }
  }
  for (uint32_t side = 0; side < JACOBI_SIDES; ++side)
    one.signal[side] = data + words_at(*this) + side * kLine;
  one.residual = data + words_at(*this) + 2 * kLine;
  one.pieces = arrays + 2 * grid_bytes();
  one.sums = one.pieces + uint64_t{4} * JACOBI_MAX_PIECES * shape.work_groups;
  one.factor = one.sums + whole(uint64_t{4} * shape.work_groups);
  one.arrived = one.factor + kLine;
  one.decision = one.arrived + kLine;
  one.rows = shape.rows_of(server);
  one.columns = shape.columns;
  one.pitch = pitch;
  // So many that all wavefronts have work.
  const uint32_t band = one.rows / shape.work_groups;
  const uint32_t most = JACOBI_CHUNK_BYTES / std::min(4 * shape.columns, JACOBI_CHUNK_BYTES);
  one.rows_each =
      std::clamp((band * shape.chunks() + JACOBI_WAVEFRONTS - 1) / JACOBI_WAVEFRONTS, 1u, most);
  return one;
}

void JacobiPlan::place(MemoryImage& memory, uint64_t data, uint64_t arrays) const {
  const JacobiShape grid = shape;
  const jacobi_arguments_t at = arguments(data, arrays);
  const int64_t first = grid.first_row(server), end = grid.first_row(server + 1);
  const uint32_t width = pitch / 4;
  for (uint32_t parity = 0; parity < 2; ++parity) {
    add_floats(memory, at.grid[parity] - kBefore, grid_bytes() / 4, [=](uint64_t i) {
      const int64_t column = static_cast<int64_t>(i % width) - kBefore / 4;
      if (column < -1 || column > int64_t{grid.columns}) return 0.0f;
      return grid.initial(first + static_cast<int64_t>(i / width), column);
    });
    for (uint32_t side = 0; side < JACOBI_SIDES; ++side) {
      const int64_t row = side == JACOBI_ABOVE ? first - 1 : end;
      add_floats(memory, at.halo[parity][side], grid.columns,
                 [=](uint64_t i) { return grid.initial(row, static_cast<int64_t>(i)); });
    }
  }
  add_floats(memory, at.factor, 1, [](uint64_t) { return kFactor; });
}

std::vector<float> JacobiPlan::row(MemoryImage& memory, uint64_t arrays, uint32_t parity,
                                   uint32_t row) const {
  std::vector<float> found(shape.columns);
  memory.read(arrays + parity * grid_bytes() + kBefore + uint64_t{row} * pitch,
              reinterpret_cast<uint8_t*>(found.data()), 4 * uint64_t{shape.columns});
  return found;
}

namespace {

// One iteration; with the borders of the grid.
template <class Number>
void relax(const JacobiShape& shape, const std::vector<Number>& from, std::vector<Number>& to) {
  const size_t width = size_t{shape.columns} + 2;
  for (size_t row = 1; row <= shape.rows; ++row) {
    for (size_t i = row * width + 1; i <= row * width + shape.columns; ++i)
      to[i] = ((from[i - width] + from[i + width]) + (from[i - 1] + from[i + 1])) * Number{0.25};
  }
}

// Of rows [first, end) of a work-group.
float residual_of(const JacobiShape& shape, const std::vector<float>& from,
                  const std::vector<float>& to, uint32_t first, uint32_t end) {
  const size_t width = size_t{shape.columns} + 2;
  constexpr uint32_t kChunk = JACOBI_CHUNK_BYTES / 4;
  float sum = 0;
  for (uint32_t row = first; row < end; ++row) {
    for (uint32_t chunk = 0; chunk < shape.columns; chunk += kChunk) {
      float piece = 0;
      for (uint32_t i = chunk; i < std::min(shape.columns, chunk + kChunk); ++i) {
        const size_t at = (size_t{row} + 1) * width + i + 1;
        const float change = to[at] - from[at];
        piece += change * change;
      }
      sum += piece;
    }
  }
  return sum;
}

float residual_of(const JacobiShape& shape, const std::vector<float>& from,
                  const std::vector<float>& to, uint32_t server) {
  const uint64_t first = shape.first_row(server), rows = shape.rows_of(server);
  float sum = 0;
  for (uint32_t group = 0; group < shape.work_groups; ++group)
    sum += residual_of(shape, from, to,
                       static_cast<uint32_t>(first + rows * group / shape.work_groups),
                       static_cast<uint32_t>(first + rows * (group + 1) / shape.work_groups));
  return sum;
}

template <class Number>
std::vector<Number> inside(const JacobiShape& shape, const std::vector<Number>& all) {
  std::vector<Number> grid;
  grid.reserve(size_t{shape.rows} * shape.columns);
  const size_t width = size_t{shape.columns} + 2;
  for (size_t row = 1; row <= shape.rows; ++row)
    grid.insert(grid.end(), all.begin() + static_cast<ptrdiff_t>(row * width + 1),
                all.begin() + static_cast<ptrdiff_t>(row * width + 1 + shape.columns));
  return grid;
}

}  // namespace

JacobiReference jacobi_reference(const JacobiShape& shape, uint32_t iterations, uint32_t stop) {
  std::vector<float> from, to;
  for (int64_t row = -1; row <= int64_t{shape.rows}; ++row)
    for (int64_t column = -1; column <= int64_t{shape.columns}; ++column)
      from.push_back(shape.initial(row, column));
  to = from;
  std::vector<double> exact(from.begin(), from.end()), next = exact;
  JacobiReference reference;
  do {
    relax(shape, from, to);
    relax(shape, exact, next);
    float sum = 0;
    for (uint32_t server = 0; server < shape.servers; ++server)
      sum += residual_of(shape, from, to, server);
    reference.residuals.push_back(std::bit_cast<uint32_t>(sum));
    std::swap(from, to);
    std::swap(exact, next);
  } while (reference.residuals.size() < iterations && reference.residuals.back() >= stop);
  reference.grid = inside(shape, from);
  reference.exact = inside(shape, exact);
  return reference;
}

}  // namespace stretto
