// SPDX-License-Identifier: Apache-2.0
// What Tally's profiler has measured in an earlier run (tenants.profiles). It holds for one machine.
#ifndef STRETTO_PLATFORM_KINDS_TENANTS_PROFILES_H_
#define STRETTO_PLATFORM_KINDS_TENANTS_PROFILES_H_

#include <string>
#include <vector>

#include "platform/jobs/job_request.h"
#include "sw/tally/server.h"

namespace stretto {

// SHA-256 of all parameters of the machine but those of the simulation.
std::string machine_scope(const JobRequest& request);
// Of the result in `folder`. Throws UserError if it is none of the same mode and machine.
std::vector<tally_known_t> read_profiles(const std::string& folder, const JobRequest& request);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TENANTS_PROFILES_H_
