// SPDX-License-Identifier: Apache-2.0
// Which links and switches a machine has: the one place that goes by MachineSpec::topology (and
// machine_spec.h, which says what it means).
#ifndef STRETTO_PLATFORM_MACHINE_WIRING_H_
#define STRETTO_PLATFORM_MACHINE_WIRING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "models/fabric/switch.h"
#include "models/fabric/topology.h"
#include "platform/config/machine_spec.h"

namespace stretto {

struct SwitchWiring {
  std::string name;
  uint8_t node;
  SwitchSpec spec;
  RouterSpec ports;
};

RouterSpec gpu_wiring(const MachineSpec& spec, unsigned gpu);
// All switches of the machine.
std::vector<SwitchWiring> switch_wiring(const MachineSpec& spec);
// `ports`: of each GPU, the port that leads to the host.
RouterSpec host_wiring(const MachineSpec& spec, unsigned server, const std::vector<uint8_t>& ports);
// REQUIRES: spec.has_network().
ClusterWiring cluster_wiring(const MachineSpec& spec);

// "NAME", or "NAME0", "NAME1" ... where there are several servers.
std::string of_server(const MachineSpec& spec, const std::string& name, unsigned server);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_WIRING_H_
