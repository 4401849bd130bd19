// SPDX-License-Identifier: Apache-2.0
// The checker must pass what is right and must fire on each kind of wrong: a single element,
// another order of the ring, a partial sum, a chunk of the neighbour. The machine is played by a
// table filled here, by hand-made arithmetic.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>

#include "models/common/arithmetic.h"
#include "models/common/stamp.h"
#include "platform/check/check.h"
#include "platform/check/number_format.h"
#include "tests/support/seeded_rng.h"

namespace stretto {
namespace {

struct Bench {
  CheckTask task;
  std::vector<std::vector<uint16_t>> memory;  // By rank, row-major.

  Bench(DataMode data, CheckOutput output, uint32_t ranks, uint32_t m, uint32_t n, uint32_t k) {
    task.ranks = task.simulated_ranks = ranks;
    task.m = m;
    task.n = n;
    task.k = k;
    task.tile_m = 16;
    task.tile_n = 8;
    task.data = data;
    task.output = output;
    memory.assign(ranks, std::vector<uint16_t>(m * n));
    task.read = [this](uint32_t rank, uint32_t row, uint32_t column, uint32_t count,
                       uint16_t* bits) {
      std::copy_n(&memory[rank][row * task.n + column], count, bits);
    };
    task.add_stamps = [this](uint32_t rank, uint32_t row, uint32_t* sum) {
      for (uint32_t c = 0; c < task.n; ++c)
        sum[c] += stamp_value(7, rank, row, c, 2048 / task.ranks);
    };
    task.a = [](uint32_t rank, uint32_t row, uint32_t i) {
      return fp16_from_fp32(float(int(rank * 7 + row * 3 + i * 5) % 17 - 8) / 8);
    };
    task.b = [](uint32_t rank, uint32_t i, uint32_t c) {
      return fp16_from_fp32(float(int(rank * 5 + c * 11 + i * 3) % 13 - 6) / 16 + 0.01f);
    };
  }
  uint16_t partial(uint32_t rank, uint32_t row, uint32_t c) {
    if (task.data == DataMode::stamp)
      return fp16_from_whole(stamp_value(7, rank, row, c, 2048 / task.ranks));
    float sum = 0;
    for (uint32_t i = 0; i < task.k; ++i)
      sum += fp32_from_fp16(task.a(rank, row, i)) * fp32_from_fp16(task.b(rank, i, c));
    return fp16_from_fp32(sum);
  }
  uint32_t owner(uint32_t row, uint32_t c) {
    const uint32_t tiles_n = (task.n + 7) / 8, tiles = tiles_n * ((task.m + 15) / 16);
    const uint32_t width = 1u << task.strip_log2;
    const uint32_t tile =
        task.strips_down ? (c / 8 / width * ((task.m + 15) / 16) + row / 16) * width + c / 8 % width
                         : (row / 16 / width * tiles_n + c / 8) * width + row / 16 % width;
    uint32_t chunk = 0;
    while (tile >= chunk_first_tile(tiles, task.ranks, chunk + 1)) ++chunk;
    return chunk;
  }
  // Ring sums for all ranks; `first` shifts where the ring begins (0 = right).
  void fill_reduced(uint32_t first = 0) {
    for (uint32_t row = 0; row < task.m; ++row) {
      for (uint32_t c = 0; c < task.n; ++c) {
        const uint32_t own = owner(row, c);
        uint16_t sum = 0;
        for (uint32_t hop = 0; hop < task.ranks; ++hop) {
          const uint32_t rank = (own + 2 * task.ranks - 1 - hop + first) % task.ranks;
          sum = hop == 0 ? partial(rank, row, c) : fp16_add(sum, partial(rank, row, c));
        }
        for (auto& one : memory) one[row * task.n + c] = sum;
      }
    }
  }
};

TEST_CASE("right stamp sums pass on every element of every rank") {
  Bench bench(DataMode::stamp, CheckOutput::sum, 4, 50, 21, 8);
  bench.fill_reduced();
  const CheckReport report = check_output(bench.task);
  CHECK(report.elements == 4 * 50 * 21);
  CHECK(report.passed());
}

TEST_CASE("one wrong element is found and named with rank, row, column and both values") {
  Bench bench(DataMode::stamp, CheckOutput::sum, 4, 50, 21, 8);
  bench.fill_reduced();
  bench.memory[2][5 * 21 + 17] = 0x3C00;
  const CheckReport report = check_output(bench.task);
  CHECK(report.mismatches == 1);
  CHECK(report.first.find("rank 2 row 5 column 17: got 1, expected ") == 0);
}

TEST_CASE("the check's FP8 and the machine's are the same, though worked out apart",
          "[T3-2XCU-02]") {
  const auto compare = [](const NumberFormat& format, auto machine) {
    using Machine = decltype(machine);
    unsigned wrong = 0;
    for (unsigned x = 0; x < 256; ++x) {
      const float vx = format.value(static_cast<uint16_t>(x));
      const float mx = Machine::to_fp32(static_cast<uint8_t>(x));
      wrong += format.is_nan(static_cast<uint16_t>(x)) ? !std::isnan(mx) : vx != mx;
      for (unsigned y = 0; y < 256; ++y) {
        const float sum = vx + format.value(static_cast<uint16_t>(y));
        wrong += format.bits(sum) != Machine::add(static_cast<uint8_t>(x), static_cast<uint8_t>(y));
      }
    }
    CHECK(wrong == 0);
  };
  compare(NumberFormat(ElementType::e4m3), E4m3{});
  compare(NumberFormat(ElementType::e5m2), E5m2{});
  CHECK(NumberFormat(ElementType::e4m3).whole() == 16);
  CHECK(NumberFormat(ElementType::fp16).whole() == 2048);
}

TEST_CASE("sums of FP8 are rounded at each addition, and memory that adds to zeros leaves no -0",
          "[T3-2XCU-02]") {
  Bench bench(DataMode::real, CheckOutput::sum, 3, 1, 2, 1);
  bench.task.element = ElementType::e4m3;
  // Ranks 0, 1, 2 have 16, 1, 1.
  bench.task.a = [](uint32_t rank, uint32_t, uint32_t) {
    return static_cast<uint16_t>(rank == 0 ? 0x58 : 0x38);
  };
  bench.task.b = [](uint32_t, uint32_t, uint32_t) { return uint16_t{0x38}; };
  // One tile, of chunk 2: the ring goes 1, 0, 2. 1 + 16 is half-way to 18 and stays 16, twice.
  for (auto& memory : bench.memory) memory = {0x58, 0x58};
  CHECK(check_output(bench.task).passed());
  for (auto& memory : bench.memory) memory = {0x59, 0x58};  // 18: all added before rounding.
  CHECK(check_output(bench.task).mismatches == 3);
  // -2^-6 2^-6: half of 2^-9 at most, so -0.
  bench.task.a = [](uint32_t, uint32_t, uint32_t) { return uint16_t{0x88}; };
  bench.task.b = [](uint32_t, uint32_t, uint32_t) { return uint16_t{0x08}; };
  for (auto& memory : bench.memory) memory = {0x80, 0x80};
  CHECK(check_output(bench.task).passed());
  bench.task.from_zero = true;
  CHECK(check_output(bench.task).mismatches == 6);
  for (auto& memory : bench.memory) memory = {0x00, 0x00};
  CHECK(check_output(bench.task).passed());
}

TEST_CASE("a NaN stamp is a mismatch") {
  Bench bench(DataMode::stamp, CheckOutput::sum, 2, 20, 9, 8);
  bench.fill_reduced();
  bench.memory[1][0] = kFp16NaN;
  CHECK(check_output(bench.task).first.find("got NaN") != std::string::npos);
}

TEST_CASE("after a reduce-scatter only the rank's own chunk is asked for") {
  Bench bench(DataMode::stamp, CheckOutput::own_sum, 4, 50, 21, 8);
  bench.fill_reduced();
  for (uint32_t row = 0; row < 50; ++row) {
    for (uint32_t c = 0; c < 21; ++c) {
      for (uint32_t rank = 0; rank < 4; ++rank) {
        if (bench.owner(row, c) != rank) bench.memory[rank][row * 21 + c] = 0;
      }
    }
  }
  const CheckReport report = check_output(bench.task);
  CHECK(report.elements == 50 * 21);
  CHECK(report.passed());
}

TEST_CASE("an isolated GEMM is compared with the rank's own partial product") {
  Bench bench(DataMode::real, CheckOutput::product, 3, 20, 11, 37);
  for (uint32_t rank = 0; rank < 3; ++rank) {
    for (uint32_t row = 0; row < 20; ++row) {
      for (uint32_t c = 0; c < 11; ++c)
        bench.memory[rank][row * 11 + c] = bench.partial(rank, row, c);
    }
  }
  CHECK(check_output(bench.task).passed());
  bench.memory[0].swap(bench.memory[1]);
  CHECK_FALSE(check_output(bench.task).passed());
}

TEST_CASE("real sums pass in ring order only, and their error bound is measured") {
  Bench bench(DataMode::real, CheckOutput::sum, 5, 40, 19, 133);
  bench.fill_reduced();
  const CheckReport report = check_output(bench.task);
  CHECK(report.passed());
  CHECK(report.max_error > 0);
  CHECK(report.max_error <= 1);
  bench.fill_reduced(2);  // The same numbers added in another order.
  CHECK(check_output(bench.task).mismatches > 0);
}

TEST_CASE(
    "order-free sums pass in any order, within the bound of their additions, and equal "
    "everywhere") {
  Bench bench(DataMode::real, CheckOutput::sum, 5, 40, 19, 133);
  bench.task.any_order = true;
  for (const uint32_t first : {0, 2, 3}) {
    bench.fill_reduced(first);
    const CheckReport report = check_output(bench.task);
    CHECK(report.elements == 5 * 40 * 19);
    CHECK(report.passed());
  }
  // A copy that differs in its last bit from what the owner has.
  const uint32_t owner = bench.owner(7, 3);
  uint16_t& copy = bench.memory[(owner + 1) % 5][7 * 19 + 3];
  copy ^= 1;
  CHECK(check_output(bench.task).mismatches == 1);
  copy ^= 1;
  // A part that is missing at the owner, and so everywhere.
  uint16_t sum = 0;
  for (uint32_t rank = 1; rank < 5; ++rank) sum = fp16_add(sum, bench.partial(rank, 9, 11));
  for (auto& one : bench.memory) one[9 * 19 + 11] = sum;
  CHECK(check_output(bench.task).mismatches == 5);
  for (auto& one : bench.memory) one[9 * 19 + 11] = kFp16NaN;
  CHECK(check_output(bench.task).mismatches == 5);
}

TEST_CASE("chunks of strips have the order of the ring that their owner gives them") {
  for (const bool down : {false, true}) {
    Bench bench(DataMode::real, CheckOutput::sum, 3, 60, 30, 133);  // 4 x 4 tiles.
    bench.task.strip_log2 = 1;
    bench.task.strips_down = down;
    bench.fill_reduced();
    CHECK(check_output(bench.task).passed());
    bench.task.strip_log2 = 0;
    bench.task.strips_down = false;
    CHECK(check_output(bench.task).mismatches > 0);
  }
}

TEST_CASE("a mirrored sum begins anew behind the last chunk that is clipped there") {
  // 2 x 4 tiles in one strip of two rows, the last column 3 of 8 wide: chunks of a column each, so
  // chunk 3 is clipped. Chunk 1's sum goes to 2, 3, 0; what is gathered goes from 0 to 1, 2, 3.
  Bench bench(DataMode::stamp, CheckOutput::sum, 4, 32, 27, 8);
  bench.task.strip_log2 = 1;
  bench.task.simulated_ranks = 1;
  bench.task.mirrored = true;
  const auto stamp = [](uint32_t row, uint32_t c) { return stamp_value(7, 0, row, c, 512); };
  for (uint32_t row = 0; row < 32; ++row) {
    for (uint32_t c = 0; c < 27; ++c) {
      const uint32_t x = c % 8;
      uint32_t sum = stamp(row, x);
      if (x < 3) sum += stamp(row, x + 8) + stamp(row, x + 16) + stamp(row, x + 24);
      bench.memory[0][row * 27 + c] = fp16_from_whole(sum);
    }
  }
  CHECK(check_output(bench.task).passed());
  CHECK(check_output(bench.task).elements == 32 * 27);
  bench.memory[0][9] = 0;
  CHECK(check_output(bench.task).mismatches == 1);
}

TEST_CASE("a mirrored rank holds in each chunk the sum over its own chunks") {
  Bench bench(DataMode::stamp, CheckOutput::sum, 2, 32, 16,
              8);  // Four tiles, two a chunk: rows 0..15 and 16..31.
  bench.task.simulated_ranks = 1;
  bench.task.mirrored = true;
  for (uint32_t row = 0; row < 32; ++row) {
    for (uint32_t c = 0; c < 16; ++c) {
      const uint32_t sum =
          stamp_value(7, 0, row % 16, c, 1024) + stamp_value(7, 0, row % 16 + 16, c, 1024);
      bench.memory[0][row * 16 + c] = fp16_from_whole(sum);
    }
  }
  CHECK(check_output(bench.task).passed());
  CHECK(check_output(bench.task).elements == 32 * 16);
  bench.memory[0][3] = 0;
  CHECK(check_output(bench.task).mismatches == 1);
}

TEST_CASE("chunks are contiguous, cover all tiles and differ by at most one tile") {
  test::Rng rng;
  for (int i = 0; i < 1000; ++i) {
    const uint32_t tiles = 1 + rng.below(5000), ranks = 2 + rng.below(31);
    CHECK(chunk_first_tile(tiles, ranks, 0) == 0);
    CHECK(chunk_first_tile(tiles, ranks, ranks) == tiles);
    for (uint32_t chunk = 0; chunk < ranks; ++chunk) {
      const uint32_t size =
          chunk_first_tile(tiles, ranks, chunk + 1) - chunk_first_tile(tiles, ranks, chunk);
      CHECK((size == tiles / ranks || size == tiles / ranks + 1));
    }
  }
}

}  // namespace
}  // namespace stretto
