// SPDX-License-Identifier: Apache-2.0
// What jobs with matrices share: random operands, as contents of memory at time 0 and as what the
// check expects.
#ifndef STRETTO_PLATFORM_JOBS_OPERANDS_H_
#define STRETTO_PLATFORM_JOBS_OPERANDS_H_

#include <cstdint>
#include <cstring>

#include "models/common/memory_image.h"
#include "platform/jobs/job_request.h"
#include "sw/apps/arbiter.h"
#include "sw/apps/ranks.h"
#include "sw/driver/stretto_driver.h"
#include "sw/include/formats/address_map.h"

namespace stretto {

inline constexpr uint64_t kModuleBytes = uint64_t{16}
                                         << 20;  // Behind all arrays: where modules are loaded.

enum What : uint32_t { kA, kB, kC, kMask, kResidual };

// A random FP16 number of either sign with magnitude in [2^-6, 1): all 10 fraction bits, no
// overflow in sums.
uint16_t random_fp16(uint64_t seed, uint32_t rank, uint32_t what, uint32_t i, uint32_t j);
// Likewise of E4M3, all 3 fraction bits.
uint8_t random_e4m3(uint64_t seed, uint32_t rank, uint32_t what, uint32_t i, uint32_t j);

inline uint64_t offset_of(uint64_t address) { return address & STRETTO_OFFSET_MASK; }

// Fills the elements of rows of `columns` numbers, of value's type, that overlap [address, address +
// count).
template <class Value>
MemoryImage::Generator generator(uint64_t base, uint64_t pitch, uint32_t rows, uint32_t columns,
                                 Value value) {
  return [=](uint64_t address, uint8_t* bytes, uint64_t count) {
    using Element = decltype(value(uint32_t{}, uint32_t{}));
    constexpr uint64_t kSize = sizeof(Element);
    for (uint64_t at = address / kSize * kSize; at < address + count; at += kSize) {
      const uint64_t row = (at - base) / pitch, column = (at - base) % pitch / kSize;
      if (at < base || row >= rows || column >= columns) continue;
      const Element bits = value(static_cast<uint32_t>(row), static_cast<uint32_t>(column));
      std::memcpy(bytes + (at - address), &bits, kSize);
    }
  };
}

// Random bytes from `base` on: those of content_word().
MemoryImage::Generator random_words(uint64_t seed, uint32_t rank, uint64_t base);

// The job, for host programs.
inline host_job_t host_job(const JobRequest& request) {
  return {request.share.gpus.data(), request.share.number};
}
// The driver client of a rank: the first queue and all memory of the job's share.
stretto_client_options_t client_options(const JobRequest& request, uint32_t rank);
// How its program sets the memory arbiters; `usual` is the policy of the mode.
arbiter_parameters_t arbiter_parameters(const SoftwareSpec& software, uint32_t usual);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_OPERANDS_H_
