// SPDX-License-Identifier: Apache-2.0
// Tiles and accumulators of a work-group: what they hold, and the arithmetic on it (tile.h's
// instructions).
//
// A tile holds bytes, or (data mode `stamp`) only the provenance of the part of a StampMatrix that
// was loaded. An accumulator likewise: FP32 sums, or which output elements it stands for and which
// part of K it has covered. Which of the two follows from the operands; the timing is the same.
//
// Invariants
//  1 A wrong operand (role, orientation, mismatching K interval, another output block), a K
//    interval covered twice, or stamps mixed with bytes poison the whole accumulator: its epilogue
//    yields NaN everywhere.
//  2 The epilogue of a stamp accumulator that has not covered exactly [0, k_total) yields NaN
//    everywhere.
//  3 FP32 sums run over k in ascending order, product and sum rounded separately; no order depends
//    on the compiler.
#ifndef STRETTO_MODELS_GPU_COMPUTE_UNIT_TILE_STATE_H_
#define STRETTO_MODELS_GPU_COMPUTE_UNIT_TILE_STATE_H_

#include <cstdint>
#include <vector>

#include "models/common/memory_image.h"
#include "sw/include/formats/machine_types.h"

namespace stretto {

struct TileShape {
  uint32_t rows = 0;
  uint32_t row_bytes = 0;
  uint32_t pitch = 0;

  static TileShape decode(uint64_t value) {
    return {static_cast<uint32_t>(value & 0xFFFF), static_cast<uint32_t>(value >> 16 & 0xFFFF),
            static_cast<uint32_t>(value >> 32)};
  }
  uint64_t bytes() const { return uint64_t{rows} * row_bytes; }
};

// Where a stamped tile came from. Extents are clipped to the matrix; what lies beyond reads as
// zero.
struct TileStamp {
  const StampMatrix* matrix = nullptr;
  uint32_t row = 0;
  uint32_t column = 0;
  uint32_t rows = 0;
  uint32_t columns = 0;
  bool valid = false;  // False: the tile does not lie on the matrix's rows; using it poisons.
};

struct Tile {
  TileShape shape;  // rows == 0: never written.
  ElementType element = ElementType::fp16;
  bool stamped = false;
  TileStamp stamp;
  std::vector<uint8_t> data;  // shape.bytes(), dense; empty if stamped.

  void clear() {
    shape = {};
    stamped = false;
  }
  uint32_t columns() const { return shape.row_bytes / element_bytes(element); }
};

// The part of `matrix` that a tile load of `shape` at `offset` covers.
TileStamp stamp_of(const StampMatrix& matrix, uint64_t offset, const TileShape& shape);

class Accumulator {
 public:
  uint32_t m() const { return m_; }
  uint32_t n() const { return n_; }

  void clear() { *this = {}; }
  void zero(uint32_t m, uint32_t n);
  // this += A * B. Returns the K extent that was multiplied (for time). `values` = false: numbers
  // are left as zeros. `tf32`: FP32 operands are rounded to 10 bits behind the point. REQUIRES: both
  // operands were loaded.
  uint32_t multiply(const Tile& a, bool a_is_km, const Tile& b, bool b_is_nk, ElementType element,
                    bool values = true, bool tf32 = false);
  // The block as elements of `element`, dense, into `out` (rows * columns * element bytes).
  // `parts`: an accumulator that covered one interval of K, not all of it, gives its share of the
  // stamps (split-K).
  void epilogue(uint32_t first_row, uint32_t rows, uint32_t first_column, uint32_t columns,
                ElementType element, uint32_t gpu, uint32_t stamp_limit, bool parts,
                uint8_t* out) const;
  bool complete() const;  // A stamp accumulator that covered all of K.
  // Bytes of its sums; 0 if nothing has been added, and of stamps.
  uint64_t value_bytes() const;
  // Its sums go to `out`, and are not here until they come back.
  void move_values(uint8_t* out);
  void restore_values(const uint8_t* from);

 private:
  enum class Content : uint8_t { empty, stamp, values, poison };
  struct Interval {
    uint32_t begin, end;
  };
  void multiply_stamps(const Tile& a, bool a_is_km, const Tile& b, bool b_is_nk);
  void multiply_values(const Tile& a, bool a_is_km, const Tile& b, bool b_is_nk,
                       ElementType element, bool tf32);
  bool cover(uint32_t begin, uint32_t end);
  void share_of_stamps(uint32_t row, uint32_t first_column, uint32_t columns, ElementType element,
                       uint32_t gpu, uint32_t stamp_limit, uint8_t* out) const;

  Content content_ = Content::empty;
  uint32_t m_ = 0, n_ = 0;
  bool zero_ = true;           // Of values: nothing has been added, and values_ is of no meaning.
  std::vector<float> values_;  // m x n, row-major.
  // Stamps.
  uint32_t row_ = 0, column_ = 0;  // Of the output element that (0, 0) stands for.
  uint32_t rows_ = 0,
           columns_ = 0;  // Extents of the operands; beyond them the accumulator stays zero.
  const StampMatrix* a_ = nullptr;
  const StampMatrix* b_ = nullptr;
  std::vector<Interval> covered_;  // Sorted, disjoint, not touching.
};

// t <- t1 op t2, element by element; operations of tile.h. Values must have the same shape, or the
// second operand one column or one element; else the result is all NaN. `values` = false: zeros.
void simt_operation(unsigned operation, const Tile& first, const Tile& second, Tile& result,
                    bool values = true);
// Fills `bytes` with the NaN pattern of the element (all ones for integers).
void fill_with_nan(ElementType element, uint8_t* out, uint64_t bytes);

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_COMPUTE_UNIT_TILE_STATE_H_
