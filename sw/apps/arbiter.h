// SPDX-License-Identifier: Apache-2.0
// How host programs program the memory arbiters (rtl/mca) of their GPU.
#ifndef STRETTO_SW_APPS_ARBITER_H_
#define STRETTO_SW_APPS_ARBITER_H_

#include "sw/driver/stretto_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct arbiter_parameters {
  uint32_t policy;        // MCA_CONTROL_POLICY_* of mca_regs.h.
  int fixed_threshold;    // communication_aware: use `threshold` instead of the measured choice.
  uint32_t threshold;     // DRAM queue entries, 0 = no limit.
  uint32_t starve_limit;  // Memory clock cycles, 0 = the arbiter's reset value.
} arbiter_parameters_t;

stretto_status_t arbiter_configure(const arbiter_parameters_t* parameters, const stretto_api_t* api,
                                   stretto_client_t* client, stretto_stream_t* stream);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_ARBITER_H_
