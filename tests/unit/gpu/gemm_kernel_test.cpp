// SPDX-License-Identifier: Apache-2.0
// Question: does the shipped GEMM kernel, as the compiler made it, produce the right matrix on this
// GPU? Parameters: both tile sizes, all four layouts, sizes that are no multiple of a tile or of
// the K step, stamps and real bytes.
#include <catch2/catch.hpp>

#include <cmath>

#include "models/common/stamp.h"
#include "sw/kernels/kernel_arguments.h"
#include "tests/support/seeded_rng.h"
#include "tests/unit/gpu/gpu_machine.h"

using namespace stretto;
using namespace stretto::test;

namespace {

constexpr uint64_t kA = kNode + 0x1000000, kB = kNode + 0x2000000, kC = kNode + 0x3000000;

struct Gemm {
  GpuMachine machine;
  stretto_gemm_arguments_t arguments{};
  Launch launch;

  Gemm(uint32_t m, uint32_t n, uint32_t k, uint32_t layout, const std::string& file = "gemm",
       const std::string& kernel = "gemm_128x128") {
    launch = machine.load_kernel(STRETTO_BUILD_DIR "/sw/kernels/" + file + ".elf", kernel);
    const bool a_km = (layout & GEMM_A_KM) != 0, b_nk = (layout & GEMM_B_NK) != 0;
    arguments.a = kA;
    arguments.b = kB;
    arguments.c = kC;
    arguments.lda = pitch(a_km ? m : k);
    arguments.ldb = pitch(b_nk ? k : n);
    arguments.m = m;
    arguments.n = n;
    arguments.k = k;
    arguments.layout = layout;
    arguments.ldc = 2 * n;
    arguments.tiles_n = (n + 127) / 128;
    machine.load_arguments(arguments);
    const uint32_t tile_m = kernel == "gemm_256x128" ? 256 : kernel == "gemm_16x128" ? 16 : 128;
    launch.workgroups = (m + tile_m - 1) / tile_m * arguments.tiles_n;
    machine.map(kA, uint64_t{arguments.lda} * (a_km ? k : m));
    machine.map(kB, uint64_t{arguments.ldb} * (b_nk ? n : k));
    machine.map(kC, uint64_t{m} * arguments.ldc, AllocationClass::uncached);
  }
  static uint32_t pitch(uint32_t columns) { return (2 * columns + 127) / 128 * 128; }

  void add_stamps() {
    const auto add = [&](uint64_t base, uint32_t lines, uint32_t row_pitch, bool k_is_column,
                         uint8_t role) {
      StampMatrix matrix;
      matrix.base = base & STRETTO_OFFSET_MASK;
      matrix.pitch = row_pitch;
      matrix.rows = k_is_column ? lines : arguments.k;
      matrix.columns = k_is_column ? arguments.k : lines;
      matrix.k_is_column = k_is_column;
      matrix.role = role;
      matrix.k_total = arguments.k;
      matrix.seed = 31;
      machine.image.add_stamp(matrix);
    };
    add(kA, arguments.m, arguments.lda, (arguments.layout & GEMM_A_KM) == 0, 0);
    add(kB, arguments.n, arguments.ldb, (arguments.layout & GEMM_B_NK) != 0, 1);
  }
  void run() {
    machine.run_kernel(launch);
    for (const GpuFault& fault : machine.gpu.front_end.faults()) FAIL(describe_fault(0, fault));
    AuditSink sink;
    machine.gpu.audit(sink);
    for (const AuditResult& result : sink.all()) {
      if (!result.holds) FAIL(result.law << ": " << result.left << " against " << result.right);
    }
  }
  uint16_t result(uint32_t row, uint32_t column) {
    return machine.value_at<uint16_t>(kC + uint64_t{row} * arguments.ldc + 2 * column);
  }
  // Elements that are not the stamp of their place.
  uint32_t wrong_stamps() {
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < arguments.m; ++i) {
      for (uint32_t j = 0; j < arguments.n; ++j) {
        wrong += result(i, j) != fp16_from_whole(stamp_value(31, 0, i, j, 256));
      }
    }
    return wrong;
  }
};

void require_stamps(uint32_t m, uint32_t n, uint32_t k, uint32_t layout,
                    const std::string& kernel = "gemm_128x128") {
  Gemm gemm(m, n, k, layout, "gemm", kernel);
  gemm.add_stamps();
  gemm.run();
  REQUIRE(gemm.wrong_stamps() == 0);
}

void require_products(uint32_t m, uint32_t n, uint32_t k, uint32_t layout) {
  Gemm gemm(m, n, k, layout);
  Rng rng(3);
  std::vector<float> a(m * k), b(k * n);
  const auto fill = [&](std::vector<float>& matrix, uint64_t base, uint32_t row_pitch,
                        uint32_t rows, uint32_t columns, bool turned) {
    for (uint32_t i = 0; i < rows; ++i) {
      for (uint32_t j = 0; j < columns; ++j) {
        const uint16_t half = fp16_from_fp32(static_cast<float>(rng.below(4001)) / 1000 - 2);
        matrix[i * columns + j] = fp32_from_fp16(half);
        gemm.machine.set_value<uint16_t>(
            base + (turned ? uint64_t{j} * row_pitch + 2 * i : uint64_t{i} * row_pitch + 2 * j),
            half);
      }
    }
  };
  fill(a, kA, gemm.arguments.lda, m, k, (layout & GEMM_A_KM) != 0);
  fill(b, kB, gemm.arguments.ldb, k, n, (layout & GEMM_B_NK) != 0);
  gemm.run();
  double worst = 0;
  for (uint32_t i = 0; i < m; ++i) {
    for (uint32_t j = 0; j < n; ++j) {
      double exact = 0, magnitude = 0;
      for (uint32_t kk = 0; kk < k; ++kk) {
        exact += double{a[i * k + kk]} * b[kk * n + j];
        magnitude += std::abs(double{a[i * k + kk]} * b[kk * n + j]);
      }
      // FP32 accumulation, then one rounding to FP16.
      const double bound = magnitude * k * 0x1p-24 + std::abs(exact) * 0x1p-11 + 0x1p-24;
      worst = std::max(worst, std::abs(fp32_from_fp16(gemm.result(i, j)) - exact) / bound);
    }
  }
  REQUIRE(worst <= 1.0);
}

}  // namespace

TEST_CASE("one full tile, forward layout") { require_stamps(128, 128, 64, GEMM_B_NK); }
TEST_CASE("a single short K step") { require_stamps(128, 128, 20, GEMM_B_NK); }
TEST_CASE("ragged in M, N and K, forward layout") { require_stamps(300, 200, 100, GEMM_B_NK); }
TEST_CASE("ragged, backward layout") { require_stamps(200, 330, 90, 0); }
TEST_CASE("ragged, A transposed") { require_stamps(130, 140, 70, GEMM_A_KM | GEMM_B_NK); }
TEST_CASE("ragged, both transposed") { require_stamps(130, 140, 70, GEMM_A_KM); }
TEST_CASE("tiles of 16 x 128, of which the last has one row") {
  require_stamps(17, 300, 96, GEMM_B_NK, "gemm_16x128");
}
TEST_CASE("tiles of 256 x 128") { require_stamps(500, 300, 96, GEMM_B_NK, "gemm_256x128"); }
TEST_CASE("strips along the rows") {
  require_stamps(500, 300, 96, GEMM_B_NK | 2 << GEMM_ORDER_SHIFT);
}
TEST_CASE("strips down the columns") { require_stamps(300, 500, 96, 5 << GEMM_ORDER_SHIFT); }
TEST_CASE("real products, forward layout") { require_products(150, 140, 75, GEMM_B_NK); }
TEST_CASE("real products, both transposed") { require_products(140, 150, 75, GEMM_A_KM); }

TEST_CASE("a kernel that skips a K step yields NaN everywhere") {
  Gemm gemm(128, 128, 96, GEMM_B_NK, "gemm_skip_step");
  gemm.add_stamps();
  gemm.run();
  for (uint32_t i = 0; i < 128; ++i) {
    for (uint32_t j = 0; j < 128; ++j) REQUIRE(gemm.result(i, j) == kFp16NaN);
  }
}

TEST_CASE("a kernel that exchanges two tiles yields wrong stamps in both") {
  Gemm gemm(128, 384, 64, GEMM_B_NK, "gemm_swap_tiles");
  gemm.add_stamps();
  gemm.run();
  const uint32_t wrong = gemm.wrong_stamps();
  REQUIRE(wrong > 2 * 128 * 128 * 95 / 100);
  REQUIRE(wrong <= 2 * 128 * 128);
}

TEST_CASE("timing is the same for stamps and bytes") {
  // One elaboration a process: the two runs share a machine, at different addresses.
  Gemm gemm(256, 256, 128, GEMM_B_NK);
  gemm.run();  // Real bytes, all zero; warms nothing: the cache is emptied.
  const auto timed = [&] {
    gemm.machine.write(GPU_L2_COMMAND_OFFSET, GPU_L2_COMMAND_WRITE_BACK_MASK);
    gemm.machine.run();
    const Time begin = (gemm.machine.queue.now() / (5 * kNanosecond) + 1000) * 5 * kNanosecond;
    gemm.machine.queue.run_until(begin);
    return gemm.machine.run_kernel(gemm.launch) - begin;
  };
  const Time bytes = timed();
  gemm.add_stamps();
  const Time stamps = timed();
  REQUIRE(gemm.wrong_stamps() == 0);
  REQUIRE(bytes == stamps);
}
