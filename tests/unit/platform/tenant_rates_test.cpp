// SPDX-License-Identifier: Apache-2.0
// Question: does the law of mode tgs fire where a client launches beyond its limit, and nowhere else? Records
// are written by hand: windows of 100 ns, two clients of best effort.
#include "platform/kinds/tenants/tenant_rates.h"

#include <catch2/catch.hpp>

using namespace stretto;

namespace {

tenant_rate_t two_clients() {
  tenant_rate_t rate{};
  rate.policy.period_ns = 1000;
  rate.policy.windows = 10;
  rate.clients = 3;
  return rate;
}

tenant_rate_record_t limit(uint64_t time_ns, uint64_t groups) {
  return {TENANT_RATE_LIMIT, 0, time_ns, groups, 0};
}
tenant_rate_record_t launch(uint64_t time_ns, uint32_t client, uint64_t groups) {
  return {TENANT_RATE_LAUNCH, client, time_ns, groups, 0};
}

// Each client may have 10 work-groups a window, and ends what it has begun.
std::vector<tenant_rate_record_t> sound() {
  return {limit(0, 20),       launch(10, 1, 9),  launch(20, 1, 30), launch(30, 2, 10),
          launch(110, 1, 10), limit(150, 0),     launch(151, 2, 1),  // Read before.
          limit(250, 60),     launch(260, 1, 29)};
}

}  // namespace

TEST_CASE("launches within the limits of their windows keep the law") {
  CHECK(launches_beyond_limit(sound(), two_clients()) == 0);
}

TEST_CASE("a launch in a window that is used up, or has no limit but 0, breaks it") {
  auto records = sound();
  records.insert(records.begin() + 4, launch(40, 2, 1));
  CHECK(launches_beyond_limit(records, two_clients()) == 1);
  records = sound();
  records.insert(records.begin() + 7, launch(210, 1, 1));
  CHECK(launches_beyond_limit(records, two_clients()) == 1);
}
