// SPDX-License-Identifier: Apache-2.0
// `stretto list`.
#ifndef STRETTO_PLATFORM_CLI_LISTING_H_
#define STRETTO_PLATFORM_CLI_LISTING_H_

#include <string>
#include <vector>

namespace stretto {

// What can be listed.
const std::vector<std::string>& list_topics();
// Exit status; UserError if `topic` is none of them. `of`: of `modes`, a workload; else empty.
// `names`: names alone, one a line; then there are `commands` and `topics`, too.
int list(const std::string& topic, const std::string& of, bool names);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CLI_LISTING_H_
