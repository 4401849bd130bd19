// SPDX-License-Identifier: Apache-2.0
// Random kernels for the transformer, as assembly for the stock toolchain: branches, loops, calls, jump
// tables, private memory, tiles of registers and LDS, accumulators, ids and sizes of one to three
// dimensions, barriers and votes, and ends of any wavefronts anywhere. What such a kernel leaves in
// memory does not depend on when it runs: a wavefront writes places of its own, or adds to common ones,
// and reads what others wrote before the barrier that both have passed.
#ifndef STRETTO_TESTS_UNIT_SW_TRANSFORM_RANDOM_KERNEL_H_
#define STRETTO_TESTS_UNIT_SW_TRANSFORM_RANDOM_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/sw/transform/bench.h"

namespace stretto::test {

// What it finds at TILE_CSR_KERNARG.
struct RandomKernelArguments {
  uint64_t out;     // kOutWords words a wavefront.
  uint64_t marks;   // kRounds x 8 words a work-group.
  uint64_t ran;     // A word a work-group: bits 8w.. count runs of wavefront w.
  uint64_t common;  // 8 words.
  uint64_t input;   // kInputBytes: numbers, as FP16 and FP32 finite.
  uint64_t tiles;   // kTileBytes a wavefront.
};

struct RandomKernel {
  static constexpr uint32_t kOutWords = 8, kRounds = 24, kInputBytes = 65536, kTileBytes = 2048;
  static constexpr uint32_t kMaxTasks = 24;

  uint64_t seed = 0;
  std::vector<std::string> names;  // Kernels; a second one shares functions with the first.
  std::string assembly;
  Grid grid;
  uint32_t wavefronts = 1;
  bool keeps_room = true;  // Tiles of all tasks have room at the same time.
};

// The same for the same seed.
RandomKernel make_random_kernel(uint64_t seed);

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_SW_TRANSFORM_RANDOM_KERNEL_H_
