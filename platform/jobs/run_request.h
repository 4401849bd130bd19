// SPDX-License-Identifier: Apache-2.0
// What was asked for, with its files read: the machine's description, the options and the workload.
#ifndef STRETTO_PLATFORM_JOBS_RUN_REQUEST_H_
#define STRETTO_PLATFORM_JOBS_RUN_REQUEST_H_

#include "platform/config/machine.h"
#include "platform/config/options.h"
#include "platform/jobs/workload.h"

namespace stretto {

struct RunRequest {
  const Machine& machine;
  const RunOptions& options;
  Workload workload;
  bool has_workload = false;
  DataMode data = DataMode::stamp;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_RUN_REQUEST_H_
