// SPDX-License-Identifier: Apache-2.0
// The network interface of a server, as a partition of its own. Software programs it by posted writes
// over PCIe.
#ifndef STRETTO_PLATFORM_MACHINE_NIC_NODE_H_
#define STRETTO_PLATFORM_MACHINE_NIC_NODE_H_

#include <vector>

#include "models/fabric/router.h"
#include "models/nic/nic.h"
#include "platform/config/machine_spec.h"
#include "platform/machine/node.h"

namespace stretto {

class NicNode final : public Node {
 public:
  // REQUIRES: spec.has_network().
  NicNode(sc_core::sc_module_name name, const MachineSpec& spec, unsigned server,
          Conductor& conductor);

  const Router* to_links() const override { return &router; }
  std::vector<const LinkPort*> link_ports() const override;

  Router router;  // Of PCIe.
  Nic nic;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_NIC_NODE_H_
