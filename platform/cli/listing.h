// SPDX-License-Identifier: Apache-2.0
// `stretto list`.
#ifndef STRETTO_PLATFORM_CLI_LISTING_H_
#define STRETTO_PLATFORM_CLI_LISTING_H_

#include <string>

namespace stretto {

int list(const std::string& what);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CLI_LISTING_H_
