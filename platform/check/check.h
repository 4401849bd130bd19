// SPDX-License-Identifier: Apache-2.0
// Is what the machine computed right? Every element that a mode promises is compared with a
// reference that shares no code with the machine's arithmetic (number_format.h, plain loops and
// Eigen for products).
//
// Ring order (T3-U10): the reduction of chunk c starts on rank c - 1 and goes down the ring, c - 2,
// ..., to its owner c.
//   stamp data: partial products are known small integers, so sums are exact in any order;
//   real data: partials are FP32 sums over ascending k, rounded once; the ring adds them in ring
//   order, each sum rounded.
//     Those are compared bit for bit. Partials are also compared with float64 products (Eigen): the
//     error must be within FP32 accumulation plus one rounding; max_error is the largest observed
//     share of that bound.
// Order-free sums (`any_order`): updates arrive at an element in any order, so real data has no one
// right result. What the owner of an element has is compared with the sum of the partials in
// float64; (N - 1) additions err by at most gamma(N - 1) sum |partial|, u = 2^-11 of FP16 and 2^-4 of
// E4M3 (Higham, 3.1 and 4.2; underflow is exact there). Others must have the same bits. max_error is
// the largest share of either bound.
#ifndef STRETTO_PLATFORM_CHECK_CHECK_H_
#define STRETTO_PLATFORM_CHECK_CHECK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/config/options.h"
#include "sw/include/formats/machine_types.h"

namespace stretto {

struct CheckReport {
  uint64_t elements = 0;
  uint64_t mismatches = 0;
  std::string first;       // First mismatch: "rank 2 row 5 column 17: got 3, expected 4".
  double max_error = 0;    // Largest |result - float64| / bound; real data only.
  double error_bound = 0;  // 1 when max_error was measured, else 0.
  std::string limit;       // What was not compared, for people; empty: all that the mode promises.
  bool passed() const { return mismatches == 0 && max_error <= 1; }
  void wrong(const std::string& what) {
    if (mismatches++ == 0) first = what;
  }
};

// What a rank's output must hold.
enum class CheckOutput : uint8_t {
  product,   // The partial product of the rank.
  own_sum,   // In the rank's chunk the sum over all ranks; the rest is not compared.
  sum,       // The sum over all ranks.
  gathered,  // In each chunk what its rank was given.
};

// The problem as the check sees it.
struct CheckTask {
  uint32_t ranks = 0;
  uint32_t m = 0, n = 0, k = 0;
  uint32_t tile_m = 128, tile_n = 128;
  // In which order chunks take tiles: strips of 2 ^ log2 tiles across, along the rows or down.
  uint32_t strip_log2 = 0;
  bool strips_down = false;
  DataMode data = DataMode::stamp;
  CheckOutput output = CheckOutput::product;
  bool any_order = false;                   // Of the additions; else the ring's.
  bool from_zero = false;                   // Memory adds to zeros, so no sum is -0.
  ElementType element = ElementType::fp16;  // Or FP8: of operands and outputs.
  // Bits of [row, column .. column + count) of a rank's output array.
  std::function<void(uint32_t rank, uint32_t row, uint32_t column, uint32_t count, uint16_t* bits)>
      read;
  // Adds the stamps of row `row` of a rank's partial product to sum[0..n); stamp data. Called by
  // several threads at a time.
  std::function<void(uint32_t rank, uint32_t row, uint32_t* sum)> add_stamps;
  // Bits of operand elements; real data.
  std::function<uint16_t(uint32_t rank, uint32_t row, uint32_t k)> a;
  std::function<uint16_t(uint32_t rank, uint32_t k, uint32_t column)> b;
  // Isolated collectives: what a rank's output held at the start, instead of a partial product;
  // else empty.
  std::function<uint16_t(uint32_t rank, uint32_t row, uint32_t column)> given;
  // What follows the sum, if given: times a mask, plus a residual, each rounded. Bits.
  std::function<uint16_t(uint32_t row, uint32_t column)> mask, residual;
  // Ranks that were simulated. A mirrored machine simulates rank 0, which receives its own sums:
  // each chunk holds the sum of the elements at that place in all chunks of rank 0 (equal chunks;
  // stamp data). What goes through a tile that is clipped there ends (chunk_mirror.h).
  uint32_t simulated_ranks = 0;
  bool mirrored = false;
};

// First tile of chunk `chunk`, in the order of tiles; chunks are contiguous and differ by at most one
// tile (T3-U09).
uint32_t chunk_first_tile(uint32_t tiles, uint32_t ranks, uint32_t chunk);

CheckReport check_output(const CheckTask& task);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CHECK_CHECK_H_
