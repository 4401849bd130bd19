// SPDX-License-Identifier: Apache-2.0
#ifndef STRETTO_MODELS_COMMON_HEX_H_
#define STRETTO_MODELS_COMMON_HEX_H_

#include <cstdint>
#include <cstdio>
#include <string>

namespace stretto {

// As messages write addresses: 0x1f00.
inline std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_HEX_H_
