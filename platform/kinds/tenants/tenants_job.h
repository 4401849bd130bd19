// SPDX-License-Identifier: Apache-2.0
// The job of kind tenants.
#ifndef STRETTO_PLATFORM_KINDS_TENANTS_TENANTS_JOB_H_
#define STRETTO_PLATFORM_KINDS_TENANTS_TENANTS_JOB_H_

#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/job.h"

namespace stretto {

class TenantsKind;
struct TenantText;

// Of a job in the mode, from STRETTO_ACCOUNT_JOB on.
uint32_t accounts_of_tenants(const std::string& mode);
// Throw UserError.
void check_tenants(const TenantsKind& kind, const JobRequest& request,
                   const std::vector<TenantText>& clients);
std::vector<std::string> files_of_tenants(const TenantsKind& kind, const JobRequest& request,
                                          const std::vector<TenantText>& clients);
std::unique_ptr<Job> make_tenants_job(const TenantsKind& kind, const JobRequest& request,
                                      const std::vector<TenantText>& clients, Memories memories);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TENANTS_TENANTS_JOB_H_
