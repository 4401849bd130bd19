// SPDX-License-Identifier: Apache-2.0
#include "platform/machine/wiring.h"

namespace stretto {

RouterSpec gpu_wiring(const MachineSpec& spec, unsigned gpu) {
  if (spec.sim.mirror) return mirrored_ring(spec.gpus, spec.link, spec.pcie);
  switch (spec.topology) {
    case Topology::ring: break;
    case Topology::fully_connected: return fully_connected(gpu, spec.gpus, spec.link, spec.pcie);
    case Topology::switched: return switched(gpu, spec.gpus, spec.link, spec.pcie);
    case Topology::pcie_switch: return pcie_switched(gpu, spec.gpus, spec.pcie, spec.card.count);
  }
  return ring(gpu, spec.gpus, spec.link, spec.pcie);
}

RouterSpec switch_wiring(const MachineSpec& spec) {
  return spec.topology == Topology::pcie_switch
             ? switch_of(spec.gpus, spec.pcie, true, spec.card.count)
             : switch_of(spec.gpus, spec.link, false);
}

RouterSpec host_wiring(const MachineSpec& spec, const std::vector<uint8_t>& ports) {
  return spec.topology == Topology::pcie_switch
             ? host_switched(spec.gpus, spec.pcie, spec.card.count)
             : host_direct(spec.pcie, ports);
}

}  // namespace stretto
