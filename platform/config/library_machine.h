// SPDX-License-Identifier: Apache-2.0
// The machine as the kernel library sees it when it chooses a kernel.
#ifndef STRETTO_PLATFORM_CONFIG_LIBRARY_MACHINE_H_
#define STRETTO_PLATFORM_CONFIG_LIBRARY_MACHINE_H_

#include "platform/config/machine_spec.h"
#include "sw/kernels/ops/gemm_plan.h"

namespace stretto {

ops_machine_t library_machine(const MachineSpec& spec);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CONFIG_LIBRARY_MACHINE_H_
