// SPDX-License-Identifier: Apache-2.0
#ifndef STRETTO_PLATFORM_BASE_VERSION_H_
#define STRETTO_PLATFORM_BASE_VERSION_H_

#include <string>

namespace stretto {

inline std::string version_text() { return "stretto 0.1"; }

}  // namespace stretto

#endif  // STRETTO_PLATFORM_BASE_VERSION_H_
