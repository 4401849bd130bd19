// SPDX-License-Identifier: Apache-2.0
// Choices of Tally's profiler kept between runs: a text file, a line a kernel. They hold for one
// machine and policy; those of another are forgotten.
#ifndef STRETTO_PLATFORM_KINDS_TENANTS_PROFILE_FILE_H_
#define STRETTO_PLATFORM_KINDS_TENANTS_PROFILE_FILE_H_

#include <string>
#include <vector>

#include "platform/jobs/job_request.h"
#include "platform/kinds/tenants/tenant_log.h"

namespace stretto {

// What times depend on but for the kernel: a SHA-256 of the machine and of the policy.
std::string profile_scope(const JobRequest& request, const tally_policy_t& policy, bool stock_isa);
// Of a file that is not there, or of another scope: nothing. Throws UserError with file and line if
// it is damaged.
std::vector<tally_known_t> read_profiles(const std::string& file, const std::string& scope);
// Writes what is known and what the log has chosen. Throws UserError.
void write_profiles(const std::string& file, const std::string& scope,
                    std::vector<tally_known_t> known, const TenantLog& log);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TENANTS_PROFILE_FILE_H_
