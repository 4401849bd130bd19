// SPDX-License-Identifier: Apache-2.0
// Enumerations that cross the border between the machine and its software. C and C++.
#ifndef STRETTO_SW_INCLUDE_FORMATS_MACHINE_TYPES_H_
#define STRETTO_SW_INCLUDE_FORMATS_MACHINE_TYPES_H_

#ifdef __cplusplus
#include <cstdint>
namespace stretto {
enum class ElementType : uint8_t {
  fp16 = 0,
  bf16 = 1,
  fp32 = 2,
  int32 = 3,
  byte = 4,
  // 5 is TILE_TF32 (tile.h), no element of memory.
  e4m3 = 6,  // OCP OFP8.
  e5m2 = 7,
};
inline constexpr bool element_exists(uint64_t code) { return code <= 7 && code != 5; }
inline constexpr bool is_fp8(ElementType type) { return type >= ElementType::e4m3; }
// Memory adds and multiplies all but bytes.
inline constexpr bool is_number(ElementType type) { return type != ElementType::byte; }
inline constexpr bool is_floating(ElementType type) {
  return type <= ElementType::fp32 || is_fp8(type);
}
inline constexpr unsigned element_bytes(ElementType type) {
  return type <= ElementType::bf16 ? 2 : type >= ElementType::byte ? 1 : 4;
}
}  // namespace stretto
#else
#include <stdint.h>
enum {
  STRETTO_FP16 = 0,
  STRETTO_BF16 = 1,
  STRETTO_FP32 = 2,
  STRETTO_INT32 = 3,
  STRETTO_BYTE = 4,
  STRETTO_E4M3 = 6,
  STRETTO_E5M2 = 7,
};
#endif

// An account is a number, of four bits wherever it travels. DRAM bytes and the times of kernels are
// counted by account. The first four belong to the machine; the others to the job, which names them
// (platform/jobs/job.h).
enum {
  STRETTO_ACCOUNT_OTHER = 0,  // What names no account.
  STRETTO_ACCOUNT_SYNC = 1,   // Flags, semaphores, atomics.
  STRETTO_ACCOUNT_SPILL = 2,  // The Tracker's overflow table.
  STRETTO_ACCOUNT_CP = 3,     // Command processors.
  STRETTO_ACCOUNT_JOB = 4,    // The first of the job.
  STRETTO_ACCOUNTS = 16,
};

#endif  // STRETTO_SW_INCLUDE_FORMATS_MACHINE_TYPES_H_
