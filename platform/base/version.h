// SPDX-License-Identifier: Apache-2.0
// Which stretto this is.
#ifndef STRETTO_PLATFORM_BASE_VERSION_H_
#define STRETTO_PLATFORM_BASE_VERSION_H_

#include <string>

namespace stretto {

// The commit of the sources that were built last, with "-dirty" if they were not those of a commit;
// "unknown" outside a git checkout.
const std::string& commit_text();
// "stretto 0.1, commit 0123...".
std::string version_text();

}  // namespace stretto

#endif  // STRETTO_PLATFORM_BASE_VERSION_H_
