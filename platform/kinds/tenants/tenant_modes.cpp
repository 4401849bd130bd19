// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tenants/tenant_modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "platform/kinds/tenants/tenants_kind.h"

namespace stretto {

namespace {

constexpr std::array kModes{
    TenantMode{"ideal", false, TALLY_FORWARD, false, 0},
    TenantMode{"time-slicing", false, TALLY_FORWARD, false, 0, false, false, true},
    TenantMode{"mps", false, TALLY_FORWARD, false, 0},
    TenantMode{"mps-priority", false, TALLY_FORWARD, false, STRETTO_PRIORITIES - 1},
    // The authors' code gives its streams the middle of what CUDA offers.
    TenantMode{"tgs", false, TALLY_FORWARD, false, STRETTO_PRIORITIES / 2, true},
    TenantMode{"no-scheduling", true, TALLY_FORWARD, false, 0},
    TenantMode{"no-transformation", true, TALLY_WHOLE_KERNELS, false, 0},
    TenantMode{"tally", true, TALLY_TRANSFORMED, false, 0},
    TenantMode{"tally-stock-isa", true, TALLY_TRANSFORMED, true, 0},
    TenantMode{"tally-unmodified", true, TALLY_UNMODIFIED, false, 0},
    TenantMode{"tally-firmware", false, TALLY_FORWARD, false, STRETTO_PRIORITIES - 1, false, true},
};

}  // namespace

const TenantMode& tenant_mode(const std::string& name) {
  return *std::find_if(kModes.begin(), kModes.end(),
                       [&](const TenantMode& mode) { return name == mode.name; });
}

std::string modes_with_priorities() {
  std::vector<const char*> names;
  for (const TenantMode& mode : kModes)
    if (mode.has_priorities()) names.push_back(mode.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

stretto_scheduler_policy_t scheduler_policy_of(const TenantsKind& kind, const TenantMode& mode) {
  stretto_scheduler_policy_t policy{};
  policy.in_order = kind.order == Order::launch;
  // Kernels of higher priority are served to the end first, as on published hardware: T. Amert et al., GPU Scheduling
  // on the NVIDIA TX2: Hidden Details Revealed, RTSS 2017, DOI 10.1109/RTSS.2017.00017, rules A1 and A2, Fig. 8.
  policy.strict_priority = mode.has_priorities() && kind.priority == Passing::strict;
  return policy;
}

bool sets_policy(const TenantsKind& kind, const TenantMode& mode) {
  const stretto_scheduler_policy_t policy = scheduler_policy_of(kind, mode);
  return policy.in_order != 0 || policy.strict_priority != 0;
}

}  // namespace stretto
