// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/collective/collective_data.h"

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "platform/jobs/contents.h"

namespace stretto {

namespace {

// Largest whole number below which the type holds all.
uint32_t whole_limit(ncclDataType_t type) {
  return type == ncclFloat16 ? 2048 : type == ncclBfloat16 ? 256 : 1u << 24;
}

constexpr uint32_t kScaledRanks = 12;  // Ranks that multiply by other than 1: 2^-12 .. 2^12 fits.

}  // namespace

uint64_t CollectiveData::elements(BufferRole role) const {
  const uint64_t all = task_.count * task_.ranks;
  switch (task_.op) {
    case STRETTO_REDUCE_SCATTER: return role == BufferRole::target ? task_.count : all;
    case STRETTO_ALL_GATHER: return role == BufferRole::source ? task_.count : all;
    case STRETTO_ALL_TO_ALL: return all;
    default: return task_.count;
  }
}

uint64_t CollectiveData::source_at(uint32_t rank) const {
  return task_.op == STRETTO_ALL_GATHER ? task_.count * rank : 0;
}

uint64_t CollectiveData::target_at(uint32_t rank) const {
  return task_.op == STRETTO_REDUCE_SCATTER ? task_.count * rank : 0;
}

bool CollectiveData::same_everywhere() const {
  return task_.op == STRETTO_ALL_REDUCE || task_.op == STRETTO_ALL_GATHER ||
         task_.op == STRETTO_BROADCAST;
}

uint64_t CollectiveData::random(uint32_t rank, uint64_t index) const {
  return content_word(task_.seed, rank, index);
}

double CollectiveData::number(uint32_t rank, uint64_t index) const {
  const uint64_t x = random(rank, index);
  const uint32_t limit = whole_limit(task_.type);
  switch (task_.reduction) {
    case ncclSum:
    case ncclAvg:
      return 1 +
             static_cast<double>((x >> 8) % std::max(1u, std::min(limit, 1u << 20) / task_.ranks));
    case ncclProd: {
      const double power =
          rank < kScaledRanks ? std::ldexp(1.0, static_cast<int>((x >> 8) % 3) - 1) : 1.0;
      return (x & 1) != 0 ? -power : power;
    }
    default: return static_cast<double>((x >> 8) % 513) - 256;
  }
}

uint32_t CollectiveData::bits_of(double number) const {
  const float rounded = static_cast<float>(number);
  switch (task_.type) {
    case ncclFloat16: return std::bit_cast<uint16_t>(Eigen::half(rounded));
    case ncclBfloat16: return std::bit_cast<uint16_t>(Eigen::bfloat16(rounded));
    default: return std::bit_cast<uint32_t>(rounded);
  }
}

// The sum times 1 / ranks, both numbers of the type; the product is rounded once more, by
// bits_of(). It is exact in double.
double CollectiveData::average_of(double sum) const {
  const float share = 1.0f / static_cast<float>(task_.ranks);
  switch (task_.type) {
    case ncclFloat16: return sum * static_cast<float>(Eigen::half(share));
    case ncclBfloat16: return sum * static_cast<float>(Eigen::bfloat16(share));
    default: return sum * share;
  }
}

uint32_t CollectiveData::value(uint32_t rank, uint64_t index) const {
  if (reduces() && task_.type != ncclInt32) return bits_of(number(rank, index));
  return static_cast<uint32_t>(random(rank, index) >> 16);
}

uint32_t CollectiveData::reduced(uint64_t index) const {
  if (task_.type == ncclInt32) {
    uint32_t result = value(0, index);
    for (uint32_t rank = 1; rank < task_.ranks; ++rank) {
      const uint32_t x = value(rank, index);
      const int32_t a = static_cast<int32_t>(result), b = static_cast<int32_t>(x);
      switch (task_.reduction) {
        case ncclSum: result += x; break;
        case ncclProd: result *= x; break;
        case ncclMax: result = static_cast<uint32_t>(std::max(a, b)); break;
        default: result = static_cast<uint32_t>(std::min(a, b)); break;
      }
    }
    return result;
  }
  double result = number(0, index);
  for (uint32_t rank = 1; rank < task_.ranks; ++rank) {
    const double x = number(rank, index);
    switch (task_.reduction) {
      case ncclSum:
      case ncclAvg: result += x; break;
      case ncclProd: result *= x; break;
      case ncclMax: result = std::max(result, x); break;
      default: result = std::min(result, x); break;
    }
  }
  return bits_of(task_.reduction == ncclAvg ? average_of(result) : result);
}

uint32_t CollectiveData::result(uint32_t rank, uint64_t index) const {
  const uint64_t count = task_.count;
  switch (task_.op) {
    case STRETTO_ALL_REDUCE:
    case STRETTO_REDUCE: return reduced(index);
    case STRETTO_REDUCE_SCATTER: return reduced(rank * count + index);
    case STRETTO_ALL_GATHER: return value(static_cast<uint32_t>(index / count), index % count);
    case STRETTO_ALL_TO_ALL:
      return value(static_cast<uint32_t>(index / count), rank * count + index % count);
    case STRETTO_BROADCAST: return value(task_.root, index);
    default: return value((rank + task_.ranks - 1) % task_.ranks, index);
  }
}

void CollectiveData::store(uint8_t*& at, uint32_t bits) const {
  std::memcpy(at, &bits, element_bytes());
  at += element_bytes();
}

CollectiveData::Range CollectiveData::written(BufferRole role, uint32_t rank) const {
  if (role == BufferRole::source) return {0, 0};
  if (task_.op == STRETTO_REDUCE && rank != task_.root) return {0, 0};
  const uint64_t begin = role == BufferRole::in_place ? target_at(rank) : 0;
  return {begin, begin + elements(BufferRole::target)};
}

void CollectiveData::before(BufferRole role, uint32_t rank, uint64_t begin, uint64_t end,
                            uint8_t* bytes) const {
  const uint64_t first = role == BufferRole::in_place ? source_at(rank) : 0;
  const uint64_t last = first + elements(BufferRole::source);
  for (uint64_t i = begin; i < end; ++i) {
    const bool given = role != BufferRole::target && i >= first && i < last;
    store(bytes, given ? value(rank, i - first) : 0);
  }
}

void CollectiveData::after(BufferRole role, uint32_t rank, uint64_t begin, uint64_t end,
                           uint8_t* bytes) const {
  const Range out = written(role, rank);
  for (uint64_t i = begin; i < end; ++i) {
    if (i >= out.begin && i < out.end) {
      store(bytes, result(rank, i - out.begin));
    } else {
      before(role, rank, i, i + 1, bytes);
      bytes += element_bytes();
    }
  }
}

}  // namespace stretto
