// SPDX-License-Identifier: Apache-2.0
// What clients do without each other, from a result of mode ideal.
#ifndef STRETTO_PLATFORM_KINDS_TENANTS_TENANT_ALONE_H_
#define STRETTO_PLATFORM_KINDS_TENANTS_TENANT_ALONE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "platform/jobs/job_request.h"
#include "platform/kinds/tenants/tenant_plan.h"

namespace stretto {

class TenantsKind;

// What client `number` computes before each launch, on top of its lines.
uint32_t host_ns_of(const TenantsKind& kind, size_t number);
// SHA-256 of what client `number` launches, and of when its requests come.
std::string contents_of(const TenantsKind& kind, const TenantText& text, size_t number);

struct TenantAlone {
  double per_s, p99_us;
};
// By client; empty if the kind names no result. Throws UserError if that is of other clients, another machine or
// another mode.
std::vector<TenantAlone> alone_of(const TenantsKind& kind, const JobRequest& request,
                                  const std::vector<TenantText>& texts);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TENANTS_TENANT_ALONE_H_
