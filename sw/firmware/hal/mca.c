// SPDX-License-Identifier: Apache-2.0
// Memory-controller arbiters: see mca.h.
#include "sw/firmware/hal/mca.h"

#include <stddef.h>

#include "sw/include/regs/mca_regs.h"  // Generated.

fw_result_t mca_init(mca_t* mca) {
  if (mca == NULL) return STRETTO_ERROR_ARGUMENT;
  mca->base = STRETTO_MCA_BASE + STRETTO_MCA_BROADCAST * STRETTO_MCA_STRIDE;
  return STRETTO_OK;
}

fw_result_t mca_configure(const mca_t* mca, const mca_policy_t* policy) {
  if (mca == NULL || policy == NULL) return STRETTO_ERROR_ARGUMENT;
  if (policy->policy > MCA_CONTROL_POLICY_MAX) return STRETTO_ERROR_ARGUMENT;
  if (policy->threshold > MCA_THRESHOLD_LIMIT_MASK) return STRETTO_ERROR_ARGUMENT;
  // The policy last: an arbiter never runs it with limits of an older configuration.
  mmio_write64(mca->base + MCA_THRESHOLD_OFFSET,
               STRETTO_FIELD(MCA_THRESHOLD_LIMIT, policy->threshold));
  if (policy->starve_limit != 0) {
    mmio_write64(mca->base + MCA_STARVE_LIMIT_OFFSET,
                 STRETTO_FIELD(MCA_STARVE_LIMIT_CYCLES, policy->starve_limit));
  }
  mmio_write64(mca->base + MCA_CONTROL_OFFSET,
               STRETTO_FIELD(MCA_CONTROL_POLICY, policy->policy) |
                   STRETTO_FIELD(MCA_CONTROL_THRESHOLD_SELECT,
                                 policy->automatic ? MCA_CONTROL_THRESHOLD_SELECT_AUTOMATIC
                                                   : MCA_CONTROL_THRESHOLD_SELECT_FIXED));
  return STRETTO_OK;
}
