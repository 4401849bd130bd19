// SPDX-License-Identifier: Apache-2.0
// One DMA card of the machine (GD-HW): a request ring, a DMA engine and a PCIe port, as a partition
// of its own. It has no memory and no processor; the host programs it by posted writes.
#ifndef STRETTO_PLATFORM_MACHINE_CARD_NODE_H_
#define STRETTO_PLATFORM_MACHINE_CARD_NODE_H_

#include <map>
#include <memory>
#include <string>

#include "models/card/card_window.h"
#include "models/card/collective_engine.h"
#include "models/dma/dma_engine.h"
#include "models/dma/request_ring_port.h"
#include "models/fabric/router.h"
#include "platform/config/machine_spec.h"
#include "platform/config/options.h"
#include "platform/machine/node.h"

namespace stretto {

class CardNode final : public Node {
 public:
  // Card `index` of the machine. REQUIRES: topology pcie_switch.
  CardNode(sc_core::sc_module_name name, const MachineSpec& spec, unsigned index,
           const std::map<std::string, Impl>& impl, Conductor& conductor);

  const Router* to_links() const override { return &router; }

  DmaEngine dma;
  Router router;
  CardWindow window;
  std::unique_ptr<CollectiveEngine> collective_engine;  // Null: has none.
  RequestRingPort request_ring;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_CARD_NODE_H_
