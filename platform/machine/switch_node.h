// SPDX-License-Identifier: Apache-2.0
// The switch of a machine that has one.
#ifndef STRETTO_PLATFORM_MACHINE_SWITCH_NODE_H_
#define STRETTO_PLATFORM_MACHINE_SWITCH_NODE_H_

#include "models/fabric/switch.h"
#include "platform/machine/node.h"
#include "platform/machine/wiring.h"

namespace stretto {

class SwitchNode final : public Node {
 public:
  // REQUIRES: spec.has_switch().
  SwitchNode(sc_core::sc_module_name name, const MachineSpec& spec, Conductor& conductor)
      : Node(name, conductor, kSwitchNode),
        crossbar("crossbar", spec.switch_, switch_wiring(spec), partition) {
    partition.add("crossbar", crossbar);
  }

  Switch crossbar;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_SWITCH_NODE_H_
