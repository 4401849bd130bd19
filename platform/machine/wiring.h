// SPDX-License-Identifier: Apache-2.0
// Which links a machine has: the one place that goes by MachineSpec::topology (and machine_spec.h,
// which says what it means).
#ifndef STRETTO_PLATFORM_MACHINE_WIRING_H_
#define STRETTO_PLATFORM_MACHINE_WIRING_H_

#include <vector>

#include "models/fabric/topology.h"
#include "platform/config/machine_spec.h"

namespace stretto {

RouterSpec gpu_wiring(const MachineSpec& spec, unsigned gpu);
// REQUIRES: spec.has_switch().
RouterSpec switch_wiring(const MachineSpec& spec);
// `ports`: of each GPU, the port that leads to the host.
RouterSpec host_wiring(const MachineSpec& spec, const std::vector<uint8_t>& ports);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_WIRING_H_
