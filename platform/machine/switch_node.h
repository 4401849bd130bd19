// SPDX-License-Identifier: Apache-2.0
// A switch of the machine.
#ifndef STRETTO_PLATFORM_MACHINE_SWITCH_NODE_H_
#define STRETTO_PLATFORM_MACHINE_SWITCH_NODE_H_

#include "models/fabric/switch.h"
#include "platform/machine/node.h"
#include "platform/machine/wiring.h"

namespace stretto {

class SwitchNode final : public Node {
 public:
  SwitchNode(sc_core::sc_module_name name, const SwitchWiring& wiring, Conductor& conductor)
      : Node(name, conductor, wiring.node),
        crossbar("crossbar", wiring.spec, wiring.ports, partition) {
    partition.add("crossbar", crossbar);
  }

  Switch crossbar;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_SWITCH_NODE_H_
