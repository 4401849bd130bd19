// SPDX-License-Identifier: Apache-2.0
// Values of stamp data (models/README.md, Data): what a complete accumulation of output element
// (row, column) on one GPU is. A seeded hash in 1..limit; with limit = floor(L / ranks), L = 2048
// (FP16) or 256 (BF16), every sum over the ranks is a whole number that the format holds exactly,
// so that each result can be checked bit for bit.
//
// Used by the tile epilogue and by the checker, which needs to know a rank's contribution and
// nothing else. stamp_row() gives the same numbers as stamp_value() and is written to be
// vectorised.
#ifndef STRETTO_MODELS_COMMON_STAMP_H_
#define STRETTO_MODELS_COMMON_STAMP_H_

#include <bit>
#include <cstddef>
#include <cstdint>

namespace stretto {

// Hash of everything that is the same along a row.
inline uint32_t stamp_row_key(uint64_t seed, uint32_t gpu, uint32_t row) {
  uint64_t x = seed ^ (uint64_t{gpu} << 32 | row);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return static_cast<uint32_t>(x ^ (x >> 31));
}

inline uint32_t stamp_from_key(uint32_t row_key, uint32_t column, uint32_t limit) {
  uint32_t h = row_key + column * 0x9E3779B1u;
  h = (h ^ (h >> 15)) * 0x85EBCA77u;
  h ^= h >> 13;
  return 1 + (((h >> 16) * limit) >> 16);
}

// REQUIRES: 1 <= limit <= 2048.
inline uint32_t stamp_value(uint64_t seed, uint32_t gpu, uint32_t row, uint32_t column,
                            uint32_t limit) {
  return stamp_from_key(stamp_row_key(seed, gpu, row), column, limit);
}

// A whole number 1..2048 as FP16, 1..256 as BF16: exact, so moving the exponent is all there is to
// do.
inline uint16_t fp16_from_whole(uint32_t value) {
  const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(value)));
  return static_cast<uint16_t>((bits - (112u << 23)) >> 13);
}
inline uint16_t bf16_from_whole(uint32_t value) {
  return static_cast<uint16_t>(
      std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(value))) >> 16);
}

// The values of columns [column, column + count) of one row, as FP16.
inline void stamp_row_fp16(uint64_t seed, uint32_t gpu, uint32_t row, uint32_t column, size_t count,
                           uint32_t limit, uint16_t* out) {
  const uint32_t key = stamp_row_key(seed, gpu, row);
  for (size_t i = 0; i < count; ++i) {
    out[i] = fp16_from_whole(stamp_from_key(key, column + static_cast<uint32_t>(i), limit));
  }
}

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_STAMP_H_
