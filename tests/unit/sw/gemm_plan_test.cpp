// SPDX-License-Identifier: Apache-2.0
// Question: does the kernel library choose GEMM kernels that fit their machine and cover their shape? What fits and how
// many work-groups there are is worked out here.
#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "sw/kernels/ops/gemm_plan.h"
#include "tests/support/seeded_rng.h"

using namespace stretto;
using namespace stretto::test;

namespace {

// An A100, by NVIDIA's "A100 Tensor Core GPU Architecture": a clock of a unit, bytes a clock of the whole.
ops_machine_t a100() {
  ops_machine_t machine{};
  machine.units = 108;
  machine.registers_bytes = 262144;
  machine.lds_bytes = 167936;
  machine.wavefronts = 64;
  machine.work_groups = 32;
  machine.stages = 4;
  machine.l2_capacity = 40 << 20;
  machine.l2_operands = 20 << 20;
  machine.fp16_products = 1024;
  machine.tf32_products = 512;
  machine.fp32_products = 64;
  machine.load_bytes = 64;
  machine.store_bytes = 32;
  machine.l2_bytes = 5120;
  machine.dram_bytes = 1103;
  machine.miss_clocks = 600;
  machine.launch_clocks = 3000;
  return machine;
}

ops_gemm_choice_t choice_of(const ops_machine_t& machine, const ops_gemm_shape_t& shape) {
  const ops_gemm_choice_t any{};
  ops_gemm_choice_t choice;
  REQUIRE(ops_gemm_choose(&machine, &shape, &any, &choice) == 1);
  return choice;
}

uint64_t up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// What is shared leaves whole turns to the others, and a share of it is some steps long.
void check_shares(const ops_gemm_choice_t& choice, uint64_t tiles, uint64_t steps) {
  if (choice.streams == 0) {
    CHECK(choice.stream_tiles == 0);
    return;
  }
  CHECK(choice.streams <= choice.resident * choice.units);
  CHECK(choice.stream_tiles * steps / choice.streams >= 8);
  CHECK((tiles - choice.stream_tiles) % choice.streams == 0);
  CHECK(choice.stream_tiles < 2 * choice.streams);
  CHECK(choice.partial_bytes == uint64_t{4} * choice.streams * choice.tile_m * choice.tile_n);
  CHECK(choice.flag_bytes >= uint64_t{8} * 8 * choice.streams);  // A word a wavefront.
  CHECK(std::string(choice.kernel).ends_with("_stream"));
}

}  // namespace

TEST_CASE("what is chosen fits its machine and covers its shape") {
  Rng rng(1);
  const ops_machine_t machine = a100();
  for (int i = 0; i < 200; ++i) {
    const auto size = [&] {
      return static_cast<uint32_t>(1 + rng.below(uint64_t{1} << (1 + rng.below(13))));
    };
    const auto element = static_cast<ops_element_t>(rng.below(OPS_ELEMENTS));
    const ops_gemm_shape_t shape{
        element, size(), size(), size(), static_cast<uint32_t>(1 + rng.below(4)), 0, 0};
    const ops_gemm_choice_t choice = choice_of(machine, shape);
    INFO(choice.kernel << " split " << choice.split << " for " << shape.m << " " << shape.n << " "
                       << shape.k);
    const uint64_t bytes = element <= OPS_BF16 ? 2 : 4;
    const uint64_t lds =
        uint64_t{choice.tile_m + choice.tile_n} * choice.step * bytes * choice.stages;
    CHECK(choice.resident >= 1);
    CHECK(lds * choice.resident <= machine.lds_bytes);
    CHECK(uint64_t{4} * choice.tile_m * choice.tile_n * choice.resident < machine.registers_bytes);
    CHECK(choice.split <= up(shape.k, choice.step));
    const uint64_t tiles = up(shape.m, choice.tile_m) * up(shape.n, choice.tile_n) * shape.batch;
    CHECK(choice.work_groups == tiles * choice.split - choice.stream_tiles + choice.streams);
    CHECK((choice.split > 1) == (choice.reduce[0] != '\0'));
    CHECK((choice.split == 1 || choice.streams == 0));
    check_shares(choice, tiles, up(shape.k, choice.step));
    if (choice.split == 1) continue;
    CHECK(choice.partial_bytes >= uint64_t{4} * choice.split * shape.batch * shape.m * shape.n);
    ops_gemm_arguments_t arguments;
    ops_gemm_fill(&shape, &choice, &arguments);
    CHECK(arguments.reduce_parts * arguments.reduce_columns * 4 <= OPS_GEMM_REDUCE_BYTES);
    CHECK(choice.reduce_work_groups ==
          up(shape.n, arguments.reduce_columns) * shape.m * shape.batch);
  }
}

TEST_CASE("large shapes take large tiles, few tiles of a long K are split, and wishes are heard") {
  const ops_machine_t machine = a100();
  const ops_gemm_choice_t large = choice_of(machine, {OPS_FP16, 8192, 8192, 8192, 1, 0, 0});
  CHECK(large.tile_m * large.tile_n == 256 * 128);
  CHECK(large.split == 1);
  const ops_gemm_choice_t weights = choice_of(machine, {OPS_FP16, 256, 256, 131072, 1, 0, 0});
  CHECK(weights.work_groups >= machine.units / 2);
  const ops_gemm_choice_t small = choice_of(machine, {OPS_FP16, 512, 512, 512, 1, 0, 0});
  CHECK(small.tile_m * small.tile_n == 64 * 64);
  ops_gemm_choice_t wanted{}, choice;
  wanted.tile_m = wanted.tile_n = 128;
  wanted.step = 32;
  wanted.stages = 3;
  wanted.split = 7;
  const ops_gemm_shape_t shape{OPS_BF16, 1000, 1000, 1000, 1, 0, 0};
  REQUIRE(ops_gemm_choose(&machine, &shape, &wanted, &choice) == 1);
  CHECK(std::string(choice.kernel) == "gemm_bf16_128x128_k32_s3");
  CHECK(choice.split == 7);
  ops_machine_t volta = machine;
  volta.tf32_products = 0;
  const ops_gemm_shape_t tf32{OPS_TF32, 64, 64, 64, 1, 0, 0};
  const ops_gemm_choice_t any{};
  CHECK(ops_gemm_choose(&volta, &tf32, &any, &choice) == 0);
}

TEST_CASE("tiles that leave units idle are shared by as many work-groups as there are units") {
  const ops_machine_t machine = a100();
  // 14 x 17 tiles of 128 x 128 on 108 units: two turns and 22 tiles.
  const ops_gemm_choice_t some = choice_of(machine, {OPS_FP16, 1792, 2176, 4096, 1, 0, 0});
  CHECK(some.tile_m * some.tile_n == 128 * 128);
  CHECK(some.streams == 108);
  CHECK((some.stream_tiles == 22 || some.stream_tiles == 130));
  CHECK(some.work_groups == 238 - some.stream_tiles + 108);
  // 12 x 9 are a whole turn.
  CHECK(choice_of(machine, {OPS_FP16, 256 * 12, 128 * 9, 4096, 1, 0, 0}).streams == 0);
  ops_gemm_choice_t wanted{}, choice;
  const ops_gemm_shape_t shape{OPS_FP16, 1792, 2176, 4096, 1, 0, 0};
  wanted.split = 1;
  REQUIRE(ops_gemm_choose(&machine, &shape, &wanted, &choice) == 1);
  CHECK(choice.streams == 0);
  wanted.split = 0;
  wanted.streams = 50;
  REQUIRE(ops_gemm_choose(&machine, &shape, &wanted, &choice) == 1);
  CHECK(choice.streams == 50);
  wanted.streams = OPS_GEMM_NO_STREAMS;
  REQUIRE(ops_gemm_choose(&machine, &shape, &wanted, &choice) == 1);
  CHECK(choice.streams == 0);
  // 6 x 6 tiles of 128 x 128, and a long K: shared if it may be, else in parts.
  const ops_gemm_shape_t weights{OPS_FP32, 768, 768, 12288, 1, 0, 0};
  CHECK(choice_of(machine, weights).streams != 0);
  REQUIRE(ops_gemm_choose(&machine, &weights, &wanted, &choice) == 1);
  CHECK(choice.streams == 0);
  CHECK(choice.work_groups >= machine.units);
}

TEST_CASE(
    "a matrix that is added is read, so a product that the memory bounds takes as much longer") {
  const ops_machine_t machine = a100();
  const double without = choice_of(machine, {OPS_FP16, 131072, 256, 64, 1, 0, 0}).clocks;
  const double with = choice_of(machine, {OPS_FP16, 131072, 256, 64, 1, 0, 1}).clocks;
  CHECK(with - without > 0.99 * 131072 * 256 * 2 / machine.dram_bytes);
  CHECK(with - without < 1.1 * 131072 * 256 * 2 / machine.dram_bytes);
}
