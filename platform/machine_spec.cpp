// SPDX-License-Identifier: Apache-2.0
#include "platform/machine_spec.h"

#include "models/common/error.h"

namespace stretto {

void describe(SimSpec& spec, ParameterSet& set) {
  describe(spec.conductor, set);
  set.flag("sleep", spec.sleep, "Blocks sleep while they have no work; false ticks every cycle, for tests of equality.");
  set.flag("reverse_elaboration", spec.reverse_elaboration, "Construct GPUs in falling order, for tests of equality.");
  set.flag("mirror", spec.mirror, "Simulate GPU 0 alone; what it sends comes back as from its neighbour (T3-SIM-01).");
  set.number("timeline_mib", spec.timeline_mib, 1, 65536, "Size cap of timeline.json in MiB.");
}

void describe(MachineSpec& spec, ParameterSet& set) {
  set.number("gpus", spec.gpus, 1, 32, "GPUs of the machine.");
  set.choice("topology", spec.topology, {{"ring", Topology::ring}, {"fully_connected", Topology::fully_connected}},
             "Links between GPUs.");
  set.group("gpu", spec.gpu);
  set.group("l2", spec.l2);
  set.group("hbm", spec.hbm);
  set.group("dma", spec.dma);
  set.group("link", spec.link);
  set.group("pcie", spec.pcie);
  set.group("cp", spec.cp);
  set.group("sim", spec.sim);
}

void check_machine(const MachineSpec& spec) {
  for (const std::string& wrong : {spec.gpu.check(), spec.l2.check(), spec.cp.check()}) {
    if (!wrong.empty()) throw UserError(wrong);
  }
  if (spec.sim.mirror && spec.topology != Topology::ring) throw UserError("sim.mirror needs topology ring");
  if (spec.l2.banks % spec.hbm.channels != 0) {
    throw UserError("l2.banks (" + std::to_string(spec.l2.banks) + ") must be a multiple of hbm.channels (" +
                    std::to_string(spec.hbm.channels) + ")");
  }
  if (spec.hbm.write_low_atoms >= spec.hbm.write_high_atoms) {
    throw UserError("hbm.write_low_atoms (" + std::to_string(spec.hbm.write_low_atoms) +
                    ") must be below hbm.write_high_atoms (" + std::to_string(spec.hbm.write_high_atoms) + ")");
  }
}

}  // namespace stretto
