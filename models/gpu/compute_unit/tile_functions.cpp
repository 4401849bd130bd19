// SPDX-License-Identifier: Apache-2.0
// See tile_functions.h.
#include "models/gpu/compute_unit/tile_functions.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "models/common/arithmetic.h"
#include "sw/include/tile.h"

namespace stretto {
namespace {

float tanh_of(float x) {
  // 1 - 2 / (e^2x + 1); the subtraction loses nothing that FP16 could hold.
  return 1.0f - 2.0f / (tile_exp(2.0f * x) + 1.0f);
}

constexpr float kGeluScale = 0.7978845608f;  // sqrt(2 / pi)
constexpr float kGeluCube = 0.044715f;

// Sum, mean or maximum of a row.
float reduced(unsigned operation, const float* row, uint32_t count) {
  if (operation == TILE_SIMT_ROW_MAX) {
    float most = -std::numeric_limits<float>::infinity();
    for (uint32_t i = 0; i < count; ++i) most = larger(row[i], most);
    return most;
  }
  float sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum += row[i];
  return operation == TILE_SIMT_ROW_MEAN ? sum / static_cast<float>(count) : sum;
}

float function(unsigned operation, float a, float b) {
  switch (operation) {
    case TILE_SIMT_SUB: return a - b;
    case TILE_SIMT_EXP: return tile_exp(a);
    case TILE_SIMT_RSQRT: return 1.0f / std::sqrt(a);
    case TILE_SIMT_RECIP: return 1.0f / a;
    case TILE_SIMT_GELU: return tile_gelu(a);
    case TILE_SIMT_RELU_GRAD: return a > 0 ? b : 0.0f;
    default: return b * tile_gelu_derivative(a);  // TILE_SIMT_GELU_GRAD
  }
}

template <class Load, class Store>
void apply(unsigned operation, uint32_t rows, uint32_t columns, bool unary, Load load,
           Store store) {
  const bool reduces = operation >= TILE_SIMT_ROW_SUM && operation <= TILE_SIMT_ROW_MAX;
  std::vector<float> row(reduces ? columns : 0);
  for (uint64_t r = 0; r < rows; ++r) {
    const uint64_t at = r * columns;
    if (reduces) {
      for (uint32_t i = 0; i < columns; ++i) row[i] = load(0, at + i);
      const float value = reduced(operation, row.data(), columns);
      for (uint32_t i = 0; i < columns; ++i) store(at + i, value);
      continue;
    }
    for (uint32_t i = 0; i < columns; ++i)
      store(at + i, function(operation, load(0, at + i), unary ? 0.0f : load(1, at + i)));
  }
}

}  // namespace

// 2^n e^f with n the nearest whole number to x / ln 2 and a polynomial for |f| <= ln 2 / 2.
float tile_exp(float x) {
  if (x != x) return x;
  if (x > 88.72f) return std::numeric_limits<float>::infinity();
  if (x < -87.33f) return 0.0f;
  const float n = std::nearbyint(x * 1.44269504f);
  // ln 2 in two parts, so that n times the first is exact.
  const float f = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * f + 1.3981999507e-3f;
  p = p * f + 8.3334519073e-3f;
  p = p * f + 4.1665795894e-2f;
  p = p * f + 1.6666665459e-1f;
  p = p * f + 5.0000001201e-1f;
  p = p * f * f + f + 1.0f;
  // In two steps: 2^128 is no float, e^88.7 is.
  const int whole = static_cast<int>(n), half = whole / 2;
  const auto power = [](int e) {
    return std::bit_cast<float>(static_cast<uint32_t>(e + 127) << 23);
  };
  return p * power(half) * power(whole - half);
}

float tile_gelu(float x) {
  return 0.5f * x * (1.0f + tanh_of(kGeluScale * (x + kGeluCube * x * x * x)));
}

float tile_gelu_derivative(float x) {
  const float t = tanh_of(kGeluScale * (x + kGeluCube * x * x * x));
  return 0.5f * (1.0f + t) +
         0.5f * x * (1.0f - t * t) * kGeluScale * (1.0f + 3.0f * kGeluCube * x * x);
}

bool simt_exists(unsigned operation) { return operation <= TILE_SIMT_E5M2; }

bool simt_is_unary(unsigned operation) {
  return operation == TILE_SIMT_COPY ||
         (operation >= TILE_SIMT_ROW_SUM && operation <= TILE_SIMT_GELU) ||
         simt_converts(operation) || operation == TILE_SIMT_FIRST;
}

bool simt_converts(unsigned operation) {
  return (operation >= TILE_SIMT_FP32 && operation <= TILE_SIMT_BF16) ||
         operation == TILE_SIMT_E4M3 || operation == TILE_SIMT_E5M2;
}

ElementType simt_result_element(unsigned operation, const Tile& first) {
  switch (operation) {
    case TILE_SIMT_FP32: return ElementType::fp32;
    case TILE_SIMT_FP16: return ElementType::fp16;
    case TILE_SIMT_BF16: return ElementType::bf16;
    case TILE_SIMT_E4M3: return ElementType::e4m3;
    case TILE_SIMT_E5M2: return ElementType::e5m2;
    default: return first.element;
  }
}

TileShape simt_result_shape(unsigned operation, const Tile& first) {
  TileShape shape = first.shape;
  const uint32_t bytes = element_bytes(simt_result_element(operation, first));
  if (operation == TILE_SIMT_FIRST) shape.row_bytes = bytes;
  if (simt_converts(operation)) shape.row_bytes = first.columns() * bytes;
  return shape;
}

unsigned simt_issues(unsigned operation) {
  switch (operation) {
    case TILE_SIMT_ROW_SUM:
    case TILE_SIMT_ROW_MEAN:
    case TILE_SIMT_ROW_MAX:
    case TILE_SIMT_RELU_GRAD: return 2;
    case TILE_SIMT_EXP:
    case TILE_SIMT_RSQRT:
    case TILE_SIMT_RECIP: return 4;
    case TILE_SIMT_GELU: return 12;       // Four products, two sums, an exponential, a reciprocal.
    case TILE_SIMT_GELU_GRAD: return 20;  // And six products and sums more.
    default: return 1;
  }
}

unsigned simt_conversions(unsigned operation, ElementType element) {
  const bool moves = operation == TILE_SIMT_COPY || operation == TILE_SIMT_FIRST;
  if (!is_fp8(element) || moves || simt_converts(operation)) return 0;
  return simt_is_unary(operation) ? 2 : 3;
}

namespace {

template <class Format>
void apply_fp8(unsigned operation, const Tile& first, const uint8_t* const from[2], bool unary,
               uint8_t* out) {
  apply(
      operation, first.shape.rows, first.columns(), unary,
      [&](int which, uint64_t i) { return Format::to_fp32(from[which][i]); },
      [&](uint64_t i, float value) { out[i] = Format::from_fp32(value); });
}

float load_element(const Tile& tile, uint64_t i) {
  uint32_t bits = 0;
  const unsigned size = element_bytes(tile.element);
  std::memcpy(&bits, tile.data.data() + size * i, size);
  if (tile.element == ElementType::fp16) return fp32_from_fp16(static_cast<uint16_t>(bits));
  if (tile.element == ElementType::bf16) return fp32_from_bf16(static_cast<uint16_t>(bits));
  if (tile.element == ElementType::e4m3) return E4m3::to_fp32(static_cast<uint8_t>(bits));
  if (tile.element == ElementType::e5m2) return E5m2::to_fp32(static_cast<uint8_t>(bits));
  return std::bit_cast<float>(bits);
}

void store_element(ElementType element, uint8_t* out, uint64_t i, float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) bits = kFp32NaN;
  if (element == ElementType::fp16) bits = fp16_from_fp32(value);
  if (element == ElementType::bf16) bits = bf16_from_fp32(value);
  if (element == ElementType::e4m3) bits = E4m3::from_fp32(value);
  if (element == ElementType::e5m2) bits = E5m2::from_fp32(value);
  const unsigned size = element_bytes(element);
  std::memcpy(out + size * i, &bits, size);
}

}  // namespace

void simt_function(unsigned operation, const Tile& first, const Tile& second, uint8_t* out) {
  const uint32_t rows = first.shape.rows, columns = first.columns();
  if (simt_converts(operation) || operation == TILE_SIMT_FIRST) {
    const uint32_t kept = operation == TILE_SIMT_FIRST ? 1 : columns;
    for (uint64_t i = 0; i < uint64_t{rows} * kept; ++i)
      store_element(simt_result_element(operation, first), out, i,
                    load_element(first, i / kept * columns + i % kept));
    return;
  }
  const bool unary = simt_is_unary(operation);
  const uint8_t* const from[2] = {first.data.data(), unary ? nullptr : second.data.data()};
  const auto load16 = [&](int which, uint64_t i) {
    uint16_t value;
    std::memcpy(&value, from[which] + 2 * i, 2);
    return value;
  };
  const auto store16 = [&](uint64_t i, uint16_t value) { std::memcpy(out + 2 * i, &value, 2); };
  if (first.element == ElementType::fp16) {
    apply(
        operation, rows, columns, unary,
        [&](int w, uint64_t i) { return fp32_from_fp16(load16(w, i)); },
        [&](uint64_t i, float value) { store16(i, fp16_from_fp32(value)); });
  } else if (first.element == ElementType::bf16) {
    apply(
        operation, rows, columns, unary,
        [&](int w, uint64_t i) { return fp32_from_bf16(load16(w, i)); },
        [&](uint64_t i, float value) { store16(i, bf16_from_fp32(value)); });
  } else if (first.element == ElementType::e4m3) {
    apply_fp8<E4m3>(operation, first, from, unary, out);
  } else if (first.element == ElementType::e5m2) {
    apply_fp8<E5m2>(operation, first, from, unary, out);
  } else {
    apply(
        operation, rows, columns, unary,
        [&](int w, uint64_t i) {
          float value;
          std::memcpy(&value, from[w] + 4 * i, 4);
          return value;
        },
        [&](uint64_t i, float value) {
          const uint32_t bits = std::bit_cast<uint32_t>(value);
          const uint32_t kept = (bits & 0x7FFFFFFFu) > 0x7F800000u ? kFp32NaN : bits;
          std::memcpy(out + 4 * i, &kept, 4);
        });
  }
}

}  // namespace stretto
