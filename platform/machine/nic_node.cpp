// SPDX-License-Identifier: Apache-2.0
#include "platform/machine/nic_node.h"

#include "models/common/tlm_checker.h"
#include "platform/machine/wiring.h"

namespace stretto {

namespace {

// Faults are those of one server.
NicSpec nic_spec(const MachineSpec& spec, unsigned server) {
  NicSpec nic = spec.nic;
  if (server != spec.fault.nic_server)
    nic.fault_lose_packet = nic.fault_delay_packet = nic.fault_down_at_ns = 0;
  return nic;
}

}  // namespace

NicNode::NicNode(sc_core::sc_module_name name, const MachineSpec& spec, unsigned server,
                 Conductor& conductor)
    : Node(name, conductor, static_cast<uint8_t>(kNicNode + server)),
      router("router", cluster_wiring(spec).nic(server), 1, partition),
      nic("interface", nic_spec(spec, server), cluster_wiring(spec).network_port(server), 1,
          partition) {
  const EventQueue& queue = partition.queue();
  connect(nic.bus.socket, router.egress[0], queue);
  connect(router.doorbell, nic.aperture, queue);
  connect(router.memory, nic.nothing, queue);
  partition.add("router", router);
  partition.add("interface", nic);
}

std::vector<const LinkPort*> NicNode::link_ports() const {
  std::vector<const LinkPort*> all = router.link_ports();
  all.push_back(&nic.network());
  return all;
}

}  // namespace stretto
