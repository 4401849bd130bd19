// SPDX-License-Identifier: Apache-2.0
// What would run: `stretto show MACHINE` and `stretto run --dry-run`.
#ifndef STRETTO_PLATFORM_RUN_DRY_RUN_H_
#define STRETTO_PLATFORM_RUN_DRY_RUN_H_

#include <string>

#include "platform/config/machine.h"
#include "platform/jobs/run_request.h"

namespace stretto {

// Every parameter of the machine with who set it, and the peaks that follow as comments.
std::string machine_file(const Machine& machine);
// YAML: the same and the workload, its mode, parameters, blocks and files.
std::string resolved_text(const RunRequest& request);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RUN_DRY_RUN_H_
