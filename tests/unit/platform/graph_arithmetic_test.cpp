// SPDX-License-Identifier: Apache-2.0
// Question: are products in double precision sums term by term, whatever their shape and layout, with bounds that cover
// operands that are off by theirs, and is half an ulp that of IEEE 754, at zero, too?
#include <catch2/catch.hpp>

#include <boost/json.hpp>

#include <cmath>
#include <random>
#include <vector>

#include "platform/kinds/graph/graph_arithmetic.h"

namespace stretto {
namespace {

namespace json = boost::json;

struct Shape {
  uint64_t m, n, k, matrices;
  bool transpose_a, transpose_b;
};

// Matrices one behind the other; rows of the first operand are one element further apart than they are long.
json::object product(const Shape& shape) {
  const auto [m, n, k, matrices, ta, tb] = shape;
  const uint64_t a = (ta ? m : k) + 1, b = tb ? k : n;
  const json::array strides{json::array{0, 2 * a * (ta ? k : m)}, json::array{0, 2 * k * n},
                            json::array{0, 2 * m * n}};
  return {{"kind", "MatMul"},
          {"attributes", {{"transpose_a", ta ? 1 : 0}, {"transpose_b", tb ? 1 : 0}}},
          {"matmul",
           {{"m", m},
            {"n", n},
            {"k", k},
            {"outer", 1},
            {"inner", matrices},
            {"pitch", {2 * a, 2 * b, 2 * n}},
            {"strides", strides}}}};
}

Numbers numbers(uint64_t count, double error, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(-1, 1);
  Numbers all;
  for (uint64_t i = 0; i < count; ++i) {
    all.value.push_back(unit(random));
    if (error != 0) all.error.push_back(error * std::abs(unit(random)));
  }
  return all;
}

}  // namespace

TEST_CASE(
    "products of any shape and layout are sums term by term, and bounds cover the operands'") {
  std::mt19937 random(2718);
  for (const Shape& shape : {Shape{1, 1, 1, 1, false, false}, Shape{3, 8, 5, 1, false, false},
                             Shape{5, 13, 17, 2, false, true}, Shape{9, 7, 33, 2, true, false},
                             Shape{2, 25, 4, 3, true, true}, Shape{4, 9, 200, 1, false, true}}) {
    const auto [m, n, k, matrices, ta, tb] = shape;
    INFO(m << "x" << n << "x" << k << (ta ? " transposed a" : "") << (tb ? " transposed b" : ""));
    const uint64_t pitch = (ta ? m : k) + 1, matrix_a = pitch * (ta ? k : m);
    const json::object op = product(shape);
    for (const double error : {0.0, 0x1p-8}) {
      const Numbers a = numbers(matrix_a * matrices, error, random),
                    b = numbers(k * n * matrices, error, random);
      const Numbers worst = work_out(op, {&a, &b}, n, GraphKernels::library),
                    likely = work_out(op, {&a, &b}, n, GraphKernels::library,
                                      OperandErrors::independent);
      REQUIRE(worst.value.size() == m * n * matrices);
      for (uint64_t at = 0; at < worst.value.size(); ++at) {
        const uint64_t matrix = at / (m * n), row = at / n % m, column = at % n;
        double sum = 0, off = 0, squares = 0;
        for (uint64_t x = 0; x < k; ++x) {
          const uint64_t of_a = matrix * matrix_a + (ta ? x * pitch + row : row * pitch + x);
          const uint64_t of_b = matrix * k * n + (tb ? column * k + x : x * n + column);
          sum += a.value[of_a] * b.value[of_b];
          // Both operands at the ends of their bounds.
          const double most = (std::abs(a.value[of_a]) + a.error_of(of_a)) *
                              (std::abs(b.value[of_b]) + b.error_of(of_b));
          const double term = most - std::abs(a.value[of_a] * b.value[of_b]);
          off += term;
          squares += term * term;
        }
        CHECK(worst.value[at] == sum);
        CHECK(likely.value[at] == sum);
        // And half an ulp of the result, which is not below half of the least number.
        CHECK(worst.error[at] > off);
        CHECK(likely.error[at] > std::sqrt(squares) * 0.999999);
        CHECK(worst.error[at] < 1.001 * off + 0x1p-11 * (std::abs(sum) + off) + 0x1p-15 * k);
        CHECK(likely.error[at] <= worst.error[at]);
      }
    }
  }
}

// IEEE 754: binary16 has 11 bits of a significand and 2^-24 as its least number, binary32 24 and 2^-149.
TEST_CASE("half an ulp is that of IEEE 754, at zero that of the least number") {
  CHECK(half_ulp(1) == 0x1p-11);
  CHECK(half_ulp(std::nextafter(2.0, 1.0)) == 0x1p-11);
  CHECK(half_ulp(2) == 0x1p-10);
  CHECK(half_ulp(65504) == 16);
  for (const double small : {0x1p-14, 0x1p-24, 0x1p-30, 0.0}) CHECK(half_ulp(small) == 0x1p-25);
  CHECK(half_ulp_fp32(1) == 0x1p-24);
  CHECK(half_ulp_fp32(3.5) == 0x1p-23);
  for (const double small : {0x1p-126, 0x1p-149, 0.0}) CHECK(half_ulp_fp32(small) == 0x1p-150);
}

}  // namespace stretto
