// SPDX-License-Identifier: Apache-2.0
// See tile_state.h.
#include "models/gpu/compute_unit/tile_state.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "models/common/arithmetic.h"
#include "models/common/stamp.h"
#include "models/gpu/compute_unit/tile_functions.h"
#include "sw/include/tile.h"

namespace stretto {
namespace {

template <class T>
void store_element(uint8_t* out, uint64_t index, T value) {
  std::memcpy(out + index * sizeof(T), &value, sizeof(T));
}

uint32_t load32(const uint8_t* from, uint64_t index) {
  uint32_t value;
  std::memcpy(&value, from + 4 * index, 4);
  return value;
}

uint16_t load16(const uint8_t* from, uint64_t index) {
  uint16_t value;
  std::memcpy(&value, from + 2 * index, 2);
  return value;
}

// To 10 bits behind the point, ties away from zero (PTX cvt.rna.tf32.f32).
uint32_t round_to_tf32(uint32_t bits) {
  return (bits & 0x7F800000u) == 0x7F800000u ? bits : (bits + 0x1000u) & ~0x1FFFu;
}

// Row `row` of the tile as floats, in out[0..columns).
void row_to_float(const Tile& tile, ElementType element, uint32_t row, float* out,
                  bool tf32 = false) {
  const uint32_t columns = tile.shape.row_bytes / element_bytes(element);
  const uint8_t* const from = tile.data.data() + uint64_t{row} * tile.shape.row_bytes;
  for (uint32_t i = 0; i < columns; ++i) {
    switch (element) {
      case ElementType::fp16: out[i] = fp32_from_fp16(load16(from, i)); break;
      case ElementType::bf16: out[i] = fp32_from_bf16(load16(from, i)); break;
      case ElementType::e4m3: out[i] = E4m3::to_fp32(from[i]); break;
      case ElementType::e5m2: out[i] = E5m2::to_fp32(from[i]); break;
      default:
        out[i] = std::bit_cast<float>(tf32 ? round_to_tf32(load32(from, i)) : load32(from, i));
    }
  }
}

// A loop each, without branches, so that they become vector code.
void convert_row(const float* from, uint32_t count, ElementType element, uint8_t* out) {
  if (element == ElementType::fp16) {
    for (uint32_t i = 0; i < count; ++i) store_element(out, i, fp16_from_fp32(from[i]));
  } else if (element == ElementType::bf16) {
    for (uint32_t i = 0; i < count; ++i) store_element(out, i, bf16_from_fp32(from[i]));
  } else if (element == ElementType::e4m3) {
    for (uint32_t i = 0; i < count; ++i) out[i] = E4m3::from_fp32(from[i]);
  } else if (element == ElementType::e5m2) {
    for (uint32_t i = 0; i < count; ++i) out[i] = E5m2::from_fp32(from[i]);
  } else {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t bits = std::bit_cast<uint32_t>(from[i]);
      store_element(out, i, (bits & 0x7FFFFFFFu) > 0x7F800000u ? kFp32NaN : bits);
    }
  }
}

}  // namespace

void fill_with_nan(ElementType element, uint8_t* out, uint64_t bytes) {
  const unsigned size = element_bytes(element);
  uint32_t pattern = 0xFFFFFFFF;
  if (element == ElementType::fp16) pattern = kFp16NaN;
  if (element == ElementType::bf16) pattern = kBf16NaN;
  if (element == ElementType::fp32) pattern = kFp32NaN;
  if (is_fp8(element)) pattern = kFp8NaN;
  for (uint64_t at = 0; at + size <= bytes; at += size) std::memcpy(out + at, &pattern, size);
}

TileStamp stamp_of(const StampMatrix& matrix, uint64_t offset, const TileShape& shape) {
  TileStamp stamp;
  stamp.matrix = &matrix;
  const unsigned size = element_bytes(matrix.element);
  const uint64_t from = offset - matrix.base;
  stamp.row = static_cast<uint32_t>(from / matrix.pitch);
  const uint64_t byte = from % matrix.pitch;
  stamp.column = static_cast<uint32_t>(byte / size);
  stamp.rows = shape.rows;
  stamp.columns = shape.row_bytes / size;
  stamp.valid = byte % size == 0 && shape.row_bytes % size == 0 &&
                (shape.rows == 1 || shape.pitch == matrix.pitch) &&
                byte + shape.row_bytes <= matrix.pitch &&
                uint64_t{stamp.row} + shape.rows <= matrix.rows;
  // Columns between the last element and the pitch are padding.
  stamp.columns =
      stamp.column >= matrix.columns ? 0 : std::min(stamp.columns, matrix.columns - stamp.column);
  return stamp;
}

void Accumulator::zero(uint32_t m, uint32_t n) {
  content_ = Content::empty;
  m_ = m;
  n_ = n;
  covered_.clear();
}

uint64_t Accumulator::value_bytes() const {
  return content_ == Content::values && !zero_ ? values_.size() * sizeof(float) : 0;
}

void Accumulator::move_values(uint8_t* out) {
  std::memcpy(out, values_.data(), value_bytes());
  std::fill(values_.begin(), values_.end(), 0.0f);
}

void Accumulator::restore_values(const uint8_t* from) {
  std::memcpy(values_.data(), from, value_bytes());
}

uint32_t Accumulator::multiply(const Tile& a, bool a_is_km, const Tile& b, bool b_is_nk,
                               ElementType element, bool values, bool tf32) {
  const auto extent = [element](const Tile& tile, bool k_in_rows) {
    return k_in_rows ? tile.shape.rows
                     : tile.shape.row_bytes /
                           element_bytes(tile.stamped ? tile.stamp.matrix->element : element);
  };
  const uint32_t k = std::max(extent(a, a_is_km), extent(b, !b_is_nk));
  const Content operands = a.stamped != b.stamped ? Content::poison
                           : a.stamped            ? Content::stamp
                                                  : Content::values;
  if (content_ == Content::empty && operands == Content::values) zero_ = true;
  if (content_ == Content::empty && operands == Content::stamp) a_ = b_ = nullptr;
  if (content_ == Content::empty) content_ = operands;
  if (content_ != operands) content_ = Content::poison;
  if (content_ == Content::stamp) multiply_stamps(a, a_is_km, b, b_is_nk);
  if (content_ == Content::values && values) multiply_values(a, a_is_km, b, b_is_nk, element, tf32);
  return k;
}

void Accumulator::multiply_stamps(const Tile& a, bool a_is_km, const Tile& b, bool b_is_nk) {
  const StampMatrix& ma = *a.stamp.matrix;
  const StampMatrix& mb = *b.stamp.matrix;
  const bool roles =
      ma.role == 0 && mb.role == 1 && ma.k_is_column == !a_is_km && mb.k_is_column == b_is_nk;
  const uint32_t m = a_is_km ? a.stamp.columns : a.stamp.rows;
  const uint32_t n = b_is_nk ? b.stamp.rows : b.stamp.columns;
  const uint32_t row = a_is_km ? a.stamp.column : a.stamp.row;
  const uint32_t column = b_is_nk ? b.stamp.row : b.stamp.column;
  const uint32_t ka = ma.k_offset + (a_is_km ? a.stamp.row : a.stamp.column);
  const uint32_t kb = mb.k_offset + (b_is_nk ? b.stamp.column : b.stamp.row);
  const uint32_t ka_count = a_is_km ? a.stamp.rows : a.stamp.columns;
  const uint32_t kb_count = b_is_nk ? b.stamp.columns : b.stamp.rows;
  bool good = roles && a.stamp.valid && b.stamp.valid && ka == kb && ka_count == kb_count &&
              m <= m_ && n <= n_ && ma.k_total == mb.k_total;
  if (a_ == nullptr) {
    a_ = &ma;
    b_ = &mb;
    row_ = row;
    column_ = column;
    rows_ = m;
    columns_ = n;
  }
  good = good && a_ == &ma && b_ == &mb && row_ == row && column_ == column && rows_ == m &&
         columns_ == n;
  if (!good || !cover(ka, ka + ka_count)) content_ = Content::poison;
}

// Adds an interval of K; false if a part of it was covered before.
bool Accumulator::cover(uint32_t begin, uint32_t end) {
  if (begin == end) return true;
  if (!covered_.empty() && covered_.back().end == begin) {  // The usual order.
    covered_.back().end = end;
    return true;
  }
  const auto after = std::find_if(covered_.begin(), covered_.end(),
                                  [=](const Interval& i) { return i.end > begin; });
  if (after != covered_.end() && after->begin < end) return false;
  const auto placed = covered_.insert(after, {begin, end});
  const size_t at = static_cast<size_t>(placed - covered_.begin());
  if (at + 1 < covered_.size() && covered_[at + 1].begin == end) {
    covered_[at].end = covered_[at + 1].end;
    covered_.erase(covered_.begin() + static_cast<long>(at) + 1);
  }
  if (at > 0 && covered_[at - 1].end == begin) {
    covered_[at - 1].end = covered_[at].end;
    covered_.erase(covered_.begin() + static_cast<long>(at));
  }
  return true;
}

void Accumulator::multiply_values(const Tile& a, bool a_is_km, const Tile& b, bool b_is_nk,
                                  ElementType element, bool tf32) {
  if (zero_) values_.assign(uint64_t{m_} * n_, 0.0f);
  zero_ = false;
  const uint32_t a_columns = a.shape.row_bytes / element_bytes(element);
  const uint32_t b_columns = b.shape.row_bytes / element_bytes(element);
  const uint32_t m = std::min(m_, a_is_km ? a_columns : a.shape.rows);
  const uint32_t n = std::min(n_, b_is_nk ? b.shape.rows : b_columns);
  const uint32_t k =
      std::min(a_is_km ? a.shape.rows : a_columns, b_is_nk ? b_columns : b.shape.rows);
  // Operands as FP32: A as m x k, B as k x n, so that the innermost loop runs over n.
  std::vector<float> fa(uint64_t{m} * k), fb(uint64_t{k} * n),
      row(std::max({a_columns, b_columns, 1u}));
  for (uint32_t r = 0; r < a.shape.rows; ++r) {
    row_to_float(a, element, r, row.data(), tf32);
    if (!a_is_km) {
      if (r < m) std::copy_n(row.begin(), k, fa.begin() + static_cast<long>(uint64_t{r} * k));
    } else if (r < k) {
      for (uint32_t i = 0; i < m; ++i) fa[uint64_t{i} * k + r] = row[i];
    }
  }
  for (uint32_t r = 0; r < b.shape.rows; ++r) {
    row_to_float(b, element, r, row.data(), tf32);
    if (!b_is_nk) {
      if (r < k) std::copy_n(row.begin(), n, fb.begin() + static_cast<long>(uint64_t{r} * n));
    } else if (r < n) {
      for (uint32_t i = 0; i < k; ++i) fb[uint64_t{i} * n + r] = row[i];
    }
  }
  for (uint32_t i = 0; i < m; ++i) {
    float* const sum = values_.data() + uint64_t{i} * n_;
    for (uint32_t kk = 0; kk < k; ++kk) {
      const float factor = fa[uint64_t{i} * k + kk];
      const float* const from = fb.data() + uint64_t{kk} * n;
      for (uint32_t j = 0; j < n; ++j) sum[j] += factor * from[j];
    }
  }
}

bool Accumulator::complete() const {
  return content_ == Content::stamp && covered_.size() == 1 && covered_[0].begin == 0 &&
         covered_[0].end == a_->k_total;
}

// Of a stamp h the interval [b, e) of K has floor(h e / K) - floor(h b / K): whole numbers that add
// up to h when the intervals of all work-groups cover K once, and do not, for all but a few values,
// when one is missing or doubled.
void Accumulator::share_of_stamps(uint32_t row, uint32_t first_column, uint32_t columns,
                                  ElementType element, uint32_t gpu, uint32_t stamp_limit,
                                  uint8_t* out) const {
  const uint32_t key = stamp_row_key(a_->seed, gpu, row_ + row);
  for (uint32_t j = 0; j < columns; ++j) {
    const uint64_t stamp = stamp_from_key(key, column_ + first_column + j, stamp_limit);
    const uint64_t before = stamp * covered_[0].begin / a_->k_total,
                   after = stamp * covered_[0].end / a_->k_total;
    const float value = static_cast<float>(after - before);
    convert_row(&value, 1, element, out + uint64_t{j} * element_bytes(element));
  }
}

void Accumulator::epilogue(uint32_t first_row, uint32_t rows, uint32_t first_column,
                           uint32_t columns, ElementType element, uint32_t gpu,
                           uint32_t stamp_limit, bool parts, uint8_t* out) const {
  const uint64_t row_bytes = uint64_t{columns} * element_bytes(element);
  const bool share = parts && content_ == Content::stamp && covered_.size() == 1 && !complete();
  if (content_ == Content::poison || (content_ == Content::stamp && !complete() && !share)) {
    fill_with_nan(element, out, rows * row_bytes);
    return;
  }
  // Zero is all bits zero in every type.
  if (content_ == Content::empty || (content_ == Content::values && zero_)) {
    std::memset(out, 0, rows * row_bytes);
    return;
  }
  std::vector<float> line(columns);
  for (uint32_t i = 0; i < rows; ++i, out += row_bytes) {
    const uint32_t r = first_row + i;
    if (content_ == Content::stamp) {
      const uint32_t inside =
          r < rows_ && first_column < columns_ ? std::min(columns, columns_ - first_column) : 0;
      std::memset(out, 0, row_bytes);
      if (share) {
        share_of_stamps(r, first_column, inside, element, gpu, stamp_limit, out);
        continue;
      }
      if (element == ElementType::fp16) {
        uint16_t values[256];
        for (uint32_t at = 0; at < inside; at += 256) {
          const uint32_t part = std::min(256u, inside - at);
          stamp_row_fp16(a_->seed, gpu, row_ + r, column_ + first_column + at, part, stamp_limit,
                         values);
          std::memcpy(out + 2 * at, values, 2 * part);
        }
        continue;
      }
      const uint32_t key = stamp_row_key(a_->seed, gpu, row_ + r);
      for (uint32_t j = 0; j < inside; ++j) {
        const uint32_t value = stamp_from_key(key, column_ + first_column + j, stamp_limit);
        if (element == ElementType::bf16) store_element(out, j, bf16_from_whole(value));
        if (element == ElementType::fp32) store_element(out, j, static_cast<float>(value));
        if (element == ElementType::int32) store_element(out, j, value);
        if (element == ElementType::e4m3) out[j] = E4m3::from_fp32(static_cast<float>(value));
        if (element == ElementType::e5m2) out[j] = E5m2::from_fp32(static_cast<float>(value));
      }
      continue;
    }
    for (uint32_t j = 0; j < columns; ++j) {
      const bool there = r < m_ && first_column + j < n_;
      line[j] = there ? values_[uint64_t{r} * n_ + first_column + j] : 0.0f;
    }
    convert_row(line.data(), columns, element, out);
  }
}

namespace {

template <class Combine>
void combine16(const uint8_t* a, const uint8_t* b, uint8_t* out, uint64_t count, Combine combine) {
  for (uint64_t i = 0; i < count; ++i)
    store_element<uint16_t>(out, i, combine(load16(a, i), load16(b, i)));
}

template <class Combine>
void combine32(const uint8_t* a, const uint8_t* b, uint8_t* out, uint64_t count, Combine combine) {
  for (uint64_t i = 0; i < count; ++i)
    store_element<uint32_t>(out, i, combine(load32(a, i), load32(b, i)));
}

float smaller(float a, float b) { return a < b || a != a ? a : b; }

float combined(unsigned operation, float a, float b) {
  return operation == TILE_SIMT_MUL   ? a * b
         : operation == TILE_SIMT_MAX ? larger(a, b)
                                      : smaller(a, b);
}

template <class Format>
void combine8(unsigned operation, const uint8_t* a, const uint8_t* b, uint8_t* out,
              uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    out[i] = Format::from_fp32(combined(operation, Format::to_fp32(a[i]), Format::to_fp32(b[i])));
}

template <class T>
T combined_whole(unsigned operation, T a, T b) {
  return operation == TILE_SIMT_MAX ? std::max(a, b) : std::min(a, b);
}

uint32_t canonical(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return (bits & 0x7FFFFFFFu) > 0x7F800000u ? kFp32NaN : bits;
}

void combine(unsigned operation, ElementType element, const uint8_t* a, const uint8_t* b,
             uint8_t* out, uint64_t bytes) {
  const uint64_t count = bytes / element_bytes(element);
  const bool multiplies = operation == TILE_SIMT_MUL;
  switch (element) {
    case ElementType::fp16:
      combine16(a, b, out, count, [=](uint16_t x, uint16_t y) {
        const float fx = fp32_from_fp16(x), fy = fp32_from_fp16(y);
        return fp16_from_fp32(combined(operation, fx, fy));
      });
      break;
    case ElementType::bf16:
      combine16(a, b, out, count, [=](uint16_t x, uint16_t y) {
        const float fx = fp32_from_bf16(x), fy = fp32_from_bf16(y);
        return bf16_from_fp32(combined(operation, fx, fy));
      });
      break;
    case ElementType::fp32:
      combine32(a, b, out, count, [=](uint32_t x, uint32_t y) {
        const float fx = std::bit_cast<float>(x), fy = std::bit_cast<float>(y);
        return canonical(combined(operation, fx, fy));
      });
      break;
    case ElementType::int32:
      combine32(a, b, out, count, [=](uint32_t x, uint32_t y) {
        return multiplies ? x * y
                          : static_cast<uint32_t>(combined_whole(operation, static_cast<int32_t>(x),
                                                                 static_cast<int32_t>(y)));
      });
      break;
    case ElementType::e4m3: combine8<E4m3>(operation, a, b, out, count); break;
    case ElementType::e5m2: combine8<E5m2>(operation, a, b, out, count); break;
    case ElementType::byte:
      for (uint64_t i = 0; i < bytes; ++i) {
        out[i] =
            multiplies ? static_cast<uint8_t>(a[i] * b[i]) : combined_whole(operation, a[i], b[i]);
      }
      break;
  }
}

// A column, or one element, in the shape of `like`; empty if `tile` is neither.
Tile broadcast(const Tile& tile, const Tile& like) {
  const uint32_t size = element_bytes(like.element);
  Tile wide;
  if (tile.stamped || like.stamped || tile.element != like.element ||
      tile.shape.row_bytes != size ||
      (tile.shape.rows != like.shape.rows && tile.shape.rows != 1) ||
      (tile.shape.rows == like.shape.rows && like.shape.row_bytes == size))
    return wide;
  wide.shape = like.shape;
  wide.element = like.element;
  wide.data.resize(like.shape.bytes());
  for (uint64_t i = 0; i < wide.data.size(); ++i)
    wide.data[i] =
        tile.data[(tile.shape.rows == 1 ? 0 : i / like.shape.row_bytes * size) + i % size];
  return wide;
}

}  // namespace

void simt_operation(unsigned operation, const Tile& first, const Tile& second, Tile& result,
                    bool values) {
  // The result may be one of the operands, so it is built beside them.
  const TileShape shape = simt_result_shape(operation, first);
  const ElementType element = first.element, result_element = simt_result_element(operation, first);
  const bool alone = simt_is_unary(operation);
  const bool function = operation >= TILE_SIMT_SUB;
  const Tile wide = !alone && values ? broadcast(second, first) : Tile{};
  const Tile& other = wide.shape.rows != 0 ? wide : second;
  const bool defined =
      !(function && (element == ElementType::int32 || element == ElementType::byte)) &&
      !first.stamped &&
      (alone || (!other.stamped && other.shape.rows == first.shape.rows &&
                 other.shape.row_bytes == first.shape.row_bytes));
  if (operation == TILE_SIMT_COPY && first.stamped) {
    if (&result != &first) result = first;
    return;
  }
  if (!values && !first.stamped) {
    result.shape = shape;
    result.element = result_element;
    result.stamped = false;
    result.data.assign(shape.bytes(), 0);
    return;
  }
  std::vector<uint8_t> out(shape.bytes());
  if (!defined) {
    fill_with_nan(result_element, out.data(), out.size());
  } else if (function) {
    simt_function(operation, first, other, out.data());
  } else if (alone) {
    out = first.data;
  } else if (operation == TILE_SIMT_ADD) {
    out = first.data;
    if (element == ElementType::byte) {
      for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(out[i] + other.data[i]);
    } else {
      add_elements(element, out.data(), other.data.data(), out.size());
    }
  } else {
    combine(operation, element, first.data.data(), other.data.data(), out.data(), out.size());
  }
  result.shape = shape;
  result.element = result_element;
  result.stamped = false;
  result.data = std::move(out);
}

}  // namespace stretto
