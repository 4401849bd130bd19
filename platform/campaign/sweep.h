// SPDX-License-Identifier: Apache-2.0
// `stretto sweep`: one workload with every combination of the values that parameters are given, a
// simulation each, as a table, as CSV and JSON, and as a picture of time over one parameter.
#ifndef STRETTO_PLATFORM_CAMPAIGN_SWEEP_H_
#define STRETTO_PLATFORM_CAMPAIGN_SWEEP_H_

#include <string>
#include <vector>

#include "platform/campaign/reproduce_options.h"

namespace stretto {

struct SweepOptions {
  std::string workload;
  std::string mode;     // Empty: the workload's first, unless it is varied.
  std::string machine;  // Empty: the workload's, unless it is varied.
  // KEY=VALUE,VALUE,...: KEY is a parameter, `mode` or `machine`. The last varies fastest.
  std::vector<std::string> vary;
  // Places in stats.json, a column each: "time_ns.compute", "job.sizes.0.rate_gb_s", and with
  // * the sum of all counters that match: "statistics.*.l2.hits.*".
  std::vector<std::string> values;
  ReproduceOptions campaign;  // jobs, out, sets, impl, table_only, time limit.
};

// Exit status: 1 if a combination has no result. Throws UserError, Interrupted.
int sweep(const SweepOptions& options);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CAMPAIGN_SWEEP_H_
