// SPDX-License-Identifier: Apache-2.0
// What was asked for, with its files read: the machine's description, the options and the workload.
#ifndef STRETTO_PLATFORM_JOBS_RUN_REQUEST_H_
#define STRETTO_PLATFORM_JOBS_RUN_REQUEST_H_

#include <vector>

#include "platform/config/machine.h"
#include "platform/config/options.h"
#include "platform/jobs/job_request.h"
#include "platform/jobs/workload.h"

namespace stretto {

struct RunRequest {
  const Machine& machine;
  const RunOptions& options;
  Workload workload;
  bool has_workload = false;     // Else firmware alone.
  std::vector<JobRequest> jobs;  // Of the workload.
};

// Reads the workload, completes `options` (mode, data) by it and sets `machine` in the order
// default < machine < workload < --set. Throws UserError unless all of it fits together. Builds
// nothing.
RunRequest prepare_request(RunOptions& options, Machine& machine);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_RUN_REQUEST_H_
