// SPDX-License-Identifier: Apache-2.0
// Question: do plans of row operators and sums cover their rows, within what a unit has? What fits is worked out here.
#include <catch2/catch.hpp>

#include <string>

#include "sw/kernels/ops/index_plan.h"
#include "sw/kernels/ops/rows_plan.h"
#include "tests/support/seeded_rng.h"

using namespace stretto;
using namespace stretto::test;

namespace {

// A V100, by NVIDIA's "Tesla V100 GPU Architecture".
ops_machine_t v100() {
  ops_machine_t machine{};
  machine.units = 80;
  machine.registers_bytes = 262144;
  machine.lds_bytes = 98304;
  machine.wavefronts = 64;
  machine.work_groups = 32;
  return machine;
}

ops_vector_launch_t planned(const char* name, ops_element_t element, ops_rows_arguments_t& a) {
  const ops_machine_t machine = v100();
  ops_vector_launch_t launch{};
  ops_sum_arguments_t sum{};
  ops_sum_launch_t sums{};
  ops_rows_plan(&machine, name, element, &a, &launch, &sum, &sums);
  return launch;
}

}  // namespace

TEST_CASE("every wavefront of a team has a part of the row, and the parts are the row") {
  Rng rng(3);
  for (int i = 0; i < 300; ++i) {
    const char* const name = i % 3 == 0 ? "softmax" : i % 3 == 1 ? "layer_norm" : "softmax_grad";
    ops_rows_arguments_t a{};
    a.rows = static_cast<uint32_t>(1 + rng.below(5000));
    a.row_bytes = static_cast<uint32_t>(2 * (2100 + rng.below(100000)));
    const ops_vector_launch_t launch = planned(name, OPS_FP16, a);
    INFO(launch.kernel << ": rows of " << a.row_bytes << " bytes, shares of " << a.share);
    const std::string kernel = launch.kernel;
    const uint32_t wide = kernel.ends_with("w1") ? 1 : kernel.ends_with("w4") ? 4 : 8;
    CHECK(a.share % 64 == 0);
    CHECK(uint64_t{wide - 1} * a.share < a.row_bytes);
    CHECK(uint64_t{wide} * a.share >= a.row_bytes);
    CHECK(launch.work_groups <= a.rows);
    // Pieces of 2 KiB that a wavefront holds.
    const uint32_t held = i % 3 == 0 ? 4 : i % 3 == 1 ? 3 : 2;
    CHECK((kernel.ends_with("long") || a.share <= held * 2048));
  }
}

TEST_CASE("short rows share a piece, and gradients leave a part for each team that has a row") {
  ops_rows_arguments_t a{};
  a.rows = 1000;
  a.row_bytes = 300;
  CHECK(std::string(planned("softmax_grad", OPS_FP16, a).kernel) == "softmax_grad_fp16_w1");
  CHECK(a.rows_each == 6);
  const ops_machine_t machine = v100();
  ops_vector_launch_t launch{};
  ops_sum_arguments_t sum{};
  ops_sum_launch_t sums{};
  a.rows = 5;
  ops_rows_plan(&machine, "layer_norm_grad", OPS_FP16, &a, &launch, &sum, &sums);
  CHECK(launch.work_groups == 2);  // Of four teams.
  CHECK(sum.part_count == 5);
  CHECK(sum.columns == 300);  // 150 for gamma, 150 for beta.
  CHECK(sums.part_bytes == 5 * 300 * 4);
  a.row_bytes = 16386;
  ops_rows_plan(&machine, "layer_norm_grad", OPS_FP16, &a, &launch, &sum, &sums);
  CHECK(std::string(launch.kernel) == "layer_norm_grad_fp16_long");
  CHECK(launch.work_groups == 5);
  CHECK(sum.part_count == 5);
  CHECK(sums.part_bytes == 5 * 16386 * 4);  // As many columns of gamma and beta as bytes.
}

TEST_CASE("sums over rows have as many parts as the GPU holds work-groups, not more than rows") {
  const ops_machine_t machine = v100();
  ops_sum_arguments_t a{};
  ops_sum_launch_t launch{};
  a.rows = 131072;
  a.row_bytes = 512;
  ops_sum_rows_plan(&machine, OPS_FP16, &a, &launch);
  CHECK(a.rows_each == 4);
  CHECK(a.part_count == 80 * 2);  // 262144 bytes of registers by 106496.
  CHECK(launch.part_bytes == 160 * 256 * 4);
  CHECK(launch.second.work_groups == 16);
  a.rows = 17;
  ops_sum_rows_plan(&machine, OPS_FP16, &a, &launch);
  CHECK(a.part_count == 2);  // 16 rows each.
  ops_sum_arguments_t b{}, second{};
  b.rows = 3;
  b.row_bytes = 16384;
  REQUIRE(ops_sum_columns_plan(&machine, OPS_FP16, &b, &second, &launch) == 1);
  CHECK(b.chunks == 2);
  CHECK(second.row_bytes == 8);
  CHECK(second.chunks == 1);
  ops_sum_arguments_t c{};
  c.rows = 1000;
  c.row_bytes = 512;
  c.part_count = 4;
  ops_sum_groups_plan(&machine, OPS_FP16, &c, &launch);
  CHECK(c.rows_each == 4);
  CHECK(c.chunks == 1);
  CHECK(launch.first.work_groups == 63);  // 250 pieces, 4 wavefronts.
  CHECK(launch.second.work_groups == 0);
  CHECK(launch.part_bytes == 0);
  c.row_bytes = 5000;
  ops_sum_groups_plan(&machine, OPS_FP16, &c, &launch);
  CHECK(c.rows_each == 1);
  CHECK(c.chunks == 3);
  CHECK(launch.first.work_groups == 80 * 3);  // 262144 bytes of registers by 74752.
  b.row_bytes = 1u << 25;
  CHECK(ops_sum_columns_plan(&machine, OPS_FP16, &b, &second, &launch) == 0);
}

TEST_CASE("lists of at most 64 are one segment, longer ones leave a part for each 64") {
  // Rows with 0, 64, 65 and 200 indices.
  const uint32_t offsets[] = {0, 0, 64, 129, 329};
  ops_index_segment_t first[8], second[8];
  const ops_bag_cut_t cut = ops_bag_cut(offsets, 4, first, second);
  CHECK(cut.first == 1 + 1 + 2 + 4);
  CHECK(cut.second == 2);
  CHECK(cut.parts == 6);
  const auto is = [](const ops_index_segment_t& s, uint32_t at, uint32_t count, uint32_t row,
                     uint32_t is_part) {
    return s.first == at && s.count == count && s.row == row && s.is_part == is_part;
  };
  CHECK(is(first[0], 0, 0, 0, 0));
  CHECK(is(first[1], 0, 64, 1, 0));
  CHECK(is(first[2], 64, 64, 0, 1));
  CHECK(is(first[3], 128, 1, 1, 1));
  CHECK(is(first[7], 129 + 192, 8, 5, 1));
  CHECK(is(second[0], 0, 2, 2, 0));
  CHECK(is(second[1], 2, 4, 3, 0));
}
