// SPDX-License-Identifier: Apache-2.0
// Memory arbiters: see arbiter.h.
#include "sw/apps/arbiter.h"

#include "sw/include/regs/mca_regs.h"

stretto_status_t arbiter_configure(const arbiter_parameters_t* p, const stretto_api_t* api,
                                   stretto_client_t* client, stretto_stream_t* stream) {
  const int limited = p->policy == MCA_CONTROL_POLICY_COMMUNICATION_AWARE;
  const stretto_mca_config_t mca = {.policy = p->policy,
                                    .threshold = limited ? p->threshold : 0,
                                    .starve_limit = p->starve_limit};
  return api->configure_mca(client, stream, &mca,
                            limited && !p->fixed_threshold ? 0 : STRETTO_MCA_FIXED_THRESHOLD);
}
