// SPDX-License-Identifier: Apache-2.0
// Enumerations that cross the border between the machine and its software. C and C++.
#ifndef STRETTO_SW_INCLUDE_FORMATS_MACHINE_TYPES_H_
#define STRETTO_SW_INCLUDE_FORMATS_MACHINE_TYPES_H_

#ifdef __cplusplus
#include <cstdint>
namespace stretto {
enum class ElementType : uint8_t { fp16 = 0, bf16 = 1, fp32 = 2, int32 = 3, byte = 4 };
// The account on which DRAM bytes are booked: dram_bytes{gemm_read, ...} of stats.json.
enum class TrafficClass : uint8_t {
  other = 0,
  gemm = 1,
  rs = 2,
  ag = 3,
  init = 4,
  sync = 5,
  spill = 6,
  cp = 7
};
inline constexpr unsigned kTrafficClasses = 8;
inline constexpr unsigned element_bytes(ElementType type) {
  return type == ElementType::fp16 || type == ElementType::bf16 ? 2
         : type == ElementType::byte                            ? 1
                                                                : 4;
}
}  // namespace stretto
#else
#include <stdint.h>
enum { STRETTO_FP16 = 0, STRETTO_BF16 = 1, STRETTO_FP32 = 2, STRETTO_INT32 = 3, STRETTO_BYTE = 4 };
enum {
  STRETTO_TRAFFIC_OTHER = 0,
  STRETTO_TRAFFIC_GEMM = 1,
  STRETTO_TRAFFIC_RS = 2,
  STRETTO_TRAFFIC_AG = 3,
  STRETTO_TRAFFIC_INIT = 4,
  STRETTO_TRAFFIC_SYNC = 5,
  STRETTO_TRAFFIC_SPILL = 6,
  STRETTO_TRAFFIC_CP = 7,
};
#endif

#endif  // STRETTO_SW_INCLUDE_FORMATS_MACHINE_TYPES_H_
