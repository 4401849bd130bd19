// SPDX-License-Identifier: Apache-2.0
// The switch of a machine that has one, as a partition of its own.
#ifndef STRETTO_PLATFORM_MACHINE_SWITCH_NODE_H_
#define STRETTO_PLATFORM_MACHINE_SWITCH_NODE_H_

#include "models/common/partition.h"
#include "models/fabric/switch.h"
#include "platform/config/machine_spec.h"

namespace stretto {

class SwitchNode final : public sc_core::sc_module {
 public:
  // REQUIRES: has_switch(spec).
  SwitchNode(sc_core::sc_module_name name, const MachineSpec& spec, Conductor& conductor)
      : sc_module(name),
        partition("partition", conductor, kSwitchNode),
        crossbar("crossbar", spec.switch_, wiring(spec), partition) {
    partition.add("crossbar", crossbar);
  }

  Partition partition;
  Switch crossbar;

 private:
  static RouterSpec wiring(const MachineSpec& spec) {
    return spec.topology == Topology::pcie_switch
               ? switch_of(spec.gpus, spec.pcie, true, spec.card.count)
               : switch_of(spec.gpus, spec.link, false);
  }
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_SWITCH_NODE_H_
