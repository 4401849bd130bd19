// SPDX-License-Identifier: Apache-2.0
// Question: does the rate of TGS go up while the first client is not slowed, and down when it is, by the
// steps of the authors' code, and does it follow a client that asks for less? Expected steps are written here
// from that code: half as much again, a third less, 8 % less, a tenth of it.
#include "sw/apps/tenants/rate_control.h"

#include <catch2/catch.hpp>

#include <string>

namespace {

// 100 windows of 50 ms: 20,000 work-groups at first, steps of 1,000.
struct Rate {
  rate_policy_t policy = rate_policy_defaults();
  rate_state_t state{};

  uint64_t after(uint64_t seen, unsigned periods = 1) {
    for (unsigned i = 0; i < periods; ++i) rate_update(&policy, &state, seen);
    return state.limit;
  }
};

constexpr uint64_t kAlone = 1'000'000;

}  // namespace

TEST_CASE("best effort waits while the first client is seen alone", "[TL-BASE-04]") {
  Rate rate;
  CHECK(rate.after(kAlone, 4) == 0);
  CHECK(rate.after(kAlone) == 20'000);
  CHECK(rate.state.most == kAlone);
}

TEST_CASE("the limit grows by half while nothing is felt, and falls by a third when it is") {
  Rate rate;
  rate.after(kAlone, 5);
  CHECK(rate.after(kAlone) == 30'001);
  CHECK(rate.after(kAlone * 971 / 1000) == 45'002);  // Within 3 %.
  CHECK(rate.after(kAlone * 960 / 1000) == 30'002);
  CHECK(rate.state.phase == RATE_AVOIDANCE);
  CHECK(rate.after(kAlone) == 31'002);
  CHECK(rate.after(kAlone * 960 / 1000) == 31'002 - 31'002 * 8 / 100);
}

TEST_CASE("a client that is slowed by 9 percent or more sets the limit back") {
  Rate rate;
  rate.after(kAlone, 5);
  rate.after(kAlone * 960 / 1000);
  const uint64_t before = rate.state.limit;
  CHECK(rate.after(kAlone * 900 / 1000) == (before - before * 8 / 100) / 10);
  CHECK(rate.state.phase == RATE_SLOW_START);
}

TEST_CASE("a client that rests sets no limit, and one that asks for less is its own measure") {
  Rate rate;
  rate.after(kAlone, 5);
  CHECK(rate.after(0, 3) == RATE_UNLIMITED);
  CHECK(rate.after(kAlone, 2) == RATE_UNLIMITED);  // Of five periods three are empty.
  CHECK(rate.after(kAlone) == 30'001);
  Rate less;
  less.after(kAlone, 5);
  less.after(kAlone / 2, 6);
  CHECK(less.state.most < kAlone * 52 / 100);
  const uint64_t limit = less.state.limit;
  CHECK(less.after(kAlone / 2) > limit);
}

TEST_CASE("policies that cannot be are named") {
  rate_policy_t policy = rate_policy_defaults();
  CHECK(rate_policy_error(&policy) == nullptr);
  policy.windows = 0;
  CHECK(std::string(rate_policy_error(&policy)) ==
        "a period without windows, or with windows below 1 ns");
  policy = rate_policy_defaults();
  policy.profile_periods = 0;
  CHECK(rate_policy_error(&policy) != nullptr);
  policy = rate_policy_defaults();
  policy.tolerance = 334;
  CHECK(rate_policy_error(&policy) != nullptr);
}
