// SPDX-License-Identifier: Apache-2.0
// The law of mode tgs on what its controller and clients have told.
#ifndef STRETTO_PLATFORM_KINDS_TENANTS_TENANT_RATES_H_
#define STRETTO_PLATFORM_KINDS_TENANTS_TENANT_RATES_H_

#include <cstdint>
#include <vector>

#include "sw/apps/tenants/tenant_rate.h"

namespace stretto {

// Launches of clients that had used up their share of all limits of the window. `records` in the order of
// their times.
uint64_t launches_beyond_limit(const std::vector<tenant_rate_record_t>& records,
                               const tenant_rate_t& rate);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TENANTS_TENANT_RATES_H_
