// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tenants/tenant_rates.h"

#include <algorithm>
#include <map>

namespace stretto {

uint64_t launches_beyond_limit(const std::vector<tenant_rate_record_t>& records,
                               const tenant_rate_t& rate) {
  uint64_t beyond = 0;
  const uint64_t window_ns = rate_window_ns(&rate.policy);
  uint64_t window = 0, limit = 0,
           most = 0;                  // The largest that was set in the window, or before it.
  std::map<uint32_t, uint64_t> used;  // In the window, by client.
  for (const tenant_rate_record_t& one : records) {
    if (one.time_ns / window_ns != window) {
      window = one.time_ns / window_ns;
      most = limit;
      used.clear();
    }
    if (one.event == TENANT_RATE_LIMIT) {
      limit = one.groups;
      most = std::max(most, limit);
      continue;
    }
    uint64_t& so_far = used[one.client];
    if (so_far >= tenant_rate_share(most, rate.clients)) ++beyond;
    so_far += one.groups;
  }
  return beyond;
}

}  // namespace stretto
