// SPDX-License-Identifier: Apache-2.0
#include "platform/machine/wiring.h"

#include <cassert>

namespace stretto {

ClusterWiring cluster_wiring(const MachineSpec& spec) {
  assert(spec.has_network());
  return {spec.servers,
          spec.gpus_of_server(),
          spec.pcie,
          spec.network,
          spec.server_links,
          spec.link,
          spec.coherent_host ? std::optional(spec.coherent) : std::nullopt};
}

std::string of_server(const MachineSpec& spec, const std::string& name, unsigned server) {
  return spec.servers == 1 ? name : name + std::to_string(server);
}

RouterSpec gpu_wiring(const MachineSpec& spec, unsigned gpu) {
  if (spec.sim.mirror) return mirrored_ring(spec.gpus, spec.link, spec.pcie);
  switch (spec.topology) {
    case Topology::ring: break;
    case Topology::fully_connected: return fully_connected(gpu, spec.gpus, spec.link, spec.pcie);
    case Topology::switched: return switched(gpu, spec.gpus, spec.link, spec.pcie);
    case Topology::pcie_switch: return pcie_switched(gpu, spec.gpus, spec.pcie, spec.card.count);
    case Topology::cluster:
      return cluster_wiring(spec).gpu(spec.server_of(gpu), gpu % spec.gpus_of_server());
  }
  if (!spec.has_nodes()) return ring(gpu, spec.gpus, spec.link, spec.pcie);
  return ring_of_nodes(gpu, spec.gpus, spec.gpus_per_node, spec.link, spec.link_between_nodes,
                       spec.pcie);
}

std::vector<SwitchWiring> switch_wiring(const MachineSpec& spec) {
  std::vector<SwitchWiring> all;
  if (spec.topology == Topology::switched) {
    all.push_back({"switch", kSwitchNode, spec.switch_, switch_of(spec.gpus, spec.link, false)});
  } else if (spec.topology == Topology::pcie_switch) {
    all.push_back({"switch", kSwitchNode, spec.switch_,
                   switch_of(spec.gpus, spec.pcie, true, spec.card.count)});
  } else if (spec.has_network()) {
    const ClusterWiring cluster = cluster_wiring(spec);
    for (unsigned server = 0; server < spec.servers; ++server) {
      all.push_back({of_server(spec, "switch", server),
                     static_cast<uint8_t>(kServerSwitchNode + server), spec.switch_,
                     cluster.server_switch(server)});
    }
    all.push_back({"network", kSwitchNode, spec.network_switch, cluster.network_switch()});
  }
  return all;
}

RouterSpec host_wiring(const MachineSpec& spec, unsigned server,
                       const std::vector<uint8_t>& ports) {
  if (spec.has_network()) return cluster_wiring(spec).host(server);
  return spec.topology == Topology::pcie_switch
             ? host_switched(spec.gpus, spec.pcie, spec.card.count)
             : host_direct(spec.pcie, ports);
}

}  // namespace stretto
