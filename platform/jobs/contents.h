// SPDX-License-Identifier: Apache-2.0
// Random contents of memory at time 0, and the same for those who check: the only hash of contents.
#ifndef STRETTO_PLATFORM_JOBS_CONTENTS_H_
#define STRETTO_PLATFORM_JOBS_CONTENTS_H_

#include <cstdint>

namespace stretto {

// The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
inline uint64_t content_hash(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Word `index` of what a rank has.
inline uint64_t content_word(uint64_t seed, uint32_t rank, uint64_t index) {
  return content_hash(content_hash(seed + 0x9e3779b97f4a7c15ull * (rank + 1)) ^ index);
}

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_CONTENTS_H_
