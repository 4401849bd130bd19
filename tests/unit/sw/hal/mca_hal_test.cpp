// SPDX-License-Identifier: Apache-2.0
// Question: does the register access layer of the memory arbiters write the right values in the
// order that the device needs, and refuse what it must? State space: one call on a fresh device;
// each guard once. Expected numbers are worked out by hand in the comments.
#include "sw/firmware/hal/mca.h"
#include "sw/include/regs/hbm_regs.h"
#include "sw/include/regs/mca_regs.h"
#include "tests/unit/sw/hal/hal_test.h"

namespace {

constexpr uint64_t kMca = STRETTO_MCA_BASE + 63 * 0x400;

}  // namespace

TEST_CASE(
    "the arbiters get limit and starvation limit before the policy, through the broadcast window") {
  MockMmio mmio;
  mca_t mca;
  REQUIRE(mca_init(&mca) == STRETTO_OK);
  mmio.expect_write(kMca + MCA_THRESHOLD_OFFSET, 5);
  mmio.expect_write(kMca + MCA_STARVE_LIMIT_OFFSET, 1000);
  mmio.expect_write(kMca + MCA_CONTROL_OFFSET, 1);  // communication_aware, fixed
  const mca_policy_t policy = {MCA_CONTROL_POLICY_COMMUNICATION_AWARE, false, 5, 1000};
  CHECK(mca_configure(&mca, &policy) == STRETTO_OK);
}

TEST_CASE("an arbiter policy or limit that does not exist is refused without a write") {
  MockMmio mmio;
  mca_t mca;
  REQUIRE(mca_init(&mca) == STRETTO_OK);
  const mca_policy_t unknown = {MCA_CONTROL_POLICY_MAX + 1, false, 0, 0};
  const mca_policy_t too_large = {0, false, 128, 0};
  CHECK(mca_init(nullptr) == STRETTO_ERROR_ARGUMENT);
  CHECK(mca_configure(&mca, nullptr) == STRETTO_ERROR_ARGUMENT);
  CHECK(mca_configure(&mca, &unknown) == STRETTO_ERROR_ARGUMENT);
  CHECK(mca_configure(&mca, &too_large) == STRETTO_ERROR_ARGUMENT);
}
