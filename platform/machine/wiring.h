// SPDX-License-Identifier: Apache-2.0
// Which links a machine has: the one place that goes by MachineSpec::topology (and has_switch(),
// check_machine()).
#ifndef STRETTO_PLATFORM_MACHINE_WIRING_H_
#define STRETTO_PLATFORM_MACHINE_WIRING_H_

#include <vector>

#include "models/fabric/topology.h"
#include "platform/config/machine_spec.h"

namespace stretto {

RouterSpec gpu_wiring(const MachineSpec& spec, unsigned gpu);
// REQUIRES: has_switch(spec).
RouterSpec switch_wiring(const MachineSpec& spec);
// `ports`: of each GPU, the port that leads to the host.
RouterSpec host_wiring(const MachineSpec& spec, const std::vector<uint8_t>& ports);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_WIRING_H_
