// SPDX-License-Identifier: Apache-2.0
// The ordinary executable has no code for waves in its blocks; a second one, of the same objects,
// has.
#ifndef STRETTO_PLATFORM_RUN_CHECKED_BUILD_H_
#define STRETTO_PLATFORM_RUN_CHECKED_BUILD_H_

#include <string>
#include <vector>

namespace stretto {

// The executable stretto_checked beside this one. Throws UserError if it is missing or older.
std::string checked_build();
// Goes on as it, with `arguments` (argv[0] too).
[[noreturn]] void become_checked_build(const std::vector<std::string>& arguments);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RUN_CHECKED_BUILD_H_
