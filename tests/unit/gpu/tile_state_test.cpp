// SPDX-License-Identifier: Apache-2.0
// Question: what do accumulators and tiles hold after the tile instructions? Plain C++ classes, no
// simulation. State space: accumulator empty / stamps / values / poisoned; K intervals in order,
// out of order, with a gap, repeated; operands right, exchanged, of another tile, ragged. Products
// against float64.
#include <catch2/catch.hpp>

#include <cmath>

#include "models/common/arithmetic.h"
#include "models/common/stamp.h"
#include "models/gpu/compute_unit/tile_functions.h"
#include "models/gpu/compute_unit/tile_state.h"
#include "sw/include/tile.h"
#include "tests/support/seeded_rng.h"

using namespace stretto;

namespace {

constexpr uint32_t kRows = 300, kColumns = 200, kDepth = 100;

StampMatrix matrix(uint8_t role, bool k_is_column = true) {
  StampMatrix m;
  m.base = role == 0 ? 0x10000 : 0x80000;
  m.rows = k_is_column ? (role == 0 ? kRows : kColumns) : kDepth;
  m.columns = k_is_column ? kDepth : (role == 0 ? kRows : kColumns);
  m.pitch = 1024;
  m.k_is_column = k_is_column;
  m.role = role;
  m.k_total = kDepth;
  m.seed = 99;
  return m;
}

Tile stamped(const StampMatrix& m, uint32_t row, uint32_t column, uint32_t rows, uint32_t columns) {
  Tile tile;
  tile.shape = {rows, columns * 2, static_cast<uint32_t>(m.pitch)};
  tile.stamped = true;
  tile.stamp = stamp_of(m, m.base + row * m.pitch + column * 2, tile.shape);
  return tile;
}

// A fixture of one output tile of 64 x 32 at (128, 32) of the product, K in steps of 32.
struct Product {
  StampMatrix a = matrix(0), b = matrix(1);
  Accumulator sum;
  Product() { sum.zero(64, 32); }
  void step(uint32_t k, uint32_t count) {
    sum.multiply(stamped(a, 128, k, 64, count), false, stamped(b, 32, k, 32, count), true,
                 ElementType::fp16);
  }
  uint16_t at(uint32_t row, uint32_t column) {
    uint16_t value;
    sum.epilogue(row, 1, column, 1, ElementType::fp16, 3, 256, false,
                 reinterpret_cast<uint8_t*>(&value));
    return value;
  }
  float share(uint32_t row, uint32_t column) {
    uint16_t value;
    sum.epilogue(row, 1, column, 1, ElementType::fp16, 3, 256, true,
                 reinterpret_cast<uint8_t*>(&value));
    return fp32_from_fp16(value);
  }
};

Tile values(const std::vector<float>& from, uint32_t rows, uint32_t columns) {
  Tile tile;
  tile.shape = {rows, columns * 2, columns * 2};
  tile.data.resize(from.size() * 2);
  for (size_t i = 0; i < from.size(); ++i) {
    const uint16_t half = fp16_from_fp32(from[i]);
    std::memcpy(tile.data.data() + 2 * i, &half, 2);
  }
  return tile;
}

}  // namespace

TEST_CASE("full coverage of K yields the stamp of the output element") {
  Product p;
  for (uint32_t k = 0; k < kDepth; k += 32) p.step(k, std::min(32u, kDepth - k));
  REQUIRE(p.sum.complete());
  for (uint32_t row : {0u, 17u, 63u}) {
    for (uint32_t column : {0u, 31u}) {
      REQUIRE(fp32_from_fp16(p.at(row, column)) == stamp_value(99, 3, 128 + row, 32 + column, 256));
    }
  }
}

TEST_CASE("the order of K steps does not matter") {
  Product p;
  for (uint32_t k : {64u, 0u, 96u, 32u}) p.step(k, std::min(32u, kDepth - k));
  REQUIRE(p.sum.complete());
}

TEST_CASE("a skipped K step poisons the accumulator") {
  Product p;
  for (uint32_t k : {0u, 32u, 96u}) p.step(k, std::min(32u, kDepth - k));
  REQUIRE(p.at(0, 0) == kFp16NaN);
  REQUIRE(p.at(63, 31) == kFp16NaN);
}

TEST_CASE("a repeated K step poisons the accumulator") {
  Product p;
  for (uint32_t k : {0u, 32u, 32u, 64u, 96u}) p.step(k, std::min(32u, kDepth - k));
  REQUIRE(p.at(5, 5) == kFp16NaN);
}

TEST_CASE("a missing tail of K poisons the accumulator") {
  Product p;
  for (uint32_t k : {0u, 32u, 64u}) p.step(k, 32);
  REQUIRE(p.at(0, 0) == kFp16NaN);
}

TEST_CASE(
    "shares of a split K add up to the stamp, all of K is the stamp, two intervals are no share") {
  Product first, second, whole;
  for (uint32_t k : {0u, 32u}) first.step(k, 32);
  for (uint32_t k : {64u, 96u}) second.step(k, std::min(32u, kDepth - k));
  for (uint32_t k = 0; k < kDepth; k += 32) whole.step(k, std::min(32u, kDepth - k));
  for (uint32_t column = 0; column < 32; ++column) {
    const float stamp = static_cast<float>(stamp_value(99, 3, 128 + 17, 32 + column, 256));
    CHECK(first.share(17, column) == std::floor(stamp * 64 / kDepth));
    CHECK(first.share(17, column) + second.share(17, column) == stamp);
    CHECK(whole.share(17, column) == stamp);
  }
  Product gap;
  for (uint32_t k : {0u, 64u}) gap.step(k, 32);
  CHECK(std::isnan(gap.share(0, 0)));
}

TEST_CASE("exchanged operands poison the accumulator") {
  Product p;
  p.sum.multiply(stamped(p.b, 32, 0, 64, 32), false, stamped(p.a, 128, 0, 32, 32), true,
                 ElementType::fp16);
  REQUIRE(p.at(0, 0) == kFp16NaN);
}

TEST_CASE("operands of different K poison the accumulator") {
  Product p;
  p.sum.multiply(stamped(p.a, 128, 0, 64, 32), false, stamped(p.b, 32, 32, 32, 32), true,
                 ElementType::fp16);
  REQUIRE(p.at(0, 0) == kFp16NaN);
}

TEST_CASE("an operand of another output tile poisons the accumulator") {
  Product p;
  p.step(0, 32);
  p.sum.multiply(stamped(p.a, 192, 32, 64, 32), false, stamped(p.b, 32, 32, 32, 32), true,
                 ElementType::fp16);
  p.step(64, 32);
  p.step(96, 4);
  REQUIRE(p.at(0, 0) == kFp16NaN);
}

TEST_CASE("a wrong orientation poisons the accumulator") {
  Product p;
  p.sum.multiply(stamped(p.a, 128, 0, 64, 64), true, stamped(p.b, 32, 0, 32, 64), true,
                 ElementType::fp16);
  REQUIRE(p.at(0, 0) == kFp16NaN);
}

TEST_CASE("transposed operands cover K along their rows") {
  const StampMatrix a = matrix(0, false), b = matrix(1, false);
  Accumulator sum;
  sum.zero(64, 32);
  for (uint32_t k = 0; k < kDepth; k += 50) {
    sum.multiply(stamped(a, k, 64, 50, 64), true, stamped(b, k, 96, 50, 32), false,
                 ElementType::fp16);
  }
  REQUIRE(sum.complete());
  uint16_t value;
  sum.epilogue(3, 1, 4, 1, ElementType::fp16, 0, 256, false, reinterpret_cast<uint8_t*>(&value));
  REQUIRE(fp32_from_fp16(value) == stamp_value(99, 0, 67, 100, 256));
}

TEST_CASE("padding behind the last column of a stamp matrix is clipped") {
  Product p;
  p.step(0, 64);
  p.step(64, 64);  // Columns 100..127 are padding of the pitch.
  REQUIRE(p.sum.complete());
}

TEST_CASE("a ragged tile is zero beyond its operands") {
  const StampMatrix a = matrix(0), b = matrix(1);
  Accumulator sum;
  sum.zero(64, 32);
  sum.multiply(stamped(a, 256, 0, 44, kDepth), false, stamped(b, 192, 0, 8, kDepth), true,
               ElementType::fp16);
  REQUIRE(sum.complete());
  uint16_t row[32];
  sum.epilogue(43, 1, 0, 32, ElementType::fp16, 0, 256, false, reinterpret_cast<uint8_t*>(row));
  REQUIRE(fp32_from_fp16(row[7]) == stamp_value(99, 0, 299, 199, 256));
  REQUIRE(row[8] == 0);
  sum.epilogue(44, 1, 0, 32, ElementType::fp16, 0, 256, false, reinterpret_cast<uint8_t*>(row));
  REQUIRE(row[0] == 0);
}

TEST_CASE("a load beyond the rows of a stamp matrix poisons") {
  const StampMatrix a = matrix(0), b = matrix(1);
  Accumulator sum;
  sum.zero(64, 32);
  sum.multiply(stamped(a, 256, 0, 64, kDepth), false, stamped(b, 0, 0, 32, kDepth), true,
               ElementType::fp16);
  uint16_t value;
  sum.epilogue(0, 1, 0, 1, ElementType::fp16, 0, 256, false, reinterpret_cast<uint8_t*>(&value));
  REQUIRE(value == kFp16NaN);
}

TEST_CASE("bytes and stamps together poison the accumulator") {
  Product p;
  p.sum.multiply(values(std::vector<float>(64 * 32, 1.0f), 64, 32), false,
                 stamped(p.b, 32, 0, 32, 32), true, ElementType::fp16);
  REQUIRE(p.at(0, 0) == kFp16NaN);
}

TEST_CASE("stamps are whole numbers from one to the limit and depend on every argument") {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < 100000; ++i) {
    const uint32_t value = stamp_value(5, 1, i / 300, i % 300, 256);
    REQUIRE((value >= 1 && value <= 256));
    REQUIRE(fp32_from_fp16(fp16_from_whole(value)) == value);
    REQUIRE(fp32_from_bf16(bf16_from_whole(value)) == value);
    sum += value;
  }
  REQUIRE(std::abs(static_cast<double>(sum) / 100000 - 128.5) < 1.0);
  REQUIRE(fp32_from_fp16(fp16_from_whole(2048)) == 2048);
  REQUIRE(stamp_value(5, 1, 2, 3, 2048) != stamp_value(5, 2, 2, 3, 2048));
  REQUIRE(stamp_value(5, 1, 2, 3, 2048) != stamp_value(6, 1, 2, 3, 2048));
  REQUIRE(stamp_value(5, 1, 2, 3, 2048) != stamp_value(5, 1, 3, 2, 2048));
}

TEST_CASE("real products match float64 within the error of FP32 accumulation") {
  test::Rng rng(1);
  for (const bool a_km : {false, true}) {
    for (const bool b_nk : {false, true}) {
      const uint32_t m = 37, n = 29, k = 61;
      std::vector<float> a(m * k), b(k * n);
      for (float& x : a)
        x = fp32_from_fp16(fp16_from_fp32(static_cast<float>(rng.below(2001)) / 500 - 2));
      for (float& x : b)
        x = fp32_from_fp16(fp16_from_fp32(static_cast<float>(rng.below(2001)) / 500 - 2));
      std::vector<float> ta(a), tb(b);  // As they lie in memory.
      if (a_km)
        for (uint32_t i = 0; i < m; ++i)
          for (uint32_t j = 0; j < k; ++j) ta[j * m + i] = a[i * k + j];
      if (b_nk)
        for (uint32_t i = 0; i < k; ++i)
          for (uint32_t j = 0; j < n; ++j) tb[j * k + i] = b[i * n + j];
      Accumulator sum;
      sum.zero(40, 32);
      sum.multiply(a_km ? values(ta, k, m) : values(ta, m, k), a_km,
                   b_nk ? values(tb, n, k) : values(tb, k, n), b_nk, ElementType::fp16);
      std::vector<float> out(40 * 32);
      sum.epilogue(0, 40, 0, 32, ElementType::fp32, 0, 1, false,
                   reinterpret_cast<uint8_t*>(out.data()));
      double worst = 0;
      for (uint32_t i = 0; i < 40; ++i) {
        for (uint32_t j = 0; j < 32; ++j) {
          double exact = 0, magnitude = 0;
          for (uint32_t kk = 0; kk < k && i < m && j < n; ++kk) {
            exact += double{a[i * k + kk]} * b[kk * n + j];
            magnitude += std::abs(double{a[i * k + kk]} * b[kk * n + j]);
          }
          worst = std::max(worst, std::abs(out[i * 32 + j] - exact) - magnitude * k * 0x1p-24);
        }
      }
      REQUIRE(worst <= 0);
    }
  }
}

TEST_CASE("products without values are zeros to which later ones add") {
  Accumulator sum;
  sum.zero(1, 2);
  sum.multiply(values({3.0f}, 1, 1), false, values({5.0f, 7.0f}, 1, 2), false, ElementType::fp16,
               true);
  for (const bool values_too : {false, true}) {
    sum.zero(1, 2);
    sum.multiply(values({3.0f}, 1, 1), false, values({5.0f, 7.0f}, 1, 2), false, ElementType::fp16,
                 false);
    if (values_too)
      sum.multiply(values({2.0f}, 1, 1), false, values({1.0f, 4.0f}, 1, 2), false,
                   ElementType::fp16, true);
    float out[2] = {-1, -1};
    sum.epilogue(0, 1, 0, 2, ElementType::fp32, 0, 1, false, reinterpret_cast<uint8_t*>(out));
    CHECK(out[0] == (values_too ? 2.0f : 0.0f));
    CHECK(out[1] == (values_too ? 8.0f : 0.0f));
  }
}

TEST_CASE("the epilogue rounds to nearest even") {
  Accumulator sum;
  sum.zero(1, 2);
  // 1 + 2^-11 lies half way between two FP16 numbers and goes down to even; 1 + 3 * 2^-11 goes up.
  sum.multiply(values({1.0f, 0x1p-11f}, 1, 2), false, values({1.0f, 1.0f, 1.0f, 3.0f}, 2, 2), false,
               ElementType::fp16);
  uint16_t out[2];
  sum.epilogue(0, 1, 0, 2, ElementType::fp16, 0, 1, false, reinterpret_cast<uint8_t*>(out));
  REQUIRE(out[0] == 0x3C00);
  REQUIRE(out[1] == 0x3C02);
}

TEST_CASE("SIMT operations work element by element") {
  const Tile a = values({1.0f, -2.0f, 3.0f, 100.0f}, 1, 4),
             b = values({0.5f, 4.0f, -1.0f, 1000.0f}, 1, 4);
  Tile result;
  const auto element = [&](size_t i) {
    uint16_t value;
    std::memcpy(&value, result.data.data() + 2 * i, 2);
    return fp32_from_fp16(value);
  };
  simt_operation(TILE_SIMT_ADD, a, b, result);
  REQUIRE(
      (element(0) == 1.5f && element(1) == 2.0f && element(2) == 2.0f && element(3) == 1100.0f));
  simt_operation(TILE_SIMT_MUL, a, b, result);
  REQUIRE((element(0) == 0.5f && element(1) == -8.0f && std::isinf(element(3))));
  simt_operation(TILE_SIMT_MAX, a, b, result);
  REQUIRE((element(0) == 1.0f && element(1) == 4.0f && element(2) == 3.0f));
  simt_operation(TILE_SIMT_MIN, a, b, result);
  REQUIRE(
      (element(0) == 0.5f && element(1) == -2.0f && element(2) == -1.0f && element(3) == 100.0f));
  simt_operation(TILE_SIMT_COPY, b, b, result);
  REQUIRE(result.data == b.data);
}

// Expected: libm in double precision.
TEST_CASE("functions of an element are right to FP16, and to FP32 within a few units") {
  const auto gelu = [](double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  };
  for (double x = -80; x < 80; x += 0.37) {
    const double got = tile_exp(static_cast<float>(x));
    CHECK(got == Approx(std::exp(static_cast<double>(static_cast<float>(x)))).epsilon(3e-7));
  }
  for (double x = -9; x < 9; x += 0.0625) {
    INFO(x);
    CHECK(std::abs(tile_gelu(static_cast<float>(x)) - gelu(x)) < 2e-6 + 1e-6 * std::abs(x));
    const double slope = (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5;
    CHECK(std::abs(tile_gelu_derivative(static_cast<float>(x)) - slope) < 2e-5);
  }
  CHECK(tile_exp(0.0f) == 1.0f);
  CHECK(std::isinf(tile_exp(89.0f)));
  CHECK(tile_exp(88.7f) == Approx(std::exp(88.7)).epsilon(1e-5));
  CHECK(tile_exp(-100.0f) == 0.0f);
  CHECK(std::isnan(tile_exp(std::nanf(""))));
}

TEST_CASE("rows are reduced, each to its own value, and operands subtracted") {
  const Tile a = values({1.0f, -2.0f, 3.0f, 4.0f, 5.0f, -60.0f}, 2, 3);
  const Tile b = values({0.5f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f}, 2, 3);
  Tile result;
  const auto row = [&](size_t i) {
    std::vector<float> out;
    for (size_t j = 0; j < 3; ++j) {
      uint16_t value;
      std::memcpy(&value, result.data.data() + 2 * (3 * i + j), 2);
      out.push_back(fp32_from_fp16(value));
    }
    return out;
  };
  simt_operation(TILE_SIMT_ROW_SUM, a, a, result);
  CHECK(row(0) == std::vector<float>(3, 2.0f));
  CHECK(row(1) == std::vector<float>(3, -51.0f));
  simt_operation(TILE_SIMT_ROW_MAX, a, a, result);
  CHECK(row(0) == std::vector<float>(3, 3.0f));
  CHECK(row(1) == std::vector<float>(3, 5.0f));
  simt_operation(TILE_SIMT_ROW_MEAN, a, a, result);
  CHECK(row(1) == std::vector<float>(3, -17.0f));
  simt_operation(TILE_SIMT_SUB, a, b, result);
  CHECK(row(0) == std::vector<float>{0.5f, -3.0f, 2.0f});
  simt_operation(TILE_SIMT_RECIP, b, b, result);
  CHECK(row(0) == std::vector<float>{2.0f, 1.0f, 1.0f});
  simt_operation(TILE_SIMT_RSQRT, values({4.0f, 0.25f, 16.0f}, 1, 3), b, result);
  CHECK(row(0) == std::vector<float>{0.5f, 2.0f, 0.25f});
}

TEST_CASE(
    "elements are converted, rounded once, and a second operand of one column stands for rows") {
  const Tile a = values({1.0f, -2.0f, 3.0f, 4.0f, 5.0f, -60.0f}, 2, 3);
  Tile wide, column, result;
  const auto floats = [](const Tile& tile) {
    std::vector<float> out(tile.data.size() / 4);
    std::memcpy(out.data(), tile.data.data(), tile.data.size());
    return out;
  };
  simt_operation(TILE_SIMT_FP32, a, a, wide);
  CHECK(wide.element == ElementType::fp32);
  CHECK(wide.shape.row_bytes == 12);
  CHECK(floats(wide) == std::vector<float>{1.0f, -2.0f, 3.0f, 4.0f, 5.0f, -60.0f});
  simt_operation(TILE_SIMT_FIRST, wide, wide, column);
  CHECK(column.shape.row_bytes == 4);
  CHECK(floats(column) == std::vector<float>{1.0f, 4.0f});
  simt_operation(TILE_SIMT_SUB, wide, column, result);
  CHECK(floats(result) == std::vector<float>{0.0f, -3.0f, 2.0f, 0.0f, 1.0f, -64.0f});
  Tile one = column;
  one.shape.rows = 1;
  one.data.resize(4);
  simt_operation(TILE_SIMT_ADD, wide, one, result);
  CHECK(floats(result) == std::vector<float>{2.0f, -1.0f, 4.0f, 5.0f, 6.0f, -59.0f});
  simt_operation(TILE_SIMT_RELU_GRAD, wide, wide, result);
  CHECK(floats(result) == std::vector<float>{1.0f, 0.0f, 3.0f, 4.0f, 5.0f, 0.0f});
  // 1 + 2^-11 lies between two FP16 numbers, 2049 likewise: the even one.
  wide.data.resize(8);
  wide.shape = {1, 8, 0};
  const float between[2] = {1.0f + 0x1p-11f, 2049.0f};
  std::memcpy(wide.data.data(), between, 8);
  simt_operation(TILE_SIMT_FP16, wide, wide, result);
  CHECK(result.element == ElementType::fp16);
  simt_operation(TILE_SIMT_FP32, result, result, wide);
  CHECK(floats(wide) == std::vector<float>{1.0f, 2048.0f});
  simt_operation(TILE_SIMT_BF16, wide, wide, wide);
  CHECK(wide.shape.row_bytes == 4);
  CHECK(wide.element == ElementType::bf16);
}

TEST_CASE("functions of whole numbers yield all ones") {
  Tile a = values({1.0f, 2.0f}, 1, 2), result;
  a.element = ElementType::int32;
  simt_operation(TILE_SIMT_EXP, a, a, result);
  CHECK(result.data == std::vector<uint8_t>(4, 0xFF));
}

TEST_CASE("SIMT operands of different shapes yield NaN") {
  Tile result;
  simt_operation(TILE_SIMT_ADD, values({1.0f, 2.0f}, 1, 2), values({1.0f, 2.0f}, 2, 1), result);
  uint16_t value;
  std::memcpy(&value, result.data.data(), 2);
  REQUIRE(value == kFp16NaN);
}

TEST_CASE("products of FP8 tiles are summed in FP32 and rounded once, in every layout",
          "[T3-2XCU-02]") {
  // 3 x 2 of K = 5; by hand. E4M3: 0x38 is 1, 0x40 2, 0x44 3, 0x30 0.5, 0xB8 -1, 0x7E 448, 0x01 2^-9.
  const std::vector<uint8_t> a{0x38, 0x40, 0x44, 0x30, 0xB8,   //
                               0x01, 0x01, 0x01, 0x01, 0x01,   //
                               0x7E, 0x7E, 0x00, 0x00, 0x00};  //
  const std::vector<uint8_t> b{0x38, 0x40,                     //
                               0x38, 0x30,                     //
                               0x40, 0x38,                     //
                               0x30, 0x00,                     //
                               0x38, 0x44};                    //
  // 1 + 2 + 6 + 0.25 - 1 = 8.25, 2 + 1 + 3 + 0 - 3 = 3; 5.5 and 6.5 of 2^-9; 896 and 1120.
  const std::vector<uint8_t> e4m3{0x50, 0x44, 0x06, 0x06, 0x7E, 0x7E};
  const std::vector<float> fp32{8.25f, 3, 5.5f * 0x1p-9f, 6.5f * 0x1p-9f, 896, 1120};
  const auto tile = [](const std::vector<uint8_t>& data, uint32_t rows) {
    Tile t;
    t.element = ElementType::e4m3;
    t.shape = {rows, static_cast<uint32_t>(data.size()) / rows, 0};
    t.data = data;
    return t;
  };
  const auto turned = [](const std::vector<uint8_t>& data, uint32_t rows) {
    const size_t columns = data.size() / rows;
    std::vector<uint8_t> out(data.size());
    for (size_t i = 0; i < data.size(); ++i) out[i % columns * rows + i / columns] = data[i];
    return out;
  };
  for (const bool a_km : {false, true}) {
    for (const bool b_nk : {false, true}) {
      Accumulator sum;
      sum.zero(3, 2);
      const Tile ta = a_km ? tile(turned(a, 3), 5) : tile(a, 3);
      const Tile tb = b_nk ? tile(turned(b, 5), 2) : tile(b, 5);
      REQUIRE(sum.multiply(ta, a_km, tb, b_nk, ElementType::e4m3) == 5);
      std::vector<uint8_t> bytes(6);
      sum.epilogue(0, 3, 0, 2, ElementType::e4m3, 0, 1, false, bytes.data());
      CHECK(bytes == e4m3);
      std::vector<float> wide(6);
      sum.epilogue(0, 3, 0, 2, ElementType::fp32, 0, 1, false,
                   reinterpret_cast<uint8_t*>(wide.data()));
      CHECK(wide == fp32);
    }
  }
}

TEST_CASE("SIMT operations on FP8 round, saturate and convert", "[T3-2XCU-02]") {
  const auto tile = [](ElementType element, std::vector<uint8_t> data) {
    Tile t;
    t.element = element;
    t.shape = {1, static_cast<uint32_t>(data.size()), 0};
    t.data = std::move(data);
    return t;
  };
  // 1.5, 416, -1, NaN and 2.25, 416, 1, 1.
  const Tile x = tile(ElementType::e4m3, {0x3C, 0x7D, 0xB8, 0x7F}),
             y = tile(ElementType::e4m3, {0x41, 0x7D, 0x38, 0x38});
  Tile result;
  const auto of = [&](unsigned operation) {
    simt_operation(operation, x, y, result);
    CHECK(result.element == ElementType::e4m3);
    return result.data;
  };
  CHECK(of(TILE_SIMT_ADD) == std::vector<uint8_t>{0x47, 0x7E, 0x00, 0x7F});
  CHECK(of(TILE_SIMT_SUB) == std::vector<uint8_t>{0xB4, 0x00, 0xC0, 0x7F});
  CHECK(of(TILE_SIMT_MUL) == std::vector<uint8_t>{0x46, 0x7E, 0xB8, 0x7F});  // 3.375: to 3.5.
  CHECK(of(TILE_SIMT_MAX) == std::vector<uint8_t>{0x41, 0x7D, 0x38, 0x7F});
  simt_operation(TILE_SIMT_E5M2, x, x, result);
  CHECK(result.element == ElementType::e5m2);
  // 416 lies between 384 and 448: 448 has the odd code and lies as far, so 384.
  CHECK(result.data == std::vector<uint8_t>{0x3E, 0x5E, 0xBC, 0x7F});
  simt_operation(TILE_SIMT_FP32, result, result, result);
  simt_operation(TILE_SIMT_E4M3, result, result, result);
  CHECK(result.data == std::vector<uint8_t>{0x3C, 0x7C, 0xB8, 0x7F});
  // Operands of different shapes.
  simt_operation(TILE_SIMT_ADD, x, tile(ElementType::e4m3, {0x38, 0x38}), result);
  CHECK(result.data == std::vector<uint8_t>(4, 0x7F));
}

TEST_CASE("stamps of FP8 are whole numbers that it holds", "[T3-2XCU-02]") {
  StampMatrix a = matrix(0), b = matrix(1);
  a.element = b.element = ElementType::e4m3;
  Accumulator sum;
  sum.zero(64, 32);
  const auto part = [](const StampMatrix& m, uint32_t row, uint32_t rows) {
    Tile tile;
    tile.shape = {rows, kDepth, static_cast<uint32_t>(m.pitch)};
    tile.stamped = true;
    tile.stamp = stamp_of(m, m.base + row * m.pitch, tile.shape);
    return tile;
  };
  sum.multiply(part(a, 128, 64), false, part(b, 32, 32), true, ElementType::e4m3);
  REQUIRE(sum.complete());
  std::vector<uint8_t> row(32);
  sum.epilogue(17, 1, 0, 32, ElementType::e4m3, 3, 16, false, row.data());
  for (uint32_t column = 0; column < 32; ++column)
    REQUIRE(E4m3::to_fp32(row[column]) == stamp_value(99, 3, 128 + 17, 32 + column, 16));
}
