// SPDX-License-Identifier: Apache-2.0
// Choices of Tally's profiler in an earlier run, which need not be measured again (tenants.profiles). They hold
// for one machine and policy.
#ifndef STRETTO_PLATFORM_KINDS_TENANTS_KNOWN_CHOICES_H_
#define STRETTO_PLATFORM_KINDS_TENANTS_KNOWN_CHOICES_H_

#include <string>
#include <vector>

#include "platform/jobs/job_request.h"
#include "sw/tally/server.h"

namespace stretto {

const char* form_name(uint32_t form);  // Of a kernel, in results.

// What times depend on but for the kernel: a SHA-256 of the machine and of the policy.
std::string profile_scope(const JobRequest& request, const tally_policy_t& policy, bool stock_isa);
// Of the result in `folder`. Throws UserError if it is none, or of another scope.
std::vector<tally_known_t> known_choices(const std::string& folder, const std::string& scope);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TENANTS_KNOWN_CHOICES_H_
