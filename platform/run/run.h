// SPDX-License-Identifier: Apache-2.0
// `stretto run`: one simulation from options to results.
#ifndef STRETTO_PLATFORM_RUN_RUN_H_
#define STRETTO_PLATFORM_RUN_RUN_H_

#include "platform/config/options.h"

namespace stretto {

// Exit status. Throws UserError for bad input.
int run(const RunOptions& options);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RUN_RUN_H_
