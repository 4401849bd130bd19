// SPDX-License-Identifier: Apache-2.0
// `stretto run`: one simulation from options to results.
#ifndef STRETTO_PLATFORM_RUN_RUN_H_
#define STRETTO_PLATFORM_RUN_RUN_H_

#include <memory>
#include <string>

#include "platform/base/atomic_file.h"
#include "platform/config/options.h"

namespace stretto {

// Where the results of a run go. REQUIRES: its mode is known. Empty: nowhere.
std::string default_out_folder(const RunOptions& options);

// Exit status. Throws UserError for bad input. `folder`: that of its results, if the process has it already.
int run(const RunOptions& options, std::unique_ptr<OutputFolder> folder = nullptr);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RUN_RUN_H_
