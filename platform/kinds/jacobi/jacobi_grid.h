// SPDX-License-Identifier: Apache-2.0
// The grid of a Jacobi relaxation over servers: what lies where, what is there at first, and a
// reference that adds in the order of sw/kernels/jacobi.h.
#ifndef STRETTO_PLATFORM_KINDS_JACOBI_JACOBI_GRID_H_
#define STRETTO_PLATFORM_KINDS_JACOBI_JACOBI_GRID_H_

#include <cstdint>
#include <vector>

#include "models/common/memory_image.h"
#include "sw/kernels/jacobi.h"

namespace stretto {

struct JacobiShape {
  uint32_t rows = 0;     // Of all servers,
  uint32_t columns = 0;  // without what does not change.
  uint32_t servers = 0;
  uint32_t work_groups = 0;  // Of a server.
  uint64_t seed = 0;

  uint32_t first_row(uint32_t server) const {
    return static_cast<uint32_t>(uint64_t{rows} * server / servers);
  }
  uint32_t rows_of(uint32_t server) const { return first_row(server + 1) - first_row(server); }
  uint32_t chunks() const { return (4 * columns + JACOBI_CHUNK_BYTES - 1) / JACOBI_CHUNK_BYTES; }
  // At time 0, in [0, 1) with 24 bits; -1 and `rows`, `columns`: what does not change.
  float initial(int64_t row, int64_t column) const;
};

// Offsets: in a server's data of the heap, and in its arrays.
struct JacobiPlan {
  explicit JacobiPlan(const JacobiShape& shape, uint32_t server);
  // All but handle, limits and notes, of a server whose parts lie there.
  jacobi_arguments_t arguments(uint64_t data, uint64_t arrays) const;
  // What is there at time 0. Offsets in `memory`.
  void place(MemoryImage& memory, uint64_t data, uint64_t arrays) const;
  // Row `row` of this server after an iteration of that parity.
  std::vector<float> row(MemoryImage& memory, uint64_t arrays, uint32_t parity, uint32_t row) const;

  JacobiShape shape;
  uint32_t server;
  uint32_t pitch;      // Of rows of the grid.
  uint64_t row_bytes;  // Of halos and edges.
  uint64_t data_bytes = 0, arrays_bytes = 0;

 private:
  uint64_t grid_bytes() const { return uint64_t{shape.rows_of(server)} * pitch; }
};

struct JacobiReference {
  std::vector<float> grid;          // Row by row, without what does not change.
  std::vector<double> exact;        // The same without rounding to FP32.
  std::vector<uint32_t> residuals;  // Bits, of each iteration of all servers.
};
// Until the residual's bits are below `stop`, at most `iterations`.
JacobiReference jacobi_reference(const JacobiShape& shape, uint32_t iterations, uint32_t stop);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_JACOBI_JACOBI_GRID_H_
